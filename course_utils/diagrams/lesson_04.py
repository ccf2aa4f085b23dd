"""The diagrams of lesson 04: pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .canvas import SMALL, Canvas, Diagram
from .look import shades

if TYPE_CHECKING:
    import torch


def three_poolings(tokens: Sequence[str], mask: Sequence[int], values: torch.Tensor) -> Diagram:
    """How CLS, mean and max pooling turn the vectors of a sentence's tokens into one vector.

    tokens: of one sentence, padding included. mask: 1 for each token that counts, else 0.
    values: a few coordinates of each token's vector, (tokens, coordinates).
    """
    canvas = Canvas("04 three poolings", 250)
    rows = values.tolist()
    counted = [row for row, counts in zip(rows, mask) if counts]
    pooled = {
        "CLS pooling: the first vector": counted[0],
        "mean pooling: the mean over the real tokens": [
            sum(column) / len(counted) for column in zip(*counted)
        ],
        "max pooling: the largest value of each coordinate": [
            max(column) for column in zip(*counted)
        ],
    }
    low, high = float(values.min()), float(values.max())
    wide, left = 500 / len(tokens) - 6, 13
    for at, (token, counts, row) in enumerate(zip(tokens, mask, rows)):
        x = left + at * (wide + 6)
        middle = x + wide / 2
        canvas.tokens(x, 8, [token], None if counts else "padding", width=wide)
        canvas.arrow((middle, 36), (middle, 54))
        kind = "vector" if counts else "padding"
        canvas.vector(middle - 14, 56, len(row), kind, values=shades(row, low, high))
    right, end = left + 494, left + len(counted) * (wide + 6) - 6
    for at, (name, row) in canvas.steps(enumerate(pooled.items())):
        y = 124 + at * 42
        stop = left + wide if at == 0 else end  # the line is thick below the vectors that are used
        canvas.arrow((left, y), (stop, y), kind="sentence", tip=False, thick=True)
        canvas.arrow((stop, y), (right - 60, y), kind="sentence")
        shown = shades(row, low, high)
        canvas.vector(right - 56, y - 9, len(row), "sentence", 56, 18, shown, across=True)
        canvas.label(left, y + 18, name, kind="sentence")
    return canvas.finish(
        f"The {len(tokens)} tokens of a padded sentence, each with its vector. CLS pooling takes "
        "the first vector. Mean pooling takes the mean, and max pooling takes the largest value "
        f"of each coordinate, both over the {len(counted)} real tokens. Each pooling returns one "
        "vector."
    )


def masked_mean(mask: Sequence[int], values: torch.Tensor, equal: bool) -> Diagram:
    """Each vector of a padded sentence times its mask value, the sum of the products, the division.

    mask: 1 or 0 for each token. values: a few coordinates of each vector, (tokens, coordinates).
    equal: whether the result is the mean that a loop computes.
    """
    canvas = Canvas("04 masked mean", 232)
    rows = values.tolist()
    real = sum(mask)
    low, high = float(values.min()), float(values.max())
    left, gap = 76, 442 / len(mask)
    wide = gap - 6
    for y, name in ((32, "vectors"), (78, "mask"), (122, "product")):
        canvas.text(left - 8, y, name, SMALL, "end")
    for at, (counts, row) in enumerate(zip(mask, rows)):
        x = left + at * gap
        shown = shades(row, low, high)
        canvas.vector(x, 8, len(row), "vector" if counts else "padding", wide, 48, shown)
        if counts:
            canvas.text(x + wide / 2, 78, 1)
            canvas.vector(x, 98, len(row), "vector", wide, 48, shown)
        else:
            canvas.text(x + wide / 2, 78, 0, bold=True, kind="loss")
            canvas.box(x, 98, wide, 48, 0, "padding", SMALL, dashed=True, round_by=0)
    with canvas.step():
        canvas.bracket(left, left + gap * len(mask) - 6, 152)
        canvas.text(left - 8, 196, "add up", SMALL, "end", bold=True)
        canvas.box(left, 178, 72, 36, "sum", "vector")
    counted = [row for row, counts in zip(rows, mask) if counts]
    mean = [sum(column) / real for column in zip(*counted)]
    with canvas.step():
        canvas.arrow((left + 74, 196), (left + 204, 196), f"divide by {real}")
        shown = shades(mean, low, high)
        canvas.vector(left + 206, 172, len(mean), "sentence", 28, 48, shown)
        sign = "=" if equal else "≠"
        canvas.label(left + 244, 196, f"{sign} mean of real tokens", kind="sentence", bold=True)
    return canvas.finish(
        f"The vectors of {len(mask)} tokens; below them, the mask with {real} ones and "
        f"{len(mask) - real} zeros; below the mask, the products, which are zero at padding. The "
        f"products are added up, and the sum is divided by {real}. The result is "
        f"{'' if equal else 'not '}the mean from the loop."
    )


def _failing(shapes: Sequence[Sequence[int]]) -> int | None:
    """The first dimension from the right, counted from 1, where sizes differ and none is 1."""
    for back in range(1, max(map(len, shapes)) + 1):
        sizes = {shape[-back] for shape in shapes if len(shape) >= back}
        if len(sizes - {1}) > 1:
            return back
    return None


def lined_up(names: Sequence[str], *attempts: Sequence[Sequence[int]]) -> Diagram:
    """Pairs of shapes, aligned from the right as torch does it; a column that fails is marked.

    names: of the two tensors. attempts: one or more pairs of shapes, shown step by step.
    """
    canvas = Canvas("04 shapes lined up", 118 * len(attempts) - 6)
    told = []

    def draw(number, shapes):
        y = 8 + 118 * number
        fails = _failing(shapes)
        kind, verdict = "sentence", "no error: the 1 is repeated"
        if fails:
            sizes = sorted({shape[-fails] for shape in shapes})
            kind, verdict = "loss", f"error: {' and '.join(map(str, sizes))} differ"
        for row, (name, shape) in enumerate(zip(names, shapes)):
            canvas.text(16, y + 16 + 38 * row, name, anchor="start", mono=True)
            for back, size in enumerate(reversed(shape), start=1):
                look = "loss" if back == fails else "plain"
                if size == 1:
                    look = "sentence"
                x = 512 - 118 * back
                canvas.box(x, y + 38 * row, 110, 32, size, look, thick=look != "plain")
        canvas.text(504, y + 88, verdict, anchor="end", kind=kind)
        told.append(f"{' and '.join(str(tuple(shape)) for shape in shapes)}, {verdict}")

    draw(0, attempts[0])
    for number, shapes in canvas.steps(enumerate(attempts[1:], start=1)):
        draw(number, shapes)
    return canvas.finish(
        f"Shapes aligned from the right. {'; '.join(told)}. In each column, the sizes must be "
        "equal, or one of them must be 1 or missing."
    )


def library_chain(
    modules: Sequence[str], pooling: str, shapes: Sequence[str], equal: bool
) -> Diagram:
    """The library's modules as a chain, the lesson's own calls below, and whether both agree.

    modules: their names. pooling: the name of the mode. shapes: of each module's output, or a short
    text. equal: whether the vectors agree.
    """
    ours = ("model", "mean_pooling", "normalize")
    canvas = Canvas("04 library chain", 244)
    gap = 514 / len(modules)
    wide = gap - 42

    def chain(y, title, names, mono):
        canvas.label(6, y - 16, title, bold=True)
        for at, (name, shape) in enumerate(zip(names, shapes, strict=True)):
            x = 6 + gap * at
            canvas.box(x, y, wide, 46, name, "sentence" if at else "layer", SMALL, mono=mono)
            if at + 1 < len(modules):
                canvas.arrow((x + wide + 3, y + 23), (x + gap - 3, y + 23))
            canvas.text(x + wide / 2, y + 62, shape, SMALL, quiet=True)

    named = [f"{name}\n({pooling})" if name == "Pooling" else name for name in modules]
    chain(30, "Sentence Transformers", named, mono=False)
    with canvas.step():
        chain(150, "our own code", ours, mono=True)
    with canvas.step():
        x = 6 + gap * (len(modules) - 1) + wide + 6
        sign, kind = ("=", "sentence") if equal else ("≠", "loss")
        canvas.text(x + 14, 113, sign, 30, kind=kind, bold=True)
        canvas.path((x, 53), (x + 14, 53), (x + 14, 92), tip=False)
        canvas.path((x, 173), (x + 14, 173), (x + 14, 134), tip=False)
    return canvas.finish(
        f"A chain of modules: {', '.join(modules)}. Its pooling is {pooling}. Below it is the "
        f"chain of the lesson's own calls: {', '.join(ours)}. The vectors at the ends are "
        f"{'equal' if equal else 'not equal'}."
    )
