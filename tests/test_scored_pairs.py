"""The course's scored pairs follow their format; files in the formats of STS-B are read completely or rejected."""

import csv
import itertools
import re
from collections import Counter

import pandas as pd
import pytest

from course_utils import load_scored_pairs
from course_utils._support.downloads import EncoderError
from course_utils.data import STSB
from course_utils.own_data import DataError

from .hub import Hub

COLUMNS = ["sentence1", "sentence2", "score"]
PAIRS = [
    ('A "quoted" cat, asleep.', "A cat sleeps; it's late.", 4.2),
    ("Naïve café", "  two  words ", 0.0),
    ("One.", "Two.", 5.0),
]


# ---------------------------------------------------------------- the course's table


@pytest.fixture(scope="module")
def table():
    return load_scored_pairs()


def test_the_table_has_its_columns_and_no_gaps_and_no_pair_twice_in_either_order(table):
    assert list(table.columns) == ["sentence1", "sentence2", "score", "phenomenon"]
    assert len(table.dropna()) == len(table) >= 300
    # from 0 to 5 in half points
    assert set(table["score"]) <= {half / 2 for half in range(11)}
    pairs = [
        frozenset((first.lower(), second.lower()))
        for first, second in zip(table["sentence1"], table["sentence2"])
    ]
    assert {len(pair) for pair in pairs} == {2}, "two different sentences"
    assert len(set(pairs)) == len(pairs)
    uses = Counter(sentence for pair in pairs for sentence in pair)
    assert max(uses.values()) <= 2, "a sentence stands in two pairs at most"


def test_the_scores_are_spread_over_the_scale_and_the_phenomena(table):
    # about one point each: 0 and 0.5; 1 and 1.5; ...; 4 to 5. A fifth of the pairs would be even.
    bands = pd.cut(table["score"], [-1, 0.9, 1.9, 2.9, 3.9, 5]).value_counts()
    assert (bands / len(table)).between(0.1, 0.3).all(), bands
    kinds = table["phenomenon"].value_counts()
    assert len(kinds) >= 8, kinds
    assert kinds.between(20, 50).all(), kinds
    # here close and distant pairs differ little in their words; 2.5: half the scale
    spread = table.groupby("phenomenon")["score"].agg(lambda scores: scores.max() - scores.min())
    assert (spread[["negation", "role swap", "quantity", "idiom"]] >= 2.5).all(), (
        "the phenomenon tells the score"
    )


def test_sentences_are_of_moderate_length_and_few_begin_alike(table):
    for sentence in itertools.chain(table["sentence1"], table["sentence2"]):
        # words with one space between them, a capital letter or digit first, a mark at the end
        assert re.fullmatch(r"[A-Z\d](\S| (?! ))*[.?!]", sentence), sentence
        assert 3 <= len(sentence.split()) <= 22, sentence
    starts = Counter(
        " ".join(sentence.lower().split()[:3]) for sentence in table["sentence1"].unique()
    )
    assert max(starts.values()) <= 5, starts.most_common(3)


# ---------------------------------------------------------------- files


