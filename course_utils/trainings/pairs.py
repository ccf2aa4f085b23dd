"""Does the second sentence of a pair say the same as the first? The slow part of lesson 10's part
on pairs.

    python -m course_utils.trainings.pairs

trains the classifiers of pairs again (about half an hour on two cores) and writes `pairs*.csv`
beside this file.
"""

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from ..data import load_triplets
from ..embedding import has_bfloat16
from ..models import progress_bar
from ..pooling import mean_pool
from .common import FOLDER, chosen_rate, inputs_of, probabilities_of, script, stepper, write_table
from .learning_curve import classifier

KINDS = ("paraphrase", "denial", "unrelated")
WAYS, RATES = ("bi-encoder", "cross-encoder"), (5e-5, 1e-4, 2e-4)
SEEDS, EPOCHS, BATCH, LONGEST = (0,), 6, 16, 64
# which kinds of pairs a cross-encoder is trained on, beside the trainings on all of them
FEWER = {"denials only": KINDS[:2], "unrelated only": KINDS[::2]}
SPLITS = ("pairs swapped", "sentences shared", "constructions shared", "nothing shared")
TABLE = FOLDER / "pairs.csv"  # one row per training
# the probability of "paraphrase" for each test pair, as it stands and swapped: a column per
# training
ANSWERS = FOLDER / "pairs_answers.csv"
# the same for trainings that differ in what they share with the tested pair
SPLIT = FOLDER / "pairs_split.csv"


def pairs_of(triplets, seed=0):
    """The pairs of a table of triplets, three for each: a table with the columns below.

    `triplet` is its row, `kind` one of KINDS, `first` its anchor, and `second` its paraphrase, its
    denial, or a sentence of another of these triplets, drawn with the seed. `label` is 1 for a
    paraphrase, else 0.
    """
    import pandas as pd

    rng, members = (
        np.random.default_rng(seed),
        triplets[["anchor", "positive", "negative"]].to_numpy(),
    )
    order, other = rng.permutation(len(members)), np.empty(len(members), int)
    other[order] = np.roll(order, 1)  # never the triplet itself
    seconds = dict(
        zip(KINDS, (members[:, 1], members[:, 2], members[other, rng.integers(0, 3, len(members))]))
    )
    rows = [
        {
            "triplet": triplets.index[row],
            "kind": kind,
            "first": members[row, 0],
            "second": seconds[kind][row],
        }
        for row in range(len(members))
        for kind in KINDS
    ]
    return pd.DataFrame(rows).assign(label=lambda table: (table["kind"] == KINDS[0]).astype(int))


def pair_table(part):
    """The pairs of a part of the course's triplets, "train", "dev" or "test": see `pairs_of`."""
    return pairs_of(load_triplets(part))


class BiEncoder(torch.nn.Module):
    """An encoder that reads the two sentences one by one, and a linear head on (u, v, |u - v|).

    Reimers and Gurevych (2019), section 3; `u` and `v` are means of token vectors, (batch, hidden).
    """

    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.head = encoder, torch.nn.Linear(3 * encoder.config.hidden_size, 2)

    def forward(self, first, second):
        u, v = (
            mean_pool(self.encoder(**inputs).last_hidden_state, inputs["attention_mask"])
            for inputs in (first, second)
        )
        return self.head(torch.cat([u, v, (u - v).abs()], dim=1))


def pair_classifier(way):
    """(tokenizer, model): the packaged encoder with an untrained head. A cross-encoder reads both
    sentences as one
    input, and its head is on [CLS].
    """
    tokenizer, model = classifier()
    return tokenizer, BiEncoder(model.base_model) if way == "bi-encoder" else model


def logits_of(tokenizer, model, first, second):
    """What the model says of pairs: a tensor (pairs, 2)."""
    if isinstance(model, BiEncoder):
        return model(
            *(inputs_of(tokenizer, sentences, longest=LONGEST) for sentences in (first, second))
        )
    return model(**inputs_of(tokenizer, first, second, longest=LONGEST)).logits


