"""A matplotlib figure as an SVG drawing whose text is text, and whose colours follow the page's
light or dark mode.
"""

from __future__ import annotations

import functools
import html
import io
import re
import zlib
from typing import TYPE_CHECKING, Any

from .colours import DARK, FONTS, GREY, GRID, INK, PAPER, QUIET, readable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DECIMALS = re.compile(r"-?\d+\.\d+")
COLOUR = re.compile(r"(?<=: )#[0-9a-f]{6}")
DARK_STROKE = re.compile(r"(?<=stroke: )#([0-5][0-9a-f])\1\1")  # a grey of seaborn's, or black
NAMES = re.compile(r'(?:url\(|href=")#([\w.-]+)')


@functools.cache
def _variables(palette):
    """{colour in light mode: (name of its variable, colour in dark mode)} of marks, and the same of
    text.
    """
    from matplotlib.colors import to_hex

    texts = {INK[0]: ("ink", INK[1])}
    marks = {
        **texts,
        GREY: ("quiet", QUIET[1]),
        GRID[0]: ("grid", GRID[1]),
        PAPER[0]: ("paper", PAPER[1]),
    }
    for number, colour in enumerate(palette):
        marks[to_hex(colour)] = f"p{number}", to_hex(readable(colour, PAPER[1], 3))
        texts[to_hex(readable(colour))] = f"t{number}", to_hex(readable(colour, PAPER[1]))
    return marks, texts


def svg_of(figure: Figure, alt: str, **more: Any) -> str:
    """The drawing as one element, for a page in HTML. It is the same each time: no date, no random
    names.

    more: for `figure.savefig`.
    """
    import matplotlib
    from matplotlib.text import Text

    kept = {
        text: (text.get_path_effects(), text.get_gid())
        for text in figure.findobj(Text)
        if text.get_path_effects()
    }
    for text in kept:  # drawn as outlines, they would not be text
        text.set(path_effects=[], gid="halo")
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "course"}):
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing, **more)
    for text, (effects, gid) in kept.items():
        text.set(path_effects=effects, gid=gid)
    drawing = buffer.getvalue()
    size = drawing.partition('viewBox="')[2].partition('"')[0]
    drawing = _smaller(
        drawing[drawing.index("</style>") :].partition("</defs>")[2].rpartition("</svg>")[0]
    )
    drawing = _named_anew(drawing, f"f{zlib.crc32(alt.encode()):08x}")
    palette = tuple(matplotlib.rcParams["axes.prop_cycle"].by_key()["color"])
    drawing, style = _following_the_mode(drawing, _variables(palette))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{size}" '
        f'class="cu-svg cu-plot" role="img" aria-label="{html.escape(alt)}"><style>{style}</style>{drawing}</svg>'
    )


def _smaller(drawing):
    """The drawing without what changes nothing: names nobody refers to, digits nobody sees, empty
    groups.
    """
    drawing = re.sub(r"\s*\n\s*", " ", drawing)
    # of the background
    drawing = re.sub(r'<path d="[^"]*"(?: clip-path="[^"]*")? style="fill: none"/>', "", drawing)
    drawing = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", drawing)
    drawing = re.sub(r" font-family: [^;\"]+;?", "", drawing)
    drawing = drawing.replace('id="halo"', 'class="halo"')
    named = set(NAMES.findall(drawing))
    drawing = re.sub(r' id="([^"]*)"', lambda one: one[0] if one[1] in named else "", drawing)
    drawing = re.sub(r"<[^/][^>]*>", lambda tag: _shorter(tag[0]), drawing)
    drawing = re.sub(r"> (?=<)", ">", drawing)
    while (fewer := re.sub(r"<g>\s*</g>", "", drawing)) != drawing:
        drawing = fewer
    return drawing


def _named_anew(drawing, prefix):
    """The drawing with names that depend on the picture's text alone, and not on its last digits as
    matplotlib's do.
    """
    numbers = {
        name: f"{prefix}-{at}" for at, name in enumerate(dict.fromkeys(NAMES.findall(drawing)))
    }
    drawing = re.sub(r' id="([^"]*)"', lambda one: f' id="{numbers[one[1]]}"', drawing)
    return NAMES.sub(lambda one: one[0].replace(one[1], numbers[one[1]]), drawing)


def _shorter(tag):
    tag = DECIMALS.sub(lambda one: f"{float(one[0]):.1f}".replace("-0.0", "0.0"), tag)
    return re.sub(r'(?<=[A-Za-z]) (?=-?\d)|(?<=\d) (?=[A-Zz])| (?=/>|")', "", tag)


def _following_the_mode(drawing, variables):
    """The drawing with variables for its colours, and the style that gives them their values.

    variables: those of marks, and those of text.
    """
    used = {}

    def in_tag(tag):
        # of a hatch's ground
        text = re.sub(r' fill="(#[0-9a-f]{6})"', r' style="fill: \1"', tag[0])
        known = variables["<text" in text]

        def as_ink(grey):
            used[f"grey{grey[1]}"] = grey[0], INK[1]
            return f"var(--grey{grey[1]})"

        def as_variable(colour):
            if colour[0] not in known:
                return colour[0]  # such as the cells of a heatmap, and what is written on them
            name, dark = known[colour[0]]
            used[name] = colour[0], dark
            return f"var(--{name})"

        if "<text" not in text:
            text = DARK_STROKE.sub(as_ink, text)
        return COLOUR.sub(as_variable, text)

    drawing = re.sub(r"<[^/][^>]*>", in_tag, drawing)
    used["paper"] = PAPER
    light, dark = (
        "".join(f"--{name}:{pair[mode]};" for name, pair in sorted(used.items())) for mode in (0, 1)
    )
    return drawing, (
        f".cu-plot{{{light}display:block;width:100%;max-width:44rem;height:auto;margin:0 auto;"
        "stroke-linejoin:round;stroke-linecap:butt}"
        f"{','.join(f'{page} .cu-plot' for page in DARK)}{{{dark}}}"
        f".cu-svg.cu-plot text{{font-family:{FONTS['sans']};fill:#000;text-anchor:start;dominant-baseline:auto;"
        "white-space:pre}}"
        ".cu-svg.cu-plot path{stroke-width:1}"
        ".cu-plot .halo text{paint-order:stroke;stroke:var(--paper);stroke-width:3px}"
    )
