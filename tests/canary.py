"""The packages that the course itself calls: `python -m tests.canary` prints their names, for `make canary`.

It runs before anything is installed.
"""

import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_LOCKED = ("adapter", "nbgrader")  # extras that `make lab` does not install


def pinned():
    """{name of a direct dependency, with its extras such as "a[b]": version}."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"].items()
    locked = [needs for name, needs in optional if name not in NOT_LOCKED]
    return dict(need.split("==") for need in [*project["dependencies"], *chain(*locked)])


if __name__ == "__main__":
    print(*pinned())
