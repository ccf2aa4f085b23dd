"""What the lessons assert is computed in them or cited: the tables in `claims`.

A table lists sentences of one lesson, each with the cell whose output shows it, or with its source:

    [[claim]]
    says = "words of the lesson"
    cell = "id of the cell"
    shows = "words of its stored output"  # or a list

    [[claim]]
    says = "words of the lesson"
    source = "Name (year), section 3"

Sentences that use a word such as "better" without asserting a result are listed above the first claim:

    no_claims = ["words of the lesson"]
"""

import functools
import re
import tomllib
from pathlib import Path

import nbformat
import pytest

from course_utils._support.notebooks import parts

NOTEBOOKS = parts()
RESULT = re.compile(r"\b(better|best|worse|worst|beats?|wins?|outperforms?|nearly half|significant(ly)?)\b", re.I)
PLACE = re.compile(r"\b(section|sections|table|figure|appendix|abstract|page|card|documentation|docs)\b", re.I)

SENTENCE_END = re.compile(r"[.?!:]\)?\s+|\s\|\s")

each_lesson = pytest.mark.parametrize("lesson", sorted(NOTEBOOKS))


@functools.cache
def table(lesson):
    path = Path(__file__).parent / "claims" / f"{lesson}.toml"
    assert path.exists(), f"write down what this lesson asserts in {path.name}, as the text above says"
    return {"no_claims": [], "claim": [], **tomllib.loads(path.read_text(encoding="utf-8"))}


def claims_of(lesson):
    return table(lesson)["claim"]


@functools.cache
def cells_of(lesson):
    return nbformat.read(NOTEBOOKS[lesson], as_version=4).cells


def plain(text):
    return " ".join(re.sub(r"^[>\s]*>", " ", text, flags=re.MULTILINE).replace("*", "").split())


def prose_of(lesson):
    """The text that a learner reads, without the texts of exercises."""
    cells = cells_of(lesson)
    answered = [bool(below.metadata.get("nbgrader", {}).get("solution")) for below in cells[1:]]
    texts = [cell for cell, is_task in zip(cells, [*answered, False], strict=True) if not is_task]
    texts = [
        cell for cell in texts if cell.cell_type == "markdown" and "instructor" not in cell.metadata.get("tags", [])
    ]
    return [cell.source for cell in texts if not cell.source.startswith("## Further reading")]


def printed_by(cell):
    parts = [
        (one.get("text", ""), one.get("data", {}).get("text/plain", ""), one.get("evalue", "")) for one in cell.outputs
    ]
    return plain(" ".join("".join(map(str, part)) for part in parts))


@each_lesson
def test_each_claim_is_in_the_lesson(lesson):
    text = plain("\n".join(cell.source for cell in cells_of(lesson)))
    assert [claim["says"] for claim in claims_of(lesson) if plain(claim["says"]) not in text] == []


@each_lesson
def test_each_computed_claim_is_shown_by_its_cell(lesson):
    cells = {cell.id: cell for cell in cells_of(lesson) if cell.cell_type == "code"}
    for claim in claims_of(lesson):
        assert ("cell" in claim) != ("source" in claim), claim
        if "cell" in claim:
            assert claim["cell"] in cells, claim
            shows = [claim["shows"]] if isinstance(claim["shows"], str) else claim["shows"]
            printed = printed_by(cells[claim["cell"]])
            assert shows and [words for words in shows if not words or plain(words) not in printed] == [], claim


@each_lesson
def test_each_cited_claim_names_a_paper_of_the_lesson_and_a_place_in_it(lesson):
    text = plain("\n".join(cell.source for cell in cells_of(lesson) if cell.cell_type == "markdown"))
    for claim in claims_of(lesson):
        if "source" in claim:
            name = re.match(r"\w[\w-]*", claim["source"])
            years = re.findall(r"\b(?:19|20)\d\d\b", claim["source"])
            assert PLACE.search(claim["source"]), claim
            assert name and name[0] in text and all(year in text for year in years), claim


@each_lesson
def test_what_is_said_to_be_better_or_worse_is_a_claim(lesson):
    """Or stands among `no_claims`, since it defines a word, gives advice or only asks."""
    said = [*map(plain, [*(claim["says"] for claim in claims_of(lesson)), *table(lesson)["no_claims"]])]
    for text in map(plain, prose_of(lesson)):
        claimed = [(found.start(), found.end()) for words in said for found in re.finditer(re.escape(words), text)]
        for found in RESULT.finditer(text):
            start = max((end.end() for end in SENTENCE_END.finditer(text, 0, found.start())), default=0)
            end = SENTENCE_END.search(text, found.end())
            sentence = text[start : end.end() if end else len(text)]
            covered = any(one < start + len(sentence) and start < other for one, other in claimed)
            assert covered or sentence.rstrip().endswith("?"), sentence


@each_lesson
def test_each_of_the_other_sentences_is_in_the_lesson(lesson):
    text = plain("\n".join(cell.source for cell in cells_of(lesson)))
    assert [words for words in table(lesson)["no_claims"] if plain(words) not in text] == []
