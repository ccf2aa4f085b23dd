"""What an exercise is: cases that test properties, known mistakes, and the report of a check."""

from __future__ import annotations

import html
import math
import random
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._support.bars import in_a_notebook
from .comparing import copied

if TYPE_CHECKING:
    import torch

# *one* or *two words*, and no product
EMPHASIS = re.compile(r"(?<![\w*])\*([a-z]+(?: [a-z]+)?)\*(?![\w*])")
SIGNS = {"passed": "✓ passed", "failed": "✗ not there yet", "not attempted": "○ not attempted yet"}
COLOURS = {"passed": "#029e73", "failed": "#d55e00", "not attempted": "#949494"}


class Case:
    """One call: `label` states the tested property to the learner; `args` are the arguments.

    secret: what an answer returns or raises on these arguments is not shown to the learner.
    """

    def __init__(self, label: str, *args: Any, secret: bool = False) -> None:
        self.label, self.args, self.secret = label, args, secret
        self.known: dict[Callable[..., Any], Any] = {}  # function -> what it returned or raised

    def outcome_of(self, function: Callable[..., Any]) -> Any:
        """What the reference or the imitation of a mistake returns or raises here, computed once."""
        if function not in self.known:
            try:
                self.known[function] = function(*copied(self.args))
            except MemoryError as error:  # there may be enough next time
                return error
            except Exception as error:  # some mistakes raise
                self.known[function] = error
        return self.known[function]


@dataclass(frozen=True)
class Mistake:
    """A known mistake: what an answer does that makes it, and why that is wrong or what is right.

    imitations: functions that return what answers with this mistake would; several, where it has
    several forms. breaks: words of the exercise's text that such an answer breaks. card: whether it
    is worth a card to learn with. shown_in: the cell of the lesson that treats it, if it is not
    that of the exercise; see `words.py`.
    """

    name: str
    does: str
    because: str
    imitations: tuple[Callable[..., Any], ...]
    breaks: tuple[str, ...] = ()
    card: bool = True
    shown_in: str = ""

    @property
    def message(self) -> str:
        return f"{self.does} {self.because}".rstrip()


@dataclass(frozen=True)
class Exercise:
    """One exercise: `cases(rng)` yields the calls, and `reference` gives the right results.

    `arguments` names the parameters in messages; `points` is the exercise's score. Where many
    results are right, `judge(args, outcome)` says in a few words what is wrong with one, or returns
    None, and `alike(one, other)` says whether two results come from the same mistake. `strict`: the
    text asks for a tensor of a certain dtype, and nothing else is right; without it a list or a
    NumPy array of the same numbers is. `seconds` limits one call of an answer.

    `held_out(rng)` yields cases that `check` does not use and the grader adds; `measured(args,
    outcome)` is a sentence about each of these that passed.
    """

    id: str
    title: str
    arguments: tuple[str, ...]
    cases: Callable[[random.Random], Iterable[Case]]
    reference: Callable[..., Any]
    mistakes: tuple[Mistake, ...]
    hints: tuple[str, ...]
    points: int = 1
    judge: Callable[[tuple, Any], str | None] | None = None
    alike: Callable[[Any, Any], bool] | None = None
    strict: bool = False
    seconds: int | None = None
    held_out: Callable[[random.Random], Iterable[Case]] | None = None
    measured: Callable[[tuple, Any], str] | None = None

    @property
    def lesson(self) -> str:
        return self.id[:2]


@dataclass(frozen=True)
class Completion(Exercise):
    """A cell of a lesson with a gap of a line: judged like an exercise, but without points."""


@dataclass(frozen=True)
class Report:
    """The result of `check`.

    `status` is "passed", "failed" or "not attempted"; `messages` are sentences.
    """

    exercise_id: str
    title: str
    status: str
    messages: tuple[str, ...] = ()
    seed: int | None = None
    # the messages without inputs and expected values, for a page that others may read
    discreet: tuple[str, ...] = ()
    # the messages of the known mistake, or of two at once, that explain the results
    mistakes: tuple[str, ...] = ()
    # execution counts of the cells that have shown it
    shown_in: list[int] = field(default_factory=list, compare=False, repr=False)

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    @property
    def headline(self) -> str:
        return f"{self.title}: {SIGNS[self.status]}"

    def __repr__(self) -> str:
        lines = [self.headline, *(f"  - {message}" for message in self.messages)]
        if self._again:
            lines.append(f"(To repeat these inputs: {self._again})")
        return "\n".join(lines)

    @property
    def _again(self) -> str:
        """The call that draws the same inputs, for a failed report that had inputs."""
        drew_inputs = self.status == "failed" and self.seed is not None
        return f"check({self.exercise_id!r}, ..., seed={self.seed})" if drew_inputs else ""

    def show(self) -> None:
        """Show the report at once, as the result of its cell.

        Only in a notebook, where a cell shows its last line alone.
        """
        if not in_a_notebook():
            return
        from IPython import get_ipython
        from IPython.display import display

        shell = get_ipython()
        # a semicolon at the cell's end hides results, also those of other lines
        show = display if shell.displayhook.quiet() else sys.displayhook
        show(self)
        self.shown_in.append(shell.execution_count)

    def _ipython_display_(self) -> None:
        """Display nothing again in the cell that has shown the report, such as when `check` is its
        last line.
        """
        from IPython import get_ipython

        if getattr(get_ipython(), "execution_count", None) not in self.shown_in:
            raise NotImplementedError  # IPython then displays it as HTML and text

    def _repr_html_(self) -> str:
        page = f"<strong>{html.escape(self.headline)}</strong>"
        if self.messages:
            items = "".join(f"<li>{code_marks(message)}</li>" for message in self.messages)
            page += f"<ul>{items}</ul>"
        if self._again:
            page += f"<p><small>To repeat these inputs: <code>{self._again}</code></small></p>"
        style = f"border-left: 6px solid {COLOURS[self.status]}; padding: 0.3em 1em"
        return f'<div style="{style}">{page}</div>'


@dataclass(frozen=True)
class Note:
    """A piece of Markdown, which displays as such and prints as text."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


def code_marks(message: str) -> str:
    """A message as HTML: between backticks stands code, and between asterisks what is emphasised."""
    parts = re.split(r"`([^`]+)`", html.escape(message))
    parts[0::2] = [EMPHASIS.sub(r"<em>\1</em>", text) for text in parts[0::2]]
    parts[1::2] = [f"<code>{code}</code>" for code in parts[1::2]]
    return "".join(parts)


def normal(rng: random.Random, *shape: int) -> torch.Tensor:
    """A float32 tensor of standard normal numbers."""
    import torch

    return torch.tensor([rng.gauss(0, 1) for _ in range(math.prod(shape))]).reshape(shape)
