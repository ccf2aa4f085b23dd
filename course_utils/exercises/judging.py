"""How answers are judged.

An answer is a function. It is called on cases, each of which tests a property ("padding is not
counted"), and the results are compared with the expected ones. If some are wrong, known mistakes
are tried: a mistake is a small wrong function, and if it would have returned the same results, its
message says what went wrong. If none would, two at once are tried, where both are steps of the
reference done otherwise (`otherwise.py`). The code of an answer does not count (it is inspected
only to name data that a failing answer reads from its notebook), and an answer cannot see the
expected results.
"""

import contextlib
import functools
import itertools
import random
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .._support.inspection import notebook_data
from .comparing import (
    MOST_RETURNED,
    copied,
    difference,
    kind_of,
    safely,
    short,
    text_of,
    too_many,
    unchanged,
    wording,
)
from .model import Case, Completion, Exercise, Mistake
from .otherwise import Otherwise
from .raised import in_plain_words, line_of
from .report import Report
from .slips import slip_between

NO_FUNCTION = (
    "`check` needs the function itself, not what it returns: write `check({!r}, your_function)` "
    "without calling it. It got {}."
)
CHANGED = (
    "Your function changes `{}`, which belongs to the caller. Work on a copy, or build something "
    "new."
)
FOREIGN = "Your function uses `{}` from the notebook. It must work with its arguments alone, `{}`."
TOO_MANY = (
    f"your function returned {{}} that holds more than {MOST_RETURNED:,} things, and far fewer are "
    "asked for."
)
# the number of properties, "property holds" or "properties hold", and the number of cases
HELD = "{} {}, on {} inputs drawn for this check."
MOST_PAIRS = 100  # of mistakes made together; trying more would make a check slow
STOPPED = (
    "Stopped: your function did not come back{}. Does its loop ever end, and is each of its steps "
    "quick?"
)
SECONDS = 10  # default limit for one call of an answer
TRY = "Write the function above, run its cell, then run this one again."
# its check stands in the same cell
COMPLETE = "Write what is missing in the function, then run this cell again."

Results = list[tuple[Case, Any]]  # of each case, what an answer returned or raised


class OutOfTime(BaseException):
    """An answer took too long.

    Not a subclass of Exception, so that an answer's own `except` does not catch it.
    """


def call_directly(answer: Callable[..., Any], args: tuple, seconds: float) -> tuple[Any, tuple]:
    """What an answer returns or raises, and the arguments, which it may have changed.

    seconds: the limit of the call. Raises OutOfTime.
    """
    try:
        with time_limit(seconds):
            return answer(*args), args
    except (Exception, SystemExit) as error:  # whatever a learner's code raises is told to them
        return error, args


def examine(
    exercise: Exercise,
    answer: Any,
    seed: int | None = None,
    call: Callable[..., tuple[Any, tuple]] = call_directly,
    cases: list[Case] | None = None,
) -> Report:
    """Judge `answer`. See `course_utils.exercises.check`.

    seed: of the inputs; by default a random one of six digits at most, short enough to be typed.
    call: takes and returns what `call_directly` does, and may raise the same; the grader passes its
    own, which calls an answer in the sandbox.
    cases: those of this seed, if already drawn.
    """
    seed = random.SystemRandom().randrange(10**6) if seed is None else seed
    make_report = functools.partial(Report, exercise.id, exercise.title, seed=seed)
    not_attempted = make_report(
        "not attempted", (COMPLETE if isinstance(exercise, Completion) else TRY,)
    )
    if answer is None or answer is ...:
        return not_attempted
    if not callable(answer):
        return make_report("failed", (NO_FUNCTION.format(exercise.id, kind_of(answer)),), seed=None)
    cases = list(exercise.cases(random.Random(seed))) if cases is None else cases
    results, changed = [], []
    for case in cases:
        try:
            outcome, args = call(answer, copied(case.args), exercise.seconds or SECONDS)
        except (KeyboardInterrupt, OutOfTime):
            return make_report(
                "failed", (STOPPED.format(_given(exercise, case)),), discreet=(STOPPED.format(""),)
            )
        # an untouched stub raises it without a message, and torch with one
        if isinstance(outcome, NotImplementedError) and not text_of(outcome):
            return not_attempted
        if too_many(outcome):
            return make_report("failed", (f"{case.label}: {TOO_MANY.format(kind_of(outcome))}",))
        results.append((case, _kept(outcome)))
        for name, before, after in zip(exercise.arguments, case.args, args, strict=True):
            if not unchanged(after, before):
                changed.append(CHANGED.format(name))
    # one such sentence: an answer that changes an argument does so on most cases
    return _judged(exercise, answer, results, changed[:1], make_report)


