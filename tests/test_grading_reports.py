"""The grader's pages match the records, show text as text, and hide what is not meant for their reader."""

import re
import statistics
import unicodedata
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from course_utils._support.colours import contrast
from course_utils.tools.grading import reports
from course_utils.tools.grading.results import HandMarkedCell, Remark, whole

from .pages import (
    ATTACKS,
    FORGOT,
    INVISIBLE,
    MARK_STATUSES,
    SAME_FILE,
    Page,
    invented,
    learner,
    mark,
)

TITLES = {"04": "04 Pooling", "06-awkward": "06 Similarity, further"}


def hostile(text):
    """A learner with this text in every field that can hold it.

    It ends the id of one exercise and begins that of another, where pages look for the lesson.
    """
    failed = mark(
        "failed",
        title=text,
        discreet=[text, f"{text} too"],
        mistakes=[text],
        reason=text,
        messages=[text],
    )
    return learner(
        learner=text,
        name=text,
        status="unreadable",
        reason=text,
        notes=[text],
        problems=[text],
        files=[text],
        exercises={
            f"04-{text}": failed,
            f"{text}-06": mark("missing", title=text, discreet=[text]),
        },
        by_hand={f"12-{text}": HandMarkedCell(8, text, points=1.5, comment=text)},
        # one comment alone, and one with points in place of the computed ones
        remarks={f"04-{text}": Remark(0, text), f"{text}-06": Remark(0, text, points=1)},
    )


def feedback(folder, record):
    # the page of one learner, written to this folder
    reports.write_feedback(folder, [record], TITLES)
    return Page((folder / record.page).read_text(encoding="utf-8"))


def summary(folder, learners, isolated=True):
    # the page of a class, written to this folder
    reports.write_summary(folder / "summary.html", learners, TITLES, isolated=isolated)
    return Page((folder / "summary.html").read_text(encoding="utf-8"))


def both(folder, record):
    return feedback(folder, record), summary(folder, [record])


def numbers_of_tags(page):
    # without those of code, which texts may contain
    return Counter(tag for tag, _ in page.tags if tag != "code")


# --- all text from learners is escaped


@pytest.fixture(scope="module")
def tame_pages(tmp_path_factory):
    return both(tmp_path_factory.mktemp("tame"), hostile("tame"))


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_came_from_learners_is_never_markup(attack, tame_pages, tmp_path):
    for page, tame in zip(both(tmp_path, hostile(attack)), tame_pages, strict=True):
        assert (numbers_of_tags(page), {name for name, _ in page.attributes}) == (
            numbers_of_tags(tame),
            {name for name, _ in tame.attributes},
        )
        # backticks become <code>, blanks at the end are lost; "> 2": it is in several places
        assert page.text.count(attack.strip("`").strip()) >= tame.text.count("tame") > 2
        # the page's own style sheet ends once, and nobody brings another tag
        assert re.findall("</style>|<script", page.source) == ["</style>"]


def test_templates_cannot_forget_to_escape_and_to_cut():
    template = reports.PAGES.from_string("{{ text }}")
    assert template.render(text="<b>\0x") == "&lt;b&gt;⟨U+0000⟩x"
    # LONGEST_ON_A_PAGE, 2000, and room for how many more there were
    assert len(template.render(text="x" * 9999)) < 2100


@pytest.mark.parametrize("character", INVISIBLE, ids=ascii)
def test_invisible_characters_are_named(character, tmp_path):
    for page in both(tmp_path, hostile(f"a{character}b")):
        visible = set(page.source) - {"\n", "\t"}
        # control and format characters, halves of characters, separators of lines and paragraphs
        assert not {unicodedata.category(sign) for sign in visible} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
        assert f"a⟨U+{ord(character):04X}⟩b" in page.text


