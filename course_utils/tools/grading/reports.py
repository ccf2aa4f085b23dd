"""The grader's pages: feedback for each learner, and a summary of the class.

Text from learners is shown as text, never as markup.
"""

import base64
import io
import os
import statistics
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from ..._support.files import write_whole
from ..._support.notebooks import part_with
from ...exercises.model import code_marks
from ...plots import HATCHES, STYLE
from .results import MARK_STATUSES, SAME_FILE, STATUSES, LearnerRecord
from .untrusted import LONGEST_ON_A_PAGE, for_pages

# of the palette of plots.py; seaborn itself, which has it, takes a second to import
BLUE = "#0173b2"
COLOURS = {"passed": "#029e73", "failed": "#d55e00", "not attempted": "#949494", "missing": "#ffffff"}


def cut(text, longest):
    """Clean a text and cut it to a given length instead of the default, for templates."""
    return escape(for_pages(text, longest))


def sentence(text, longest=LONGEST_ON_A_PAGE):
    """A sentence as HTML, with its parts in backticks as code and *emphasis* as such."""
    return Markup(code_marks(for_pages(text, longest)))


PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    # every value that a template writes, unless it is markup
    finalize=lambda value: for_pages(value) if type(value) is str else value,
)
PAGES.filters.update(
    cut=cut,
    sentence=sentence,
    number=lambda points: f"{round(points, 2):g}",
    link=lambda page: quote(os.fsencode(page), safe=""),
)
PAGES.globals.update(words=MARK_STATUSES)


def write_feedback(folder: Path, learners: list[LearnerRecord], titles: dict):
    """Write a page for each of these learners.

    It holds nothing about other learners, and no hidden inputs or expected values.
    """
    template = PAGES.get_template("feedback.html.j2")
    folder.mkdir(parents=True, exist_ok=True)
    for learner in learners:
        if Path(learner.page).name != learner.page or not learner.page.endswith(".html"):
            raise ValueError(f"{learner.page!r} is not a page name")
        keys = sorted({part_with(one) for one in (*learner.exercises, *learner.by_hand)})
        lessons = {key: {"exercises": [], "by_hand": []} for key in keys}
        exercises = {one: mark for one, mark in learner.exercises.items() if mark.points is not None}
        for one, mark in exercises.items():
            told = dict.fromkeys([*mark.mistakes, *mark.discreet])
            lessons[part_with(one)]["exercises"].append((one, mark, list(told)))
        for one, mark in learner.by_hand.items():
            lessons[part_with(one)]["by_hand"].append((one, mark))
        parts = [
            (
                titles.get(lesson, lesson),
                part,
                all(mark.status == "missing" and not told for _, mark, told in part["exercises"]),
            )
            for lesson, part in lessons.items()
            if part["exercises"] or part["by_hand"]
        ]
        counts = Counter(mark.status for one, mark in exercises.items() if one not in learner.given)
        explanation = STATUSES.get(learner.status, f"Marking ended with: {learner.status}.")
        page = template.render(learner=learner, lessons=parts, counts=counts, explanation=explanation)
        write_whole(folder / learner.page, page + "\n")


def write_summary(path: Path, learners: list[LearnerRecord], titles: dict, about: dict):
    """Write the page about the class, for the instructor. Learners not yet marked are not counted."""
    marked = [learner for learner in learners if learner.points is not None]
    scores, exercises = _scores(marked), _exercises(marked)
    page = PAGES.get_template("summary.html.j2").render(
        learners=learners,
        about={"left_out": [], **about},
        not_marked=[learner for learner in learners if learner.points is None],
        lessons=[titles.get(lesson, lesson) for lesson in about["lessons"]],
        scores=scores,
        exercises=exercises,
        pictures=_pictures(scores, exercises),
        due=next((learner.due for learner in learners if learner.due), ""),
        late=[learner for learner in learners if learner.late_days],
        given=sum(len(learner.given) for learner in marked),
        statuses=Counter(learner.status for learner in learners).most_common(),
        look_at=_to_review(learners),
    )
    write_whole(path, page + "\n")


def _to_review(learners):
    """Whom a teacher should look at: first who has no ordinary status, last who only has the same file as others."""
    odd = [one for one in learners if one.status != "ok" or one.notes]
    return sorted(odd, key=lambda one: (one.status == "ok", all(note.startswith(SAME_FILE) for note in one.notes)))


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
    found = {}
    for learner in learners:
        for one, mark in learner.exercises.items():
            row = found.setdefault(
                one, {"id": one, "title": mark.title, "points": 0, "of": 0, **dict.fromkeys(MARK_STATUSES, 0)}
            )
            row[mark.status] += 1
            row["points"] += mark.points
            row["of"] = max(row["of"], mark.of)
    for row in found.values():
        row["missing"] += len(learners) - sum(row[status] for status in MARK_STATUSES)
        most = row["of"] * len(learners)
        row["share"] = f"{100 * row['points'] / most:.0f}%" if most else "no points"
    return sorted(found.values(), key=lambda row: part_with(row["id"]))


def _pictures(scores, exercises):
    """The two pictures as data URLs, None if there is nothing to draw. The same numbers give the same bytes."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    with matplotlib.rc_context():
        matplotlib.rcParams.update(STYLE, **{"font.size": 10, "svg.hashsalt": "course"})

        def drawn(figure):
            file = io.BytesIO()
            figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
            return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode()

        histogram = bars = None
        if scores["counted"]:
            figure = Figure(figsize=(4.8, 2.9))
            axes = figure.subplots()
            axes.bar(range(5, 100, 10), scores["tenths"], 9, color=BLUE)
            axes.set(xlabel="% of the points", ylabel="learners", xticks=range(0, 101, 20), xlim=(0, 100))
            axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
            histogram = drawn(figure)
        if exercises:
            figure = Figure(figsize=(4.8, 0.9 + 0.27 * len(exercises)))
            axes = figure.subplots()
            places, left = range(len(exercises)), [0] * len(exercises)
            for status, hatch in zip(MARK_STATUSES, HATCHES, strict=True):
                counts = [row[status] for row in exercises]
                axes.barh(
                    places,
                    counts,
                    0.74,
                    left=left,
                    label=status,
                    color=COLOURS[status],
                    hatch=hatch,
                    linewidth=0.5,
                    edgecolor="#767676" if status == "missing" else "white",
                )
                left = [before + count for before, count in zip(left, counts, strict=True)]
            for place, row in zip(places, exercises, strict=True):
                axes.text(1.02, place, row["share"], va="center", transform=axes.get_yaxis_transform())
            axes.set(
                xlabel="learners; at the right: share of the points",
                xlim=(0, max(left)),
                ylim=(len(exercises) - 0.4, -0.6),
            )
            axes.set_yticks(places, [for_pages(row["id"][:30]) for row in exercises])
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
            figure.legend(loc="outside upper left", ncols=4, frameon=False, columnspacing=1, handlelength=1.4)
            bars = drawn(figure)
    return {"scores": histogram, "exercises": bars}
