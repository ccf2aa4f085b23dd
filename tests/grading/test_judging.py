"""Judging outside the sandbox: what it iterates over, what it depends on, and when its process
ends.
"""

import os
import random
import shutil
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
from course_utils.tools.grading.results import result_from
from course_utils.tools.grading.sandbox import SandboxError

from ..commands import gone
from ..grader import (
    ROOT,
    SETTINGS,
    hand_in,
    most_memory,
    points_of,
    ready_sandbox,
    skip_unless_isolated,
    total,
)
from .hostile import MEAN_POOL, RIGHT, SEND, lesson_cells, notebook_bytes, right_hand_in


def test_a_call_has_no_more_time_than_its_notebook():
    args = ([1],)

    class EchoSession:
        def call(self, seconds, **request):
            assert 0 < seconds <= 2
            # a reply, and the request as it is afterwards: no argument was changed
            return {"value": 1}, request

    answer = Answer(EchoSession(), "14-search", foreign=None, deadline=time.monotonic() + 2)
    assert answer(args, seconds=10) == (1, args)
    late_answer = Answer(EchoSession(), "14-search", foreign=None, deadline=time.monotonic())
    with pytest.raises(OutOfTime):
        late_answer(args, seconds=10)


def test_an_answer_that_takes_for_ever_to_compare_fails_its_exercise_for_time(
    monkeypatch, one_thread
):
    monkeypatch.setattr(marking, "SECONDS_OF_JUDGING", 0.5)

    def compared_for_ever(*_):
        while True:
            time.sleep(0.01)

    with ready_sandbox(seconds=1) as sandbox:
        marker = Marker(sandbox, ("04",), seed=4, seconds=1)
        monkeypatch.setattr(judging, "difference", compared_for_ever)
        wrong = "def my_mean_pool(tokens, mask):\n    return tokens[:, 0]"
        mark = marker.mark(right_hand_in(my_mean_pool=wrong)).exercises[MEAN_POOL]
    assert mark.status == "failed"
    assert mark.state == "timeout"
    assert "comparing" in mark.reason


# each has more than MOST_RETURNED things: numbers, and the lists that hold them; the exercise asks
# for short lists of places
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
    before = most_memory()
    report = examine(exercise, lambda queries, texts, k: outcome, cases=cases)
    assert f"more than {MOST_RETURNED:,} things" in report.messages[0]
    assert report.status == "failed"
    # in kB; Python's list of the 42 million numbers would take 336 MB. This is the peak of the
    # whole process: after tests that took more, only the message proves that nothing was iterated.
    assert most_memory() - before < 200 * 2**10, "things were copied"


# A reply of 550,000 empty lists, in place of the sandbox's own. Its JSON is shorter than the 8 MiB
# of LARGEST_REPLY_JSON, but its Python objects need more memory than judging has below.
REPLIES_WITH_EMPTY_LISTS = f"""{SEND}
def my_mean_pool(t, m):
    empty_lists = b",".join([b'{{"list": []}}'] * 550_000)
    send(text=b'{{"dict": [["value", {{"list": [' + empty_lists + b"]}}]]}}")
    return 1
"""


@pytest.mark.nightly
def test_memory_that_judging_lacks_fails_the_exercise_and_not_the_class(tmp_path):
    skip_unless_isolated()
    (tmp_path / "eve.ipynb").write_bytes(right_hand_in(my_mean_pool=REPLIES_WITH_EMPTY_LISTS))
    (tmp_path / "ada.ipynb").write_text(hand_in("04", all="solution"))
    with MarkingProcess({**SETTINGS, "judging": 100 * 2**20}) as process:  # bytes
        eve, ada = (
            result_from(
                process.ask({"key": name, "name": name, "path": str(tmp_path / name)})["result"]
            )
            for name in ("eve.ipynb", "ada.ipynb")
        )
    mark = eve.exercises[MEAN_POOL]
    assert mark.state == "memory"
    assert mark.reason == "what it returned is too large to be judged"
    assert total(eve) == points_of("04") - points_of(MEAN_POOL)
    assert total(ada) == points_of("04")


