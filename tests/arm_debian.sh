#!/usr/bin/env bash
# Compare lessons on an emulated ARM processor: `make arm`, or `make arm L="00 further/02"`.
#
# It needs Debian or Ubuntu on another processor, root, debootstrap, proot, a network, and 7 GB of
# disk, several more while it installs. An ARM Debian is unpacked; proot starts programs in it, and
# QEMU emulates their instructions. Everything lies in build/arm and is made once; remove that
# folder to begin anew. The commit at HEAD is cloned, and its lessons are compared as in
# `pytest notebooks`, with cold kernels.
set -euo pipefail

release=trixie  # QEMU is this release's, too: PyTorch crashes in QEMU 7
python=3.13     # what this release has
processor=cortex-a76  # a Raspberry Pi 5 has it; the one of Graviton 2 was derived from it
processor_id=414fd0b1  # implementer, variant, part and revision, as in /proc/cpuinfo of QEMU
lessons=("$@")

root=$(cd "$(dirname "$0")/.." && pwd)
arm=$root/build/arm
qemu=$arm/qemu-aarch64
system=$arm/system
certificates=$system/etc/ssl/certs/ca-certificates.crt
packages=$arm/packages
pip=("$root/.venv/bin/python" -m pip)

need() {
    if ! command -v "$1" >/dev/null; then
        echo "$1 is missing. Install it (on Debian and Ubuntu: apt-get install $1) and try again."
        exit 1
    fi
}

# Download packages of Debian for an architecture, with all that they need, into a new folder.
download() {
    local folder=$1 architecture=$2 names=$3 mirrors mirror
    rm -rf "$folder"
    # from this machine's mirror of Debian, if it has one
    mirrors=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian')
    mirror=${mirrors%%$'\n'*}
    debootstrap --download-only --variant=minbase --arch="$architecture" --include="$names" \
        "$release" "$folder" ${mirror:+"$mirror"} >"$folder.log" || {
        echo "debootstrap could not download $names for $architecture. Last lines of $folder.log:"
        tail -n 5 "$folder.log"
        exit 1
    }
}

unpack_qemu() {
    echo "Unpacking QEMU of Debian $release"
    download "$arm/debs" "$(dpkg --print-architecture)" qemu-user
    dpkg-deb --fsys-tarfile "$arm"/debs/var/cache/apt/archives/qemu-user_*.deb |
        tar -x -C "$arm" --strip-components=3 ./usr/bin/qemu-aarch64
    rm -r "$arm/debs"
}

# What PyTorch's libraries ask the kernel of an ARM: which processors there are, and of what type.
describe_processor() {
    local folder=$1 name
    mkdir -p "$folder/cpu0/regs/identification"
    for name in possible present online; do echo 0 >"$folder/$name"; done
    echo "0x00000000$processor_id" >"$folder/cpu0/regs/identification/midr_el1"
}

