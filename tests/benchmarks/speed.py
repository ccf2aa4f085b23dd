"""`make bench`: the speed of `embed`, compared with Sentence Transformers.

Both sides run in turn, in one process, on the same sentences, so other load on the machine affects both. The output
shows medians of ratios. The table in README.md beside this file is updated.
"""

import platform
import time
from pathlib import Path

import click
import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from course_utils import embed, load_reviews
from course_utils._support.downloads import packaged_encoder
from course_utils.embedding import has_bfloat16

PAGE = Path(__file__).with_name("README.md")
# the library's default first; smaller and larger ones were slower on every text
BATCHES = (32, 8, 16)
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def texts():
    """Reviews of the course as three workloads: {name: texts}.

    Short ones are sentences of at most 20 words, long ones the beginnings of reviews; the mix has
    ten sentences of any length for each beginning.
    """
    sentences = load_reviews("rotten_tomatoes")["text"]
    short = sentences[sentences.str.split().str.len() <= 20].sample(1000, random_state=0).tolist()
    # 180 words are seldom more than 256 tokens
    beginnings = load_reviews("imdb")["text"].str.split().str[:180].str.join(" ")
    long = beginnings.sample(150, random_state=0).tolist()
    mixed = [*sentences.sample(600, random_state=1), *beginnings.sample(60, random_state=1)]
    return {"short": short, "long": long, "mixed": mixed}


def library(batch, dtype=torch.float32):
    """A function from sentences to the library's vectors. batch: its batch size."""
    model = SentenceTransformer(
        str(packaged_encoder()), device="cpu", model_kwargs={"dtype": dtype}
    )
    return lambda sentences: model.encode(
        sentences, batch_size=batch, convert_to_tensor=True, show_progress_bar=False
    )


def sides():
    """{side: its function from sentences to vectors}."""
    functions = {f"library, batches of {size}": library(size) for size in BATCHES} | {"ours": embed}
    if has_bfloat16():
        functions["library, bfloat16"] = library(BATCHES[0], torch.bfloat16)
        functions["ours, bfloat16"] = lambda sentences: embed(sentences, precision="bfloat16")
    return functions


def measure(functions, sentences, rounds):
    """{side: [seconds of each round]}. The sides take turns."""
    seconds = {side: [] for side in functions}
    for turn in range(rounds + 1):  # round 0 warms up, with a few sentences
        for side, function in functions.items():
            start = time.perf_counter()
            function(sentences[:50] if turn == 0 else sentences)
            seconds[side].append(time.perf_counter() - start)
    return {side: of_rounds[1:] for side, of_rounds in seconds.items()}


def ratio(seconds, slow, fast):
    """How many times as long the slow side took as the fast one: a median of rounds, as text."""
    return f"{np.median(np.divide(seconds[slow], seconds[fast])):.2f}"


def column(functions, sentences, seconds):
    """{name of a row: its cell} for one workload. seconds: what `measure` returns."""
    batches = [f"library, batches of {size}" for size in BATCHES]
    default = batches[0]
    best = min(batches, key=lambda side: np.median(seconds[side]))
    theirs, ours = np.asarray(functions[default](sentences)), functions["ours"](sentences)
    cells = {
        "float32, times the library at its defaults": ratio(seconds, default, "ours"),
        "float32, times the library at its best batch size (in brackets)": (
            f"{ratio(seconds, best, 'ours')} ({best.rpartition(' ')[2]})"  # the batch size
        ),
        "float32, largest difference from the library's numbers": f"{np.abs(theirs - ours).max():.0e}",
    }
    if "ours, bfloat16" in functions:
        # dot products of vectors of length 1
        lowest = (theirs * functions["ours, bfloat16"](sentences)).sum(axis=1).min()
        cells |= {
            "bfloat16, times the library in float32": ratio(seconds, default, "ours, bfloat16"),
            "bfloat16, times the library in bfloat16": ratio(
                seconds, "library, bfloat16", "ours, bfloat16"
            ),
            "bfloat16, lowest cosine to the library's float32": f"{lowest:.5f}",
        }
    return cells


@click.command()
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="How often both sides take turns.",
)
@click.option(
    "--write/--no-write", default=True, show_default=True, help="Renew the table in README.md."
)
def main(rounds, write):
    """Measure, print a table, and put it into README.md beside this file."""
    functions = sides()
    columns = {}
    for workload, sentences in texts().items():
        click.echo(f"{workload}: {rounds} rounds", err=True)
        columns[workload] = column(functions, sentences, measure(functions, sentences, rounds))
    lines = [
        f"| | {' | '.join(columns)} |",
        "|---" * (len(columns) + 1) + "|",
        *(
            f"| {name} | {' | '.join(cells[name] for cells in columns.values())} |"
            for name in columns["short"]  # all columns have the same rows
        ),
        "",
        f"Measured on: {machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}; "
        f"medians of {rounds} rounds.",
    ]
    show(PAGE, lines, BEGIN, END, write)


def show(page, lines, begin, end, write):
    """Print lines and, to write them, replace those between two markers of a page.

    Raises ValueError if the page does not have the markers.
    """
    click.echo("\n".join(lines))
    if not write:
        return
    before, mark, rest = page.read_text(encoding="utf-8").partition(begin)
    _, last, after = rest.partition(end)
    if not mark or not last:
        raise ValueError(f"{page} has no block from {begin} to {end}")
    page.write_text(before + "\n".join([begin, *lines, end]) + after, encoding="utf-8")


def machine():
    """The processor's name, as far as the system reports it, and its capabilities."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    return f"{name} ({torch.backends.cpu.get_cpu_capability()})"


if __name__ == "__main__":
    main()
