"""Does the second sentence of a pair say the same? The slow part of lesson 10's part on pairs.

    python -m course_utils.trainings.pairs

trains the classifiers of pairs again (about half an hour on two cores) and writes `pairs*.csv`
beside this file.
"""

import math

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import balanced_accuracy_score

from ..data import load_triplets
from ..embedding import has_bfloat16
from ..models import progress_bar
from ..pooling import mean_pool
from .common import (
    FOLDER,
    Bar,
    Folder,
    Model,
    Tokenizer,
    inputs_of,
    probabilities_of,
    script,
    stepper,
    write_table,
)
from .learning_curve import classifier

KINDS = ("paraphrase", "denial", "unrelated")
WAYS, RATES = ("bi-encoder", "cross-encoder"), (5e-5, 1e-4, 2e-4)
EPOCHS, BATCH, LONGEST = 6, 16, 64  # LONGEST: the most tokens of a pair
# which kinds of pairs a cross-encoder is trained on, beside the trainings on all of them: the
# paraphrases, and one other kind as the only one with label 0
FEWER = {"denials only": ("paraphrase", "denial"), "unrelated only": ("paraphrase", "unrelated")}
# what a training shares with the tested pairs: see `shared_parts`
SPLITS = ("pairs swapped", "sentences shared", "constructions shared", "nothing shared")
# the probability of "paraphrase" for each test pair, as it stands and swapped: two columns per
# training, "{way}, {training}, {seed}" and the same with ", swapped"
ANSWERS = FOLDER / "pairs_answers.csv"
# the same for trainings that differ in what they share with the tested pair
SPLIT = FOLDER / "pairs_split.csv"


def pairs_of(triplets: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The pairs of a table of triplets, three for each triplet.

    Returns a table with the columns `triplet`, its row; `kind`, one of KINDS; `first`, its anchor;
    `second`, its paraphrase, its denial, or a sentence of another of these triplets, drawn with the
    seed; and `label`, 1 for a paraphrase, else 0.
    """
    rng = np.random.default_rng(seed)
    members = triplets[["anchor", "positive", "negative"]].to_numpy()
    order = rng.permutation(len(members))
    another = np.empty_like(order)
    another[order] = np.roll(order, 1)  # the triplet before it in the drawn order
    unrelated = members[another, rng.integers(0, 3, len(members))]
    return pd.DataFrame(
        {
            "triplet": np.repeat(triplets.index, len(KINDS)),
            "kind": KINDS * len(members),
            "first": np.repeat(members[:, 0], len(KINDS)),
            "second": np.column_stack([members[:, 1], members[:, 2], unrelated]).ravel(),
            "label": [1, 0, 0] * len(members),  # in the order of KINDS
        }
    )


def pair_table(part: str) -> pd.DataFrame:
    """The pairs of a part of the course's triplets, "train", "dev" or "test": see `pairs_of`."""
    return pairs_of(load_triplets(part))


class BiEncoder(torch.nn.Module):
    """An encoder that reads the two sentences separately, and a linear head on (u, v, |u - v|).

    Reimers and Gurevych (2019), section 3; `u` and `v` are means of token vectors, (batch, hidden).
    """

    def __init__(self, encoder: Model):
        super().__init__()
        self.encoder, self.head = encoder, torch.nn.Linear(3 * encoder.config.hidden_size, 2)

    def forward(
        self, first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]
    ) -> torch.Tensor:
        # the logits of pairs, (batch, 2), from the inputs of their first and second sentences
        u, v = (
            mean_pool(self.encoder(**inputs).last_hidden_state, inputs["attention_mask"])
            for inputs in (first, second)
        )
        return self.head(torch.cat([u, v, (u - v).abs()], dim=1))


def pair_classifier(way: str) -> tuple[Tokenizer, Model]:
    """(tokenizer, model): the packaged encoder with an untrained head.

    way: one of WAYS. A cross-encoder reads both sentences as one input, and its head is on [CLS].
    """
    tokenizer, model = classifier()
    return tokenizer, BiEncoder(model.base_model) if way == "bi-encoder" else model


def logits_of(
    tokenizer: Tokenizer, model: Model, first: pd.Series, second: pd.Series
) -> torch.Tensor:
    """The model's logits for pairs: a tensor (pairs, 2)."""
    if isinstance(model, BiEncoder):
        return model(*(inputs_of(tokenizer, column, longest=LONGEST) for column in (first, second)))
    return model(**inputs_of(tokenizer, first, second, longest=LONGEST)).logits


