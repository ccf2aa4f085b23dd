"""bertviz's own calls, drawn without a network: each view is a page in a frame, with a still
picture and text.

The library's views load three scripts from a content delivery network, and run them in the
notebook's page. Here the scripts come from packages, and run in a frame that cannot reach any
network. The library's files are not changed.
"""

import functools
import hashlib
import html
import inspect
import json
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from .downloads import packaged_folder
from .figures import Figure, heatmap

LARGE = {  # tokens of the largest view without a warning
    # a notebook grows with their square: by 1.1 MB at 40 tokens, 6 layers of 12 heads
    "head_view": 40,
    "model_view": 24,  # all heads are drawn at once: 41,000 lines at 24 tokens
}
# jQuery and d3, without which bertviz draws nothing: (package, path inside it)
SCRIPTS = (("xstatic", "pkg/jquery/data/jquery.slim.min.js"), ("mpld3", "js/d3.v5.min.js"))
# the Content Security Policy of the frame: it can make no requests
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
# Replaces require.js, from which bertviz requests two scripts that are already loaded. `cut` makes
# the four parts of a pair's attentions, which bertviz would store again: within the first text,
# within the second, from the first to the second, and back; `b` is the number of tokens in the
# first, null for a single text. `page` puts the view's width for WIDTH. The view is scaled down,
# at most to a fifth, if the page is too narrow. A ResizeObserver does that, since a frame may have
# no width yet when its script runs, and gets no resize event for its first width.
STAND_IN = """
function requirejs(names, start) { start(jQuery, d3); }
function cut([all, ...parts], b) {
  const first = [0, b], second = [b], pairs = [[first, first], [second, second], [first, second], [second, first]];
  parts.forEach((part, i) => part.attn = all.attn.map(layer => layer.map(
    head => head.slice(...pairs[i][0]).map(row => row.slice(...pairs[i][1])))));
}
const scale = () => document.body.style.zoom = Math.min(1, Math.max(0.2, innerWidth / WIDTH));
scale();
new ResizeObserver(scale).observe(document.documentElement);
"""
# weights from 0 to 1 (rows, columns), and the names of their rows and columns
Table = tuple[torch.Tensor, Sequence[Any], Sequence[Any]]
# In JupyterLab's dark theme. Inverting turns each hue into its opposite, and the half turn turns it
# back. 0.92 of it makes white a dark grey, not black.
DARK = (
    '<style>body[data-jp-theme-light="false"] iframe.cu-view'
    "{filter:invert(.92) hue-rotate(180deg)}</style>"
)


class View:
    """One of bertviz's views, in a self-contained frame, with a still picture.

    As HTML it is interactive (JupyterLab, exported HTML). Where frames are removed, as on GitHub,
    or the notebook is not trusted, the table below the frame shows. As PNG (exported PDF) it is a
    heatmap; as text, the heatmap's sentence and numbers. Between processors, views of the same
    tokens differ only in the last of the digits printed.
    """

    def __init__(self, data: str, still: Figure):
        # data: the HTML of the frame
        self.data, self.still = data, still  # IPython's HTML calls its page `data`, too

    def _repr_html_(self) -> str:
        return self.data

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        return self.still._repr_png_()

    def __repr__(self):
        return repr(self.still)


def stand_in() -> None:
    """Let `bertviz.head_view` and `bertviz.model_view` draw offline, with the same arguments."""
    import bertviz

    for name, view_of in ("head_view", head_view), ("model_view", model_view):
        # this module is hidden in the package, behind the function of the same name
        module = sys.modules[f"bertviz.{name}"]
        if not hasattr(getattr(module, name), "__wrapped__"):
            setattr(module, name, _offline(getattr(module, name), view_of))
        setattr(bertviz, name, getattr(module, name))


def _offline(original: Any, view_of: Callable[..., View]) -> Callable[..., View | None]:
    """A function with the arguments of one of the library's, which shows a View, or returns it for
    html_action="return".
    """
    signature = inspect.signature(original)

    @functools.wraps(original)
    def draw(*positional: Any, **named: Any) -> View | None:
        bound = signature.bind(*positional, **named)
        bound.apply_defaults()
        arguments = bound.arguments | checked(bound.arguments, LARGE[original.__name__])
        view = view_of(functools.partial(page, original, arguments), arguments)
        if arguments["html_action"] == "return":
            return view
        from IPython.display import display

        display(view)

    return draw


