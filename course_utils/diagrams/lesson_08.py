"""The diagrams of lesson 08: from pairs of sentences to one number, and how sure that number is."""

import textwrap

import numpy as np

from ..evaluation import ranks, spearman
from .canvas import SMALL, Canvas, text_width


def pairs_with_scores(rows, meanings):
    """A pair of sentences for each score, and what the score means; the scores come one at a time.

    rows: (score, one sentence, the other). meanings: {score: a few words}.
    """
    canvas = Canvas("08 pairs with scores", 24 + 40 * len(rows))
    canvas.label(4, 10, "a pair of sentences", quiet=True)
    canvas.label(352, 10, "one person's score", bold=True, kind="sentence")
    for at, (_, one, other) in enumerate(rows):
        canvas.box(4, 22 + 40 * at, 340, 37, kind="token")
        canvas.label(12, 40.5 + 40 * at, f"{one}\n{other}")
    for at, (score, _, _) in canvas.steps(enumerate(rows)):
        canvas.box(352, 22 + 40 * at, 32, 37, f"{score:g}", "sentence", bold=True)
        canvas.label(392, 40.5 + 40 * at, textwrap.fill(meanings[score], 16))
    told = "; ".join(f"{score:g}, {meanings[score]}: {one} / {other}" for score, one, other in rows)
    return canvas.finish(f"Pairs of sentences, one for each score. {told}")


def _points(canvas, xs, ys, place, kind="vector", radius=2):
    """Points in a frame (left, right, top, bottom), with their axes. Returns a function from values to places."""
    left, right, top, bottom = place
    (x0, x1), (y0, y1) = ((min(values), max(values)) for values in (xs, ys))

    def at(x, y):
        return left + (right - left) * (x - x0) / (x1 - x0), bottom - (bottom - top) * (y - y0) / (y1 - y0)

    canvas.path((left - 8, top - 6), (left - 8, bottom + 8), (right + 6, bottom + 8), tip=False)
    for x, y in zip(xs, ys):
        canvas.circle(*map(float, at(x, y)), radius, kind, look="dot")
    return at


def two_scales(scores, columns, correlations):
    """The same pairs with their values on two scales, and two correlations with the scores for each.

    columns: {name of the scale: values}. correlations: for each scale {name: value}.
    """
    canvas = Canvas("08 two scales", 256)
    for number, (name, values) in canvas.steps(enumerate(columns.items())):
        left = 62 + 240 * number
        _points(canvas, values, scores, (left, left + 202, 14, 150))
        canvas.text(left + 101, 174, name, SMALL)
    for level in (0, 5):
        canvas.text(46, 150 - 136 * level / 5, level, SMALL, "end", quiet=True)
    canvas.text(46, 82, "score", SMALL, "end", quiet=True)
    for row, name in canvas.steps(enumerate(correlations[0])):
        old, new = (f"{of_scale[name]:.3f}" for of_scale in correlations)
        kind, verdict = ("sentence", "stays") if old == new else ("loss", "falls" if new < old else "rises")
        y = 206 + 34 * row
        for number, value in enumerate((old, new)):
            canvas.text(130 + 290 * number, y, f"{name} {value}", bold=True, kind=kind)
        canvas.arrow((214, y), (336, y), kind=kind, thick=True)
        canvas.text(275, y - 13, verdict, SMALL, kind=kind, bold=True)
    told = "; ".join(
        f"{scale}: " + ", ".join(f"{name} {value:.3f}" for name, value in of_scale.items())
        for scale, of_scale in zip(columns, correlations)
    )
    return canvas.finish(f"{len(scores)} pairs by score, on two scales of the same order. {told}.")


def score_and_cosine(scores, cosines, pairs, over, under):
    """Each pair as a point by its score and its cosine; a few are named: far too high, and far too low.

    pairs: (one sentence, the other) for each. over, under: places of those to name.
    """
    canvas = Canvas("08 score and cosine", 282)
    frame = (60, 500, 72, 224)
    spread = [float(score) + 0.028 * (place % 11 - 5) for place, score in enumerate(scores)]
    at = _points(canvas, spread, cosines, frame, "padding")
    for score in range(6):
        canvas.text(at(score, 0)[0], 243, score, SMALL, quiet=True)
    for cosine in (0, 0.5, 1):
        canvas.text(46, at(0, cosine)[1], f"{cosine:g}", SMALL, "end", quiet=True)
    canvas.text(500, 262, "score of the person", SMALL, "end", quiet=True)
    canvas.label(4, 46, "cosine", quiet=True)
    top = 2
    for number, place in canvas.steps(enumerate(over)):
        if not number:
            canvas.text(134, 18, "same words:\ntoo high", bold=True, kind="loss")
        x, y = map(float, at(spread[place], cosines[place]))
        text = " / ".join(pairs[place])
        if text_width(text, SMALL) > 280:
            text = "\n".join(pairs[place])
        middle = top + 8.5 * (1 + text.count("\n"))
        canvas.arrow((226, middle), (x + 3, y - 4), kind="loss", tip=False)
        canvas.circle(x, y, 5, "loss", look="dot")
        canvas.label(232, middle, text, kind="loss")
        top = 2 * middle - top + 3
    for row, place in canvas.steps(enumerate(under)):
        x, y = map(float, at(spread[place], cosines[place]))
        canvas.arrow((x, 193.0 + 34 * row), (x, y + 5), kind="vector", tip=False)
        canvas.circle(x, y, 5, "vector", look="dot")
        canvas.text(504, 210 + 34 * row, "\n".join(pairs[place]), SMALL, "end", kind="vector")
        if not row:
            canvas.text(62, 266, "other words: too low", anchor="start", bold=True, kind="vector")
    told = [f"{' / '.join(pairs[at])} (score {scores[at]:g}, cosine {cosines[at]:.2f})" for at in (*over, *under)]
    return canvas.finish(
        f"{len(scores)} pairs by the person's score and by their cosine. Named: {'; '.join(told[: len(over)])} far too "
        f"high; {'; '.join(told[len(over) :])} far too low."
    )


