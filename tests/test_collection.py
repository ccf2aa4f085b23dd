"""A learner's own texts, queries and judgements: read as they are, or refused by a sentence about
what is wrong.
"""

import io
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pandas as pd
import pytest

from course_utils import load_docstrings, load_plot_queries, load_texts
from course_utils.exercises.search_engine import CORPUS, FOLDER
from course_utils.own_data import doubtful_texts, read_judged


@pytest.fixture
def folder(tmp_path):
    # three files that are read (one with the line ends of Windows, one with a byte order mark), and
    # three that are skipped
    (tmp_path / "b.md").write_text("# Title\r\n\r\nText", encoding="utf-8", newline="")
    (tmp_path / "a.txt").write_text("héllo", encoding="utf-8-sig")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "code.py").write_text("x = 1")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\xff")
    (tmp_path / ".hidden.md").write_bytes(b"\xff")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "notes.txt").write_text("no")
    return tmp_path


def test_a_folder_of_texts_is_read_in_order(folder):
    with pytest.warns(UserWarning) as warned:
        table = load_texts(folder)
    (warning,) = warned
    skipped = "2 hidden (.git/notes.txt, .hidden.md) and 1 of another kind (.png)"
    assert str(warning.message) == f"3 files were read; skipped were {skipped}"
    assert warning.filename == __file__
    assert table["name"].tolist() == ["a.txt", "b.md", "more/code.py"]
    assert table["text"].tolist() == ["héllo", "# Title\n\nText", "x = 1"]


@pytest.fixture
def odd_folder(folder, tmp_path_factory):
    """The folder, with links, names and rights that not every system has."""
    if os.name == "nt":
        pytest.skip("Windows has other links, rights and names")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "note.md").write_text("linked")
    (folder / "linked.md").symlink_to(elsewhere / "note.md")  # a linked file is read
    (folder / "linked").symlink_to(elsewhere)
    (folder / "more" / "again").symlink_to(folder)  # whoever follows it never ends
    (folder / "gone.md").symlink_to("nowhere.md")
    os.mkfifo(folder / "pipe.md")
    if sys.platform == "linux":  # macOS refuses such a name
        Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.md")).write_text("Latin-1")
    (folder / "closed").mkdir(mode=0)
    (folder / unicodedata.normalize("NFD", "é.md")).write_text("from a Mac")
    yield folder
    (folder / "closed").chmod(0o755)


def test_the_warning_lists_what_cannot_be_read_or_named(odd_folder):
    # root reads every folder unless it gives up these rights
    as_ordinary_user = (
        [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    )
    load = [sys.executable, "-c", "import sys, course_utils; course_utils.load_texts(sys.argv[1])"]
    done = subprocess.run([*as_ordinary_user, *load, odd_folder], capture_output=True, text=True)
    assert "UserWarning: 5 files were read; skipped were " in done.stderr
    skipped = (
        *["1 whose names are not in UTF-8 (caf\ufffd.md)"] * (sys.platform == "linux"),
        "1 broken links (gone.md)",
        "2 linked folders (linked, more/again)",
        "1 unreadable (closed)",
        "2 of another kind (.png, pipe.md)",
    )
    assert all(part in done.stderr for part in skipped), done.stderr


@pytest.mark.filterwarnings("ignore:5 files were read")
def test_files_are_read_through_links_and_with_names_as_a_mac_writes_them(odd_folder):
    assert load_texts(odd_folder)["name"].tolist() == [
        "a.txt",
        "b.md",
        "linked.md",
        "more/code.py",
        "é.md",
    ]


def test_a_hidden_file_that_is_no_text_is_not_counted_as_skipped(tmp_path, recwarn):
    for name in ("one.MARKDOWN", "two.rst", "three.Md"):
        (tmp_path / name).write_text(name)
    (tmp_path / ".git").mkdir()
    # nobody would look for it among the texts
    (tmp_path / ".git" / "HEAD").write_text("ref")
    assert sorted(load_texts(tmp_path)["text"]) == ["one.MARKDOWN", "three.Md", "two.rst"]
    assert not len(recwarn)
    (tmp_path / "Makefile").write_text("all:")
    with pytest.warns(
        UserWarning, match=r"3 files were read; skipped were 1 of another kind \(Makefile\)$"
    ):
        load_texts(tmp_path)


def test_missing_and_empty_folders_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere is not a folder"):
        load_texts(tmp_path / "nowhere")
    with pytest.raises(
        FileNotFoundError, match=r"has no files that end with \.md, \.markdown, \.rst, \.txt, \.py"
    ):
        load_texts(tmp_path)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "cp1252"])
def test_files_in_another_encoding_are_named(folder, encoding):
    # beside the three files of the fixture; the message has room for five names
    for number in range(7):
        (folder / f"old {number}.txt").write_bytes("naïve café".encode(encoding))
    with pytest.raises(
        ValueError,
        match=r"7 of 10 files are not in UTF-8, .*: old 0\.txt, .*old 4\.txt and 2 more\. Save",
    ):
        load_texts(folder)


