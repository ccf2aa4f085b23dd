"""Where to begin: twenty questions, or one exercise of each core, and the route that follows from
them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from ..._support.notebooks import cores
from .inventory import Idea, Question, inventory

# the cores that may be skipped: ten minutes of questions
ASKED = tuple(f"{number:02d}" for number in range(1, 11))
BY_DOING = {  # an exercise of each core that cannot be written without what the core is about
    "01": "01-wordpiece",
    "02": "02-pad-batch",
    "03": "03-nearest-sense",
    "04": "04-mean-pool",
    "05": "05-find-the-bug",
    "06": "06-project",
    "07": "07-find-the-bug",
    "08": "08-spearman",
    "09": "09-tokens",
    "10": "10-leaks",
}


@dataclass(frozen=True)
class Route:
    """Where to begin. `skip`: cores before it, and known ones behind it.

    `sections`: {id of an idea that is not known in a skipped core: the title of its section}.
    `missing`: what such ideas say, and those of the core where it begins.
    """

    begin: str
    skip: tuple[str, ...]
    sections: dict[str, str]
    missing: tuple[str, ...]


def placing() -> list[Question]:
    """The questions of `course place`, in order."""
    return [idea.before for idea in inventory().values() if idea.lesson in ASKED]


def route(known: set[str]) -> Route:
    """The Route of somebody who knows these ideas (ids), of those that `placing` asks about.

    It begins with the first core of which neither idea is known; with lesson 00 if that is the
    first of all, with the core behind the last if there is none. A core with one known idea before
    that is skipped but for one section.
    """
    known_of: dict[str, list[Idea]] = {lesson: [] for lesson in ASKED}
    unknown_of: dict[str, list[Idea]] = {lesson: [] for lesson in ASKED}
    for idea in inventory().values():
        if idea.lesson in ASKED:
            (known_of if idea.id in known else unknown_of)[idea.lesson].append(idea)
    first = next((lesson for lesson in ASKED if not known_of[lesson]), "11")
    begin = "00" if first == ASKED[0] else first
    whole = [lesson for lesson in ASKED if not unknown_of[lesson]]
    skip = [lesson for lesson in ASKED if lesson < first or lesson in whole]
    missing = [idea for lesson in skip for idea in unknown_of[lesson]]
    sections = {idea.id: section_title(idea.lesson, idea.section) for idea in missing}
    missing += unknown_of.get(first, [])
    return Route(begin, tuple(skip), sections, tuple(idea.says for idea in missing))


def route_by_doing(passed: set[str]) -> Route:
    """The Route of somebody who has passed these exercises of BY_DOING: a core counts as known if
    its one is passed.
    """
    return route({idea.id for idea in inventory().values() if BY_DOING.get(idea.lesson) in passed})


def section_title(lesson: str, cell_id: str) -> str:
    """The heading above a cell of a core, or in it."""
    title = ""
    for cell in json.loads(cores()[lesson].read_text(encoding="utf-8"))["cells"]:
        headings = [line for line in "".join(cell["source"]).splitlines() if line.startswith("## ")]
        if cell["cell_type"] == "markdown" and headings:
            title = headings[-1].removeprefix("## ")
        if cell["id"] == cell_id:
            return title
    raise KeyError(f"lesson {lesson} has no cell {cell_id}")
