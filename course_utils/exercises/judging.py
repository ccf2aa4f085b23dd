"""How answers are judged.

An answer is a function. It is called on cases, each of which tests a property ("padding is not counted"), and the
results are compared with the expected ones. If some are wrong, known mistakes are tried: a mistake is a small wrong
function, and if it would have returned the same results, its message says what went wrong. The code of an answer does
not count (it is inspected only to name data that a failing answer reads from its notebook), and an answer cannot see
the expected results.
"""

import contextlib
import random
import signal
import threading

from .._support.inspection import notebook_data
from .comparing import MOST_RETURNED, copied, difference, equal, kind_of, short, text_of, too_many, unchanged, wording
from .model import Completion, Report

SECONDS = 10  # default limit for one call of an answer
TRY = "Write the function above, run its cell, then run this one again."
COMPLETE = "Write what is missing in the function, then run this cell again."  # its check stands in the same cell


class OutOfTime(BaseException):
    """An answer took too long. Not a subclass of Exception, so that an answer's own `except` does not catch it."""


def call_directly(answer, args, seconds):
    """Call an answer. Returns what it returned or raised, and the arguments, which it may have changed.

    Raises OutOfTime.
    """
    try:
        with time_limit(seconds):
            return answer(*args), args
    except (Exception, SystemExit) as error:  # any exception from a learner's code is reported to the learner
        return error, args


def examine(exercise, answer, seed=None, call=call_directly, cases=None):
    """Judge `answer`. See `course_utils.exercises.check`.

    call: calls an answer; the grader passes its own, which calls it in the sandbox.
    cases: those of this seed, if already drawn.
    """
    seed = random.SystemRandom().randrange(10**6) if seed is None else seed

    def report(status, *messages, seed=seed, **more):
        return Report(exercise.id, exercise.title, status, messages, seed, **more)

    not_attempted = report("not attempted", COMPLETE if isinstance(exercise, Completion) else TRY)
    if answer is None or answer is ...:
        return not_attempted
    if not callable(answer):
        return report(
            "failed",
            f"`check` needs the function itself, not what it returns: write `check({exercise.id!r}, your_function)` "
            f"without calling it. It got {kind_of(answer)}.",
            seed=None,
        )
    cases = list(exercise.cases(random.Random(seed))) if cases is None else cases
    outcomes = []
    for case in cases:
        try:
            outcome, args = call(answer, copied(case.args), exercise.seconds or SECONDS)
        except (KeyboardInterrupt, OutOfTime):
            stopped = "Stopped: your function did not come back"
            return report(
                "failed",
                f"{stopped}{_given(exercise, case)}. Does its loop ever end?",
                discreet=(f"{stopped}. Does its loop ever end?",),
            )
        if isinstance(outcome, NotImplementedError) and not text_of(outcome):  # torch's own have a message
            return not_attempted
        if too_many(outcome):
            return report(
                "failed",
                f"{case.label}: your function returned {kind_of(outcome)} that holds more than {MOST_RETURNED:,} "
                "things, and far fewer are asked for.",
            )
        outcomes.append(_kept(outcome))
        for name, before, after in zip(exercise.arguments, case.args, args, strict=True):
            if not unchanged(after, before):
                return report(
                    "failed",
                    f"Your function changes `{name}`, which belongs to the caller. Work on a copy, or build "
                    "something new.",
                )
    wrong = [
        (case, outcome, problem)
        for case, outcome in zip(cases, outcomes, strict=True)
        if (problem := _problem(exercise, case, outcome)) is not None
    ]
    if not wrong:
        shown = [case for case in cases if not case.secret]
        properties = len({case.label for case in shown})
        return report(
            "passed",
            f"{properties} {'property holds' if properties == 1 else 'properties hold'}, on {len(shown)} inputs "
            "drawn for this check.",
            *(exercise.measured(case.args, outcome) for case, outcome in zip(cases, outcomes) if case.secret),
        )
    if foreign := getattr(answer, "notebook_data", None) or notebook_data(answer):
        return report(
            "failed",
            f"Your function uses `{foreign}` from the notebook. It must work with its arguments alone, "
            f"`{'`, `'.join(exercise.arguments)}`.",
        )
    if mistake := mistake_of(exercise, cases, outcomes):
        return report("failed", mistake.message, mistake=mistake.message)
    problems = {}  # each error once, and each property once
    for case, outcome, problem in wrong:
        key = wording(outcome) if isinstance(outcome, BaseException) else case.label
        if key not in problems and len(problems) < 3:
            problems[key] = (
                f"{case.label}: {problem}{_given(exercise, case)}.",
                f"{case.label}: {_discreet(case, outcome, problem)}.",
            )
    full, discreet = zip(*problems.values(), strict=True)
    return report("failed", *full, discreet=discreet)


def mistake_of(exercise, cases, outcomes):
    """The known mistake with one of whose imitations all outcomes agree, or None.

    None, too, for an answer like the reference where that fails itself: another encoder may miss a target.
    """

    def agrees(function):
        return all(
            _same_outcome(outcome, case.outcome_of(function), exercise) for case, outcome in zip(cases, outcomes)
        )

    for mistake in exercise.mistakes:
        if any(map(agrees, mistake.imitations)):
            reference = exercise.reference
            missed = agrees(reference) and any(_problem(exercise, case, case.outcome_of(reference)) for case in cases)
            return None if missed else mistake
    return None


def _discreet(case, outcome, problem):
    """A problem for a page that others may read: no expected values, and nothing that an answer made of a secret."""
    if case.secret and isinstance(outcome, BaseException):
        return "your function raised an error, which is not shown since it could show these inputs"
    return problem.partition(" where ")[0]


def _problem(exercise, case, outcome):
    """What is wrong with an outcome, in a few words, or None."""
    right = [] if exercise.judge else case.outcome_of(exercise.reference)
    if isinstance(right, BaseException):
        raise right
    if outcome is None and right is not None:
        return "your function returned nothing (`None`): no `return` with a value was reached"
    if exercise.judge is None or isinstance(outcome, BaseException):
        return difference(outcome, right, exercise.strict)
    try:
        return exercise.judge(case.args, outcome)
    except Exception:  # inspecting a returned object may raise
        return f"your function returned {kind_of(outcome)} that cannot be judged"


@contextlib.contextmanager
def time_limit(seconds):
    """Raise OutOfTime after this many seconds.

    Only where the system can interrupt this thread: not on Windows, and only in the main thread.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_):
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _kept(outcome):
    """A copy, since an answer may return the same list each time. What cannot be copied is kept as it is."""
    try:
        return copied(outcome)
    except Exception:
        return outcome


def _given(exercise, case):
    """The arguments as text, if they are few and short."""
    given = ", ".join(
        f"`{name}` = {short(value, 200, digits=8)}" for name, value in zip(exercise.arguments, case.args, strict=True)
    )
    return f" (given {given})" if len(given) <= 150 and "\n" not in given else ""


def _same_outcome(one, other, exercise):
    if isinstance(one, BaseException) or isinstance(other, BaseException):
        return type(one).__name__ == type(other).__name__ and wording(one) == wording(other)
    if equal(one, other, exercise.strict):
        return True
    try:
        return exercise.alike is not None and bool(exercise.alike(one, other))
    except Exception:  # inspecting a returned object may raise
        return False
