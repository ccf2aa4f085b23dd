"""What the diagrams look like: kinds of things and their colours, type, the stylesheet.

A kind of thing has the same colours in every lesson (`KINDS`); two kinds that belong together may
share theirs. The colours are CSS variables, which follow the light or dark mode of JupyterLab and
the book.
"""

import unicodedata
from collections.abc import Iterable

from .._support.colours import DARK, FONTS, INK, QUIET

TEXT, SMALL = 16, 14  # heights of type, in units; use nothing smaller
LINE_SPACING = 1.2  # from one line of text to the next, in heights of type
DARKEST = 0.33  # the strongest shade of a cell or box: text on it can be read in both modes
# Each kind of thing: its fill and its line, in light and in dark mode. The hues are those of Okabe
# and Ito (2008), "Color Universal Design", which stay apart under the common colour-vision
# deficiencies.
KINDS = {
    "token": ("#d6e8f6", "#005b8f", "#123f5c", "#7cc1ee"),  # a piece of text, and its id
    "special": ("#ffffff", "#005b8f", "#15191d", "#7cc1ee"),  # [CLS], [SEP]: added by the tokenizer
    "padding": ("#e9ecef", "#5f6b76", "#2b333a", "#a3afb9"),  # [PAD], and what the mask hides
    # in the colours of "loss", since a loss is computed at these tokens
    "masked": ("#fbdccb", "#a33f00", "#5a2707", "#ffa775"),  # [MASK], and what must be predicted
    # of a token: a row of last_hidden_state
    "vector": ("#e3f2fb", "#2b7bb0", "#16303f", "#8ccbf0"),
    "layer": ("#f6e3ee", "#8f3a6c", "#472338", "#e9a6cb"),  # what has weights, such as a classifier
    # of attention: queries, keys, values, weights
    "head": ("#fdedc8", "#7d5600", "#493504", "#f3c04d"),
    "sentence": ("#d2efe4", "#00664c", "#0d4435", "#5fd3ae"),  # the vector of a whole text
    "loss": ("#fbdccb", "#a33f00", "#5a2707", "#ffa775"),  # a loss, an error, a gradient
    "plain": ("none", "#53606c", "none", "#9dabb8"),  # everything else
}
KIND_OF_TOKEN = {"[CLS]": "special", "[SEP]": "special", "[MASK]": "masked", "[PAD]": "padding"}
# Widths of signs in heights of type. The fonts of a reader are not known (`FONTS`), so these are
# estimates, near those of Helvetica (wide: 0.72 to 1.02, slim: 0.19 to 0.33, a digit: 0.556) and,
# with equally wide signs, of Menlo (0.602).
SIGN_WIDTHS: dict[str, float] = {
    **dict.fromkeys("mwMW@", 0.86),
    **dict.fromkeys("iljt.,:;'|()[]!fI ", 0.33),
}
OTHER_WIDTH = 0.56  # of signs that SIGN_WIDTHS does not name
MONO_WIDTH = 0.605


def _variables(mode: int) -> str:
    """The colours of the light (0) or dark mode (1) as CSS variables: `-f` fills, `-l` lines."""
    text = ""
    for name, colours in KINDS.items():
        fill, line = colours[2 * mode : 2 * mode + 2]
        text += f"--{name}-f:{fill};--{name}-l:{line};"
    return f"{text}--ink:{INK[mode]};--quiet:{QUIET[mode]};"


def stylesheet() -> str:
    """The stylesheet that each drawing carries: page and drawing need nothing else."""
    kinds = "".join(
        f".cu-svg .{name}{{fill:var(--{name}-f);stroke:var(--{name}-l)}}"
        f".cu-svg .{name}-text{{fill:var(--{name}-l)}}"
        f".cu-svg .{name}-line{{fill:none;stroke:var(--{name}-l)}}"
        for name in KINDS
    )
    tips = "".join(f".cu-svg .{name}-tip{{fill:var(--{name}-l);stroke:none}}" for name in KINDS)
    dark_pages = ",".join(f"{page} .cu-svg" for page in DARK)
    return (
        f".cu-svg{{{_variables(0)}display:block;width:100%;max-width:44rem;height:auto;"
        "margin:0 auto}"
        f"{dark_pages}{{{_variables(1)}}}"
        f".cu-svg text{{fill:var(--ink);font-family:{FONTS['sans']};"
        "text-anchor:middle;dominant-baseline:central}"
        f".cu-svg .mono{{font-family:{FONTS['mono']}}}.cu-svg .bold{{font-weight:650}}"
        ".cu-svg .start{text-anchor:start}.cu-svg .end{text-anchor:end}"
        ".cu-svg .quiet{fill:var(--quiet)}"
        ".cu-svg rect,.cu-svg path,.cu-svg circle{stroke-width:1.6}"
        f"{kinds}.cu-svg .dashed{{stroke-dasharray:5 4}}.cu-svg .thick{{stroke-width:3}}"
        f".cu-svg .tip{{stroke:none}}{tips}"
    )


def text_width(text: str, size: float = TEXT, mono: bool = False) -> float:
    """About how wide a line of text is, in units: enough to see that it does not fit.

    size: the height of type, in units. mono: whether all signs are equally wide.
    """
    if mono:
        return len(text) * size * MONO_WIDTH
    total = 0.0
    for sign in text:
        if unicodedata.east_asian_width(sign) in "WF":  # wide or full: as wide as it is high
            total += 1.0
        else:
            total += SIGN_WIDTHS.get(sign, OTHER_WIDTH)
    return size * total


def shades(values: Iterable[float], lowest: float, highest: float) -> list[float]:
    """Numbers as the darkness of cells: 0 for the lowest of those compared, 1 for the highest.

    `highest` must be above `lowest`: where they are equal, there is a division by 0.
    """
    return [(value - lowest) / (highest - lowest) for value in values]


def in_lines(text: str, width: float, size: float = SMALL) -> str:
    """The text broken between words into lines of at most this width, with line ends between them.

    width, size: in units. A word that is wider by itself has a line of its own and stays whole. Any
    white space separates words, line ends too.
    """
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if not lines[-1] or text_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)
