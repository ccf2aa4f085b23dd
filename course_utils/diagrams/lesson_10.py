"""The diagrams of lesson 10: the data, what is trained, gradients, pairs, vectors."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext

import numpy as np

from .canvas import SMALL, WIDTH, Canvas, Diagram, in_lines


def frozen_and_trained(encoder: int, regression: int, head: int, hidden: int = 384) -> Diagram:
    """A frozen encoder with logistic regression, above an encoder that is trained with its head.

    encoder, regression, head: how many weights each has. hidden: the length of a sentence vector.
    """
    row, high = 130, 52
    encoder_at, head_at, result_at = 164, 364, 478  # the middles of what the gradient may reach
    canvas = Canvas("10 frozen and trained", 258, gap=2)
    rows = (
        ("mean", "regression", regression, "1 probability", False),
        ("[CLS], pooler", "head", head, "2 logits", True),
    )
    for at, (pooling, name, weights, result, trained) in enumerate(rows):
        top = 26 + at * row
        middle, below = top + high / 2, top + high + 20
        with canvas.step():
            canvas.box(4, top, 62, high, "tokens", "token", SMALL)
            state, kind = ("trained", "layer") if trained else ("frozen", "padding")
            words = f"encoder, {state}\n{encoder:,}"
            look = {"dashed": not trained, "thick": trained}
            left = encoder_at - 74
            canvas.box_from((66, middle), left, top, 148, high, words, kind, SMALL, **look)
            canvas.arrow((238, middle), (262, middle))
            canvas.vector(264, top + 4, kind="sentence", width=26, height=44)
            canvas.text(277, top - 12, f"{pooling}: {hidden}", SMALL, quiet=True)
            left, words = head_at - 50, f"{name}\n{weights:,}"
            canvas.box_from((290, middle), left, top, 100, high, words, "layer", SMALL, thick=True)
            canvas.arrow((414, middle), (436, middle))
            canvas.text(result_at, middle, result.replace(" ", "\n"), SMALL)
        with canvas.step():
            reached = (head_at, encoder_at) if trained else (head_at,)
            corners = (result_at, below - 22), (result_at, below), (reached[-1], below)
            canvas.path(*corners, tip=False, kind="loss", thick=True)
            for end in reached:
                canvas.arrow((end, below), (end, top + high + 2), kind="loss", thick=True)
            canvas.text(424, below + 16, "gradient", SMALL, kind="loss")
            total = weights + encoder if trained else weights
            canvas.label(8, below + 16, f"trained: {total:,} weights", kind="loss")
    return canvas.finish(
        f"Above, tokens pass through a frozen encoder of {encoder:,} weights; logistic regression "
        f"on the mean vector has {regression:,} weights, and the gradient reaches only these. "
        f"Below, the encoder is trained together with a head of {head:,} weights on [CLS], after "
        f"the pooler: the gradient reaches all {encoder + head:,}."
    )


def pair_classifiers(tokens: Sequence[str], segments: Sequence[int], hidden: int) -> Diagram:
    """A classifier that reads two sentences apart, beside one on the [CLS] of both as one input.

    tokens, segments: the pair as the cross-encoder reads it, with its token_type_ids. hidden: the
    length of a vector.
    """
    canvas = Canvas("10 pair classifiers", 258)
    first, second = segments.count(0), segments.count(1)
    alone = second + 1  # read alone, the second has a [CLS], too
    left, right = 120, 392  # the middles of the two halves
    canvas.text(left, 10, "bi-encoder", bold=True)
    for x, name, count in ((4, "u", first), (128, "v", alone)):
        middle = x + 58
        canvas.box(x, 26, 116, 28, f"{count} tokens", "token", SMALL)
        canvas.box_from((middle, 54), x, 70, 116, 30, "encoder, mean", "layer", SMALL)
        vector = f"{name}: {hidden}"
        canvas.box_from((middle, 100), x + 24, 118, 68, 28, vector, "sentence", SMALL)
    with canvas.step():
        for at, name in enumerate(("u", "v", "|u − v|")):
            canvas.box(33 + 58 * at, 170, 58, 28, name, "sentence", SMALL, round_by=0)
        canvas.arrow((58, 146), (62, 168))
        canvas.arrow((182, 146), (120, 168))
        for start, end in ((66, 170), (190, 184)):
            canvas.arrow((start, 146), (end, 168), dashed=True)
        head = f"head: {3 * hidden:,} to 2 logits"
        canvas.box_from((left, 198), left - 87, 216, 174, 32, head, "layer", SMALL)
    with canvas.step():
        canvas.text(right, 10, "cross-encoder", bold=True)
        wide = 240 / len(tokens)
        for at, (token, segment) in enumerate(zip(tokens, segments)):
            kind = "special" if token in ("[CLS]", "[SEP]") else "token"
            canvas.box(272 + at * wide, 26, wide, 28, kind=kind, round_by=0)
            canvas.text(272 + (at + 0.5) * wide, 62, segment, SMALL, quiet=True)
        words = "encoder: every token\nlooks at both sentences"
        canvas.box_from((right, 70), right - 100, 84, 200, 46, words, "layer", SMALL)
        canvas.box_from((right, 130), 348, 152, 88, 28, f"[CLS]: {hidden}", "sentence", SMALL)
        head = f"head: {hidden} to 2 logits"
        canvas.box_from((right, 180), right - 87, 216, 174, 32, head, "layer", SMALL)
    return canvas.finish(
        f"Two classifiers of pairs. The bi-encoder reads a sentence of {first} tokens and one of "
        f"{alone} apart; the mean of each is a vector of {hidden}, u and v, and a head reads u, v "
        f"and |u - v|, {3 * hidden:,} numbers. The cross-encoder reads one input of {len(tokens)} "
        f"tokens with the token_type_ids 0 and 1; every token looks at both sentences, and a head "
        f"reads the {hidden} numbers of [CLS]. Both heads give 2 logits."
    )


def one_sentence_of_a_review(sentence: str, label: int) -> Diagram:
    """A review with its label, of which we see a single sentence.

    label: 1 if the review was favourable, else 0.
    """
    middle = 122  # the height of the sentence, in the review and beside it
    canvas, lines = Canvas("10 one sentence", 240), in_lines(sentence, 270)
    canvas.text(84, 46, "the whole review", SMALL, quiet=True)
    canvas.text(360, 46, "one sentence of it: all that we see", SMALL, quiet=True)
    canvas.box(8, 60, 152, 128)
    for line in range(5):
        kind = "token" if line == 2 else "padding"
        wide = 88 if line == 4 else 128
        canvas.box(20, 72 + line * 22, wide, 12, kind=kind, round_by=2)
    canvas.arrow((150, middle), (206, middle))
    height = 44 + 20 * lines.count("\n")
    canvas.box(208, middle - height / 2, 304, height, kind="token")
    canvas.text(360, middle, lines, SMALL)
    with canvas.step():
        remark = "The label is that of the whole review, not of the sentence"
        canvas.text(WIDTH / 2, 14, remark, bold=True, kind="loss")
        canvas.arrow((84, 188), (84, 204), kind="loss", tip=False, thick=True)
        words = f"label {label}: the review was {'' if label else 'not '}favourable"
        kind = "sentence" if label else "loss"
        canvas.box(8, 204, 320, 30, words, kind, SMALL, bold=True, thick=True)
    return canvas.finish(
        f"A review with the label {label}, and the one sentence of it that we see: {sentence} The "
        "label is that of the whole review."
    )


def random_split(beginning: str, copies: int, training: int, test: int) -> Diagram:
    """Rows cut at random into two parts, with one text that is in two rows and so in both parts.

    beginning: the first words of such a text. copies: how many texts of the test part are in the
    training part, too. training, test: how many rows each part has.
    """
    row, twins = 35, (1, 4)
    canvas = Canvas("10 random split", 258, gap=2)
    canvas.text(94, 12, f"{training + test:,} reviews", SMALL)

    def review(at, x, y, wide, high):
        words, kind = (beginning, "masked") if at in twins else ("", "token")
        canvas.box(x, y, wide, high, words, kind, SMALL)

    for at in range(6):
        review(at, 8, 28 + at * row, 172, 28)
    parts = (("training", training, (0, 1, 3, 5), 28), ("test", test, (2, 4), 176))
    for name, number, rows, top in canvas.steps(parts):
        canvas.text(424, top - 14, f"{name}: {number:,}", SMALL, bold=True)
        for place, at in enumerate(rows):
            y = top + place * 29
            kind = "masked" if at in twins else "plain"
            canvas.arrow((182, 42 + at * row), (332, y + 12), kind=kind)
            review(at, 334, y, 178, 24)
    with canvas.step():
        words = f"in both parts: {copies} of {test:,}"
        canvas.text(512, 247, words, anchor="end", bold=True, kind="masked")
    return canvas.finish(
        f"{training + test:,} reviews are cut at random into {training:,} for training and "
        f"{test:,} for the test. A text that begins with {beginning} stands in two rows, and so in "
        f"both parts. {copies} of the {test:,} test texts are in the training part, too."
    )


def three_parts(sizes: Mapping[str, int], decides: Mapping[str, str]) -> Diagram:
    """The sentences cut into three parts, and what each part decides.

    sizes, decides: {name of the part: ...}.
    """
    gap, left = 4, 8
    room = 504 - 2 * gap
    canvas = Canvas("10 three parts", 214)
    kinds = ("token", "head", "sentence")
    for at, ((name, size), kind) in enumerate(zip(sizes.items(), kinds)):
        wide, middle = room * size / sum(sizes.values()), 90 + 170 * at
        canvas.box(left, 8, wide, 48, kind=kind, thick=True)
        with canvas.step():
            canvas.path((left + wide / 2, 56), (middle, 98))
            canvas.box(middle - 80, 100, 160, 52, f"{name}\n{size:,}", kind, bold=True)
            quiet = decides[name].startswith("nothing")
            canvas.text(middle, 182, in_lines(decides[name], 156), SMALL, quiet=quiet)
        left += wide + gap
    parts = "; ".join(f"{name} with {size:,} sentences decides: {decides[name]}"
                      for name, size in sizes.items())  # fmt: skip
    return canvas.finish(f"A bar cut into three parts as large as they are. {parts}.")


def gradients_kept(batches: int = 3) -> Diagram:
    """What the gradient holds after each batch, if it is never cleared, and if it always is."""
    wide, high, row = 124, 32, 44
    canvas = Canvas("10 gradients kept", 112)
    for batch in range(batches):
        canvas.text(200 + batch * wide, 12, f"after batch {batch + 1}", SMALL, quiet=True)
    for at, name in enumerate(("not cleared", "cleared")):
        y = 28 + at * row
        canvas.text(136, y + high / 2, name, SMALL, "end", bold=True)
        for batch in range(batches):
            held = [batch] if name == "cleared" else range(batch + 1)
            for place, gradient in enumerate(held):
                x = 146 + batch * wide + place * 36
                canvas.box(x, y, 34, high, f"g{gradient + 1}", "loss", SMALL, round_by=0)
    return canvas.finish(
        f"What the gradient holds after each of {batches} batches. Not cleared: the sum of the "
        "gradients of all batches so far. Cleared: the gradient of this batch only."
    )


def space_before_and_after(
    before: Sequence[np.ndarray],
    after: Sequence[np.ndarray],
    labels: Sequence[Sequence[int]],
    names: Sequence[str],
    found: Sequence[str],
) -> Diagram:
    """Sentences as points, before and after a training: those it learned from, and new ones below.

    before, after: for each of the two groups, points (n, 2); each column has its own plane. labels:
    of each group, 0 or 1. names: of the groups. found: what became of each group, in a word or two.
    """
    wide, high, row, column = 206, 104, 110, 212
    margin = 7  # between the outermost point and the frame
    canvas = Canvas("10 space", 260)

    def point(x, y, favourable):
        kind, look = ("sentence", "dot") if favourable else ("loss", "ring")
        canvas.circle(x, y, 4, kind, look)

    for at, (title, groups) in enumerate((("before", before), ("after", after))):
        x = 96 + at * column
        points = [place for points in groups for place in points]
        across, up = (max(abs(float(place[axis])) for place in points) for axis in (0, 1))
        scale = min((wide / 2 - margin) / across, (high / 2 - margin) / up)
        with canvas.step() if at else nullcontext():
            canvas.text(x + wide / 2, 10, title, bold=True)
            for group, (points, of_points) in enumerate(zip(groups, labels, strict=True)):
                y = 22 + group * row
                canvas.box(x, y, wide, high)
                for (right, top), label in zip(points, of_points, strict=True):
                    place = (x + wide / 2 + float(right) * scale, y + high / 2 - float(top) * scale)
                    point(*place, label)
    for at, (name, group) in enumerate(zip(names, labels)):
        canvas.text(46, 58 + at * row, in_lines(f"{len(group)} {name}", 84), SMALL)
    with canvas.step():
        for at, words in enumerate(found):
            canvas.text(46, 104 + at * row, in_lines(words, 84), SMALL, bold=True, kind="layer")
    point(250, 250, True)
    canvas.label(260, 250, "favourable")
    point(368, 250, False)
    canvas.label(378, 250, "not favourable")
    return canvas.finish(
        f"Two planes with a point for each sentence, before and after training: {len(labels[0])} "
        f"{names[0]}, below them {len(labels[1])} {names[1]}. Full points are favourable, rings "
        f"are not. After the training: {found[0]} above, {found[1]} below."
    )
