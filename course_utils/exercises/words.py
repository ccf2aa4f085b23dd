"""The words of exercises: titles, hints and messages stand in lesson_NN.toml, a table for each
exercise.

A mistake is named there as in the code. `does` says what the answer does, `because` why that is
wrong or what is right, and `breaks` lists words of the exercise's text that such an answer breaks.
Mistakes of several exercises of a lesson have their words in the table `shared`. `no_card` names
the mistakes that make no card to learn with: their words help only while one writes this answer.

`shown_in`, of an exercise or a mistake, is the id of the cell that treats it, such as
"padding-picture": the class report names its section and its slide. Without it, they are those
above the exercise. Of a cell in another lesson, such as "04 diagram-broadcast", only the slide is
named.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from .model import Completion, Exercise, Mistake
from .otherwise import Otherwise

FOLDER = Path(__file__).parent


@functools.cache
def words_of(lesson: str) -> dict[str, Any]:
    """The words of a lesson's exercises, as its file has them. Raises OSError or ValueError."""
    return tomllib.loads((FOLDER / f"lesson_{lesson}.toml").read_text(encoding="utf-8"))


def told(exercise_id: str) -> tuple[list[Mistake], str]:
    """The words of an exercise's mistakes, as `Mistake`s without imitations, and its `shown_in`.

    No exercise is imported for it; of an unknown one there are no words. Mistakes that the lesson's
    exercises share are among them, whether this one has them or not.
    """
    has_words = (FOLDER / f"lesson_{exercise_id[:2]}.toml").exists()
    words = words_of(exercise_id[:2]) if has_words else {}
    own = words.get(exercise_id, {})
    shared = words.get("shared", {}).get("mistakes", {})
    mistakes = []
    for name in {**shared, **own.get("mistakes", {})}:
        mistakes.append(_mistake(name, own, shared))
    return mistakes, own.get("shown_in", "")


def _mistake(name: str, own: dict, shared: dict, imitations: tuple = ()) -> Mistake:
    words = {**shared.get(name, {}), **own.get("mistakes", {}).get(name, {})}
    no_card = own.get("no_card", "").split()
    return Mistake(
        name=name,
        does=words.get("does", ""),
        because=words.get("because", ""),
        imitations=imitations,
        breaks=tuple(words.get("breaks", ())),
        card=bool(words.get("because")) and name not in no_card,
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

    `exercise(...)(one_mistake={old: new}, other_mistake=(imitation, another))` is an Exercise.

    cases, reference: as in `Exercise`. arguments: if not given, the reference's parameters without
    a default. words: in place of those of the lesson's file. fields: what `Exercise` has beside
    these.

    Returns a function that takes for the name of each mistake its imitation or several, tried in
    this order: functions, or what to replace in the source of `reference`, a dictionary from old to
    new texts (see `Otherwise`). Raises KeyError for words that are missing.
    """
    words = words_of(exercise_id[:2]) if words is None else words
    own = words[exercise_id]
    shared = words.get("shared", {}).get("mistakes", {})
    if arguments is None:
        parameters = signature(reference).parameters.values()
        arguments = tuple(one.name for one in parameters if one.default is one.empty)

    def with_mistakes(**imitations: Any) -> Exercise:
        mistakes = []
        for name, forms in imitations.items():
            several = [forms] if callable(forms) or isinstance(forms, dict) else forms
            functions = tuple(_function(reference, form) for form in several)
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


def _function(reference: Callable[..., Any], form: Any) -> Callable[..., Any]:
    return Otherwise(reference, tuple(form.items())) if isinstance(form, dict) else form


completion = functools.partial(exercise, kind=Completion)
