"""What an exercise is: cases that test properties, known mistakes, and the report of a check."""

import html
import math
import random
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .._support.bars import in_a_notebook
from .comparing import copied

EMPHASIS = re.compile(r"(?<![\w*])\*([a-z]+(?: [a-z]+)?)\*(?![\w*])")  # *one* or *two words*, and no product


class Case:
    """One call: `label` states the tested property to the learner; `args` are the arguments.

    secret: what an answer returns or raises on these arguments is not shown to the learner.
    """

    def __init__(self, label, *args, secret=False):
        self.label, self.args, self.secret, self.known = label, args, secret, {}

    def outcome_of(self, function):
        """What the reference or the imitation of a mistake returns or raises here, computed once."""
        if function in self.known:
            return self.known[function]
        outcome = _outcome_of(function, self.args)
        if not isinstance(outcome, MemoryError):  # there may be enough next time
            self.known[function] = outcome
        return outcome


def _outcome_of(function, args):
    try:
        return function(*copied(args))
    except Exception as error:  # some mistakes raise
        return error


@dataclass(frozen=True)
class Mistake:
    """A known mistake: what an answer does that makes it, and why that is wrong or what is right.

    imitations: functions that return what answers with this mistake would; several, where it has several forms.
    breaks: words of the exercise's text that such an answer breaks. card: whether it is worth a card to learn with.
    shown_in: the cell of the lesson that treats it, if it is not that of the exercise; see `words.py`.
    """

    name: str
    does: str
    because: str
    imitations: tuple[Callable, ...]
    breaks: tuple[str, ...] = ()
    card: bool = True
    shown_in: str = ""

    @property
    def message(self):
        return f"{self.does} {self.because}".rstrip()


@dataclass(frozen=True)
class Exercise:
    """One exercise: `cases(rng)` yields the calls, `reference` gives the right results, `mistakes` are common ones.

    `arguments` names the parameters in messages; `points` is the exercise's score. Where many results are right,
    `judge(args, outcome)` says in a few words what is wrong with one, or returns None, and `alike(one, other)` says
    whether two results come from the same mistake. `strict`: the text asks for a tensor of a certain dtype, and nothing
    else is right; without it a list or a NumPy array of the same numbers is. `seconds` limits one call of an answer.

    `held_out(rng)` yields cases that `check` does not use and the grader adds; `measured(args, outcome)` is a sentence
    about each of these that passed.

    `shown_in` names the cell of the lesson that treats it, where that is not the section above; see `words.py`.
    """

    id: str
    title: str
    arguments: tuple[str, ...]
    cases: Callable[[random.Random], Iterable[Case]]
    reference: Callable
    mistakes: tuple[Mistake, ...]
    hints: tuple[str, ...]
    points: int = 1
    judge: Callable | None = None
    alike: Callable | None = None
    strict: bool = False
    seconds: int | None = None
    held_out: Callable[[random.Random], Iterable[Case]] | None = None
    measured: Callable | None = None
    shown_in: str = ""

    @property
    def lesson(self):
        return self.id[:2]


@dataclass(frozen=True)
class Completion(Exercise):
    """A cell of a lesson with a gap of a line: judged like an exercise, by `cases` and `reference`, without points."""

    mistakes: tuple[Mistake, ...] = ()
    hints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """The result of `check`. `status` is "passed", "failed" or "not attempted"; `messages` are sentences."""

    exercise_id: str
    title: str
    status: str
    messages: tuple[str, ...] = ()
    seed: int | None = None
    discreet: tuple[str, ...] = ()  # the messages without inputs and expected values, for a page that others may read
    mistakes: tuple[str, ...] = ()  # the messages of the known mistake, or of two at once, that explain the results
    slip: str = ""  # what else explains them, or does without a known mistake; see slips.py
    shown_in: list[int] = field(default_factory=list, compare=False, repr=False)  # execution counts of cells

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

    def show(self) -> None:
        """Show the report at once, as the result of its cell. Only in a notebook, where a cell shows its last line."""
        if not in_a_notebook():
            return
        from IPython import get_ipython
        from IPython.display import display

        shell = get_ipython()
        # a semicolon at the cell's end hides results, also those of other lines
        (display if shell.displayhook.quiet() else sys.displayhook)(self)
        self.shown_in.append(shell.execution_count)

    def _ipython_display_(self) -> None:
        """Display nothing again in the cell that has shown the report, such as when `check` is its last line."""
        from IPython import get_ipython

        if getattr(get_ipython(), "execution_count", None) not in self.shown_in:
            raise NotImplementedError  # IPython then displays it as HTML and text

    def _repr_html_(self):
        colour = {"passed": "#029e73", "failed": "#d55e00", "not attempted": "#949494"}[self.status]
        items = "".join(f"<li>{code_marks(m)}</li>" for m in self.messages)
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


def code_marks(message):
    """A message as HTML: what stands between backticks is code, what stands between asterisks elsewhere emphasised."""
    parts = re.split(r"`([^`]+)`", html.escape(message))
    return "".join(
        f"<code>{part}</code>" if number % 2 else EMPHASIS.sub(r"<em>\1</em>", part)
        for number, part in enumerate(parts)
    )


def normal(rng, *shape):
    """A float32 tensor of standard normal numbers, drawn with a `random.Random`."""
    import torch

    return torch.tensor([rng.gauss(0, 1) for _ in range(math.prod(shape))]).reshape(shape)
