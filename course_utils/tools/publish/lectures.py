"""A lecture: one Markdown file of slides and speaker's notes, in the syntax of Quarto's
presentations.

    ---
    title: "Pooling: from many vectors to one"
    subtitle: Three ways, one mask, and a number that needs a comparison
    lesson: 04_pooling
    minutes: 38
    ---

    ::: {.plan} what the lecturer reads before: shown in the notes of the title slide, below the
    minutes of the sections :::

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

FRONT = {"title": str, "subtitle": str, "lesson": str, "minutes": int}
FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
SECTION = re.compile(r"# +(.+?) +\{minutes=([1-9]\d*)\}")
SLIDE = re.compile(r"## +(.+?[^}])")
DIV = re.compile(r"::: *\{\.(notes|plan)\}")
EMBED = re.compile(r"\{\{< embed (\S+\.ipynb)#([\w-]+)( echo=true)? >\}\}")
FENCE = re.compile(r" {0,3}(```|~~~)")
PAUSE = ". . ."
WRONG = {  # lines that are meant for something else, and what to write
    re.compile(
        ":::.*"
    ): "notes begin with `::: {.notes}`, the plan with `::: {.plan}`, and both end with `:::`",
    re.compile(
        "##? .*"
    ): "a section is `# Title {minutes=5}`, in whole minutes, and a slide `## Title`",
    re.compile(r"\.{3}|…"): "a press of a key is `. . .`, with spaces",
    re.compile(r".*\{+<+ *embed\b.*|\{\{<.*"): (
        "a cell is embedded as `{{< embed ../04_pooling.ipynb#its-id >}}` or "
        "`{{< embed ../04_pooling.ipynb#its-id echo=true >}}`, on a line of its own"
    ),
    re.compile("---"): (
        "--- stands only around the one front matter: take this out, or begin a slide with ## and a title"
    ),
}


@dataclass
class Block:
    """A part of a slide: "text", "notes", "plan" or "embed", and at which press of a key it appears
    (0: at once).
    """

    kind: str
    line: int
    text: str
    press: int = 0
    cell: str = ""
    echo: bool = False


@dataclass
class Slide:
    """One slide. level: 0 for the title slide, 1 for one that opens a section, 2 for any other."""

    level: int
    title: str
    minutes: int = 0
    blocks: list[Block] = field(default_factory=list)

    def texts(self, *kinds: str) -> list[str]:
        """The texts of the blocks of these kinds."""
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
        """The error that names a line of the file."""
        return PublishError(f"{self.path.name}, line {line}: {problem}.")

    @property
    def sections(self) -> list[tuple[str, int]]:
        """[(title, minutes)] of the sections."""
        return [(slide.title, slide.minutes) for slide in self.slides if slide.level == 1]


def read_lecture(path: str | Path) -> Lecture:
    """Read a lecture. Raises PublishError, with the file and the line."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")  # as Notepad saves it, too
    except (OSError, UnicodeDecodeError) as error:
        raise PublishError(f"{path} cannot be read as text in UTF-8: {error}.") from None
    front, start = _front_matter(path, text)
    lecture = Lecture(path, **front, slides=[Slide(0, front["title"])])
    lines = text.splitlines()
    reader = _Reader(lecture)
    for number, line in enumerate(lines[start:], start + 1):
        reader.read(number, line.rstrip())
    if reader.open:
        raise lecture.wrong(reader.begun, f"what begins here is not closed by a line {reader.end}")
    minutes = sum(minutes for _, minutes in lecture.sections)
    if minutes != lecture.minutes:
        raise lecture.wrong(
            1,
            f"its sections take {minutes} minutes, and the front matter says {lecture.minutes}: change one of them",
        )
    return lecture


def _front_matter(path: Path, text: str) -> tuple[dict[str, Any], int]:
    """The fields between the first two lines `---`, and the number of lines up to there."""
    match = FRONT_MATTER.match(text)
    with contextlib.suppress(yaml.YAMLError, AttributeError):
        front = yaml.safe_load(match[1] if match else "")
        kinds = {name: type(value) for name, value in front.items()}
        if match and kinds == FRONT and front["lesson"] == path.stem:
            return front, match[0].count("\n")
    raise PublishError(
        f"{path.name}, line 1: the file begins with a front matter, between two lines ---, which has "
        f"{', '.join(FRONT)}; lesson is {path.stem}, as the file, minutes a whole number, and a title with a colon "
        "stands in quotes."
    )


class _Reader:
    """Adds the slides to a lecture, line by line."""

    def __init__(self, lecture: Lecture) -> None:
        self.lecture = lecture
        self.press = 0  # how often a key is pressed before what comes now
        # the block with the notes, the plan or the code that is open
        self.open: Block | None = None
        self.begun, self.end = 0, ""  # the line where that begins, and what closes it

    def read(self, number, line):
        blocks = self.lecture.slides[-1].blocks
        if self.open:
            self.read_on(self.open, line)
        elif div := DIV.fullmatch(line):
            blocks.append(Block(div[1], number, ""))
            self.open, self.begun, self.end = blocks[-1], number, ":::"
        elif section := SECTION.fullmatch(line):
            self.begin(Slide(1, section[1], int(section[2])))
        elif slide := SLIDE.fullmatch(line):
            self.begin(Slide(2, slide[1]))
        elif line == PAUSE:
            self.press += 1
        elif embed := EMBED.fullmatch(line):
            echo = bool(embed[3])
            blocks.append(Block("embed", number, embed[1], self.press, cell=embed[2], echo=echo))
        else:
            self.read_text(number, line)

    def begin(self, slide):
        self.lecture.slides.append(slide)
        self.press = 0

    def read_on(self, block, line):
        """A line of notes, of a plan or of code, or the last one, which is part of code only."""
        closes = line.strip() == self.end
        if not closes or self.end != ":::":
            block.text += f"{line}\n"
        if closes:
            self.open = None

    def read_text(self, number, line):
        """A line of text, which goes on or begins a block."""
        for mistake, advice in WRONG.items():
            if mistake.fullmatch(line):
                raise self.lecture.wrong(number, advice)
        blocks = self.lecture.slides[-1].blocks
        goes_on = blocks and blocks[-1].kind == "text" and blocks[-1].press == self.press
        if not goes_on and not line:
            return
        if not goes_on:
            blocks.append(Block("text", number, "", self.press))
        blocks[-1].text += f"{line}\n"
        if fence := FENCE.match(line):
            self.open, self.begun, self.end = blocks[-1], number, fence[1]