def test_long_texts_and_long_lists_are_cut(tmp_path):
    long = "long " * 20_000
    many = learner(
        exercises={"04-x": mark("failed", discreet=[f"{number}: {long}" for number in range(999)])},
        problems=["x" * 5000] * 999,
        files=["f"] * 9999,
        notes=["n"] * 9999,
    )
    # characters of a page: far less than the texts together, and little for a browser
    for page in (*both(tmp_path, hostile(long)), *both(tmp_path, many)):
        assert len(page.source) < 200_000


def test_what_is_cut_is_counted(tmp_path):
    text = feedback(
        tmp_path,
        learner(
            exercises={"04-x": mark("failed", discreet=["z" * 100_000])},
            by_hand={"14-report": HandMarkedCell(8, "\0" * 100_000, points=1)},
        ),
    ).text
    # messages are cut after 2000 characters, texts to mark by hand after 20,000
    assert re.search(r"(?<!z)z{2000} … \(98,000 more characters\)", text)
    assert re.search(r"(?<!⟩)(⟨U\+0000⟩){20000} … \(80,000 more characters\)", text)


def test_pages_run_nothing_and_fetch_nothing(tame_pages, tmp_path):
    for page in (*tame_pages, summary(tmp_path, [])):
        assert page.source.startswith("<!DOCTYPE html>")
        assert page.tags[0] == ("html", {"lang": "en"})
        (policy,) = page.soup.select('meta[http-equiv="Content-Security-Policy"]')
        assert {"default-src 'none'", "style-src 'unsafe-inline'"} <= set(
            policy["content"].split("; ")
        )
        assert not re.search("script-src|img-src", policy["content"])
        assert not page.soup(["script", "link", "iframe", "object", "form", "base"])
        assert all(
            address.startswith(("feedback/", "class.html"))
            for name, address in page.attributes
            if name in ("src", "href")
        )
        assert not re.search(r"url\(|@import", page.source)


# --- feedback


def test_a_sum_of_points_has_no_stray_digits():
    assert (whole(1.1 + 2.2), repr(whole(1.5 + 0.5))) == (3.3, "2")


def test_feedback_says_what_was_found(tmp_path):
    exercises = {
        "04-mean-pool": mark(discreet=["3 properties hold, on 12 inputs drawn for this check."]),
        "04-max-pool": mark(
            "failed", title="Max pooling", mistakes=[FORGOT], discreet=["Padding: wrong.", FORGOT]
        ),
        "06-cosine": mark("not attempted", title="Cosine", of=1),
        "06-mean-cosine": mark("missing", title="Planes", of=3),
    }
    by_hand = {
        "14-report": HandMarkedCell(8, "# Mine\n  indented"),
        "14-more": HandMarkedCell(8, points=6.5, comment="Well argued."),
        "14-last": HandMarkedCell(3),
    }
    broken = "cell 4, line 2: SyntaxError: '('"
    record = learner(
        "ada", name="Ada Lovelace", exercises=exercises, by_hand=by_hand, problems=[broken]
    )
    record.add_up()
    page = feedback(tmp_path, record)
    # among others, the page has these lines: points, lessons, exercises, counts, texts, problems
    # 8.5 points: 2 of 8 for the exercises, 6.5 of 19 for the texts
    expected = f"""Ada Lovelace
8.5 of 27 points
8 points are still to be marked by hand
04 Pooling
06 Similarity, further
Mean pooling 04-mean-pool ✓ passed · 2 of 2 3 properties hold
Max pooling 04-max-pool ✗ not there yet · 0 of 2
Cosine 06-cosine ○ not attempted · 0 of 1
Planes 06-mean-cosine — missing · 0 of 3
✓ 1 passed ✗ 1 not there yet ○ 1 not attempted — 1 missing
to be marked by hand · 8 possible
14-more marked by hand · 6.5 of 8
14-last ○ not attempted · 0 of 3
Well argued.
{broken}
Read: 04_pooling.ipynb"""
    assert [line for line in expected.splitlines() if line not in page.text] == []
    # a text keeps its lines
    assert "# Mine\n  indented</div>" in page.source
    assert re.search(r"\.text \{[^}]*pre-wrap", page.source), "indented as it was written"
    # FORGOT is a mistake and a note at once, and stands there once
    assert "<li>You forget the <code>mask</code>.</li>\n<li>Padding: wrong.</li>" in page.source
    assert page.text.count("You forget the") == 1
    # what to run next, for all but the exercise that is passed
    for command in (r'check\("([\w-]+)", \.\.\.\)', r'hint\("([\w-]+)"\)'):
        assert re.findall(command, page.text) == ["04-max-pool", "06-cosine", "06-mean-cosine"]


