"""`make bench`: the speed of `embed`, `search` and `closest_pairs` here, compared with Sentence Transformers.

Both sides run in turn, in one process, on the same sentences, so other load on the machine affects both. The output
shows medians of ratios. Peak memory is that of a fresh process for each side. The table in README.md beside this file
is updated.
"""

import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

import click
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PAGE = Path(__file__).with_name("README.md")
BATCHES = (8, 16)  # smaller and larger ones were slower on every text
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def texts():
    """Reviews of the course, as three workloads."""
    from course_utils import load_reviews

    sentences = load_reviews("rotten_tomatoes")["text"]
    whole = load_reviews("imdb")["text"]
    short = sentences[sentences.str.split().str.len() <= 20].sample(1000, random_state=0).tolist()
    beginnings = whole.str.split().str[:180].str.join(" ")
    long = beginnings.sample(150, random_state=0).tolist()
    mixed = [*sentences.sample(600, random_state=1), *beginnings.sample(60, random_state=1)]
    return {"short": short, "long": long, "mixed": mixed}


def sides():
    """From a name to a function from sentences to vectors. The library's settings are the fastest found by trial."""
    import torch
    from sentence_transformers import SentenceTransformer

    from course_utils import embed
    from course_utils._support.downloads import packaged_encoder
    from course_utils.embedding import has_bfloat16

    library = SentenceTransformer(str(packaged_encoder()), device="cpu")
    found = {"library": lambda t: library.encode(t, show_progress_bar=False)}
    for size in BATCHES:
        name = f"library, batches of {size}"
        found[name] = lambda t, size=size: library.encode(
            t, batch_size=size, show_progress_bar=False
        )
    found["ours"] = embed
    if has_bfloat16():
        half = SentenceTransformer(
            str(packaged_encoder()), device="cpu", model_kwargs={"dtype": torch.bfloat16}
        )
        found["library, bfloat16"] = lambda t: half.encode(
            t, convert_to_tensor=True, show_progress_bar=False
        )
        found["ours, bfloat16"] = lambda t: embed(t, precision="bfloat16")
    return found


