"""What an exercise is: cases that test properties, known mistakes, and their words.

    MEAN_POOL = exercise("04-mean-pool", _mean_cases, _mean_pool)(
        sum={" / count": ""},
        ...
    )

`_mean_cases(rng)` draws the cases: each is a label, and then the arguments of one call in the order
in which `_mean_pool`, the reference, takes them. Each keyword is a mistake, and its value is what
imitates it: a function, or swaps, or several of these, where the mistake has several forms. Swaps
are a dictionary from old to new texts: wherever an old text stands in the source of the reference,
the new one takes its place, one pair after the other, and the function that results makes the
mistake. So `{" / count": ""}` is a mean that does not divide. What only new texts use is defined in
the lesson's module too.

Titles, hints and messages stand in lesson_NN.toml, a table for each exercise.

A mistake is named there as in the code. `does` says what the answer does, `because` why that is
wrong or what is right, and `breaks` lists words of the exercise's text that such an answer breaks.
Mistakes of several exercises of a lesson have their words in the table `shared`. `no_card` names,
with spaces between them, the mistakes that make no card to learn with: their words help only while
one writes this answer. A mistake without `because` makes none, either.

`shown_in`, of an exercise or a mistake, is the id of the cell that treats it, such as
"padding-picture": the class report names its section and its slide. Without it, they are those
above the exercise. Of a cell in another lesson or part, such as "04 diagram-broadcast", only the
slide is named.
"""

from __future__ import annotations

import functools
import math
import random
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .comparing import copied
from .otherwise import Otherwise

if TYPE_CHECKING:
    import torch

FOLDER = Path(__file__).parent


class Case:
    """One call: `label` states the tested property to the learner; `args` are the arguments, in the
    order in which the reference takes them.

    secret: what an answer returns or raises on these arguments is not shown to the learner.
    """

    def __init__(self, label: str, *args: Any, secret: bool = False) -> None:
        self.label, self.args, self.secret = label, args, secret
        self.known: dict[Callable[..., Any], Any] = {}  # function -> what it returned or raised

    def outcome_of(self, function: Callable[..., Any]) -> Any:
        """What the reference or the imitation of a mistake returns or raises here, computed once.

        An exception is returned, not raised. The function gets copies of the arguments.
        """
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
    that of the exercise; see `shown_in` above.
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

    `id` is a lesson's two digits and a name, "04-mean-pool". `hints` come one at a time, in this
    order. `arguments` names the parameters in messages; `points` is the exercise's score. Where
    many results are right, `judge(args, outcome)` says in a few words what is wrong with one, or
    returns None, and `alike(one, other)` says whether two results come from the same mistake.
    `strict`: the text asks for a tensor of a certain dtype, and nothing else is right; without it a
    list or a NumPy array of the same numbers is. `seconds` limits one call of an answer.

    `held_out(rng)` yields cases that `check` does not use and the grader adds; `measured(args,
    outcome)` is a sentence about each of these that passed.

    `args` are a case's arguments in a tuple, `outcome` is what an answer returned.
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


@functools.cache
def words_of(lesson: str) -> dict[str, Any]:
    """The words of a lesson's exercises, as its file has them: a table by exercise id or "shared".

    lesson: two digits. The result is cached, so callers must not change it. Raises OSError if there
    is no such file, ValueError if it is no TOML.
    """
    return tomllib.loads((FOLDER / f"lesson_{lesson}.toml").read_text(encoding="utf-8"))


def words_of_mistakes(exercise_id: str) -> tuple[list[Mistake], str]:
    """The words of an exercise's mistakes, as `Mistake`s without imitations, and its `shown_in`.

    No exercise is imported for it; of an unknown one there are no words. Mistakes that the lesson's
    exercises share are among them, whether this one has them or not.
    """
    has_words = (FOLDER / f"lesson_{exercise_id[:2]}.toml").exists()
    words = words_of(exercise_id[:2]) if has_words else {}
    own = words.get(exercise_id, {})
    shared = words.get("shared", {}).get("mistakes", {})
    mistakes = [_mistake(name, own, shared) for name in {**shared, **own.get("mistakes", {})}]
    return mistakes, own.get("shown_in", "")


