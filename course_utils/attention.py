"""Attention as numbers and as pictures. Derived in lesson 05.

Everywhere `attentions` is a tensor (layers, heads, tokens, tokens) of one sentence or pair of sentences: row i of a
head says how token i divides its attention, 1.0 in all, over the tokens.
"""

import contextlib
import hashlib
import html
import io
import itertools
import json
import math
import re
import warnings

import torch

from .models import load_encoder, packaged_folder


def attend(text, pair=None, model=None):
    """Run one sentence (or a pair of sentences) through an encoder and return where each head looks.

    model: what `load_encoder` or `load_masked_lm` returns, or nothing for the course's encoder. It computes this call
    with the "eager" implementation, the only one that keeps its weights, and goes back to its own afterwards.

    Returns (tokens, attentions): a list of n strings, and a tensor (layers, heads, n, n).
    Raises TypeError if `text` is not a string.
    """
    for sentence in [text] if pair is None else [text, pair]:
        if not isinstance(sentence, str):
            raise TypeError(f"one sentence is wanted, as a string; got {type(sentence).__name__}")
    tokenizer, encoder = model or load_encoder()
    inputs = tokenizer(text, pair, return_tensors="pt").to(encoder.device)
    with _eager(encoder), torch.inference_mode():
        weights = encoder(**inputs, output_attentions=True).attentions
    return tokenizer.convert_ids_to_tokens(inputs["input_ids"][0]), torch.cat(weights).cpu()


@contextlib.contextmanager
def _eager(encoder):
    """The model is shared, so it gets its own implementation and mode back, even if interrupted."""
    own, training = encoder.config._attn_implementation, encoder.training
    encoder.set_attn_implementation("eager")
    encoder.eval()
    try:
        yield
    finally:
        encoder.set_attn_implementation(own)
        encoder.train(training)


def attention_weights(queries, keys, attention_mask=None):
    """softmax(Q K^T / sqrt(d)): Vaswani et al. (2017), section 3.2.1, equation 1, without the values.

    queries, keys: (..., tokens, d). attention_mask: (tokens,) or anything that lines up with (..., queries, keys); 1 for
    a key that may be looked at, 0 for padding, which gets weight 0. Returns (..., tokens, tokens); rows add up to 1.
    """
    scores = queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1])
    if attention_mask is not None:
        scores = scores.masked_fill(attention_mask == 0, float("-inf"))
    return scores.softmax(dim=-1)


def head_scores(attentions):
    """What each head does, as numbers: a dictionary from a question to a tensor (layers, heads).

    "same", "previous", "next": the mean weight that a word piece gives to itself, to the piece before it, to the piece
    after it. "cls", "sep": the mean weight on the first and on the last token, [CLS] and [SEP]. "entropy": in bits, 0 when
    all weight lies on one token, log2(tokens) when it is spread evenly. Means are over the pieces between [CLS] and [SEP].

    Raises ValueError for fewer than two such pieces, which have no neighbours.
    """
    tokens = attentions.shape[-1]
    if attentions.ndim != 4 or tokens < 4:
        raise ValueError(f"attentions must be (layers, heads, tokens, tokens) with at least 4 tokens; "
                         f"got {tuple(attentions.shape)}")
    words = attentions[:, :, 1:-1, 1:-1]
    rows = attentions[:, :, 1:-1]
    return {
        "same": words.diagonal(dim1=-2, dim2=-1).mean(-1),
        "previous": words.diagonal(-1, dim1=-2, dim2=-1).mean(-1),
        "next": words.diagonal(1, dim1=-2, dim2=-1).mean(-1),
        "cls": rows[..., 0].mean(-1),
        "sep": rows[..., -1].mean(-1),
        "entropy": torch.special.entr(rows).sum(-1).mean(-1) / math.log(2),
    }


# bertviz's views without a network. Lesson 05 shows them.

HEAD_VIEW_TOKENS = 40  # what a notebook stores grows with the square: 1.1 MB at 40 tokens, 6 layers of 12 heads
MODEL_VIEW_TOKENS = 24  # all heads are drawn at once: 41,000 lines at 24 tokens
SCRIPTS = (("xstatic", "pkg/jquery/data/jquery.slim.min.js"), ("mpld3", "js/d3.v5.min.js"))
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"  # the frame cannot ask anyone
# In place of require.js: bertviz asks it for two scripts that are there already. `cut` makes the four parts of a pair's
# attentions, which bertviz would store once more. Too narrow a page scales the view down.
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


class View:
    """One of bertviz's views, in a frame of its own that holds all it needs, and a still picture of it.

    As HTML it is live (JupyterLab, exported HTML); a page that removes frames, as GitHub does, or does not trust the
    notebook shows the table that the frame covers. As PNG (exported PDF) it is a heatmap, as text that heatmap's
    sentence and numbers. Views of the same tokens differ, on any processor, only in the last of the digits printed.
    """

    def __init__(self, page, still):
        self.page, self.still = page, still
        still.png = _fewer_colours(still.png)

    def _repr_html_(self):
        return self.page

    def _repr_png_(self):
        return self.still._repr_png_()

    def __repr__(self):
        return repr(self.still)