def timed(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def fresh(program):
    """A program's output in a new process, the seconds it took, and its peak memory in MB."""
    program += "\nfrom tests.benchmarks.speed import peak_memory; print(peak_memory())"
    start = time.perf_counter()
    words = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    *printed, memory = done.stdout.split()
    return printed, time.perf_counter() - start, float(memory)


def peak_memory():
    """This process's peak memory in MB. getrusage would include the memory of its parent at the time of the fork."""
    path = Path("/proc/self/status")
    if path.exists():
        return (
            next(
                int(line.split()[1])
                for line in path.read_text().splitlines()
                if line.startswith("VmHWM")
            )
            / 1024
        )
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


LOAD_OURS = "from course_utils import embed\nembed({})"
LOAD_THEIRS = (
    "from sentence_transformers import SentenceTransformer\nfrom course_utils.models import packaged_folder\n"
    "SentenceTransformer(str(packaged_folder() / 'model'), device='cpu').encode({}, show_progress_bar=False)"
)
CLOSEST = """import time
import numpy as np
from course_utils import closest_pairs
vectors = np.random.default_rng(0).normal(size=(10_000, 384)).astype(np.float32)
closest_pairs(vectors[:50])
start = time.perf_counter()
closest_pairs(vectors)
print(time.perf_counter() - start)
"""


def measure(sides, loads, rounds):
    """{(load, side): seconds of each round}. The sides take turns."""
    seconds = {(load, side): [] for load in loads for side in sides}
    for load, sentences in loads.items():
        for function in sides.values():
            function(sentences[:50])
        for turn in range(rounds):
            for side, function in sides.items():
                seconds[load, side].append(timed(function, sentences))
            click.echo(f"{load}: round {turn + 1} of {rounds}", err=True)
    return seconds


def ratios(seconds, slow, fast):
    """{load: how many times as long the slow side took as the fast one}: a median of rounds, as text."""
    loads = dict.fromkeys(load for load, _ in seconds)
    pairs = {load: zip(seconds[load, slow], seconds[load, fast], strict=True) for load in loads}
    return {
        load: f"{statistics.median(s / f for s, f in pair):.2f}" for load, pair in pairs.items()
    }


def at_best_batch_size(seconds, loads):
    """For each load, the ratio to the library at its fastest, with that batch size."""
    batch_sizes = {"library": 32} | {f"library, batches of {size}": size for size in BATCHES}
    cells = []
    for load in loads:
        best = min(batch_sizes, key=lambda side: statistics.median(seconds[load, side]))
        cells.append(f"{ratios(seconds, best, 'ours')[load]} ({batch_sizes[best]})")
    return cells


def table_rows(sides, loads, seconds):
    compare = [side for side in ("library", "ours", "ours, bfloat16") if side in sides]
    agree = {
        load: {side: sides[side](sentences) for side in compare}
        for load, sentences in loads.items()
    }
    rows = {
        "float32, times the library at its defaults": [
            *ratios(seconds, "library", "ours").values()
        ],
        "float32, times the library at its best batch size (in brackets)": at_best_batch_size(
            seconds, loads
        ),
        "float32, largest difference from the library's numbers": [
            f"{np.abs(vectors['library'] - vectors['ours']).max():.0e}"
            for vectors in agree.values()
        ],
    }
    if "ours, bfloat16" in sides:
        rows |= {
            "bfloat16, times the library in float32": [
                *ratios(seconds, "library", "ours, bfloat16").values()
            ],
            "bfloat16, times the library in bfloat16": [
                *ratios(seconds, "library, bfloat16", "ours, bfloat16").values()
            ],
            "bfloat16, lowest cosine to the library's float32": [
                f"{(vectors['library'] * vectors['ours, bfloat16']).sum(axis=1).min():.5f}"
                for vectors in agree.values()
            ],
        }
    return rows


# Of a new process for each side: seconds with one sentence, MB with many; and those of the closest pair.
Processes = namedtuple("Processes", "ours library our_memory library_memory closest closest_memory")


def fresh_processes(sentences):
    """What new processes take: see Processes."""
    ours, library = (
        statistics.median(fresh(program.format("['one']"))[1] for _ in range(3))
        for program in (LOAD_OURS, LOAD_THEIRS)
    )
    _, _, our_memory = fresh(LOAD_OURS.format(json.dumps(sentences)))
    _, _, library_memory = fresh(LOAD_THEIRS.format(json.dumps(sentences)))
    (closest,), _, closest_memory = fresh(CLOSEST)
    return Processes(ours, library, our_memory, library_memory, float(closest), closest_memory)


def page_lines(rows, loads, processes, rounds):
    """The lines of the page: a table, and sentences about the processes and the machine."""
    import torch

    return [
        f"| | {' | '.join(loads)} |",
        "|---" * (len(loads) + 1) + "|",
        *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()),
        "",
        f"A fresh process embeds its first sentence and ends after {processes.ours:.1f} s, with the library after "
        f"{processes.library:.1f} s ({processes.ours / processes.library:.0%}). Peak memory of a process that embeds "
        f"the mixed text: {processes.our_memory:,.0f} MB, the library's {processes.library_memory:,.0f} MB. The "
        f"closest pair among 10,000 vectors takes {processes.closest:.2f} s, in a process of "
        f"{processes.closest_memory:,.0f} MB.",
        "",
        f"Measured on: {machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}; medians of "
        f"{rounds} rounds.",
    ]


@click.command()
@click.option("--rounds", default=5, show_default=True, help="How often both sides take turns.")
@click.option(
    "--write/--no-write", default=True, show_default=True, help="Renew the table in README.md."
)
def main(rounds, write):
    """Measure, print a table, and put it into README.md beside this file."""
    functions = sides()
    loads = texts()
    rows = table_rows(functions, loads, measure(functions, loads, rounds))
    lines = page_lines(rows, loads, fresh_processes(loads["mixed"]), rounds)
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
    import torch

    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    return f"{name} ({torch.backends.cpu.get_cpu_capability()})"


if __name__ == "__main__":
    main()
