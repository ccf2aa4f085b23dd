"""The class report, from which the next lecture is prepared: class.html and class.csv.

For each exercise: how many passed, the known mistakes by name and how often, the slide and the section that treat them,
and whether the exercise tells learners apart. Everything is computed from records; nobody is named unless asked for.
"""

import ast
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from math import atanh, sqrt, tanh
from statistics import NormalDist, correlation

from docutils.nodes import make_id

from ..._support.fast_nbformat import nbformat
from ..._support.files import write_whole
from ..._support.notebooks import lesson_cells, name_of, part_of, part_with, parts
from ...exercises.words import told
from ..publish.lectures import read_lecture
from ..publish.slides import HEADING, lectures
from .names import normalised
from .reports import PAGES
from .results import MARK_STATUSES

LINES, COLUMNS, LONGEST = 25, 160, 5_000  # of an example; a longer answer is none
TRIED = 20  # answers that are read in search of an example
NORMAL = NormalDist().inv_cdf(0.975)  # of a 95% interval
FEWEST = 4  # learners for an interval of a correlation: its standard error is 1 / sqrt(n - 3)
OBJECT, FORMS, EMPHASIS = (
    re.compile(r"\b(for|makes?) you\b"),
    re.compile(r"\b([Yy])ou(rs?)?\b"),
    re.compile(r"\*(\w[^*]*)\*"),
)
FIGURES = [f"{name}{end}" for name in ("difficulty", "discrimination") for end in ("", " low", " high")]
COUNTS = ("passed", "tried", "not attempted", "missing")
ADDRESS = re.compile(r"(https?://[^/\s]|[\w.~-][\w./~-]*$|/[\w.~-])[^\s]*")
HEADER = ["exercise", "title", "kind", "name", "learners", *COUNTS, *FIGURES, "note", "does", "because", "section"]
HEADER += ["slide", "who"]


@dataclass(frozen=True)
class Figure:
    """A figure with its 95% interval; all three are None where it is undefined, and `why` says why."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Place:
    """Where a lesson treats something. page, deck: files of the book and of `course slides`; number: the slide's.

    question: the one that the slide asks, if it has one.
    """

    section: str
    page: str
    slide: str = ""
    number: int = 0
    deck: str = ""
    question: str = ""

    @property
    def lesson(self):
        """The key of the notebook that has the section; `deck_of` that of the slide's."""
        return part_of(self.page.partition(".")[0])

    @property
    def deck_of(self):
        return part_of(self.deck.partition(".")[0])


@dataclass
class Made:
    """A mistake that learners made. name: empty if it is not known. example: the code of an answer, or empty."""

    name: str
    does: str
    because: str = ""
    place: Place | None = None
    example: str = ""
    who: list = field(default_factory=list)
    learners: frozenset = frozenset()  # their ids


@dataclass
class Item:
    """An exercise of a class. counts: by COUNTS. others: [(learners, case)] of failures without a known mistake."""

    id: str
    title: str
    counts: dict
    difficulty: Figure
    discrimination: Figure
    mistakes: list
    others: list

    @property
    def note(self):
        """What a teacher should know about the figures, in a sentence; empty if nothing."""
        tried = self.counts["tried"]
        if not tried:
            return "Nobody tried it."
        if self.counts["passed"] in (0, tried):
            return f"{'All right' if self.counts['passed'] else 'All wrong'}: it separates nobody."
        if self.discrimination.high is not None and self.discrimination.high < 0:
            return "Those who are weaker elsewhere pass it more often: look at the exercise."
        if self.discrimination.low is not None and self.discrimination.low <= 0:
            return f"May separate nobody: with {tried} answers, the interval includes 0."
        return ""


# ---------------------------------------------------------------- figures


def difficulty(passed, learners):
    """The share of learners who passed, with Wilson's 95% interval, as a `Figure`; undefined without learners.

    The interval: E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22
    (158), pp. 209-212. For few learners it is recommended by L. D. Brown, T. T. Cai and A. DasGupta (2001), Interval
    estimation for a binomial proportion, Statistical Science 16 (2), section 3.1.1.
    """
    if not learners:
        return Figure(why="nobody tried it")
    share, z = passed / learners, NORMAL
    middle = share + z**2 / (2 * learners)
    half = z * sqrt(share * (1 - share) / learners + (z / (2 * learners)) ** 2)
    low, high = ((middle + sign * half) / (1 + z**2 / learners) for sign in (-1, 1))
    return Figure(share, max(0.0, low), min(1.0, high))


