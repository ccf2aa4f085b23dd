"""`course grade --resemblance`: planted copies come first, and learners who wrote on their own are hardly ever listed.

The classes are invented. Each learner's answer to an exercise is drawn from those of tests/grading/independent, written
apart in different styles. So every answer has about nine owners in a class of 60, long ones too.
"""

import ast
import csv
import random
import re
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner

from course_utils.tools import cli
from course_utils.tools.grading import resemblance
from course_utils.tools.grading.resemblance import (
    PAGE,
    PASSAGE,
    TABLE,
    compare,
    fingerprints,
    given_out,
)
from course_utils.tools.grading.results import LearnerRecord, Mark

from . import grader
from .grader import hand_in, write_class

LESSONS = ("04", "05", "08")
HERE = Path(__file__).parent
ROOM = Path(resemblance.__file__).parent
STATED = (ROOM / "templates/resemblance.html.j2").read_text(), (ROOM / "README.md").read_text()
one_sandbox = grader.one_sandbox


def independent():
    """The answers written apart, by exercise."""
    found = {}
    for lesson in LESSONS:
        text = (HERE / f"grading/independent/lesson_{lesson}.md").read_text()
        for part in text.split("\n### ")[1:]:
            found[part.split("\n", 1)[0]] = re.findall(
                r"^```python\n(.*?)^```", part, re.DOTALL | re.MULTILINE
            )
    return found


APART = independent()


def invented(rng, size=60):
    return {one: [rng.choice(answers) for _ in range(size)] for one, answers in APART.items()}


def planted(texts, rng, copies=3):
    """Let some learners copy all answers of another one, in disguise. Returns the pairs."""
    places = rng.sample(range(len(texts["04-baseline"])), 2 * copies)
    pairs = list(zip(places[::2], places[1::2]))
    for answers in texts.values():
        for one, other in pairs:
            answers[other] = disguised(answers[one], rng)
    return {tuple(sorted(pair)) for pair in pairs}


def disguised(text, rng):
    """A text with other names and layout, without comments, and with two lines exchanged that are independent."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    for body in (node.body for node in nodes if isinstance(node, ast.FunctionDef)):
        for place, (first, second) in enumerate(zip(body, body[1:])):
            if isinstance(first, ast.Assign) and independent_of(first, second):
                body[place : place + 2] = second, first
                break
    arguments = [node for node in nodes if isinstance(node, ast.arg)]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    given = {node.arg for node in arguments} | {
        node.id for node in names if isinstance(node.ctx, ast.Store)
    }
    other_names = {
        name: f"{rng.choice('abcdefgh')}_{number}" for number, name in enumerate(sorted(given))
    }
    for node in arguments:
        node.arg = other_names[node.arg]
    for node in names:
        node.id = other_names.get(node.id, node.id)
    return ast.unparse(tree) + "\n"


def independent_of(first, second):
    # whether two lines may be exchanged: both assign, and neither uses what the other assigns
    def names(node, *kinds):
        return {
            part.id
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, kinds)
        }

    shared = names(first, ast.Store, ast.Load) & names(second, ast.Store, ast.Load)
    assigned = names(first, ast.Store) | names(second, ast.Store)
    return isinstance(second, ast.Assign) and not shared & assigned


@pytest.fixture(scope="module", autouse=True)
def quick():
    """Answers are drawn again and again, and cells of lessons read: each is taken apart once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resemblance, "fingerprints", cache(fingerprints))
        yield


@pytest.fixture(scope="module")
def given(quick):
    return given_out(LESSONS)


def figures(classes, given):
    """How many of some random classes have a false alarm, and in how many all planted copies come first."""
    alarms = first = 0
    for seed in range(classes):
        alarms += any(pair.above for pair in compare(invented(random.Random(seed)), given).pairs)
        texts = invented(random.Random(seed))
        copies = planted(texts, random.Random(seed))
        pairs = compare(texts, given).pairs[:3]
        first += {pair.places for pair in pairs} == copies and all(pair.above for pair in pairs)
    return alarms, first


@pytest.mark.nightly
def test_the_figures_that_page_and_readme_state(given):
    alarms, first = figures(100, given)
    print(f"of 100 classes, {alarms} have a false alarm, in {first} the copies come first")
    assert all(
        f"of 100 invented classes of 60, {alarms} had one" in " ".join(text.split())
        for text in STATED
    )
    assert f"in {first} of them, the three copies came first" in " ".join(STATED[1].split())


def test_answers_written_apart_share_no_long_passage(given):
    pairs = []
    for answers in APART.values():
        own = [fingerprints(text) - given for text in answers]
        pairs += [len(one & other) for one, other in combinations(own, 2)]
    print(f"{len(pairs)} pairs of answers share at most {max(pairs)} fingerprints")
    assert max(pairs) < PASSAGE / 4
    assert f"at most {max(pairs)} (in {len(pairs)} pairs" in STATED[0]


def test_names_layout_and_brackets_hide_nothing():
    one = "def f(values):\n    total = sum(values)\n    return (total / len(values))\n"
    other = "def g( xs ):\n\n    s = sum( xs, )  # added up\n    return s/len(xs)\n"
    assert fingerprints(one) == fingerprints(other) != set()
    assert fingerprints(one) != fingerprints(one.replace("/", "*"))


