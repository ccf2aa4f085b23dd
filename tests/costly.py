"""Tests that run only if something that they depend on has changed since they last passed.

These are tests beside other programs (nbgrader, Dask, a JupyterHub's user, an imitated processor), in processes of
their own or in many sandboxes, whole trainings, and what is made of the lessons and looked at in a browser: a few take
as long as hundreds of others. `@costly("GLOB", ...)` names the files that decide such a test, beside its own file, the
helpers of the tests, the locks, the operating system and, if it needs one, the browser's version. What passed is
recorded in costly.txt under a hash of all of them. A test whose hash is not there runs, in `make test` and so in CI;
the others are skipped, with this reason.

COSTLY=all runs all. COSTLY=record also renews the record, as `make matrix` does.
"""

import functools
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .browser import CHROMIUM

ROOT = Path(__file__).resolve().parents[1]
RECORD = Path(__file__).with_name("costly.txt")
ALWAYS = (
    "requirements.lock",
    "requirements-grading.lock",
    "tests/conftest.py",
    "tests/grader.py",
    "course_utils/_support/*.py",
)
COPIES = "course_utils/tools/workspace/copies.py"
HELPERS = ("tests/browser.py",)  # of tests that need a browser
MARKING = (
    "course_utils/tools/cli.py",
    "course_utils/tools/warm.py",
    "course_utils/tools/grading/**/*",
    COPIES,
    "course_utils/plots.py",
    "course_utils/pooling.py",
    "course_utils/exercises/__init__.py",
    "course_utils/exercises/framework.py",
    "course_utils/exercises/lesson_04.py",
    "notebooks/04_*.ipynb",
)
PUBLISHED = ("notebooks/*.ipynb", "course_utils/tools/publish/**/*", COPIES)
REASON = "unchanged since it last passed (tests/costly.txt); COSTLY=all runs it"
passed = {}  # node id -> its line for the record, empty if it failed


def costly(*globs, browser=False):
    """Mark a test that these files decide, and Chromium's version if it needs a browser."""
    return pytest.mark.costly(*globs, browser=browser)


@functools.cache
def _browser():
    return subprocess.run([CHROMIUM, "--version"], capture_output=True, text=True).stdout if CHROMIUM else "none"


@functools.cache
def _checksum(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def found(item):
    """The line of the record that says that this test passed with these files."""
    (mark,) = item.iter_markers("costly")
    own = Path(item.path)
    globs = (*ALWAYS, *(HELPERS if mark.kwargs["browser"] else ()), *mark.args)
    paths = {path for glob in globs for path in ROOT.glob(glob) if path.is_file() and "__pycache__" not in path.parts}
    assert all(any(ROOT.glob(glob)) for glob in mark.args), f"{item.nodeid}: a glob finds nothing"
    parts = [f"{path.relative_to(ROOT)} {_checksum(path)}" for path in sorted(paths | {own})]
    parts += [_browser()] if mark.kwargs["browser"] else []
    decides = "\n".join([item.nodeid, sys.platform, *map(str, sys.version_info[:2]), *parts])
    return f"{hashlib.sha256(decides.encode()).hexdigest()[:16]} {item.nodeid}"


def pytest_collection_modifyitems(items):
    recorded = set(RECORD.read_text().splitlines()) if RECORD.exists() else set()
    for item in items:
        if item.get_closest_marker("costly"):
            line = found(item)
            item.user_properties.append(("costly", line))
            if not os.environ.get("COSTLY") and line in recorded:
                item.add_marker(pytest.mark.skip(reason=REASON))


def pytest_runtest_logreport(report):
    """Called for each test where the run is reported: in the process that hands the tests out, if there are several."""
    for name, line in report.user_properties:
        if name == "costly":
            passed[report.nodeid] = line if report.passed and passed.get(report.nodeid) != "" else ""


def pytest_sessionfinish(session):
    if os.environ.get("COSTLY") == "record" and not hasattr(session.config, "workerinput"):
        others = [line for line in RECORD.read_text().splitlines() if line[17:] not in passed]
        lines = sorted([*others, *filter(None, passed.values())], key=lambda line: line[17:])
        RECORD.write_text("".join(f"{line}\n" for line in lines))
