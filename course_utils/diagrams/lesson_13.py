"""The diagrams of lesson 13: fewer numbers, fewer bits, and a second look."""

from collections.abc import Sequence

from .canvas import MIDDLE, SMALL, Canvas, Diagram

STEPS = 255  # between the 256 whole numbers of a byte


def nested_lengths(lengths: Sequence[int], dimensions: int) -> Diagram:
    """One vector, and its first numbers as shorter vectors with a loss each: Matryoshka.

    lengths: from long to short.
    """
    numbers_at, bytes_at, loss_at = 8, 284, 392  # the left edges of the columns
    top, row_height, high = 34, 46, 26
    bottom = top + row_height * len(lengths)
    canvas = Canvas("13 nested lengths", bottom + 12, gap=4)
    headings = {numbers_at: "numbers", bytes_at: "bytes", loss_at: "in training"}
    for x, heading in headings.items():
        canvas.label(x, 16, heading, quiet=True)
    for row, length in canvas.steps(enumerate(lengths)):
        y = top + row_height * row
        middle = y + high / 2
        wide = 224 * length / dimensions
        cells = max(1, round(16 * length / dimensions))
        canvas.vector(numbers_at, y, cells, "sentence", wide, high, across=True)
        canvas.label(numbers_at + wide + 8, middle, length, mono=True, bold=True)
        canvas.label(bytes_at, middle, f"{4 * length:,}", mono=True)
        name = f"loss of the {length}" if row else "loss of all"
        canvas.box_from((346, middle), loss_at, y, 112, high, name, "loss", SMALL)
    canvas.text(MIDDLE, bottom, "the training lowers the sum of these losses", SMALL, quiet=True)
    beginnings = ", ".join(f"{length} numbers ({4 * length:,} bytes)" for length in lengths)
    return canvas.finish(
        f"A vector and its shorter beginnings, one inside the other: {beginnings}. In Matryoshka "
        "training each of them has a loss, and their sum is lowered, so that the first numbers "
        "alone already place a text well."
    )


def eight_bits(low: float, high: float, value: float, step: float) -> Diagram:
    """One dimension's range, cut into 255 steps, and the whole number that a value becomes."""
    place = int((value - low) // step)
    middle = place + 0.5  # of the value's step, in steps
    left, right, line = 40, 480, 80  # the ends of the line of numbers, and its height
    name_at, number_at = 26, 48  # heights of what stands above the line
    canvas = Canvas("13 eight bits", 200)
    canvas.arrow((left, line), (right, line), tip=False)
    for at in range(0, STEPS + 1, 15):
        x = left + (right - left) * at / STEPS
        canvas.arrow((x, line - 6), (x, line + 6), tip=False)
    for x, number, name, code in ((left, low, "low", -128), (right, high, "high", 127)):
        canvas.text(x, name_at, name, SMALL, quiet=True)
        canvas.text(x, number_at, f"{number:.4f}", SMALL, mono=True)
        canvas.text(x, 112, code, SMALL, mono=True, bold=True)
    x = left + (right - left) * middle / STEPS
    with canvas.step():
        canvas.circle(x, line, 7, "vector", look="dot")
        canvas.text(x, number_at, f"{value:.4f}", SMALL, mono=True, kind="vector")
        canvas.text(x, name_at, f"value, {place} steps above low", SMALL, kind="vector")
    with canvas.step():
        canvas.arrow((x, 90), (x, 118), kind="sentence")
        words = f"stored: {place} - 128 = {place - 128}"
        canvas.box(x - 92, 120, 184, 30, words, "sentence", SMALL, bold=True)
    with canvas.step():
        back = low + middle * step
        canvas.text(x, 168, f"decoded: {back:.4f}, the middle of its step", SMALL)
        canvas.text(x, 190, f"a step is {step:.5f} long", SMALL, quiet=True)
    return canvas.finish(
        f"The range of one dimension, from {low:.4f} to {high:.4f}, is cut into {STEPS} steps of "
        f"{step:.5f}. The value {value:.4f} lies {place} whole steps above the lowest, so it is "
        f"stored as {place} - 128 = {place - 128}, in one byte. Decoded, it is the middle of its "
        f"step, {back:.4f}."
    )


def second_look(
    texts: int, short_bytes: int, candidates: int, long_bytes: int, best: int
) -> Diagram:
    """A coarse search over all, and a second look at few: what each reads, in bytes."""
    canvas = Canvas("13 second look", 226)

    def stage(x: float, width: float, rows: int, title: str, below: str, kind: str) -> None:
        for row in range(rows):
            canvas.box(x, 40 + 14 * row, width, 10, kind=kind, round_by=2)
        canvas.text(x + width / 2, 18, title, SMALL, bold=True)
        canvas.text(x + width / 2, 176, below, SMALL, quiet=True)

    stage(30, 60, 8, f"all {texts:,}", f"{short_bytes} bytes each\nin memory", "vector")
    with canvas.step():
        canvas.arrow((98, 66), (172, 66), "by bits")
        below = f"{long_bytes:,} bytes each\non a disk, perhaps"
        stage(180, 150, 4, f"{candidates} candidates", below, "sentence")
    with canvas.step():
        canvas.arrow((338, 66), (402, 66), "cosine")
        stage(410, 96, 2, f"best {best}", "the answer", "sentence")
    read = (texts * short_bytes + candidates * long_bytes) / 1000
    whole = texts * long_bytes / 1000
    canvas.conclusion(214, f"read: {read:,.0f} kB instead of {whole:,.0f} kB")
    return canvas.finish(
        f"A search in two stages. First the binary vectors of all {texts:,} texts, {short_bytes} bytes each, "
        f"are compared by Hamming distance. The {candidates} nearest are candidates: only their "
        f"whole vectors, {long_bytes:,} bytes each, are read and compared by cosine, and the best {best} of "
        f"them are the answer. Read in all: {read:,.0f} kB, instead of {whole:,.0f} kB for all "
        "whole vectors."
    )
