"""A matplotlib figure as an SVG drawing whose text is text, and whose colours follow the page's
light or dark mode.
"""

from __future__ import annotations

import functools
import html
import io
import re
import zlib
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from .colours import DARK, FONTS, GREY, GRID, INK, PAPER, QUIET, readable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DECIMALS = re.compile(r"-?\d+\.\d+")
COLOUR = re.compile(r"(?<=: )#[0-9a-f]{6}")  # in a style
# a grey of seaborn's, or black: red, green and blue are the same two digits
DARK_STROKE = re.compile(r"(?<=stroke: )#([0-5][0-9a-f])\1\1")
REFERENCE = re.compile(r'(?:url\(|href=")#([\w.-]+)')  # to an element by its id
ID = re.compile(r' id="([^"]*)"')
# what is removed from a drawing before ids and numbers are: pattern, replacement
NEEDLESS = (
    (r"\s*\n\s*", " "),
    # the background, which is transparent
    (r'<path d="[^"]*"(?: clip-path="[^"]*")? style="fill: none"/>', ""),
    (r' transform="rotate\(-0 [^)]*\)"', ""),  # a rotation by nothing
    (r" font-family: [^;\"]+;?", ""),  # the stylesheet has FONTS
)
OPENING_TAG = re.compile(r"<[^/][^>]*>")
# {colour in light mode: (name of its variable, colour in dark mode)}
Variables = dict[str, tuple[str, str]]


