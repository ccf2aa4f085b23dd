"""`course grade --resemblance`: planted copies come first, and learners who wrote on their own are hardly ever listed.

The classes are invented. Each learner's answer to an exercise is drawn from those of tests/grading/independent, written
apart in different styles. So every answer has about nine owners in a class of 60, long ones too.
"""

import ast
import random
import re
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from course_utils.tools.grading import resemblance
from course_utils.tools.grading.csv_files import read_table
from course_utils.tools.grading.resemblance import (
    PAGE,
    PASSAGE,
    TABLE,
    compare,
    fingerprints,
    given_out,
)
from course_utils.tools.grading.results import LearnerRecord, Mark

from .commands import output_of
from .grader import hand_in, one_sandbox, solutions, write_class  # noqa: F401

LESSONS = ("04", "05", "08")
GRADING = Path(resemblance.__file__).parent
PAGE_TEXT = (GRADING / "templates/resemblance.html.j2").read_text()
README_TEXT = (GRADING / "README.md").read_text()


def answers_written_apart():
    """{exercise: the answers to it that were written apart}"""
    answers = {}
    for lesson in LESSONS:
        text = (Path(__file__).parent / f"grading/independent/lesson_{lesson}.md").read_text()
        # below a heading, which is the exercise, each answer is a block of Python
        for part in text.split("\n### ")[1:]:
            answers[part.partition("\n")[0]] = re.findall(
                r"^```python\n(.*?)^```", part, re.DOTALL | re.MULTILINE
            )
    return answers


INDEPENDENT = answers_written_apart()


def are_exchangeable(first, second):
    # whether two statements may be exchanged: both assign, and neither reads or assigns a name that
    # the other assigns
    def names(node, *kinds):
        return {
            part.id
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, kinds)
        }

    shared = names(first, ast.Store, ast.Load) & names(second, ast.Store, ast.Load)
    assigned = names(first, ast.Store) | names(second, ast.Store)
    return (
        isinstance(first, ast.Assign) and isinstance(second, ast.Assign) and not shared & assigned
    )


def disguised(text, rng):
    """A text with other names and layout, without comments, and with two lines exchanged that are independent."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    # in each function, exchange the first two neighbouring statements that may be exchanged
    for body in (node.body for node in nodes if isinstance(node, ast.FunctionDef)):
        for place, (first, second) in enumerate(zip(body, body[1:])):
            if are_exchangeable(first, second):
                body[place : place + 2] = second, first
                break
    # rename the arguments and what is assigned, but no name of a library or of Python
    arguments = [node for node in nodes if isinstance(node, ast.arg)]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own_names = {node.arg for node in arguments} | {
        node.id for node in names if isinstance(node.ctx, ast.Store)
    }
    other_names = {
        name: f"{rng.choice('abcdefgh')}_{number}" for number, name in enumerate(sorted(own_names))
    }
    for node in arguments:
        node.arg = other_names[node.arg]
    for node in names:
        node.id = other_names.get(node.id, node.id)
    return ast.unparse(tree) + "\n"  # without comments, and in the layout of `ast`


def invented_class(rng, size=60):
    # {exercise: the answer of each learner}
    return {
        exercise: [rng.choice(answers) for _ in range(size)]
        for exercise, answers in INDEPENDENT.items()
    }


def plant(answers_of_class, rng, copies=3):
    """Let `copies` learners copy all answers of another one, in disguise.

    Changes `answers_of_class`. Returns a set of pairs, (lower place, higher place) in the class.
    """
    # every exercise has an answer of each learner
    places = rng.sample(range(len(answers_of_class["04-baseline"])), 2 * copies)
    pairs = list(zip(places[::2], places[1::2]))
    for answers in answers_of_class.values():
        for author, copier in pairs:
            answers[copier] = disguised(answers[author], rng)
    return {tuple(sorted(pair)) for pair in pairs}


@pytest.fixture(scope="module", autouse=True)
def each_text_is_taken_apart_once():
    """Cache the fingerprints: answers are drawn again and again, which would take minutes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resemblance, "fingerprints", cache(fingerprints))
        yield