def test_a_text_with_a_zero_character_is_named(folder):
    (folder / "b.md").write_bytes(b"some text with one \0 in it")
    with pytest.raises(
        ValueError, match=r"1 of 3 files .* a zero character, which no text has: b\.md"
    ):
        load_texts(folder)


def test_doubtful_texts_are_named():
    texts = ["fine", "", " \n", "the same  text", "the same text", "<p>one</p> <br/>", "a < b > c"]
    doubtful = doubtful_texts(pd.DataFrame({"name": list("abcdefg"), "text": texts}))
    assert doubtful.to_numpy().tolist() == [
        ["b", "it is empty: leave it out"],
        ["c", "it is empty: leave it out"],
        ["e", "it is the same text as d: keep one"],
        ["f", "it holds 3 HTML tags outside code: remove them"],
    ]


@pytest.mark.parametrize(
    "text, tags",
    [
        ("Text <b>bold</b> more.", "2 HTML tags"),
        ("<div>\n<p>One</p>\n</div>", "4 HTML tags"),
        ("Write `<b>bold</b>` for bold.", None),
        ("```html\n<p>One</p>\n```\n", None),
        ("~~~\n<p>One</p>\n```\n<p>Two</p>", None),  # never closed: code up to the end
        ("    <p>code by its indentation</p>", None),
        ("- a list\n\n  ```\n  <p>One</p>\n  ```\n\n<hr>\n", "1 HTML tag"),
        ("`<b>` and <br> and " + "word " * 100_000, "1 HTML tag"),  # code within a long line
    ],
)
def test_tags_in_code_are_content(text, tags):
    # in a.py, a tag is always content
    files = pd.DataFrame({"name": ["a.md", "a.py"], "text": [text, f"x = 1\n{text}"]})
    doubts = [["a.md", f"it holds {tags} outside code: remove them"]] if tags else []
    assert doubtful_texts(files).to_numpy().tolist() == doubts


QUERIES = 'id,part,query\na, dev ,"how, and why"\nb,test,what\n'
JUDGEMENTS = "id,name,grade\na,one.md,2\na,two.md,0\nb,two.md,1\n"
NAMES = ["one.md", "two.md", "three.md"]


def test_judged_queries_have_grades_by_place():
    # the grade 0 is left out, since such a text is no answer
    for queries in (QUERIES, pd.read_csv(io.StringIO(QUERIES))):
        assert read_judged(queries, JUDGEMENTS, NAMES)[["part", "query", "grades"]].to_dict(
            "records"
        ) == [
            {"part": "dev", "query": "how, and why", "grades": {0: 2}},
            {"part": "test", "query": "what", "grades": {1: 1}},
        ]


JUDGEMENTS_HEADER = "id,name,grade"
NOTES = ["Überblick.md", "two.md"]


@pytest.mark.parametrize(
    "queries, judgements, grades",
    [
        (  # as a German Excel writes them; the file's name as a Mac does
            '\ufeffid;part;query\na;dev;"how; and why"\nb;test;what, then\n',
            unicodedata.normalize(
                "NFD", "\nid\tname\tgrade\n\na\tÜberblick.md\t2\n  \nb\ttwo.md\t1\n"
            ),
            [{0: 2}, {1: 1}],
        ),
        # no line end after the last line, and a query without a judgement
        (QUERIES, f"{JUDGEMENTS_HEADER}\na,Überblick.md,2", [{0: 2}, {}]),
        (  # as tables of pandas, where numbers beside gaps are decimals
            pd.DataFrame({"id": [1, 2], "part": ["dev", "test"], "query": ["one", "two"]}),
            pd.DataFrame({"id": [1.0, 2.0], "name": ["two.md", "two.md"], "grade": [2.0, 0.0]}),
            [{1: 2}, {}],
        ),
        (  # a column of one's own, with missing values
            pd.DataFrame(
                {"id": ["a", "b"], "part": "dev", "query": ["one", "two"], "more": [pd.NA, None]}
            ),
            JUDGEMENTS_HEADER,
            [{}, {}],
        ),
    ],
)
def test_judged_queries_are_read_as_programs_write_them(queries, judgements, grades):
    # names that can be read only once
    assert read_judged(queries, judgements, iter(NOTES))["grades"].tolist() == grades


def test_a_query_may_have_several_lines():
    queries = 'id,part,query\n1,dev,"how\nand why"\n\n2,test,one\u2028line'
    assert read_judged(queries, JUDGEMENTS_HEADER, NOTES)["query"].tolist() == [
        "how\nand why",
        "one\u2028line",
    ]