# The report of an answer that returned or raised something on each case.
#
# make_report: takes the status, the messages and what else `Report` takes by name.
# changed: the sentence on an argument that it changed, in a list, or an empty list.
def _judged(
    exercise: Exercise,
    answer: Any,
    results: Results,
    changed: list[str],
    make_report: Callable[..., Report],
) -> Report:
    problem_of = {case: _problem(exercise, case, outcome) for case, outcome in results}
    wrong = [(case, outcome) for case, outcome in results if problem_of[case]]
    right = [(case, outcome) for case, outcome in results if not problem_of[case]]
    if not wrong and not changed:
        return _passed(exercise, results, make_report)
    mistakes, slip = (), ""
    if wrong:
        # the grader's stand-in for an answer has this from the sandbox
        foreign = getattr(answer, "notebook_data", None) or notebook_data(answer)
        if foreign:
            return make_report(
                "failed", (FOREIGN.format(foreign, "`, `".join(exercise.arguments)),)
            )
        # the wrong ones first: these rule most mistakes out at once
        mistakes, slip = explanation_of(exercise, wrong + right)
    known = tuple(mistake.message for mistake in mistakes)
    explained = (*changed, *known, slip) if slip else (*changed, *known)
    if changed or known:
        return make_report("failed", explained, mistakes=known)
    # a slip says what is wrong, and one result shows it; without one, three are soon read
    most = 1 if slip else 3
    full, discreet = _sentences_on(exercise, answer, _distinct(wrong)[:most], problem_of)
    return make_report("failed", (*explained, *full), discreet=(*explained, *discreet))


# The report of an answer whose results are all right.
def _passed(exercise: Exercise, results: Results, make_report: Callable[..., Report]) -> Report:
    labels = [case.label for case, _ in results if not case.secret]
    held = "property holds" if len({*labels}) == 1 else "properties hold"
    measured = [
        exercise.measured(case.args, outcome)  # pyrefly: ignore[not-callable]
        for case, outcome in results
        if case.secret  # only an exercise with `measured` has such cases
    ]
    return make_report("passed", (HELD.format(len({*labels}), held, len(labels)), *measured))


# Of results, the first with each error, and the first on each property.
def _distinct(results: Results) -> Results:
    first = {}
    for case, outcome in results:
        key = wording(outcome) if isinstance(outcome, BaseException) else case.label
        first.setdefault(key, (case, outcome))
    return list(first.values())


# A sentence on each wrong result, in two lists: in full, and for a page that others may read.
def _sentences_on(
    exercise: Exercise, answer: Any, wrong: Results, problem_of: dict[Case, Any]
) -> tuple[list[str], list[str]]:
    full, discreet = [], []
    for case, outcome in wrong:
        problem = problem_of[case]
        line, meaning = _of_error(case, outcome, answer)
        full.append(f"{case.label}: {problem}{line}{_given(exercise, case)}.{meaning}")
        discreet.append(f"{case.label}: {_discreet(case, outcome, problem)}.{meaning}")
    return full, discreet


# The line that raised an error, and what the error means, as words to put behind a problem.
#
# Two empty texts if it raised nothing.
def _of_error(case: Case, outcome: Any, answer: Any) -> tuple[str, str]:
    if case.secret or not isinstance(outcome, BaseException):
        return "", ""
    line, meaning = line_of(outcome, answer), in_plain_words(outcome)
    return f", in `{line}`" if line else "", f" {meaning}" if meaning else ""


def explanation_of(exercise: Exercise, results: Results) -> tuple[tuple[Mistake, ...], str]:
    """What explains all results, which are (case, outcome).

    Returns one or two known mistakes, or the sentence of a slip, or neither. Neither, too, if the
    answer is like the reference, which can fail itself: another encoder may miss a target.
    """

    # of each result, whether the function's is the same: lazily, as most differ in the first
    def matches(function: Callable[..., Any]) -> Iterator[bool]:
        for case, outcome in results:
            yield _same_outcome(outcome, case.outcome_of(function), exercise)

    def agrees(function: Callable[..., Any]) -> bool:
        return all(matches(function))

    # one known mistake
    reference = exercise.reference
    for mistake in exercise.mistakes:
        if any(map(agrees, mistake.imitations)):
            # where the reference misses the target too, the answer makes no mistake
            if agrees(reference) and any(
                _problem(exercise, case, case.outcome_of(reference)) for case, _ in results
            ):
                return (), ""
            return (mistake,), ""
    # an argument that is returned
    for position, name in enumerate(exercise.arguments):
        if all(
            difference(outcome, case.args[position], exercise.strict) is None
            for case, outcome in results
        ):
            return (), f"You return `{name}` as it is."
    # two known mistakes at once
    explaining_pairs = [
        {mistake, another}
        for mistake, another, made_together in _two_at_once(exercise.mistakes)
        if agrees(made_together)
    ]
    if explaining_pairs:  # where several explain the same results, what they share is certain
        certain = set.intersection(*explaining_pairs) or explaining_pairs[0]
        return tuple(mistake for mistake in exercise.mistakes if mistake in certain), ""
    if exercise.judge:  # many results are right, so nothing follows from those of one function
        return (), ""
    # a slip, or else the mistake that explains most
    returned_and_right = [(outcome, case.outcome_of(reference)) for case, outcome in results]
    slip = safely(slip_between, returned_and_right, otherwise="")
    return ((), slip) if slip else (_made_in_most(exercise, matches), "")