def two_orders(names, scores, cosines):
    """A few pairs in the order of their scores, joined with their places in the order of their cosines.

    names: a short text for each pair. scores, cosines: numbers (pairs,). Equal ones share the mean of their ranks.
    """
    left, right = ranks(scores), ranks(cosines)
    canvas, worst = Canvas("08 two orders", 66 + 27 * len(names)), int(np.argmax(np.abs(left - right)))
    by_score, by_cosine = np.argsort(scores, kind="stable"), np.argsort(cosines, kind="stable")
    headings = ((4, "first sentence of the pair"), (291, "score"), (339, "cosine"), (398, "rank by\nscore"),
                (490, "rank by\ncosine"))  # fmt: skip
    for x, heading in headings:
        canvas.text(x, 18, heading, SMALL, "start" if x == 4 else "middle", quiet=True)
    heights = {row: 52 + 27 * at for at, row in enumerate(by_score)}
    for row, y in heights.items():
        canvas.label(4, y, names[row])
        canvas.text(291, y, f"{scores[row]:.1f}", SMALL)
    with canvas.step():
        for row, y in heights.items():
            canvas.box(382, y - 11, 32, 22, f"{left[row]:g}", "token", size=SMALL)
    with canvas.step():
        for at, row in enumerate(by_cosine):
            y = 52 + 27 * at
            canvas.box(484, y - 11, 32, 22, f"{right[row]:g}", "sentence", size=SMALL)
            canvas.text(339, heights[row], f"{cosines[row]:.2f}", SMALL)
    with canvas.step():
        for at, row in enumerate(by_cosine):
            kind = "loss" if row == worst else "padding"
            canvas.arrow((414, heights[row]), (484, 52 + 27 * at), kind=kind, thick=bool(row == worst), tip=False)
        moved = f"{names[worst].rstrip('.')}: from {left[worst]:g} to {right[worst]:g}"
        canvas.text(516, 54 + 27 * len(names), moved, SMALL, "end", bold=True, kind="loss")
    told = ", ".join(f"{names[row]} {left[row]:g} and {right[row]:g}" for row in by_score)
    return canvas.finish(
        f"{len(names)} pairs with two ranks each, by the person's score and by the cosine: {told}. Equal scores share "
        "a rank. A line joins the two places of a pair; lines that cross are pairs that the two "
        f"rankings order differently. The two ranks differ most for {names[worst]} Spearman's correlation of these is "
        f"{spearman(scores, cosines):.2f}."
    )


def resampling(rows, repeated, value, interval, shown=8):
    """What one resample holds of the first pairs, and the values of all resamples with their interval.

    rows: the rows drawn for one resample. repeated: the value of each resample. value: that of the table itself.
    interval: (low, high), between which 95 of 100 values lie.
    """
    canvas = Canvas("08 resampling", 250)
    times = np.bincount(rows, minlength=shown)[:shown]
    canvas.label(4, 14, f"the table: {len(rows)} pairs")
    for at in range(shown):
        canvas.box(4 + 27 * at, 26, 23, 24, str(at + 1), "token", size=SMALL)
    canvas.text(224, 38, "…", anchor="start")
    with canvas.step():
        canvas.label(4, 74, f"one resample: {len(rows)} draws, put back")
        for at, count in enumerate(times):
            x = 4 + 27 * at
            for copy in range(count):
                canvas.box(x, 86 + 26 * copy, 23, 24, str(at + 1), "token", size=SMALL)
            if not count:
                canvas.box(x, 86, 23, 24, "", "padding", dashed=True)
        canvas.text(224, 98, "…", anchor="start")
    with canvas.step():
        canvas.box_from((112, 88 + 26 * int(times.max())), 32, 190, 160, 30, f"Spearman {repeated[-1]:.2f}", "token")
    with canvas.step():
        _histogram(canvas, repeated, value, interval)
        canvas.text(112, 235, "the blue dot", SMALL, kind="token")
    missing = ", ".join(str(at + 1) for at in range(shown) if not times[at])
    return canvas.finish(
        f"A resample of {len(rows)} rows, drawn with replacement. Of the first {shown} pairs, these were not drawn: "
        f"{missing}; others came up to {times.max()} times. Its Spearman correlation is one of {len(repeated):,} "
        f"values, drawn as bars. 95 of 100 lie between {interval[0]:.2f} and {interval[1]:.2f}, around {value:.2f}."
    )