def discrimination(passed, rest):
    """Whether those who pass an exercise are those who do well in the others, as a `Figure`.

    passed: for each learner, whether the exercise was passed. rest: the learner's points in all other exercises.

    The corrected point-biserial correlation: Pearson's r of the two, where `rest` leaves out the exercise itself, which
    would otherwise correlate with itself; S. Henrysson (1963), Correction of item-total correlations in item analysis,
    Psychometrika 28 (2), pp. 211-218. The interval is by Fisher's z = artanh r with standard error 1 / sqrt(n - 3);
    R. A. Fisher (1921), On the "probable error" of a coefficient of correlation deduced from a small sample, Metron 1
    (4), pp. 3-32. It assumes two normal variables, and one of these is 0 or 1, so it is approximate.
    """
    if len(passed) < FEWEST:
        return Figure(why=f"undefined: fewer than {FEWEST} learners")
    if len(set(passed)) == 1:
        return Figure(why=f"undefined: {'all' if passed[0] else 'none'} of them passed")
    if len(set(rest)) == 1:
        return Figure(why="undefined: all have the same points in the other exercises")
    value = correlation([float(one) for one in passed], [float(one) for one in rest])
    if abs(value) > 1 - 1e-9:
        return Figure(why="undefined: a correlation of exactly 1 or -1 has no interval")
    ends = [tanh(atanh(value) + sign * NORMAL / sqrt(len(passed) - 3)) for sign in (-1, 1)]
    return Figure(value, *ends)


def items(learners):
    """An `Item` for each exercise of these records, in their order. Learners who are not marked do not count.

    Difficulty and discrimination are about those who tried the exercise. The points in the other exercises are those of
    the grades: what is missing or not attempted has none.
    """
    marked = [one for one in learners if one.points is not None]
    points = {one.learner: sum(mark.points for mark in one.exercises.values()) for one in marked}
    naming = [(one, _names_of(one)) for one in marked]
    everybody = {word for _, words in naming for word in words if len(word) > 2 or not word.isascii()}
    found = []
    for exercise in dict.fromkeys(exercise for one in marked for exercise in one.exercises):
        theirs = {one.learner: one.exercises[exercise] for one in marked if exercise in one.exercises}
        status = Counter(mark.status for mark in theirs.values())
        tried = {one: mark for one, mark in theirs.items() if mark.status in ("passed", "failed")}
        passed = [mark.status == "passed" for mark in tried.values()]
        rest = [points[one] - mark.points for one, mark in tried.items()]
        missing = len(marked) - len(tried) - status["not attempted"]
        counts = dict(zip(COUNTS, (sum(passed), len(tried), status["not attempted"], missing), strict=True))
        title = next(iter(theirs.values())).title
        figures = difficulty(sum(passed), len(passed)), discrimination(passed, rest)
        mistakes, others = _mistakes(exercise, naming, everybody)
        found.append(Item(exercise, title, counts, *figures, mistakes, others))
    return found


# ---------------------------------------------------------------- mistakes


def _mistakes(exercise, naming, everybody):
    """The mistakes that were made in an exercise, most frequent first, and [(learners, case)] of other failures."""
    known = {one.message: one for one in told(exercise)[0]}
    made, others = {}, Counter()
    for one, _ in naming:
        mark = one.exercises.get(exercise)
        if mark and mark.status == "failed":
            for message in mark.mistakes:
                made.setdefault(message, []).append(one)
            if not mark.mistakes:
                others.update({_gist(text) for text in mark.discreet})
    names, found = {one.learner: words for one, words in naming}, []
    for message, who in made.items():
        mistake = known.get(message)
        words = (mistake.name, mistake.does, mistake.because) if mistake else ("", message)
        place = place_of(exercise, mistake.shown_in if mistake else "")
        texts = [(one.texts.get(exercise, ""), names[one.learner]) for one in who]
        shown = example(texts, everybody, _lesson(part_with(exercise))[2])
        ids, who = frozenset(one.learner for one in who), sorted(one.name or one.learner for one in who)
        found.append(Made(*words, place=place, example=shown, who=who, learners=ids))
    found.sort(key=lambda one: (-len(one.who), one.does))
    return found, sorted(((count, text) for text, count in others.items()), key=lambda row: (-row[0], row[1]))


def _gist(text):
    """The subject of a message, without what one learner's function returned."""
    return text if text.startswith("Stopped: ") else text.partition(": ")[0]


def in_third_person(text):
    """What a mistake `does`, said of several learners: "You return the *sum*." as "They return the sum."."""
    prose = text.split("`")  # every second part is code
    for at in range(0, len(prose), 2):
        said = OBJECT.sub(r"\1 them", EMPHASIS.sub(r"\1", prose[at]))
        prose[at] = FORMS.sub(
            lambda you: ("Th" if you[1] == "Y" else "th") + ("eir" + you[2][1:] if you[2] else "ey"), said
        )
    return "`".join(prose)


