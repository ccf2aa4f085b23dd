"""Lesson 14 on learners' own folders: its cells run with other texts and other tables."""

import re
import runpy
import sys

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from huggingface_hub import constants

from course_utils._support.cell_needs import CHECKPOINT
from course_utils._support.hub_cache import cache_with

from .sources import SOURCES, code_of, tags

# the line of the cell `corpus` that a learner exchanges
LINE_THAT_LOADS = re.compile(r"^docs = load_docstrings\(.*\)$", re.MULTILINE)
# of the folder "400 notes"; {0} is the number of a note
NOTE = """---
title: Note {0}
tags: [a, b]
---
# Topic {0}

Some words about topic {0}.

## Detail

- more
"""


def sources_of_tables(queries, judgements=()):
    """What a learner with these tables writes into the cells that hold them, by the cell's id.

    queries: (part, query), the part being "dev" or "test". judgements: (place of a query in
    `queries`, name of a file, grade).
    """
    query_table = pd.DataFrame(
        [(f"q{place}", *query) for place, query in enumerate(queries)],
        columns=["id", "part", "query"],
    )
    judgement_table = pd.DataFrame(
        [(f"q{place}", name, grade) for place, name, grade in judgements],
        columns=["id", "name", "grade"],
    )
    return {
        "my-queries": f"my_queries = {query_table.to_csv(index=False)!r}",
        "my-judgements": f"my_judgements = {judgement_table.to_csv(index=False)!r}",
        # judgements on the queries that are held back: all are in the table above
        "my-judgements-more": "held_judgements = ''",
    }


NOTES = {
    "a.md": "# Tea\nBoil the water.",
    "b.md": "# Bread\nKnead the dough.",
    "c.txt": "The bus leaves at noon.",
}
FOLDERS = {  # {name: (files, sources of the cells with the tables)}
    "three notes": (
        NOTES,
        sources_of_tables(
            [("dev", "how to make tea"), ("dev", "baking"), ("test", "when does the bus go")],
            [(0, "a.md", 2), (1, "b.md", 2), (2, "c.txt", 2)],
        ),
    ),
    "nothing has an answer": (
        NOTES,
        sources_of_tables([("dev", "a map of Peru"), ("dev", "my shoe size"), ("test", "rust")]),
    ),
    "one query": (NOTES, sources_of_tables([("dev", "how to make tea")], [(0, "a.md", 1)])),
    "no spaces": (
        {
            # longer than an encoder reads at once
            "茶.md": "# お茶\n" + "お湯を沸かしてからお茶を入れます。" * 90,
            "パン.txt": "パンを焼く。",
            "leer.md": "# \n",  # a heading without words, and nothing below it
        },
        sources_of_tables(
            [("dev", "お茶の入れ方"), ("dev", "空港へのバス"), ("test", "パン")],
            [(0, "茶.md", 2), (2, "パン.txt", 1)],
        ),
    ),
    "two files alike": (
        {**NOTES, "copy/a.md": NOTES["a.md"]},
        sources_of_tables(
            [
                ("dev", "how to make tea"),
                ("dev", "how high is the moon"),
                ("test", "tea"),
                ("test", "the sun"),
            ],
            [(0, "a.md", 2), (0, "copy/a.md", 2), (2, "a.md", 1)],
        ),
    ),
    "400 notes": (
        {f"folder {number % 7}/{number}.md": NOTE.format(number) for number in range(400)},
        sources_of_tables(
            # by turns for the test and for development
            [(("test", "dev")[number % 2], f"topic {number}") for number in range(40)],
            # the last ten of the 40 queries have no answer
            [(number, f"folder {number % 7}/{number}.md", 2) for number in range(30)],
        ),
    ),
}
# what lesson 14 and its report print about a folder
SAYS = {  # {(name of the folder, key of the lesson): patterns}
    # each of its queries has an answer, so no threshold can be chosen
    ("three notes", "14"): ["all are shown", "too few for an interval"],
    ("three notes", "14-report"): ["queries, all alike"],
    ("nothing has an answer", "14"): ["nothing to measure"],
}


def source_for(cell, folder, table_sources, checkpoint):
    """What a learner with a folder of their own would run in this cell.

    table_sources: as `sources_of_tables` returns them. checkpoint: the encoder's folder.
    """
    source = table_sources.get(cell.id, cell.source)
    # functions, so that no backslash of a path is read as an escape or a group
    source = CHECKPOINT.sub(lambda _: f"checkpoint = {str(checkpoint)!r}", source)
    source, count = LINE_THAT_LOADS.subn(lambda _: f"docs = load_texts({str(folder)!r})", source)
    assert count == (cell.id == "corpus"), cell.id
    return source


