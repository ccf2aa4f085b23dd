"""How fast `embed` is beside the other ways to run the same encoder: Sentence Transformers on torch, ONNX and OpenVINO.

Each alternative is a process of its own (`peer_worker.py`), which stays. All take turns on the same sentences, on a
quiet machine and beside a process that keeps one core busy. The table in README.md beside this file is renewed.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
import numpy as np
import pandas as pd
import psutil

from .speed import PAGE, ROOT, machine, show, texts

BEGIN, END = "<!-- bench peers: begin -->", "<!-- bench peers: end -->"
# the lowest cosine to the library's float32 vectors that counts as the same precision
EQUAL = 0.9999
BATCHES = (8, 16, 32, 64, 128)
CONDITIONS = ("quiet", "busy")
NEED_PEERS = ("onnx", "openvino")  # the backends that do not live in the course's environment
PEERS = ("torch", *NEED_PEERS)
SIDES = [tuple(text.split()) for text in (
    "torch float32", "embed float32", "embed bfloat16", "torch bfloat16", "onnx float32", "openvino float32",
    "openvino bfloat16", "onnx int8", "openvino int8",
)]  # fmt: skip
SETTLE = 0.2  # seconds after which the threads of the last one sleep
BUSY = (
    "import os, torch\ntorch.set_num_threads(1)\na, parent = torch.rand(512, 512), os.getppid()\n"
    "print('ready', flush=True)\nwhile os.getppid() == parent:\n    a @ a"
)


def start(side, python, folder):
    """The process of one alternative. It exports and loads its model, and then says so."""
    from course_utils._support.downloads import packaged_encoder

    settings = {
        "MODEL": str(packaged_encoder()),
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder),
        "TQDM_DISABLE": "1",
    }
    environment = {
        name: value for name, value in os.environ.items() if name != "COURSE_ENCODER"
    } | settings
    words = [python, "-W", "ignore", "-m", "tests.benchmarks.peer_worker", *side, folder]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(words, **pipes, text=True, cwd=ROOT, env=environment)


def ask(worker, **question):
    """A worker's answer; without a question, its first. Raises RuntimeError with the reason if there is none."""
    if question:
        print(json.dumps(question), file=worker.stdin, flush=True)
    line = worker.stdout.readline()
    answer = json.loads(line) if line else {"failed": f"its process ended with {worker.wait()}"}
    if "failed" in answer:
        raise RuntimeError(answer["failed"])
    return answer


def prepared(folder, step):
    """Write what the workers read: the sentences to encode and, for int8, others to calibrate with."""
    from course_utils import load_reviews

    loads = {name: found[::step] for name, found in texts().items()}
    (folder / "texts.json").write_text(json.dumps(loads), encoding="utf-8")
    measured = {" ".join(text.split()) for found in loads.values() for text in found}
    reviews = [load_reviews(name)["text"] for name in ("rotten_tomatoes", "imdb")]
    others = [found[~found.str.split().str[:180].str.join(" ").isin(measured)] for found in reviews]
    (folder / "calibration").mkdir()
    chosen = [text for found in others for text in found.sample(50, random_state=2)]
    pd.DataFrame({"text": chosen}).to_csv(folder / "calibration" / "train.csv", index=False)
    return loads


def load_all(stack, folder, python, loads):
    """(workers, first answers, what is wrong with those that do not run, lowest cosines), each by side."""
    from course_utils.embedding import has_bfloat16

    workers, ready, failed, cosine, exact = {}, {}, {}, {}, {}
    for side in SIDES:
        click.echo(f"loading {' '.join(side)}", err=True)
        if side[1] == "bfloat16" and not has_bfloat16():
            failed[side] = "this processor has none"
            continue
        worker = start(side, python if side[0] in NEED_PEERS else sys.executable, folder)
        stack.enter_context(worker)  # which ends when its questions end
        try:
            ready[side], cosine[side] = ask(worker), 1.0
            for load in loads:
                ask(worker, load=load, batch=32, save=str(folder / "vectors.npy"))
                vectors = np.load(folder / "vectors.npy").astype(np.float64)
                vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
                exact.setdefault(load, vectors)  # the library's in float32 comes first
                cosine[side] = min(cosine[side], (vectors * exact[load]).sum(1).min())
        except (RuntimeError, BrokenPipeError) as error:
            if side in SIDES[:2]:
                raise  # without these two there is nothing to compare
            failed[side] = str(error)
        else:
            workers[side] = worker
    return workers, ready, failed, cosine


