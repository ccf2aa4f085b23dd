"""No hostile submission gains a point or harms the host or the next submission."""

import json
import os
import subprocess
import time
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from course_utils.tools.grading.results import STATUSES

from ..grader import ROOT, each_run_or_nightly, most_memory, runs, strict_marker, total
from .hostile import FULL, HOSTILE, TOKEN, notebook_bytes, right_hand_in

# folders of the host where a submission may try to write, and all that are searched for its traces
OPEN = [Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"), Path.home()]
WATCHED = [*OPEN, ROOT, *(ROOT / name for name in ("tests", "notebooks", "course_utils"))]


@pytest.fixture(scope="module")
def marker(one_thread):
    with strict_marker(seconds=5, seconds_of_a_call=1) as marker:
        marker.memory = most_memory()  # added for the tests: the peak before any attack
        yield marker


@pytest.fixture(scope="module")
def secrets():
    """Files of the host that no submission may see or change, with the times, in ns, of their last
    change. All users may write to them, so only the sandbox protects them.
    """
    paths = [folder / f"{TOKEN}-secret" for folder in OPEN if os.access(folder, os.W_OK)]
    for path in paths:
        path.write_text(TOKEN)
        path.chmod(0o666)
    yield {path: path.stat().st_mtime_ns for path in paths}
    for path in paths:
        path.unlink(missing_ok=True)


# The ids of the sandbox's processes. A killed one may still be a zombie, which runs nothing.
def living(sandbox):
    children = psutil.Process(sandbox.process.pid).children(recursive=True)
    return [process.pid for process in children if runs(process)]


# Whether only the servers are left soon; freeing a gigabyte takes a moment.
def settled(sandbox, servers):
    end = time.monotonic() + 60  # seconds: beside busy processes, a moment is long
    while living(sandbox) != servers and time.monotonic() < end:
        time.sleep(0.01)
    return living(sandbox) == servers


@pytest.fixture(scope="module")
def servers(marker):
    """The processes of a sandbox that runs no submission."""
    return living(marker.sandbox)


# The result of an attack whose submission has so many seconds, and those that it took beyond them.
def marked_within(seconds, marker, attack, notebook, monkeypatch):
    monkeypatch.setattr(marker, "seconds", seconds)
    start = time.monotonic()
    result = marker.mark(notebook, attack.file_name)
    return result, time.monotonic() - start - seconds


@pytest.mark.parametrize("attack", each_run_or_nightly(HOSTILE))
def test_no_attack_gains_a_point(attack, marker, servers, secrets, monkeypatch):
    if attack.needs_filter and not marker.sandbox.filtered:
        assert not os.environ.get("CI"), "there is no filter of system calls"
        pytest.skip("there is no filter of system calls")
    notebook = attack.build()
    result, seconds = marked_within(2, marker, attack, notebook, monkeypatch)
    ran_out = result.status == "timeout" or "took longer than" in result.reason
    if ran_out and result.status not in attack.statuses:
        # on a busy machine it needs longer than it has: so once more, with time
        monkeypatch.setattr(marker, "sandbox_patience", 30)
        result, seconds = marked_within(30, marker, attack, notebook, monkeypatch)
    # seconds: far more than the 3 of each patience of `strict_marker`
    assert seconds < 60, "it holds up the class"

    # what the submission gets
    messages = [message for mark in result.exercises.values() for message in mark.messages]
    text = " ".join([result.reason, *messages])
    assert total(result) == 0
    # and no status that an attack invents
    assert result.status in {*attack.statuses} & {*STATUSES}, text[:1000]
    assert attack.message in text, text[:1000]
    report = json.dumps(asdict(result), ensure_ascii=False)
    # `encode` raises if no file could hold the report. Those of honest ones are far smaller.
    assert len(report.encode()) < 300_000, "the report is bloated"

    # what it leaves
    assert settled(marker.sandbox, servers), "a process is left"
    traces = {path for folder in WATCHED for path in folder.glob(f"*{TOKEN}*")}
    assert traces == secrets.keys(), "a file is left, or a secret is gone"
    assert {path: path.stat().st_mtime_ns for path in secrets} == secrets
    # in kB; several times the largest notebook, which has 100 MB
    assert most_memory() - marker.memory < 1.5 * 2**20, "the grader itself took more than 1.5 GB"

    monkeypatch.undo()
    start = time.monotonic()
    assert total(marker.mark(right_hand_in())) == FULL, "the next submission suffered"
    # seconds: many times what it needs alone, for a busy machine
    assert time.monotonic() - start < 40, "the next submission was slow"


def test_reading_that_takes_too_long_leaves_no_process(marker, servers, monkeypatch):
    monkeypatch.setattr(marker, "sandbox_patience", 0.1)  # seconds; reading this takes far longer
    slow_to_read = notebook_bytes([{"cell_type": "markdown", "source": "x"}] * 400_000)
    for _ in range(3):
        result = marker.mark(slow_to_read)
        assert result.status == "unreadable"
        assert "longer than" in result.reason
    assert settled(marker.sandbox, servers)
    with_zombies = psutil.Process(marker.sandbox.process.pid).children(recursive=True)
    assert len(with_zombies) <= len(servers) + 1, "zombies are left"  # the last may be one
    monkeypatch.undo()
    assert total(marker.mark(right_hand_in())) == FULL


def test_nothing_of_an_attack_is_left_in_the_repository(marker):
    """Must run last. It checks git's view of the repository, and the files that attacks try to
    change.
    """
    status = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=ROOT, capture_output=True, text=True
    )
    assert TOKEN not in status.stdout
    for path in (
        *(ROOT / "course_utils").glob("*.py"),
        *(ROOT / "course_utils/tools/grading").glob("*.py"),
    ):
        assert TOKEN not in path.read_text()
