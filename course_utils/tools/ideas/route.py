"""Where to begin: a route that follows from twenty questions, or from an exercise of each core."""

import json
from dataclasses import dataclass

from ..._support.notebooks import cores
from .inventory import Question, inventory

# the cores that are asked about, and may be skipped: their twenty ideas take ten minutes
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
    """Where to begin.

    begin: the number of a core, "00" to "11".
    skip: the numbers of the cores before it, and of those after it of which both ideas are known.
    sections: {id of an idea that is not known in a skipped core: the title of its section}.
    missing: what such ideas say, and then those of the core of ASKED where the course begins: of 01
    for "00", none for "11".
    """

    begin: str
    skip: tuple[str, ...]
    sections: dict[str, str]
    missing: tuple[str, ...]


def placing() -> list[Question]:
    """The questions of `place`, in order: the form "before" of all ideas of ASKED."""
    return [idea.before for idea in inventory().values() if idea.lesson in ASKED]


def route(known: set[str]) -> Route:
    """The Route of somebody who knows these ideas (ids), of those that `placing` asks about.

    It begins with the first core of which neither idea is known; with lesson 00 if that is the
    first of ASKED, and with "11" if there is none. A core before that with one known idea is
    skipped but for one section.
    """
    ideas = [idea for idea in inventory().values() if idea.lesson in ASKED]
    unknown = [idea for idea in ideas if idea.id not in known]
    with_a_known_idea = {idea.lesson for idea in ideas if idea.id in known}
    incomplete = {idea.lesson for idea in unknown}
    # "11", the core after ASKED, for somebody who knows an idea of each
    first = next((lesson for lesson in ASKED if lesson not in with_a_known_idea), "11")
    skip = [lesson for lesson in ASKED if lesson < first or lesson not in incomplete]
    skipped = [idea for idea in unknown if idea.lesson in skip]
    to_learn = [idea for idea in unknown if idea.lesson == first]
    return Route(
        begin="00" if first == ASKED[0] else first,
        skip=tuple(skip),
        sections={idea.id: section_title(idea.lesson, idea.section) for idea in skipped},
        missing=tuple(idea.says for idea in [*skipped, *to_learn]),
    )


def route_by_doing(passed: set[str]) -> Route:
    """The Route of somebody who has passed these exercises of BY_DOING.

    A core counts as known if its exercise is passed.
    """
    return route({idea.id for idea in inventory().values() if BY_DOING.get(idea.lesson) in passed})


def section_title(lesson: str, cell_id: str) -> str:
    """The last heading (##) above a cell of a core or in it; "" without one.

    lesson: such as "02". Raises KeyError if there is no such lesson or cell.
    """
    title = ""
    for cell in json.loads(cores()[lesson].read_text(encoding="utf-8"))["cells"]:
        lines = "".join(cell["source"]).splitlines()
        headings = [line for line in lines if line.startswith("## ")]
        if cell["cell_type"] == "markdown" and headings:
            title = headings[-1].removeprefix("## ")
        if cell["id"] == cell_id:
            return title
    raise KeyError(f"lesson {lesson} has no cell {cell_id}")
