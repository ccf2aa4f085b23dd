"""How much of the encoder must be trained? Another slow part of lesson 10, stored as tables.

    python -m course_utils.trainings.depth

trains the classifiers again (about three quarters of an hour on two cores) and writes `depth*.csv`
beside this file.
"""

from ..models import progress_bar
from . import learning_curve
from .common import FOLDER, chosen_rate, script, write_table
from .learning_curve import SEEDS, fine_tuned, probabilities

EXAMPLES = 1600
# what is trained, the head on the mean always among it: how many of the last layers, None for
# everything
DEPTHS = {"head": 0, "last layer": 1, "last two layers": 2, "everything": None}
# the head reads this layer, and the later ones are taken off
READ = {"everything up to layer 4": 4}
RATES = (5e-5, 5e-4, 5e-3)
TABLE = FOLDER / "depth.csv"  # one row per depth, learning rate and seed
# the probabilities for each test sentence: seed 0, at the learning rate that the validation part
# chose
ANSWERS = FOLDER / "depth_answers.csv"


@script
def main(folder):
    """Train to each depth at three learning rates with seed 0; then at the chosen one, often."""
    train, validation, test = learning_curve.review_parts()
    rows, answers = [], {}

    def trained(depth, rate, seed):
        chosen = train.sample(EXAMPLES, random_state=seed)
        settings = {"learning_rate": rate, "pooling": "mean"}
        settings |= {"layers": DEPTHS.get(depth), "read": READ.get(depth)}
        tuned = fine_tuned(chosen["text"], chosen["label"], seed, **settings)
        weights = sum(part.numel() for part in tuned[1].parameters() if part.requires_grad)
        row = {"trained": depth, "weights": weights, "learning_rate": rate, "seed": seed}
        for name, part in (("validation", validation), ("test", test)):
            found = probabilities(*tuned, part["text"])
            row[name] = round(float(((found > 0.5) == part["label"]).mean()), 4)
        rows.append(row)
        bar.write(str(row))
        return row["validation"], found

    for depth in (bar := progress_bar(iterable=DEPTHS | READ, unit="depth")):
        tries = {rate: trained(depth, rate, SEEDS[0]) for rate in RATES}
        rate = chosen_rate(tries)
        answers[depth] = tries[rate][1].round(3)
        for seed in SEEDS[1:]:
            trained(depth, rate, seed)
    write_table(rows, folder / TABLE.name)
    write_table(answers, folder / ANSWERS.name)
