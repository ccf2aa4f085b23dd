"""The losses of one family on the same triplets: what each forgets at an equal gain.

    python -m course_utils.trainings.losses

trains an encoder with each loss until it has reached the goal of `negation.py` on the development
part, or for EPOCHS epochs (about a quarter of an hour on two cores). It writes `losses.csv`, which
lesson 11 loads, beside this file. Each step reads the same 32 triplets, whatever the loss:
`FamilyLoss` puts their vectors into the shape of data that the loss takes.
"""

from functools import cache
from typing import Any

import torch
from sentence_transformers.sentence_transformer import losses

from ..data import load_triplets
from . import negation
from .common import FOLDER, Folder, Row, rows_of_each, script, write_table

FILE = FOLDER / "losses.csv"  # one row per loss, seed and measure
SEEDS, EPOCHS = (0, 1), 4
RATES = (2e-5, 5e-5, 1e-4)  # tried in this order; the first that reaches the goal is taken
# of the losses with one margin, all with 1 - cosine as the distance; as in `negation`
MARGIN = 0.5
# the shapes of data that losses take
PER_PAIR, SCORED = "two texts and 0 or 1", "two texts and a score"
CLASSES, PAIRS = "a text and its class", "two texts that belong together"
TRIPLETS = "anchor, positive, negative"