# The mistake that explains most wrong results and contradicts no right one, in a tuple.
#
# Another mistake then shows in the other results. It must explain at least three and half of all
# wrong ones, and no other mistake as many. The tuple is empty if there is none.
def _made_in_most(
    exercise: Exercise, matches: Callable[..., Iterator[bool]]
) -> tuple[Mistake, ...]:
    is_right = [*matches(exercise.reference)]
    least = max(3, is_right.count(False) / 2)
    wrong_explained = {}  # {mistake: how many of the wrong results its best form explains}
    for mistake in exercise.mistakes:
        for imitate in mistake.imitations:
            is_same = [*matches(imitate)]
            contradicts_none = all(itertools.compress(is_same, is_right))
            # how many wrong results it explains, if it contradicts no right one
            count = sum(is_same) - sum(is_right)
            if contradicts_none and count >= least:
                wrong_explained[mistake] = max(count, wrong_explained.get(mistake, 0))
    most = max(wrong_explained.values(), default=0)
    best = [mistake for mistake, count in wrong_explained.items() if count == most]
    return tuple(best) if len(best) == 1 else ()


# [(mistake, another, a function that makes both)], of steps of the reference done otherwise.
#
# At most MOST_PAIRS, the first forms of each mistake first.
@functools.cache
def _two_at_once(mistakes: tuple[Mistake, ...]) -> list[tuple[Mistake, Mistake, Otherwise]]:
    steps = [  # the rank of a mistake's first form is 0
        (rank, mistake, form)
        for mistake in mistakes
        for rank, form in enumerate(mistake.imitations)
        if isinstance(form, Otherwise)
    ]
    pairs = sorted(
        itertools.combinations(steps, 2), key=lambda pair: sum(rank for rank, _, _ in pair)
    )
    tried = []
    for (_, mistake, form), (_, another, other_form) in pairs:
        both = form.both(other_form) if mistake is not another else None
        if both:
            tried.append((mistake, another, both))
        if len(tried) == MOST_PAIRS:
            break
    return tried


# A problem for a page that others may read.
#
# It holds no expected values, and nothing that an answer made of a secret.
def _discreet(case: Case, outcome: Any, problem: str) -> str:
    if case.secret and isinstance(outcome, BaseException):
        return "your function raised an error, which is not shown since it could show these inputs"
    return problem.partition(" where ")[0]  # see `comparing.RETURNED`


# What is wrong with an outcome, in a few words, or None.
def _problem(exercise: Exercise, case: Case, outcome: Any) -> str | None:
    # a judge needs no result to compare with: [] stands for one, so that None is still wrong
    right = [] if exercise.judge else case.outcome_of(exercise.reference)
    if isinstance(right, BaseException):
        raise right
    if outcome is None and right is not None:
        return "your function returned nothing (`None`): no `return` with a value was reached"
    if exercise.judge is None or isinstance(outcome, BaseException):
        return difference(outcome, right, exercise.strict)
    return safely(
        exercise.judge,
        case.args,
        outcome,
        otherwise=f"your function returned {kind_of(outcome)} that cannot be judged",
    )


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime after this many seconds.

    Only where the system can interrupt this thread: not on Windows, and only in the main thread.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
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


# A copy, since an answer may return the same list each time.
#
# Errors, and what cannot be copied, are kept.
def _kept(outcome: Any) -> Any:
    if isinstance(outcome, BaseException):  # a copy would have no traceback
        return outcome
    return safely(copied, outcome, otherwise=outcome)


# The arguments as text, or "" unless they fit on about two lines of a message.
#
# Eight digits let a learner call the function on them again.
def _given(exercise: Exercise, case: Case) -> str:
    given = ", ".join(
        f"`{name}` = {short(value, 200, digits=8)}"
        for name, value in zip(exercise.arguments, case.args, strict=True)
    )
    return f" (given {given})" if len(given) <= 150 and "\n" not in given else ""


# Whether two outcomes, of an answer and of a function that imitates, come from the same mistake.
def _same_outcome(outcome: Any, other: Any, exercise: Exercise) -> bool:
    if isinstance(outcome, BaseException) or isinstance(other, BaseException):
        return type(outcome).__name__ == type(other).__name__ and wording(outcome) == wording(other)
    equal = difference(outcome, other, exercise.strict) is None
    return equal or bool(exercise.alike and safely(exercise.alike, outcome, other, otherwise=False))
