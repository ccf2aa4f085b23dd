"""The page that sets the literature beside the lessons: each of its figures is printed by the cells that it names."""

import re

from course_utils._support.notebooks import parts
from course_utils.tools.publish.front import VERDICTS, claims, literature_page

from .sources import SOURCES, printed_by

NUMBER = re.compile(r"\d+(?:\.\d+)?")
WITHOUT_INTERVAL = re.compile(r"(?<![\w(])(?<!to )[+-]\d\.\d++(?! to| \()")
ROWS = [claim for _, rows in claims() for claim in rows]
LESSONS = {path.stem: SOURCES[key] for key, path in parts().items()}
PRINTED = {
    f"{key}:{cell.id}": printed_by(cell) for key, lesson in SOURCES.items() for cell in lesson.cells
}


def test_each_number_of_ours_is_printed_by_the_cells_that_are_named():
    for claim in ROWS:
        printed = " ".join(PRINTED[cell] for cell in claim["cells"].split())
        ours = claim["ours"] + claim.get("because", "")
        ours = re.sub(r"in layers? \d|layer \d|nDCG@10", "", ours)
        shown, said = (set(NUMBER.findall(text.replace(",", ""))) for text in (printed, ours))
        assert said <= shown, (claim, said - shown)


def test_what_is_not_the_same_says_why_and_a_difference_has_its_interval():
    assert len(ROWS) >= 40 and len({claim["says"] for claim in ROWS}) == len(ROWS)
    for claim in ROWS:
        assert claim["verdict"] in VERDICTS and (
            claim["verdict"] == "same" or claim.get("because")
        ), claim
        assert not WITHOUT_INTERVAL.search(claim["ours"]), claim


def test_each_link_leads_to_the_heading_above_the_cell():
    page = literature_page(LESSONS)
    assert (
        "[02, Two limits: 512 and 256](<02_padding_and_truncation.ipynb#Two-limits:-512-and-256>)"
        in page
    )
    assert all(
        "](<" in row for row in page.splitlines() if row.startswith("| ") and "They say" not in row
    )
    assert "](<" not in literature_page({"05_attention": LESSONS["05_attention"]}).replace(
        "](<05_attention.ipynb#", ""
    )
