"""The field's own lines in lessons: the cell to take along runs without the course, and one line changes the model."""

import re
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from huggingface_hub import constants
from sklearn.metrics.pairwise import cosine_similarity

from course_utils import attention, benchmark, data, embed, evaluation, models, ranking
from course_utils._support import cell_needs, fast_bert, hub_cache
from course_utils.exercises.lesson_03 import WORD_VECTOR
from notebooks.conftest import nearly_equal

from .sources import SOURCES, code_of, printed_by, tags

ALONE = """import sys
sys.modules['course_utils'] = None  # as if it were not installed
exec(sys.stdin.read(), {'__name__': '__main__'})"""
TAKEN = "take-along"
CODE = {key: code_of(notebook) for key, notebook in SOURCES.items()}


@pytest.mark.parametrize(
    "key", [key for key, cells in CODE.items() if any(TAKEN in tags(cell) for cell in cells)]
)
def test_what_is_taken_along_needs_no_course_and_nothing_from_above(key, tmp_path):
    cell = cell_of(key)
    environment = {
        "PATH": "",
        "HOME": str(tmp_path),
        "HF_HUB_CACHE": str(hub_cache.cache_with()),
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-I", "-c", ALONE],
        input=cell.source,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    stored = "".join(output.text for output in cell.outputs)
    assert done.returncode == 0, done.stderr
    assert (stored != "", nearly_equal(done.stdout, stored)) == (True, True)


# What an explorer computes is by the encoder that COURSE_ENCODER names.
ONE_LINE = [
    key
    for key, cells in CODE.items()
    if any(cell_needs.CHECKPOINT.search(cell.source) for cell in cells)
    and not any("explore(" in cell.source for cell in cells)
]


@pytest.mark.parametrize("key", ONE_LINE)
def test_one_line_changes_the_model_of_a_lesson(key, tiny, monkeypatch, tmp_path):
    # With another checkpoint, no cell computes with the packaged encoder: it cannot be loaded here
    # by any name.
    def missing(*_):
        raise AssertionError("the packaged encoder was asked for")

    for module, name in (
        (models, "packaged_encoder"),
        (models, "_load_packaged"),
        (fast_bert, "packaged_weights"),
    ):
        monkeypatch.setattr(module, name, missing)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    # lesson 10 keeps 2,000 for its other parts; the others need a tenth of the time
    all_reviews, few = data.load_reviews, 400 if key != "10" else 10_000
    monkeypatch.setattr(data, "load_reviews", lambda *which: all_reviews(*which).head(few))
    assert sum(len(cell_needs.CHECKPOINT.findall(cell.source)) for cell in CODE[key]) == 1
    names = {}
    for cell in CODE[key]:
        if TAKEN in tags(cell):  # it names its model itself
            break
        if "needs-packaged-encoder" in tags(cell):  # skipped for other models
            continue
        first = cell.source.replace("\nsetup()", "")  # which would find the packaged encoder again
        exec(cell_needs.CHECKPOINT.sub(f"checkpoint = {str(tiny)!r}", first), names)
    assert names["checkpoint"] == str(tiny)


def cell_of(key):
    (cell,) = [cell for cell in CODE[key] if TAKEN in tags(cell)]
    return cell


@pytest.fixture
def taken(monkeypatch):
    """A function from a lesson to the names of its cell to take along, once it has run; `own` replaces its texts."""

    def run(key, own=None):
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(hub_cache.cache_with()))
        names, source = {"own": own}, cell_of(key).source
        if own:
            source = re.sub(r"^texts = \[.*?\]$", "texts = own", source, flags=re.M | re.S)
        exec(source, names)
        return names

    return run


def test_the_word_vector_taken_along_is_that_of_the_lesson(taken):
    vector_in = taken("03")["vector_in"]
    tokenizer, model = models.load_encoder()
    for sentence, word, place in [
        ("We sat on the bank.", "bank", 4),
        ("Word embeddings, learned from text", "embeddings", 1),
    ]:
        encoded = tokenizer(sentence, return_tensors="pt")
        with torch.inference_mode():
            states = model(**encoded).last_hidden_state[0]
        by_the_lesson = WORD_VECTOR.reference(states, encoded.word_ids(), place)
        torch.testing.assert_close(vector_in(sentence, word), by_the_lesson, rtol=0, atol=1e-5)
    assert (
        vector_in("I write C++ daily.", "C++").shape
        == vector_in("In the U.S. today", "U.S.").shape
        == (384,)
    )
    # the word is not there, or after the 510 tokens that the model reads
    for unread in ["No such word here", 507 * "a " + "embeddings", 600 * "a " + "embeddings"]:
        with pytest.raises(ValueError, match="does not read all of it"):
            vector_in(unread, "embeddings")


def test_the_weights_taken_along_are_those_of_the_lesson(taken):
    names = taken("05")
    weights = torch.cat(names["original"].attentions)
    torch.testing.assert_close(weights, attention.attend(names["text"])[1], rtol=0, atol=1e-5)


def test_the_counts_taken_along_are_those_of_the_tokenizer(taken):
    look_at = taken("01")["look_at"]
    tokenizer, _ = models.load_encoder()
    texts = [*data.load_reviews("rotten_tomatoes")["text"][:300], "joy🙂 and x" + "y" * 100]
    pieces = [tokenizer.tokenize(text) for text in texts]
    rate, lost = look_at(texts, tokenizer)
    assert rate == pytest.approx(sum(map(len, pieces)) / sum(len(text.split()) for text in texts))
    assert lost == {"joy🙂": 1, "x" + "y" * 100: 1}