def head_view(attentions, tokens, layer=None, heads=None, sentence_b_start=None):
    """bertviz's head view (Vig, 2019): lines from token to token, as strong as the weights, in one colour per head.

    attentions: (layers, heads, n, n) from `attend`, or the `attentions` that a model returns for one text. tokens: n
    strings. layer, heads: what is shown at first (layer 0, all heads). sentence_b_start: the place of the second
    sentence's first token. In the view choose a layer, click or double-click heads' colours, point at tokens.

    The still picture is the mean of the heads shown. Raises ValueError for more than HEAD_VIEW_TOKENS tokens and for
    arguments that do not fit together, EncoderError if a package that carries the scripts is not installed.
    """
    import matplotlib

    from . import plots

    attentions, tokens = _checked(attentions, tokens, sentence_b_start, HEAD_VIEW_TOKENS)
    (layer,) = _chosen("layer", 0 if layer is None else layer, attentions.shape[0])
    heads = _chosen("head", heads, attentions.shape[1])
    what = f"layer {layer}, {'mean of ' * (len(heads) > 1)}{_listed('head', heads)}"
    alt = f"Head view of {what}: how much each of {len(tokens)} tokens (rows) looks at each (columns)"
    mean = attentions[layer, heads].mean(0)
    plain = matplotlib.rc_context({"text.parse_math": False})  # "$" in tokens
    with plain, warnings.catch_warnings(action="ignore"):  # of characters that the font lacks
        still = plots.heatmap(mean.numpy(), tokens, tokens, what.capitalize(), f"{alt}.", xlabel="looked at",
                              ylabel="token", numbers=len(tokens) <= 16, limits=(0, 1))
    options = {"layer": layer, "heads": heads, "sentence_b_start": sentence_b_start}
    outside = max(0, 8 * max(map(len, tokens)) - 100)  # long tokens reach out of bertviz's columns
    size = (360 + 2 * outside, 70 + 22.5 * len(tokens))
    page = _page("head_view", attentions, tokens, options, size[0], margin=8 + outside)
    return View(_framed(page, alt, size, mean, tokens, tokens), still)


def model_view(attentions, tokens, layers=None, heads=None, sentence_b_start=None):
    """bertviz's model view (Vig, 2019): a thumbnail for each head, a row for each layer. Click one to enlarge it.

    Arguments and errors as for `head_view`, but layers, heads: the ones drawn (all), and at most MODEL_VIEW_TOKENS
    tokens. The still picture draws the same heads as small heatmaps.
    """
    attentions, tokens = _checked(attentions, tokens, sentence_b_start, MODEL_VIEW_TOKENS)
    layers, heads = _chosen("layer", layers, attentions.shape[0]), _chosen("head", heads, attentions.shape[1])
    alt = (f"Model view of {len(tokens)} tokens in {_listed('layer', layers)} (rows) and {_listed('head', heads)} "
           f"(columns): how much tokens look at tokens; a number is a head's largest weight")
    shown = attentions[layers][:, heads]
    options = {"include_layers": layers, "include_heads": heads, "sentence_b_start": sentence_b_start,
               "display_mode": "light"}
    rows = 38 + len(layers) * (10 + 84 / attentions.shape[1] * len(tokens))
    size = (990, (38 if sentence_b_start is None else 60) + max(rows, 55 + 18 * len(tokens)))
    page, largest = _page("model_view", attentions, tokens, options, size[0]), shown.amax((-1, -2))
    still = _thumbnails(shown, layers, heads, f"{alt}.", tokens)
    return View(_framed(page, alt, size, largest, layers, heads), still)


def _checked(attentions, tokens, sentence_b_start, limit):
    """(attentions as one tensor (layers, heads, n, n), tokens as a list), or the ValueError that says what is wrong."""
    tokens = list(tokens)
    n = len(tokens)
    if not all(isinstance(token, str) for token in tokens):
        raise TypeError("tokens must be strings, as `attend` or tokenizer.convert_ids_to_tokens return them")
    if isinstance(attentions, (tuple, list)) and all(isinstance(layer, torch.Tensor) for layer in attentions):
        attentions = torch.cat(list(attentions))
    if not isinstance(attentions, torch.Tensor):
        raise ValueError('attentions must be a tensor, or a tuple of them; a model returns some only when it is loaded '
                         'with attn_implementation="eager" and called with output_attentions=True')
    if attentions.ndim != 4 or attentions.shape[2:] != (n, n):
        raise ValueError(f"{n} tokens need attentions (layers, heads, {n}, {n}); got {tuple(attentions.shape)}")
    if n > limit:
        raise ValueError(f"{n} tokens are more than this view's limit of {limit}: take a shorter text, or draw one "
                         f"head with plots.heatmap")
    attentions = attentions.detach().float().cpu()
    if not ((attentions >= 0) & (attentions < 1.001)).all():
        raise ValueError("attentions must be weights from 0 to 1")
    if sentence_b_start is not None and not 0 < sentence_b_start < n:
        raise ValueError(f"sentence_b_start must be from 1 to {n - 1}; got {sentence_b_start}")
    return attentions, tokens