def example(texts, everybody, lesson):
    """The shortest answer that can be shown, without comments, docstrings and strings of the learner's own, or "".

    texts: [(code, names of its learner)]. everybody: words of all names in the class. lesson: the text of the lesson,
    whose strings and words identify nobody.

    Left out are answers that are too long, are no Python, or hold a name of their learner or, as a word, of another.
    """
    for text, names in sorted(texts, key=lambda one: (len(one[0]), one[0]))[:TRIED]:
        code = _without_own_words(text, lesson) if len(text) <= LONGEST else ""
        words, squeezed = _words(code), normalised(code)
        own = any(name in (squeezed if len(name) > 2 or not name.isascii() else words) for name in names)
        if code and not own and not words & everybody - _words(lesson):
            lines = [line if len(line) <= COLUMNS else f"{line[:COLUMNS]} …" for line in code.splitlines()]
            more = [f"… ({len(lines) - LINES} more lines)"] if len(lines) > LINES else []
            return "\n".join(lines[:LINES] + more)
    return ""


@cache
def _words(text):
    return {normalised(word) for word in re.findall(r"[^\W_]+", text)}


def _without_own_words(text, lesson):
    """Code as Python itself would write it, its strings as … unless the lesson has them. Empty if it is no Python."""

    class Cleaner(ast.NodeTransformer):
        def visit_Expr(self, node):
            return None if isinstance(getattr(node.value, "value", None), str) else self.generic_visit(node)

        def visit_Constant(self, node):
            text = node.value
            usual = isinstance(text, str) and any(f"{mark}{text}{mark}" in lesson for mark in "\"'")
            return ast.Constant("…") if isinstance(text, (str, bytes)) and not usual else node

    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.unparse(Cleaner().visit(ast.parse(text))).strip()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def _names_of(one):
    """What identifies a learner, as `normalised` spells it: id, name and e-mail, and the words of these."""
    texts = [one.learner, one.name, one.email, one.number, one.email.partition("@")[0]]
    parts = {part for text in texts for part in re.findall(r"[^\W_]+", text) if len(part) > 2 or not part.isascii()}
    return {normalised(text) for text in (*texts, *parts)} - {""}


# ---------------------------------------------------------------- where a lesson treats it


@dataclass(frozen=True)
class _Shown:
    """A slide: the number of the lesson's cell that it belongs to, its title, what it asks, and the cells it shows.

    sure: whether the lesson itself says where it belongs.
    """

    at: int
    title: str
    question: str
    cells: tuple[str, ...]
    sure: bool


@cache
def _lesson(number):
    """(the path of a lesson, its cells, the text of its code); (None, [], "") if there is none."""
    if (path := parts().get(number)) is None:
        return None, [], ""
    cells = lesson_cells(nbformat.read(path, as_version=4))
    return path, cells, "\n".join(cell.source for cell in cells if cell.cell_type == "code")


@cache
def _slides(number):
    """The slides of a lesson's lecture. [] if it has none.

    A slide belongs to the section that it is called after, else to the first cell that it shows; if the lesson has
    neither, to what the slide before it belongs to, and a first one to the first section. The title belongs to none.
    """
    cells, found = _lesson(number)[1], []
    at = next((place for place, cell in enumerate(cells) if _section(cell)), 0)
    places = {cell.id: place for place, cell in enumerate(cells)}
    headings = {title: place for place, cell in enumerate(cells) for _, title in HEADING.findall(cell.source)}
    for slide in read_lecture(lectures()[number]).slides if number in lectures() else ():
        shown = [block.cell for block in slide.blocks if block.cell in places]
        own = headings.get(slide.title, places[shown[0]] if shown else None)
        at = at if own is None else own
        asked = next((cells[places[one]].source for one in shown if one.startswith("quiz-")), "")
        question = asked.partition("<details>")[0].removeprefix("**Predict.**").replace("*", "")
        cells_of = tuple(block.cell for block in slide.blocks if block.cell)
        title, question = slide.title.replace("*", ""), " ".join(question.split())
        found.append(_Shown(at if slide.level else -1, title, question, cells_of, own is not None))
    return found


def _has(number, cell):
    """Whether a lesson, or a slide of its lecture, has a cell."""
    return any(one.id == cell for one in _lesson(number)[1]) or any(cell in one.cells for one in _slides(number))


def place_of(exercise, shown_in=""):
    """The `Place` of the cell `shown_in`; without it, of the one that the exercise names, else of the exercise itself.

    Returns None if there is no such cell.
    """
    other, _, cell = (shown_in or told(exercise)[1]).rpartition(" ")
    own = part_with(exercise)
    if cell:  # it may be in another part of the lesson than the exercise, or than the one that was named
        family = sorted(
            (key for key in parts() if key[:2] == (other or own)[:2]), key=lambda key: key != (other or own)
        )
        found = next((key for key in family if _has(key, cell)), "")
        other = "" if found == own else found or other
    here, there = _find_place(own, "" if other else cell, exercise), None
    if other and here:
        there = _find_place(other, cell, "")
    if there is None or not there.number:  # a further part without a deck
        return here
    return Place(here.section, here.page, there.slide, there.number, there.deck, there.question)


