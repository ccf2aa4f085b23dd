"""`make verdicts` varies what the lessons conclude; its list fits them, and covers their recaps.

The list is verdicts.toml; verdicts.py explains its keys.
"""

import re
from contextlib import nullcontext
from types import SimpleNamespace
from unittest.mock import Mock

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course_utils._support.notebooks import lesson_cells, parts

from . import verdicts
from .sources import DIVIDED, SOURCES

LISTED = verdicts.verdicts()
# a word by which a sentence of a recap compares
COMPARES = re.compile(
    r"\b(ahead|apart|behind|best|better|clear(ly)?|equal|fewer|gain(s|ed)?|hardly|higher|highest|largest?|larger|least|"
    r"less|level|longer|lost|lower|lowest|more|most|mostly|nearer|nearest|no difference|only|rises?|rose|shorter|"
    r"smaller|than|usually|worse|worst)\b"
)
# Five cells: imports; numbers that hang on a seed, and how often they were drawn anew; texts, and a
# table with a row for each; a list; and the last cell, which changes the list in place.
LESSON = """
import itertools, numpy as np, pandas as pd
counter = itertools.count()
===
drawn = np.random.default_rng(3).normal(1, 1, size=40)
drawn_anew = next(counter)
===
texts, kinds = [f"text {number}" for number in range(40)], pd.DataFrame({"word": np.repeat([*"abcd"], 10)})
def number_of_texts(): return len(texts)
===
seen = []
===
seen.append(drawn.mean())
lengths = np.array([float(text.split()[1]) for text in texts])
"""


# Makes LESSON the only lesson, in the current folder. `judged` would wrap the course's `embed` for
# all later tests; here it leaves it as it is.
@pytest.fixture
def small_lesson(tmp_path, monkeypatch):
    cells = [
        new_code_cell(source, id=name)
        for name, source in zip(
            ("setup", "draw", "texts", "seen", "end"), LESSON.split("===\n"), strict=True
        )
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "01_small.ipynb")
    monkeypatch.setattr(verdicts, "parts", lambda: {"01": tmp_path / "01_small.ipynb"})
    monkeypatch.setattr(verdicts, "remembering", lambda embed: embed)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def vary(small_lesson, monkeypatch):
    """A function that varies one claim about the last cell of LESSON.

    Its keywords are keys of verdicts.toml. It returns (variations that turn the claim, what went
    wrong or ""), as `judged` does.
    """

    def varied(claim, **variation):
        verdict = verdicts.Verdict("01", "as it says", "end", claim, **variation)
        monkeypatch.setattr(verdicts, "verdicts", lambda: {"01": [verdict]})
        results, _ = verdicts.judged("01")
        ((_, turned, wrong),) = results
        return turned, wrong

    return varied


OTHER_SEEDS = {"swap": ("draw", "default_rng(3)", "default_rng({})")}


def test_a_conclusion_that_hangs_on_the_seed_is_turned_by_others(vary):
    # The numbers are drawn around 1, so their mean is above 1 as often as below.
    assert vary("drawn.mean() > 0", **OTHER_SEEDS) == ([], "")
    turned, wrong = vary("drawn.mean() > 1", **OTHER_SEEDS)
    assert 2 <= len(turned) <= 8, "of ten"
    assert turned[0].startswith("default_rng(")
    # with seed 3 it may be false already
    assert wrong in ("", "It is not true in the lesson itself.")


# Claims that are true in each variation of the lesson: with all 40 texts, and with a half of them.
TRUE_CLAIMS = {
    "what_a_cell_changes_in_place_starts_afresh": ("len(seen) == 1", OTHER_SEEDS),
    "a_half_has_the_same_rows_of_all_names": (
        "len(texts) in (20, 40) and len(lengths) == len(texts) == len(kinds)",
        {"half": "texts, kinds"},
    ),
    "a_function_beside_what_is_halved_sees_the_half": (
        "number_of_texts() == len(texts)",
        {"half": "texts"},
    ),
    "a_half_of_groups_keeps_them_whole": (
        "set(kinds['word'].value_counts()) == {10} and len(kinds) in (20, 40)"
        " and len(texts) == len(kinds)",
        {"half": "kinds, texts", "by": "word"},
    ),
    "a_cell_that_must_also_run_runs_again": (
        "len(texts) == 40 or drawn_anew > 0",
        {"half": "texts", "also": ("draw",)},
    ),
}


@pytest.mark.parametrize("claim, variation", TRUE_CLAIMS.values(), ids=TRUE_CLAIMS)
def test_a_claim_holds_in_each_variation(claim, variation, vary):
    assert vary(claim, **variation) == ([], "")


@pytest.mark.parametrize(
    "variation",
    [{"half": "texts"}, {"half": "kinds, texts", "by": "word"}],
    ids=["of rows", "of groups"],
)
def test_each_half_turns_a_claim_about_all_rows(variation, vary):
    assert vary("len(texts) == 40", **variation) == ([*range(10)], "")


def test_verdicts_that_are_varied_alike_share_a_run_and_an_error_stays_with_its_own(
    small_lesson, monkeypatch
):
    claims = {"drawn.mean() > 0": "draw", "1 / 0": "end", "len(seen) == 1": "end"}
    listed = [
        verdicts.Verdict("01", "as it says", cell, claim, **OTHER_SEEDS)
        for claim, cell in claims.items()
    ]
    small = verdicts.Lesson("01", listed)
    small.run_all()
    run = Mock(wraps=verdicts.run)
    monkeypatch.setattr(verdicts, "run", run)
    (alike,) = small.varied_alike()
    above, error, is_fresh = small.outcomes(alike, "default_rng(5)").values()
    assert [above, is_fresh] == [True, True]
    assert type(error) is ZeroDivisionError
    # the cell with the seed, the one that makes `seen`, and the last, which appends to it
    started = [call.args[0] for call in run.call_args_list]
    assert len(started) == len(set(started)) == 3