def test_the_fingerprint_of_marking_changes_with_all_that_it_depends_on(tmp_path, monkeypatch):
    fresh_fingerprint = marking_fingerprint.__wrapped__  # without its cache
    package = shutil.copytree(
        marking.PACKAGE,
        tmp_path / "course_utils",
        ignore=shutil.ignore_patterns("*.safetensors", "__pycache__", "publish"),
    )
    monkeypatch.setattr(marking, "PACKAGE", package)
    fingerprints = {fresh_fingerprint()}
    changed = [
        "pooling.py",
        "attention.py",
        "data.py",
        "embedding.py",
        "tables/review_queries.csv",
        "tables/plot_judgements.csv",
        "exercises/held_out_queries.csv",
        "exercises/lesson_04.py",
        "exercises/lesson_04.toml",
        "tools/grading/wire.py",
        "trainings/adapter.safetensors",  # not copied above, so it is a new file
    ]
    for name in changed:
        with open(package / name, "a") as handle:
            handle.write("# changed\n")
        fingerprints.add(fresh_fingerprint())
    for name, other in (("version", lambda package: "0"), ("assignment", dict)):
        monkeypatch.setattr(marking, name, other)
        fingerprints.add(fresh_fingerprint())
    # and that of the start, of other libraries, and of lessons with other points
    assert len(fingerprints) == len(changed) + 3


STARTS_A_MARKING_PROCESS = f"""
import time
from course_utils.tools.grading.fleet import MarkingProcess
with MarkingProcess({SETTINGS}):
    print("ready", flush=True)
    time.sleep(100)
"""


def test_a_marking_process_ends_with_the_one_that_started_it(tmp_path):
    skip_unless_isolated()
    grader = subprocess.Popen(
        [sys.executable, "-c", STARTS_A_MARKING_PROCESS],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert grader.stdout.readline() == "ready\n"
    marking_process, *sandbox = psutil.Process(grader.pid).children(recursive=True)
    assert "bwrap" in [process.name() for process in sandbox]
    grader.kill()
    assert all(gone(process.pid) for process in (marking_process, *sandbox))
    grader.wait()


def test_a_hand_in_that_is_gone_stops_the_run_and_is_nobodys_fault(tmp_path):
    with pytest.raises(SandboxError, match="can no longer be read: No such file"):
        read(tmp_path / "gone.ipynb", most=100)


@pytest.fixture
def marker(one_thread):
    with ready_sandbox(seconds=60) as sandbox:
        yield Marker(sandbox, ("04",), seed=4)


@pytest.fixture
def slow_and_right():
    """A notebook whose right answer takes a tenth of a second each time it is called."""
    waits = "import time\n" + RIGHT[MEAN_POOL].replace(
        "    weight", "    time.sleep(0.1)\n    weight", 1
    )
    return notebook_bytes(lesson_cells({MEAN_POOL: waits}))


def test_if_the_system_kills_a_process_its_hand_in_is_tried_once_more(marker, slow_and_right):
    killed = threading.Event()

    def kill_youngest_process():
        server = psutil.Process(marker.sandbox.process.pid)
        # until the submission's process has answered its first request
        while marker.session is None or not marker.session.has_replied:
            time.sleep(0.3)
        # the youngest process is the submission's
        max(server.children(recursive=True), key=lambda process: process.pid).kill()
        killed.set()

    # a daemon, so that it does not keep these tests from ending if marking fails before any reply
    thread = threading.Thread(target=kill_youngest_process, daemon=True)
    thread.start()
    mark = marker.mark(slow_and_right).exercises[MEAN_POOL]
    thread.join()
    assert killed.is_set()
    assert mark.status == "passed"
    assert mark.state == "ok"


def test_an_answer_that_arrives_while_the_grader_is_suspended_counts(
    marker, slow_and_right, monkeypatch
):
    # suspended while the answer is called again and again, for longer than a call may take
    suspend = f"""
import os, signal, time
time.sleep(0.5)
os.kill({os.getpid()}, signal.SIGSTOP)
time.sleep(2)
os.kill({os.getpid()}, signal.SIGCONT)
"""
    monkeypatch.setattr(judging, "SECONDS", 1)  # of a call
    other_process = subprocess.Popen([sys.executable, "-c", suspend])
    mark = marker.mark(slow_and_right).exercises[MEAN_POOL]
    other_process.wait()
    assert mark.status == "passed"
    assert mark.state == "ok"
