"""The field's own lines in lessons: the cell to take along runs without the course and computes what
the lesson does, and one line changes the model of a lesson.
"""

import json
import re
import subprocess
import sys
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from huggingface_hub import constants
from sklearn.metrics.pairwise import cosine_similarity

from course_utils import attention, benchmark, data, embed, evaluation, models, ranking
from course_utils._support import cell_needs, hub_cache
from course_utils.exercises.lesson_03 import WORD_VECTOR
from notebooks.conftest import nearly_equal

from .sources import SOURCES, cell_of, code_of, printed_by, tags

# Each line of its input is a cell, as JSON. It answers each with a line: [what the cell prints, its
# traceback if it fails]. A cell has its own names; all share the libraries, whose import takes seconds.
RUN_WITHOUT_THE_COURSE = """
import contextlib, io, json, sys, traceback
sys.modules['course_utils'] = None  # as if it were not installed
for line in sys.stdin:
    printed, problem = io.StringIO(), ''
    try:
        with contextlib.redirect_stdout(printed):
            exec(json.loads(line), {'__name__': '__main__'})
    except BaseException:
        problem = traceback.format_exc()
    print(json.dumps([printed.getvalue(), problem]), flush=True)
"""
CODE_CELLS = {key: code_of(notebook) for key, notebook in SOURCES.items()}
TAKE_ALONG = {
    key: cell for key, cells in CODE_CELLS.items() for cell in cells if "take-along" in tags(cell)
}
# Lessons with a line that names the checkpoint, but for those with an explorer, which computes with
# the encoder that COURSE_ENCODER names.
LESSONS_WITH_A_CHECKPOINT = [
    key
    for key, cells in CODE_CELLS.items()
    if any(cell_needs.CHECKPOINT.search(cell.source) for cell in cells)
    and not any("explore(" in cell.source for cell in cells)
]


@pytest.fixture(autouse=True)
def cache_with_the_packaged_encoder(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(hub_cache.cache_with()))