@pytest.mark.parametrize(
    "status, words",
    [
        ("timeout", "did not finish in time"),
        ("memory", "more memory"),
        ("crashed", "ended the Python process"),
        ("unreadable", "could not be read"),
        ("unreadable cell", "could not be read"),
        ("missing exercise", "no answer to mark"),
        ("nothing handed in", "Nothing was handed in"),
    ],
)
def test_feedback_says_what_happened_in_plain_words(status, words, tmp_path):
    assert words not in feedback(tmp_path, learner()).text
    text = feedback(tmp_path, learner(status=status, reason="a cause", exercises={})).text
    # where nothing was there to run, the words are the whole reason
    has_cause = status not in ("missing exercise", "nothing handed in")
    assert (words in text, "a cause" in text) == (True, has_cause)


@pytest.mark.parametrize(
    "second, says_of_the_lesson, says_what_to_do",
    [(mark("missing"), 1, 1), (mark("missing", discreet=["There is no answer to mark."]), 0, 2)],
    ids=["whole", "in part"],
)
def test_a_lesson_that_is_missing_whole_says_what_to_do_once(
    second, says_of_the_lesson, says_what_to_do, tmp_path
):
    exercises = {"04-a": mark("missing"), "04-b": second, "06-c": mark()}
    text = feedback(tmp_path, learner(exercises=exercises)).text
    assert text.count("your submission has no exercise of this lesson") == says_of_the_lesson
    assert text.count("What to do next") == says_what_to_do


def test_hidden_inputs_and_other_learners_stay_out(tmp_path):
    of_learner, of_class = both(tmp_path, learner(notes=["the same file as bob"]))
    # the message and the seed that `mark` gives every mark
    assert not re.search("0[.]125|987654321", of_learner.source + of_class.source)
    assert "bob" not in of_learner.source
    assert "the same file as bob" in of_class.text


# --- the class


@pytest.fixture(params=[1, 31], ids=["one learner", "31 learners"])
def invented_class(request):
    return invented(request.param)


@pytest.fixture
def page(invented_class, tmp_path):
    return summary(tmp_path, invented_class)


def test_the_summary_has_the_mean_and_the_median_of_the_points(invented_class, tmp_path):
    # who is not marked has no share in them
    page = summary(tmp_path, [*invented_class, learner("not marked", points=None)])
    # all others can have 6 points
    shares = [record.points / 6 for record in invented_class]
    assert f"mean of 6 points {100 * statistics.mean(shares):.1f}%" in page.text
    assert (
        f"median {100 * statistics.median(shares):.1f}% "
        f"with full points {shares.count(1)} of {len(shares)}"
    ) in page.text
    assert "count as 0 points" not in page.text


def test_the_summary_counts_learners_by_tenths_of_the_points(page, invented_class):
    # of 6 points; the learners with all of them are in the last tenth
    tenths = Counter(min(int(10 * (record.points / 6)), 9) for record in invented_class)
    rows = page.rows("scores")
    assert (rows[0][0], rows[-1][0]) == ("0 to below 10%", "90 to 100%")
    assert [row[1] for row in rows] == [str(tenths[low]) for low in range(10)]


def test_the_summary_has_the_points_and_the_status_of_each_learner(page, invented_class):
    assert [row[1:3] for row in page.rows("class")] == [
        [f"{record.points} of {record.of}", record.status] for record in invented_class
    ]


