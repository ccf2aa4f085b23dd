"""Exercises of lesson 05, attention. See `model.py` on cases and mistakes' swaps."""

import itertools

import torch

from .._support.recipes import layer_maker
from .comparing import weights_difference
from .model import Case, completion, exercise, normal


def _bug_cases(rng):
    # Queries, keys and values (tokens, heads * size), and the number of heads.
    def drawn(tokens, heads, size):
        return *(normal(rng, tokens, heads * size) for _ in range(3)), heads

    heads, size = rng.randint(2, 3), rng.choice([4, 5])
    return [
        Case("One head alone", *drawn(6, 1, size)),
        Case(
            "Several heads, each with numbers of its own", *drawn(rng.choice([6, 7]), heads, size)
        ),
        Case("As many heads as tokens", *drawn(4, 4, 3)),
        Case("A single token gets its own value", *drawn(1, heads, size)),
    ]


def _joined_heads(queries, keys, values, heads):
    tokens, hidden = queries.shape
    size = hidden // heads
    q, k, v = (x.reshape(tokens, heads, size).transpose(0, 1) for x in (queries, keys, values))
    weights = (q @ k.transpose(-1, -2) / size**0.5).softmax(dim=-1)
    received = weights @ v
    return received.transpose(0, 1).reshape(tokens, hidden)


# the texts of the reference that split hidden vectors into heads, and put heads side by side
_SPLIT, _JOINED = "x.reshape(tokens, heads, size).transpose(0, 1)", "received.transpose(0, 1)"

FIND_THE_BUG = exercise("05-find-the-bug", _bug_cases, _joined_heads, points=2)(
    split_left=[{_SPLIT: f"{turned}.reshape(heads, tokens, size)"} for turned in ("x", "x.T")],
    axis_left={"dim=-1": "dim=1"},
    softmax_over_heads={"dim=-1": "dim=0"},
    join_wrong={_JOINED: "received"},
    heads_alternate=[
        {_SPLIT: "x.reshape(tokens, size, heads).permute(2, 0, 1)", _JOINED: joined}
        for joined in (_JOINED, "received.permute(1, 2, 0)")
    ],
    no_root={" / size**0.5": ""},
    other_divisor=[{"size**0.5": other} for other in ("size", "32**0.5", "hidden**0.5")],
    one_large_head={"hidden // heads": "hidden", "tokens, heads, size": "tokens, 1, size"},
    swapped={"q @ k.": "k @ q."},
    not_transposed=[
        {_SPLIT: "x.reshape(tokens, heads, size)", _JOINED: joined}
        for joined in (_JOINED, "received")
    ],
)


def _one_head_cases(rng):
    return [
        Case(
            "Each token receives values by its own weights", *(normal(rng, 5, 4) for _ in range(3))
        ),
        Case("Vectors of another length", *(normal(rng, 6, 9) for _ in range(3))),
    ]


def _one_head(queries, keys, values):
    d = queries.shape[-1]
    scores = queries @ keys.T / d**0.5
    return scores.softmax(dim=-1) @ values


ONE_HEAD = completion("05-one-head", _one_head_cases, _one_head)(
    not_divided={" / d**0.5": ""},
    divided_by_d=[{"d**0.5": "d"}, {"d**0.5": "d / 2"}],
    other_root=[{"d**0.5": f"{other} ** 0.5"} for other in ("2", "32", "len(queries)")],
    swapped={"queries @ keys.T": "keys @ queries.T"},
    not_the_keys=[
        {"keys.T": "values.T"},
        {"keys.T": "queries.T"},
        {"queries @ keys.T": "keys @ keys.T"},
    ],
    softmax_twice={"scores.softmax(dim=-1)": "scores.softmax(dim=-1).softmax(dim=-1)"},
)


def _previous_cases(rng):
    return [
        Case("A few tokens", normal(rng, 2, 3, 6, 6).softmax(dim=-1)),
        Case("Two words", normal(rng, 2, 3, 4, 4).softmax(dim=-1)),
    ]


def _previous_score(weights):
    words = weights[:, :, 1:-1, 1:-1]
    return words.diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1)


PREVIOUS_SCORE = completion("05-previous-score", _previous_cases, _previous_score)(
    diagonal_of_layers={", dim1=-2, dim2=-1": ""},
    token_after={"(-1, dim1": "(1, dim1"},
    token_itself={"(-1, dim1": "(0, dim1"},
    two_back={"(-1, dim1": "(-2, dim1"},
    # with the columns of special tokens, the first word gives a weight, too: that to [CLS]
    first_word_counted={"1:-1, 1:-1]": "1:-1]", "(-1, dim1": "(0, dim1"},
    specials_counted={"words.diagonal": "weights.diagonal"},
    end_dropped=[{".mean(dim=-1)": f"[..., {kept}].mean(dim=-1)"} for kept in ("1:", ":-1")],
)


