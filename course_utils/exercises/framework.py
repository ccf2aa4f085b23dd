"""How answers are judged.

An answer is a function. It is called on cases, each of which tests a property ("padding is not counted"), and the
results are compared with the expected ones. If some are wrong, known mistakes are tried: a mistake is a small wrong
function, and if it would have returned the same results, its message says what went wrong. The code of an answer does
not count (it is inspected only to name data that a failing answer reads from its notebook), and an answer cannot see
the expected results.
"""

import contextlib
import copy
import html
import json
import math
import numbers
import random
import re
import reprlib
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .._support.notebooks import BEGIN, END, NOTEBOOKS
from .._support.values import is_array, notebook_data

TOLERANCE = 1e-5
SECONDS = 10  # default limit for one call of an answer
MOST_RETURNED = 1_000_000  # numbers, texts and so on in what an answer returns; correct results are far smaller
TRY = "Write the function above, run its cell, then run this one again."


class OutOfTime(BaseException):
    """An answer took too long. Not a subclass of Exception, so that an answer's own `except` does not catch it."""


@dataclass(frozen=True)
class Case:
    """One call: `label` states the tested property to the learner; `args` are the arguments.

    secret: what an answer returns or raises on these arguments is not shown to the learner.
    """

    label: str
    args: tuple
    secret: bool = False
    known: dict = field(default_factory=dict, compare=False, repr=False)

    def outcome_of(self, function):
        """What the reference or the imitation of a mistake returns or raises here, computed once."""
        if function in self.known:
            return self.known[function]
        outcome = _outcome(function, self.args)
        if not isinstance(outcome, MemoryError):  # there may be enough next time
            self.known[function] = outcome
        return outcome


@dataclass(frozen=True)
class Mistake:
    """A known mistake: `imitate` computes what it would return, `message` explains it to the learner."""

    message: str
    imitate: Callable


@dataclass(frozen=True)
class Exercise:
    """One exercise: `cases(rng)` draws the calls, `reference` gives the right results, `mistakes` are common ones.

    `arguments` names the parameters in messages; `points` is the exercise's score. Where many results are right,
    `judge(args, outcome)` says in a few words what is wrong with one, or returns None, and `alike(one, other)` says
    whether two results come from the same mistake. `strict`: the text asks for a tensor of a certain dtype, and nothing
    else is right; without it a list or a NumPy array of the same numbers is. `seconds` limits one call of an answer.

    `held_out(rng)` draws cases that `check` does not use and the grader adds; `measured(args, outcome)` is a sentence
    about each of these that passed.
    """

    id: str
    title: str
    arguments: tuple[str, ...]
    cases: Callable[[random.Random], list[Case]]
    reference: Callable
    mistakes: tuple[Mistake, ...]
    hints: tuple[str, ...]
    minutes: int
    difficulty: int  # 1 a line or two, 2 a few lines, 3 needs thought
    points: int = 1
    judge: Callable | None = None
    alike: Callable | None = None
    strict: bool = False
    seconds: int | None = None
    held_out: Callable[[random.Random], list[Case]] | None = None
    measured: Callable | None = None

    @property
    def lesson(self):
        return self.id[:2]


@dataclass(frozen=True)
class Report:
    """The result of `check`. `status` is "passed", "failed" or "not attempted"; `messages` are sentences."""

    exercise_id: str
    title: str
    status: str
    messages: tuple[str, ...] = ()
    seed: int | None = None
    discreet: tuple[str, ...] = ()  # the messages without inputs and expected values, for a page that others may read
    mistake: str = ""  # the known mistake's message, if one matched

    @property
    def passed(self):
        return self.status == "passed"

    @property
    def headline(self):
        sign = {"passed": "✓ passed", "failed": "✗ not there yet", "not attempted": "○ not attempted yet"}
        return f"{self.title}: {sign[self.status]}"

    def __repr__(self):
        again = [f"(To repeat these inputs: {self._again})"] if self._again else []
        return "\n".join([self.headline, *(f"  - {m}" for m in self.messages), *again])

    @property
    def _again(self):
        """The call that draws the same inputs, for a failed report that had inputs."""
        drew_inputs = self.status == "failed" and self.seed is not None
        return f"check({self.exercise_id!r}, ..., seed={self.seed})" if drew_inputs else ""

    def _repr_html_(self):
        colour = {"passed": "#029e73", "failed": "#d55e00", "not attempted": "#949494"}[self.status]
        items = "".join(f"<li>{_code_marks(m)}</li>" for m in self.messages)
        again = f"<p><small>To repeat these inputs: <code>{self._again}</code></small></p>" if self._again else ""
        return (
            f'<div style="border-left: 6px solid {colour}; padding: 0.3em 1em">'
            f"<strong>{html.escape(self.headline)}</strong>{f'<ul>{items}</ul>' if items else ''}{again}</div>"
        )


