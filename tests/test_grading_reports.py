"""The grader's pages match the records, show text as text, and hide what is not meant for their reader."""

import re
import statistics
import unicodedata
from pathlib import Path

import pytest

from course_utils._support.colours import contrast
from course_utils.tools.grading import reports
from course_utils.tools.grading.results import HandMarkedCell, Remark

from .pages import ATTACKS, FORGOT, INVISIBLE, MARK_STATUSES, Page, invented, learner, mark

TITLES = {"04": "04 Pooling", "06-awkward": "06 Similarity, further"}


def hostile(text):
    """A learner with this text in every field that can hold it."""
    failed = mark(
        "failed",
        title=text,
        discreet=[text, f"{text} too"],
        mistakes=[text],
        reason=text,
        messages=[text],
    )
    same = dict.fromkeys(("learner", "name", "reason"), text) | dict.fromkeys(
        ("notes", "problems", "files"), [text]
    )
    return learner(
        status="unreadable",
        exercises={
            f"04-{text}": failed,
            f"{text}-06": mark("missing", title=text, discreet=[text]),
        },
        by_hand={f"12-{text}": HandMarkedCell(8, text, points=1.5, comment=text)},
        remarks={f"04-{text}": Remark(0, text), f"{text}-06": Remark(0, text, 1)},
        **same,
    )


def feedback(folder, record):
    reports.write_feedback(folder, [record], TITLES)
    return Page((folder / record.page).read_text(encoding="utf-8"))


def summary(folder, learners):
    reports.write_summary(folder / "summary.html", learners, TITLES, isolated=True)
    return Page((folder / "summary.html").read_text(encoding="utf-8"))


def both(folder, record):
    return feedback(folder, record), summary(folder, [record])


def numbers_of_tags(page):
    # texts may contain code tags
    return {tag: sum(each == tag for each, _ in page.tags) for tag, _ in page.tags if tag != "code"}


# --- all text from learners is escaped


@pytest.fixture(scope="module")
def tame_pages(tmp_path_factory):
    return both(tmp_path_factory.mktemp("tame"), hostile("tame"))


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_came_from_learners_is_never_markup(attack, tame_pages, tmp_path):
    for page, tame in zip(both(tmp_path, hostile(attack)), tame_pages, strict=True):
        assert numbers_of_tags(page) == numbers_of_tags(tame)
        assert {name for name, _ in page.attributes} == {name for name, _ in tame.attributes}
        assert page.text.count(attack.strip("`").strip()) >= tame.text.count("tame") > 2
        assert page.source.count("</style>") == 1 and "<script" not in page.source


def test_templates_cannot_forget_to_escape():
    assert (
        reports.PAGES.from_string("{{ text }}")
        .render(text="<b>\0" + "x" * 9999)
        .startswith("&lt;b&gt;⟨U+0000⟩xxx")
    )
    assert len(reports.PAGES.from_string("{{ text }}").render(text="x" * 9999)) < 2100


@pytest.mark.parametrize("character", INVISIBLE, ids=ascii)
def test_invisible_characters_are_named(character, tmp_path):
    for page in both(tmp_path, hostile(f"a{character}b")):
        assert {unicodedata.category(one) for one in page.source} & {
            "Cc",
            "Cf",
            "Cs",
            "Zl",
            "Zp",
        } <= {"Cc"}
        assert not set(page.source) & (
            {chr(code) for code in [*range(32), *range(127, 160)]} - {"\n", "\t"}
        )
        assert f"a⟨U+{ord(character):04X}⟩b" in page.text


def test_long_texts_and_long_lists_are_cut(tmp_path):
    long = "lang " * 20_000
    many = {"04-x": mark("failed", discreet=[f"{n}: {long}" for n in range(999)])}
    lists = {"problems": ["x" * 5000] * 999, "files": ["f"] * 9999, "notes": ["n"] * 9999}
    for record in (hostile(long), learner(exercises=many, **lists)):
        for page in both(tmp_path, record):
            assert len(page.source) < 200_000
    exercises = {"04-x": mark("failed", discreet=["z" * 100_000])}
    by_hand = {"14-report": HandMarkedCell(8, "\0" * 100_000, points=1)}
    page = feedback(tmp_path, learner(exercises=exercises, by_hand=by_hand))
    assert "z" * 2000 + " … (98,000 more characters)" in page.text and "z" * 2001 not in page.text
    assert page.text.count("⟨U+0000⟩") == 20_000 and "(80,000 more characters)" in page.text


