#!/usr/bin/env bash
# Write the lessons and run all tests in a bare Debian, with its Python: `make bare DEBIAN=trixie`.
#
# It needs Linux, root, debootstrap and a network. debootstrap unpacks the release into build/bare once; remove that
# folder to begin anew. The commit at HEAD is cloned into it, `make lab` writes the lessons, and `.ci/run` installs what
# CI has and runs `make test`, all as root. Of this machine, they see the settings of pip, npm and apt, the certificates,
# the name servers, and the files and folders that pip's settings name.
set -euo pipefail

release=$1
root=$(cd "$(dirname "$0")/.." && pwd)
bare=$root/build/bare/$release
# what README asks for, and npm for the explorers
packages="python3 python3-venv make git ca-certificates npm"
# not in a system folder, where an attack of the tests would see it; a test looks for this path in all files
clone=clone-of-the-course

pip_settings=(/etc/pip.conf /etc/xdg/pip/pip.conf "$HOME/.pip/pip.conf" "$HOME/.config/pip/pip.conf")
settings=(/etc/npmrc "$HOME/.npmrc" /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt)

# Namespaces of users isolate hand-ins, and the kernel refuses them after a chroot, but not after pivot_root.
enter='
bare=$1; shift
mount --bind "$bare" "$bare"
mount -t proc proc "$bare/proc"
mount --rbind /dev "$bare/dev"
mount --rbind /sys "$bare/sys"
for path; do mount -o bind,ro "$path" "$bare$path"; done
cd "$bare"
pivot_root . mnt
umount -l /mnt
exec sh -euc "$INSIDE"
'
inside="
apt-get update -qq
apt-get install -y -qq --no-install-recommends $packages >/dev/null
python3 --version
cd /$clone
make lab LAB_FLAGS=--write-only
make doctor
.ci/run
"

# The settings of this machine, and the files and folders that those of pip name.
shown() {
    local name texts
    texts=$(
        cat "${pip_settings[@]}" 2>/dev/null || true  # most are missing
        for name in "${!PIP_@}"; do printf '%s\n' "${!name}"; done
    )
    {
        printf '%s\n' "${pip_settings[@]}" "${settings[@]}"
        grep -oP "(?<![\w:/])/[^\s'\"]+" <<<"$texts" || true
        # the files of an index lie beside the folder of its pages
        { grep -oP 'file://\K\S+' <<<"$texts" || true; } | xargs -r -d '\n' dirname
    } | sed 's,/*$,,' | LC_ALL=C sort -u | while read -r path; do
        if [ -e "$path" ]; then printf '%s\n' "$path"; fi
    done
}

# from this machine's mirror of Debian, if it has one
if [ ! -e "$bare/etc/apt/sources.list" ]; then  # debootstrap writes it last
    mkdir -p "$bare"
    mirrors=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian')
    mirror=${mirrors%%$'\n'*}
    debootstrap --variant=minbase --include=ca-certificates "$release" "$bare" ${mirror:+"$mirror"}
fi
apt-config dump | sed -n '/^Acquire::/p' >"$bare/etc/apt/apt.conf.d/99this-machine"

rm -rf "${bare:?}/$clone"
git clone --quiet --no-hardlinks "$root" "$bare/$clone"

mapfile -t paths < <(shown)
for path in "${paths[@]}"; do  # an empty place, over which the one of this machine is mounted
    if [ -d "$path" ]; then
        mkdir -p "$bare$path"
    else
        mkdir -p "$(dirname "$bare$path")"
        touch "$bare$path"
    fi
done

# CI: tests fail where hand-ins cannot be isolated. -rfEs: pytest lists what failed or was skipped.
variables=(PATH=/usr/sbin:/usr/bin:/sbin:/bin "HOME=$HOME" LANG=C.UTF-8
    CI=1 PYTEST_ADDOPTS=-rfEs DEBIAN_FRONTEND=noninteractive "INSIDE=$inside")
for name in $(compgen -e); do
    case $name in
        PIP_?* | NPM_?* | NODE_?* | ?*_proxy | ?*_PROXY | ?*_CERT_FILE | ?*_CA_BUNDLE)
            variables+=("$name=${!name}") ;;
    esac
done
exec env -i "${variables[@]}" unshare --mount --pid --fork --kill-child sh -euc "$enter" sh "$bare" "${paths[@]}"
