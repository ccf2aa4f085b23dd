"""The words of exercises: titles, hints and messages stand in lesson_NN.toml, one table for each exercise.

A mistake is named there as in the code. `does` says what the answer does, `because` why that is wrong or what is right,
and `breaks` lists words of the exercise's text that such an answer breaks. Mistakes of several exercises of a lesson
have their words in the table `shared`. `no_card` names the mistakes that make no card to learn with: their words help
only while one writes this answer. `shown_in`, of an exercise or a mistake, is the id of the cell that treats it, such
as "padding-picture": the class report names its section and its slide. Without it, they are those above the exercise.
Of a cell in another lesson, such as "04 diagram-broadcast", only the slide is named.
"""

import functools
import tomllib
from inspect import signature
from pathlib import Path

from .model import Completion, Exercise, Mistake
from .otherwise import Otherwise

FOLDER = Path(__file__).parent
OF_AN_EXERCISE = {"title", "hints", "mistakes", "no_card", "shown_in"}
OF_A_MISTAKE = {"does", "because", "breaks", "shown_in"}


class WordsError(ValueError):
    """The words of an exercise do not fit its code. The message says which, in one sentence."""


@functools.cache
def words_of(lesson, folder=FOLDER):
    """The words of a lesson's exercises, as its file has them. Raises WordsError for a missing or damaged file."""
    path = folder / f"lesson_{lesson}.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WordsError(f"{path.name} cannot be read: {error}") from None


def told(exercise_id):
    """The words of an exercise's mistakes, as `Mistake`s without imitations, and its `shown_in`; of no exercise, none.

    Nothing is imported for it. Mistakes that the lesson's exercises share are among them, whether this one has them.
    """
    words = words_of(exercise_id[:2]) if (FOLDER / f"lesson_{exercise_id[:2]}.toml").exists() else {}
    own, shared = words.get(exercise_id, {}), words.get("shared", {}).get("mistakes", {})
    found = {**shared, **own.get("mistakes", {})}
    merged = {name: {**shared.get(name, {}), **one} for name, one in found.items()}
    made = [
        Mistake(name, one.get("does", ""), one.get("because", ""), (), shown_in=one.get("shown_in", ""))
        for name, one in merged.items()
    ]
    return made, own.get("shown_in", "")


def exercise(exercise_id, cases, reference, arguments=None, words=None, kind=Exercise, **fields):
    """Describe an exercise: `exercise(...)(one_mistake={old: new}, other_mistake=(imitation, another))` is an Exercise.

    cases, reference: as in `Exercise`. arguments: if not given, the reference's parameters without a default.
    words: in place of those of the lesson's file. fields: what `Exercise` has beside these.

    Returns a function that takes for the name of each mistake its imitation or several, tried in this order: functions,
    or what to replace in the source of `reference`, a dictionary from old to new texts (see `Otherwise`).
    It raises WordsError for words that are missing, empty, unknown or of no mistake.
    """
    words = words_of(exercise_id[:2]) if words is None else words
    own, shared = words.get(exercise_id, {}), words.get("shared", {}).get("mistakes", {})
    told, no_card = own.get("mistakes", {}), own.get("no_card", "").split()
    parameters = signature(reference).parameters.values()
    needed = tuple(one.name for one in parameters if one.kind == one.POSITIONAL_OR_KEYWORD and one.default is one.empty)

    def refuse(why):
        raise WordsError(f"lesson_{exercise_id[:2]}.toml, {exercise_id}: {why}")

    def with_mistakes(**mistakes):
        for name in ("title", "hints"):
            if not own.get(name):
                refuse(f"there is no {name}")
        if unknown := [*(own.keys() - OF_AN_EXERCISE), *(told.keys() - mistakes), *(set(no_card) - mistakes.keys())]:
            refuse(f"{sorted(unknown)[0]!r} is neither a mistake in the code nor one of {sorted(OF_AN_EXERCISE)}")
        known = []
        for name, imitations in mistakes.items():
            told_of = {**shared.get(name, {}), **told.get(name, {})}
            if not told_of.get("does") or told_of.keys() - OF_A_MISTAKE:
                refuse(
                    f"the mistake {name!r} must have `does`, and may have `because`, `breaks` and `shown_in`; "
                    f"it has {sorted(told_of)}"
                )
            several = (imitations,) if callable(imitations) or isinstance(imitations, dict) else imitations
            imitations = tuple(
                Otherwise(reference, tuple(one.items())) if isinstance(one, dict) else one for one in several
            )
            breaks, card = tuple(told_of.get("breaks", ())), bool(told_of.get("because")) and name not in no_card
            because, shown_in = told_of.get("because", ""), told_of.get("shown_in", "")
            known.append(Mistake(name, told_of["does"], because, imitations, breaks, card, shown_in))
        more = {"shown_in": own.get("shown_in", ""), **fields}
        title, hints = own["title"], tuple(own["hints"])
        return kind(exercise_id, title, arguments or needed, cases, reference, tuple(known), hints, **more)

    return with_mistakes


completion = functools.partial(exercise, kind=Completion)
