"""No hostile submission gains a point or harms the host or the next submission."""

import json
import os
import resource
import subprocess
import time
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from course_utils.tools.grading.results import STATUSES

from ..grader import each_run_or_nightly, strict_marker
from ..grader import total as points
from .hostile import FULL, HOSTILE, REPOSITORY, TOKEN, file, right

OPEN = [Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"), Path.home()]
WATCHED = [
    *OPEN,
    REPOSITORY,
    *(REPOSITORY / name for name in ("tests", "notebooks", "course_utils")),
]


@pytest.fixture(scope="module")
def marker(one_thread):
    with strict_marker(5, 1) as marker:
        assert marker.filtered or not os.environ.get("CI"), "there is no filter of system calls"
        marker.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        yield marker


@pytest.fixture(scope="module")
def secrets():
    """Files of the host that no submission may see or change, next to the folders where it may try."""
    paths = [folder / f"{TOKEN}-secret" for folder in OPEN if os.access(folder, os.W_OK)]
    for path in paths:
        path.write_text(TOKEN)
        path.chmod(0o666)
    yield {path: path.stat().st_mtime_ns for path in paths}
    for path in paths:
        path.unlink(missing_ok=True)


def living(sandbox):
    """The sandbox's processes. A killed one may still be a zombie, which runs nothing."""
    found = []
    for process in psutil.Process(sandbox.process.pid).children(recursive=True):
        try:
            found += [process.pid] if process.status() != psutil.STATUS_ZOMBIE else []
        except psutil.NoSuchProcess:
            pass
    return found


def settled(sandbox, servers):
    """Whether only the servers are left within a few seconds; freeing a gigabyte takes a moment."""
    end = time.monotonic() + 5
    while (found := living(sandbox)) != servers and time.monotonic() < end:
        time.sleep(0.01)
    return found == servers


def traces():
    """Names of files that an attack left in folders of the host."""
    return sorted(str(path) for folder in WATCHED for path in folder.glob(f"*{TOKEN}*"))


@pytest.fixture(scope="module")
def servers(marker):
    return living(marker.sandbox)


@pytest.mark.parametrize("attack", each_run_or_nightly(HOSTILE))
def test_no_attack_gains_a_point(attack, marker, servers, secrets, record_property, monkeypatch):
    if attack.filter and not marker.filtered:
        pytest.skip("there is no filter of system calls")
    notebook, start = attack.notebook(), time.monotonic()
    monkeypatch.setattr(marker, "seconds", 2)
    result = marker.mark(notebook, "04_pooling.ipynb" if attack.build is None else "")
    took = time.monotonic() - start
    said = " ".join(
        [
            result.reason,
            *(message for mark in result.exercises.values() for message in mark.messages),
        ]
    )
    assert points(result) == 0
    assert result.status in attack.status and result.status in STATUSES, said[:1000]
    assert attack.said in said, said[:1000]
    assert took < 25
    assert len(json.dumps(asdict(result), ensure_ascii=False).encode()) < 300_000, (
        "it bloats the report, or no file can hold it"
    )
    assert settled(marker.sandbox, servers), "a process is left"
    assert traces() == sorted(map(str, secrets))
    assert {path: path.stat().st_mtime_ns for path in secrets} == secrets
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - marker.memory < 1.5 * 2**20, (
        "the grader itself took more than 1.5 GB"
    )
    monkeypatch.undo()
    start = time.monotonic()
    assert points(marker.mark(right())) == FULL, "the next submission suffered"
    assert time.monotonic() - start < 8
    record_property("hand-in", "hostile")  # counted and printed by tests/conftest.py


def test_reading_that_takes_too_long_leaves_no_process(marker, servers, monkeypatch):
    monkeypatch.setattr(marker, "sandbox_patience", 0.1)
    for _ in range(3):
        result = marker.mark(file([{"cell_type": "markdown", "source": "x"}] * 400_000))
        assert result.status == "unreadable" and "longer than" in result.reason
    assert settled(marker.sandbox, servers)
    assert (
        len(psutil.Process(marker.sandbox.process.pid).children(recursive=True)) <= len(servers) + 1
    ), "zombies are left"
    monkeypatch.undo()
    assert points(marker.mark(right())) == FULL


def test_nothing_of_an_attack_is_left_in_the_repository(marker):
    """Must run last: checks git's view of the repository, and the content of the files that attacks tried to change."""
    status = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert TOKEN not in status.stdout
    for path in (
        *(REPOSITORY / "course_utils").glob("*.py"),
        *(REPOSITORY / "course_utils/tools/grading").glob("*.py"),
    ):
        assert TOKEN not in path.read_text()
