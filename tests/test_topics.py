"""Each topic of the source material keeps the cells that treat it: a rewrite that loses one fails here.

Each cell holds, in its source or its outputs, one of the topic's words, so that it cannot quietly become another cell.
"""

import csv
from pathlib import Path

from .sources import SOURCES, printed_by

TABLE = Path(__file__).parent / "topics.tsv"
TOPICS = 193


def test_every_topic_has_cells_that_speak_of_it_and_what_is_run_has_one_with_code():
    cells = {f"{key}:{cell.id}": cell for key, lesson in SOURCES.items() for cell in lesson.cells}
    with TABLE.open(encoding="utf-8") as file:
        topics = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for topic in topics:
        cited, words = topic["cells"].split(), topic["words"].split(" | ")
        assert cited and not set(cited) - cells.keys(), topic
        for name in cited:
            content = f"{cells[name].source} {printed_by(cells[name])}".lower()
            assert any(word in content for word in words), f"{topic['topic']}: not in {name}"
        kinds = {cells[name].cell_type for name in cited}
        assert topic["how"] in {"needs a hub", "contradicted"} or "code" in kinds, topic
    assert {topic["how"] for topic in topics} == {"by hand", "run", "contradicted", "needs a hub"}
    assert len({(topic["source"], topic["topic"]) for topic in topics}) == TOPICS