@dataclass(frozen=True)
class Note:
    """A piece of Markdown, which displays as such and prints as text."""

    text: str

    def __repr__(self):
        return self.text

    def _repr_markdown_(self):
        return self.text


def _code_marks(message):
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(message))


def here(answer, args, seconds):
    """Call an answer. Returns what it returned or raised, and the arguments, which it may have changed.

    Raises OutOfTime.
    """
    try:
        with _time_limit(seconds):
            return answer(*args), args
    except (Exception, SystemExit) as error:  # any exception from a learner's code is reported to the learner
        return error, args


def examine(exercise, answer, seed=None, call=here, cases=None):
    """Judge `answer`. See `course_utils.exercises.check`.

    call: calls an answer; the grader passes its own, which calls it in the sandbox.
    cases: those of this seed, if already drawn.
    """
    seed = random.SystemRandom().randrange(10**6) if seed is None else seed

    def report(status, *messages, seed=seed, **more):
        return Report(exercise.id, exercise.title, status, messages, seed, **more)

    if answer is None or answer is ...:
        return report("not attempted", TRY)
    if not callable(answer):
        return report(
            "failed",
            f"`check` needs the function itself, not what it returns: write `check({exercise.id!r}, your_function)` "
            f"without calling it. It got {_kind(answer)}.",
            seed=None,
        )
    cases = exercise.cases(random.Random(seed)) if cases is None else cases
    outcomes = []
    for case in cases:
        try:
            outcome, args = call(answer, _copied(case.args), exercise.seconds or SECONDS)
        except (KeyboardInterrupt, OutOfTime):
            stopped = "Stopped: your function did not come back"
            return report(
                "failed",
                f"{stopped}{_given(exercise, case)}. Does its loop ever end?",
                discreet=(f"{stopped}. Does its loop ever end?",),
            )
        if isinstance(outcome, NotImplementedError) and not _text(outcome):  # torch's own have a message
            return report("not attempted", TRY)
        if _too_many(outcome):
            return report(
                "failed",
                f"{case.label}: your function returned {_kind(outcome)} that holds more than {MOST_RETURNED:,} "
                "things, and far fewer are asked for.",
            )
        outcomes.append(_kept(outcome))
        for name, before, after in zip(exercise.arguments, case.args, args, strict=True):
            if not _unchanged(after, before):
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
    for mistake in exercise.mistakes:
        if all(
            _same_outcome(outcome, case.outcome_of(mistake.imitate), exercise)
            for case, outcome in zip(cases, outcomes, strict=True)
        ):
            return report("failed", mistake.message, mistake=mistake.message)
    problems = {}  # each error once, and each property once
    for case, outcome, problem in wrong:
        problems.setdefault(
            _wording(outcome) if isinstance(outcome, BaseException) else case.label,
            (
                f"{case.label}: {problem}{_given(exercise, case)}.",
                f"{case.label}: {_discreet(case, outcome, problem)}.",
            ),
        )
    full, discreet = zip(*list(problems.values())[:3], strict=True)
    return report("failed", *full, discreet=discreet)


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
        return f"your function returned {_kind(outcome)} that cannot be judged"


@contextlib.contextmanager
def _time_limit(seconds):
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


def _too_many(outcome):
    """Whether an answer returned more than MOST_RETURNED things. Copies nothing; of arrays it reads the shape only."""
    count, left = 0, [outcome]
    while left and count <= MOST_RETURNED:
        value = left.pop()
        if is_array(value):
            count += math.prod(value.shape)
            continue
        count += 1
        if type(value) in (list, tuple, set, frozenset, dict):
            if len(value) > MOST_RETURNED:
                return True
            left += [*value, *value.values()] if type(value) is dict else value
            if len(left) > MOST_RETURNED:
                return True
    return count > MOST_RETURNED


def _copied(value):
    """As `copy.deepcopy`, which takes ten times as long, but what stands in two places becomes two objects."""
    kind = type(value)
    if kind in (str, int, float, bool):
        return value
    if kind in (list, tuple):
        return kind([_copied(item) for item in value])
    if kind is dict:
        return {key: _copied(item) for key, item in value.items()}
    if kind.__name__ == "Tensor" and value.is_contiguous() and not value.requires_grad:
        return value.clone()
    return copy.deepcopy(value)


def _unchanged(after, before):
    """Whether an argument is as it was, to the last digit."""
    try:
        return _is_same(after, before)
    except Exception:  # inspecting what an answer left may raise
        return False


