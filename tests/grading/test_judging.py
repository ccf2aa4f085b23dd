"""Judging outside the sandbox: it iterates over little, declares all its dependencies, and ends with its parent."""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest
import torch

from course_utils.exercises import find, judging
from course_utils.exercises.judging import MOST_RETURNED, OutOfTime, examine
from course_utils.tools.grading import marking
from course_utils.tools.grading.fleet import MarkingProcess, read
from course_utils.tools.grading.marking import Answer, Marker, marking_fingerprint
from course_utils.tools.grading.sandbox import Sandbox, SandboxError

from ..grader import ROOT, SETTINGS, hand_in, isolation, points_of
from .hostile import ID, NAMES, RIGHT, SEND, code, file, lesson


def grown(action):
    """An action's result, and by how many MB at most this process grew."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return action(), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def test_a_call_has_no_more_time_than_its_notebook():
    class Session:
        def call(self, seconds, **request):
            assert 0 < seconds <= 2
            return {"value": 1}, request

    answer = Answer(Session(), "14-search", None, time.monotonic() + 2)
    assert answer(([1],), 10) == (1, ([1],))
    with pytest.raises(OutOfTime):
        Answer(Session(), "14-search", None, time.monotonic())([[1]], 10)


def test_comparing_has_a_clock(monkeypatch, one_thread):
    """An answer whose values take for ever to compare ends its own exercise, and nothing else."""
    isolation()
    monkeypatch.setattr(marking, "JUDGING", 0.5)

    def compared_for_ever(*_):
        while True:
            time.sleep(0.01)

    with Sandbox(seconds=1) as sandbox:
        sandbox.wait()
        marker = Marker(sandbox, ("04",), seed=4, seconds=1)
        monkeypatch.setattr(judging, "difference", compared_for_ever)
        wrong = (
            "def my_mean_pool(token_embeddings, attention_mask):\n    return token_embeddings[:, 0]"
        )
        mark = marker.mark(file(lesson({**RIGHT, ID: wrong}))).exercises[ID]
    assert (mark.status, mark.state) == ("failed", "timeout") and "comparing" in mark.reason


@pytest.mark.parametrize(
    "outcome",
    [
        torch.zeros(42, 10**6, dtype=torch.uint8),
        torch.zeros(1).expand(42, 10**6),
        torch.zeros(1).expand(10**12),
        [torch.zeros(1).expand(10**6)] * 42,
        [[0] * 1000] * 1000,
    ],
    ids=["bytes", "expanded", "expanded far", "a list of tensors", "lists"],
)
def test_what_is_far_too_large_is_not_iterated(outcome, one_thread):
    exercise = find("14-search")
    cases = list(exercise.cases(random.Random(1)))
    report, more = grown(
        lambda: examine(exercise, lambda queries, texts, k: outcome, 1, cases=cases)
    )
    assert not report.passed and f"more than {MOST_RETURNED:,} things" in report.messages[0]
    assert more < 200


@pytest.mark.nightly
def test_memory_that_judging_lacks_fails_the_exercise_and_not_the_class(tmp_path):
    isolation()
    nested = SEND + (
        'def my_mean_pool(t, m):\n    send(text=b\'{"dict": [["value", {"list": [\' + '
        'b",".join([b\'{"list": []}\'] * 550_000) + b"]}]]}")\n    return 1'
    )
    (tmp_path / "eve.ipynb").write_bytes(file(lesson({**RIGHT, ID: nested})))
    (tmp_path / "ada.ipynb").write_text(hand_in("04", all="solution"))
    with MarkingProcess({**SETTINGS, "judging": 100 * 2**20}) as process:
        eve, ada = (
            process.ask({"key": name, "name": name, "path": str(tmp_path / name)})["result"]
            for name in ("eve.ipynb", "ada.ipynb")
        )
    assert (eve["exercises"][ID]["state"], eve["exercises"][ID]["reason"]) == (
        "memory",
        "what it returned is too large to be judged",
    )
    assert sum(mark["points"] for mark in eve["exercises"].values()) == points_of("04") - points_of(
        ID
    )
    assert sum(mark["points"] for mark in ada["exercises"].values()) == points_of("04")


def test_a_mark_knows_what_it_depends_on(tmp_path, monkeypatch):
    def fresh():
        marking_fingerprint.cache_clear()
        return marking_fingerprint()

    ignore = shutil.ignore_patterns("*.safetensors", "__pycache__", "publish")
    package = shutil.copytree(marking.PACKAGE, tmp_path / "course_utils", ignore=ignore)
    monkeypatch.setattr(marking, "PACKAGE", package)
    seen = {fresh()}
    changed = "pooling.py attention.py data.py embedding.py".split()
    changed += "tables/review_queries.csv tables/plot_judgements.csv".split()
    changed += "exercises/held_out_queries.csv exercises/lesson_04.py tools/grading/wire.py".split()
    for name in changed:
        with open(package / name, "a") as handle:
            handle.write("# changed\n")
        seen.add(fresh())
    monkeypatch.setattr(marking, "version", lambda name: "0")
    seen.add(fresh())
    marking_fingerprint.cache_clear()
    assert len(seen) == len(changed) + 2


def ended(processes, seconds):
    """Whether these processes end within so many seconds. Without a parent that waits, one stays as an idle zombie."""
    end = time.monotonic() + seconds
    while any(
        process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in processes
    ):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def test_a_marking_process_ends_with_the_one_that_started_it(tmp_path):
    isolation()
    script = (
        "import time; from course_utils.tools.grading.fleet import MarkingProcess; "
        f"process = MarkingProcess({SETTINGS}).__enter__(); print('ready', flush=True); time.sleep(100)"
    )
    how = {"cwd": ROOT, "text": True, "env": {**os.environ, "OMP_NUM_THREADS": "1"}}
    grader = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, **how)
    assert grader.stdout.readline() == "ready\n"
    below = psutil.Process(grader.pid).children(recursive=True)
    assert any(process.name() == "bwrap" for process in below)
    os.kill(grader.pid, signal.SIGKILL)
    assert ended(below[:1], 1), "the marking process is there a second later"
    assert ended(below, 10), "its sandbox goes with it, as fast as the system takes its memory back"
    grader.wait()


def test_a_hand_in_that_is_gone_stops_the_run_and_is_nobodys_fault(tmp_path):
    with pytest.raises(SandboxError, match="can no longer be read: No such file"):
        read(tmp_path / "gone.ipynb", 100)


@pytest.fixture
def marker(one_thread):
    isolation()
    with Sandbox(seconds=60) as sandbox:
        sandbox.wait()
        yield Marker(sandbox, ("04",), seed=4)


def test_what_the_system_does_to_a_process_is_no_fault_of_the_learners(marker):
    """If the system kills a process, as for lack of memory, it is tried once more.

    An answer that arrived while the grader was suspended counts.
    """
    waits = "import time\n" + RIGHT[ID].replace("    weight", "    time.sleep(0.1)\n    weight", 1)
    notebook, killed = (
        file([code(waits, ID), code(f'check("{ID}", {NAMES[ID]})', f"{ID}-check")]),
        [],
    )

    def kill():
        server = psutil.Process(marker.sandbox.process.pid)
        while not killed:
            time.sleep(0.3)
            if marker.session is not None and marker.session.begun:
                child = max(server.children(recursive=True), key=lambda process: process.pid)
                child.kill()
                killed.append(child.pid)

    thread = threading.Thread(target=kill)
    thread.start()
    mark = marker.mark(notebook).exercises[ID]
    thread.join()
    assert killed and (mark.status, mark.state) == ("passed", "ok"), mark

    script = (
        f"import os, signal, time; time.sleep(0.5); os.kill({os.getpid()}, signal.SIGSTOP); time.sleep(2); "
        f"os.kill({os.getpid()}, signal.SIGCONT)"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "SECONDS", 1)
        other = subprocess.Popen([sys.executable, "-c", script])
        mark = marker.mark(notebook).exercises[ID]
        other.wait()
    assert (mark.status, mark.state) == ("passed", "ok"), mark