def checked(arguments: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """{"attention": float32 tensors (1, heads, n, n), one a layer, "tokens": n strings}, as lists.

    arguments: those of a view of bertviz, by name. limit: warn if there are more tokens than this.
    Raises TypeError for tokens that are not strings, ValueError for attention that does not fit.
    """
    tokens, layers = arguments["tokens"], arguments["attention"]
    if tokens is None or not all(isinstance(token, str) for token in tokens):
        raise TypeError(
            "tokens must be a list of strings, as tokenizer.convert_ids_to_tokens returns them"
        )
    in_a_list = isinstance(layers, (tuple, list)) and len(layers) > 0
    if not in_a_list or not all(isinstance(layer, torch.Tensor) for layer in layers):
        raise ValueError(
            "attention must be a list with a tensor (1, heads, n, n) for each layer; a model "
            'returns it only when it is loaded with attn_implementation="eager" and called with '
            "output_attentions=True"
        )
    n = len(tokens)
    for layer in layers:
        if layer.ndim != 4 or layer.shape[0] != 1 or layer.shape[2:] != (n, n):
            raise ValueError(
                f"{n} tokens need attention (1, heads, {n}, {n}) of each layer; got "
                f"{tuple(layer.shape)}"
            )
    if n > limit:
        warnings.warn(
            f"{n} tokens make a large view: it is slow, and so is the notebook that stores it",
            stacklevel=3,  # the caller of bertviz's function
        )
    return {"attention": [layer.detach().float().cpu() for layer in layers], "tokens": list(tokens)}


def chosen(name: str, numbers: Any, existing: Sequence[int]) -> list[int]:
    """The numbers of layers or heads as a list.

    name: "layer" or "head". numbers: one, or several in a list or tensor; None means all of
    `existing`. Raises ValueError for a number that does not exist, and for no number.
    """
    numbers = list(existing) if numbers is None else torch.as_tensor(numbers).reshape(-1).tolist()
    if not numbers or not {*numbers} <= {*existing}:
        raise ValueError(
            f"choose one {name} or more from {existing[0]} to {existing[-1]}; got {numbers}"
        )
    return numbers


def head_view(page_of: Callable[..., str], arguments: Mapping[str, Any]) -> View:
    """The View of one layer: lines from token to token, as strong as the weights, one colour per
    head. In the frame, a menu offers the other included layers.

    page_of: `page`, which still needs its `options`, `width` and perhaps `margin`.
    arguments: those of `bertviz.head_view`, `checked`.
    """
    attention, tokens = arguments["attention"], arguments["tokens"]
    layers = chosen("layer", arguments["include_layers"], range(len(attention)))
    asked = layers[0] if arguments["layer"] is None else arguments["layer"]
    (layer,) = chosen("layer", asked, layers)
    heads = chosen("head", arguments["heads"], range(attention[0].shape[1]))
    mean = "mean of " if len(heads) > 1 else ""
    title = f"layer {layer} (counted from 0), {mean}{listed('head', heads)}"
    alt = f"Head view of {title}: how much each of {len(tokens)} tokens (rows) looks at each (columns)"
    # The sizes are bertviz's, in pixels: a letter is at most 8 wide, a row of tokens 22.5 high, and
    # 70 is for what stands above the rows. Long tokens extend beyond the 100 that a column has.
    overhang = max(0, 8 * max(map(len, tokens)) - 100)
    width, height = 360 + 2 * overhang, 70 + 22.5 * len(tokens)
    document = page_of(
        {"layer": layer, "heads": heads, "include_layers": layers}, width, margin=8 + overhang
    )
    table = (attention[layer][0, heads].mean(0), tokens, tokens)
    return View(
        framed(document, alt, width, height, table),
        still(table, f"{alt}.", title=title.capitalize(), xlabel="looked at", ylabel="token"),
    )


def model_view(page_of: Callable[..., str], arguments: Mapping[str, Any]) -> View:
    """The View of all heads as thumbnails, a row per layer. Arguments as for `head_view`.

    It follows the page's light or dark mode, whatever `display_mode` says.
    """
    attention, tokens = arguments["attention"], arguments["tokens"]
    count = attention[0].shape[1]
    layers = chosen("layer", arguments["include_layers"], range(len(attention)))
    heads = chosen("head", arguments["include_heads"], range(count))
    alt = (
        f"Model view of {len(tokens)} tokens in {listed('layer', layers)} (rows, counted from 0) "
        f"and {listed('head', heads)} (columns): how much tokens look at tokens; a number is a "
        "head's largest weight"
    )
    weights = torch.cat([attention[layer] for layer in layers])[:, heads]
    # bertviz's sizes, in pixels: the heading (60 with a menu, for two texts), and the thumbnails or
    # the large view beside them, whose rows are 18 high. Thumbnails get smaller with more heads.
    above = 38 if arguments["sentence_b_start"] is None else 60
    thumbnails = 38 + len(layers) * (10 + 84 / count * len(tokens))
    width, height = 990, above + max(thumbnails, 55 + 18 * len(tokens))
    document = page_of(
        {"include_layers": layers, "include_heads": heads, "display_mode": "light"}, width
    )
    table = (weights.amax((-1, -2)), layers, heads)
    return View(
        framed(document, alt, width, height, table),
        still(
            table, f"{alt}.", title="The largest weight of each head", xlabel="head", ylabel="layer"
        ),
    )


def listed(name: str, numbers: list[int]) -> str:
    """("head", [3]) as "head 3", [0, 2] as "heads 0, 2", [0, 1, 2] as "heads 0 to 2"."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{name}s {numbers[0]} to {numbers[-1]}"
    return f"{name}{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


def page(
    original: Any,
    arguments: Mapping[str, Any],
    options: Mapping[str, Any],
    width: float,
    margin: float = 8,
) -> str:
    """A page with bertviz's HTML for a view, which needs no other file.

    original: the library's function. arguments: its arguments, of which `options` replaces some.
    width: of the view, in pixels. margin: at its left, also in pixels.
    """
    arguments = {**arguments, **options, "html_action": "return"}
    original_html = original(**arguments).data
    # The line that sets `params` to the view's data in JSON, and the HTML before and after it. A
    # comment behind the data on this line repeats it.
    before, params_and_comment, after = re.split(
        r"(?<=const params = )(.*)", original_html, maxsplit=1
    )
    params, _ = json.JSONDecoder().raw_decode(params_and_comment)
    view_id = _view_id(original.__name__, arguments)
    before = before.replace(params["root_div_id"], view_id)
    params["root_div_id"] = view_id
    # without the script that loads require.js, and without require.js's settings
    before = re.sub(
        r"^<script src=[^>]*></script>|require\.config\(.*?\}\);", "", before, flags=re.DOTALL
    )
    for part in params["attention"][1:]:
        del part["attn"]  # `cut` of STAND_IN makes it
    libraries = [
        (packaged_folder(package) / path).read_text(encoding="utf-8") for package, path in SCRIPTS
    ]
    scripts = "</script><script>".join([*libraries, STAND_IN.replace("WIDTH", str(width))])
    return (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<style>body{{margin:8px 8px 8px {margin}px;background:white;color:black}}"
        f"svg{{overflow:visible}}</style><body><script>{scripts}</script>"
        f"{before}{_literal(params)}; "
        f"cut(params.attention, {json.dumps(arguments['sentence_b_start'])});{after}"
    )


def _view_id(name: str, arguments: Mapping[str, Any]) -> str:
    """An id for a page, from the name of the view and all arguments but the weights, in which
    processors differ.
    """
    others = {key: value for key, value in arguments.items() if key != "attention"}
    content = json.dumps([name, len(arguments["attention"]), others])
    return f"bertviz-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def _literal(value: Any) -> str:
    """A value as JavaScript that is safe inside a script element, with fractions to three
    decimals.
    """
    if isinstance(value, dict):
        entries = [f"{json.dumps(key)}:{_literal(entry)}" for key, entry in value.items()]
        return "{" + ",".join(entries) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_literal, value)) + "]"
    if isinstance(value, float):
        return f"{value:.3f}"
    return json.dumps(value).replace("<", r"\u003c")  # a token may be "</script>"


def framed(document: str, alt: str, width: float, height: float, table: Table) -> str:
    """A page in a frame over a table of weights, which shows where there is no script.

    width, height: of the view, in pixels. alt: a sentence that describes it, without its full stop
    and without characters that HTML escapes.

    The frame is as high as the page needs at the available width.
    """
    weights, rows, columns = table

    def cell(value: float) -> str:
        # 0.6 is the strongest shade: white and black text both keep a contrast of 4.5 to 1 on it
        return f'<td style="background:rgba(66,146,198,{0.6 * value:.2f})">{value:.2f}</td>'

    header = "".join(f"<th>{html.escape(str(name))}</th>" for name in ["", *columns])
    table_rows = ""
    for name, values in zip(rows, weights.tolist(), strict=True):
        table_rows += f"<tr><th>{html.escape(str(name))}</th>{''.join(map(cell, values))}</tr>"
    # as the value of `srcdoc`, between single quotes
    document = document.replace("&", "&amp;").replace("'", "&#39;")
    room = f"aspect-ratio:{width:.0f}/{height:.0f};max-height:{height:.0f}px"
    return (
        f'{DARK}<div style="position:relative;width:100%;{room}">'
        '<div style="overflow:auto;height:100%">'
        f"{alt}. (Where scripts run, bertviz's view covers this table.)"
        f"<table><tr>{header}</tr>{table_rows}</table></div>"
        f'<iframe class="cu-view" title="{alt}" sandbox="allow-scripts" '
        f'style="position:absolute;top:0;left:0;width:100%;height:100%;'
        f"border:0;background:white\" srcdoc='{document}'></iframe></div>"
    )


def still(table: Table, alt: str, **labels: str) -> Figure:
    """The still picture of a table: a heatmap with its numbers.

    labels: the `title`, `xlabel` and `ylabel` of `heatmap`.
    """
    from matplotlib import rcParams

    # not by rc_context, whose end would undo what a notebook sets at its first figure
    parse_math = rcParams["text.parse_math"]
    rcParams["text.parse_math"] = False  # a "$" in a token is literal
    try:
        with warnings.catch_warnings(action="ignore"):  # about characters that the font lacks
            return heatmap(*table, alt=alt, limits=(0, 1), **labels)
    finally:
        rcParams["text.parse_math"] = parse_math