@pytest.fixture(scope="module")
def given(each_text_is_taken_apart_once):
    # the fingerprints of what a lesson gives its learners
    return given_out(LESSONS)


@pytest.mark.nightly
def test_the_figures_that_page_and_readme_state(given):
    # in how many classes there is a false alarm; in how many all planted copies come first, each
    # above what chance explains
    alarms = copies_first = 0
    for seed in range(100):
        answers = invented_class(random.Random(seed))
        alarms += any(pair.above for pair in compare(answers, given).pairs)
        copies = plant(answers, random.Random(seed))
        highest = compare(answers, given).pairs[: len(copies)]
        are_the_copies = {pair.places for pair in highest} == copies
        copies_first += are_the_copies and all(pair.above for pair in highest)
    page, readme = (" ".join(text.split()) for text in (PAGE_TEXT, README_TEXT))
    words = f"of 100 invented classes of 60, {alarms} had one"
    assert words in page and words in readme
    assert f"in {copies_first} of them, the three copies came first" in readme


def test_answers_written_apart_share_no_long_passage(given):
    shared = []  # by each pair of answers to an exercise
    for answers in INDEPENDENT.values():
        own_prints = [fingerprints(text) - given for text in answers]
        shared += [len(first & second) for first, second in combinations(own_prints, 2)]
    # far below the threshold for a listed passage
    assert max(shared) < PASSAGE / 4
    assert f"at most {max(shared)} (in {len(shared)} pairs" in PAGE_TEXT


def test_names_layout_and_brackets_hide_nothing():
    answer = "def f(values):\n    total = sum(values)\n    return (total / len(values))\n"
    copy = "def g( xs ):\n\n    s = sum( xs, )  # added up\n    return s/len(xs)\n"
    assert fingerprints(answer) == fingerprints(copy) != set()
    assert fingerprints(answer) != fingerprints(answer.replace("/", "*"))


def test_a_long_comment_counts_and_a_short_one_does_not():
    words = "because the padding would pull the mean of short sentences"
    # ten words have three runs of RUN = 8; the code and the four words below are too short for one
    assert len(fingerprints(f"# {words}\nx = 1")) == len(fingerprints(f"x = '{words}'")) == 3
    assert not fingerprints("# the padding would pull\nx = 1")


def test_what_was_given_out_is_nobodys_own(given):
    answer = solutions("04")["04-how-pooled"]
    assert not fingerprints(answer) - given
    assert not compare({"04-how-pooled": [answer] * 2}, given).compared


def test_what_more_than_a_quarter_of_the_answers_have_is_nobodys_own(given):
    # five others, and two or three with one answer; a quarter of seven or of eight is 2 at most
    *others, own = INDEPENDENT["04-how-pooled"][:6]
    assert compare({"04-how-pooled": [own, own, *others]}, given).pairs, "two of seven"
    assert compare({"04-how-pooled": [own, own, own, *others]}, given).compared == len(others), (
        "three of eight have it"
    )


# ---------------------------------------------------------------- the page


def record(name, exercise, answer):
    return LearnerRecord(
        name,
        f"{name}.html",
        name=name,
        exercises={exercise: Mark(title=exercise, status="passed", points=1, of=1)},
        texts={exercise: answer},
    )


def page_and_rows(folder, *records):
    # (the page, the rows of the table) that `course grade --resemblance` writes of these records
    resemblance.write_resemblance(folder, list(records))
    return (folder / PAGE).read_text(), read_table(folder / TABLE)


PATCHING = "05-patching-map"
ANSWER = INDEPENDENT[PATCHING][2]  # long enough for a passage, with names that a test replaces
HOSTILE = [  # texts that could stop a parser or a browser, or take for ever
    "",
    "x",
    "def f(:\n  '''",
    "<script>alert(1)</script>\n" * 200,
    "x = 1\n" * 1_000_000,
    "\n \t" * 17_000,
    "(" * 50_000,
    "'\0\ud800\u202e</div>" * 3000,
]


