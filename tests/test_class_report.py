"""The class report: its figures against the formulas, every planted mistake, hostile answers, and its links."""

from dataclasses import replace

import nbformat
import pytest

from course_utils._support.notebooks import part_with, parts
from course_utils.exercises import all_exercises
from course_utils.exercises.model import told
from course_utils.tools.grading import class_report
from course_utils.tools.grading.class_report import discrimination, example, items
from course_utils.tools.grading.csv_files import read_table
from course_utils.tools.grading.places import place_of
from course_utils.tools.grading.results import LearnerRecord, Mark
from course_utils.tools.publish.lectures import read_lecture
from course_utils.tools.publish.slides import lectures, render

from .invented_class import PLANTED, planted_class
from .pages import ATTACKS, INVISIBLE, Page

MEAN = next(
    one for one in all_exercises()["04-mean-pool"].mistakes if one.name == "padding_averaged"
)
ENDS = ("failed", "passed")
WRONG = (
    "def my_mean_pool(token_embeddings, attention_mask):\n    return token_embeddings.mean(dim=1)"
)


def learner(one, code=WRONG, name="", email="", **statuses):
    """A record. statuses: by exercise of lesson 04, with "_" for "-"; a failed one makes the mistake MEAN."""
    marks = {}
    for each, status in (statuses or {"mean_pool": "failed"}).items():
        mistakes = [MEAN.message] if status == "failed" else []
        marks[f"04-{each.replace('_', '-')}"] = Mark(
            "Mean", status, int(status == "passed"), 1, mistakes=mistakes
        )
    record = LearnerRecord(
        one, f"{one}.html", name, email, exercises=marks, texts=dict.fromkeys(marks, code)
    )
    record.add_up()
    return record


