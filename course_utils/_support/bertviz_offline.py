"""bertviz's views as pages that need no network, each with a still picture. Used in lesson 05."""

import functools
import hashlib
import html
import json
import re

import torch

from .colours import HEAT
from .downloads import packaged_folder
from .figures import Figure

HEAD_VIEW_TOKENS = 40  # notebook size grows with the square: 1.1 MB at 40 tokens, 6 layers of 12 heads
MODEL_VIEW_TOKENS = 24  # all heads are drawn at once: 41,000 lines at 24 tokens
SCRIPTS = (("xstatic", "pkg/jquery/data/jquery.slim.min.js"), ("mpld3", "js/d3.v5.min.js"))
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"  # the frame can make no requests
# Stands in for require.js: bertviz asks it for two scripts that are already loaded. `cut` makes the four parts of a
# pair's attentions, which bertviz would store again. The view is scaled down if the page is too narrow.
STAND_IN = """
function requirejs(names, start) { start(jQuery, d3); }
function cut([all, ...parts], b) {
  const first = [0, b], second = [b], pairs = [[first, first], [second, second], [first, second], [second, first]];
  parts.forEach((part, i) => part.attn = all.attn.map(layer => layer.map(
    head => head.slice(...pairs[i][0]).map(row => row.slice(...pairs[i][1])))));
}
onresize = () => document.body.style.zoom = Math.min(1, Math.max(0.2, innerWidth / WIDTH));
onresize();
"""
# In JupyterLab's dark theme. The half turn keeps each colour what it is called.
DARK = '<style>body[data-jp-theme-light="false"] iframe.cu-view{filter:invert(.92) hue-rotate(180deg)}</style>'
SHADE = 0.6  # the strongest shade in the table: white and black text both keep a contrast of 4.5 to 1 on it


class View:
    """One of bertviz's views, in a self-contained frame, with a still picture.

    As HTML it is interactive (JupyterLab, exported HTML). A page that removes frames, as GitHub does, or does not trust
    the notebook shows the table that the frame covers. As PNG (exported PDF) it is a heatmap; as text, the heatmap's
    sentence and numbers. Between processors, views of the same tokens differ only in the last of the digits printed.
    """

    def __init__(self, page, draw):
        """draw: makes the still picture, a `plots.Figure`, when it is first asked for."""
        self.page, self.draw = page, draw

    @functools.cached_property
    def still(self):
        return self.draw()

    def _repr_html_(self):
        return self.page

    def _repr_png_(self):
        return self.still._repr_png_()

    def __repr__(self):
        return repr(self.still)


def checked(attentions, tokens, sentence_b_start, limit):
    """(attentions as one tensor (layers, heads, n, n), tokens as a list). Raises ValueError for invalid arguments."""
    tokens = list(tokens)
    n = len(tokens)
    if not all(isinstance(token, str) for token in tokens):
        raise TypeError("tokens must be strings, as `attend` or tokenizer.convert_ids_to_tokens return them")
    if isinstance(attentions, (tuple, list)) and all(isinstance(layer, torch.Tensor) for layer in attentions):
        attentions = torch.cat(list(attentions))
    if not isinstance(attentions, torch.Tensor):
        raise ValueError(
            "attentions must be a tensor, or a tuple of them; a model returns some only when it is loaded "
            'with attn_implementation="eager" and called with output_attentions=True'
        )
    if attentions.ndim != 4 or attentions.shape[2:] != (n, n):
        raise ValueError(f"{n} tokens need attentions (layers, heads, {n}, {n}); got {tuple(attentions.shape)}")
    if n > limit:
        raise ValueError(
            f"{n} tokens are more than this view's limit of {limit}: take a shorter text, or draw one head with "
            "plots.heatmap"
        )
    attentions = attentions.detach().float().cpu()
    if not ((attentions >= 0) & (attentions < 1.001)).all():
        raise ValueError("attentions must be weights from 0 to 1")
    if sentence_b_start is not None and not 0 < sentence_b_start < n:
        raise ValueError(f"sentence_b_start must be from 1 to {n - 1}; got {sentence_b_start}")
    return attentions, tokens


def chosen(name, numbers, count, first=0):
    """The numbers of layers or heads as a list; None means all. Raises ValueError for one that does not exist.

    first: the number of the first one, 1 for layers.
    """
    existing = range(first, first + count)
    numbers = list(existing) if numbers is None else torch.as_tensor(numbers).reshape(-1).tolist()
    if not numbers or not set(numbers) <= set(existing):
        raise ValueError(f"choose one {name} or more from {first} to {existing[-1]}; got {numbers}")
    return numbers