def test_the_summary_counts_the_marks_of_each_exercise_by_status(page, invented_class):
    # (exercise, its other columns): the first column is its title and its id
    rows = [(row[0].split()[-1], row[1:]) for row in page.rows("exercises")]
    assert [name for name, _ in rows] == [
        name
        for name in ("04-mean-pool", "04-max-pool", "06-cosine")
        if any(name in record.exercises for record in invented_class)
    ]
    for name, (*numbers, passed) in rows:
        counts = Counter(
            record.exercises.get(name, mark("missing")).status for record in invented_class
        )
        assert numbers == [str(counts[status]) for status in MARK_STATUSES]
        assert passed == f"{100 * counts['passed'] / len(invented_class):.0f}%"


def test_the_summary_counts_learners_by_status(page, invented_class):
    assert {status: int(number) for status, number in page.rows("statuses")} == Counter(
        record.status for record in invented_class
    )


def test_the_summary_links_to_who_needs_review_and_then_to_all(page, invented_class):
    # those with a status other than "ok" come first, then those with a note; last, of these, those
    # who only have the same file as somebody
    to_review = sorted(
        (record for record in invented_class if record.status != "ok" or record.notes),
        key=lambda record: (record.status == "ok", set(record.notes) <= {SAME_FILE}),
    )
    assert [row[0] for row in page.rows("look-at")] == [record.name for record in to_review]
    assert [value for name, value in page.attributes if name == "href"] == [
        "class.html",
        *(f"feedback/{record.page}" for record in (*to_review, *invented_class)),
    ]
    assert f"to review {len(to_review)}" in page.text


def test_the_summary_says_that_texts_wait_to_be_marked(tmp_path):
    page = summary(tmp_path, [learner(by_hand={"14-report": HandMarkedCell(8, "Mine.")})])
    assert all(words in page.text for words in ("count as 0 points", "text to mark by hand 1"))


@pytest.mark.parametrize("isolated", [True, False])
def test_the_summary_says_where_answers_were_not_isolated(isolated, tmp_path):
    page = summary(tmp_path, [], isolated)
    assert ("code was run without isolation" in page.text) != isolated


def test_a_class_without_learners(tmp_path):
    page = summary(tmp_path, [])
    assert all(words in page.text for words in ("learners 0", "There are no learners yet."))
    assert not page.soup("table")


def test_a_class_without_exercises(tmp_path):
    page = summary(tmp_path, [learner(points=0, exercises={}, status="nothing handed in")])
    assert "No exercises were handed in." in page.text
    assert page.rows("statuses") == [["nothing handed in", "1"]]


def test_a_class_without_points(tmp_path):
    ada = learner(exercises={"04-x": mark(points=0, of=0)}, points=0, of=0)
    bob = learner("bob", exercises={}, points=0, of=0)
    page = summary(tmp_path, [ada, bob])
    assert "These lessons give no points" in page.text
    assert "0 of 0 points" in feedback(tmp_path, bob).text
    # the marks passed, failed, not attempted and missing, then the share passed; bob has no mark
    assert page.rows("exercises") == [["Mean pooling 04-x", "1", "0", "0", "1", "no points"]]


def test_text_stands_out_from_its_ground():
    css = (Path(reports.__file__).parent / "templates" / "page.css").read_text()
    # the three blocks where colours get their names: for a light page, a dark one, and paper
    light, dark, printed = re.findall(r":root {([^}]*)}", css)
    # the names that rules use, in "color: var(--name)" and "background: var(--name)"
    texts, grounds = (
        re.findall(rf"(?<![-\w]){key}: var\(--(\w+)\)", css) for key in ("color", "background")
    )
    # as many as the style sheet had when this was written: the pattern still finds them
    assert (len(texts) >= 7, len(grounds) >= 4) == (True, True), "not all are found"
    assert not re.search(r"(?<![-\w])color: #", css), "each colour has a name"
    assert light.replace("light dark", "light") == printed, "paper is a light page"
    for mode in (light, dark):
        colours = dict(re.findall(r"--(\w+): (#\w{6});", mode))
        for text, ground in product(texts, grounds):
            # the least that WCAG 2 asks for, at level AA
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
