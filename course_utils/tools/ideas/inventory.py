"""The concept inventory: two ideas for each core, and two questions for each idea.

One question is for before the course, and one for after it. `core_NN.toml` holds the ideas of a
lesson. The wrong options are misunderstandings that people hold; what shows that they do stands
beside them as `evidence`, by the name of the misunderstanding. **The inventory is unpiloted:** no
class has answered it yet, so nothing is known about how difficult its questions are or how well
they tell learners apart. `course gains` computes that from a class's answers.
"""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._support.notebooks import OPTION

FORMS = ("before", "after")
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Option:
    """An answer that can be chosen; its text in Markdown.

    why: the sentences that say why it is right or wrong; "" if nothing is said.
    error: the name in `Idea.evidence` of the misunderstanding behind it; "" if it has none.
    """

    text: str
    why: str
    right: bool = False
    error: str = ""


@dataclass(frozen=True)
class Question:
    """A question with one right option.

    id: such as "02-mask.before".
    ask: what is asked, in Markdown.
    cell: the id of the cell of its lesson that shows the answer.
    """

    id: str
    ask: str
    options: tuple[Option, ...]
    cell: str

    @property
    def right(self) -> int:
        """Which option is right, counted from 0."""
        return [option.right for option in self.options].index(True)


@dataclass(frozen=True)
class Idea:
    """One idea.

    id: such as "02-mask", which begins with its lesson.
    says: the idea as it is true.
    section: the id of the cell of its lesson to read.
    evidence: {name of a misunderstanding: what shows that people hold it}. "held" says what they
        believe; "kind" and "where" name the sources. Of the results of a search for "query", "seen"
        were read, and "found" of these showed the misunderstanding.
    exercises: ids of those that need the idea.
    """

    id: str
    says: str
    section: str
    evidence: Mapping[str, Mapping[str, Any]]
    before: Question
    after: Question
    exercises: tuple[str, ...] = ()

    @property
    def lesson(self) -> str:  # such as "02"
        return self.id[:2]


@functools.cache
def inventory() -> dict[str, Idea]:
    """All ideas by id, in the order of the lessons."""
    ideas = {}
    for path in sorted(HERE.glob("core_*.toml")):
        for name, written in tomllib.loads(path.read_text(encoding="utf-8")).items():
            ideas[name] = Idea(
                id=name,
                says=written["says"],
                section=written["section"],
                evidence=written["evidence"],
                before=_question(f"{name}.before", written["before"]),
                after=_question(f"{name}.after", written["after"]),
                exercises=tuple(written["exercises"]),
            )
    return ideas


def _question(name: str, written: Mapping[str, Any]) -> Question:
    return Question(
        id=name,
        ask=written["ask"],
        options=tuple(Option(**option) for option in written["options"]),
        cell=written["cell"],
    )


def question(name: str) -> Question:
    """A question by its id, such as "02-mask.before".

    Raises KeyError if there is no such idea, or for a form that is not one of FORMS.
    """
    idea_id, _, form = name.partition(".")
    idea = inventory()[idea_id]
    return {name: getattr(idea, name) for name in FORMS}[form]


def read_prediction(source: str) -> tuple[str, tuple[Option, ...]]:
    """(question, options) in the text of a lesson's cell `quiz-...`, in Markdown.

    The options are empty if it has none in the form of OPTION.
    """
    options = []
    # a verdict is "Right. WHY" or "No. WHY"
    for _, text, verdict in OPTION.findall(source):
        word, _, why = verdict.partition(". ")
        options.append(Option(text, why, right=word == "Right"))
    ask = source.partition("<details>")[0].replace("**Predict.**", "").strip()
    return ask, tuple(options)