def _histogram(canvas, values, middle, interval, left=280, right=512, floor=204, high=150):
    edges = np.linspace(min(values), max(values), 25)
    counts, _ = np.histogram(values, edges)

    def at(number):
        return left + (right - left) * (number - edges[0]) / (edges[-1] - edges[0])

    for count, start, end in zip(counts, edges, edges[1:]):
        tall = high * count / counts.max()
        kind = "sentence" if interval[0] <= (start + end) / 2 <= interval[1] else "padding"
        canvas.box(at(start), floor - tall, at(end) - at(start), tall, kind=kind, round_by=0)
    canvas.text((left + right) / 2, 14, f"{len(values):,} resamples", SMALL)
    canvas.arrow((at(middle), floor), (at(middle), 44), tip=False, dashed=True)
    canvas.text(at(middle), 34, f"all pairs: {middle:.2f}", SMALL)
    canvas.circle(float(at(values[-1])), floor - 5, 5, "token", look="dot")
    canvas.bracket(at(interval[0]), at(interval[1]), floor + 4)
    words = f"95 of 100: {interval[0]:.2f} to {interval[1]:.2f}"
    canvas.text((at(interval[0]) + at(interval[1])) / 2, floor + 26, words, bold=True, kind="sentence")


def four_outcomes(labels, values, threshold):
    """How a threshold cuts similar and other pairs into four kinds, each bar 0.1 wide.

    labels: 1 for a similar pair, else 0. values: their similarities; from the threshold on, they are called similar.
    """
    labels, values = np.asarray(labels), np.asarray(values)
    above = values >= threshold
    counts = {(label, side): int(((labels == label) & (above == side)).sum()) for label in (1, 0) for side in (1, 0)}
    names = {(1, 1): "found", (1, 0): "missed", (0, 1): "false alarms", (0, 0): "left out"}
    canvas = Canvas("08 four outcomes", 276)
    first = int(np.floor((values.min() - threshold) / 0.1))
    bins = np.floor(np.round((values - threshold) / 0.1, 6)).astype(int) - first
    wide = 330 / (bins.max() + 1)
    tallest = max(np.bincount(bins[labels == label]).max() for label in (1, 0))
    cut = 95 - first * wide
    canvas.label(4, 66, "similar", bold=True, kind="sentence")
    canvas.label(4, 178, "not similar", bold=True, kind="loss")
    for label, base, way in ((1, 116, -1), (0, 130, 1)):
        for place, count in enumerate(np.bincount(bins[labels == label], minlength=bins.max() + 1)):
            if count:
                tall = 78 * count / tallest
                right = label == (place + first >= 0)
                kind = ("loss", "sentence")[label] if right else "plain"
                top = base if way > 0 else base - tall
                canvas.box(95 + place * wide + 1, top, wide - 2, tall, kind=kind, round_by=0, dashed=not right)
    canvas.text(98, 123, f"{values.min():.2f}", SMALL, "end", quiet=True)
    canvas.label(428, 123, f"cosine {values.max():.2f}", quiet=True)
    with canvas.step():
        canvas.arrow((cut, 232), (cut, 16), tip=False, dashed=True)
        canvas.text(cut, 241, f"threshold {threshold:.2f}", SMALL)
    for label, y in canvas.steps(((1, 18), (0, 216))):
        for side, x in ((0, cut - 10), (1, cut + 10)):
            text = f"{names[label, side]}: {counts[label, side]}"
            kind = ("loss", "sentence")[label]
            canvas.text(x, y, text, 16, "start" if side else "end", kind=kind, bold=label == side)
        if not label:
            words = f"dashed: the mistakes, {counts[1, 0]} missed and {counts[0, 1]} false alarms"
            canvas.text(260, 265, words, bold=True)
    return canvas.finish(
        "Bars count pairs by cosine, similar ones upwards and others downwards; dashed ones are on the wrong side. A "
        f"threshold of {threshold:.2f} cuts them into four kinds: {counts[1, 1]} similar pairs are found and "
        f"{counts[1, 0]} missed; of the others, {counts[0, 1]} are false alarms and {counts[0, 0]} are left out."
    )