def _chosen(name, numbers, count):
    """Numbers of layers or heads as a list; all for None. Raises ValueError for one that does not exist."""
    numbers = list(range(count)) if numbers is None else torch.as_tensor(numbers).reshape(-1).tolist()
    if not numbers or not set(numbers) <= set(range(count)):
        raise ValueError(f"choose one {name} or more from 0 to {count - 1}; got {numbers}")
    return numbers


def _listed(name, numbers):
    """("head", [3]) as "head 3", [0, 2] as "heads 0, 2", [0, 1, 2] as "heads 0 to 2"."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{name}s {numbers[0]} to {numbers[-1]}"
    return f"{name}{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


def _page(kind, attentions, tokens, options, width, margin=8):
    """bertviz's own HTML for a view as a page that needs no other file."""
    import bertviz

    made = getattr(bertviz, kind)([layer[None] for layer in attentions], tokens, html_action="return", **options).data
    before, line, after = re.split(r"(?<=const params = )(.*)", made, maxsplit=1)  # a comment in it repeats the data
    params, _ = json.JSONDecoder().raw_decode(line)
    content = json.dumps([kind, tokens, attentions.shape, options])  # without the weights: processors differ in them
    name = f"bertviz-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
    before = before.replace(params["root_div_id"], name)
    before = re.sub(r"^<script src=[^>]*></script>|require\.config\(.*?\}\);", "", before, flags=re.DOTALL)
    for part in params["attention"][1:]:
        del part["attn"]
    params["root_div_id"] = name
    data = f"{_literal(params)}; cut(params.attention, {json.dumps(options['sentence_b_start'])});"
    scripts = [(packaged_folder(package) / path).read_text(encoding="utf-8") for package, path in SCRIPTS]
    scripts.append(STAND_IN.replace("WIDTH", str(width)))
    scripts = "".join(f"<script>{script}</script>" for script in scripts)
    return (f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
            f'content="{POLICY}"><style>body{{margin:8px 8px 8px {margin}px;background:white;color:black}}'
            f"svg{{overflow:visible}}</style><body>{scripts}{before}{data}{after}")


def _literal(value):
    """A value as JavaScript that is safe inside a script element, with three decimals for every fraction."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_literal(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_literal, value)) + "]"
    return f"{value:.3f}" if isinstance(value, float) else json.dumps(value).replace("<", r"\u003c")


def _framed(page, alt, size, matrix, rows, columns):
    """A page in a frame, as high as it needs at the width that there is, over a table."""
    def cells(kind, values):
        return "".join(f"<{kind}>{html.escape(str(value))}</{kind}>" for value in values)

    def shaded(values):
        shade = "background:rgba(66,146,198"
        return "".join(f'<td style="{shade},{value:.2f})">{value:.2f}</td>' for value in values.tolist())

    body = "".join(f"<tr>{cells('th', [row])}{shaded(values)}</tr>" for row, values in zip(rows, matrix, strict=True))
    page = page.replace("&", "&amp;").replace("'", "&#39;")
    room = f"aspect-ratio:{size[0]:.0f}/{size[1]:.0f};max-height:{size[1]:.0f}px"
    return (f'<div style="position:relative;width:100%;{room}"><div style="overflow:auto;height:100%">'
            f"{alt}. (Where scripts run, bertviz's view covers this table.)"
            f"<table><tr>{cells('th', ['', *columns])}</tr>{body}</table></div>"
            f'<iframe title="{alt}" sandbox="allow-scripts" style="position:absolute;top:0;left:0;width:100%;'
            f"height:100%;border:0;background:white\" srcdoc='{page}'></iframe></div>")


def _thumbnails(attentions, layers, heads, alt, tokens):
    """Small heatmaps, one per head, as a figure whose text gives the largest weight of each head."""
    import matplotlib.pyplot as plt
    import seaborn

    from . import plots

    side = max(0.7, min(2.5, 8.4 / len(heads), 5 / len(layers)))
    size = (0.6 + side * len(heads), 0.5 + side * len(layers))
    figure, grid = plt.subplots(len(layers), len(heads), squeeze=False, figsize=size)
    for axes, weights, (layer, head) in zip(grid.flat, attentions.flatten(0, 1), itertools.product(layers, heads)):
        axes.imshow(weights.numpy(), cmap=seaborn.light_palette(plots.HEAT, as_cmap=True), vmin=0, vmax=1)
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        if layer == layers[0]:
            axes.set_title(head, loc="center")
        if head == heads[0]:
            axes.set_ylabel(layer, rotation=0, ha="right", va="center")
    figure.supxlabel("head", size="medium")
    figure.supylabel("layer", size="medium")
    still = plots.Figure(figure, alt)
    still.data = ["tokens: " + " ".join(tokens)]
    still.data += [f"layer {layer}: " + " ".join(f"{weight:.3f}" for weight in weights.amax((-1, -2)).tolist())
                   for layer, weights in zip(layers, attentions, strict=True)]
    return still


def _fewer_colours(png):
    """The same picture in 256 colours: a third of the bytes."""
    from PIL import Image

    small = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(256, dither=0).save(small, "png", optimize=True)
    return small.getvalue()
