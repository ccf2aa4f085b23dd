"""Exercises of lesson 15: a static model, the last token, late chunks, associations.

See `model.py` on cases and mistakes' swaps.
"""

import numpy as np
import torch

from ..pooling import normalise
from .model import Case, completion, exercise, normal, padded


def _distil_cases(rng):
    # a vocabulary of six tokens with vectors of four numbers
    x, y, z, *others = rng.sample(range(6), 6)
    table = np.reshape([rng.gauss(0, 1) for _ in range(6 * 4)], (6, 4))
    counts = np.array(rng.sample([3, 10, 40, 150, 600, 2500, 9000], 6))
    a = rng.choice([0.002, 0.005, 0.02])  # among the tokens' shares, so that weights differ much
    return [
        Case("Several texts", [[x, y, others[0]], others, [z, x]], table, counts, a),
        Case("A token that occurs twice", [[x, y, x], [y, z, z]], table, counts, a),
        Case("A text without tokens", [[x, y], [], [z, y]], table, counts, a),
        Case("Only a text without tokens", [[]], table, counts, a),
        Case(
            "A larger a: rare and frequent tokens weigh more alike",
            [others, [x, y]],
            table,
            counts,
            0.4,
        ),
    ]


# Rows of length 1; zeros stay zeros.
def _unit(vectors):
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths == 0, 1, lengths)


# The sum of each text's rows of the table, weighted by smooth inverse frequency (Arora et al. 2017)
# and scaled to length 1: (texts, hidden). p: the share of each token. An empty text gets zeros.
def _distilled(ids, table, counts, a):
    p = counts / counts.sum()
    weights = a / (a + p)
    rows = table * weights[:, None]
    vectors = np.array([rows[text].sum(axis=0) for text in ids])
    return _unit(vectors)


DISTIL = exercise("15-distil", _distil_cases, _distilled, points=2)(
    counts_as_they_are=[
        {"counts / counts.sum()": f"counts{by}"} for by in ("", " / counts.max()", " / len(counts)")
    ],
    # In place of the counts stand numbers that follow from the place in the table, or from the rank
    # of the count, or how often each token occurs in these texts. `bincount` needs integers: with
    # the 0, its list is never empty.
    counts_not_used=[
        {"p = counts": f"counts = {other}\n    p = counts"}
        for other in (
            "1 / np.arange(2, len(counts) + 2)",
            "1 / (2 + np.argsort(np.argsort(-counts)))",
            "np.bincount([0, *sum(ids, [])], minlength=len(table))",
        )
    ],
    inverted=[{"a / (a + p)": other} for other in ("1 - a / (a + p)", "a / a + p", "p")],
    no_weights={"table * weights[:, None]": "table"},
    other_weights=[
        {"a / (a + p)": other} for other in ("1e-4 / (1e-4 + p)", "1 - p", "(a / (a + p)) ** 2")
    ],
    each_token_once={"rows[text]": "rows[list(dict.fromkeys(text))]"},
    not_of_length_one=[
        {"_unit(vectors)": "vectors"},
        {"_unit(vectors)": "vectors", ".sum(axis=0)": ".sum(axis=0) / max(1, len(text))"},
        {"_unit(vectors)": "vectors", ".sum(axis=0)": ".sum(axis=0) / (weights[text].sum() or 1)"},
    ],
    normalised_together=[
        {"_unit(vectors)": "vectors / (np.linalg.norm(vectors) or 1)"},
        {"_unit(vectors)": "_unit(vectors.T).T"},
    ],
    rows_scaled=[
        {"table * ": "_unit(table) * "},
        {"table * weights[:, None]": "_unit(table * weights[:, None])"},
    ],
    empty_is_nan=[
        {"rows[text].": "(rows[text] if text else rows * np.nan)."},
        {"for text in ids": "for text in ids if text"},
    ],
)


def _last_cases(rng):
    hidden, width = rng.randint(6, 9), rng.randint(6, 8)
    batches = {
        "The first text has no padding": [width, width - 2, 2],
        "The last text has no padding": [width - 3, 2, width],
        "Only the middle text has padding": [width, 3, width],
        "Every text has padding, and one has a single token": [width - 2, 1, width - 1],
        "One text": [width - 2],
    }
    yield Case("A batch without padding", *padded(rng, [width] * 3, width, hidden))
    for side, left in (("right", False), ("left", True)):
        for label, lengths in batches.items():  # real tokens of each text
            yield Case(
                f"{label}, padding on the {side}", *padded(rng, lengths, width, hidden, left)
            )
        vectors, mask = padded(rng, [width - 2, 2], width, hidden, left)
        # the last token of the first text, which has width - 2 tokens
        vectors[0, -1 if left else (width - 2) - 1] = 0
        yield Case(f"The last token's vector holds zeros, padding on the {side}", vectors, mask)


