"""A lecture: one Markdown file of slides and speaker's notes, in the syntax of Quarto's
presentations.

    ---
    title: "Pooling: from many vectors to one"
    subtitle: Three ways, one mask, and a number that needs a comparison
    lesson: 04_pooling
    minutes: 38
    ---

    ::: {.plan}
    what the lecturer reads before: shown in the notes of the title slide, below the minutes of the
    sections
    :::

    **The question of the lecture?**

    # A section {minutes=5}
    ## A slide

    Text, and what comes at the next press of a key:

    . . .

    {{< embed ../04_pooling.ipynb#random-pairs echo=true >}}

    ::: {.notes}
    what the lecturer says
    :::

An embedded code cell shows its output, with `echo=true` its code above it; an embedded Markdown
cell, such as a question, shows its text.
"""

import contextlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from . import PublishError

# the fields of the front matter, all of which it must have
FRONT = {"title": str, "subtitle": str, "lesson": str, "minutes": int}
FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
# a piece of what is below the front matter, as in the sample above; any other line is text. A
# slide's title does not end with "}": attributes belong to a section (see ADVICE).
PIECE = re.compile(
    r"""
    ^:::\ *\{\.(?P<div>notes|plan)\}\n(?P<inside>.*?)^[ \t]*:::$
    | ^\#\ +(?P<section>[^\n]+?)\ +\{minutes=(?P<minutes>[1-9]\d*)\}$
    | ^\#\#\ +(?P<slide>[^\n]*[^}\n])$
    | ^(?P<pause>\.\ \.\ \.)$
    | ^\{\{<\ embed\ (?P<file>\S+\.ipynb)\#(?P<cell>[\w-]+)(?P<echo>\ echo=true)?\ >\}\}$
    | ^(?P<code>\ {0,3}(?P<fence>```|~~~)[^\n]*\n.*?^[ \t]*(?P=fence)$)  # with all its lines
    | ^(?P<text>[^\n]*)$
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
# lines of text that are meant for something else (regular expressions), and what to write
ADVICE = {
    r":::.*": (
        "notes begin with `::: {.notes}`, the plan with `::: {.plan}`, and both end with `:::`"
    ),
    r"##? .*": "a section is `# Title {minutes=5}`, in whole minutes, and a slide `## Title`",
    r"\.{3}|…": "a press of a key is `. . .`, with spaces",
    r".*\{+<+ *embed\b.*|\{\{<.*": (
        "a cell is embedded as `{{< embed ../04_pooling.ipynb#its-id >}}` or "
        "`{{< embed ../04_pooling.ipynb#its-id echo=true >}}`, on a line of its own"
    ),
    r" {0,3}(```|~~~).*": "code ends with a line ``` or ~~~, like the one that it begins with",
    r"---": (
        "--- stands only around the one front matter: take this out, or begin a slide with ## and "
        "a title"
    ),
}


@dataclass
class Block:
    """A part of a slide.

    kind: "text", "notes", "plan" or "embed".
    line: where it begins in the lecture's file, from 1.
    text: Markdown; for "embed" the notebook's path, seen from the lecture's folder.
    press: the press of a key at which it appears (0: at once).
    cell, echo: for "embed", the cell's id and whether its code is shown.
    """

    kind: str
    line: int
    text: str
    press: int = 0
    cell: str = ""
    echo: bool = False


@dataclass
class Slide:
    """One slide. level: 0 for the title slide, 1 for one that opens a section, 2 for any other.

    minutes: those of the section that it opens.
    """

    level: int
    title: str
    minutes: int = 0
    blocks: list[Block] = field(default_factory=list)

    def texts(self, *kinds: str) -> list[str]:
        """The texts of the blocks of these kinds (see `Block`), in order."""
        return [block.text for block in self.blocks if block.kind in kinds]


@dataclass
class Lecture:
    """A lecture as its file has it; `lesson` is the name of its notebook, without .ipynb."""

    path: Path
    title: str
    subtitle: str
    lesson: str
    minutes: int
    slides: list[Slide]

    def wrong(self, line: int, problem: str) -> PublishError:
        """An error, to be raised, that names a line of the file.

        problem: a sentence without its full stop.
        """
        return PublishError(f"{self.path.name}, line {line}: {problem}.")

    @property
    def sections(self) -> list[tuple[str, int]]:
        """[(title, minutes)] of the sections."""
        return [(slide.title, slide.minutes) for slide in self.slides if slide.level == 1]


def read_lecture(path: str | Path) -> Lecture:
    """Read a lecture.

    Raises PublishError with the file, and the line unless it cannot be read as text.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")  # as Notepad saves it, too
    except (OSError, UnicodeDecodeError) as error:
        raise PublishError(f"{path} cannot be read as text in UTF-8: {error}.") from None
    front, start = _front_matter(path, text)
    lecture = Lecture(path, **front, slides=[Slide(0, front["title"])])
    # not splitlines, which takes more signs than line ends, and an editor does not count those
    _add_slides(lecture, "\n".join(line.rstrip() for line in text.split("\n")[start:]), start)
    minutes = sum(minutes for _, minutes in lecture.sections)
    if not minutes == lecture.minutes > 0:
        raise lecture.wrong(
            1,
            f"its sections take {minutes} minutes, and the front matter says {lecture.minutes}: "
            "make them the same, and at least 1",
        )
    return lecture


def _front_matter(path: Path, text: str) -> tuple[dict[str, Any], int]:
    """The fields between the first two lines `---`, and the number of lines up to there.

    Raises PublishError if they are not those of FRONT.
    """
    match = FRONT_MATTER.match(text)
    # an AttributeError: what YAML reads there has no fields; a ValueError: a date such as 2026-02-30
    with contextlib.suppress(yaml.YAMLError, AttributeError, ValueError):
        front = yaml.safe_load(match[1] if match else "")
        kinds = {name: type(value) for name, value in front.items()}
        if match and kinds == FRONT and front["lesson"] == path.stem:
            return front, match[0].count("\n")
    raise PublishError(
        f"{path.name}, line 1: the file begins with a front matter, between two lines ---, which "
        f"has {', '.join(FRONT)}; lesson is {path.stem}, as the file, minutes a whole number, and "
        "a title with a colon stands in quotes."
    )


def _add_slides(lecture: Lecture, body: str, start: int) -> None:
    """Add the slides in a text, which stands below line `start` of its file, to a lecture.

    What comes before the first slide belongs to the title slide. Raises PublishError for a line
    that ADVICE knows as a mistake.
    """
    press = 0  # how often a key is pressed before what comes now
    for piece in PIECE.finditer(body):
        line = start + 1 + body.count("\n", 0, piece.start())
        blocks = lecture.slides[-1].blocks
        if piece["div"]:
            blocks.append(Block(piece["div"], line, piece["inside"]))
        elif piece["section"]:
            lecture.slides.append(Slide(1, piece["section"], int(piece["minutes"])))
            press = 0
        elif piece["slide"]:
            lecture.slides.append(Slide(2, piece["slide"]))
            press = 0
        elif piece["pause"]:
            press += 1
        elif piece["file"]:
            blocks.append(
                Block(
                    "embed",
                    line,
                    piece["file"],
                    press,
                    cell=piece["cell"],
                    echo=bool(piece["echo"]),
                )
            )
        else:
            _add_text(lecture, line, press, piece["code"] or piece["text"])


def _add_text(lecture: Lecture, line: int, press: int, text: str) -> None:
    """Add a line of text, or a block of code, to the last slide.

    It goes on with the last block if that is text of the same press of a key, or else begins one,
    unless it is blank. Raises PublishError with the advice for a mistake.
    """
    for mistake, advice in ADVICE.items():
        if re.fullmatch(mistake, text):
            raise lecture.wrong(line, advice)
    blocks = lecture.slides[-1].blocks
    if blocks and blocks[-1].kind == "text" and blocks[-1].press == press:
        blocks[-1].text += f"{text}\n"
    elif text:
        blocks.append(Block("text", line, f"{text}\n", press))
