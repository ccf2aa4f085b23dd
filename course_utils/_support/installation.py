"""Where the course is, whether it came from a wheel, and whether it is whole.

`course doctor` imports this on any Python from 3.8 on, to say what is wrong.
"""

from __future__ import annotations

import csv
from importlib import metadata
from pathlib import Path

from .. import PROJECT

PACKAGE = Path(__file__).resolve().parents[1]
# whether the package came from a wheel, which holds the lessons; in a clone, the lessons and
# pyproject.toml are beside the package
INSTALLED = (PACKAGE / "notebooks").is_dir() or not (PACKAGE.parent / "pyproject.toml").is_file()
ROOT = PACKAGE if INSTALLED else PACKAGE.parent
LOCK = ROOT / "requirements.lock"


def incomplete() -> str:
    """A sentence about what is missing of an installed course; empty if nothing is, and in a clone.

    It compares the size of each file of the package with the record that pip writes when it has
    unpacked everything, and names at most three files.
    """
    if not INSTALLED:
        return ""
    installed = next(iter(metadata.distributions(name=PROJECT)), None)
    record = installed.read_text("RECORD") if installed else ""
    if not installed or not record:
        return "pip has not recorded what it installed"
    # Not `installed.files`, which from Python 3.12 on leaves out missing files. What the wheel holds
    # has a size in the record. The command, which pipx rewrites, is outside the package.
    damaged = []
    for name, _, size in csv.reader(record.splitlines()):
        if size and name.startswith(f"{PACKAGE.name}/"):
            path = Path(str(installed.locate_file(name)))
            if not path.is_file() or path.stat().st_size != int(size):
                damaged.append(path.name)
    return f"{' and '.join(damaged[:3])} missing or cut off" if damaged else ""