# The vector of each text's last real token, (texts, hidden).
def _last(last_hidden_state, attention_mask):
    rows = torch.arange(len(attention_mask))
    tokens = torch.arange(attention_mask.shape[1])
    numbered = attention_mask * tokens
    places = numbered.argmax(dim=1)
    return last_hidden_state[rows, places]


LAST = exercise("15-last-token", _last_cases, _last, points=2)(
    always_last=[
        {"numbered.argmax(dim=1)": "rows * 0 - 1"},
        {
            "last_hidden_state[rows, places]": (
                "(last_hidden_state * attention_mask.unsqueeze(-1))[:, -1]"
            )
        },
    ],
    counted={"numbered.argmax(dim=1)": "attention_mask.sum(dim=1) - 1"},
    # whether padding is on the left is read from some rows or one, for all
    some_rows_decide=[
        {
            "numbered.argmax(dim=1)": (
                f"torch.where({left}, tokens[-1], attention_mask.sum(dim=1) - 1)"
            )
        }
        for left in (
            "attention_mask[0, -1] == 1",
            "attention_mask[:, -1].any()",
            "attention_mask[0, 0] == 0",
            "(attention_mask[:, 0] == 0).all()",
        )
    ],
    always_first=[
        {"numbered.argmax(dim=1)": "rows * 0"},
        {"numbered.argmax": "attention_mask.argmax"},
    ],
    counted_from_the_end={"numbered.argmax": "attention_mask.flip(1).argmax"},
    one_off=[
        {"[rows, places]": f"[rows, {beside}]"}
        for beside in (
            "(places + 1).clamp(max=tokens[-1])",
            "(places + 1) % len(tokens)",
            "places - 1",
        )
    ],
    no_rows={"[rows, places]": "[:, places]"},
    one_place_for_all=[
        {"numbered.argmax(dim=1)": f"0 * rows + numbered.argmax(dim=1){place}"}
        for place in (".max()", "[0]")
    ],
    last_nonzero=[
        {"attention_mask * tokens": f"({values} != 0).any(dim=-1) * tokens"}
        for values in ("last_hidden_state", "(last_hidden_state * attention_mask.unsqueeze(-1))")
    ],
    averaged=[
        {"last_hidden_state[rows, places]": pooled}
        for pooled in (
            "torch.stack([row[mask == 1].mean(dim=0)"
            " for row, mask in zip(last_hidden_state, attention_mask)])",
            "last_hidden_state.mean(dim=1)",
        )
    ],
    scaled=[{"last_hidden_state[rows, places]": "normalise(last_hidden_state[rows, places])"}],
)


# Token vectors of one text (tokens, hidden), and the mask (tokens) of what is special: [CLS], [SEP]
# and padding, whose vectors hold large numbers.
#
# real: tokens between [CLS] and the last [SEP]. padding: tokens behind it. inside: positions of
# a [SEP] among the real ones, counted from [CLS].
def _one_pass(rng, real, hidden, padding=0, inside=()):
    special = torch.tensor([1] + [0] * real + [1] + [1] * padding)
    special[list(inside)] = 1
    # the second term is a part that all tokens share, as those of a real text do
    vectors = normal(rng, len(special), hidden) + 0.5 * normal(rng, 1, hidden)
    # of several lengths, so that the mean of tokens is not that of their directions
    vectors = vectors * torch.tensor([rng.uniform(0.5, 3) for _ in special]).unsqueeze(-1)
    # large enough for a mean that takes one in to be far off
    large = 6 * normal(rng, len(special), hidden).abs()
    return vectors + special.unsqueeze(-1) * large, special


def _late_cases(rng):
    hidden = rng.randint(6, 9)
    text, with_padding = _one_pass(rng, 12, hidden), _one_pass(rng, 9, hidden, padding=4)
    return [
        Case("Three spans of real tokens, one after the other", *text, [(1, 4), (4, 9), (9, 13)]),
        Case(
            "A span that begins at [CLS], and one that ends behind [SEP]",
            *text,
            [(0, 5), (5, 9), (9, 14)],
        ),
        Case("Spans that overlap, and tokens in none", *text, [(2, 7), (4, 9), (11, 13)]),
        Case("Spans in another order", *text, [(9, 13), (1, 4), (4, 9)]),
        Case("A span of one token", *text, [(3, 4), (4, 13)]),
        Case("The last span holds padding, too", *with_padding, [(1, 6), (6, 15)]),
        Case(
            "Spans that hold a [SEP] in their middle, or stand behind it",
            *_one_pass(rng, 11, hidden, inside=[6]),
            [(1, 5), (4, 9), (8, 12)],
        ),
        Case("One span over all", *with_padding, [(0, 15)]),
    ]