def _is_same(after, before):
    if isinstance(before, (list, tuple)):
        return isinstance(after, (list, tuple)) and len(after) == len(before) and all(map(_is_same, after, before))
    if isinstance(before, dict):
        return after.keys() == before.keys() and all(_is_same(after[key], before[key]) for key in before)
    if not is_array(before):
        return type(after) is type(before) and bool(after == before or (after != after and before != before))
    if type(after) is not type(before) or after.shape != before.shape or after.dtype != before.dtype:
        return False
    return np.array_equal(_float64(after), _float64(before), equal_nan=True)


def _kept(outcome):
    """A copy, since an answer may return the same list each time. What cannot be copied is kept as it is."""
    try:
        return _copied(outcome)
    except Exception:
        return outcome


def _given(exercise, case):
    """The arguments as text, if they are few and short."""
    given = ", ".join(
        f"`{name}` = {_short(value, 200)}" for name, value in zip(exercise.arguments, case.args, strict=True)
    )
    return f" (given {given})" if len(given) <= 150 and "\n" not in given else ""


def _outcome(function, args):
    try:
        return function(*_copied(args))
    except Exception as error:  # some mistakes raise
        return error


def _same_outcome(one, other, exercise):
    if isinstance(one, BaseException) or isinstance(other, BaseException):
        return type(one).__name__ == type(other).__name__ and _wording(one) == _wording(other)
    if _equal(one, other, exercise.strict):
        return True
    try:
        return exercise.alike is not None and bool(exercise.alike(one, other))
    except Exception:  # inspecting a returned object may raise
        return False


def _wording(error):
    """An error's text without its numbers, which depend on the order of multiplication."""
    return re.sub(r"\d+", "#", _text(error))


def _text(error):
    try:
        return str(error)
    except Exception:
        return ""


def _kind(value):
    if value is None:
        return "`None`"
    name = type(value).__name__ or "thing"
    if is_array(value):
        name += f" of shape {shape}" if (shape := tuple(value.shape)) else " without dimensions, a single number"
    return f"{'an' if name[0] in 'aeioAEIO' or name.startswith('nd') else 'a'} {name}"


def _family(value, strict):
    """What counts as the same type: NumPy numbers are numbers; lists, tuples and, unless `strict`, arrays are lists."""
    if is_array(value):
        kind = type(value).__name__ if strict else "list"
        return kind if tuple(value.shape) else _family(value.item(), strict)
    for family, types in (("list", (list, tuple)), ("dict", dict), ("number", numbers.Real)):
        if isinstance(value, types):
            return family
    return type(value).__name__


def difference(got, right, strict=False):
    """None if `got` equals `right`, else a few words on the first difference.

    Decimals may be off by 1e-5; integers, words and truth values are equal or not. A list, a tuple, a NumPy array and a
    tensor of the same numbers are equal, whatever the dtype; if `strict`, arrays must be of the same type and dtype.
    """
    try:
        tell = _difference(got, right, strict)
        return tell and tell()
    except Exception:  # inspecting a returned object may raise
        return f"your function returned something that cannot be compared with {_kind(right)}"


def _equal(got, right, strict):
    """Whether `difference` finds none, without putting one into words."""
    try:
        return _difference(got, right, strict) is None
    except Exception:
        return False


def _difference(got, right, strict):
    """None, or a function that says what the difference is: most differences are only looked for, and never told."""
    if type(got) is type(right) and type(right) in (str, bool, int, float) and got == right:
        return None  # most items of long lists
    if isinstance(got, BaseException):
        return lambda: f"your function raised {type(got).__name__}: {_text(got)[:200] or '(no text)'}"
    family = _family(right, strict)
    if _family(got, strict) != family:
        return lambda: f"your function returned {_kind(got)} where {_kind(right)} is expected"
    if is_array(right) and tuple(right.shape):
        return _array_difference(got, right, strict)
    if family == "list":
        return _list_difference(_listed(got), right, strict)
    if family == "number":
        return _number_difference(_listed(got), _listed(right))
    if family == "dict":
        return _dict_difference(got, right, strict)
    return None if got == right else lambda: f"your function returned {_short(got)} where {_short(right)} is expected"


def _listed(value):
    """An array as nested lists, or as a number."""
    return (value.detach() if hasattr(value, "detach") else value).tolist() if is_array(value) else value


