"""What the lessons assert is computed in them or cited: the tables in `claims`.

A table says of each text cell which cell's output it speaks of, or which source:

    [[claim]]
    text = "id of the text"
    cell = "id of the code cell"
    printed = ["0.46"]              # numbers that stand in both, in the output perhaps with more digits
    shows = ["same ids: False"]     # words of the output, where the text says it in its own words

    [[claim]]
    text = "id of the text"
    source = "Name (year), section 3"

Texts that use a word such as "better" without asserting a result are listed above the first claim:

    no_claims = ["id of the text"]
"""

import re
import tomllib
from pathlib import Path

import pytest

from course_utils._support.notebooks import lesson_cells

from .sources import NUMBER, SOURCES, printed_by, stands_in

# words that assert a result
RESULT = re.compile(
    r"\b(better|best|worse|worst|beats?|wins?|outperforms?|nearly half|significant(ly)?)\b", re.I
)
# words for a place in a source
PLACE = re.compile(
    r"\b(section|sections|table|figure|appendix|abstract|page|card|documentation|docs)\b", re.I
)
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
# a sentence, or part of one up to a colon, or a cell of a table, with the sign that ends it
SENTENCE = re.compile(r"[^.?!:|]*(?:[.?!:|]|$)")

each_lesson = pytest.mark.parametrize("lesson", SOURCES)


# What the lesson asserts, {"no_claims": [...], "claim": [...]}: see the top of this file.
def table(lesson):
    path = Path(__file__).parent / "claims" / f"{lesson}.toml"
    assert path.exists(), (
        f"write down what this lesson asserts in {path.name}: see the docstring of this file"
    )
    return {"no_claims": [], "claim": [], **tomllib.loads(path.read_text(encoding="utf-8"))}


def text_cells(lesson):
    return [cell for cell in lesson_cells(SOURCES[lesson]) if cell.cell_type == "markdown"]


def plain(text):
    """A text in one line, without the signs that mark quotations and emphasis."""
    unquoted = re.sub(r"^[>\s]*>", " ", text, flags=re.MULTILINE)
    return " ".join(unquoted.replace("*", "").split())


@each_lesson
def test_each_claim_is_of_a_text_and_has_one_proof(lesson):
    texts = {cell.id for cell in text_cells(lesson)}
    for claim in table(lesson)["claim"]:
        assert claim["text"] in texts, claim
        assert ("cell" in claim) != ("source" in claim), claim
        assert "source" in claim or claim.get("printed") or claim.get("shows"), claim


@each_lesson
def test_each_computed_claim_stands_in_its_text_and_in_its_output(lesson):
    cells = {cell.id: cell for cell in SOURCES[lesson].cells}
    computed = [claim for claim in table(lesson)["claim"] if "cell" in claim]
    for claim in computed:
        text = plain(cells[claim["text"]].source)
        output = plain(printed_by(cells[claim["cell"]]))
        numbers = claim.get("printed", [])
        missing = {
            "numbers in the text": set(numbers) - set(NUMBER.findall(text)),
            "numbers in the output": [
                number for number in numbers if not stands_in(number, output)
            ],
            "words in the output": [
                words for words in claim.get("shows", []) if not words or plain(words) not in output
            ],
        }
        assert not any(missing.values()), (claim, missing)


@each_lesson
def test_each_cited_claim_names_a_paper_of_the_lesson_and_a_place_in_it(lesson):
    text = plain("\n".join(cell.source for cell in text_cells(lesson)))
    for claim in table(lesson)["claim"]:
        if "source" in claim:
            name = re.match(r"\w[\w-]*", claim["source"])
            assert PLACE.search(claim["source"]), claim
            assert name and name[0] in text, claim
            assert all(year in text for year in YEAR.findall(claim["source"])), claim


@each_lesson
def test_a_text_that_says_better_or_worse_has_a_claim(lesson):
    """Or stands among `no_claims`, since it defines a word, gives advice or only asks."""
    cells = text_cells(lesson)
    claimed = {claim["text"] for claim in table(lesson)["claim"]}
    listed = set(table(lesson)["no_claims"])
    assert listed <= {cell.id for cell in cells}, "no text of the lesson"
    assert not listed & claimed
    for cell in cells:
        is_exercise_or_reading = cell.source.startswith(("## Further reading", "## Exercise"))
        if is_exercise_or_reading or "nbgrader" in cell.metadata or cell.id in claimed | listed:
            continue
        results = filter(RESULT.search, SENTENCE.findall(plain(cell.source)))
        assert [sentence for sentence in results if not sentence.endswith("?")] == [], cell.id
