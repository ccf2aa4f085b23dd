"""The diagrams of lesson 04: pooling."""

from .canvas import Canvas


def three_poolings(tokens, mask, values):
    """How [CLS], mean and maximum pooling make one vector of a sentence from the vectors of its tokens.

    tokens: of one sentence, padding included. mask: 1 for each token that counts, else 0.
    values: a few coordinates of each token's vector, (tokens, coordinates).
    """
    canvas = Canvas("04 three poolings", 250)
    low, high = float(values.min()), float(values.max())
    shades = [[(float(value) - low) / (high - low) for value in row] for row in values]
    wide, left = 62, 10
    kinds = [None if counts else "padding" for counts in mask]
    by_name = {"[CLS]": "special", "[SEP]": "special"}
    for at, (token, kind) in enumerate(zip(tokens, kinds)):
        x = left + at * (wide + 6)
        canvas.tokens(x, 8, [token], kind or by_name.get(token, "token"), width=wide)
        canvas.arrow((x + wide / 2, 36), (x + wide / 2, 54))
        canvas.vector(x + 17, 56, values=shades[at], kind=kind or "vector")
    right = left + len(tokens) * (wide + 6) - 6
    counted = left + sum(map(int, mask)) * (wide + 6) - 6
    names = ("[CLS]: the first vector", "mean of the vectors that count", "maximum of each coordinate")
    for at, name in enumerate(names):
        with canvas.step():
            y = 124 + at * 42
            end = left + wide if at == 0 else counted
            canvas.arrow((left, y), (end, y), kind="sentence", tip=False, thick=True)
            canvas.arrow((end, y), (right - 60, y), kind="sentence")
            canvas.vector(right - 56, y - 9, cells=4, kind="sentence", width=56, height=18, across=True)
            canvas.text(left, y + 18, name, 14, anchor="start", kind="sentence")
    return canvas.finish(
        f"The {len(tokens)} tokens of a padded sentence, each with its vector. [CLS] pooling takes the first vector. "
        "Mean pooling takes the mean, and maximum pooling the largest value of each coordinate, over the "
        f"{sum(map(int, mask))} tokens that the mask counts. Each gives one vector."
    )
