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
    row_step, high = 130, 52  # from one row to the next, and the height of a box
    encoder_x, vector_x, head_x, result_x = 164, 277, 364, 478  # the middles of the parts
    canvas = Canvas("10 frozen and trained", 258, gap=2)
    rows = (  # pooling, what reads the vector, its weights, its result, whether the encoder learns
        ("mean", "regression", regression, "1\nprobability", False),
        ("[CLS], pooler", "head", head, "2\nlogits", True),
    )
    for number, (pooling, name, weights, result, trained) in enumerate(rows):
        top = 26 + number * row_step
        middle, below = top + high / 2, top + high + 20  # of the boxes; the line of the gradient
        with canvas.step():  # from the tokens to the result
            canvas.box(4, top, 62, high, "tokens", "token", SMALL)
            state, kind = ("trained", "layer") if trained else ("frozen", "padding")
            canvas.box_from(
                (66, middle),
                encoder_x - 74,
                top,
                148,
                high,
                f"encoder, {state}\n{encoder:,}",
                kind,
                SMALL,
                dashed=not trained,
                thick=trained,
            )
            canvas.arrow((encoder_x + 74, middle), (vector_x - 15, middle))
            canvas.vector(vector_x - 13, top + 4, kind="sentence", width=26, height=44)
            canvas.text(vector_x, top - 12, f"{pooling}: {hidden}", SMALL, quiet=True)
            canvas.box_from(
                (vector_x + 13, middle),
                head_x - 50,
                top,
                100,
                high,
                f"{name}\n{weights:,}",
                "layer",
                SMALL,
                thick=True,
            )
            canvas.arrow((head_x + 50, middle), (result_x - 42, middle))
            canvas.text(result_x, middle, result, SMALL)
        with canvas.step():  # the gradient, back from the result to what is trained
            reached = (head_x, encoder_x) if trained else (head_x,)  # the last one farthest back
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

    before, after: for each of the two groups, points (n, 2) around (0, 0). Both groups of a column
    have one scale. labels: for each group, n times 0 or 1 (favourable). names: of the groups.
    outcomes: what became of each group, in a word or two.
    """
    wide, high = 206, 104  # of a plane
    row_step, column_step = 110, 212  # from one plane to the next
    # the middle of the names, the width of their lines, and the left edge of the planes
    names_x, names_width, planes_x = 46, 84, 96
    radius, margin = 4, 7  # the radius of a point, and from the outermost one to the frame
    canvas = Canvas("10 space", 260)

    for number, (title, groups) in enumerate((("before", before), ("after", after))):
        left = planes_x + number * column_step
        # how far a point of either group is from (0, 0) at most, in each direction; both directions
        # have one scale
        across, up = np.abs(np.concatenate(groups)).max(axis=0).tolist()
        scale = min((wide / 2 - margin) / across, (high / 2 - margin) / up)
        with canvas.step(number):
            canvas.text(left + wide / 2, 10, title, bold=True)
            for group, (points, labels_of_group) in enumerate(zip(groups, labels, strict=True)):
                top = 22 + group * row_step
                canvas.box(left, top, wide, high)
                for (x, y), label in zip(points, labels_of_group, strict=True):
                    canvas.circle(
                        left + wide / 2 + float(x) * scale,
                        top + high / 2 - float(y) * scale,
                        radius,
                        *LOOK_OF_LABEL[bool(label)],
                    )
    for group, (name, labels_of_group) in enumerate(zip(names, labels)):
        canvas.text(
            names_x,
            58 + group * row_step,
            in_lines(f"{len(labels_of_group)} {name}", names_width),
            SMALL,
        )
    with canvas.step():
        for group, outcome in enumerate(outcomes):
            canvas.text(
                names_x,
                104 + group * row_step,
                in_lines(outcome, names_width),
                SMALL,
                bold=True,
                kind="layer",
            )
    # the legend, below the planes
    for x, label, meaning in ((250, True, "favourable"), (368, False, "not favourable")):
        canvas.circle(x, 250, radius, *LOOK_OF_LABEL[label])
        canvas.label(x + 10, 250, meaning)
    return canvas.finish(
        f"Two planes with a point for each sentence, before and after training: {len(labels[0])} "
        f"{names[0]}, below them {len(labels[1])} {names[1]}. Full points are favourable, rings "
        f"are not. After the training: {outcomes[0]} above, {outcomes[1]} below."
    )
