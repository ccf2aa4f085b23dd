"""How much of the encoder must be trained? Another slow part of lesson 10, stored as tables.

    python -m course_utils.trainings.depth

trains the classifiers again (about three quarters of an hour on two cores) and writes `depth*.csv`
beside this file.
"""

import numpy as np

from ..models import progress_bar
from . import learning_curve
from .common import FOLDER, Bar, Folder, Row, script, write_table
from .learning_curve import SEEDS, accuracy, fine_tuned, probabilities

EXAMPLES = 1600  # as in the largest trainings of `learning_curve`
# how many of the last layers are trained beside the head, which is on the mean; None is everything
DEPTHS = {"head": 0, "last layer": 1, "last two layers": 2, "everything": None}
# the head reads this layer, and the later ones are taken off
READ = {"everything up to layer 4": 4}
RATES = (5e-5, 5e-4, 5e-3)  # the fewer weights are trained, the higher the rate may be
TABLE = FOLDER / "depth.csv"  # one row per depth, learning rate and seed
# a column per depth: the probability for each test sentence, with seed 0 and the learning rate that
# did best on the validation part
ANSWERS = FOLDER / "depth_answers.csv"


def trained_to_depth(depth: str, rate: float, seed: int, bar: Bar) -> tuple[Row, np.ndarray]:
    """(row for TABLE, probabilities for the test part) of one training.

    depth: a name in DEPTHS or READ. bar: the row is printed above it.
    """
    train, validation, test = learning_curve.review_parts()
    examples = train.sample(EXAMPLES, random_state=seed)
    tokenizer, model = fine_tuned(
        examples["text"],
        examples["label"],
        seed,
        learning_rate=rate,
        pooling="mean",
        layers=DEPTHS.get(depth),  # of a name in READ, everything that is left is trained
        read=READ.get(depth),
    )
    on_validation = probabilities(tokenizer, model, validation["text"])
    on_test = probabilities(tokenizer, model, test["text"])
    row = {
        "trained": depth,
        "weights": sum(part.numel() for part in model.parameters() if part.requires_grad),
        "learning_rate": rate,
        "seed": seed,
        "validation": accuracy(on_validation, validation["label"]),
        "test": accuracy(on_test, test["label"]),
    }
    bar.write(str(row))
    return row, on_test


@script
def main(folder: Folder) -> None:
    """Train to each depth: at three rates with the first seed, at the best one with the others."""
    rows, answers = [], {}
    bar = progress_bar(iterable=[*DEPTHS, *READ], unit="depth")
    for depth in bar:
        tries = [trained_to_depth(depth, rate, SEEDS[0], bar) for rate in RATES]
        best_row, on_test = max(tries, key=lambda training: training[0]["validation"])
        answers[depth] = on_test.round(3)
        repeated = [
            trained_to_depth(depth, best_row["learning_rate"], seed, bar) for seed in SEEDS[1:]
        ]
        rows += [row for row, _ in tries + repeated]
    write_table(rows, folder / TABLE.name)
    write_table(answers, folder / ANSWERS.name)
