"""The diagrams of lesson 10: the data and their parts, what is trained, gradients, pairs, vectors in a plane."""

from contextlib import nullcontext

from .canvas import SMALL, Canvas, in_lines


def frozen_and_trained(encoder, regression, head, hidden=384):
    """A frozen encoder with logistic regression, above an encoder that is trained together with its head.

    encoder, regression, head: how many weights each has. hidden: the length of a sentence vector.
    """
    canvas = Canvas("10 frozen and trained", 258, gap=2)
    rows = (
        ("mean", "regression", regression, "1 probability", "padding"),
        ("[CLS], pooler", "head", head, "2 logits", "layer"),
    )
    for at, (pooling, name, weights, result, kind) in enumerate(rows):
        top = 26 + at * 130
        trained = kind == "layer"
        with canvas.step():
            canvas.box(4, top, 62, 52, "tokens", "token", SMALL)
            words = f"encoder, {'trained' if trained else 'frozen'}\n{encoder:,}"
            canvas.box_from((66, top + 26), 90, top, 148, 52, words, kind, SMALL, dashed=not trained, thick=trained)
            canvas.arrow((238, top + 26), (262, top + 26))
            canvas.vector(264, top + 4, kind="sentence", width=26, height=44)
            canvas.text(277, top - 12, f"{pooling}: {hidden}", SMALL, quiet=True)
            canvas.box_from((290, top + 26), 314, top, 100, 52, f"{name}\n{weights:,}", "layer", SMALL, thick=True)
            canvas.arrow((414, top + 26), (436, top + 26))
            canvas.text(478, top + 26, result.replace(" ", "\n"), SMALL)
        with canvas.step():
            reached = (364, 164) if trained else (364,)
            corner = (478, top + 72)
            canvas.path((478, top + 50), corner, (reached[-1], top + 72), tip=False, kind="loss", thick=True)
            for end in reached:
                canvas.arrow((end, top + 72), (end, top + 54), kind="loss", thick=True)
            canvas.text(424, top + 88, "gradient", SMALL, kind="loss")
            canvas.label(8, top + 88, f"trained: {weights + encoder * trained:,} weights", kind="loss")
    return canvas.finish(
        f"Above, tokens pass through a frozen encoder of {encoder:,} weights; logistic regression on the mean vector "
        f"has {regression:,} weights, and the gradient reaches only these. Below, the encoder is trained together with "
        f"a head of {head:,} weights on [CLS], after the pooler: the gradient reaches all {encoder + head:,}."
    )


def pair_classifiers(tokens, segments, hidden):
    """A classifier on two vectors, which reads the sentences apart, beside one on the [CLS] of both as one input.

    tokens, segments: the pair as the cross-encoder reads it, with its token_type_ids. hidden: the length of a vector.
    """
    canvas = Canvas("10 pair classifiers", 258)
    first, second = segments.count(0), segments.count(1)
    canvas.text(120, 10, "bi-encoder", bold=True)
    for left, name, count in ((4, "u", first), (128, "v", second + 1)):  # alone, the second has a [CLS], too
        canvas.box(left, 26, 116, 28, f"{count} tokens", "token", SMALL)
        canvas.box_from((left + 58, 54), left, 70, 116, 30, "encoder, mean", "layer", SMALL)
        canvas.box_from((left + 58, 100), left + 24, 118, 68, 28, f"{name}: {hidden}", "sentence", SMALL)
    with canvas.step():
        for at, name in enumerate(("u", "v", "|u − v|")):
            canvas.box(33 + 58 * at, 170, 58, 28, name, "sentence", SMALL, round_by=0)
        canvas.arrow((58, 146), (62, 168))
        canvas.arrow((182, 146), (120, 168))
        for start, end in ((66, 170), (190, 184)):
            canvas.arrow((start, 146), (end, 168), dashed=True)
        canvas.box_from((120, 198), 33, 216, 174, 32, f"head: {3 * hidden:,} to 2 logits", "layer", SMALL)
    with canvas.step():
        canvas.text(392, 10, "cross-encoder", bold=True)
        wide = 240 / len(tokens)
        for at, (token, segment) in enumerate(zip(tokens, segments)):
            kind = "special" if token in ("[CLS]", "[SEP]") else "token"
            canvas.box(272 + at * wide, 26, wide, 28, kind=kind, round_by=0)
            canvas.text(272 + (at + 0.5) * wide, 62, segment, SMALL, quiet=True)
        canvas.box_from((392, 70), 292, 84, 200, 46, "encoder: every token\nlooks at both sentences", "layer", SMALL)
        canvas.box_from((392, 130), 348, 152, 88, 28, f"[CLS]: {hidden}", "sentence", SMALL)
        canvas.box_from((392, 180), 305, 216, 174, 32, f"head: {hidden} to 2 logits", "layer", SMALL)
    return canvas.finish(
        f"Two classifiers of pairs. The bi-encoder reads a sentence of {first} tokens and one of {second + 1} apart; "
        f"the mean of each is a vector of {hidden}, u and v, and a head reads u, v and |u - v|, {3 * hidden:,} "
        f"numbers. The cross-encoder reads one input of {len(tokens)} tokens with the token_type_ids 0 and 1; every "
        f"token looks at both sentences, and a head reads the {hidden} numbers of [CLS]. Both heads give 2 logits."
    )