# Packages are unpacked and not configured, since that would take minutes of emulation.
unpack_system() {
    echo "Unpacking Debian $release for ARM"
    rm -rf "$system"
    download "$arm/debs" arm64 python3,ca-certificates
    mkdir "$system"
    for package in "$arm"/debs/var/cache/apt/archives/*.deb; do
        dpkg-deb -x "$package" "$system"
    done
    rm -r "$arm/debs"
    describe_processor "$system/sys/devices/system/cpu"
    # configuring would write this; libraries read it even if they do not use the network
    cat "$system"/usr/share/ca-certificates/mozilla/*.crt >"$certificates"
}

# Print the lines of the lock that hold on ARM, without their conditions: pip would decide those
# for this machine and its own Python.
requirements() {
    "${pip[0]}" - "$root/requirements.lock" $python <<'PYTHON'
import sys

from pip._vendor.packaging.requirements import Requirement

lock, version = sys.argv[1:]
arm = {
    "platform_machine": "aarch64",
    "python_version": version,
    "python_full_version": f"{version}.0",
}
for line in open(lock):
    text = line.partition("#")[0].strip()
    if not text:
        continue
    requirement = Requirement(text)
    if requirement.marker is None or requirement.marker.evaluate(arm):
        print(f"{requirement.name}{requirement.specifier}")
PYTHON
}

# PyTorch is downloaded first and alone, as in the Makefile: its CPU build, if its index can be
# reached. The registry's build needs NVIDIA's packages, even to be imported.
install_packages() {
    local wheels=$arm/wheels for_arm=(
        --only-binary=:all:
        --python-version $python --implementation cp --abi "cp${python/./}" --abi abi3 --abi none
        # pip asks its own Python whether a package is for it
        --ignore-requires-python
        # what this release's glibc, 2.41, can run; 2014 is an older name of 2_17
        $(printf -- '--platform manylinux%s_aarch64 ' _2_{41..17} 2014)
    )
    echo "Installing the packages of requirements.lock for ARM: 6 GB, if those of NVIDIA are needed"
    "${pip[@]}" download -qq --no-deps --retries 2 --dest "$wheels" "${for_arm[@]}" \
        ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} "$(grep '^torch==' "$arm/requirements")"
    rm -rf "$packages"
    # pip first unpacks everything in a temporary folder
    TMPDIR=$arm "${pip[@]}" install -qq --no-compile --find-links "$wheels" "${for_arm[@]}" \
        --target "$packages" -r "$arm/requirements"
    rm -r "$wheels"
    cp "$arm/requirements" "$packages/requirements"
}

# Run a program of the system in the clone.
emulated() {
    env -i QEMU_CPU=$processor PATH=/usr/bin HOME=/root LOGNAME=root LANG=C.UTF-8 \
        PYTHONPATH=/clone:/packages OMP_NUM_THREADS=1 COURSE_COLD_KERNELS=1 \
        "$(command -v proot)" -q "$qemu" -r "$system" -b /proc -b /dev \
        -b "$arm/clone:/clone" -b "$packages:/packages" -w /clone "$@"
}

# Compare one lesson. Its limits are sixty times as long as elsewhere, 3 hours a cell.
compare() {
    local log=$arm/${1/\//-}.log notebook counts status=0
    notebook=$(cd "$arm/clone" && ls notebooks/"$1"_*.ipynb) || return
    SECONDS=0
    emulated /usr/bin/python3 -m pytest -q -p no:cacheprovider -p tests.patience --timeout=0 \
        --nbval-kernel-startup-timeout=3600 "$notebook" >"$log" 2>&1 || status=1
    counts=$(sed -n 's/ code cells compared$/ cells as stored/p' "$log")
    # proot returns 0 for what a signal ended
    if [ -z "$counts" ]; then status=1; fi
    if [ $status != 0 ]; then cat "$log"; fi
    echo "$notebook: ${counts:-no cell was compared}; $(((SECONDS + 30) / 60)) minutes"
    return $status
}

if [ "$(uname -m)" = aarch64 ]; then
    echo "This processor is an ARM already: .venv/bin/pytest notebooks compares all lessons on it."
    exit 1
fi
need debootstrap
need proot
mkdir -p "$arm"
if [ ! -e "$qemu" ]; then unpack_qemu; fi
if [ ! -e "$certificates" ]; then unpack_system; fi
requirements >"$arm/requirements"
if ! cmp -s "$arm/requirements" "$packages/requirements"; then install_packages; fi
rm -rf "$arm/clone"
git clone --quiet --no-hardlinks "$root" "$arm/clone"

# Once, since Matplotlib would write to a cell's output that it takes long.
emulated /usr/bin/python3 -c "import matplotlib.font_manager"
echo "Comparing on an emulated $processor, with Debian's Python $python"
status=0
for lesson in "${lessons[@]}"; do compare "$lesson" || status=1; done
exit $status