# The mean of each span's tokens that are not special, scaled to length 1: (spans, hidden).
def _late(last_hidden_state, special, spans):
    means = []
    for start, end in spans:
        inside = slice(start, end)
        rows = last_hidden_state[inside]
        keep = special[inside] == 0
        means.append(rows[keep].mean(dim=0))
    return normalise(torch.stack(means))


LATE_CHUNKS = exercise("15-late-chunks", _late_cases, _late, points=2)(
    special_counted=[
        {"rows[keep]": "rows"},
        # all but padding: up to the [SEP] behind the last real token
        {
            "special[inside] == 0": (
                "torch.arange(len(special))[inside] <= (special == 0).nonzero().max() + 1"
            )
        },
    ],
    # positions counted without special tokens, or without [CLS], or one too high
    shifted=[
        {"last_hidden_state[inside]": "last_hidden_state[special == 0][inside]", "[keep]": ""},
        {"last_hidden_state[inside]": "last_hidden_state[1:-1][inside]", "[keep]": ""},
        {"slice(start, end)": "slice(start + 1, end + 1)"},
    ],
    end_included={"slice(start, end)": "slice(start, end + 1)"},
    # a span ends where the next one begins, and the last with the text
    up_to_the_next={
        "in spans": (
            "in zip([first for first, _ in spans],"
            " [*[first for first, _ in spans[1:]], len(special)])"
        )
    },
    not_normalised=[
        {"return normalise": "return "},
        {"return normalise": "return ", "mean(dim=0)": "sum(dim=0)"},
        {"return normalise": "return ", "mean(dim=0)": "sum(dim=0) / len(rows)"},
    ],
    normalised_too_early=[
        {"return normalise": "return ", "rows[keep]": "normalise(rows[keep])"},
        {"rows[keep]": "normalise(rows[keep])"},
    ],
    normalised_together=[
        # a factor in place of the function: `torch.stack(means)` stands behind it in brackets
        {"return normalise": "return 1 / torch.stack(means).norm() * "},
        {"return normalise": "return 1 / torch.stack(means).norm(dim=0) * "},
    ],
    not_the_mean=[
        {"mean(dim=0)": "amax(dim=0)"},
        {".mean(dim=0)": "[0]"},
        {".mean(dim=0)": "[-1]"},
    ],
    whole_text=[{"slice(start, end)": "slice(None)"}, {"in spans": "in [(0, None)]"}],
)


# Vectors of six numbers and of different lengths, (n, 6).
def _vectors(rng, n):
    lengths = np.array([rng.choice([0.5, 1.0, 2.0, 3.0]) for _ in range(n)])
    return lengths[:, None] * np.reshape([round(rng.gauss(0, 1), 3) for _ in range(n * 6)], (n, 6))


def _weat_cases(rng):
    x, y, a, b = (
        _vectors(rng, size) for size in (rng.randint(7, 9), rng.randint(3, 5), rng.randint(6, 8), 3)
    )
    near_a, near_b = x + 2 * a.mean(axis=0), y + 2 * b.mean(axis=0)
    return [
        Case("Four lists of the same length", x[:3], y[:3], a[:3], b),
        Case("The first two lists differ in length", x, y, a[:3], b),
        Case("The last two lists differ in length", x[:3], y[:3], a, b[:2]),
        Case("One vector in each list", near_a[:1], near_b[:1], a[:1], b[:1]),
        Case("The first list is near the third", near_a, near_b, a, b),
        Case("The first list is near the fourth, the second near the third", near_b, near_a, a, b),
        Case(
            "One vector is forty times as long",
            near_b,
            near_a,
            a,
            np.concatenate([b[:2], 40 * b[2:]]),
        ),
    ]


# The effect size of the word embedding association test (Caliskan et al. 2017): how much nearer the
# vectors x are to a than to b, compared with the vectors y, in standard deviations.
def _weat(x, y, a, b):
    x, y, a, b = (_unit(rows) for rows in (x, y, a, b))
    words = np.concatenate([x, y])
    to_a = (words @ a.T).mean(axis=1)
    to_b = (words @ b.T).mean(axis=1)
    associations = to_a - to_b
    of_x, of_y = associations[: len(x)], associations[len(x) :]
    with np.errstate(divide="ignore", invalid="ignore"):
        return (of_x.mean() - of_y.mean()) / associations.std()


