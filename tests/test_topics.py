"""Each topic of the source material keeps the cells that treat it: a rewrite that loses one fails here."""

import csv
from pathlib import Path

import nbformat

from course_utils._support.notebooks import parts

TABLE = Path(__file__).parent / "topics.tsv"
TOPICS = 193


def test_every_topic_has_a_cell_that_exists_and_what_is_run_has_one_with_code():
    kinds = {
        f"{key}:{cell.id}": cell.cell_type for key, path in parts().items() for cell in nbformat.read(path, 4).cells
    }
    with TABLE.open(encoding="utf-8") as file:
        topics = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for topic in topics:
        cells = topic["cells"].split()
        assert cells and not set(cells) - kinds.keys(), topic
        assert topic["how"] in {"needs a hub", "contradicted"} or "code" in map(kinds.get, cells), topic
    assert {topic["how"] for topic in topics} == {"by hand", "run", "contradicted", "needs a hub"}
    assert len({(topic["source"], topic["topic"]) for topic in topics}) == TOPICS
