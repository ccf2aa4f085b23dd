"""The class report: its figures against the formulas, every planted mistake, hostile answers, and
its links.
"""

import re
from dataclasses import replace

import pytest

from course_utils._support.notebooks import part_with, parts
from course_utils.exercises import all_exercises
from course_utils.exercises.model import words_of_mistakes
from course_utils.tools.grading import class_report, csv_files, places, results
from course_utils.tools.publish.slides import lectures, render

from .invented_class import PLANTED, planted_class
from .lectures import read
from .pages import ATTACKS, INVISIBLE, Page
from .sources import SOURCES

MEAN_POOL = "04-mean-pool"
(PADDING_AVERAGED,) = [
    mistake for mistake in all_exercises()[MEAN_POOL].mistakes if mistake.name == "padding_averaged"
]
WRONG = (
    "def my_mean_pool(token_embeddings, attention_mask):\n    return token_embeddings.mean(dim=1)"
)


def learner(key, code=WRONG, name="", email="", **statuses):
    """The record of a learner whose answers are all this code.

    statuses: those of exercises of lesson 04, with "_" for the "-" of their ids. A failed answer
    makes the mistake PADDING_AVERAGED. Without any statuses, the learner fails mean_pool.
    """
    statuses = statuses or {"mean_pool": "failed"}
    marks = {}
    for exercise, status in statuses.items():
        mistakes = [PADDING_AVERAGED.message] if status == "failed" else []
        marks[f"04-{exercise.replace('_', '-')}"] = results.Mark(
            "Mean", status, points=int(status == "passed"), of=1, mistakes=mistakes
        )
    record = results.LearnerRecord(
        key, f"{key}.html", name, email, exercises=marks, texts=dict.fromkeys(marks, code)
    )
    record.add_up()
    return record


