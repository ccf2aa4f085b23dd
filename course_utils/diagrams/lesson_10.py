"""The diagrams of lesson 10: what is trained, the rate, kinds of mistakes, pairs."""

from .canvas import SMALL, Canvas


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


def rate_over_steps(rates, warmup):
    """The learning rate at each step: up over `warmup` steps, then down. rates: one for each step, from step 0."""
    canvas = Canvas("10 rate over steps", 230)
    left, bottom, last = 66, 176, len(rates) - 1
    across, up = 430 / last, 140 / max(rates)
    places = [(left + at * across, bottom - rate * up) for at, rate in enumerate(rates)]
    canvas.arrow((left, bottom), (left + 446, bottom))
    canvas.arrow((left, bottom), (left, 8))
    canvas.text(left - 8, bottom, "0", SMALL, "end")
    canvas.text(left - 8, places[warmup][1], f"{max(rates):.0e}".replace("e-0", "e-"), SMALL, "end")
    canvas.label(left + 10, 10, "learning rate", quiet=True)
    for start, end, words in canvas.steps(((0, warmup, "warm-up"), (warmup, last, "straight down to 0"))):
        canvas.arrow(places[start], places[end], kind="layer", tip=False, thick=True)
        for x, y in places[start : end + 1]:
            canvas.circle(x, y, 4, "layer")
        canvas.bracket(places[start][0] + 3, places[end][0] - 3, bottom + 28, words)
        canvas.text(places[end][0], bottom + 14, end, SMALL)
    canvas.text(left + 4, bottom + 14, "step 0", SMALL)
    return canvas.finish(
        f"The learning rate over {last} steps. It rises in a straight line from 0 to {max(rates):g} at step {warmup}, "
        f"then falls in a straight line to 0 at step {last}."
    )


def mistakes(counts):
    """The four kinds of answers, and what precision and recall count. counts: ((TN, FP), (FN, TP))."""
    (rejected, alarms), (missed, found) = counts
    canvas = Canvas("10 mistakes", 236)
    for at, name in enumerate(("says negative", "says positive")):
        canvas.text(206 + at * 116, 10, name, SMALL)
    for at, (name, row) in enumerate(zip(("is negative", "is positive"), counts)):
        canvas.text(136, 56 + at * 64, name, SMALL, "end")
        for place, count in enumerate(row):
            kind = "sentence" if at == place else "loss"
            canvas.box(150 + place * 116, 28 + at * 64, 112, 58, f"{count:,}", kind, 22, bold=True)
    with canvas.step():
        canvas.box(262, 24, 120, 138, thick=True, dashed=True)
        canvas.arrow((322, 162), (322, 180))
        canvas.text(322, 208, f"precision\n{found} of {found + alarms}\n{found / (found + alarms):.2f}")
    with canvas.step():
        canvas.box(144, 88, 246, 66, thick=True)
        canvas.arrow((390, 121), (406, 121))
        canvas.text(412, 121, f"recall\n{found} of {found + missed}\n{found / (found + missed):.2f}", anchor="start")
    return canvas.finish(
        f"Of the negative sentences, {rejected} are called negative and {alarms} positive; of the positive ones, "
        f"{missed} are called negative and {found} positive. Precision looks at the column of those called positive, "
        f"{found} of {found + alarms}; recall at the row of those that are positive, {found} of {found + missed}."
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
