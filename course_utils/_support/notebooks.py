"""Where the source lessons are, their kinds, what their cells need, and the marks around a written
solution.
"""

import itertools
import json
import posixpath
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .installation import ROOT

NOTEBOOKS = ROOT / "notebooks"
# an option of a question: its letter, its text, the remark about it
OPTION = re.compile(
    r"<details><summary>([A-D])\. (.+?)</summary>\n\n((?:Right|No)\. .+?)\n\n</details>", re.DOTALL
)
# the lines around a written solution in an answer's cell
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
KINDS = {
    "full": "a core: exercises, questions before results, and a deck of 25 to 45 minutes",
    "further": "a further part: what a core has no time for, with exercises and perhaps a deck",
    "page": "text and code, nothing else",
}
PICTURES = "## Pictures for the lecture"  # below this heading, a notebook is for its lecture alone
FURTHER = "further"  # the folder of the further parts
ROUTES = {  # by the lessons whose cores they take
    "one day": "01 02 03 04 05 08 09 11".split(),
    "the course": None,  # all cores
    "everything": None,  # and the further parts
}


def part_of(path: str | Path) -> str:
    """The key of a notebook or of a copy of it: "05" for a lesson's core, "05-effects" for the
    further part 05_effects.
    """
    path = Path(path)
    source = NOTEBOOKS / FURTHER / f"{path.stem}.ipynb"
    is_further = path.parent.name == FURTHER or source.is_file()
    return path.stem.replace("_", "-") if is_further else path.stem[:2]


def parts(folder: str | Path | None = None) -> dict[str, Path]:
    """{key: path} of the lessons' notebooks in reading order: each core, followed by its further
    parts. Sorted keys have this order: "04" < "04-length" < "05".

    folder: with the cores, and the further parts in its folder FURTHER; the source lessons' by
    default.
    """
    folder, pattern = Path(folder or NOTEBOOKS), "[0-9][0-9]_*.ipynb"
    paths = {path.stem[:2]: path for path in folder.glob(pattern)}
    paths |= {path.stem.replace("_", "-"): path for path in (folder / FURTHER).glob(pattern)}
    return dict(sorted(paths.items()))


def lesson_named(key: str, folder: str | Path | None = None) -> Path:
    """The notebook of a core or a further part, by its key, such as "04" or "4-lengths".

    Raises ValueError, with all keys, if there is none.
    """
    lessons = parts(folder)
    if padded(key) not in lessons:
        raise ValueError(f"There is no lesson {key}; the lessons are {', '.join(lessons)}.")
    return lessons[padded(key)]


def name_of(path: Path) -> str:
    """The name of a lesson's page in the book: "05_attention", "further/05_effects"."""
    return f"{FURTHER}/{path.stem}" if path.parent.name == FURTHER else path.stem


def seen_from(name: str, link: str) -> str:
    """The name of the lesson to which a link in another lesson leads: "05_attention" for the link
    "../05_attention" in "further/05_effects".

    name: of the lesson with the link.
    """
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), link))


def padded(key: str) -> str:
    """A key with two digits: "04-length" for "4-length"; "" for an empty one."""
    number, dash, further = key.partition("-")
    return number.zfill(2) + dash + further if number else ""


def as_key(text: str) -> str:
    """The key meant by "4", "4-length" or the name of a file; else the text, `padded`."""
    files = {path.stem: key for key, path in parts().items()}
    return files.get(Path(text).stem) or padded(text)


def is_core(key: str) -> bool:
    """Whether a key is that of a core, such as "04", and not of a further part."""
    return len(key) == 2


def cores(folder: str | Path | None = None) -> dict[str, Path]:
    """{number: path} of the lessons' cores."""
    return {key: path for key, path in parts(folder).items() if is_core(key)}


@cache
def exercise_parts() -> dict[str, str]:
    """{id: key of the notebook that has it} of all exercises."""
    return {
        cell["metadata"]["nbgrader"]["grade_id"]: key
        for key, path in parts().items()
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }


def part_with(exercise_id: str) -> str:
    """The key of the notebook that has an exercise; if none has it, the number that its id begins
    with.
    """
    return exercise_parts().get(exercise_id, exercise_id[:2])


def lesson_cells(notebook: Mapping[str, Any]) -> list[Any]:
    """The cells of a notebook that are the lesson: all above PICTURES.

    notebook: as nbformat or json reads it.
    """
    return list(
        itertools.takewhile(
            lambda cell: not "".join(cell["source"]).startswith(PICTURES), notebook["cells"]
        )
    )


def kind_of(notebook: Mapping[str, Any]) -> str:
    """The kind of a lesson, one of KINDS, from its first cell's metadata; "full" by default.

    Raises ValueError for an unknown kind.
    """
    first = next(iter(notebook["cells"]), {"metadata": {}})
    kind = first["metadata"].get("course", {}).get("kind", "full")
    if kind not in KINDS:
        raise ValueError(f"its kind is {kind!r}, which is none of {', '.join(KINDS)}")
    return kind


@cache
def cells_with_needs() -> list[tuple[str, bool, str]]:
    """[(text, whether it is an answer, tag)] of the lessons' code cells with a tag that says
    what they need.

    An answer's text is only the part above its solution, since the learner writes the rest. A cell
    with two such tags is listed twice.
    """
    lessons = (json.loads(path.read_text(encoding="utf-8")) for path in parts().values())
    cells = (cell for lesson in lessons for cell in lesson["cells"] if cell["cell_type"] == "code")
    return [
        ("".join(cell["source"]).split(BEGIN)[0].strip(), BEGIN in "".join(cell["source"]), tag)
        for cell in cells
        for tag in cell["metadata"].get("tags", [])
        if tag.startswith("needs-")
    ]
