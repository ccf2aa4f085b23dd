"""The page that sets the literature beside the lessons: each of its figures is printed by the cells that it names."""

import re

import nbformat

from course_utils._support.notebooks import parts
from course_utils.tools.publish.front import VERDICTS, claims, literature_page

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
WITHOUT_INTERVAL = re.compile(r"(?<![\w(])(?<!to )[+-]\d\.\d++(?! to| \()")
ROWS = [claim for _, rows in claims() for claim in rows]
LESSONS = {path.stem: nbformat.read(path, as_version=4) for path in parts().values()}
PRINTED = {
    f"{key}:{cell.id}": " ".join(
        one.get("text", "") + one.get("data", {}).get("text/plain", "") for one in cell.outputs
    )
    for key, path in parts().items()
    for cell in LESSONS[path.stem].cells
    if cell.cell_type == "code"
}


def test_each_number_of_ours_is_printed_by_the_cells_that_are_named():
    for claim in ROWS:
        printed = NUMBER.findall(
            " ".join(PRINTED[cell] for cell in claim["cells"].split()).replace("−", "-")
        )
        said = NUMBER.findall(
            re.sub(r"in layers? \d|layer \d|nDCG@10", "", claim["ours"] + claim.get("because", ""))
        )
        missing = {number.replace(",", "") for number in said} - {
            number.replace(",", "") for number in printed
        }
        assert not missing, (claim, missing)


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