# The page of a report that is written into the folder. addresses: `book` and `decks`.
def page(folder, records, names=False, **addresses):
    class_report.write_report(folder, records, ["04 Pooling"], names, **addresses)
    return Page((folder / "class.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "passed, rest, why",
    [
        ([True, False, True], [1, 2, 3], "fewer than 4 learners"),
        ([True] * 5, [1, 2, 3, 4, 5], "all alike"),  # in this exercise
        ([True, False, True, False], [2, 2, 2, 2], "all alike"),  # in the points of the others
        ([True, False, True, False], [1, 0, 1, 0], "exactly 1 or -1"),
    ],
)
def test_where_discrimination_is_undefined_it_says_why(passed, rest, why):
    undefined = class_report.discrimination(passed, rest)
    assert undefined == class_report.Figure(why=undefined.why)
    assert why in undefined.why


# half of them passed exercise a and half exercise b, and neither result predicts the other
UNCORRELATED = [
    learner(
        f"l{number}", a="passed" if number % 2 else "failed", b="passed" if number < 4 else "failed"
    )
    for number in range(8)
]


def test_who_lacks_an_exercise_does_not_count_in_its_difficulty():
    exercise_a, exercise_b = class_report.items(
        [*UNCORRELATED, learner("late", a="missing", b="passed")]
    )
    assert exercise_a.counts == {"passed": 4, "tried": 8, "not attempted": 0, "missing": 1}
    # of UNCORRELATED, four of eight passed each; "late" lacks a and passed b
    assert [exercise_a.difficulty.value, exercise_b.difficulty.value] == [4 / 8, 5 / 9]


def test_discrimination_compares_with_the_other_exercises_alone():
    exercise_a, _ = class_report.items(UNCORRELATED)
    assert exercise_a.discrimination.value == pytest.approx(0), "with itself in the sum: 0.7"
    assert exercise_a.note == "May separate nobody: with 8 answers, the interval includes 0."


def test_an_exercise_that_weaker_learners_pass_is_flagged():
    backwards = [
        # without this learner the correlation is exactly -1, and undefined
        learner("l0", a="passed", b="passed"),
        *(learner(f"l{number}", a="failed", b="passed") for number in (2, 4, 6, 8)),
        *(learner(f"l{number}", a="passed", b="failed") for number in (1, 3, 5, 7)),
    ]
    assert "weaker elsewhere" in class_report.items(backwards)[0].note


def test_an_exercise_that_nobody_tried_is_flagged():
    assert class_report.items([learner("a", a="missing")])[0].note == "Nobody tried it."


def test_exercises_count_who_passed_and_who_tried():
    counts = {exercise.id: exercise.counts for exercise in class_report.items(planted_class())}
    # 21 of 60 make one of its PLANTED mistakes, and 3 do not attempt it
    assert counts[MEAN_POOL] == {"passed": 36, "tried": 57, "not attempted": 3, "missing": 0}


@pytest.fixture
def planted_page(tmp_path):
    return page(tmp_path, planted_class())


@pytest.fixture
def planted_rows(planted_page, tmp_path):
    # the table is written together with the page
    return csv_files.read_table(tmp_path / "class.csv")


def test_the_report_says_what_to_teach_again_where_and_what_to_ask_there(planted_page):
    plan = planted_page.text.partition("next lecture")[2].partition("Exercises")[0]
    # Of all learners, and of those who tried an exercise: 3 did not attempt it, and 2 lack those of
    # lesson 05. 17, 14 and 12 are the highest numbers of PLANTED; how many learners have one or
    # more of these mistakes depends on the order that `planted_class` draws.
    counted = r"\d+ of 60 learners have at least one of them|\d+ of \d+ were told:(?: \w+){4}"
    assert re.findall(counted, plan) == [
        "31 of 60 learners have at least one of them",
        "17 of 57 were told: Your mean includes the",
        "14 of 57 were told: You average over all",
        "12 of 55 were told: You apply the mask",
    ]
    title = "“What if padding counts?”"
    assert f"slide 8 of deck 04, {title}; section {title} of lesson 04" in plan
    assert "Ask A sentence of 13 tokens is padded to several lengths, up to 256." in plan


def test_the_table_of_the_report_has_every_planted_mistake(planted_rows):
    listed = {
        (row["exercise"], row["name"], int(row["learners"]))
        for row in planted_rows
        if row["kind"] == "mistake"
    }
    assert listed == set(PLANTED)


def test_the_table_of_the_report_has_the_difficulty_and_the_slide_of_an_exercise(planted_rows):
    (row,) = [row for row in planted_rows if row["exercise"] == MEAN_POOL and not row["name"]]
    # 36 of 57 passed, and the lower end of Wilson's 95% interval
    assert row["difficulty"] == "0.6316"
    assert row["difficulty low"] == "0.5018"
    assert row["slide"].startswith("8:")


def test_the_report_names_nobody(planted_page, planted_rows):
    # the names and a key of `planted_class`
    assert not re.search("Person|s001", planted_page.source + str(planted_rows))


def test_names_are_listed_when_asked_for(tmp_path):
    records = [learner("x1", name="Ada Lovelace"), learner("x2", name="<b>Bob</b>")]
    shown = page(tmp_path, records, names=True)
    assert all(words in shown.text for words in ("<b>Bob</b>, Ada Lovelace", "Learners are named"))
    rows = class_report.table(class_report.items(records), names=True)[1]
    assert [row[-1] for row in rows] == ["", "<b>Bob</b>; Ada Lovelace"]


def test_failures_without_a_known_mistake_are_listed_by_their_case(tmp_path):
    mark = results.Mark(
        "Mean", "failed", 0, 1, discreet=["Short lists: it gave 1.", "Short lists: it gave 2."]
    )
    records = [replace(learner(f"l{number}"), exercises={"04-x": mark}) for number in range(3)]
    assert class_report.items(records)[0].others == [(3, "Short lists")]
    text = page(tmp_path, records).text
    assert re.findall(r"No answer makes a known mistake|Short lists \(3\)", text) == [
        "No answer makes a known mistake",
        "Short lists (3)",
    ]


def test_a_mistake_that_this_version_does_not_know_has_the_words_of_the_earlier_one():
    mark = results.Mark("Mean", "failed", 0, 1, mistakes=["You did it in an odd way."])
    (made,) = class_report.items([replace(learner("a"), exercises={MEAN_POOL: mark})])[0].mistakes
    assert (made.mistake.name, made.mistake.does) == ("", "You did it in an odd way.")


def test_an_example_has_no_comments_docstrings_or_strings_of_its_own():
    code = (
        '# by Ada\ndef f(a):\n    "by Ada"\n    print("Ada", f"I, {a}, Ada", b"Ada")  # Ada\n'
        '    return a["mean"]'
    )
    shown = class_report.example([(code, {"ada"})], class_names=set(), lesson='way == "mean"')
    assert shown.splitlines()[-1] == "    return a['mean']", "the lesson has this string"
    # an ellipsis stands for each string, and the name is nowhere
    assert re.findall(r"Ada|print\('…'", shown) == ["print('…'"]


OTHER = learner("other")
NO_EXAMPLES = {
    # they may identify the learner
    "key": learner("ada", "ada_mask = 1"),
    "key with digits": learner("x17", "x17 = 1"),
    "surname": learner("x", "lovelace = 1", name="Ada Lovelace"),
    "address": learner("x", "countess1815 = 1", email="countess1815@example.org"),
    "name without its accent": learner("x", "jose = 1", name="José"),
    "name within a word": learner("x", "maskada = 1", name="Ada"),
    # they are no Python, too long, or empty
    "magic": learner("x", "%magic"),
    "syntax error": learner("x", "def f(:"),
    "null byte": learner("x", "x = '\0'"),
    "too long": learner("x", "x" * 20_000),  # more than class_report.LONGEST
    "unclosed": learner("x", "(" * 500),
    "nested too deeply": learner("x", "-" * 4900 + "1"),  # not too long, but parsing fails
    "empty": learner("x", ""),
}


def example_of(*records):
    # the example of the first mistake in the first exercise of these records
    return class_report.items(records)[0].mistakes[0].example


@pytest.mark.parametrize("record", NO_EXAMPLES.values(), ids=NO_EXAMPLES)
def test_answers_that_may_identify_somebody_or_cannot_be_read_are_no_examples(record, tmp_path):
    assert "No example" in page(tmp_path, [record]).text
    assert example_of(record) == ""
    assert example_of(record, OTHER) == WRONG, "the other learner's answer is shown"


@pytest.mark.parametrize(
    "code, shown",
    [
        ("bob = 1", ""),
        ("bobsled = 1", "bobsled = 1"),  # another's name counts only as a whole word
        ("max = 1", "max = 1"),  # Max is a learner, but max a word of the lesson
    ],
)
def test_answers_with_the_name_of_another_learner_are_no_examples(code, shown):
    others = [learner("x99", "", name=name, mean_pool="passed") for name in ("Bob", "Max")]
    assert example_of(learner("x", code), *others) == shown


@pytest.mark.parametrize("text", [*ATTACKS, *INVISIBLE])
def test_hostile_answers_stay_text(text, tmp_path):
    hostile = f"def f(a, b={text!r}):\n    return a < b > '</code><script>alert(1)</script>'"
    mark = results.Mark(text, "failed", 0, 1, mistakes=[text], discreet=[text])
    # in the code, in the name, and wherever a mark has text
    hostile_code = learner("a", hostile, name=text)
    hostile_key = replace(hostile_code, exercises={"04-x": mark}, learner=text)
    shown = page(tmp_path, [hostile_code, learner("b", text, name=text), hostile_key], names=True)
    assert not {"script", "b", "form", "iframe"} & {tag for tag, _ in shown.tags}
    assert "<script" not in shown.source and not {*INVISIBLE} & {*shown.source}
    assert all(not name.startswith("on") for name, _ in shown.attributes)


@pytest.mark.parametrize(
    "status, words, separates",
    [
        ("passed", "Every answer that was handed in passed.", ["All right: it separates nobody"]),
        (
            "failed",
            "5 of 5 were told: You average over all positions",
            ["All wrong: it separates nobody"],
        ),
        ("not attempted", "Nobody has tried an exercise yet.", []),
        ("missing", "Nobody has tried an exercise yet.", []),
    ],
)
def test_the_page_says_where_a_class_is_all_alike_in_an_exercise(
    status, words, separates, tmp_path
):
    shown = page(tmp_path, [learner(f"l{number}", mean_pool=status) for number in range(5)])
    assert words in shown.text
    assert len(shown.rows("items")) == 1
    # the second alternative finds what is said without "All right" or "All wrong"
    assert re.findall(r"All \w+: it separates nobody|separates nobody", shown.text) == separates


def test_the_page_of_a_class_with_nobody_in_it_says_so(tmp_path):
    assert "There are no learners yet." in page(tmp_path, []).text


def test_who_is_not_marked_is_not_counted(tmp_path):
    not_marked = replace(learner("bob"), points=None)
    records = [learner("ada"), not_marked]
    assert class_report.items(records)[0].counts["tried"] == 1
    shown = page(tmp_path, records)
    assert "2 learners, 1 of them not marked yet and not counted below" in shown.text
    assert "Nobody has tried" in page(tmp_path, [not_marked]).text


def cells_named_by(exercise):
    """The cells that an exercise and its mistakes name; "" leaves the cell to the exercise."""
    _, cell_of_exercise = words_of_mistakes(exercise.id)
    return sorted({"", cell_of_exercise, *(mistake.shown_in for mistake in exercise.mistakes)})


SHOWN_IN = [
    (exercise.id, cell)
    for exercise in all_exercises().values()
    for cell in cells_named_by(exercise)
]
each_shown = pytest.mark.parametrize("exercise_id, shown_in", SHOWN_IN)


@each_shown
def test_each_place_is_in_a_section_of_its_lesson(exercise_id, shown_in):
    place = places.place_of(exercise_id, shown_in)
    sources = [cell.source for cell in SOURCES[place.lesson].cells]
    assert f"## {place.section}" in "\n".join(sources).splitlines()


@each_shown
def test_each_place_is_on_a_slide_if_its_part_has_a_lecture(exercise_id, shown_in):
    place = places.place_of(exercise_id, shown_in)
    assert place.slide_number or part_with(exercise_id) not in lectures()
    if place.slide_number:
        lecture = read(parts()[place.deck_lesson].stem)
        assert place.deck == f"{lecture.lesson}.slides.html#/{place.slide_number - 1}"
        assert place.slide == lecture.slides[place.slide_number - 1].title.replace("*", "")


def test_slides_are_numbered_as_in_the_deck():
    deck = render(lectures()["04"])
    slides = deck.split("<section class=")[1:]
    # without hashOneBasedIndex, addresses count from 0, as this list does
    assert places.place_of(MEAN_POOL).deck == "04_pooling.slides.html#/7"
    assert "What if padding counts?" in slides[7]
    assert "Nothing fails, nothing warns" in slides[9]
    assert re.findall("(hash|hashOneBasedIndex): true", deck) == ["hash"]


def test_an_exercise_and_a_cell_lead_to_a_section_and_a_slide():
    place = places.place_of("04-mean-pool", "diagram-broadcast")
    assert place.slide_number == 6
    assert place.section == "The average, with the mask"


def test_an_exercise_of_a_further_part_may_name_a_slide_of_another_part():
    place = places.place_of("00-shares")
    assert place.page.startswith("further/00_tensors.html#")
    assert place.deck == "04_pooling.slides.html#/5"
    assert place.slide == "The fast version: vectors times mask"


@pytest.mark.parametrize(
    "exercise_id, shown_in",
    [("04-no-such", ""), ("99-x", ""), ("", "x"), ("04-mean-pool", "no-such-cell")],
)
def test_an_unknown_exercise_or_cell_has_no_place(exercise_id, shown_in):
    assert places.place_of(exercise_id, shown_in) is None


def test_links_lead_to_the_book_and_the_decks_if_they_are_there(tmp_path):
    def links(**addresses):
        soup = page(tmp_path, [learner("a")], **addresses).soup
        return {link["href"] for link in soup.select("[href]")}

    slide, section = "04_pooling.slides.html#/7", "04_pooling.html#what-if-padding-counts"
    own_links = links()
    assert own_links == {"summary.html", "#04-mean-pool"}
    for name in ("04_pooling.html", "04_pooling.slides.html"):
        (tmp_path / name).touch()
    assert links() == {*own_links, slide, section}
    elsewhere = links(book="https://example.org/book/", decks="../decks")
    assert elsewhere == {*own_links, f"../decks/{slide}", f"https://example.org/book/{section}"}


@pytest.mark.parametrize(
    "address", ["", "https://example.org/a", "../decks", "decks", "/home/me/decks"]
)
def test_addresses_of_folders_and_of_pages_are_accepted(address):
    class_report.check_address(address)


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "https://",
        "//evil.org",
        'a"b',
        "a b",
        "https://x y",
    ],
)
def test_other_addresses_are_refused(address):
    with pytest.raises(ValueError, match="--book and --decks must be an address"):
        class_report.check_address(address)