def one_sentence_of_a_review(sentence, label):
    """A review with its label, of which we see a single sentence. label: 1 if the review was favourable, else 0."""
    canvas, lines = Canvas("10 one sentence", 240), in_lines(sentence, 270)
    canvas.text(84, 46, "the whole review", SMALL, quiet=True)
    canvas.text(360, 46, "one sentence of it: all that we see", SMALL, quiet=True)
    canvas.box(8, 60, 152, 128)
    for at in range(5):
        canvas.box(20, 72 + at * 22, 128 - 40 * (at == 4), 12, kind="token" if at == 2 else "padding", round_by=2)
    canvas.arrow((150, 122), (206, 122))
    height = 44 + 20 * lines.count("\n")
    canvas.box(208, 122 - height / 2, 304, height, kind="token")
    canvas.text(360, 122, lines, SMALL)
    with canvas.step():
        canvas.text(260, 14, "The label is that of the whole review, not of the sentence", bold=True, kind="loss")
        canvas.arrow((84, 188), (84, 204), kind="loss", tip=False, thick=True)
        words = f"label {label}: the review was {'' if label else 'not '}favourable"
        canvas.box(8, 204, 320, 30, words, "sentence" if label else "loss", SMALL, bold=True, thick=True)
    return canvas.finish(
        f"A review with the label {label}, and the one sentence of it that we see: {sentence} The label is that of the "
        "whole review."
    )


def random_split(beginning, copies, training, test):
    """Rows cut at random into two parts, with one text that stands in two rows and so in both parts.

    beginning: the first words of such a text. copies: how many texts of the test part are in the training part, too.
    training, test: how many rows each part has.
    """
    canvas, twins, right = Canvas("10 random split", 258, gap=2), (1, 4), ((0, 1, 3, 5), (2, 4))
    canvas.text(94, 12, f"{training + test:,} reviews", SMALL)
    for at in range(6):
        twin = at in twins
        canvas.box(8, 28 + at * 35, 172, 28, beginning if twin else "", "masked" if twin else "token", SMALL)
    for name, number, rows, top in (("training", training, right[0], 28), ("test", test, right[1], 176)):
        with canvas.step():
            canvas.text(424, top - 14, f"{name}: {number:,}", SMALL, bold=True)
            for at, row in enumerate(rows):
                twin, y = row in twins, top + at * 29
                canvas.arrow((182, 42 + row * 35), (332, y + 12), kind="masked" if twin else "plain")
                canvas.box(334, y, 178, 24, beginning if twin else "", "masked" if twin else "token", SMALL)
    with canvas.step():
        canvas.text(512, 247, f"in both parts: {copies} of {test:,}", anchor="end", bold=True, kind="masked")
    return canvas.finish(
        f"{training + test:,} reviews are cut at random into {training:,} for training and {test:,} for the test. A "
        f"text that begins with {beginning} stands in two rows, and so in both parts. {copies} of the {test:,} test "
        "texts are in the training part, too."
    )


