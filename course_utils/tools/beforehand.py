"""Compute the longest vectors of lessons while JupyterLab is open, so that nobody waits for them.

`python -m course_utils.tools.beforehand PARENT`: the number of the process with which it ends. It
runs, lesson by lesson, the cells that have the tag TAG; what these `embed` is kept.
"""

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from .._support import kept_vectors
from .._support.notebooks import parts
from ..models import ENV_VAR
from ..settings import setup

TAG = "beforehand"
LOWEST_PRIORITY = 19


def start() -> subprocess.Popen[bytes] | None:
    """Start it, to end with this process, even if an exec makes this one another program.

    Returns None if it has been done before, if nothing is kept, or with another encoder.
    """
    done = marker()
    if done is None or done.exists() or os.environ.get(ENV_VAR):
        return None
    return subprocess.Popen(
        [sys.executable, "-m", __spec__.name, str(os.getpid())],
        start_new_session=True,  # Ctrl+C in the terminal does not reach it
        env={**os.environ, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def marker() -> Path | None:
    """The file whose presence says that these cells have been run, or None if nothing is kept."""
    kept = kept_vectors.folder()
    if kept is None:
        return None
    digest = hashlib.sha256(repr([version("torch"), *_lessons()]).encode()).hexdigest()
    return kept / f"{TAG}-{digest[:16]}"


def _lessons() -> Iterator[str]:
    """Yield the code of each lesson that has cells with TAG."""
    for path in parts().values():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        tagged = [cell for cell in cells if TAG in cell["metadata"].get("tags", [])]
        if tagged:
            yield "\n".join("".join(cell["source"]) for cell in tagged)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


def _give_way() -> None:
    """Let any other process have the processor first."""
    if hasattr(os, "nice"):
        os.nice(LOWEST_PRIORITY)
    # Where Linux shares the processor between sessions, a priority inside one does not matter. That
    # of the session is for all its processes, so only one that has a session of its own sets it.
    if hasattr(os, "getsid") and os.getsid(0) == os.getpid():
        with suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(LOWEST_PRIORITY))


def main(parent: int) -> None:
    """Run the cells of all lessons, and write the marker. `parent`: the process to end with."""
    threading.Thread(target=_end_with, args=[parent], daemon=True).start()
    _give_way()
    setup()
    for code in _lessons():
        exec(code, {"__name__": "__main__"})
    if done := marker():
        done.touch()


if __name__ == "__main__":
    main(int(sys.argv[1]))