def best_batch(worker, load, sizes):
    """The batch size with which a peer is fastest. The best two run twice: the first run may compile."""
    first = {size: ask(worker, load=load, batch=size)["seconds"] for size in sizes}
    two = sorted(first, key=first.get)[:2]
    return min(
        two, key=lambda size: min(first[size], ask(worker, load=load, batch=size)["seconds"])
    )


@contextmanager
def busy_process():
    """A process that keeps one core busy while it is not suspended."""
    process = psutil.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        process.suspend()
        yield process
    finally:
        process.kill()
        process.wait()


def measured(workers, loads, batch, rounds):
    """Answers by (side, load, condition), one per round. Each round begins with another side."""
    found = {}
    with busy_process() as busy:
        for turn in range(rounds):
            for load in loads:
                for condition in CONDITIONS:
                    if condition == "busy":
                        busy.resume()
                    sides = list(workers)
                    for side in sides[turn % len(sides) :] + sides[: turn % len(sides)]:
                        time.sleep(SETTLE)
                        answer = ask(workers[side], load=load, batch=batch[side, load])
                        found.setdefault((side, load, condition), []).append(answer)
                    busy.suspend()
            click.echo(f"round {turn + 1} of {rounds}", err=True)
    return found


def table(workers, failed, loads, batch, speeds, cosine):
    """Rows of Markdown: sentences per second in every condition, the lowest cosine, the batch sizes."""
    columns = [(condition, load) for condition in CONDITIONS for load in loads]
    yield f"| | {' | '.join(f'{condition}, {load}' for condition, load in columns)} | lowest cosine | batch size |"
    yield "|---" * (len(columns) + 3) + "|"
    for side in SIDES:
        name = f"{'`embed`' if side[0] == 'embed' else side[0]}, {side[1]}"
        if side in workers:
            cells = [
                f"{statistics.median(speeds[side, load, condition]):,.0f}"
                for condition, load in columns
            ]
            sizes = "/".join(str(batch[side, load] or "-") for load in loads)
            yield f"| {name} | {' | '.join(cells)} | {cosine[side]:.5f} | {sizes} |"
        else:
            yield f"| {name} | {' | '.join([''] * len(columns))} | {failed[side].replace('|', '/')} | |"


def verdicts(workers, loads, speeds, cosine):
    """Sentences: `embed` beside the fastest of equal precision, and those of lower precision beside `embed`."""

    def times(one, others, condition):
        """How many times faster `one` is than another side per text: the median of the rounds' ratios."""
        pairs = (
            (load, zip(speeds[one, load, condition], speeds[other, load, condition]))
            for load, other in others.items()
        )
        return ", ".join(
            f"{statistics.median(a / b for a, b in pair):.2f} ({load})" for load, pair in pairs
        )

    peers = [side for side in workers if side[0] in PEERS]
    for ours in (side for side in workers if side[0] == "embed" and cosine[side] >= EQUAL):
        equal = [
            side for side in peers if cosine[side] >= EQUAL and side[1] in ("float32", ours[1])
        ]
        for condition in CONDITIONS:
            typical = {
                (side, load): statistics.median(speeds[side, load, condition])
                for side in equal
                for load in loads
            }
            best = {load: max(equal, key=lambda side: typical[side, load]) for load in loads}
            names = ", ".join(dict.fromkeys(" ".join(side) for side in best.values()))
            yield (
                f"`embed` in {ours[1]}, {condition}: {times(ours, best, condition)} times the fastest alternative at "
                f"equal precision ({names})."
            )
    for side in (side for side in workers if cosine[side] < EQUAL):
        ratios = [
            f"{condition} {times(side, dict.fromkeys(loads, SIDES[1]), condition)}"
            for condition in CONDITIONS
        ]
        yield (
            f"Not at equal precision (lowest cosine {cosine[side]:.4f}): {' '.join(side)}, {', '.join(ratios)} times "
            "the speed of `embed` in float32."
        )