def test_empty_cells_of_excel_and_blanks_in_names_do_not_matter():
    excel = "sep=;\n\nid;part;query;\na;dev;one;;\nb;test;two;\n;;;\n;;\n"
    table = read_judged(excel, f"{JUDGEMENTS_HEADER}\na,my note.md,2", [" my\u00a0note.md"])
    assert table["query"].tolist() == ["one", "two"]
    assert table["grades"].tolist() == [{0: 2}, {}]


@pytest.mark.parametrize(
    "queries, judgements, words",
    [
        (
            QUERIES.replace("part", "half"),
            JUDGEMENTS,
            "queries: there is no column part; the columns must be id, part",
        ),
        (QUERIES.replace('"', ""), JUDGEMENTS, 'Put a text that contains a comma in quotes: "..."'),
        (QUERIES.replace("b,", "a,"), JUDGEMENTS, "queries: this id comes twice a"),
        ("", JUDGEMENTS, "queries: the table is empty; its first line must be id,part,query"),
        (
            QUERIES + 'c,dev,"how\nd,dev,why\n',
            JUDGEMENTS,
            "queries, line 4: a quotation mark is never closed",
        ),
        (  # the next quotation mark is that of another text
            QUERIES + 'c,dev,"how\nd,dev,"why"\n',
            JUDGEMENTS,
            "queries, line 4: a quotation mark is never closed",
        ),
        (
            QUERIES + "\n\nc,dev,how,why\n",
            JUDGEMENTS,
            "queries, line 6: there are 4 values, and 3 columns",
        ),
        (
            "id,part,query,query\na,dev,one,two",
            JUDGEMENTS,
            "queries: there is more than one column query",
        ),
        (
            pd.DataFrame({"id": [pd.NA], "part": "dev", "query": "x"}),
            JUDGEMENTS,
            "queries: there is no id for x",
        ),
        (QUERIES.replace("b,", ","), JUDGEMENTS, "queries: there is no id for what"),
        (
            pd.DataFrame({"id": [None], "part": "dev", "query": "x"}),
            JUDGEMENTS,
            "queries: there is no id for x",
        ),
        (QUERIES + "c,dev,what", JUDGEMENTS, "queries: this query comes twice what"),
        (QUERIES + "c,dev,", JUDGEMENTS, "queries: there is no query for c"),
        (QUERIES + "c,,x", JUDGEMENTS, 'queries: part must be "dev" or "test"; got (empty)'),
        (QUERIES + "c,train,x", JUDGEMENTS, 'queries: part must be "dev" or "test"; got train'),
        (QUERIES, JUDGEMENTS + "z,one.md,1", "judgements: there is no query with the id z"),
        (
            QUERIES,
            JUDGEMENTS + "a,thre.md,1",
            "judgements: there is no text called thre.md; did you mean three.md?",
        ),
        (QUERIES, JUDGEMENTS + "b,one.md,3", "judgements: grade must be 0, 1 or 2; got 3"),
        (QUERIES, JUDGEMENTS + "b,one.md,2.0", "judgements: grade must be 0, 1 or 2; got 2.0"),
        (QUERIES, JUDGEMENTS + "a,one.md,1", "judgements: this is judged twice a one.md"),
    ],
)
def test_tables_that_do_not_fit_are_named(queries, judgements, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        read_judged(queries, judgements, NAMES)


# ---------------------------------------------------------------- what was written for the course


@pytest.fixture(scope="module")
def plots():
    return load_docstrings(CORPUS)


def held_out():
    # the queries and the judgements that only the grader uses
    return [pd.read_csv(FOLDER / f"held_out_{name}.csv") for name in ("queries", "judgements")]


@pytest.mark.parametrize("part, without_answer", [("dev", 12), ("test", 0)])
def test_the_queries_have_the_form_that_learners_use(plots, part, without_answer):
    queries, judgements = load_plot_queries() if part == "dev" else held_out()
    table = read_judged(queries, judgements, plots["name"])
    assert list(queries.columns) == ["id", "part", "kind", "query"]
    assert set(queries["part"]) == {part}
    # as many as course_utils/tables/README.md says: 24 in each half have an answer
    is_unanswered = (queries["kind"] == "none").to_numpy()
    assert is_unanswered.sum() == without_answer
    assert (~is_unanswered).sum() == 24
    best = table["grades"].map(lambda grades: max(grades.values(), default=0))
    assert list(best[is_unanswered]) == [0] * without_answer
    assert set(best[~is_unanswered]) == {2}


def test_the_halves_share_no_query_and_no_main_answer():
    (dev_queries, dev_grades), (held_queries, held_grades) = load_plot_queries(), held_out()
    shared = [set(dev_queries[column]) & set(held_queries[column]) for column in ("id", "query")]
    assert shared == [set(), set()]
    answers = [set(grades.query("grade == 2")["name"]) for grades in (dev_grades, held_grades)]
    assert not set.intersection(*answers)
