"""The page that sets the literature beside the lessons: each of its figures is printed by the cells that it names."""

import re

from course_utils._support.notebooks import parts
from course_utils.tools.publish.front import VERDICTS, claims, literature_page

from .sources import SOURCES, printed_by

NUMBER = re.compile(r"\d+(?:\.\d+)?")
# "+0.12", but neither "+0.12 (+0.05 to +0.19)", with its interval, nor the ends of an interval.
# `++` and `?+` take all digits and give none back: "+0.1" of "+0.12 (" would have no interval.
WITHOUT_INTERVAL = re.compile(r"(?<![\w(])(?<!to )[+-]\d++(?:\.\d++)?+(?! to| \()")
CLAIMS = [claim for _, of_part in claims() for claim in of_part]
LESSONS = {path.stem: SOURCES[key] for key, path in parts().items()}
PRINTED = {
    f"{key}:{cell.id}": printed_by(cell) for key, lesson in SOURCES.items() for cell in lesson.cells
}


def numbers_in(text):
    return set(NUMBER.findall(text.replace(",", "")))


def test_each_number_of_ours_is_printed_by_the_cells_that_are_named():
    for claim in CLAIMS:
        printed = " ".join(PRINTED[cell] for cell in claim["cells"].split())
        # the digits in names of layers and of a measure are no results
        ours = re.sub(
            r"in layers? \d|layer \d|nDCG@10", "", claim["ours"] + claim.get("because", "")
        )
        missing = numbers_in(ours) - numbers_in(printed)
        assert not missing, (claim, missing)


def test_there_are_at_least_forty_claims_and_none_stands_twice():
    assert len({claim["says"] for claim in CLAIMS}) == len(CLAIMS) >= 40


def test_what_is_not_the_same_says_why_and_a_difference_has_its_interval():
    for claim in CLAIMS:
        assert claim["verdict"] in VERDICTS, claim
        assert claim["verdict"] == "same" or claim.get("because"), claim
        assert not WITHOUT_INTERVAL.search(claim["ours"]), claim


def test_a_link_leads_to_the_heading_above_its_cell():
    assert (
        "[02, Two limits: 512 and 256](<02_padding_and_truncation.ipynb#Two-limits:-512-and-256>)"
        in literature_page(LESSONS)
    )


def test_each_row_below_the_headings_has_a_link():
    # the head of each table has a column "They say"
    rows = [line for line in literature_page(LESSONS).splitlines() if line.startswith("| ")]
    assert [row for row in rows if "](<" not in row and "They say" not in row] == []


def test_a_page_about_one_lesson_links_to_no_other():
    page = literature_page({"05_attention": LESSONS["05_attention"]})
    assert re.findall(r"\]\(<(?!05_attention\.ipynb#).*", page) == []