# Queries and keys with scores of about a million and minus a million, exact whatever the order of
# multiplication.
#
# In every other row real tokens are far below padding, and in the rows between far above it. One
# real token takes all the weight, so that no answer depends on how large numbers are rounded.
def _far_apart(real):
    places = torch.arange(len(real))[:, None]
    # only the first of a vector's four numbers is not 0; a score is divided by 4**0.5, so that
    # 2000 * 1000 gives a million
    first = torch.eye(1, 4)
    queries = 2000 * (-1.0) ** places * first
    keys = torch.where(real[:, None] == 1, -1000.0 - places, 1000.0) * first
    return queries[None], keys[None], real  # of one head


def _weight_cases(rng):
    heads, tokens, size = rng.choice([3, 4]), rng.choice([5, 6]), rng.choice([8, 9, 10])
    q, k = (normal(rng, heads, tokens, size) for _ in range(2))
    right = torch.tensor([1] * (tokens - 2) + [0] * 2)  # two places of padding
    return [
        Case("Padding on the right", q, k, right),
        Case("Padding on the left", q, k, right.flip(0)),
        Case("Padding on both sides", q, k, right.roll(1)),
        Case("Scores of about a million and minus a million", *_far_apart(right)),
        Case("One head, and few numbers", q[:1, :, :2], k[:1, :, :2], right),
    ]


def _weights(queries, keys, attention_mask):
    d = queries.shape[-1]
    scores = queries @ keys.transpose(-1, -2) / d**0.5
    masked = scores.masked_fill(attention_mask == 0, -torch.inf)
    return masked.softmax(dim=-1)


ATTENTION_WEIGHTS = exercise(
    "05-attention-weights",
    _weight_cases,
    _weights,
    # the text asks for 0, not for exactly 0 as in lesson 02: up to 1e-12 counts as rounding
    judge=lambda args, outcome: weights_difference(
        outcome, _weights(*args), mask=args[2], most=1e-12
    ),
    points=2,
)(
    mask_unused={"masked.": "scores."},
    masked_after_softmax=[
        {"masked.softmax(dim=-1)": f"scores.softmax(dim=-1){zeroed}"}
        for zeroed in (
            " * attention_mask",
            ".masked_fill(attention_mask == 0, -torch.inf)",
            " * attention_mask / (scores.softmax(dim=-1) * attention_mask).sum(-1, keepdim=True)",
        )
    ],
    overflow={"masked.softmax(dim=-1)": "masked.exp() / masked.exp().sum(dim=-1, keepdim=True)"},
    not_low_enough=[
        *({"-torch.inf": low} for low in ("-10", "-1e4", "-1e6")),
        {"masked.": "(scores + (1 - attention_mask) * -10)."},
        {"masked.": "(scores * attention_mask)."},
    ],
    rows_masked=[
        {"attention_mask == 0": "attention_mask.unsqueeze(-1) == 0"},
        {"attention_mask == 0": "attention_mask.unsqueeze(-1) * attention_mask == 0"},
        {"softmax(dim=-1)": "softmax(dim=-1) * attention_mask.unsqueeze(-1)"},
    ],
    nan_throughout={"masked.": "(scores + (1 - attention_mask) * -torch.inf)."},
    not_divided={" / d**0.5": ""},
    other_root=[
        {"d**0.5": other}
        for other in ("d", "32**0.5", "queries.shape[1] ** 0.5", "(len(queries) * d) ** 0.5")
    ],
    down_columns=[{"dim=-1": f"dim={dim}"} for dim in (-2, 0)],
    inverted={"== 0": "== 1"},
    swapped={"queries @ keys.": "keys @ queries."},
    transposed={"softmax(dim=-1)": "softmax(dim=-1).transpose(-1, -2)"},
)


def _entropy_cases(rng):
    heads, tokens = rng.choice([3, 4]), rng.choice([6, 7, 9])
    scores = normal(rng, heads, tokens, tokens)
    # weights that add up to exactly 1; those of 2 ** -22 are below the bounds of `bound_too_large`
    small = torch.tensor([1 - 32 * 2.0**-22] + [2.0**-22] * 32)
    return [
        Case("One number for each row of each head", scores.softmax(-1)),
        Case("One row alone gives one number", scores[0, 0].softmax(-1)),
        Case(
            "Weights of 0 add nothing",
            scores.index_fill(-1, torch.tensor([0, 3]), -torch.inf).softmax(-1),
        ),
        Case("Rows in four dimensions", normal(rng, 2, 1, heads, tokens).softmax(-1)),
        Case("Small weights count, too", torch.stack([small, small.flip(0)])),
    ]


