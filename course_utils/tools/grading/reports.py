"""The grader's pages: feedback for each learner, and a summary of the class.

Text from learners is shown as text, never as markup.
"""

import os
import statistics
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from ..._support.files import write_whole
from ..._support.notebooks import part_with
from ...exercises.model import code_marks
from .results import MARK_STATUSES, SAME_FILE, STATUSES, LearnerRecord
from .untrusted import LONGEST_ON_A_PAGE, for_pages


def cut(text: str, longest: int) -> Markup:
    """Clean a text and cut it to a given length instead of the default, for templates."""
    return escape(for_pages(text, longest))


def sentence(text: str, longest: int = LONGEST_ON_A_PAGE) -> Markup:
    """A sentence as HTML, with its parts in backticks as code and *emphasis* as such."""
    return Markup(code_marks(for_pages(text, longest)))


def number(points: float) -> str:
    """Points as they are written: 2, 6.5."""
    return f"{round(points, 2):g}"


def link(page: str) -> str:
    """The name of a page as an address."""
    return quote(os.fsencode(page), safe="")


PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    # every value that a template writes, unless it is markup
    finalize=lambda value: for_pages(value) if type(value) is str else value,
)
PAGES.filters |= {"cut": cut, "sentence": sentence, "number": number, "link": link}
# jinja2 types only what it puts there itself
PAGES.globals["words"] = MARK_STATUSES  # pyrefly: ignore[unsupported-operation]


def write_feedback(folder: Path, learners: list[LearnerRecord], titles: Mapping[str, str]) -> None:
    """Write a page for each of these learners.

    It holds nothing about other learners, and no hidden inputs or expected values.
    """
    template = PAGES.get_template("feedback.html.j2")
    folder.mkdir(parents=True, exist_ok=True)
    for learner in learners:
        if Path(learner.page).name != learner.page or not learner.page.endswith(".html"):
            raise ValueError(f"{learner.page!r} is not a page name")
        computed = {
            exercise: mark
            for exercise, mark in _marks(learner).items()
            if exercise not in learner.given
        }
        page = template.render(
            learner=learner,
            lessons=_lessons(learner, titles),
            counts=Counter(mark.status for mark in computed.values()),
            explanation=STATUSES.get(learner.status, f"Marking ended with: {learner.status}."),
        )
        write_whole(folder / learner.page, page + "\n")


def _marks(learner):
    """The marks of a learner that have points."""
    return {
        exercise: mark for exercise, mark in learner.exercises.items() if mark.points is not None
    }


def _lessons(learner, titles):
    """The lessons on a learner's page, each as a dict.

    title; exercises: [(id, mark, sentences)]; by_hand: [(id, cell)]; gone: whether nothing of it
    was handed in.
    """
    lessons = {}
    for exercise, mark in _marks(learner).items():
        sentences = list(dict.fromkeys([*mark.mistakes, *mark.discreet]))
        lessons.setdefault(part_with(exercise), ([], []))[0].append((exercise, mark, sentences))
    for identifier, cell in learner.by_hand.items():
        lessons.setdefault(part_with(identifier), ([], []))[1].append((identifier, cell))
    for key, (exercises, by_hand) in sorted(lessons.items()):
        gone = all(mark.status == "missing" and not sentences for _, mark, sentences in exercises)
        yield {
            "title": titles.get(key, key),
            "exercises": exercises,
            "by_hand": by_hand,
            "gone": gone,
        }


def write_summary(
    path: Path, learners: list[LearnerRecord], titles: Mapping[str, str], about: dict
) -> None:
    """Write the page about the class, for the instructor. Learners not yet marked are not counted."""
    marked = [learner for learner in learners if learner.points is not None]
    page = PAGES.get_template("summary.html.j2").render(
        learners=learners,
        about={"left_out": [], **about},
        not_marked=[learner for learner in learners if learner.points is None],
        lessons=[titles.get(lesson, lesson) for lesson in about["lessons"]],
        scores=_scores(marked),
        exercises=_exercises(marked),
        marked=len(marked),
        due=next((learner.due for learner in learners if learner.due), ""),
        late=[learner for learner in learners if learner.late_days],
        given=sum(len(learner.given) for learner in marked),
        statuses=Counter(learner.status for learner in learners).most_common(),
        look_at=_to_review(learners),
    )
    write_whole(path, page + "\n")


def _to_review(learners):
    """Whom a teacher should look at: first who has no ordinary status, last who only has the same file as others."""

    def urgency(learner):
        only_same_file = all(note.startswith(SAME_FILE) for note in learner.notes)
        return learner.status == "ok", only_same_file

    return sorted(
        (learner for learner in learners if learner.status != "ok" or learner.notes), key=urgency
    )


def _scores(learners):
    """The distribution of scores: learners in each tenth of their points, and a few numbers.

    Learners for whom no points are available are excluded.
    """
    shares = [100 * learner.points / learner.of for learner in learners if learner.of]
    tenths = Counter(max(0, min(9, int(share // 10))) for share in shares)
    return {
        "tenths": [tenths[tenth] for tenth in range(10)],
        "counted": len(shares),
        "full": sum(share >= 100 for share in shares),
        "mean": f"{statistics.fmean(shares or [0]):.1f}%",
        "median": f"{statistics.median(shares or [0]):.1f}%",
        "of": sorted({learner.of for learner in learners}),
    }


def _exercises(learners):
    """For each exercise, how many learners have which status. An exercise absent from a record counts as missing."""
    rows = {}
    for learner in learners:
        for exercise, mark in learner.exercises.items():
            start = {
                "id": exercise,
                "title": mark.title,
                "points": 0,
                "of": 0,
                **dict.fromkeys(MARK_STATUSES, 0),
            }
            row = rows.setdefault(exercise, start)
            row[mark.status] += 1
            row["points"] += mark.points
            row["of"] = max(row["of"], mark.of)
    for row in rows.values():
        row["missing"] += len(learners) - sum(row[status] for status in MARK_STATUSES)
        most = row["of"] * len(learners)
        row["share"] = f"{100 * row['points'] / most:.0f}%" if most else "no points"
    return sorted(rows.values(), key=lambda row: part_with(str(row["id"])))