WEAT = exercise("15-weat", _weat_cases, _weat, points=2)(
    sample_deviation={".std()": ".std(ddof=1)"},
    sums={"of_x.mean() - of_y.mean()": "of_x.sum() - of_y.sum()"},
    not_divided=[
        {" / associations.std()": ""},
        # without brackets, only the second mean is divided
        {"(of_x.mean() - of_y.mean())": "of_x.mean() - of_y.mean()"},
    ],
    one_list_only=[
        {"associations.std()": deviation}
        for deviation in (
            "(of_x.std() + of_y.std()) / 2",  # of both lists apart, averaged
            "of_x.std()",
            "of_y.std()",
            # pooled deviations: by length, the same of a sample, and as if of one length
            "np.sqrt((len(x) * of_x.var() + len(y) * of_y.var()) / len(words))",
            "np.sqrt((len(x) * of_x.var() + len(y) * of_y.var()) / (len(words) - 2))",
            "np.sqrt((of_x.var() + of_y.var()) / 2)",
        )
    ],
    variance={"std(": "var("},
    dot_products=[
        {"_unit(rows) for rows in (x, y, a, b)": other}
        for other in (
            "rows for rows in (x, y, a, b)",
            "rows / np.linalg.norm(rows) for rows in (x, y, a, b)",
            "rows for rows in (_unit(x), _unit(y), a, b)",
        )
    ],
    attributes_added={".mean(axis=1)": ".sum(axis=1)"},
    cosine_to_mean=[
        {
            # a and b are one vector each before anything is compared
            "x, y, a, b = ": (
                f"a, b = (np.mean({rows}, axis=0, keepdims=True) for rows in (a, b))\n"
                "    x, y, a, b = "
            )
        }
        for rows in ("rows", "_unit(rows)")
    ],
    second_ignored=[{" - of_y.mean()": ""}, {"to_a - to_b": "to_a"}],
    distances={
        f"(words @ {attributes}.T)": f"-np.linalg.norm(words[:, None] - {attributes}, axis=2)"
        for attributes in ("a", "b")
    },
)


def _kept_cases(rng):
    places = rng.sample(range(500), 60)  # 60 different pages
    return [
        Case(
            "Some of the ten are among the candidates",
            places[:20],
            places[20 - rng.randint(2, 8) :][:10],  # the last 2 to 8 candidates, then others
        ),
        Case("All are, in another order", places[:20], rng.sample(places[:20], 10)),
        Case("None is", places[:20], places[20:30]),
        Case("Fewer candidates than ten", places[:4], rng.sample(places[:13], 10)),
        Case("Fewer wanted pages", places[:30], [places[50], places[1], places[29]]),
    ]


# The share of the ten right pages that are among the candidates.
def _share_kept(candidates, ten):
    near = set(candidates)
    are_near = [page in near for page in ten]
    return sum(are_near) / len(ten)


KEPT = completion("15-kept", _kept_cases, _share_kept)(
    compared_in_order={
        "page in near for page in ten": (
            "candidate == page for candidate, page in zip(candidates, ten)"
        )
    },
    places_added={"sum(are_near)": "sum(page for page, is_near in zip(ten, are_near) if is_near)"},
    lost_counted=[
        {"return sum(are_near)": "return sum(not is_near for is_near in are_near)"},
        {"[page in": "[page not in"},
        {
            "[page in": "[page not in",
            "near = set(candidates)": "near, candidates = set(ten), [*candidates]",
            "for page in ten": "for page in candidates",
        },
    ],
    first_candidates_only=[
        {"set(candidates)": f"set(candidates[:{count}])"} for count in ("10", "len(ten)")
    ],
    never_true={"page in near": "False"},
)


def _looks_back_cases(rng):
    return [
        Case("Some tokens before", rng.randint(6, 8), rng.randint(2, 3)),
        Case("One token before", rng.randint(5, 7), 1),
        Case("A window of 0: only itself", rng.randint(4, 6), 0),
        Case("A window longer than the text", rng.randint(3, 5), rng.randint(7, 9)),
        Case("One token", 1, 2),
    ]


# Whether each token may attend to each other one, (tokens, tokens): to itself and to as many before
# it as the window says.
def _looks_back(tokens, window):
    place = torch.arange(tokens)
    apart = place[:, None] - place
    back = apart >= 0
    near = apart <= window
    return back & near


LOOKS_BACK = completion("15-looks-back", _looks_back_cases, _looks_back)(
    both_sides=[{"back & near": "near"}, {"apart >= 0": "apart >= -window"}],
    ahead={"place[:, None] - place": "place - place[:, None]"},
    all_before={"back & near": "back"},
    one_too_few={"apart <= window": "apart < window"},
    not_itself=[{"apart >= 0": "apart > 0"}, {"back & near": "back & near & (apart != 0)"}],
    joined_by_or={"back & near": "back | near"},
    joined_by_and={"back & near": "back and near"},
    upside_down={"back & near": "~(back & near)"},
)
