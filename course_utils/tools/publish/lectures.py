"""A lecture: one Markdown file of slides and speaker's notes, in the syntax of Quarto's presentations.

    ---
    title: "Pooling: from many vectors to one"
    subtitle: Three ways, one mask, and a number that needs a comparison
    lesson: 04_pooling
    minutes: 38
    ---

    ::: {.plan}
    what the lecturer reads before: shown in the notes of the title slide, below the minutes of the sections
    :::

    **The question of the lecture?**

    # A section {minutes=5}
    ## A slide
    ## A slide that may be passed over {.optional}

    Text, and what comes at the next press of a key:

    . . .

    {{< embed ../04_pooling.ipynb#random-pairs echo=true >}}

    ::: {.notes}
    what the lecturer says
    :::

An embedded code cell shows its output, with `echo=true` its code above it; an embedded Markdown cell, such as a
question, shows its text.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml

FRONT = {"title": str, "subtitle": str, "lesson": str, "minutes": int}
HEADING = re.compile(r"(#{1,2}) +(.+?)(?: +\{([^{}]*)\})?$")
DIV = re.compile(r"::: *(?:\{\.(\w+)\})?$")
EMBED = re.compile(r"\{\{< embed (\S+\.ipynb)#([\w-]+)( echo=true)? >\}\}$")
FENCE = re.compile(r" {0,3}(```|~~~)")
PAUSE = ". . ."
MEANT = {  # what is written for something else, and what to write
    re.compile(r"\.{3}|…"): "a press of a key is `. . .`, with spaces",
    re.compile(r".*\{+<+ *embed\b.*|\{\{<.*"): "a cell is embedded as `{{< embed ../04_pooling.ipynb#its-id >}}` or "
    "`{{< embed ../04_pooling.ipynb#its-id echo=true >}}`, on a line of its own",
    re.compile(
        "---"
    ): "--- stands only around the one front matter: take this out, or begin a slide with ## and a title",
}
DIVS = ("notes", "plan")


class LectureError(ValueError):
    """A lecture cannot be read. The message is one sentence with file and line."""


@dataclass
class Block:
    """A part of a slide: "text", "notes", "plan" or "embed", and at which press of a key it appears (0: at once)."""

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
    line: int
    title: str
    minutes: int = 0
    optional: bool = False
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Lecture:
    """A lecture as its file has it; `lesson` is the name of its notebook, without .ipynb."""

    path: Path
    title: str
    subtitle: str
    lesson: str
    minutes: int
    slides: list[Slide]

    def wrong(self, line, what):
        """The error that names a line of the file."""
        return LectureError(f"{self.path.name}, line {line}: {what}.")

    @property
    def sections(self):
        """[(title, minutes)] of the sections."""
        return [(slide.title, slide.minutes) for slide in self.slides if slide.level == 1]


def read_lecture(path: Path) -> Lecture:
    """Read a lecture. Raises LectureError."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()  # as Notepad saves it, too
    except OSError as error:
        raise LectureError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise LectureError(f"{path} cannot be read: save it as UTF-8.") from None
    front, start = _front_matter(Path(path), lines)
    lecture = Lecture(Path(path), **front, slides=[Slide(0, 1, front["title"])])
    _read_slides(lecture, lines, start)
    if not lecture.sections:
        raise lecture.wrong(len(lines), "it has no section: one begins with a line such as `# Title {minutes=5}`")
    if (found := sum(minutes for _, minutes in lecture.sections)) != lecture.minutes:
        raise lecture.wrong(
            1, f"its sections take {found} minutes, and the front matter says {lecture.minutes}: change one of them"
        )
    return lecture


def _front_matter(path, lines):
    """The fields between the first two lines `---`, and the number of lines up to there."""
    fails = f"{path.name}, line 1: the file begins with a front matter, between two lines ---, which has "
    fails += f"{', '.join(FRONT)}; lesson is {path.stem}, as the file, and minutes a whole number."
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() == "---"), None)
    if not lines or lines[0].rstrip() != "---" or end is None:
        raise LectureError(fails)
    try:
        front = yaml.safe_load("\n".join(lines[1:end]))
    except yaml.YAMLError as error:
        at = getattr(error, "problem_mark", None)
        line = at.line + 2 if at else 1
        advice = "a title with a colon stands in quotes"
        raise LectureError(f"{path.name}, line {line}: the front matter cannot be read; {advice}.") from None
    kinds = {name: type(value) for name, value in front.items()} if isinstance(front, dict) else {}
    if kinds != FRONT or front["lesson"] != path.stem:
        raise LectureError(fails)
    return front, end + 1


def _read_slides(lecture, lines, start):
    """Add the slides to a lecture, and their blocks."""
    press, fence, div = 0, "", None
    for number, line in enumerate(lines[start:], start + 1):
        line = line.rstrip()
        slide = lecture.slides[-1]
        marks = FENCE.match(line)
        if marks and fence in ("", marks[1]):
            fence = "" if fence else marks[1]
        elif not fence and line.startswith(":::"):
            opens = DIV.match(line)
            if opens is None or (opens[1] or DIVS[0]) not in DIVS:
                raise lecture.wrong(number, "a line of colons is `::: {.notes}`, `::: {.plan}` or the `:::` below it")
            if bool(opens[1]) == bool(div):
                what = f"the ::: of line {div.line} is still open" if div else "this ::: closes nothing"
                raise lecture.wrong(number, what)
            div = Block(opens[1], number, "") if opens[1] else None
            slide.blocks += [div] if div else []
            continue
        if div or fence or marks:
            _add(slide, number, line, press, div)
        elif line.startswith(("# ", "## ")):
            lecture.slides.append(_opened(lecture, number, line))
            press = 0
        elif line == PAUSE:
            press += 1
        elif found := EMBED.match(line):
            slide.blocks.append(Block("embed", number, found[1], press, found[2], bool(found[3])))
        elif advice := next((advice for meant, advice in MEANT.items() if meant.fullmatch(line)), None):
            raise lecture.wrong(number, advice)
        else:
            _add(slide, number, line, press, None)
    if div:
        raise lecture.wrong(div.line, "this ::: is not closed by a line :::")
    if fence:
        raise lecture.wrong(len(lines), f"code that begins with {fence} is not closed by it")


def _add(slide, number, line, press, div):
    """Add a line to the open block, or to the text of a slide."""
    block = div or (slide.blocks[-1] if slide.blocks else None)
    if not div and (block is None or block.kind != "text" or block.press != press):
        if not line:
            return
        block = Block("text", number, "", press)
        slide.blocks.append(block)
    block.text += f"{line}\n"


def _opened(lecture, number, line):
    """The slide that a heading begins."""
    marks, title, given = HEADING.match(line).groups()
    attributes = set((given or "").split())
    minutes = next((one for one in attributes if re.fullmatch(r"minutes=[1-9]\d*", one)), None)
    level, optional = len(marks), ".optional" in attributes
    if attributes - {minutes, ".optional"} or (level == 1) != bool(minutes) or level == 1 and optional:
        raise lecture.wrong(
            number,
            "a section is `# Title {minutes=5}`, in whole minutes, and a slide `## Title` or `## Title {.optional}`",
        )
    return Slide(level, number, title, int(minutes.partition("=")[2]) if minutes else 0, optional)