def page(folder, records, names=False, **addresses):
    class_report.write_report(folder, records, ["04 Pooling"], names, **addresses)
    return Page((folder / "class.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def invented():
    return planted_class()


@pytest.mark.parametrize(
    "passed, rest, why",
    [
        ([True, False, True], [1, 2, 3], "fewer than 4 learners"),
        ([True] * 5, [1, 2, 3, 4, 5], "all alike"),
        ([True, False, True, False], [2, 2, 2, 2], "all alike"),
        ([True, False, True, False], [1, 0, 1, 0], "exactly 1 or -1"),
    ],
)
def test_where_discrimination_is_undefined_it_says_why(passed, rest, why):
    found = discrimination(passed, rest)
    assert (found.value, found.low, found.high) == (None, None, None) and why in found.why


def test_the_rest_leaves_the_exercise_out_and_the_missing_have_no_difficulty():
    records = [learner(f"l{n}", a=ENDS[n % 2], b=ENDS[n < 4]) for n in range(8)]
    records += [learner("late", a="missing", b="passed")]
    one, other = items(records)
    assert one.counts == {"passed": 4, "tried": 8, "not attempted": 0, "missing": 1}
    assert (one.difficulty.value, other.difficulty.value) == (4 / 8, 5 / 9)
    assert one.discrimination.value == pytest.approx(0), "with itself in the sum it would be 0.7"
    assert one.note == "May separate nobody: with 8 answers, the interval includes 0."


def test_what_separates_nobody_is_flagged():
    backwards = [learner(f"l{n}", a=ENDS[n % 2], b=ENDS[(n + 1) % 2]) for n in range(1, 9)]
    backwards.append(learner("l0", a="passed", b="passed"))
    assert "weaker elsewhere" in items(backwards)[0].note
    assert items([learner("a", a="missing")])[0].note == "Nobody tried it."


def test_every_planted_misunderstanding_is_found_with_its_count(invented, tmp_path):
    found = items(invented)
    assert {
        (item.id, one.mistake.name, len(one.who)) for item in found for one in item.mistakes
    } == set(PLANTED)
    counts = {item.id: item.counts for item in found}
    assert counts["04-mean-pool"] == {"passed": 36, "tried": 57, "not attempted": 3, "missing": 0}
    shown = page(tmp_path, invented)
    plan = shown.text.partition("next lecture")[2].partition("Exercises")[0]
    told = [
        "17 of 57 were told: Your mean includes",
        "14 of 57 were told: You average over all",
        "12 of 55 were told: You apply the mask",
    ]
    assert [plan.index(one) for one in told] == sorted(plan.index(one) for one in told)
    assert "31 of 60 learners have at least one of them" in plan
    assert (
        "slide 8 of deck 04, “What if padding counts?”; section “What if padding counts?” of lesson 04"
        in plan
    )
    assert "Ask A sentence of 13 tokens is padded to several lengths, up to 256." in plan, (
        "the question of that slide"
    )
    assert "Person" not in shown.source and "s001" not in shown.source
    rows = read_table(tmp_path / "class.csv")
    listed = {
        (row["exercise"], row["name"], int(row["learners"]))
        for row in rows
        if row["kind"] == "mistake"
    }
    assert listed == set(PLANTED) and not any(row["who"] for row in rows)
    (row,) = (
        row for row in rows if row["kind"] == "exercise" and row["exercise"] == "04-mean-pool"
    )
    assert (row["difficulty"], row["difficulty low"], row["slide"][:2]) == (
        "0.6316",
        "0.5018",
        "8:",
    )


def test_names_are_listed_only_when_asked_for(tmp_path):
    records = [learner("x1", name="Ada Lovelace"), learner("x2", name="<b>Bob</b>")]
    assert "Lovelace" not in page(tmp_path, records).source
    shown = page(tmp_path, records, names=True)
    assert "<b>Bob</b>, Ada Lovelace" in shown.text and "Learners are named" in shown.text
    rows = class_report.table(items(records), names=True)[1]
    assert [row[-1] for row in rows] == ["", "<b>Bob</b>; Ada Lovelace"]


def test_failures_without_a_known_mistake_are_listed_by_their_case_or_as_an_earlier_version_told_them(
    tmp_path,
):
    mark = Mark(
        "Mean", "failed", 0, 1, discreet=["Short lists: it gave 1.", "Short lists: it gave 2."]
    )
    records = [replace(learner(f"l{n}"), exercises={"04-x": mark}) for n in range(3)]
    assert items(records)[0].others == [(3, "Short lists")]
    shown = page(tmp_path, records)
    assert "No answer makes a known mistake" in shown.text and "Short lists (3)" in shown.text
    mark = Mark("Mean", "failed", 0, 1, mistakes=["You did it in an odd way."])
    (made,) = items([replace(learner("a"), exercises={"04-mean-pool": mark})])[0].mistakes
    assert (made.mistake.name, made.mistake.does) == ("", "You did it in an odd way.")


def test_an_example_has_no_comments_docstrings_or_strings_of_its_own():
    code = '# by Ada\ndef f(a):\n    "by Ada"\n    print("Ada", f"I, {a}, Ada", b"Ada")  # Ada\n    return a["mean"]'
    shown = example([(code, {"ada"})], set(), 'way == "mean"')
    assert (
        shown.splitlines()[-1] == "    return a['mean']"
        and "Ada" not in shown
        and "print('…'" in shown
    )


NO_PYTHON = ("%magic", "def f(:", "x = '\0'", "x" * 20_000, "(" * 500, "-" * 4900 + "1", "")


@pytest.mark.parametrize(
    "record",
    [
        learner("ada", "ada_mask = 1"),
        learner("x17", "x17 = 1"),
        learner("x", "lovelace = 1", name="Ada Lovelace"),
        learner("x", "countess1815 = 1", email="countess1815@example.org"),
        learner("x", "jose = 1", name="José"),
        learner("x", "maskada = 1", name="Ada"),
        *(learner("x", code) for code in NO_PYTHON),
    ],
    ids=range(13),
)
def test_answers_that_may_identify_somebody_or_are_no_python_are_no_examples(record, tmp_path):
    assert (
        items([record])[0].mistakes[0].example == ""
        and "No example" in page(tmp_path, [record]).text
    )
    assert items([record, learner("other")])[0].mistakes[0].example == WRONG, "another's is shown"


def test_answers_with_the_name_of_another_learner_are_no_examples_unless_it_is_a_word_of_the_lesson():
    bob, max_ = (learner("x99", "", name=name, mean_pool="passed") for name in ("Bob", "Max"))
    for code, shown in (("bob = 1", ""), ("bobsled = 1", "bobsled = 1"), ("max = 1", "max = 1")):
        assert items([learner("x", code), bob, max_])[0].mistakes[0].example == shown


@pytest.mark.parametrize("text", [*ATTACKS, *INVISIBLE])
def test_hostile_answers_stay_text(text, tmp_path):
    hostile = f"def f(a, b={text!r}):\n    return a < b > '</code><script>alert(1)</script>'"
    mark = {"mistakes": [text], "discreet": [text]}
    records = [learner("a", hostile, name=text), learner("b", text, name=text)]
    records += [
        replace(records[0], exercises={"04-x": Mark(text, "failed", 0, 1, **mark)}, learner=text)
    ]
    shown = page(tmp_path, records, names=True)
    assert not {"script", "b", "form", "iframe"} & {tag for tag, _ in shown.tags}
    assert "<script" not in shown.source and not set(shown.source) & set(
        "\0\x1b\x7f\x85\u202e\u2066\u2028\ufeff"
    )
    assert all(not name.startswith("on") for name, _ in shown.attributes)


def test_a_long_answer_is_cut():
    shown = example(
        [("\n".join(["x = 1"] * 700 + ["y = " + "1 + " * 90 + "1"]), set())], set(), ""
    ).splitlines()
    assert len(shown) == 26 and shown[-1] == "… (676 more lines)"
    assert example([("x = 1\n" * 10_000, set())], set(), "") == ""


@pytest.mark.parametrize(
    "status, words",
    [
        ("passed", "Every answer that was handed in passed."),
        ("failed", "5 of 5 were told: You average over all positions"),
        ("not attempted", "Nobody has tried an exercise yet."),
        ("missing", "Nobody has tried an exercise yet."),
    ],
)
def test_a_class_that_is_all_alike_in_one_exercise(status, words, tmp_path):
    shown = page(tmp_path, [learner(f"l{n}", mean_pool=status) for n in range(5)])
    assert words in shown.text and len(shown.rows("items")) == 1
    assert ("separates nobody" in shown.text) == (status in ("passed", "failed"))


def test_a_class_with_nobody_in_it_and_who_is_not_marked(tmp_path):
    assert (
        "There are no learners yet." in page(tmp_path, []).text
        and class_report.table(items([]))[1] == []
    )
    lost = replace(learner("bob"), points=None)
    assert items([learner("ada"), lost])[0].counts["tried"] == 1
    assert (
        "2 learners, 1 of them not marked yet and not counted below"
        in page(tmp_path, [learner("ada"), lost]).text
    )
    assert "Nobody has tried" in page(tmp_path, [lost]).text


def test_every_exercise_and_mistake_has_a_section_and_a_slide_that_exist():
    decks, written = {}, {path.stem: path for path in lectures().values()}
    for path in parts().values():
        cells = nbformat.read(path, as_version=4).cells
        sections = {
            line for cell in cells for line in cell.source.splitlines() if line.startswith("## ")
        }
        slides = read_lecture(written[path.stem]).slides if path.stem in written else []
        decks[path.stem] = {cell.id for cell in cells}, sections, slides
    for exercise in all_exercises().values():
        own = parts()[part_with(exercise.id)].stem
        family = [deck for stem, deck in decks.items() if stem[:2] == own[:2]]
        for shown_in in {"", told(exercise.id)[1], *(one.shown_in for one in exercise.mistakes)}:
            place = place_of(exercise.id, shown_in)
            assert place and (place.number or not decks[own][2]), (exercise.id, shown_in)
            assert (
                f"## {place.section}" in decks[place.page.partition(".")[0].rpartition("/")[2]][1]
            )
            if place.number:
                shown, _, slides = decks[place.deck.partition(".")[0]]
                assert place.deck.endswith(f".slides.html#/{place.number - 1}")
                assert slides[place.number - 1].title.replace("*", "") == place.slide
            else:  # a further part without a deck
                shown = set()
            shown = shown.union(
                *(ids for ids, _, slides in family if not (place.number and slides))
            )
            assert not shown_in or shown_in.rpartition(" ")[2] in shown, (exercise.id, shown_in)


def test_slides_are_numbered_as_in_the_deck():
    deck, place = render(lectures()["04"]), place_of("04-mean-pool")
    slides = deck.split("<section class=")[1:]
    assert (place.number, place.deck) == (
        8,
        "04_pooling.slides.html#/7",
    ) and "What if padding counts?" in slides[7]
    assert "Nothing fails, nothing warns" in slides[9]
    assert "hash: true" in deck and "hashOneBasedIndex: true" not in deck


def test_places_are_those_that_exercises_and_mistakes_name():
    assert place_of("04-mean-pool", "diagram-broadcast").number == 6
    assert place_of("04-mean-pool", "diagram-broadcast").section == "The average, with the mask"
    shares = place_of("00-shares")
    assert shares.page.startswith("further/00_tensors.html#")
    assert (
        shares.deck == "04_pooling.slides.html#/5"
        and shares.slide == "The fast version: vectors times mask"
    )
    for unknown in (("04-no-such",), ("99-x",), ("", "x"), ("04-mean-pool", "no-such-cell")):
        assert place_of(*unknown) is None


def test_links_lead_to_the_book_and_the_decks_if_they_are_there(tmp_path):
    def links(**more):
        return {
            value
            for name, value in page(tmp_path, [learner("a")], **more).attributes
            if name == "href"
        }

    assert links() == {"summary.html", "#04-mean-pool"}
    for name in ("04_pooling.html", "04_pooling.slides.html"):
        (tmp_path / name).touch()
    for given, book, decks in (
        ({}, "", ""),
        (
            {"book": "https://example.org/book/", "decks": "../decks"},
            "https://example.org/book/",
            "../decks/",
        ),
    ):
        to_lesson = {
            f"{decks}04_pooling.slides.html#/7",
            f"{book}04_pooling.html#what-if-padding-counts",
        }
        assert links(**given) == {"summary.html", "#04-mean-pool"} | to_lesson
    for address in ("", "https://example.org/a", "../decks", "decks", "/home/me/decks"):
        class_report.check_address(address)
    for address in (
        "javascript:alert(1)",
        "data:text/html,x",
        "https://",
        "//evil.org",
        'a"b',
        "a b",
        "https://x y",
    ):
        with pytest.raises(ValueError, match="--book and --decks must be an address"):
            class_report.check_address(address)
