"""Write the lessons and run all tests in a bare Debian, with its Python: `make bare DEBIAN=trixie`.

It needs Linux, root, debootstrap and a network. debootstrap unpacks the release into build/bare once;
remove that folder to begin anew. The commit at HEAD is cloned into it, `make lab` writes the lessons, and
`.ci/run` installs what CI has and runs `make test`, all as root. Of this machine, they see the settings of
pip, npm and apt, the certificates, the name servers, and the files and folders that pip's settings name.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# what README asks for, and npm for the explorers
PACKAGES = "python3 python3-venv make git ca-certificates npm"
# not in a system folder, where an attack of the tests would see it; a test looks for this path in all files
CLONE = "clone-of-the-course"

HOME = Path.home()
PIP_SETTINGS = (
    Path("/etc/pip.conf"),
    Path("/etc/xdg/pip/pip.conf"),
    HOME / ".pip/pip.conf",
    HOME / ".config/pip/pip.conf",
)
SETTINGS = (
    *PIP_SETTINGS,
    Path("/etc/npmrc"),
    HOME / ".npmrc",
    Path("/etc/resolv.conf"),
    Path("/etc/ssl/certs/ca-certificates.crt"),
)
VARIABLE = re.compile(r"(PIP|NPM|NODE)_.+|.+_(proxy|PROXY|CERT_FILE|CA_BUNDLE)")
INDEX_IN_A_FOLDER = re.compile(r"file://(\S+)")
PATH = re.compile(r"(?<![\w:/])/[^\s'\"]+")

# Namespaces of users isolate hand-ins, and the kernel refuses them after a chroot, but not after pivot_root.
ENTER = """
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
"""
INSIDE = f"""
apt-get update -qq
apt-get install -y -qq --no-install-recommends {PACKAGES} >/dev/null
python3 --version
cd /{CLONE}
make lab LAB_FLAGS=--write-only
make doctor
.ci/run
"""


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def shown() -> list[Path]:
    """The settings of this machine, and the files and folders that those of pip name."""
    texts = [path.read_text(encoding="utf-8") for path in PIP_SETTINGS if path.exists()]
    texts += [value for name, value in os.environ.items() if name.startswith("PIP_")]
    paths = set(SETTINGS)
    for text in texts:
        paths.update(Path(path) for path in PATH.findall(text))
        # the files of an index lie beside the folder of its pages
        paths.update(Path(path).parent for path in INDEX_IN_A_FOLDER.findall(text))
    return sorted(path for path in paths if path.exists())


def unpack(bare: Path, release: str) -> None:
    """Unpack the release from this machine's mirror of Debian, if it has one, and fetch packages as it does."""
    mirrors = output(
        "apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian", "Label: Debian"
    )
    if not (bare / "etc/apt/sources.list").exists():  # debootstrap writes it last
        bare.mkdir(parents=True, exist_ok=True)
        command = ["debootstrap", "--variant=minbase", "--include=ca-certificates", release, bare]
        subprocess.run([*command, *mirrors.split()[:1]], check=True)
    settings = output("apt-config", "dump").splitlines(keepends=True)
    fetching = [line for line in settings if line.startswith("Acquire::")]
    (bare / "etc/apt/apt.conf.d/99this-machine").write_text("".join(fetching), encoding="utf-8")


def main(release: str) -> int:
    bare = ROOT / "build/bare" / release
    unpack(bare, release)
    shutil.rmtree(bare / CLONE, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, bare / CLONE], check=True)
    paths = shown()
    for path in paths:  # an empty place, over which the one of this machine is mounted
        folder = bare / path.relative_to("/")
        (folder if path.is_dir() else folder.parent).mkdir(parents=True, exist_ok=True)
        if not path.is_dir():
            folder.touch()
    variables = {name: value for name, value in os.environ.items() if VARIABLE.fullmatch(name)}
    variables |= {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(HOME), "LANG": "C.UTF-8"}
    # CI: tests fail where hand-ins cannot be isolated. -rfEs: pytest lists what failed or was skipped.
    variables |= {"CI": "1", "PYTEST_ADDOPTS": "-rfEs", "DEBIAN_FRONTEND": "noninteractive"}
    unshare = "unshare --mount --pid --fork --kill-child sh -euc".split()
    command = [*unshare, ENTER, "sh", bare, *paths]
    return subprocess.run(command, env={**variables, "INSIDE": INSIDE}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
