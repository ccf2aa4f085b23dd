"""Lesson 11: losses equal to the library's, splits that share nothing, and a table that matches the trainings."""

import random

import numpy as np
import pandas as pd
import pytest
import torch
from datasets import Dataset
from scipy.stats import spearmanr
from sentence_transformers.base.sampler import GroupByLabelBatchSampler
from sentence_transformers.sentence_transformer import losses as library
from sentence_transformers.sentence_transformer.evaluation import (
    InformationRetrievalEvaluator,
    TripletEvaluator,
)

from course_utils import load_doc_judgements, load_doc_queries, load_reviews
from course_utils.exercises.lesson_11 import RANKING, TRIPLET
from course_utils.trainings import losses, negation, questions

from .tables import replace, written


@pytest.mark.parametrize("seed", range(3))
def test_the_losses_of_the_exercises_are_the_librarys(seed, sentence_model):
    of_the_library = {
        TRIPLET: (library.TripletLoss, "triplet_margin"),
        RANKING: (library.MultipleNegativesRankingLoss, "scale"),
    }
    for exercise, (make, name) in of_the_library.items():
        for case in exercise.cases(random.Random(seed)):
            *vectors, number = case.args
            loss = make(sentence_model, **{name: number})
            theirs = loss.compute_loss_from_embeddings(vectors, None).item()
            assert exercise.reference(*case.args) == pytest.approx(theirs, abs=1e-4)


def test_right_triplets_are_those_of_the_librarys_evaluator(sentence_model):
    _, dev, _ = negation.negation_parts()
    theirs = TripletEvaluator(*(dev[name].tolist() for name in negation.COLUMNS), name="dev")(
        sentence_model
    )
    assert negation.right_triplets(sentence_model, dev).mean() == pytest.approx(
        theirs["dev_cosine_accuracy"]
    )


def test_encoded_gives_the_vectors_of_the_library(sentence_model):
    texts = ["a b", "x", "a b", "x y z"]
    theirs = sentence_model.encode(texts, normalize_embeddings=True)
    assert np.allclose(negation.encoded(sentence_model, texts), theirs, atol=1e-6)


def test_differences_are_paired_and_in_the_right_direction():
    generator = np.random.default_rng(0)
    scores, noise = generator.normal(size=80), generator.normal(size=80)
    before = {"share": [np.array([0.0, 1.0] * 40)], "correlation": [scores, scores + 3 * noise]}
    after = {"share": [np.array([1.0, 1.0] * 40)], "correlation": [scores, scores + noise]}
    found = negation.compared(before, after)
    old, new, difference, low, high = found["share"]
    assert (old, new, difference) == (0.5, 1.0, 0.5) and 0.35 < low < 0.5 < high < 0.65
    old, new, difference, low, high = found["correlation"]
    assert old == pytest.approx(
        spearmanr(scores, scores + 3 * noise)[0]
    ) and difference == pytest.approx(new - old)
    assert low > 0
    for _, _, *same in negation.compared(before, before).values():
        assert same == [0, 0, 0]


def alike(n):
    """The same vector for each of n texts."""
    return np.ones((n, 1))


def test_a_model_without_differences_finds_no_partner_and_unrelated_reviews_are_different_ones(
    monkeypatch,
):
    monkeypatch.setattr(negation, "_long_reviews", lambda: pd.Series([["word"] * 80] * 50))
    monkeypatch.setattr(negation, "encoded", lambda model, texts: model(len(texts)))
    assert negation.review_search(np.eye, 50).all() and not negation.review_search(alike, 50).all()
    assert negation.unrelated_cosine(np.eye) == 0 and negation.unrelated_cosine(alike) == 1


def test_mixed_in_pairs_are_short_reviews_with_their_old_cosine():
    table = negation.mixed_in(20)
    assert (
        set(table["sentence1"]) | set(table["sentence2"]) <= set(load_reviews()["text"])
        and len(table) == 20
    )
    assert table["score"].between(-0.3, 0.9).all() and table["score"].nunique() == 20


@pytest.fixture
def small(tiny, little_garbage, monkeypatch):
    fit, dev, test = negation.negation_parts()
    mixed = pd.DataFrame({"sentence1": ["a b"] * 8, "sentence2": ["c"] * 8, "score": [0.2] * 8})
    less = {
        "encoder_folder": lambda: tiny,
        "negation_parts": lambda: (fit[:40], dev[:10], test),
        "mixed_in": lambda: mixed,
        "review_search": lambda model, number: np.arange(20) % 2 == 0,
        "unrelated_cosine": lambda model: 0.2,
    }
    replace(monkeypatch, negation, **less, SEEDS=(0,), GOAL=0, LONGER=1)
    monkeypatch.setattr(losses, "SEEDS", (0,))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "script, files",
    [(negation, (negation.FILE, negation.GAIN, negation.PAIRS)), (losses, (losses.FILE,))],
)
def test_a_script_writes_whole_tables_in_the_stored_ones_form(script, files, small, tmp_path):
    written(script, tmp_path, *files)
    assert {path.name for path in tmp_path.iterdir()} == {file.name for file in files}