def _mistake(name: str, own: dict, shared: dict, imitations: tuple = ()) -> Mistake:
    words = {**shared.get(name, {}), **own.get("mistakes", {}).get(name, {})}
    return Mistake(
        name=name,
        does=words.get("does", ""),
        because=words.get("because", ""),
        imitations=imitations,
        breaks=tuple(words.get("breaks", ())),
        card=bool(words.get("because")) and name not in own.get("no_card", "").split(),
        shown_in=words.get("shown_in", ""),
    )


def exercise(
    exercise_id: str,
    cases: Callable[..., Any],
    reference: Callable[..., Any],
    arguments: tuple[str, ...] | None = None,
    words: dict[str, Any] | None = None,
    kind: type[Exercise] = Exercise,
    **fields: Any,
) -> Callable[..., Any]:
    """Describe an exercise.

    `exercise(...)(one_mistake={old: new}, another=(function, another_function))` is an Exercise.

    cases, reference: as in `Exercise`. arguments: if not given, the reference's parameters without
    a default. words: in place of those of the lesson's file. kind: the class of the result. fields:
    what `Exercise` has beside these.

    Returns a function that takes for the name of each mistake its imitation or several, tried in
    this order: functions, or what to replace in the source of `reference`, a dictionary from old to
    new texts (see `Otherwise`). Raises KeyError for words that are missing.
    """
    words = words_of(exercise_id[:2]) if words is None else words
    own = words[exercise_id]
    shared = words.get("shared", {}).get("mistakes", {})
    if arguments is None:
        arguments = tuple(
            parameter.name
            for parameter in signature(reference).parameters.values()
            if parameter.default is parameter.empty
        )

    def with_mistakes(**imitations: Any) -> Exercise:
        mistakes = []
        for name, given in imitations.items():
            forms = [given] if callable(given) or isinstance(given, dict) else given
            functions = tuple(
                Otherwise(reference, tuple(form.items())) if isinstance(form, dict) else form
                for form in forms
            )
            mistakes.append(_mistake(name, own, shared, functions))
        return kind(
            id=exercise_id,
            title=own["title"],
            arguments=arguments,
            cases=cases,
            reference=reference,
            mistakes=tuple(mistakes),
            hints=tuple(own["hints"]),
            **fields,
        )

    return with_mistakes


completion = functools.partial(exercise, kind=Completion)


def mask_of(lengths: Sequence[int], width: int | None = None, left: bool = False) -> torch.Tensor:
    """The int64 mask (rows, width) of rows with so many real tokens: 1 there, 0 for padding.

    width: that of the longest row, if none is given. left: whether padding is on the left.
    """
    import torch

    positions = torch.arange(width or max(lengths))
    mask = (positions < torch.tensor(lengths)[:, None]).long()
    return mask.flip(1) if left else mask


def padded(
    rng: random.Random, lengths: Sequence[int], width: int, hidden: int, left: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Random token vectors (rows, width, hidden) and their mask, as `mask_of` makes it.

    Where padding stands, the vectors hold large positive numbers, so that an answer that lets them
    in is far off, whether it takes a mean or a maximum.
    """
    mask = mask_of(lengths, width, left)
    vectors = normal(rng, len(lengths), width, hidden)
    large = 5 * (1 + normal(rng, len(lengths), width, hidden).abs())
    return vectors + (1 - mask).unsqueeze(-1) * large, mask


def normal(rng: random.Random, *shape: int) -> torch.Tensor:
    """A float32 tensor of standard normal numbers."""
    import torch

    return torch.tensor([rng.gauss(0, 1) for _ in range(math.prod(shape))]).reshape(shape)
