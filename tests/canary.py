"""The packages that the course itself calls, and which of them have newer versions: see `make canary`.

`python -m tests.canary` prints the names, and `python -m tests.canary FILE` compares the output of `pip freeze` in FILE
with the versions in pyproject.toml. It runs before anything is installed.
"""

import re
import sys
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


def normalised(name):
    # as pip compares names: without extras, in lower case, with hyphens
    return re.sub(r"[-_.]+", "-", name.partition("[")[0]).lower()


def newer(freeze, known):
    """Lines such as "numpy 2.4.6 -> 2.5.0" about packages whose version is not the known one."""
    requirements = [line.split("==") for line in freeze.splitlines() if "==" in line]
    installed = {
        normalised(name): version.partition("+")[0].strip()  # 2.13.0+cpu is 2.13.0
        for name, version in requirements
    }
    versions = [
        (name, ours, installed.get(normalised(name), "missing")) for name, ours in known.items()
    ]
    return [f"{name} {ours} -> {newest}" for name, ours, newest in versions if newest != ours]


def main(files):
    if files:
        lines = newer(Path(files[0]).read_text(encoding="utf-8"), pinned())
        print(f"{len(lines)} packages differ from pyproject.toml", *lines, sep="\n  ")
    else:
        print(*pinned())


if __name__ == "__main__":
    main(sys.argv[1:])