def listed(name, numbers):
    """("head", [3]) as "head 3", [0, 2] as "heads 0, 2", [0, 1, 2] as "heads 0 to 2"."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{name}s {numbers[0]} to {numbers[-1]}"
    return f"{name}{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


def page(kind, attentions, tokens, options, width, margin=8):
    """A page with bertviz's HTML for a view that needs no other file."""
    import bertviz

    made = getattr(bertviz, kind)([layer[None] for layer in attentions], tokens, html_action="return", **options).data
    before, line, after = re.split(r"(?<=const params = )(.*)", made, maxsplit=1)  # its comment repeats the data
    params, _ = json.JSONDecoder().raw_decode(line)
    content = json.dumps([kind, tokens, attentions.shape, options])  # without the weights: processors differ in them
    name = f"bertviz-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
    before = before.replace(params["root_div_id"], name)
    before = re.sub(r"^<script src=[^>]*></script>|require\.config\(.*?\}\);", "", before, flags=re.DOTALL)
    for part in params["attention"][1:]:
        del part["attn"]
    params["root_div_id"] = name
    params["include_layers"] = [layer + 1 for layer in params["include_layers"]]  # bertviz counts layers from 0
    if params.get("layer") is not None:
        params["layer"] += 1
    data = f"{_literal(params)}; cut(params.attention, {json.dumps(options['sentence_b_start'])});"
    scripts = [(packaged_folder(package) / path).read_text(encoding="utf-8") for package, path in SCRIPTS]
    scripts.append(STAND_IN.replace("WIDTH", str(width)))
    scripts = "".join(f"<script>{script}</script>" for script in scripts)
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{POLICY}"><style>body{{margin:8px 8px 8px {margin}px;background:white;color:black}}'
        f"svg{{overflow:visible}}</style><body>{scripts}{before}{data}{after}"
    )


def _literal(value):
    """A value as JavaScript that is safe inside a script element, with fractions to three decimals."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_literal(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_literal, value)) + "]"
    return f"{value:.3f}" if isinstance(value, float) else json.dumps(value).replace("<", r"\u003c")


def framed(page, alt, size, matrix, rows, columns):
    """A page in a frame over a table, as high as the page needs at the available width."""

    def cells(kind, values):
        return "".join(f"<{kind}>{html.escape(str(value))}</{kind}>" for value in values)

    def shaded(values):
        shade = "background:rgba(66,146,198"
        return "".join(f'<td style="{shade},{SHADE * value:.2f})">{value:.2f}</td>' for value in values.tolist())

    body = "".join(f"<tr>{cells('th', [row])}{shaded(values)}</tr>" for row, values in zip(rows, matrix, strict=True))
    page = page.replace("&", "&amp;").replace("'", "&#39;")
    room = f"aspect-ratio:{size[0]:.0f}/{size[1]:.0f};max-height:{size[1]:.0f}px"
    return (
        f'{DARK}<div style="position:relative;width:100%;{room}"><div style="overflow:auto;height:100%">'
        f"{alt}. (Where scripts run, bertviz's view covers this table.)"
        f"<table><tr>{cells('th', ['', *columns])}</tr>{body}</table></div>"
        f'<iframe class="cu-view" title="{alt}" sandbox="allow-scripts" '
        f'style="position:absolute;top:0;left:0;width:100%;height:100%;'
        f"border:0;background:white\" srcdoc='{page}'></iframe></div>"
    )


def thumbnails(attentions, layers, heads, alt, tokens):
    """Small heatmaps, one per head. The figure's text gives the largest weight of each head."""
    import matplotlib.pyplot as plt
    import seaborn

    side = max(0.7, min(2.5, 8.4 / len(heads), 5 / len(layers)))
    figure, axes = plt.subplots(figsize=(0.6 + side * len(heads), 0.5 + side * len(layers)), layout="constrained")
    n = attentions.shape[-1]
    step = n + max(1, n // 8)  # a gap between heatmaps
    mosaic = torch.full((len(layers), len(heads), step, step), float("nan"))
    mosaic[..., :n, :n] = attentions
    mosaic = mosaic.transpose(1, 2).reshape(len(layers) * step, -1)
    axes.imshow(mosaic.numpy(), cmap=seaborn.light_palette(HEAT, as_cmap=True), vmin=0, vmax=1)
    for axis, names in ((axes.xaxis, heads), (axes.yaxis, layers)):
        axis.set_ticks([(n - 1) / 2 + step * place for place in range(len(names))], names)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    axes.set(xlabel="head", ylabel="layer")
    still = Figure(figure, alt)
    still.data = ["tokens: " + " ".join(tokens)]
    still.data += [
        f"layer {layer}: " + " ".join(f"{weight:.3f}" for weight in weights.amax((-1, -2)).tolist())
        for layer, weights in zip(layers, attentions, strict=True)
    ]
    return still
