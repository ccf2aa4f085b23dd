"""The concept inventory: two ideas for each core, and two questions for each idea, one for before and one for after.

`core_NN.toml` holds those of a lesson. The wrong options are misunderstandings that people hold; what shows that they
do stands beside them as `evidence`. **The inventory is unpiloted:** no class has answered it yet, so nothing is known
about how difficult its questions are or how well they tell learners apart. `course gains` computes that from a class's
answers.
"""

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

FORMS = ("before", "after")
HERE = Path(__file__).parent
UNPILOTED = "These questions have not been tried with classes yet: take the result as advice."


@dataclass(frozen=True)
class Option:
    """An answer: its text, the sentence that says why it is right or wrong, and the misunderstanding behind it."""

    text: str
    why: str
    right: bool = False
    error: str = ""


@dataclass(frozen=True)
class Question:
    """A question. `id`: such as "02-mask.before"; `cell`: the cell of its lesson that shows the answer."""

    id: str
    ask: str
    options: tuple[Option, ...]
    cell: str

    @property
    def idea(self):
        return self.id.partition(".")[0]

    @property
    def right(self):
        """The place of the right option."""
        return next(at for at, option in enumerate(self.options) if option.right)


@dataclass(frozen=True)
class Idea:
    """One idea. `says`: the idea as it is true; `section`: the cell of its lesson to read; `evidence`: see the module.

    `exercises`: ids of those that need the idea.
    """

    id: str
    says: str
    section: str
    evidence: dict
    before: Question
    after: Question
    exercises: tuple[str, ...] = ()

    @property
    def lesson(self):
        return self.id[:2]


@functools.cache
def inventory():
    """All ideas by id, in the order of the lessons."""
    ideas = {}
    for path in sorted(HERE.glob("core_*.toml")):
        for name, one in tomllib.loads(path.read_text(encoding="utf-8")).items():
            forms = {form: _question(f"{name}.{form}", one.pop(form)) for form in FORMS}
            ideas[name] = Idea(name, **forms, **{**one, "exercises": tuple(one.get("exercises", ()))})
    return ideas


def _question(name, written):
    return Question(name, written["ask"], tuple(Option(**one) for one in written["options"]), written["cell"])


def question(name):
    """A question by its id. Raises KeyError."""
    idea, _, form = name.partition(".")
    if form not in FORMS:
        raise KeyError(name)
    return getattr(inventory()[idea], form)
