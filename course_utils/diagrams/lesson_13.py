"""The diagrams of lesson 13: fewer numbers, fewer bits, and a second look."""

from .canvas import SMALL, WIDTH, Canvas

STEPS = 255  # between the 256 whole numbers of a byte


def nested_lengths(lengths, dimensions):
    """One vector, and its first numbers as shorter vectors with a loss each: Matryoshka.

    lengths: from long to short.
    """
    canvas = Canvas("13 nested lengths", 46 + 46 * len(lengths), gap=4)
    for x, title in ((8, "numbers"), (284, "bytes"), (392, "in training")):
        canvas.label(x, 16, title, quiet=True)
    for row, length in canvas.steps(enumerate(lengths)):
        y, wide = 34 + 46 * row, 224 * length / dimensions
        cells = max(1, round(16 * length / dimensions))
        canvas.vector(8, y, cells, "sentence", wide, 26, across=True)
        canvas.label(8 + wide + 8, y + 13, length, mono=True, bold=True)
        canvas.label(284, y + 13, f"{4 * length:,}", mono=True)
        name = f"loss of the {length}" if row else "loss of all"
        canvas.box_from((346, y + 13), 392, y, 112, 26, name, "loss", SMALL)
    remark = "the training lowers the sum of these losses"
    canvas.text(WIDTH / 2, 34 + 46 * len(lengths), remark, SMALL, quiet=True)
    beginnings = ", ".join(f"{length} numbers ({4 * length:,} bytes)" for length in lengths)
    return canvas.finish(
        f"A vector and its shorter beginnings, one inside the other: {beginnings}. In Matryoshka "
        "training each of them has a loss, and their sum is lowered, so that the first numbers "
        "alone already place a text well."
    )


def eight_bits(low, high, value, step):
    """One dimension's range, cut into 255 steps, and the whole number that a value becomes."""
    place = int((value - low) // step)
    left, right, line = 40, 480, 80  # the ends of the line of numbers, and its height
    canvas = Canvas("13 eight bits", 200)
    canvas.arrow((left, line), (right, line), tip=False)
    for at in range(0, STEPS + 1, 15):
        x = left + (right - left) * at / STEPS
        canvas.arrow((x, line - 6), (x, line + 6), tip=False)
    for x, number, name, code in ((left, low, "low", -128), (right, high, "high", 127)):
        canvas.text(x, 26, name, SMALL, quiet=True)
        canvas.text(x, 48, f"{number:.4f}", SMALL, mono=True)
        canvas.text(x, 112, code, SMALL, mono=True, bold=True)
    x = left + (right - left) * (place + 0.5) / STEPS
    with canvas.step():
        canvas.circle(x, line, 7, "vector", look="dot")
        canvas.text(x, 48, f"{value:.4f}", SMALL, mono=True, kind="vector")
        canvas.text(x, 26, f"value, {place} steps above low", SMALL, kind="vector")
    with canvas.step():
        canvas.arrow((x, 90), (x, 118), kind="sentence")
        words = f"stored: {place} - 128 = {place - 128}"
        canvas.box(x - 92, 120, 184, 30, words, "sentence", SMALL, bold=True)
    with canvas.step():
        back = low + (place + 0.5) * step
        canvas.text(x, 168, f"decoded: {back:.4f}, the middle of its step", SMALL)
        canvas.text(x, 190, f"a step is {step:.5f} long", SMALL, quiet=True)
    return canvas.finish(
        f"The range of one dimension, from {low:.4f} to {high:.4f}, is cut into {STEPS} steps of "
        f"{step:.5f}. The value {value:.4f} lies {place} whole steps above the lowest, so it is "
        f"stored as {place} - 128 = {place - 128}, in one byte. Decoded, it is the middle of its "
        f"step, {back:.4f}."
    )


def second_look(n, short, candidates, long, k):
    """A coarse search over all, and a second look at few: what each reads, in bytes."""
    canvas = Canvas("13 second look", 226)

    def stage(x, width, rows, title, below, kind):
        for row in range(rows):
            canvas.box(x, 40 + 14 * row, width, 10, kind=kind, round_by=2)
        canvas.text(x + width / 2, 18, title, SMALL, bold=True)
        canvas.text(x + width / 2, 176, below, SMALL, quiet=True)

    stage(30, 60, 8, f"all {n:,}", f"{short} bytes each\nin memory", "vector")
    with canvas.step():
        canvas.arrow((98, 66), (172, 66), "by bits")
        below = f"{long:,} bytes each\non a disk, perhaps"
        stage(180, 150, 4, f"{candidates} candidates", below, "sentence")
    with canvas.step():
        canvas.arrow((338, 66), (402, 66), "cosine")
        stage(410, 96, 2, f"best {k}", "the answer", "sentence")
    read, whole = (n * short + candidates * long) / 1000, n * long / 1000
    with canvas.step():
        canvas.text(WIDTH / 2, 214, f"read: {read:,.0f} kB instead of {whole:,.0f} kB", bold=True)
    return canvas.finish(
        f"A search in two stages. First the binary vectors of all {n:,} texts, {short} bytes each, "
        f"are compared by Hamming distance. The {candidates} nearest are candidates: only their "
        f"whole vectors, {long:,} bytes each, are read and compared by cosine, and the best {k} of "
        f"them are the answer. Read in all: {read:,.0f} kB, instead of {whole:,.0f} kB for all "
        "whole vectors."
    )
