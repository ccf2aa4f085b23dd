"""Each topic of the source material keeps the cells that treat it: a rewrite that loses one fails here.

Each cell holds, in its source or its outputs, one of the topic's words, so that it cannot quietly become another cell.
"""

import csv
from pathlib import Path

import nbformat

from course_utils._support.notebooks import parts

TABLE = Path(__file__).parent / "topics.tsv"
TOPICS = 193


def content_of(cell):
    """The source of a cell and the text of its outputs, in lower case."""
    outputs = []
    for output in cell.get("outputs", []):
        outputs += [
            output.get("text", ""),
            output.get("evalue", ""),
            output.get("data", {}).get("text/plain", ""),
        ]
    return " ".join([cell.source, *outputs]).lower()


def test_every_topic_has_cells_that_speak_of_it_and_what_is_run_has_one_with_code():
    cells = {
        f"{key}:{cell.id}": cell
        for key, path in parts().items()
        for cell in nbformat.read(path, 4).cells
    }
    with TABLE.open(encoding="utf-8") as file:
        topics = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for topic in topics:
        cited, words = topic["cells"].split(), topic["words"].split(" | ")
        assert cited and not set(cited) - cells.keys(), topic
        strangers = [
            name for name in cited if not any(word in content_of(cells[name]) for word in words)
        ]
        assert not strangers, f"{topic['topic']}: none of {words} in {strangers}"
        kinds = {cells[name].cell_type for name in cited}
        assert topic["how"] in {"needs a hub", "contradicted"} or "code" in kinds, topic
    assert {topic["how"] for topic in topics} == {"by hand", "run", "contradicted", "needs a hub"}
    assert len({(topic["source"], topic["topic"]) for topic in topics}) == TOPICS
