"""Run the tests with the network blocked: `python -m tests.run [--nightly] [PYTEST FLAGS]`.

Without --nightly, all tests but those marked `nightly`; with it, only these. Hosted CI runs both,
side by side.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Workers run side by side. With more threads than processors, runs take minutes instead of seconds.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Tests start hundreds of processes, which would compile the course's modules again and again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# as conftest.py does, so that kernels may be started from the warm process
os.environ.update(TQDM_DISABLE="1", COURSE_COLD_SANDBOX="1")

import pytest

from course_utils._support import kept_vectors
from course_utils.tools import beforehand
from course_utils.tools.kernels.provisioner import start_warm

from . import size
from .offline import block_network

BIN = Path(sys.executable).parent
WORKERS = "2"
SETTINGS = Path("course_utils", "explore")  # of the tools for JavaScript
OXLINT = f"oxlint --config {SETTINGS / 'oxlint.json'} course_utils tests"
# quoted, since oxfmt itself finds files in all folders by "**", and bash does not
OXFMT = f"oxfmt --config {SETTINGS / 'oxfmt.json'} 'course_utils/**/*.js' 'tests/*.mjs'"
FIRST = {  # {a command that takes seconds: what helps if it fails}
    "ruff check --quiet": (
        "`make format` fixes long lines (but those of texts, which you break by hand), "
        "`.venv/bin/ruff check --fix` most others."
    ),
    "python -m tests.formatting --check": "`make format` fixes it.",
    "lint-imports --no-cache": "The order of imports is in pyproject.toml.",
    "pyrefly check --summary=none --min-severity=error": (
        "Where a library declares its types wrongly, ignore that one line, and say why."
    ),
    f"{OXLINT} --quiet": f"`.venv/bin/{OXLINT} --fix` fixes some.",
    f"{OXFMT} --check": f"`.venv/bin/{OXFMT}` fixes it.",
}


def look_at_files():
    """The exit status of the first installed command of FIRST that fails, else 0."""
    for command, advice in FIRST.items():
        program, *arguments = shlex.split(command)
        if not shutil.which(program, path=BIN):
            print(
                f"{program} is not installed, so it did not look at the files: "
                "make setup installs it."
            )
            continue
        done = subprocess.run([BIN / program, *arguments], capture_output=True, text=True)
        if done.returncode:
            print(f"{done.stdout}{done.stderr}\n{command} failed. {advice}")
            return done.returncode
    return 0


def prepare():
    """Block the network, and start the warm process, from which kernels are forked as in JupyterLab."""
    reason = block_network()
    print(
        f"Network: {'not blocked, ' + reason if reason else 'blocked, loopback only'}", flush=True
    )
    os.environ["COURSE_NETWORK_BLOCKED"] = "" if reason else "1"
    if not reason:
        # without this, npm asks its registry again for more than a minute
        os.environ["NPM_CONFIG_FETCH_RETRIES"] = "0"
    # before the warm process starts, since kernels must have its environment
    os.environ.setdefault(kept_vectors.VARIABLE, "")
    start_warm()  # tests/matrix.py starts kernels cold


# flags: those of this command, at the top of the file. Returns an exit status.
def main(flags):
    if status := look_at_files():
        return status
    # what several lessons embed is computed once in a run, and afresh in each
    with tempfile.TemporaryDirectory(prefix="vectors-") as vectors:
        os.environ[kept_vectors.VARIABLE] = vectors
        beforehand.marker().touch()  # so that no JupyterLab of a test computes beside the tests
        return run_tests(flags)


def run_tests(flags):
    """Run them with the network blocked, and end with the report. Returns an exit status."""
    prepare()
    nightly = "--nightly" in flags
    # Long tests at the end would leave the other worker idle: so first the lessons, or, of the
    # nightly ones, the files with many tests, as pytest-xdist sorts them.
    order = ["tests"] if nightly else ["--no-loadscope-reorder", "notebooks", "tests"]
    which = "nightly" if nightly else "not nightly"
    further = [flag for flag in flags if flag != "--nightly"]
    status = pytest.main(
        ["-n", WORKERS, "--dist", "loadscope", *order, "-m", which, "--durations=10", *further]
    )
    print(size.report())
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