def _entropy(weights):
    logs = weights.clamp(min=1e-30).log2()  # finite, so that 0 times it is 0
    return -(weights * logs).sum(dim=-1)


ENTROPY = exercise("05-entropy", _entropy_cases, _entropy, points=2)(
    nan_for_zero={".clamp(min=1e-30)": ""},
    nats=[{"log2": other} for other in ("log", "log10")],
    no_sign={"-(weights": "(weights"},
    over_columns=[{"sum(dim=-1)": f"sum(dim={dim})"} for dim in (-2, 0)],
    mean_of_rows={"sum(dim=-1)": "sum(dim=-1).mean(dim=-1)"},
    mean_over_row={"sum(dim=-1)": "mean(dim=-1)"},
    perplexity={"return -": "return 2 ** -"},
    logarithms_only=[{"weights * logs": "logs"}, {"weights * logs": "weights.log2()"}],
    bound_too_large=[
        {"logs =": f"weights = {bounded}\n    logs ="}
        for bounded in (
            "weights.clamp(min=1e-4)",
            "weights + 1e-4",
            "weights.clamp(min=1e-6)",
            "weights + 1e-6",
        )
    ],
)


def _patching_cases(rng):
    hidden = rng.choice([4, 5])
    # the numbers of tokens and of layers differ in each case, so that their mix-ups show
    for label, tokens, count in (
        ("One layer", 2, 1),
        ("Two layers", 3, 2),
        ("One token, and seven layers", 1, 7),
    ):
        # 0.7 keeps scores moderate, so that several tokens share the attention; 2 makes the first
        # states longer than those behind a layer, which are normed
        layers = [
            layer_maker(*(0.7 * normal(rng, hidden, hidden) for _ in range(3)))
            for _ in range(count)
        ]
        yield Case(
            label, 2 * normal(rng, 1, tokens, hidden), 2 * normal(rng, 1, tokens, hidden), layers
        )


# The state, and what each layer makes of the one before: len(layers) + 1 tensors.
def _states(state, layers):
    return list(itertools.accumulate(layers, lambda before, layer: layer(before), initial=state))


def _patching_map(target, source, layers):
    both = _states(torch.cat([target, source]), layers)
    targets = [state[:1] for state in both]
    sources = [state[1:] for state in both]
    # row i is patched at token i
    is_patched = torch.eye(target.shape[1], dtype=torch.bool).unsqueeze(-1)
    ends = []
    for k in range(len(targets)):
        patched = torch.where(is_patched, sources[k], targets[k])
        ends.append(_states(patched, layers[k:])[-1])
    changes = torch.stack(ends) - targets[-1]
    return changes.mean(dim=2).norm(dim=-1)


PATCHING_MAP = exercise("05-patching-map", _patching_cases, _patching_map, points=2)(
    # (tokens, tokens): row i is patched at tokens 0 to i
    patches_stay={
        "torch.eye(target.shape[1], dtype=torch.bool)": (
            "torch.ones(2 * target.shape[1:2]).tril().bool()"
        )
    },
    target_state_zero={"targets[k]": "targets[0]"},
    source_state_zero=[{"sources[k]": f"sources[{other}]"} for other in (0, -1)],
    added={
        "torch.where(is_patched, sources[k], targets[k])": "targets[k] + is_patched * sources[k]"
    },
    other_layers=[
        {"layers[k:]": other} for other in ("layers[max(k - 1, 0) :]", "layers[k + 1 :]", "layers")
    ],
    row_missing=[
        {"range(len(targets))": other} for other in ("range(1, len(targets))", "range(len(layers))")
    ],
    other_sentence_vector=[
        {"changes.mean(dim=2)": other} for other in ("changes[:, :, 0]", "changes.sum(dim=2)")
    ],
    mean_of_lengths=[
        {"changes.mean(dim=2).norm(dim=-1)": "changes.norm(dim=-1).mean(dim=-1)"},
        {"changes.mean(dim=2)": "changes.flatten(2)"},
    ],
    lengths_subtracted={
        "changes.mean(dim=2)": "((changes + targets[-1]).mean(dim=2).norm(dim=-1, keepdim=True)"
        " - targets[-1].mean(dim=1).norm())"
    },
    compared_with_source={"- targets[-1]": "- sources[-1]"},
    source_and_target_exchanged={"cat([target, source])": "cat([source, target])"},
    share_of_whole_change={
        "norm(dim=-1)": "norm(dim=-1) / (sources[-1] - targets[-1]).mean(dim=1).norm()"
    },
)