def three_parts(sizes, decides):
    """The sentences cut into three parts, and what each part decides. sizes, decides: {name of the part: ...}."""
    canvas, left, whole, told = Canvas("10 three parts", 214), 8, sum(sizes.values()), []
    kinds, gap = ("token", "head", "sentence"), 4
    for at, (name, size) in enumerate(sizes.items()):
        wide, middle = (504 - 2 * gap) * size / whole, 90 + 170 * at
        canvas.box(left, 8, wide, 48, kind=kinds[at], thick=True)
        with canvas.step():
            canvas.path((left + wide / 2, 56), (middle, 98), tip=True)
            canvas.box(middle - 80, 100, 160, 52, f"{name}\n{size:,}", kinds[at], bold=True)
            words = in_lines(decides[name], 156)
            canvas.text(middle, 182, words, SMALL, quiet=decides[name].startswith("nothing"))
        left += wide + gap
        told.append(f"{name} with {size:,} sentences decides: {decides[name]}")
    return canvas.finish(f"A bar cut into three parts as large as they are. {'; '.join(told)}.")


def gradients_kept(batches=3):
    """What the gradient holds after each batch, if it is never cleared, and if it is cleared before each batch."""
    canvas, wide = Canvas("10 gradients kept", 112), 124
    for at in range(batches):
        canvas.text(200 + at * wide, 12, f"after batch {at + 1}", SMALL, quiet=True)
    for row, (name, first) in enumerate((("not cleared", 0), ("cleared", None))):
        y = 28 + row * 44
        canvas.text(136, y + 16, name, SMALL, "end", bold=True)
        for at in range(batches):
            held = range(0 if first == 0 else at, at + 1)
            for place, batch in enumerate(held):
                canvas.box(146 + at * wide + place * 36, y, 34, 32, f"g{batch + 1}", "loss", SMALL, round_by=0)
    return canvas.finish(
        f"What the gradient holds after each of {batches} batches. Not cleared: the sum of the gradients of all "
        "batches so far. Cleared: the gradient of this batch only."
    )


def space_before_and_after(before, after, labels, names, found):
    """Sentences as points, before and after a training: those that it learned from, and below them new ones.

    before, after: for each of the two groups, points (n, 2); each column has its own plane. labels: of each group, 0 or
    1. names: of the groups. found: what became of each group, in a word or two.
    """
    canvas, wide, high = Canvas("10 space", 260), 206, 104
    for column, (title, groups) in enumerate((("before", before), ("after", after))):
        x, told = 96 + column * 212, [point for points in groups for point in points]
        across, up = (max(abs(float(point[way])) for point in told) for way in (0, 1))
        scale = min((wide / 2 - 7) / across, (high / 2 - 7) / up)
        with canvas.step() if column else nullcontext():
            canvas.text(x + wide / 2, 10, title, bold=True)
            for row, (points, group) in enumerate(zip(groups, labels, strict=True)):
                y = 22 + row * 110
                canvas.box(x, y, wide, high)
                for (right, top), label in zip(points, group, strict=True):
                    place = x + wide / 2 + float(right) * scale, y + high / 2 - float(top) * scale
                    canvas.circle(*place, 4, "sentence" if label else "loss", "dot" if label else "ring")
    for row, (name, group) in enumerate(zip(names, labels)):
        canvas.text(46, 58 + row * 110, in_lines(f"{len(group)} {name}", 84), SMALL)
    with canvas.step():
        for row, words in enumerate(found):
            canvas.text(46, 104 + row * 110, in_lines(words, 84), SMALL, bold=True, kind="layer")
    canvas.circle(250, 250, 4, "sentence", "dot")
    canvas.label(260, 250, "favourable")
    canvas.circle(368, 250, 4, "loss", "ring")
    canvas.label(378, 250, "not favourable")
    return canvas.finish(
        f"Two planes with a point for each sentence, before and after training: {len(labels[0])} {names[0]}, below "
        f"them {len(labels[1])} {names[1]}. Full points are favourable, rings are not. After the training: {found[0]} "
        f"above, {found[1]} below."
    )
