"""What the course itself calls, without versions, and what the newest ones are: see `make canary`.

`python -m tests.canary` prints the names, and `python -m tests.canary FILE` compares the output of `pip freeze` in FILE
with the versions in pyproject.toml. It runs before anything is installed.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_LOCKED = ("adapter", "nbgrader")  # extras that `make lab` does not install


def pinned():
    """{name, with extras if it has any: version} of all direct needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needs = [
        *project["dependencies"],
        *(need for name in extras if name not in NOT_LOCKED for need in extras[name]),
    ]
    return dict(need.split("==") for need in needs)


def normalised(name):
    return re.sub(r"[-_.]+", "-", name.partition("[")[0]).lower()


def newer(freeze, known):
    """Lines such as "numpy 2.4.6 -> 2.5.0" of the packages that are not those of pyproject.toml."""
    lines = (line.partition("==") for line in freeze.splitlines() if "==" in line)
    found = {normalised(name): version.partition("+")[0].strip() for name, _, version in lines}
    newest = [
        (name, version, found.get(normalised(name), "missing")) for name, version in known.items()
    ]
    return [f"{name} {version} -> {new}" for name, version, new in newest if new != version]


def main(files):
    if files:
        lines = newer(Path(files[0]).read_text(encoding="utf-8"), pinned())
        title = f"{len(lines)} packages differ from pyproject.toml"
        print(title, *lines, sep="\n  ")
    else:
        print(*pinned())


if __name__ == "__main__":
    main(sys.argv[1:])