def trained_pairs(
    way: str, pairs: pd.DataFrame, rate: float, seed: int = 0, either_order: bool = False
) -> tuple[Tokenizer, Model]:
    """(tokenizer, model) trained on a table of pairs, with the loop of the lesson.

    Both labels have the same weight in the loss, however many pairs each has. Matrix products are
    in bfloat16 on processors that have it. The model is returned in evaluation mode.

    pairs: with the columns of `pairs_of`.
    either_order: swap the two sentences of a pair half of the time, drawn anew in each epoch.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    tokenizer, model = pair_classifier(way)
    step = stepper(model, rate, EPOCHS * math.ceil(len(pairs) / BATCH))
    texts, labels = pairs[["first", "second"]].to_numpy(), torch.tensor(pairs["label"].to_numpy())
    # the rarer a label, the more a pair of it counts: both sum to half of all
    weight = len(labels) / (2 * torch.bincount(labels, minlength=2))
    model.train()
    for _ in range(EPOCHS):
        order = rng.permutation(len(texts))
        swapped = rng.random(len(texts)) < (0.5 if either_order else 0)
        shown = np.where(swapped[:, None], texts[:, ::-1], texts)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            with torch.autocast("cpu", torch.bfloat16, enabled=has_bfloat16()):  # twice as fast
                # transposed: the first sentences, the second sentences
                logits = logits_of(tokenizer, model, *shown[rows].T)
            step(torch.nn.functional.cross_entropy(logits.float(), labels[rows], weight))
    return tokenizer, model.eval()


def paraphrase_probabilities(
    tokenizer: Tokenizer, model: Model, first: pd.Series, second: pd.Series
) -> np.ndarray:
    """The probability that the model gives to "paraphrase", for each pair. Array (n,)."""
    texts = np.array([list(first), list(second)])
    lengths = np.char.str_len(texts).sum(axis=0)
    return probabilities_of(lambda places: logits_of(tokenizer, model, *texts[:, places]), lengths)


def answers_of(way: str, bar: Bar) -> tuple[float, dict[str, np.ndarray]]:
    """(rate, answers) of one of WAYS: the chosen rate, and a dictionary of columns for ANSWERS.

    The rate is the one with the highest balanced accuracy on the development part. With it, the
    cross-encoder is also trained on fewer kinds of pairs, and on all of them in either order.

    bar: it moves by one for each training, and the accuracy is printed above it.
    """
    fit, dev, test = (pair_table(part) for part in ("train", "dev", "test"))

    def trained_and_asked(name, rate, pairs=fit, **settings):
        """(balanced accuracy on the development part, columns for ANSWERS) of one training."""
        tuned = trained_pairs(way, pairs, rate, **settings)
        on_dev = paraphrase_probabilities(*tuned, dev["first"], dev["second"])
        score = round(float(balanced_accuracy_score(dev["label"], on_dev > 0.5)), 4)
        bar.update()
        bar.write(f"{way}, {name}, rate {rate}: {score} on the development part")
        as_it_stands = paraphrase_probabilities(*tuned, test["first"], test["second"])
        swapped = paraphrase_probabilities(*tuned, test["second"], test["first"])
        column = f"{way}, {name}, 0"  # with seed 0
        return score, {column: as_it_stands.round(3), f"{column}, swapped": swapped.round(3)}

    tries = [(*trained_and_asked("all kinds", rate), rate) for rate in RATES]
    _, answers, rate = max(tries, key=lambda training: training[0])
    if way == "cross-encoder":
        fewer = {name: {"pairs": fit[fit["kind"].isin(kinds)]} for name, kinds in FEWER.items()}
        for name, settings in (fewer | {"either order": {"either_order": True}}).items():
            _, columns = trained_and_asked(name, rate, **settings)
            answers |= columns
    return rate, answers


def shared_parts(turn: int) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """(tested, {split: pairs to train on}): one pair of each tested triplet, and four equally large
    training sets.

    Every second triplet of the test part is tested, with one of its three pairs: over the turns 0,
    1 and 2, each pair is tested once. The training sets share less and less with the tested pairs:

    - "pairs swapped": the tested pairs with the sentences exchanged, and the other two pairs of
      each tested triplet
    - "sentences shared": those other two, and pairs of other triplets instead of the swapped ones
    - "constructions shared": the other half of the test part
    - "nothing shared": pairs of the part "train"
    """
    triplets, fit = load_triplets("test"), load_triplets("train")
    # unrelated sentences are drawn after the split, so that no half holds one of the other
    half, others = (pairs_of(triplets[start::2]) for start in (0, 1))
    # a half has every second triplet, so `// 2` counts them; one kind is tested of each, in turn
    is_tested = (half["triplet"] // 2 + turn) % len(KINDS) == half["kind"].map(KINDS.index)
    tested, siblings = half[is_tested], half[~is_tested]
    swapped = tested.rename(columns={"first": "second", "second": "first"})
    # as many of each kind as are swapped
    instead = others.groupby("kind").head(len(tested) // len(KINDS))
    return tested, {
        "pairs swapped": pd.concat([siblings, swapped]),
        "sentences shared": pd.concat([siblings, instead]),
        "constructions shared": others,
        "nothing shared": pairs_of(fit.sample(len(triplets) // 2, random_state=turn)),
    }


def split_answers(rate: float, bar: Bar) -> pd.DataFrame:
    """The tested pairs, with a cross-encoder's probability of "paraphrase" by each of SPLITS.

    Returns a table with the columns `triplet`, `kind`, `label`, `turn`, and one for each split. The
    turn is also the seed of its trainings. bar: as in `answers_of`.
    """
    tables = []
    for turn in range(len(KINDS)):
        tested, sets = shared_parts(turn)
        table = tested[["triplet", "kind", "label"]].assign(turn=turn)
        for name, pairs in sets.items():
            tuned = trained_pairs("cross-encoder", pairs, rate, turn)
            answers = paraphrase_probabilities(*tuned, tested["first"], tested["second"])
            table[name] = answers.round(3)
            bar.update()
            score = balanced_accuracy_score(tested["label"], answers > 0.5)
            bar.write(f"{name}, turn {turn}: {score:.3f}")
        tables.append(table)
    return pd.concat(tables).sort_values(["triplet", "turn"])


@script
def main(folder: Folder) -> None:
    """Train classifiers on all kinds of pairs or fewer, and on sets that share more or less."""
    # those of `answers_of`, one of them in either order, and those of `split_answers`
    trainings = len(WAYS) * len(RATES) + len(FEWER) + 1 + len(SPLITS) * len(KINDS)
    with progress_bar(total=trainings) as bar:
        _, by_bi_encoder = answers_of("bi-encoder", bar)
        rate, by_cross_encoder = answers_of("cross-encoder", bar)
        write_table(by_bi_encoder | by_cross_encoder, folder / ANSWERS.name)
        write_table(split_answers(rate, bar), folder / SPLIT.name)