@pytest.fixture
def no_packaged_encoder(cache_with_the_packaged_encoder, monkeypatch, tmp_path):
    # It can be loaded neither by the course, nor from a hub's cache under its public name.
    for loader in (
        "models.packaged_encoder",
        "models._load_packaged",
        "_support.fast_bert.packaged_weights",
    ):
        monkeypatch.delattr(f"course_utils.{loader}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))


@pytest.fixture
def few_reviews_and_short_pages(key, monkeypatch):
    # Lesson 10 trains on what follows the first 2,000 rows, so it gets all: there are 8,530.
    # The others need a tenth of their time with 400.
    number = 10_000 if key == "10" else 400
    load_all = data.load_reviews
    monkeypatch.setattr(data, "load_reviews", lambda *which: load_all(*which).head(number))
    # pages of one window each; all of them, since queries are judged by their names
    load_pages = data.load_docstrings

    def short_pages(*places):
        pages = load_pages(*places)
        return pages.assign(text=pages["text"].str[:300])

    monkeypatch.setattr(data, "load_docstrings", short_pages)


@pytest.fixture(scope="module")
def run_without_the_course(tmp_path_factory):
    """A function that runs a cell where there is no course: (what it prints, its traceback or "")."""
    folder = tmp_path_factory.mktemp("elsewhere")
    with subprocess.Popen(
        [sys.executable, "-I", "-c", RUN_WITHOUT_THE_COURSE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        env={
            "PATH": "",
            "HOME": str(folder),
            "HF_HUB_CACHE": str(hub_cache.cache_with()),
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
        },
    ) as process:

        def run(source):
            print(json.dumps(source), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield run


@pytest.mark.parametrize("key", TAKE_ALONG)
def test_what_is_taken_along_needs_no_course_and_nothing_from_above(key, run_without_the_course):
    assert sum("take-along" in tags(cell) for cell in CODE_CELLS[key]) == 1
    printed, problem = run_without_the_course(TAKE_ALONG[key].source)
    assert not problem, problem
    stored = "".join(output.text for output in TAKE_ALONG[key].outputs)
    assert stored, "the cell prints nothing"
    assert nearly_equal(printed, stored)


@pytest.mark.parametrize("key", LESSONS_WITH_A_CHECKPOINT)
def test_a_lesson_names_its_checkpoint_once(key):
    assert sum(len(cell_needs.CHECKPOINT.findall(cell.source)) for cell in CODE_CELLS[key]) == 1


@pytest.mark.usefixtures("no_packaged_encoder", "few_reviews_and_short_pages")
@pytest.mark.parametrize("key", LESSONS_WITH_A_CHECKPOINT)
def test_one_line_changes_the_model_of_a_lesson(key, tiny, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    names = {}
    for cell in CODE_CELLS[key]:
        if cell is TAKE_ALONG.get(key):  # it names its model itself
            break
        if "needs-packaged-encoder" in tags(cell):  # skipped for other models
            continue
        # setup() would let the hub's cache hold the packaged encoder again
        source = cell.source.replace("\nsetup()", "")
        exec(cell_needs.CHECKPOINT.sub(f"checkpoint = {str(tiny)!r}", source), names)
    assert names["checkpoint"] == str(tiny)


@cache
def names_defined_by(source):
    """{name: value} after a cell with this source; it runs once for all tests of a process."""
    names = {}
    exec(source, names)
    return names


@pytest.fixture
def vector_in():
    return names_defined_by(TAKE_ALONG["03"].source)["vector_in"]


@pytest.mark.parametrize(
    "sentence, word, place",
    [("We sat on the bank.", "bank", 4), ("Word embeddings, learned from text", "embeddings", 1)],
)
def test_the_word_vector_taken_along_is_that_of_the_lesson(sentence, word, place, vector_in):
    tokenizer, model = models.load_encoder()
    encoded = tokenizer(sentence, return_tensors="pt")
    states = model(**encoded).last_hidden_state[0].detach()
    expected = WORD_VECTOR.reference(states, encoded.word_ids(), place)
    # here and below, the two ways of computing may round numbers of about 1 differently
    torch.testing.assert_close(vector_in(sentence, word), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "sentence, word", [("I write C++ daily.", "C++"), ("In the U.S. today", "U.S.")]
)
def test_the_word_vector_taken_along_is_also_of_words_with_punctuation(sentence, word, vector_in):
    assert vector_in(sentence, word).shape == (384,)  # the size of the encoder's vectors


@pytest.mark.parametrize(
    "text",
    # "a" is one piece, "embeddings" four
    ["No such word here", 507 * "a " + "embeddings", 600 * "a " + "embeddings"],
    ids=["not there", "the last piece is the 511th", "after the 510 pieces that the model reads"],
)
def test_the_word_vector_taken_along_refuses_a_word_that_the_model_does_not_read(text, vector_in):
    with pytest.raises(ValueError, match="does not read all of it"):
        vector_in(text, "embeddings")


def test_the_weights_taken_along_are_those_of_the_lesson():
    names = names_defined_by(TAKE_ALONG["05"].source)
    weights = torch.cat(names["original"].attentions)
    torch.testing.assert_close(weights, attention.attend(names["text"])[1], rtol=0, atol=1e-5)


def test_the_counts_taken_along_are_those_of_the_tokenizer():
    look_at = names_defined_by(TAKE_ALONG["01"].source)["look_at"]
    tokenizer, _ = models.load_encoder()
    # the tokenizer knows no emoji, and no word of more than 100 characters
    texts = [*data.load_reviews("rotten_tomatoes")["text"][:300], "joy🙂 and x" + "y" * 100]
    pieces = sum(len(tokenizer.tokenize(text)) for text in texts)
    words = sum(len(text.split()) for text in texts)
    rate, lost = look_at(texts, tokenizer)
    assert rate == pytest.approx(pieces / words)
    assert lost == {"joy🙂": 1, "x" + "y" * 100: 1}


def test_the_pairs_and_the_share_taken_along_are_those_of_scikit_learn(capsys):
    names = names_defined_by(TAKE_ALONG["06"].source)
    vectors = embed(names["texts"])
    first, second = np.triu_indices(len(vectors), k=1)
    all_pairs = cosine_similarity(vectors)[first, second]
    assert names["percentile"](vectors) == pytest.approx(100 * np.mean(all_pairs < names["cosine"]))
    printed = capsys.readouterr().out
    closest = re.findall(r"^(\d\.\d\d)  \w+, \w+$", printed, re.MULTILINE)
    assert closest == [f"{cosine:.2f}" for cosine in sorted(all_pairs, reverse=True)[:5]]
    # Squares of singular values are the variances along the directions of PCA, but for a factor
    variances = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False) ** 2
    assert f"keeps {variances[:2].sum() / variances.sum():.0%} of" in printed


def test_what_matters_when_taken_along_masks_each_word_and_each_pair():
    what_matters = names_defined_by(TAKE_ALONG["07"].source)["what_matters"]
    worth = {"a": 1, "of": 2, "waste": 4, "[MASK]": 0}

    def score(text):
        return sum(worth[word] for word in text.split())

    # (change of the score, the words that were masked)
    assert what_matters("a waste of", score) == [(-1, "a"), (-4, "waste"), (-2, "of")]
    assert what_matters("a waste of", score, size=2) == [
        (-5, "a waste"),
        (-3, "a of"),
        (-6, "waste of"),
    ]


def test_the_search_taken_along_fuses_words_and_best_windows_as_the_lesson_does():
    docs = data.load_docstrings()[::60]  # all would take minutes, and so would whole texts
    begins = docs["text"].str[:1500]  # two or three windows
    texts = ["Error E71: the toner is low.", *docs["name"] + "\n\n" + begins]
    # the cell, with these texts in place of its own; a function, since `\n` in a text would be read
    # as an escape
    source = re.sub(
        r"^texts = \[.*?\]$",
        lambda match: f"texts = {texts!r}",
        TAKE_ALONG["12"].source,
        flags=re.MULTILINE | re.DOTALL,
    )
    search = names_defined_by(source)["search"]
    queries = [
        "E71",  # a word of the first text alone
        "rows that are there twice",  # the same meaning in other words
        "drop_duplicates",  # a name with an underscore
        "zzz",  # a word of no text
        "???",  # no word at all
        "the mean of each group",  # words of many texts
    ]

    # 30 best texts by each ranking, and windows of 100 words, as in the cell
    def thirty_best_above_0(scores):
        best = np.argsort(-scores, kind="stable")[:30]
        return [place for place in best if scores[place] > 0]

    windows_of = [ranking.chunks(text, 100) for text in texts]
    owners = np.repeat(np.arange(len(texts)), [len(windows) for windows in windows_of])
    vectors = embed([window for windows in windows_of for window in windows])
    by_vectors = ranking.best_of_each(embed(queries) @ vectors.T, owners)
    fused = ranking.reciprocal_rank_fusion(
        [thirty_best_above_0(scores) for scores in ranking.bm25(queries, texts)],
        [thirty_best_above_0(scores) for scores in by_vectors],
    )
    for query, places in zip(queries, fused):
        expected = [texts[place] for place in places]
        results = search(query)
        assert results[:10] == expected[:10], query
        # further below, sums that are nearly equal may have another order
        assert set(results) == set(expected), query


def test_the_lead_taken_along_is_the_paired_interval_of_the_course():
    names = names_defined_by(TAKE_ALONG["08"].source)
    table = data.load_scored_pairs().head(60)  # few, since each is encoded four times
    first, second, scores = (table[name].tolist() for name in ("sentence1", "sentence2", "score"))
    cosines = [
        benchmark.row_cosines(model.encode(first), model.encode(second))
        for model in (names["one"], names["other"])
    ]

    def lead(scores, cosines, other_cosines):
        return evaluation.spearman(scores, cosines) - evaluation.spearman(scores, other_cosines)

    expected = evaluation.bootstrap(lead, scores, *cosines, repeats=1000)
    lead_and_interval = names["compare"](names["one"], names["other"], zip(first, second, scores))
    # the cell's cosines have fewer digits, so that ties may have another order
    assert lead_and_interval == pytest.approx(expected, abs=2e-3)


def test_the_reciprocal_ranks_taken_along_are_those_of_the_librarys_evaluator():
    # slow to import, and for this test alone
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    names = names_defined_by(TAKE_ALONG["15"].source)
    queries = {str(number): question for number, question in enumerate(names["questions"])}
    documents = {str(number): text for number, text in enumerate(names["documents"])}
    answers = {query: {str(place)} for query, place in zip(queries, names["questions"].values())}
    # With few numbers in a vector, not all ranks are 1.
    model = names["SentenceTransformer"](names["name"], truncate_dim=8)
    evaluator = InformationRetrievalEvaluator(
        queries, documents, answers, mrr_at_k=[len(documents)], name="six"
    )
    expected = evaluator(model)[f"six_cosine_mrr@{len(documents)}"]
    assert names["reciprocal_ranks"](model).mean() == pytest.approx(expected)
    assert expected != 1


def test_the_search_taken_along_finds_what_the_lesson_found():
    printed, of_lesson = printed_by(TAKE_ALONG["09"]), printed_by(cell_of("09", "first-search"))
    # the three best; the lesson prints all
    assert printed.split("\n")[:3] == of_lesson.split("\n")[:3]


def test_the_codes_taken_along_are_the_nearest_to_the_numbers_of_the_vectors():
    names = names_defined_by(TAKE_ALONG["13"].source)
    step = np.ptp(names["ranges"], axis=0) / 255  # the codes are 0 to 255
    decoded = names["ranges"][0] + names["codes"] * step
    # the nearest code is half a step away at most, but for rounding
    assert (np.abs(decoded - names["corpus"]) <= 0.51 * step).all()


def test_the_bits_taken_along_are_signs_and_the_best_by_bits_are_sorted_by_whole_vectors():
    names = names_defined_by(TAKE_ALONG["13"].source)
    queries, corpus = names["queries"], names["corpus"]
    signs_differ = (queries[:, None] > 0) != (corpus > 0)  # (queries, texts, numbers)
    assert np.array_equal(names["differ"].sum(axis=-1), signs_differ.sum(axis=-1))
    for query, rows, closest in zip(queries, names["near"], names["again"], strict=True):
        order = np.argsort(-(corpus[rows] @ query), kind="stable")
        assert closest.tolist() == rows[order[:10]].tolist()