def test_the_same_seed_trains_the_same_model_up_to_its_goal_and_the_columns_reach_the_loss(small):
    ways = [{"loss": negation.triplet_loss_of, "goal": goal} for goal in (0, 0, 1.1)]
    ways += [
        {
            "loss": library.CosineSimilarityLoss,
            "columns": ["anchor", "positive", "score"],
            "goal": 0,
        }
    ]
    (first, stopped, _), (second, again, _), (_, whole, by_epoch), (_, other, _) = (
        negation.trained(**way, epochs=2, seed=1) for way in ways
    )
    assert len(stopped) == 2 and len(whole) == 4 and len(by_epoch) == 2
    assert np.allclose(stopped, again, atol=1e-6) and not np.allclose(stopped, other, atol=1e-3)
    assert torch.allclose(
        torch.tensor(first.encode(["a b"])), torch.tensor(second.encode(["a b"])), atol=1e-5
    )


@pytest.mark.parametrize(
    "file, name, triplet",
    [(negation.GAIN, "recipe", "triplet loss"), (losses.FILE, "loss", "TripletLoss")],
)
def test_trainings_to_an_equal_gain_are_compared_with_the_triplet_loss(file, name, triplet):
    stored = pd.read_csv(file)
    after = stored.set_index([name, "seed", "measure"])["after"]
    for row in stored.itertuples():
        assert row.more == pytest.approx(
            row.after - after[triplet, row.seed, row.measure], abs=2e-4
        )
        assert row.more_low <= row.more <= row.more_high
    # one that did not reach the goal was trained at the highest rate, too
    below = stored["development"] < negation.GOAL - 1e-4
    assert not below.any() or name == "loss"


# The columns and labels of each shape, written by hand, for the triplets (a, p, n) and (b, q, m).
BY_HAND = {
    losses.PER_PAIR: (["a b a b".split(), "p q n m".split()], [1, 1, 0, 0]),
    losses.SCORED: (["a b a b".split(), "p q n m".split()], [1.0, 1.0, 0.0, 0.0]),
    losses.CLASSES: (["a b p q n m".split()], [0, 1, 0, 1, 2, 3]),
    losses.TRIPLETS: (["a b".split(), "p q".split(), "n m".split()], None),
    losses.PAIRS: (["a b".split(), "p q".split()], None),
}


@pytest.mark.parametrize("name", losses.family())
def test_a_loss_of_the_family_is_the_librarys_on_texts_in_its_shape(name, sentence_model):
    shape, make = losses.family()[name]
    texts = dict(zip("abpqnm", ["a b", "x", "b c", "x y", "a c", "z"]))
    columns, labels = BY_HAND[shape]
    sentence_model.eval()

    def features(column):
        return sentence_model.preprocess([texts[letter] for letter in column])

    torch.manual_seed(0)
    ours = losses.FamilyLoss(name, sentence_model)
    made = ours([features("ab"), features("pq"), features("nm")])
    theirs = ours.loss  # the same margins, and the same weights if it has any
    theirs.model = theirs.sentence_embedder = sentence_model
    expected = theirs(
        [features(column) for column in columns], None if labels is None else torch.tensor(labels)
    )
    assert made.item() == pytest.approx(expected.item(), abs=1e-5) and made.item() > 0
    assert type(ours.loss) is getattr(library, name)
    made.backward()
    assert any(
        weight.grad is not None and weight.grad.abs().sum() > 0
        for weight in sentence_model.parameters()
    )


def test_the_librarys_sampler_for_classes_never_draws_a_denial():
    """Lesson 11 says so: a denial is the only text of its class."""
    fit, _, _ = negation.negation_parts()
    (texts,), labels = losses.shaped(
        losses.CLASSES, *(torch.arange(168) + 168 * at for at in range(3))
    )
    data = Dataset.from_dict(
        {"text": [str(text) for text in texts.tolist()], "label": labels.tolist()}
    )
    sampler = GroupByLabelBatchSampler(data, 32, False, ["label"], torch.Generator())
    drawn = {place for batch in sampler for place in batch}
    assert len(fit) == 168 and drawn and max(drawn) < 2 * 168


def test_the_lowest_rate_that_reaches_the_goal_is_taken_and_else_the_one_that_came_nearest(
    monkeypatch,
):
    def reaching(shares):
        monkeypatch.setattr(
            losses, "at_rate", lambda name, rate: (rate, 24, shares[losses.RATES.index(rate)])
        )
        rate, (model, _, share) = losses.at_the_lowest_rate("TripletLoss")
        assert model == rate
        return losses.RATES.index(rate), share

    assert reaching([0.7, 0.9, 0.9]) == (0, 0.7)
    assert reaching([0.3, 0.7, 0.9]) == (1, 0.7)
    assert reaching([0.3, 0.5, 0.5]) == (1, 0.5)


def test_reciprocal_ranks_are_those_of_the_librarys_evaluator(sentence_model):
    judged, queries = (
        load_doc_judgements().query("grade == 2"),
        load_doc_queries("test").set_index("id")["query"],
    )
    answers = judged.groupby("id")["name"].agg(set).to_dict()
    evaluate = InformationRetrievalEvaluator(
        queries.to_dict(), questions.collection().to_dict(), answers
    )
    found = questions.reciprocal_ranks(sentence_model)
    ours = found.loc[found["part"] == "test", "score"]
    assert len(ours) == 86 and ours.mean() == pytest.approx(
        evaluate(sentence_model)["cosine_mrr@10"], abs=1e-3
    )


def test_pairs_are_a_text_and_a_page_that_does_not_contain_it():
    for pairs, number in ((questions.question_pairs(), 536), (questions.own_pairs(), 1000)):
        assert (
            list(pairs.columns) == ["anchor", "positive"]
            and len(pairs) >= number
            and pairs.notna().all(axis=None)
        )
        assert set(pairs["positive"]) <= set(questions.pages())
        assert not any(row.anchor in row.positive for row in pairs.itertuples())