def trained_pairs(way, pairs, rate, seed=0, either_order=False):
    """(tokenizer, model) trained on a table of pairs, with the loop of the lesson.

    Both labels have the same weight in the loss, however many pairs each has. Matrix products are
    in bfloat16 on processors that have it.
    either_order: swap the two sentences of a pair half of the time, drawn anew in each epoch.
    """
    torch.manual_seed(seed)
    rng, (tokenizer, model) = np.random.default_rng(seed), pair_classifier(way)
    step = stepper(model, rate, EPOCHS * -(-len(pairs) // BATCH))
    texts, labels = pairs[["first", "second"]].to_numpy(), torch.tensor(pairs["label"].to_numpy())
    weight = len(labels) / (2 * torch.bincount(labels, minlength=2))
    model.train()
    for _ in range(EPOCHS):
        order, swapped = rng.permutation(len(texts)), rng.random(len(texts)) < either_order / 2
        shown = np.where(swapped[:, None], texts[:, ::-1], texts)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            with torch.autocast("cpu", torch.bfloat16, enabled=has_bfloat16()):  # twice as fast
                logits = logits_of(tokenizer, model, *shown[rows].T)
            step(cross_entropy(logits.float(), labels[rows], weight))
    return tokenizer, model.eval()


def paraphrase_probabilities(tokenizer, model, first, second):
    """The probability that the model gives to "paraphrase", for each pair. Array (n,)."""
    texts = np.array([list(first), list(second)])
    lengths = np.char.str_len(texts).sum(axis=0)
    return probabilities_of(lambda places: logits_of(tokenizer, model, *texts[:, places]), lengths)


def balanced_accuracy(probabilities, labels):
    """The mean of two shares: of the paraphrases that are called so, and of the other pairs that
    are not.
    """
    right = (np.asarray(probabilities) > 0.5) == labels
    return float((right[labels == 1].mean() + right[labels == 0].mean()) / 2)


def trainings_of(way, bar):
    """(rows, answers) of one of WAYS: each rate with seed 0, then the one chosen with the other
    seeds.

    The rate is the one with the highest balanced accuracy on the development part. The
    cross-encoder is then trained on fewer kinds of pairs, and on all of them in either order, too.
    """
    fit, dev, test = (pair_table(part) for part in ("train", "dev", "test"))
    rows, answers = [], {}

    def train(name, rate, seed, pairs=fit, **settings):
        tuned = trained_pairs(way, pairs, rate, seed, **settings)
        asked = ((dev, "first", "second"), (test, "first", "second"), (test, "second", "first"))
        found = [
            paraphrase_probabilities(*tuned, part[one], part[other]) for part, one, other in asked
        ]
        scores = [
            round(balanced_accuracy(p, part["label"]), 4) for p, part in zip(found, (dev, test))
        ]
        row = {
            "way": way,
            "training": name,
            "pairs": len(pairs),
            "learning_rate": rate,
            "seed": seed,
        }
        rows.append(row | dict(zip(("development", "test"), scores)))
        bar.update()
        bar.write(", ".join(map(str, rows[-1].values())))
        return scores[0], {
            f"{way}, {name}, {seed}": found[1],
            f"{way}, {name}, {seed}, swapped": found[2],
        }

    tries = {rate: train("all kinds", rate, SEEDS[0]) for rate in RATES}
    rate = chosen_rate(tries)
    answers |= tries[rate][1]
    for seed in SEEDS[1:]:
        answers |= train("all kinds", rate, seed)[1]
    for seed in SEEDS if way == WAYS[1] else ():
        for name, kinds in FEWER.items():
            answers |= train(name, rate, seed, fit[fit["kind"].isin(kinds)])[1]
        answers |= train("either order", rate, seed, either_order=True)[1]
    return rows, {name: values.round(3) for name, values in answers.items()}


def shared_parts(turn):
    """(tested, {split: pairs to train on}): one pair of each tested triplet, and four equally large
    training sets.

    Tested is every second triplet of the test part, with one of its three pairs: over the turns 0,
    1 and 2, each pair is tested once. The training sets share less and less with the tested pairs:
    "pairs swapped" has the tested pairs with the sentences exchanged, and the other two pairs of
    each tested triplet; "sentences shared" has those two, and pairs of other triplets instead of
    the swapped ones; "constructions shared" has the other half of the test part; "nothing shared"
    has pairs of the part `train`.
    """
    import pandas as pd

    triplets, fit = load_triplets("test"), load_triplets("train")
    mine, others = (pairs_of(triplets[start::2]) for start in (0, 1))  # drawn after the split
    chosen = (mine["triplet"] // 2 + turn) % len(KINDS) == mine["kind"].map(KINDS.index)
    tested, siblings = mine[chosen], mine[~chosen]
    swapped = tested.rename(columns={"first": "second", "second": "first"})
    instead = others.groupby("kind").head(len(tested) // len(KINDS))
    apart = pairs_of(fit.sample(len(triplets) // 2, random_state=turn))
    sets = (pd.concat([siblings, swapped]), pd.concat([siblings, instead]), others, apart)
    return tested, dict(zip(SPLITS, sets))


def split_answers(rate, bar):
    """The tested pairs with a cross-encoder's probability of "paraphrase" after training on each of
    SPLITS. A table.
    """
    import pandas as pd

    parts = []
    for turn in range(len(KINDS)):
        tested, sets = shared_parts(turn)
        found = tested[["triplet", "kind", "label"]].assign(turn=turn)
        for name, pairs in sets.items():
            model = trained_pairs(WAYS[1], pairs, rate, turn)
            found[name] = paraphrase_probabilities(*model, tested["first"], tested["second"]).round(
                3
            )
            bar.update()
            bar.write(f"{name}, turn {turn}: {balanced_accuracy(found[name], tested['label']):.3f}")
        parts.append(found)
    return pd.concat(parts).sort_values(["triplet", "turn"])


@script
def main(folder):
    """Train classifiers of pairs, on all kinds of pairs or fewer, and on sets that share more or
    less with the test.
    """
    bar = progress_bar(
        total=len(WAYS) * (len(RATES) + len(SEEDS) - 1) + 3 * len(SEEDS) + len(SPLITS) * len(KINDS)
    )
    (few, some), (rows, answers) = (trainings_of(way, bar) for way in WAYS)
    write_table(few + rows, folder / TABLE.name)
    write_table(some | answers, folder / ANSWERS.name)
    write_table(split_answers(rows[-1]["learning_rate"], bar), folder / SPLIT.name)