@functools.cache
def _variables(palette: tuple[str, ...]) -> tuple[Variables, Variables]:
    """The Variables of marks, and those of text. palette: matplotlib's colours, which are
    p0, p1, ... in marks and t0, t1, ... in text.
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
        # WCAG asks for a contrast of 3 in marks, which is less than in text
        marks[to_hex(colour)] = f"p{number}", to_hex(readable(colour, PAPER[1], least=3))
        texts[to_hex(readable(colour))] = f"t{number}", to_hex(readable(colour, PAPER[1]))
    return marks, texts


def svg_of(figure: Figure, alt: str, **settings: Any) -> str:
    """The drawing as one element, for a page in HTML. It is the same each time: no date, no random
    names.

    alt: the alternative text, on which the ids depend. settings: of `figure.savefig`.
    """
    from matplotlib import rcParams

    whole = _saved(figure, settings)
    view_box = whole.partition('viewBox="')[2].partition('"')[0]
    # what follows the <defs> with matplotlib's own stylesheet
    below_style = whole[whole.index("</style>") :]
    drawing = _smaller(below_style.partition("</defs>")[2].rpartition("</svg>")[0])
    drawing = _named_anew(drawing, f"f{zlib.crc32(alt.encode()):08x}")
    palette = tuple(rcParams["axes.prop_cycle"].by_key()["color"])
    drawing, style = _following_the_mode(drawing, *_variables(palette))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{view_box}" class="cu-svg cu-plot" role="img" aria-label="{html.escape(alt)}">'
        f"<style>{style}</style>{drawing}</svg>"
    )


def _saved(figure: Figure, settings: Mapping[str, Any]) -> str:
    """matplotlib's SVG file of a figure, as text; the figure is afterwards as it was.

    settings: of `figure.savefig`.
    """
    import matplotlib.text

    # With effects matplotlib draws a text as outlines. So they are taken off while it is saved, and
    # the id "halo" lets the stylesheet draw them.
    haloed = {
        text: (text.get_path_effects(), text.get_gid())
        for text in figure.findobj(matplotlib.text.Text)
        if text.get_path_effects()
    }
    for text in haloed:
        text.set(path_effects=[], gid="halo")
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "course"}):
        figure.savefig(
            buffer,
            format="svg",
            transparent=True,
            metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")),  # none of these
            **settings,
        )
    for text, (effects, gid) in haloed.items():
        text.set(path_effects=effects, gid=gid)
    return buffer.getvalue()


def _smaller(drawing: str) -> str:
    """The drawing without what is never seen: ids without a reference, needless digits, empty
    groups.
    """
    for pattern, replacement in NEEDLESS:
        drawing = re.sub(pattern, replacement, drawing)
    # in the tags alone: a text such as <p id="x"> stays as it is
    used_ids = set(REFERENCE.findall("".join(OPENING_TAG.findall(drawing))))
    drawing = OPENING_TAG.sub(lambda match: _shorter(match[0], used_ids), drawing)
    drawing = re.sub(r"> (?=<)", ">", drawing)
    # a group that held only empty groups is empty afterwards
    while (emptied := re.sub(r"<g>\s*</g>", "", drawing)) != drawing:
        drawing = emptied
    return drawing


def _named_anew(drawing: str, prefix: str) -> str:
    """The drawing with new ids: `prefix` and a number. Those of matplotlib depend on the last
    digits of its numbers, which may differ between machines.
    """
    old_ids = dict.fromkeys(REFERENCE.findall("".join(OPENING_TAG.findall(drawing))))
    new_ids = {name: f"{prefix}-{number}" for number, name in enumerate(old_ids)}

    def renamed(tag_match: re.Match[str]) -> str:
        tag = ID.sub(lambda match: f' id="{new_ids[match[1]]}"', tag_match[0])
        return REFERENCE.sub(lambda match: match[0].replace(match[1], new_ids[match[1]]), tag)

    return OPENING_TAG.sub(renamed, drawing)


def _shorter(tag: str, used_ids: Collection[str]) -> str:
    # an opening tag: no ids but these, and one decimal in each number
    tag = ID.sub(
        lambda match: match[0] if match[1] in used_ids else "",
        tag.replace('id="halo"', 'class="halo"'),
    )
    tag = DECIMALS.sub(lambda match: f"{float(match[0]):.1f}".replace("-0.0", "0.0"), tag)
    # No spaces between the commands and numbers of a path, nor at the end of a tag or value. Each
    # command is a letter; z, which closes the path, has no numbers.
    return re.sub(r'(?<=[A-Za-z]) (?=-?\d)|(?<=\d) (?=[A-Zz])| (?=/>|")', "", tag)


def _following_the_mode(drawing: str, of_marks: Variables, of_text: Variables) -> tuple[str, str]:
    """The drawing with variables for its colours, and the style that gives them their values.

    of_marks, of_text: as `_variables` returns them.
    """
    used = {"paper": PAPER}  # {name of a variable: its colour in light mode, in dark mode}

    def variable(name: str, in_light: str, in_dark: str) -> str:
        used[name] = in_light, in_dark
        return f"var(--{name})"

    def as_variable(colour: str, known: Variables) -> str:
        if colour not in known:
            return colour  # such as the cells of a heatmap, and the numbers in them
        name, in_dark = known[colour]
        return variable(name, colour, in_dark)

    def with_variables(tag_match: re.Match[str]) -> str:
        # the ground of a hatch has its colour as an attribute
        tag = re.sub(r' fill="(#[0-9a-f]{6})"', r' style="fill: \1"', tag_match[0])
        if "<text" in tag:
            known = of_text
        else:
            known = of_marks
            tag = DARK_STROKE.sub(lambda match: variable(f"grey{match[1]}", match[0], INK[1]), tag)
        return COLOUR.sub(lambda match: as_variable(match[0], known), tag)

    drawing = OPENING_TAG.sub(with_variables, drawing)
    light = "".join(f"--{name}:{in_light};" for name, (in_light, _) in sorted(used.items()))
    dark = "".join(f"--{name}:{in_dark};" for name, (_, in_dark) in sorted(used.items()))
    # The stylesheets of the diagrams (`diagrams/look.py`) hold for all .cu-svg of a page;
    # .cu-svg.cu-plot undoes them in plots. Braces are doubled in the f-strings alone.
    return drawing, (
        f".cu-plot{{{light}display:block;width:100%;max-width:44rem;height:auto;margin:0 auto;"
        "stroke-linejoin:round;stroke-linecap:butt}"
        f"{','.join(f'{page} .cu-plot' for page in DARK)}{{{dark}}}"
        f".cu-svg.cu-plot text{{font-family:{FONTS['sans']};fill:#000;text-anchor:start;dominant-baseline:auto;"
        "white-space:pre}"
        ".cu-svg.cu-plot path{stroke-width:1}"
        ".cu-plot .halo text{paint-order:stroke;stroke:var(--paper);stroke-width:3px}"
    )