def run_lesson(key, folder, table_sources, checkpoint):
    """Run the cells of a notebook as for a learner's folder. Returns {name that they bind: value}.

    Exercises, completions and what is taken along are left out, and so is the setup.
    """
    names = {}
    for cell in code_of(SOURCES[key])[1:]:  # the first is the setup
        is_left_out = "nbgrader" in cell.metadata or {"completion", "take-along"} & set(tags(cell))
        # the cell `search-try` needs search.py, which is tested below
        if is_left_out or cell.id == "search-try":
            continue
        print(cell.id, file=sys.stderr)  # if a cell fails, pytest shows its id last
        exec(source_for(cell, folder, table_sources, checkpoint), names)
    return names


@pytest.mark.filterwarnings("ignore")  # the tiny encoder cuts many pieces, and warns of it
@pytest.mark.parametrize("key", ["14", "14-report"])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.nightly] if name == "400 notes" else [])
        for name in FOLDERS
    ],
)
def test_each_cell_runs_on_any_folder_and_its_tables(
    name, key, tiny, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    files, table_sources = FOLDERS[name]
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    names = run_lesson(key, tmp_path, table_sources, checkpoint=tiny)
    printed = capsys.readouterr().out
    assert set(names["pieces"]["name"]) == set(files)
    assert len(names["vectors"]) == len(names["pieces"])
    # the lesson's own texts are about plots
    assert not re.search("nan|plots", printed, re.IGNORECASE)
    for pattern in SAYS.get((name, key), []):
        assert re.search(pattern, printed)


# ---------------------------------------------------------------- search.py

(PROGRAM,) = [cell.source for cell in SOURCES["14"].cells if cell.id == "search-py"]


@pytest.fixture
def search_py(tmp_path, monkeypatch, capsys):
    """A function that runs the program with arguments, or imports it as `name`.

    It returns the printed lines. text: the program, if it is another than the lesson's.
    """
    # the program loads its encoder by a hub name: this cache has the packaged one under that name
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache_with()))
    program = tmp_path / "search.py"

    def run_program(*arguments, name="__main__", text=PROGRAM):
        program.write_text(text, encoding="utf-8")
        monkeypatch.setattr(sys, "argv", [str(program), *map(str, arguments)])
        runpy.run_path(str(program), run_name=name)
        return capsys.readouterr().out.splitlines()

    return run_program


@pytest.fixture
def notes(tmp_path):
    # NOTES, and what makes no pieces: a hidden file, one of another kind, an empty one, a copy
    folder = tmp_path / "my notes"
    (folder / ".hidden").mkdir(parents=True)
    others = {".hidden/x.md": "hidden", "d.py": "x = 1", "e.md": "", "f.md": NOTES["a.md"]}
    for name, text in {**NOTES, **others}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_the_program_shows_the_piece_that_answers_and_says_what_it_passes_over(notes, search_py):
    # first a line about the folder, then two for each file
    message, best, text, *_ = search_py(notes, "departure of the coach")
    assert message == "3 pieces, 3 of them new; f.md: a copy of a.md"
    assert best.split()[1:] == ["c.txt:1"], "after its score"
    assert text.strip() == "The bus leaves at noon."


def test_the_program_keeps_vectors_and_encodes_only_what_is_new(notes, search_py):
    search_py(notes, "departure of the coach")
    (notes / "b.md").unlink()
    (notes / "a.md").write_text(NOTES["a.md"] + "\n# Coffee\nGrind the beans.")
    (notes / "g.txt").write_text("caf\u00e9", encoding="latin-1")
    # new are: Coffee, f.md, which is no longer a copy, and g.txt, which is read but for one letter
    message, *hits = search_py(notes, "how do I make an espresso")
    assert message == "5 pieces, 3 of them new; g.txt: not UTF-8"
    assert "a.md:4  Coffee" in hits[0]
    assert len(hits) == 2 * 3, "two lines for each of three files: none is there twice"


def test_below_the_threshold_the_program_shows_nothing(notes, search_py):
    search_py(notes, "departure of the coach")
    # cosines are at least -1, and none of these texts comes near 0.99
    strict = PROGRAM.replace("THRESHOLD = -1.0", "THRESHOLD = 0.99")
    assert search_py(notes, "bread", text=strict) == [
        "3 pieces, 0 of them new; f.md: a copy of a.md",
        "I found nothing.",
    ]


def test_the_program_says_how_it_is_called_only_if_it_is_run(search_py):
    assert search_py("nosuch") == ['python search.py FOLDER "a question"']
    assert search_py(name="search") == [], "imported, it prints nothing"


def test_the_program_refuses_a_folder_without_texts(search_py):
    with pytest.raises(AssertionError, match="no texts in nosuch"):
        search_py("nosuch", "x")


@pytest.mark.parametrize("cell_id, name", [("pieces", "pieces_of"), ("ask", "hits_for")])
def test_the_program_has_the_functions_of_the_lesson(cell_id, name):
    # Word for word, but for their docstrings.
    (source,) = [cell.source for cell in SOURCES["14"].cells if cell.id == cell_id]
    # to the next empty line or the end of the cell
    function = re.search(rf"def {name}.*?(?=\n\n|\Z)", source, re.DOTALL)[0]
    assert re.sub(r'    """.*?"""\n', "", function, count=1, flags=re.DOTALL) in PROGRAM