@pytest.mark.parametrize(
    "claim, where",
    # there are 20 texts in a half; the first half has the seed 0
    [("1 / (len(texts) - 20) > 0", "0"), ("1 / 0", "in the lesson itself")],
    ids=["of a half", "of the lesson"],
)
def test_an_error_is_no_verdict(claim, where, vary):
    assert vary(claim, half="texts") == ([], f"{where}: ZeroDivisionError: division by zero")


@pytest.mark.parametrize("rows", [[1, 3], [0]])
def test_halves_of_a_table_of_a_dict_of_columns_and_of_a_dict_of_items(rows):
    table = pd.DataFrame({"a": [*"wxyz"]}, index=[4, 5, 6, 7])
    assert verdicts.half_of(table, rows).index.tolist() == [*range(len(rows))]
    # two columns of four rows
    assert verdicts.half_of({"letters": [*"wxyz"], "numbers": (1, 2, 3, 4)}, rows) == {
        "letters": ["wxyz"[row] for row in rows],
        "numbers": tuple(row + 1 for row in rows),
    }
    # four items
    assert verdicts.half_of({"p": 1, "q": 2, "r": 3, "s": 4}, [0, 2]) == {"p": 1, "r": 3}


@pytest.mark.parametrize(
    "turned, wrong, is_open, outcome, status",
    [
        ([7], "", False, "holds", 0),
        ([7, 8], "", False, "TURNS", 1),
        ([*range(9)], "", True, "open", 0),
        ([], "KeyError", False, "WRONG", 1),
    ],
    ids=["one turns", "two turn", "open", "an error"],
)
def test_one_in_ten_may_turn_and_an_open_one_may_turn_always(
    monkeypatch, capsys, turned, wrong, is_open, outcome, status
):
    verdict = verdicts.Verdict("01", "as it says", half="texts", open=is_open)
    monkeypatch.setattr(verdicts, "judged", lambda key: ([(verdict, turned, wrong)], 0.0))
    in_this_process = nullcontext(SimpleNamespace(map=map))
    monkeypatch.setattr(verdicts, "ProcessPoolExecutor", lambda *args, **how: in_this_process)
    assert verdicts.main(["1"]) == status
    printed = capsys.readouterr().out
    assert f"1 {outcome}" in printed
    assert ", ".join(map(str, turned)) in printed


def test_a_lesson_that_the_list_lacks_is_named():
    assert verdicts.main(["99"]) == "verdicts.toml has no lesson 99"


# ---------------------------------------------------------------- the list


def texts_of(key):
    """The cells of a lesson's text."""
    return [cell for cell in lesson_cells(SOURCES[key]) if cell.cell_type == "markdown"]


# All text of a lesson, with blanks for line breaks.
def whole_text_of(key):
    return " ".join(" ".join(cell.source.split()) for cell in texts_of(key))


# The recap of a lesson, or "" for one without.
def recap_of(key):
    return next((cell.source for cell in texts_of(key) if cell.id == "recap"), "")


@pytest.mark.parametrize("key", LISTED)
def test_each_verdict_fits_its_lesson(key):
    lesson = verdicts.Lesson(key, LISTED[key])
    text = whole_text_of(key)
    assert [verdict.says for verdict in LISTED[key] if verdict.says not in text] == []
    for verdict in lesson.listed:
        path = lesson.places_needed(verdict)
        ids = {lesson.cells[place].id for place in path}
        assert len(verdict.variations) >= 10, f"{verdict.says}: ten variations at least"
        assert set(verdict.also) <= ids, verdict.says
        if verdict.swap:
            assert verdict.swap[0] in ids, (
                f"{verdict.says}: the claim does not need {verdict.swap[0]}"
            )
            assert verdict.swap[1] in lesson.cells[lesson.place_of[verdict.swap[0]]].source, (
                verdict.says
            )
        bound = set().union(*(lesson.cells[place].binds for place in path))
        assert set(verdict.halved) <= bound, verdict.says


@pytest.mark.parametrize("key", sorted(parts()))
def test_each_comparison_of_a_recap_is_varied_or_exact(key):
    says = [verdict.says for verdict in LISTED.get(key, [])]
    # what stands before the first point is its title
    points = [" ".join(point.split()) for point in recap_of(key).split("\n- ")[1:]]
    points = [point.partition(" **Next:**")[0] for point in points]
    unlisted = {
        point: compares[0]
        for point in points
        if (compares := COMPARES.search(point)) and not any(words in point for words in says)
    }
    assert not unlisted, (
        "needs a line in tests/verdicts.toml, or other words where such a word compares nothing"
    )


def test_at_most_a_third_is_open_and_the_text_says_so():
    varied = [verdict for rows in LISTED.values() for verdict in rows if not verdict.exact]
    left_open = [verdict for verdict in varied if verdict.open]
    # 60, so that the list cannot shrink to a few that hold
    assert len(varied) >= max(60, 3 * len(left_open))
    assert [
        verdict.says
        for verdict in left_open
        if not re.search(r"\bopen\b", whole_text_of(verdict.lesson))
    ] == []


def test_each_core_has_verdicts():
    assert set(DIVIDED) <= set(LISTED)