def _number_difference(got, right):
    if got == right or (got != got and right != right):
        return None
    got = got if isinstance(got, (int, float)) else float(got)
    near = TOLERANCE * max(1.0, abs(right))
    if not isinstance(right, int) and math.isfinite(right) and abs(got - right) <= near:
        return None

    def tell():
        digits = next(n for n in range(4, 18) if f"{got:.{n}g}" != f"{right:.{n}g}" or n == 17)
        return f"your function returned {got:.{digits}g} where {right:.{digits}g} is expected"

    return tell


def _whole(got, right):
    """The sentence that shows both as a whole, or None if one is too long for that or both are shown alike."""
    shown = [_short(value) for value in (got, right)]
    if max(map(len, shown)) < 120 and shown[0] != shown[1]:
        return f"your function returned {shown[0]} where {shown[1]} is expected"
    return None


def _dict_difference(got, right, strict):
    if got.keys() != right.keys():
        return lambda: f"your function returned {_short(got)} where {_short(right)} is expected"
    items = ((key, _difference(got[key], right[key], strict)) for key in right)
    key, first = next(((key, item) for key, item in items if item), (None, None))
    return first and (lambda: _whole(got, right) or f"under {_short(key)}: {first()}")


def _list_difference(got, right, strict):
    items = (_difference(one, other, strict) for one, other in zip(got, right, strict=False))
    place, first = next(((place, item) for place, item in enumerate(items) if item), (0, None))
    if len(got) == len(right) and first is None:
        return None

    def tell():
        if whole := _whole(*([_listed(item) for item in value] for value in (got, right))):
            return whole
        if len(got) != len(right):
            return f"your function returned {len(got)} items where {len(right)} are expected"
        if (told := first()).startswith("item "):
            return told.replace(" of what", f" of item {place} of what", 1)
        return f"item {place} of what your function returned: {told.removeprefix('your function returned ')}"

    return tell


def _array_difference(got, right, strict):
    shape = tuple(right.shape)
    if not is_array(got):
        try:
            got = np.array(_nested(got))
        except ValueError:
            return lambda: f"your function returned {_kind(got)} where the shape {shape} is expected"
    if tuple(got.shape) != shape:
        return lambda: f"your result has the shape {tuple(got.shape)} where {shape} is expected"
    if strict and got.dtype != right.dtype:
        return lambda: f"your result has the dtype {got.dtype} where {right.dtype} is expected"
    whole = "int" in str(right.dtype) or "bool" in str(right.dtype)
    found, wanted = _float64(got), _float64(right)
    if np.array_equal(found, wanted):
        return None
    if (np.isnan(found) != np.isnan(wanted)).any():
        return lambda: "your result holds NaN"
    scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=1.0)
    if not whole and np.isclose(found, wanted, rtol=0, atol=TOLERANCE * scale, equal_nan=True).all():
        return None

    def tell():
        off = np.abs(np.subtract(found, wanted, where=found != wanted, out=np.zeros_like(found)))
        return f"your result is off by up to {np.nanmax(off):.3g}"

    return tell


def _nested(value):
    """A list of numbers, lists or arrays as nested lists."""
    return [_nested(item) for item in value] if isinstance(value, (list, tuple)) else _listed(value)


def _float64(array):
    return array.detach().cpu().double().numpy() if hasattr(array, "detach") else np.asarray(array, dtype=np.float64)


def normal(rng, *shape):
    """A float32 tensor of standard normal numbers, drawn with a `random.Random`."""
    import torch

    return torch.tensor([rng.gauss(0, 1) for _ in range(int(np.prod(shape)))]).reshape(shape)


def top_pairs(values, k, largest=True):
    """The k largest (or smallest) numbers of a row, as a list of pairs (index, number)."""
    top = values.topk(k, largest=largest)
    return list(zip(top.indices.tolist(), top.values.tolist()))


def _short(value, most=120):
    """`repr`, cut to at most `most` characters and never slow to compute."""
    brief = reprlib.Repr()
    brief.maxlist = brief.maxtuple = brief.maxdict = brief.maxset = 40
    brief.maxstring = brief.maxother = brief.maxlong = most
    text = brief.repr(value)
    return text if len(text) <= most else text[: most - 3] + "..."


def written_solution(exercise, folder=NOTEBOOKS):
    """The text between the solution marks in the lesson's source notebook, with the lines around it.

    Raises FileNotFoundError with a one-sentence message if the source notebooks are not beside the package.
    """
    for path in sorted(folder.glob(f"{exercise.lesson}_*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == exercise.id:
                lines = "".join(cell["source"]).splitlines()
                return "\n".join(line for line in lines if line.strip() not in (BEGIN, END))
    raise FileNotFoundError(
        f"The source notebook of lesson {exercise.lesson} is not in {folder}, so its solutions cannot be shown. "
        "Install the course again."
    )
