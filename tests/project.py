"""What pyproject.toml declares, and which files the checkout has, for tests."""

import shutil
import subprocess
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NOT_LOCKED = ("adapter", "nbgrader")  # extras that `make lab` does not install


def direct_needs():
    project = PROJECT["project"]
    extras = [
        need
        for name, needs in project["optional-dependencies"].items()
        if name not in NOT_LOCKED
        for need in needs
    ]
    return {
        canonicalize_name(Requirement(need).name): Requirement(need)
        for need in project["dependencies"] + extras
    }


def checkout(root=ROOT):
    """The names of all files that git knows, and of new ones that it does not ignore; [] outside a checkout."""
    words = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = subprocess.run(words, cwd=root, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if (root / name).is_file()]


def copy_checkout(folder, root=ROOT):
    for name in checkout(root):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, folder / name)
