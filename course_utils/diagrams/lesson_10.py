"""The diagrams of lesson 10: what is trained, and vectors before and after a training."""

from collections.abc import Sequence

import numpy as np

from .canvas import SMALL, Canvas, Diagram, in_lines

# of a point: its kind and its look, where it is favourable and where it is not
LOOK_OF_LABEL = {True: ("sentence", "dot"), False: ("loss", "ring")}


def frozen_and_trained(encoder: int, regression: int, head: int, hidden: int) -> Diagram:
    """A frozen encoder with logistic regression, above an encoder that is trained with its head.

    encoder, regression, head: how many weights each has. hidden: the length of a sentence vector.
    """
    row, high = 130, 52  # from one row to the next, and the height of a box
    encoder_x, vector_x, head_x, result_x = 164, 277, 364, 478  # the middles of the parts
    canvas = Canvas("10 frozen and trained", 258, gap=2)
    rows = (  # pooling, what reads the vector, its weights, its result, whether the encoder learns
        ("mean", "regression", regression, "1 probability", False),
        ("[CLS], pooler", "head", head, "2 logits", True),
    )
    for number, (pooling, name, weights, result, trained) in enumerate(rows):
        top = 26 + number * row
        middle, below = top + high / 2, top + high + 20
        with canvas.step():
            canvas.box(4, top, 62, high, "tokens", "token", SMALL)
            state, kind = ("trained", "layer") if trained else ("frozen", "padding")
            words = f"encoder, {state}\n{encoder:,}"
            look = {"dashed": not trained, "thick": trained}
            canvas.box_from(
                (66, middle), encoder_x - 74, top, 148, high, words, kind, SMALL, **look
            )
            canvas.arrow((encoder_x + 74, middle), (vector_x - 15, middle))
            canvas.vector(vector_x - 13, top + 4, kind="sentence", width=26, height=44)
            canvas.text(vector_x, top - 12, f"{pooling}: {hidden}", SMALL, quiet=True)
            words = f"{name}\n{weights:,}"
            canvas.box_from(
                (vector_x + 13, middle),
                head_x - 50,
                top,
                100,
                high,
                words,
                "layer",
                SMALL,
                thick=True,
            )
            canvas.arrow((head_x + 50, middle), (result_x - 42, middle))
            canvas.text(result_x, middle, result.replace(" ", "\n"), SMALL)
        with canvas.step():
            reached = (head_x, encoder_x) if trained else (head_x,)
            canvas.path(
                (result_x, below - 22),
                (result_x, below),
                (reached[-1], below),
                tip=False,
                kind="loss",
                thick=True,
            )
            for end in reached:
                canvas.arrow((end, below), (end, top + high + 2), kind="loss", thick=True)
            canvas.text(head_x + 60, below + 16, "gradient", SMALL, kind="loss")
            total = weights + encoder if trained else weights
            canvas.label(8, below + 16, f"trained: {total:,} weights", kind="loss")
    return canvas.finish(
        f"Above, tokens pass through a frozen encoder of {encoder:,} weights; logistic regression "
        f"on the mean vector has {regression:,} weights, and the gradient reaches only these. "
        f"Below, the encoder is trained together with a head of {head:,} weights on [CLS], after "
        f"the pooler: the gradient reaches all {encoder + head:,}."
    )


def space_before_and_after(
    before: Sequence[np.ndarray],
    after: Sequence[np.ndarray],
    labels: Sequence[Sequence[int]],
    names: Sequence[str],
    outcomes: Sequence[str],
) -> Diagram:
    """Sentences as points, before and after a training: those it learned from, and new ones below.

    before, after: for each of the two groups, points (n, 2); each column has its own plane. labels:
    of each group, 0 or 1. names: of the groups. outcomes: what became of each group, in a word or
    two.
    """
    wide, high = 206, 104  # of a plane
    row, column = 110, 212  # from one plane to the next
    names_x, planes_x = 46, 96  # the middle of the names, and the left edge of the planes
    point, margin = 4, 7  # the radius of a point, and from the outermost one to the frame
    canvas = Canvas("10 space", 260)

    for number, (title, groups) in enumerate((("before", before), ("after", after))):
        x = planes_x + number * column
        across, up = np.abs(np.concatenate(groups)).max(axis=0).tolist()
        scale = min((wide / 2 - margin) / across, (high / 2 - margin) / up)
        with canvas.step(number):
            canvas.text(x + wide / 2, 10, title, bold=True)
            for group, (points, of_points) in enumerate(zip(groups, labels, strict=True)):
                y = 22 + group * row
                canvas.box(x, y, wide, high)
                for (right, top), label in zip(points, of_points, strict=True):
                    place = (x + wide / 2 + float(right) * scale, y + high / 2 - float(top) * scale)
                    canvas.circle(*place, point, *LOOK_OF_LABEL[bool(label)])
    for group, (name, of_group) in enumerate(zip(names, labels)):
        canvas.text(names_x, 58 + group * row, in_lines(f"{len(of_group)} {name}", 84), SMALL)
    with canvas.step():
        for group, words in enumerate(outcomes):
            canvas.text(
                names_x, 104 + group * row, in_lines(words, 84), SMALL, bold=True, kind="layer"
            )
    for x, label, words in ((250, True, "favourable"), (368, False, "not favourable")):
        canvas.circle(x, 250, point, *LOOK_OF_LABEL[label])
        canvas.label(x + 10, 250, words)
    return canvas.finish(
        f"Two planes with a point for each sentence, before and after training: {len(labels[0])} "
        f"{names[0]}, below them {len(labels[1])} {names[1]}. Full points are favourable, rings "
        f"are not. After the training: {outcomes[0]} above, {outcomes[1]} below."
    )