@pytest.mark.parametrize("before", ["", ANSWER], ids=["alone", "behind a passage"])
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:8]))
def test_no_text_stops_the_page(tmp_path, text, before):
    page, rows = page_and_rows(
        tmp_path,
        record("ada", PATCHING, before + text),
        record("</p><b>bob", PATCHING, before + text + "<b>y"),
    )
    assert bool(rows) == bool(before), "only behind a passage are the texts on the page"
    assert [markup for markup in ("<script", "<b>", "\u202e") if markup in page] == []
    assert len(page) < 100_000, "a long answer is cut"
    page.encode()  # an error, if half of a character were left in it


@pytest.mark.parametrize(
    "records, words",
    [
        ([], "There is nothing to compare"),
        ([LearnerRecord("ada", "ada.html", name="ada")], "There is nothing to compare"),
        ([record("ada", "04-x", INDEPENDENT["04-baseline"][0])], "No pair shares more"),
    ],
    ids=["nobody", "no answer", "one answer"],
)
def test_a_class_without_a_pair_gets_a_page_that_says_so(tmp_path, records, words):
    page, rows = page_and_rows(tmp_path, *records)
    assert rows == []
    assert words in page


# learners who wrote on their own, with the answers after that one
OTHERS = [
    record(f"other{number}", PATCHING, answer)
    for number, answer in enumerate(INDEPENDENT[PATCHING][3:])
]


def test_shared_parts_are_marked_side_by_side(tmp_path):
    copy = ANSWER.replace("current", "<now>").replace("heatmap", "grid")
    copier = record("=bob", PATCHING, copy)
    page, rows = page_and_rows(tmp_path, record("ada", PATCHING, ANSWER), copier, *OTHERS)
    # the name "=bob" gets a ' in front: without it, a spreadsheet would take it for a formula
    assert {(row["learner"], row["other"]) for row in rows} == {("ada", "'=bob")}
    assert [row["exercise"] for row in rows] == ["all", PATCHING]
    assert int(rows[0]["passage"]) >= PASSAGE
    assert page.count("<mark>") >= 2
    assert re.search(r"<mark>[^<]*n_states = len\(layers\) \+ 1", page)
    assert "&lt;now&gt;" in page
    assert "proves nothing, and changes no mark" in page


@pytest.mark.parametrize(
    "padding",  # longer than what is compared of an answer
    ["# nothing to see here\n" * 400, f'"{"nothing to see " * 600}"\n'],
    ids=["comments", "a string"],
)
def test_what_stands_before_a_copy_does_not_hide_it(tmp_path, padding):
    copier = record("bob", PATCHING, padding + ANSWER)
    _, rows = page_and_rows(tmp_path, record("ada", PATCHING, ANSWER), copier, *OTHERS)
    assert {(row["learner"], row["other"]) for row in rows} == {("ada", "bob")}


@pytest.mark.nightly
@pytest.mark.usefixtures("one_sandbox")
def test_the_command_writes_the_page_if_asked_and_changes_no_mark(tmp_path):
    copied = hand_in(
        "04", mean_pool=INDEPENDENT["04-mean-pool"][1], how_pooled=INDEPENDENT["04-how-pooled"][5]
    )
    write_class(tmp_path / "class", ada=copied, bob=copied, cleo=hand_in("04"))
    out = tmp_path / "out"
    grades = []
    command = ["grade", tmp_path / "class", "--out", out, "--lessons", "04", "--seed", "1"]
    for options, is_written in (([], False), (["--resemblance"], True), ([], False)):
        printed = output_of(*command, *options)
        assert (out / PAGE).exists() == (out / TABLE).exists() == is_written
        assert ("resemblance.html" in printed) == is_written
        grades.append((out / "grades.csv").read_bytes())
    assert len(set(grades)) == 1