def test_a_long_comment_counts_and_a_short_one_does_not():
    words = "because the padding would pull the mean of short sentences"
    assert len(fingerprints(f"# {words}\nx = 1")) == len(fingerprints(f"x = '{words}'")) == 3
    assert not fingerprints("# the padding would pull\nx = 1")


def test_what_was_given_and_what_many_have_is_nobodys_own(given):
    answer, own = grader.solutions("04")["04-how-pooled"], APART["04-how-pooled"][5]
    assert not fingerprints(answer) - given
    assert not compare({"04-how-pooled": [answer] * 2}, given).compared
    assert compare({"04-how-pooled": [own] * 2 + APART["04-how-pooled"][:5]}, given).pairs
    assert (
        not compare({"04-how-pooled": [own] * 3 + APART["04-how-pooled"][:5]}, given).compared - 5
    )


# ---------------------------------------------------------------- the page


def record(name, **answers):
    marks = {one: Mark(title=one, status="passed", points=1, of=1) for one in answers}
    return LearnerRecord(name, f"{name}.html", name=name, exercises=marks, texts=answers)


def written(folder, *records):
    resemblance.write_resemblance(folder, list(records))
    with open(folder / TABLE, newline="") as file:
        return (folder / PAGE).read_text(), list(csv.DictReader(file))


HOSTILE = [
    "",
    "x",
    "def f(:\n  '''",
    "<script>alert(1)</script>\n" * 200,
    "x = 1\n" * 1_000_000,
    "\n \t" * 17_000,
]
HOSTILE += ["(" * 50_000, "'\0\ud800\u202e</div>" * 3000]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:8]))
def test_no_text_stops_the_page(tmp_path, text):
    page, rows = written(
        tmp_path, record("ada", **{"04-x": text}), record("</p><b>bob", **{"04-x": text + "y"})
    )
    assert (
        "<script" not in page and "<b>" not in page and "\u202e" not in page and len(page) < 100_000
    )
    page.encode()


@pytest.mark.parametrize(
    "records", [[], [record("ada")], [record("ada", **{"04-x": APART["04-baseline"][0]})]]
)
def test_a_class_without_a_pair(tmp_path, records):
    page, rows = written(tmp_path, *records)
    assert rows == [] and ("There is nothing to compare" in page or "No pair shares more" in page)


def test_shared_parts_are_marked_side_by_side(tmp_path):
    answer = APART["05-patching-map"][2]
    others = [
        record(f"other{n}", **{"05-patching-map": text})
        for n, text in enumerate(APART["05-patching-map"][3:])
    ]
    copy = answer.replace("current", "<now>").replace("heatmap", "grid")
    ada, bob = (
        record(name, **{"05-patching-map": text})
        for name, text in (("ada", answer), ("=bob", copy))
    )
    page, rows = written(tmp_path, ada, bob, *others)
    assert {(row["learner"], row["other"]) for row in rows} == {("ada", "'=bob")}
    assert [row["exercise"] for row in rows] == ["all", "05-patching-map"] and int(
        rows[0]["passage"]
    ) >= PASSAGE
    assert (
        page.count("<mark>") >= 2
        and "&lt;now&gt;" in page
        and "proves nothing, and changes no mark" in page
    )
    assert re.search(r"<mark>[^<]*n_states = len\(layers\) \+ 1", page)


@pytest.mark.parametrize(
    "padding", ["# nothing to see here\n" * 400, f'"{"nothing to see " * 600}"\n']
)
def test_what_stands_before_a_copy_does_not_hide_it(tmp_path, padding):
    answer = APART["05-patching-map"][2]
    ada, bob = (
        record("ada", **{"05-patching-map": answer}),
        record("bob", **{"05-patching-map": padding + answer}),
    )
    others = [
        record(f"other{n}", **{"05-patching-map": text})
        for n, text in enumerate(APART["05-patching-map"][3:])
    ]
    page, rows = written(tmp_path, ada, bob, *others)
    assert {(row["learner"], row["other"]) for row in rows} == {("ada", "bob")}


@pytest.mark.nightly
def test_the_command_writes_it_and_changes_no_mark(tmp_path, one_sandbox):
    copied = hand_in("04", mean_pool=APART["04-mean-pool"][1], how_pooled=APART["04-how-pooled"][5])
    write_class(tmp_path / "class", ada=copied, bob=copied, cleo=hand_in("04"))
    command = [
        "grade",
        str(tmp_path / "class"),
        "--out",
        str(tmp_path / "out"),
        "--lessons",
        "04",
        "--seed",
        "1",
    ]
    grades = []
    for more, there in (([], False), (["--resemblance"], True), ([], False)):
        done = CliRunner().invoke(cli.main, [*command, *more])
        assert done.exit_code == 0, done.output
        assert (tmp_path / "out" / PAGE).exists() == (tmp_path / "out" / TABLE).exists() == there
        assert ("resemblance.html" in done.output) == there
        grades.append((tmp_path / "out/grades.csv").read_bytes())
    assert len(set(grades)) == 1