def _find_place(number, cell, exercise):
    """The place of a cell, or of an exercise, in a lesson, or None.

    The section is the last one above that is no exercise's own. The slide is the one that the cell is on or follows; of
    an exercise, the first of its section, or else the last above.
    """
    path, cells, _ = _lesson(number)
    slides = _slides(number)
    on = [place for place, one in enumerate(slides) if cell in one.cells]
    answer = [at for at, one in enumerate(cells) if _grade_id(one) == exercise]
    wanted = [at for at, one in enumerate(cells) if one.id == cell] if cell else answer
    if on and not wanted:  # a picture for the lecture alone
        slide = slides[on[0]]
        wanted = [slide.at] if slide.sure or not answer else answer
    sections = [at for at, one in enumerate(cells) if _section(one)]
    before = [at for at in sections if wanted and at <= wanted[0]]
    if not before:
        return None
    title = _section(cells[before[-1]])
    page = f"{name_of(path)}.html#{make_id(title)}"
    end = next((at for at in sections if at > wanted[0]), len(cells))
    inside = on + [place for place, one in enumerate(slides) if before[-1] <= one.at < end and not cell]
    inside += [place for place, one in enumerate(slides) if one.at <= wanted[0]][-1:]
    if not inside:
        return Place(title, page)
    slide = slides[inside[0]]
    return Place(title, page, slide.title, inside[0] + 1, f"{path.stem}.slides.html#/{inside[0]}", slide.question)


def _grade_id(cell):
    marks = cell.metadata.get("nbgrader", {})
    return marks.get("grade_id") if marks.get("solution") else None


def _section(cell):
    """The title of the section that a cell begins, if that is no exercise's own; else ""."""
    heading = re.search(r"^## (.+)$", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else None
    own = heading is None or heading[1].startswith("Exercise")
    return "" if own else heading[1]


# ---------------------------------------------------------------- page and table


def check_address(address):
    """Raise ValueError for what is neither empty, nor a web address, nor a folder."""
    if address and not ADDRESS.fullmatch(address):
        raise ValueError(f"--book and --decks must be an address (https://...) or a folder, got {address!r}.")


def table(found, names=False):
    """(header, rows) of class.csv: a row for each exercise, and one for each mistake and each other failure in it."""
    rows = []
    for item in found:
        figures = [each for one in (item.difficulty, item.discrimination) for each in (one.value, one.low, one.high)]
        figures = ["" if each is None else round(each, 4) for each in figures]
        gap, place = [""] * (len(COUNTS) + len(FIGURES)), place_of(item.id)
        note, counts = item.note or item.discrimination.why, [item.counts[one] for one in COUNTS]
        rows.append([item.id, item.title, "exercise", "", "", *counts, *figures, note, "", "", *_where(place), ""])
        for one in item.mistakes:
            who = "; ".join(one.who) if names else ""
            words = ["", one.does, one.because, *_where(one.place), who]
            rows.append([item.id, item.title, "mistake", one.name, len(one.who), *gap, *words])
        rows += [[item.id, item.title, "other", "", count, *gap, "", text, *[""] * 4] for count, text in item.others]
    return HEADER, rows


def _where(place):
    return [place.section, f"{place.number}: {place.slide}" if place.number else ""] if place else ["", ""]


def write_page(path, learners, found, lessons, names=False, book="", decks=""):
    """Write class.html. found: the `items`. lessons: their titles. names: whether to say who made a mistake.

    book, decks: the addresses of their files, or their folders seen from the page. If empty, they are beside it, and
    what is not there is no link.
    """
    most = sorted(((item, one) for item in found for one in item.mistakes), key=lambda pair: -len(pair[1].who))[:3]
    page = PAGES.get_template("class.html.j2").render(
        learners=len(learners),
        not_marked=sum(one.points is None for one in learners),
        tried=any(item.counts["tried"] for item in found),
        failed=any(item.counts["tried"] > item.counts["passed"] for item in found),
        items=found,
        most=most,
        have_one=len(frozenset().union(*(one.learners for _, one in most))),
        lessons=lessons,
        names=names,
        book=book and f"{book.rstrip('/')}/",
        decks=decks and f"{decks.rstrip('/')}/",
        is_beside=lambda page: (path.parent / page.partition("#")[0]).exists(),
        place_of=place_of,
        words=MARK_STATUSES,
        said=in_third_person,
        plain=lambda text: EMPHASIS.sub(r"\1", text),
    )
    write_whole(path, page + "\n")
