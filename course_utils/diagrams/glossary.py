"""The diagrams of the glossary: where its terms belong."""

from collections.abc import Sequence

from .canvas import SMALL, Canvas, Diagram


def from_text_to_vector(text: str, tokens: Sequence[str], ids: Sequence[int]) -> Diagram:
    """The way of a text to its vector, with the glossary's word for each thing on it."""
    canvas = Canvas("glossary from text to vector", 344)
    middle = 330  # of the way
    canvas.text(middle, 16, text, kind="token")
    for y, name in ((30, "tokenizer"), (96, "vocabulary"), (166, "encoder"), (250, "pooling")):
        canvas.arrow((middle, y), (middle, y + 24), name)
    wide = 380 / len(tokens)
    for at, (token, number) in enumerate(zip(tokens, ids)):
        x = 140 + at * wide
        canvas.tokens(x, 58, [token], width=wide - 6)
        canvas.text(x + wide / 2 - 3, 138, number, SMALL, mono=True)
        canvas.vector(x + wide / 2 - 17, 196)
    canvas.vector(middle - 48, 280, 6, "sentence", 96, 24, across=True)
    for name, y in (
        ("text", 16),
        ("tokens", 72),
        ("ids", 138),
        ("hidden state:\na vector for\neach token", 216),
    ):
        canvas.text(8, y, name, anchor="start", bold=True)
    canvas.text(8, 292, "sentence\nembedding", anchor="start", bold=True)
    canvas.text(middle, 326, "one vector for the whole text", SMALL, quiet=True)
    return canvas.finish(
        f"The text {text} on its way to a vector. The tokenizer cuts it into {len(tokens)} tokens. "
        "The vocabulary gives each of them an id. The encoder makes a vector of each, and pooling "
        "makes one vector of all: the sentence embedding."
    )


def parts_of_a_layer() -> Diagram:
    """What one layer of an encoder consists of, in the words of the glossary."""
    canvas = Canvas("glossary parts of a layer", 250, gap=2)
    canvas.text(92, 232, "vectors of all tokens", SMALL, kind="vector")
    canvas.box(20, 20, 480, 190, kind="layer")
    canvas.text(34, 36, "layer", anchor="start", bold=True)
    canvas.box_from((92, 222), 40, 140, 104, 46, "query, key,\nvalue", "head", SMALL)
    canvas.box_from((146, 163), 174, 140, 96, 46, "weights\n(softmax)", "head", SMALL)
    canvas.box_from((272, 163), 300, 140, 110, 46, "mean of the\nvalues", "head", SMALL)
    canvas.bracket(40, 410, 134, "attention head: several work side by side")
    canvas.arrow((412, 163), (456, 84), bend=18)
    canvas.box(300, 56, 150, 34, "feed-forward", "layer")
    canvas.arrow((298, 73), (236, 73))
    canvas.box(72, 56, 160, 34, "hidden state", "vector")
    return canvas.finish(
        "One layer of an encoder. The vectors of all tokens come in. In each attention head, they "
        "become queries, keys and values; softmax makes weights, and each token gets a mean of the "
        "values. A feed-forward network follows. What comes out is the next hidden state."
    )