def test_pages_run_nothing_and_fetch_nothing(tame_pages, tmp_path):
    for page in (*tame_pages, summary(tmp_path, [])):
        assert page.source.startswith("<!DOCTYPE html>") and ("html", {"lang": "en"}) in page.tags
        heads = [each for tag, each in page.tags if tag == "meta"]
        (policy,) = [
            each["content"] for each in heads if each.get("http-equiv") == "Content-Security-Policy"
        ]
        assert {"default-src 'none'", "style-src 'unsafe-inline'"} <= set(policy.split("; "))
        assert "script-src" not in policy and "img-src" not in policy
        assert not {"script", "link", "iframe", "object", "form", "base"} & {
            tag for tag, _ in page.tags
        }
        addresses = [value for name, value in page.attributes if name in ("src", "href")]
        assert all(one.startswith(("feedback/", "class.html")) for one in addresses)
        assert "url(" not in page.source and "@import" not in page.source


# --- feedback


def test_feedback_says_what_was_found(tmp_path):
    wrong = {"mistakes": [FORGOT], "discreet": ["Padding: wrong.", FORGOT]}
    exercises = {
        "04-mean-pool": mark(discreet=["3 properties hold, on 12 inputs drawn for this check."]),
        "04-max-pool": mark("failed", title="Max pooling", **wrong),
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
    for text in expected.splitlines():
        assert text in page.text, text
    assert "# Mine\n  indented</div>" in page.source and re.search(
        r"\.text \{[^}]*pre-wrap", page.source
    )
    assert "<li>You forget the <code>mask</code>.</li>\n<li>Padding: wrong.</li>" in page.source
    assert page.text.count("You forget the") == 1
    for one, tries in (
        ("04-mean-pool", 0),
        ("04-max-pool", 1),
        ("06-cosine", 1),
        ("06-mean-cosine", 1),
    ):
        assert page.text.count(f'check("{one}", ...)') == page.text.count(f'hint("{one}")') == tries


@pytest.mark.parametrize(
    "status, words",
    [
        *(
            ("timeout", "did not finish in time"),
            ("memory", "more memory"),
            ("crashed", "ended the Python process"),
        ),
        *(("unreadable", "could not be read"), ("unreadable cell", "could not be read")),
        *(
            ("missing exercise", "no answer to mark"),
            ("nothing handed in", "Nothing was handed in"),
        ),
    ],
)
def test_feedback_says_what_happened_in_plain_words(status, words, tmp_path):
    assert words not in feedback(tmp_path, learner()).text
    page = feedback(tmp_path, learner(status=status, reason="a cause", exercises={}))
    assert words in page.text and ("a cause" in page.text) == (
        status not in ("missing exercise", "nothing handed in")
    )


def test_a_lesson_that_is_missing_whole_says_what_to_do_once(tmp_path):
    page = feedback(
        tmp_path,
        learner(exercises={"04-a": mark("missing"), "04-b": mark("missing"), "06-c": mark()}),
    )
    assert (
        page.text.count("your submission has no exercise of this lesson")
        == page.text.count("What to do next")
        == 1
    )
    broken = mark("missing", discreet=["There is no answer to mark."])
    page = feedback(tmp_path, learner(exercises={"04-a": mark("missing"), "04-b": broken}))
    assert "no exercise of this lesson" not in page.text and page.text.count("What to do next") == 2


def test_hidden_inputs_and_other_learners_stay_out(tmp_path):
    record = learner(notes=["the same file as bob"])
    shown, told = both(tmp_path, record)
    for page in (shown, told):
        assert "0.125" not in page.source and "987654321" not in page.source
    assert "bob" not in shown.source and "the same file as bob" in told.text


def test_only_these_learners_have_pages(tmp_path):
    (tmp_path / "bob.html").write_text("before")
    reports.write_feedback(tmp_path, [learner("ada"), learner("eve")], TITLES)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ada.html", "eve.html"]


# --- the class


@pytest.mark.parametrize("count", [1, 31])
def test_the_summary_counts_right(count, tmp_path):
    learners = invented(count)
    page = summary(tmp_path, learners)
    shares = [each.points / 6 for each in learners]
    full = sum(each.points == 6 for each in learners)
    assert f"mean of 6 points {100 * statistics.mean(shares):.1f}%" in page.text
    assert (
        f"median {100 * statistics.median(shares):.1f}% with full points {full} of {count}"
        in page.text
    )
    assert "count as 0 points" not in page.text
    waiting = summary(tmp_path, [learner(by_hand={"14-report": HandMarkedCell(8, "Mine.")})])
    assert "count as 0 points" in waiting.text and "text to mark by hand 1" in waiting.text
    tenths = [
        sum(low <= 10 * share < low + 1 or low == 9 and share == 1 for share in shares)
        for low in range(10)
    ]
    assert [row[1] for row in page.rows("scores")] == list(map(str, tenths)) and sum(
        tenths
    ) == count
    assert (
        page.rows("scores")[0][0] == "0 to below 10%" and page.rows("scores")[9][0] == "90 to 100%"
    )

    assert [row[2] for row in page.rows("class")] == [one.status for one in learners]
    assert [row[1] for row in page.rows("class")] == [
        f"{one.points} of {one.of}" for one in learners
    ]
    rows, known = page.rows("exercises"), {one for each in learners for one in each.exercises}
    assert [row[0].split()[-1] for row in rows] == [
        one for one in ("04-mean-pool", "04-max-pool", "06-cosine") if one in known
    ]
    for row in rows:
        states = [
            each.exercises.get(row[0].split()[-1], mark("missing")).status for each in learners
        ]
        assert row[1:5] == [str(states.count(status)) for status in MARK_STATUSES]
        assert row[5] == f"{100 * states.count('passed') / count:.0f}%"

    statuses = [each.status for each in learners]
    assert sorted(page.rows("statuses")) == sorted(
        [status, str(statuses.count(status))] for status in set(statuses)
    )
    odd = [each for each in learners if each.status != "ok"]
    # of which all are about the same file
    odd += [each for each in learners if each.status == "ok" and each.notes]
    assert [row[0] for row in page.rows("look-at")] == [each.name for each in odd]
    links = [value for name, value in page.attributes if name == "href"]
    assert links == ["class.html", *(f"feedback/{each.page}" for each in (*odd, *learners))]
    assert f"to review {len(odd)}" in page.text


def test_links_lead_to_the_pages(tmp_path):
    page = summary(tmp_path, [learner(page='a b&"#?ü.html', notes=["odd"])])
    assert ("href", "feedback/a%20b%26%22%23%3F%C3%BC.html") in page.attributes


def test_an_empty_class_and_one_without_exercises_or_points(tmp_path):
    page = summary(tmp_path, [])
    assert (
        "learners 0" in page.text
        and "There are no learners yet." in page.text
        and not page.soup("table")
    )
    page = summary(tmp_path, [learner(points=0, exercises={}, status="nothing handed in")])
    assert "No exercises were handed in." in page.text and page.rows("statuses") == [
        ["nothing handed in", "1"]
    ]
    nothing = {"points": 0, "of": 0}
    of_nothing, bob = (
        learner(exercises={"04-x": mark(**nothing)}, **nothing),
        learner("bob", exercises={}, **nothing),
    )
    page = summary(tmp_path, [of_nothing, bob])
    assert (
        "These lessons give no points" in page.text
        and "0 of 0 points" in feedback(tmp_path, bob).text
    )
    assert page.rows("exercises") == [["Mean pooling 04-x", "1", "0", "0", "1", "no points"]]


def test_text_stands_out_from_its_ground():
    css = (Path(reports.__file__).parent / "templates" / "page.css").read_text()
    light, dark, printed = re.findall(r":root {([^}]*)}", css)
    texts, grounds = (
        re.findall(rf"(?<![-\w]){what}: var\(--(\w+)\)", css) for what in ("color", "background")
    )
    assert len(texts) >= 7 and len(grounds) >= 4 and not re.search(r"(?<![-\w])color: #", css)
    assert light.replace("light dark", "light") == printed
    for mode in (light, dark):
        named = dict(re.findall(r"--(\w+): (#\w{6});", mode))
        assert (
            min(contrast(named[text], named[ground]) for text in texts for ground in grounds) >= 4.5
        )
