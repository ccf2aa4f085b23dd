"""What pyproject.toml declares, for tests."""

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
