"""A cell that no alarm stops ends with its process, and its answers fail for time."""

import pytest

from course_utils.exercises.judging import OutOfTime
from course_utils.tools.grading import running
from course_utils.tools.grading.sandbox import Session

from ..grader import ready_sandbox
from .hostile import code_cell, notebook_bytes


@pytest.fixture(scope="module")
def sandbox():
    with ready_sandbox() as sandbox:
        yield sandbox


@pytest.mark.parametrize(
    "cell",
    [
        """import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, signal.Signals)
time.sleep(10**6)""",
        """import signal
for kind in signal.SIGALRM, signal.SIGPROF:
    signal.signal(kind, print)
while True:
    pass""",
        "sum(range(10**12))",
    ],
    ids=["blocks all signals", "handles the alarms itself", "stays in C"],
)
def test_a_cell_that_no_alarm_stops_ends_with_its_process(cell, sandbox, monkeypatch):
    monkeypatch.setattr(running, "SECONDS_OF_A_CELL", 0.1)
    # In the sandbox, which has modules of its own: seconds until the alarm, and from then until the
    # process ends itself. Both are short, so that its end comes long before our 60 seconds below.
    hurry = """from course_utils.tools.grading import running
running.SECONDS_OF_A_CELL = running.LAST_RESORT = 0.1"""
    session = Session(sandbox)
    session.load(
        notebook_bytes([code_cell(source) for source in (hurry, cell, "def f(x): return x")])
    )
    # any id; an exercise of this name need not exist
    session.ask(do="open", exercises=["00-f"], by_hand=[])
    with pytest.raises(OutOfTime):
        session.ask(60, do="define", exercise_id="00-f", name="f", run="end")
    assert session.ended["status"] == running.OUT_OF_TIME, (
        "the grader's clock has ended it, not the process's own"
    )