def test_the_pairs_and_the_share_taken_along_are_those_of_scikit_learn(taken, capsys):
    names = taken("06")
    vectors = embed(names["texts"])
    first, second = np.triu_indices(len(vectors), k=1)
    all_pairs = cosine_similarity(vectors)[first, second]
    assert names["percentile"](vectors) == pytest.approx(100 * np.mean(all_pairs < names["cosine"]))
    printed = capsys.readouterr().out
    closest = re.findall(r"^(\d\.\d\d)  \w+, \w+$", printed, re.MULTILINE)
    assert closest == [f"{cosine:.2f}" for cosine in sorted(all_pairs, reverse=True)[:5]]
    spread = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False) ** 2
    assert f"keeps {spread[:2].sum() / spread.sum():.0%} of" in printed


def test_what_matters_when_taken_along_masks_each_word_and_each_pair(taken):
    what_matters = taken("07")["what_matters"]
    worth = {"a": 1, "of": 2, "waste": 4, "[MASK]": 0}

    def score(text):
        return sum(worth[word] for word in text.split())

    assert what_matters("a waste of", score) == [(-1, "a"), (-4, "waste"), (-2, "of")]
    assert what_matters("a waste of", score, size=2) == [
        (-5, "a waste"),
        (-3, "a of"),
        (-6, "waste of"),
    ]


def test_the_search_taken_along_fuses_words_and_best_windows_as_the_lesson_does(taken):
    docs = data.load_docstrings()[::60]
    texts = ["Error E71: the toner is low.", *docs["name"] + "\n\n" + docs["text"]]
    names = taken("12", own=texts)
    assert names["texts"] is texts
    queries = [
        "E71",
        "rows that are there twice",
        "drop_duplicates",
        "zzz",
        "???",
        "the mean of each group",
    ]
    cut = [ranking.chunks(text, 100) for text in texts]
    owners = np.repeat(np.arange(len(texts)), [len(own) for own in cut])
    vectors = embed([window for own in cut for window in own])
    by_vectors = ranking.best_of_each(embed(queries) @ vectors.T, owners)
    lists = [
        [[at for at in np.argsort(-row, kind="stable")[:30] if row[at] > 0] for row in scores]
        for scores in (ranking.bm25(queries, texts), by_vectors)
    ]
    for query, places in zip(queries, ranking.reciprocal_rank_fusion(*lists)):
        results, fused = names["search"](query), [texts[place] for place in places]
        assert (results[:10], set(results)) == (fused[:10], set(fused))


def test_the_lead_taken_along_is_the_paired_interval_of_the_course(taken):
    names = taken("08")
    table = data.load_scored_pairs().head(60)
    columns = [table[name].tolist() for name in ("sentence1", "sentence2", "score")]
    cosines = [
        benchmark.row_cosines(*map(model.encode, columns[:2]))
        for model in (names["one"], names["other"])
    ]

    def lead(scores, first, second):
        return evaluation.spearman(scores, first) - evaluation.spearman(scores, second)

    interval = evaluation.bootstrap(lead, columns[2], *cosines, repeats=1000)
    assert names["compare"](names["one"], names["other"], zip(*columns)) == pytest.approx(
        interval, abs=2e-3
    )


def test_the_reciprocal_ranks_taken_along_are_those_of_the_librarys_evaluator(taken):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    names = taken("15")
    queries = {str(number): question for number, question in enumerate(names["questions"])}
    documents = {str(number): text for number, text in enumerate(names["documents"])}
    answers = {query: {str(names["questions"][question])} for query, question in queries.items()}
    # few numbers, so that not all ranks are 1
    model = SentenceTransformer(names["name"], truncate_dim=8)
    evaluator = InformationRetrievalEvaluator(
        queries, documents, answers, mrr_at_k=[len(documents)], name="own"
    )
    mean = evaluator(model)[f"own_cosine_mrr@{len(documents)}"]
    assert names["reciprocal_ranks"](model).mean() == pytest.approx(mean) != 1


def test_the_search_taken_along_finds_what_the_lesson_found():
    (first,) = [cell for cell in CODE["09"] if cell.id == "first-search"]
    shown, again = (printed_by(cell).split("\n")[:3] for cell in (first, cell_of("09")))
    assert shown == again


def test_the_bits_and_codes_taken_along_are_those_of_whole_vectors_and_signs(taken):
    names = taken("13")
    queries, corpus = names["queries"], names["corpus"]
    step = np.ptp(names["ranges"], axis=0) / 255  # the codes are 0 to 255
    decoded = names["ranges"][0] + names["codes"] * step
    assert (np.abs(decoded - corpus) <= 0.51 * step).all(), "half a step, and rounding"
    assert np.array_equal(
        names["differ"].sum(axis=-1), ((queries[:, None] > 0) != (corpus > 0)).sum(axis=-1)
    )
    for query, rows, closest in zip(queries, names["near"], names["again"], strict=True):
        order = np.argsort(-(corpus[rows] @ query), kind="stable")
        assert closest.tolist() == rows[order[:10]].tolist()