class ReadyVectors(torch.nn.Module):
    """Stands in for the encoder of a loss whose inputs are vectors already."""

    device = torch.device("cpu")

    def forward(self, vectors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {"sentence_embedding": vectors["vectors"]}


@cache
def family() -> dict[str, tuple[str, Any]]:
    """{name of a loss in the library: (shape of data that it takes, function that makes it for
    vectors of this length)}.

    The margins and scales are the library's, except the margin of the triplet losses: theirs is
    Euclidean and 5, which vectors of length 1 cannot satisfy (lesson 11).
    """
    encoder: Any = ReadyVectors()

    def made_by(loss, **settings):
        # for losses that do not ask for the length of the vectors
        return lambda hidden: loss(encoder, **settings)

    in_batch = {  # settings of losses that look for triplets in a batch
        "distance_metric": losses.BatchHardTripletLossDistanceFunction.cosine_distance,
        "margin": MARGIN,
    }
    cosine = {"distance_metric": losses.TripletDistanceMetric.COSINE, "triplet_margin": MARGIN}
    return {
        "ContrastiveLoss": (PER_PAIR, made_by(losses.ContrastiveLoss)),
        "OnlineContrastiveLoss": (PER_PAIR, made_by(losses.OnlineContrastiveLoss)),
        # the one loss that must know the length of the vectors, since it has weights of its own
        "SoftmaxLoss": (PER_PAIR, lambda hidden: losses.SoftmaxLoss(encoder, hidden, num_labels=2)),
        "CosineSimilarityLoss": (SCORED, made_by(losses.CosineSimilarityLoss)),
        "TripletLoss": (TRIPLETS, made_by(losses.TripletLoss, **cosine)),
        "BatchAllTripletLoss": (CLASSES, made_by(losses.BatchAllTripletLoss, **in_batch)),
        "BatchHardTripletLoss": (CLASSES, made_by(losses.BatchHardTripletLoss, **in_batch)),
        "BatchSemiHardTripletLoss": (CLASSES, made_by(losses.BatchSemiHardTripletLoss, **in_batch)),
        "MultipleNegativesRankingLoss": (TRIPLETS, made_by(losses.MultipleNegativesRankingLoss)),
        # its mini-batched version is for batches that do not fit into memory; these are small
        "MegaBatchMarginLoss": (
            PAIRS,
            made_by(losses.MegaBatchMarginLoss, use_mini_batched_version=False),
        ),
    }


def shaped(
    shape: str, anchor: torch.Tensor, positive: torch.Tensor, negative: torch.Tensor
) -> tuple[list[torch.Tensor], torch.Tensor | None]:
    """(columns, labels) as a loss gets them, from B triplets.

    shape: one of the five at the head of this file. anchor, positive, negative: tensors (B, ...).

    PER_PAIR, SCORED: each anchor beside its positive, with label or score 1, then each anchor
    beside its negative, with 0. CLASSES: an anchor and its positive say the same, so they are one
    class; their denial is a class of its own. PAIRS: anchors and positives; this shape has no place
    for the denials.
    """
    if shape == TRIPLETS:
        return [anchor, positive, negative], None
    if shape == PAIRS:
        return [anchor, positive], None
    count = len(anchor)
    if shape == CLASSES:
        claims = torch.arange(count)
        labels = torch.cat([claims, claims, claims + count])
        return [torch.cat([anchor, positive, negative])], labels
    columns = [torch.cat([anchor, anchor]), torch.cat([positive, negative])]
    similar = torch.arange(2 * count) < count
    return columns, similar.long() if shape == PER_PAIR else similar.float()


class FamilyLoss(torch.nn.Module):
    """A loss of the library for triplets, whatever shape of data it takes.

    name: one of `family()`. model: an encoder, for training; without one, only `of` can be used.
    hidden: the length of the vectors, if there is no model.
    """

    def __init__(self, name: str, model: Any = None, hidden: int = 2):
        super().__init__()
        self.shape, make = family()[name]
        self.model = model
        self.loss = make(model.get_embedding_dimension() if model is not None else hidden)

    def of(
        self, anchor: torch.Tensor, positive: torch.Tensor, negative: torch.Tensor
    ) -> torch.Tensor:
        """The loss of B triplets of vectors, each member a tensor (B, hidden)."""
        columns, labels = shaped(self.shape, anchor, positive, negative)
        return self.loss([{"vectors": column} for column in columns], labels)

    def forward(self, features: list[Any], labels: Any = None) -> torch.Tensor:
        # as the trainer calls it: features of anchors, positives and negatives
        return self.of(*(self.model(column)["sentence_embedding"] for column in features))


def unrelated_cosine(model: Any) -> float:
    """The mean cosine of the test part's anchors with each other.

    It is near 1 if all vectors point the same way.
    """
    return negation.mean_cosine(model, load_triplets("test")["anchor"])


def at_rate(name: str, rate: float, seed: int = 0) -> tuple[Any, int, float]:
    """Train with a loss at a rate until the goal is reached.

    Returns (model, steps, share of the development part that is right).
    """
    model, step_losses, _ = negation.trained(
        lambda model: FamilyLoss(name, model),
        learning_rate=rate,
        epochs=EPOCHS,
        seed=seed,
        goal=negation.GOAL,
    )
    share = negation.right_triplets(model, negation.negation_parts()[1]).mean()
    return model, len(step_losses), float(share)


def at_the_lowest_rate(name: str) -> tuple[float, tuple[Any, int, float]]:
    """Try RATES in turn until one reaches the goal. Returns (rate, what `at_rate` returns).

    If no rate does, it is the one with the highest share of the development part; of equal shares,
    the lowest rate.
    """
    trainings, shares = {}, {}  # by rate
    for rate in RATES:
        trainings[rate] = at_rate(name, rate)
        _, _, shares[rate] = trainings[rate]
        if shares[rate] >= negation.GOAL:
            break
    best_rate = max(shares, key=lambda rate: shares[rate])  # of equal shares, the first
    return best_rate, trainings[best_rate]


@script
def main(folder: Folder) -> None:
    """Train with each loss of the family to an equal gain; write what each gained and lost.

    Each loss, for each seed, is compared with TripletLoss of the same seed.
    """
    before = negation.measured(negation.fresh_encoder())
    of_triplet_loss = {}  # {seed: what was measured of it}; TripletLoss comes first

    def rows_of(name: str) -> list[Row]:
        # trainings at several rates have the first seed; the other seeds follow at the chosen rate
        rate, first_training = at_the_lowest_rate(name)
        rows = []
        for seed in SEEDS:
            model, steps, share = first_training if seed == SEEDS[0] else at_rate(name, rate, seed)
            after = negation.measured(model)
            of_triplet_loss.setdefault(seed, after)
            about = {
                "loss": name,
                "shape": family()[name][0],
                "seed": seed,
                "rate": rate,
                "steps": steps,
                "development": round(share, 4),
                "unrelated": round(float(unrelated_cosine(model)), 4),
            }
            rows += [
                about | row for row in negation.change_rows(before, after, of_triplet_loss[seed])
            ]
        return rows

    # TripletLoss comes first: the others are compared with it
    turns = [(name,) for name in sorted(family(), key=lambda name: name != "TripletLoss")]
    write_table(rows_of_each(turns, rows_of, unit="loss"), folder / FILE.name)
