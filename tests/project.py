"""What pyproject.toml declares, and which files the checkout has, for tests."""

import shutil
import subprocess
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .canary import ROOT, pinned

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def direct_needs():
    """{name: its Requirement, with the pinned version} of all that `make lab` installs."""
    needs = (Requirement(f"{name}=={version}") for name, version in pinned().items())
    return {canonicalize_name(need.name): need for need in needs}


def checkout(root=ROOT):
    """The names of all files that git knows, and of new ones that it does not ignore; [] outside a checkout."""
    listed = subprocess.run(
        ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        cwd=root,
        capture_output=True,
        text=True,
    ).stdout
    return [name for name in listed.split("\0") if (root / name).is_file()]


# into `folder`, with the folders that the files are in
def copy_checkout(folder, root=ROOT):
    for name in checkout(root):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, folder / name)