def summary(ready, found, loads):
    """Where and with what this was measured."""
    here, there = {}, {}
    for side, answer in ready.items():
        (there if side[0] in NEED_PEERS else here).update(answer["versions"])
    used = {side: [] for side in ready}
    for (side, _, condition), answers in found.items():
        used[side] += [answer["processors"] for answer in answers if condition == "quiet"]
    cores = ", ".join(
        f"{' '.join(side)} {statistics.median(of):.1f}" for side, of in used.items() if of
    )
    rounds, counts = len(answers), ", ".join(f"{len(of)} {load}" for load, of in loads.items())
    settings = "".join(answer["settings"] for answer in ready.values())
    return (
        f"Measured on: {machine()}, {os.cpu_count()} processors; {counts} sentences; medians of {rounds} rounds. Each "
        f"side has the threads that it takes by default; processors that it kept busy, when quiet: {cores}. torch and "
        f"`embed`: {listed(here)}. The others: {listed(there) or 'none ran'}. int8: for ONNX dynamic, with the "
        f"library's settings for {settings or 'this processor'}; for OpenVINO static, calibrated with 100 reviews."
    )


def listed(versions):
    """Packages and their versions as text."""
    return ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))


@click.command()
@click.option(
    "--rounds", default=3, show_default=True, help="How often all take turns in each condition."
)
@click.option(
    "--step", default=3, show_default=True, help="Encode every n-th sentence of the workloads."
)
@click.option("--few", is_flag=True, help="Only see that all of it runs; nothing is renewed.")
@click.option(
    "--write/--no-write", default=True, show_default=True, help="Renew the table in README.md."
)
@click.option(
    "--peers",
    default=ROOT / ".venv" / "peers",
    envvar="PEERS_ENV",
    type=Path,
    help="Their environment.",
)
def main(rounds, step, few, write, peers):
    """Measure, print a table, and put it into README.md beside this file."""
    python = next(
        (path for path in (peers / "bin/python", peers / "Scripts/python.exe") if path.exists()),
        None,
    )
    if python is None:
        raise click.UsageError(
            f"{peers} is no environment with the library's other backends. `make bench` makes it."
        )
    if psutil.cpu_percent(1) > 10:
        click.echo("Other programs keep this machine busy: the numbers will say little.", err=True)
    rounds, step, sizes = (1, 50, BATCHES[1:3]) if few else (rounds, step, BATCHES)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        loads = prepared(Path(folder), step)
        workers, ready, failed, cosine = load_all(stack, Path(folder), python, loads)
        batch = {}
        for side, worker in workers.items():
            for load in loads:
                batch[side, load] = best_batch(worker, load, sizes) if side[0] in PEERS else None
            click.echo(f"{' '.join(side)}: batch sizes found", err=True)
        found = measured(workers, loads, batch, rounds)
    speeds = {
        key: [len(loads[key[1]]) / answer["seconds"] for answer in answers]
        for key, answers in found.items()
    }
    lines = [*table(workers, failed, loads, batch, speeds, cosine), ""]
    lines += [
        *(f"- {line}" for line in verdicts(workers, loads, speeds, cosine)),
        "",
        summary(ready, found, loads),
    ]
    show(PAGE, lines, BEGIN, END, write and not few)


if __name__ == "__main__":
    main()