def with_header(path, rows=PAIRS, header=COLUMNS, **layout):
    """Write a table. layout: arguments of csv.writer. Returns the path."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, **layout).writerows([header, *rows])
    return path


def without_header(path, rows=PAIRS, extra=()):
    # Write a table as the site of the STS tasks does: without a header or quotation marks, with
    # tabs, and in some files with `extra` columns at the end. Returns the path.
    lines = [
        ("main-news", "headlines", "2016", "0007", str(score), first, second, *extra)
        for first, second, score in rows
    ]
    path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    return path


def pairs_in(source):
    return list(load_scored_pairs(source).itertuples(index=False, name=None))


@pytest.mark.parametrize(
    "extra", [(), ("source one", "source two")], ids=["7 columns", "9 columns"]
)
def test_the_form_of_the_tasks_own_site(extra, tmp_path):
    assert pairs_in(without_header(tmp_path / "sts-test.csv", extra=extra)) == PAIRS


WRITERS = {  # {file name: a function that writes PAIRS there}
    "pairs.csv": with_header,
    "order.csv": lambda path: with_header(
        path,
        [(score, "x", second, first) for first, second, score in PAIRS],
        ["score", "id", "sentence2", "sentence1"],
    ),
    "tabs.tsv": lambda path: with_header(
        path,
        [(number, *pair) for number, pair in enumerate(PAIRS)],
        ["index", *COLUMNS],
        delimiter="\t",
        quoting=csv.QUOTE_NONE,
        quotechar=None,
    ),
    "bom.csv": lambda path: path.write_bytes(b"\xef\xbb\xbf" + with_header(path).read_bytes()),
    "pairs.parquet": lambda path: pd.DataFrame(PAIRS, columns=COLUMNS).to_parquet(path),
    "pairs.jsonl.gz": lambda path: pd.DataFrame(PAIRS, columns=COLUMNS).to_json(
        path, orient="records", lines=True
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_tables_with_a_header(name, tmp_path):
    WRITERS[name](tmp_path / name)
    assert pairs_in(tmp_path / name) == PAIRS


def test_scores_up_to_one_become_scores_up_to_five(tmp_path):
    unit = with_header(tmp_path / "unit.csv", [("A b.", "C d.", 0.5), ("E f.", "G h.", 1)])
    assert load_scored_pairs(unit)["score"].tolist() == [2.5, 5]
    low = without_header(tmp_path / "low.csv", [("A", "B", 1.0)])
    assert load_scored_pairs(low)["score"].tolist() == [1.0], (
        "without a header, scores are known to be 0 to 5"
    )


@pytest.mark.parametrize(
    "name, content, pairs",
    [
        (
            "line ends.csv",
            'sentence1,sentence2,score\r\n"two\nlines",other line\u2028separator,3\r\n\r\nA,B,1\r\n',
            [("two\nlines", "other line\u2028separator", 3), ("A", "B", 1)],
        ),
        ("separator.csv", "sep=;\nsentence1;sentence2;score\nA, or B;C;2\n", [("A, or B", "C", 2)]),
        ("digits.jsonl", '{"sentence1": "12", "sentence2": "13", "score": 3}\n', [("12", "13", 3)]),
    ],
    ids=["line ends", "separator", "digits"],
)
def test_odd_line_ends_and_separators_inside_sentences(name, content, pairs, tmp_path):
    (tmp_path / name).write_bytes(content.encode())
    assert pairs_in(tmp_path / name) == pairs


HEAD = "sentence1,sentence2,score\n"
# a row of JSON, without its braces
WITHOUT_SCORE = b'"sentence1": "A", "sentence2": "B"'
# a line of the task's own site: genre, file, year, number, score, both sentences
GOOD = "g\tf\t2016\t1\t3.2\tA.\tB.\n"


@pytest.mark.parametrize(
    "content, words",  # words: a regular expression for the end of the message
    [
        ("", "table is empty"),
        ("\n\n", "table is empty"),
        (HEAD, "holds no pairs"),
        (HEAD + "A,B,1\nC,D,\n", "line 3: the score"),
        (HEAD + "A,B,nan\n", "line 2: the score"),
        (HEAD + "A,B,good\n", "line 2: the score must be a number from 0 to 5; got 'good'"),
        (HEAD + "A,B,7\n", "line 2: the score .* got '7'"),
        (HEAD + "A,B,inf\n", "line 2: the score"),
        (HEAD + "A,B,-1\n", "line 2: the score"),
        (HEAD + "A, ,1\n", "line 2: sentence2 is missing"),
        (HEAD + "A,B\n", "line 2: there are 2 values, and 3 columns"),
        (HEAD + "A,B, and more,1\n", "line 2: there are 4 values"),
        (HEAD + 'A,B,1\n"two\nlines",B,1\nC,D,\n', "line 5: the score"),
        (HEAD + 'A,B,1\n"open,B,1\nC,D,2\n', "line 3: .*quotation mark"),
        (HEAD + '"A"b,B,1\n', "line 2: .*quotation mark"),
        ('"sentence1,sentence2,score\nA,B,1\n', "line 1: .*quotation mark"),
        ("sep=,\n" + HEAD + "A,B\n", "line 3: there are 2 values"),
        ("sentence1,sentence2\nA,B\n", "there is no column score"),
        ("A,B,3\n", "line 1: neither a header .* nor tabs"),
        (GOOD + "g\tf\t2016\t1\t\tA.\tB.\n", "line 2: the score"),
        (GOOD + "g\tf\t2016\t1\t3.2\tA.\n", "line 2: 6 columns, and there should be 7 or more"),
        (GOOD + "g\tf\t2016\t1\t3.2\t\tB.\n", "line 2: sentence1 is missing"),
        (GOOD * 2 + "g\tf\t2016\t1\t5.5\tA.\tB.\n", "line 3: the score"),
    ],
)
def test_damage_is_named_with_its_line(content, words, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=f"bad.csv.*{words}"):
        load_scored_pairs(path)


@pytest.mark.parametrize(
    "name, content, words",
    [
        (
            "latin.csv",
            HEAD.encode() + b"A,B,1\ncaf\xe9,B,1\n",
            "latin.csv, line 3: this is not UTF-8",
        ),
        ("half.parquet", b"PAR1 and no more", "half.parquet cannot be read as .parquet"),
        ("list.json", b"[]", "list.json must have one object a line; .*with the ending .jsonl"),
        (
            "gap.jsonl",
            b'{"score": 1, %s}\n{%s}\n' % (WITHOUT_SCORE, WITHOUT_SCORE),
            "gap.jsonl, row 1: the score",  # rows count from 0, lines from 1
        ),
    ],
)
def test_files_of_other_forms_are_refused_by_name(name, content, words, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=words):
        load_scored_pairs(tmp_path / name)


@pytest.mark.parametrize("source", [None, 3, ["course"]])
def test_another_kind_of_source_is_refused(source):
    with pytest.raises(TypeError, match="source must be"):
        load_scored_pairs(source)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match='no file .*nowhere.csv.*"stsb"'):
        load_scored_pairs(tmp_path / "nowhere.csv")


# ---------------------------------------------------------------- the hub


def test_stsb_comes_from_the_hub_without_code_and_without_the_other_parts(tmp_path, point_hub_at):
    folder = tmp_path / "hub"
    (folder / "data").mkdir(parents=True)
    for name, rows in (("test-00000-of-00001", PAIRS), ("train-0", PAIRS[:1])):
        pd.DataFrame(rows, columns=COLUMNS).to_parquet(folder / "data" / f"{name}.parquet")
    (folder / "stsbenchmark.py").write_text("raise SystemExit('code from a hub was run')")
    with Hub({STSB: folder}) as hub:
        point_hub_at(hub.endpoint)
        assert pairs_in("stsb") == PAIRS
        fetched = [path for _, path in hub.requests if "resolve" in path]
        assert not [path for path in fetched if "train" in path or path.endswith(".py")]


def test_without_a_hub_one_sentence_says_what_to_do(point_hub_at, nowhere):
    point_hub_at(nowhere)
    with pytest.raises(
        EncoderError,
        match="Nothing accepts connections at .*Use the course's own pairs, or give a local file",
    ):
        load_scored_pairs("stsb")
