"""Exercises of lesson 05, attention."""

import math

import torch

from .._support.recipes import layer_maker
from ..attention import attention_weights, head_scores, patching_map
from .comparing import difference
from .model import Case, Completion, Mistake, normal
from .words import exercise


def _split(x, heads):
    return x.reshape(len(x), heads, -1).transpose(0, 1)


def _split_wrongly(x, heads):
    """The shape is right, but each "head" holds numbers from several tokens."""
    return x.reshape(heads, len(x), -1)


def _interleaved(x, heads):
    return x.reshape(len(x), -1, heads).permute(2, 0, 1)


def _join_interleaved(x):
    return x.permute(1, 2, 0).reshape(x.shape[1], -1)


def _join(x):
    return x.transpose(0, 1).reshape(x.shape[1], -1)


def _join_wrongly(x):
    return x.reshape(x.shape[1], -1)


def _not_transposed(x, heads):
    """(tokens, heads, size): each token's heads are then compared with one another."""
    return x.reshape(len(x), heads, -1)


def _join_by_token(x):
    return x.reshape(len(x), -1)


def _swap_and_join(x):
    return x.transpose(0, 1).reshape(len(x), -1)


def _pieces_of_heads(x, heads):
    """Pieces of as many numbers as there are heads, as `split(heads, dim=1)` cuts them."""
    return torch.stack(x.split(heads, dim=1))


def _heads(q, k, v, heads, dim=-1, split=_split, join=_join, divide=math.sqrt):
    q, k, v = (split(x, heads) for x in (q, k, v))
    return join((q @ k.transpose(-1, -2) / divide(q.shape[-1])).softmax(dim=dim) @ v)


def _bug_cases(rng):
    def drawn(tokens, heads, size):
        return *(normal(rng, tokens, heads * size) for _ in range(3)), heads

    heads, size, tokens = rng.randint(2, 3), rng.choice([4, 5]), rng.choice([6, 7])
    q, k, v, heads = drawn(tokens, heads, size)
    order = torch.tensor(rng.sample(range(tokens), tokens))
    first = torch.zeros(heads * size)
    first[:size] = 1
    yield Case("One head alone", *drawn(tokens, 1, size))
    yield Case("Several heads, each with numbers of its own", q, k, v, heads)
    yield Case("As many heads as tokens", *drawn(4, 4, 3))
    yield Case("Tokens in another order give the same rows in that order", q[order], k[order], v[order], heads)
    yield Case("The values of a head reach no other head", q, k, v * first, heads)
    yield Case("Equal scores give each token the mean of all values", q, torch.zeros_like(k), v, heads)
    yield Case("A single token gets its own value", *drawn(1, heads, size))


FIND_THE_BUG = exercise(
    "05-find-the-bug", _bug_cases, _heads, points=2, arguments=("queries", "keys", "values", "heads")
)(
    both_left=lambda q, k, v, h: _heads(q, k, v, h, dim=1, split=_split_wrongly),
    split_left=lambda q, k, v, h: _heads(q, k, v, h, split=_split_wrongly),
    axis_left=lambda q, k, v, h: _heads(q, k, v, h, dim=1),
    softmax_over_heads=lambda q, k, v, h: _heads(q, k, v, h, dim=0),
    softmax_over_heads_and_split=lambda q, k, v, h: _heads(q, k, v, h, dim=0, split=_split_wrongly),
    join_wrong=lambda q, k, v, h: _heads(q, k, v, h, join=_join_wrongly),
    join_wrong_and_axis=lambda q, k, v, h: _heads(q, k, v, h, dim=1, join=_join_wrongly),
    join_undone=lambda q, k, v, h: _heads(q, k, v, h, split=_split_wrongly, join=_join_wrongly),
    heads_alternate=lambda q, k, v, h: _heads(q, k, v, h, split=_interleaved),
    heads_alternate_both_ways=lambda q, k, v, h: _heads(q, k, v, h, split=_interleaved, join=_join_interleaved),
    root_of_32=lambda q, k, v, h: _heads(q, k, v, h, divide=lambda size: math.sqrt(32)),
    root_of_32_and_split=lambda q, k, v, h: _heads(q, k, v, h, split=_split_wrongly, divide=lambda size: math.sqrt(32)),
    root_of_32_and_axis=lambda q, k, v, h: _heads(q, k, v, h, dim=1, divide=lambda size: math.sqrt(32)),
    mixed_by_swap=lambda q, k, v, h: _heads(q, k, v, h, split=lambda x, n: x.T.reshape(n, len(x), -1)),
    no_root=lambda q, k, v, h: _heads(q, k, v, h, divide=lambda size: 1),
    divided_by_size=lambda q, k, v, h: _heads(q, k, v, h, divide=lambda size: size),
    root_of_hidden=lambda q, k, v, h: _heads(q, k, v, h, divide=lambda size: math.sqrt(size * h)),
    one_large_head=lambda q, k, v, h: _heads(q, k, v, 1),
    swapped=lambda q, k, v, h: _heads(k, q, v, h),
    not_transposed=tuple(
        lambda q, k, v, h, dim=dim, join=join: _heads(q, k, v, h, dim=dim, split=_not_transposed, join=join)
        for dim in (-1, 1)
        for join in (_join_by_token, _swap_and_join)
    ),
    pieces_of_heads=tuple(
        lambda q, k, v, h, dim=dim: _heads(
            q, k, v, h, dim=dim, split=_pieces_of_heads, divide=lambda _: math.sqrt(q.shape[1] / h)
        )
        for dim in (-1, 1)
    ),
    not_joined=lambda q, k, v, h: _heads(q, k, v, h, join=lambda x: x),
)


def _one_head_cases(rng):
    for label, tokens, size in [
        ("Each token receives values by its own weights", 5, 4),
        ("Two tokens", 2, 3),
        ("Vectors of another length", 6, 9),
        ("A single token gets its own value", 1, 4),
    ]:
        yield Case(label, *(normal(rng, tokens, size) for _ in range(3)))
    q, k, v = (normal(rng, 4, 5) for _ in range(3))
    yield Case("Equal scores give each token the mean of all values", q, torch.zeros_like(k), v)


ONE_HEAD = Completion(
    "05-one-head",
    "One head",
    ("queries", "keys", "values"),
    _one_head_cases,
    lambda q, k, v: _heads(q, k, v, 1),
    mistakes=(
        Mistake(
            "not_divided",
            "The products go into the softmax undivided.",
            "First divide them by the root of d, the number of columns of `queries`.",
            (lambda q, k, v: (q @ k.T).softmax(dim=-1) @ v,),
        ),
        Mistake(
            "swapped",
            "Your rows belong to keys and your columns to queries.",
            "Each row of the scores belongs to a query, the token that looks: `queries @ keys.T`.",
            (
                lambda q, k, v: (k @ q.T / math.sqrt(q.shape[-1])).softmax(dim=-1) @ v,
                lambda q, k, v: (k @ q.T).softmax(dim=-1) @ v,
            ),
        ),
        Mistake(
            "divided_by_d",
            "You divide the products by d.",
            "Divide them by the root of d.",
            (lambda q, k, v: (q @ k.T / q.shape[-1]).softmax(dim=-1) @ v,),
        ),
        Mistake(
            "root_of_two",
            "You divide by the root of 2, which is right only for the three tokens of the lesson.",
            "d is the last dimension of `queries`: divide by its root, `d**0.5`.",
            (lambda q, k, v: (q @ k.T / math.sqrt(2)).softmax(dim=-1) @ v,),
        ),
        Mistake(
            "softmax_twice",
            "You take the softmax twice, because the last line takes it as well.",
            "Your line should compute only the scores.",
            (lambda q, k, v: (q @ k.T / math.sqrt(q.shape[-1])).softmax(dim=-1).softmax(dim=-1) @ v,),
        ),
        Mistake(
            "keys_not_transposed",
            "The scores don't come out as a table with a row for each query and a column for each key.",
            "Transpose the keys before the product: `queries @ keys.T`.",
            (
                lambda q, k, v: (q @ k / math.sqrt(q.shape[-1])).softmax(dim=-1) @ v,
                lambda q, k, v: (q.T @ k / math.sqrt(q.shape[-1])).softmax(dim=-1) @ v,
            ),
        ),
    ),
)


def _previous_cases(rng):
    for label, tokens in [("A few tokens", 6), ("Other weights, more tokens", 9), ("Two words", 4)]:
        yield Case(label, normal(rng, 2, 3, tokens, tokens).softmax(dim=-1))
    one_back = torch.eye(7).roll(-1, dims=1).expand(1, 2, 7, 7).clone()
    yield Case("A head that looks one token back has the score 1", one_back)
    yield Case("A head that looks at the token itself has the score 0", torch.eye(6).expand(2, 1, 6, 6).clone())


PREVIOUS_SCORE = Completion(
    "05-previous-score",
    "The score of the token before",
    ("weights",),
    _previous_cases,
    lambda weights: head_scores(weights)["previous"],
    mistakes=(
        Mistake(
            "diagonal_of_layers",
            "You take the diagonal of layers and heads, the first two dimensions.",
            "Use `dim1=-2, dim2=-1` to take the diagonal of each table of tokens.",
            (lambda weights: weights[:, :, 1:-1, 1:-1].diagonal(-1).mean(dim=-1),),
        ),
        Mistake(
            "token_after",
            "You score the token after.",
            "The token before is below the main diagonal: use the offset -1 with `dim1=-2, dim2=-1`. If you swap the "
            "two dimensions or change the sign, you get the other side.",
            (lambda weights: head_scores(weights)["next"],),
        ),
        Mistake(
            "token_itself",
            "You score the token itself: the main diagonal.",
            "The token before is one place below it: use the offset -1.",
            (lambda weights: head_scores(weights)["same"],),
        ),
        Mistake(
            "first_word_counted",
            "You also count the weight of the first word on [CLS].",
            "[CLS] is not a word. Use `words`, which has neither the row nor the column of [CLS].",
            (lambda weights: weights[:, :, 1:-1].diagonal(dim1=-2, dim2=-1).mean(dim=-1),),
        ),
        Mistake(
            "specials_counted",
            "You take the diagonal of `weights`, which also contains [CLS] and [SEP].",
            "Use `words`, which has neither their rows nor their columns.",
            (lambda weights: weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1),),
        ),
        Mistake(
            "two_back",
            "You score the token two places before.",
            "The token before is one place below the main diagonal: use the offset -1.",
            (lambda weights: weights[:, :, 1:-1, 1:-1].diagonal(-2, dim1=-2, dim2=-1).mean(dim=-1),),
        ),
    ),
)


def _far_apart(real):
    """Queries and keys with scores of about a million and minus a million, exact whatever the order of multiplication.

    In every other row real tokens are far below padding, and in the rows between far above it. One real token takes all
    the weight, so that no answer depends on how large numbers are rounded.
    """
    places = torch.arange(len(real))
    q, k = torch.zeros(1, len(real), 4), torch.zeros(1, len(real), 4)
    q[0, :, 0] = 2000 * (-1.0) ** places
    k[0, :, 0] = torch.where(real == 1, -1000.0 - places, 1000.0)
    return q, k, real


def _weight_cases(rng):
    heads, tokens, size = rng.choice([3, 4]), rng.choice([5, 6]), rng.choice([8, 9, 10])
    q, k = normal(rng, heads, tokens, size), normal(rng, heads, tokens, size)
    ones = torch.ones(tokens, dtype=torch.int64)
    right = torch.tensor([1] * (tokens - 2) + [0] * 2)
    yield Case("No padding", q, k, ones)
    yield Case("Padding on the right", q, k, right)
    yield Case("Padding on the left", q, k, right.flip(0))
    yield Case("Padding on both sides", q, k, right.roll(1))
    yield Case("Scores of about a million and minus a million", *_far_apart(right))
    yield Case("One head, and few numbers", q[:1, :, :2], k[:1, :, :2], right)
    yield Case(
        "As many heads and numbers as tokens", normal(rng, 5, 5, 5), normal(rng, 5, 5, 5), torch.tensor([1, 1, 1, 0, 0])
    )


def _judge_weights(args, outcome):
    """As for any exercise, except that padding must not even get a weight of a millionth."""
    problem = difference(outcome, attention_weights(*args))
    if problem is None:
        padding = (args[2] == 0).nonzero().flatten().tolist()
        most = max((abs(float(row[j])) for head in outcome for row in head for j in padding), default=0)
        problem = f"padding gets the weight {most:.3g} where 0 is expected" if most > 1e-12 else None
    return problem


def _scores(q, k, divide=math.sqrt):
    return q @ k.transpose(-1, -2) / divide(q.shape[-1])


def _lowered(scores, m):
    return scores.masked_fill(m == 0, float("-inf"))


ATTENTION_WEIGHTS = exercise(
    "05-attention-weights",
    _weight_cases,
    attention_weights,
    judge=_judge_weights,
    points=2,
    arguments=("queries", "keys", "attention_mask"),
)(
    mask_unused=lambda q, k, m: attention_weights(q, k),
    mask_and_root_unused=lambda q, k, m: _scores(q, k, lambda d: 1).softmax(-1),
    zeroed_after_softmax=lambda q, k, m: _scores(q, k).softmax(-1) * m,
    infinity_after_softmax=lambda q, k, m: _lowered(_scores(q, k).softmax(-1), m),
    rescaled_after_softmax=lambda q, k, m: (w := _scores(q, k).softmax(-1) * m) / w.sum(-1, keepdim=True),
    underflow=lambda q, k, m: (w := _scores(q, k).softmax(-1) * m) / w.sum(-1, keepdim=True).clamp(min=1e-6),
    overflow=lambda q, k, m: (e := _scores(q, k).exp() * m) / e.sum(-1, keepdim=True),
    score_zero=lambda q, k, m: (_scores(q, k) * m).softmax(-1),
    mask_added=lambda q, k, m: (_scores(q, k) + m).softmax(-1),
    score_zero_both_ways=lambda q, k, m: _scores(q * m.unsqueeze(-1), k * m.unsqueeze(-1)).softmax(-1),
    rows_masked=lambda q, k, m: _scores(q * m.unsqueeze(-1), k).softmax(-1),
    rows_masked_too=lambda q, k, m: _lowered(_scores(q * m.unsqueeze(-1), k), m).softmax(-1),
    not_low_enough=(
        *(
            lambda q, k, m, low=low: _scores(q, k).masked_fill(m == 0, low).softmax(-1)
            for low in (-10, -1e4, -1e6)  # -20 or -100,000, filled in or added, give the same as -1e4
        ),
        lambda q, k, m: (_scores(q, k) + (1 - m) * -10).softmax(-1),
    ),
    nan_throughout=lambda q, k, m: (_scores(q, k) + (1 - m) * float("-inf")).softmax(-1),
    not_divided=lambda q, k, m: _lowered(_scores(q, k, lambda d: 1), m).softmax(-1),
    divided_by_d=lambda q, k, m: _lowered(_scores(q, k, lambda d: d), m).softmax(-1),
    root_of_32=lambda q, k, m: _lowered(_scores(q, k, lambda d: 32**0.5), m).softmax(-1),
    multiplied=lambda q, k, m: _lowered(_scores(q, k, lambda d: 1 / math.sqrt(d)), m).softmax(-1),
    root_of_tokens=lambda q, k, m: _lowered(_scores(q, k, lambda d: math.sqrt(q.shape[1])), m).softmax(-1),
    root_of_real_tokens=lambda q, k, m: _lowered(_scores(q, k, lambda d: math.sqrt(m.sum())), m).softmax(-1),
    root_of_all_heads=lambda q, k, m: _lowered(_scores(q, k, lambda d: math.sqrt(len(q) * d)), m).softmax(-1),
    head_zero=lambda q, k, m: attention_weights(q, k, m)[:1].expand(len(q), -1, -1),
    divided_after_softmax=lambda q, k, m: _lowered(_scores(q, k, lambda d: 1), m).softmax(-1) / math.sqrt(q.shape[-1]),
    down_columns=lambda q, k, m: _lowered(_scores(q, k), m).softmax(-2),
    over_heads=lambda q, k, m: _lowered(_scores(q, k), m).softmax(0),
    scores_returned=lambda q, k, m: _lowered(_scores(q, k), m),
    divided_by_sum=lambda q, k, m: (s := _scores(q, k) * m) / s.sum(-1, keepdim=True),
    inverted=lambda q, k, m: _scores(q, k).masked_fill(m == 1, float("-inf")).softmax(-1),
    rows_of_infinity=lambda q, k, m: _scores(q, k).masked_fill((m == 0).unsqueeze(-1), float("-inf")).softmax(-1),
    rows_and_columns=lambda q, k, m: (
        _scores(q, k).masked_fill((m == 0).unsqueeze(-1) | (m == 0), float("-inf")).softmax(-1)
    ),
    rows_set_to_zero=lambda q, k, m: attention_weights(q, k, m) * (m != 0).unsqueeze(-1),
    swapped=lambda q, k, m: attention_weights(k, q, m),
    transposed=lambda q, k, m: attention_weights(q, k, m).transpose(-1, -2),
    fill_with_numbers=lambda q, k, m: _scores(q, k).masked_fill(~m, float("-inf")).softmax(-1),
    turned_all_dimensions=lambda q, k, m: _lowered(q @ k.permute(2, 1, 0) / math.sqrt(q.shape[-1]), m).softmax(-1),
    keys_not_turned=lambda q, k, m: _lowered(q @ k / math.sqrt(q.shape[-1]), m).softmax(-1),
)


def _from_state_0(target, source, layers, fresh=False, ahead=False):
    """The map from one copy of the target's hidden state 0 for all rows, or from a `fresh` one for each number.

    ahead: between the rows, the copy passes the next layer, with all its patches.
    """
    before, state, rows = _last(target, layers).mean(1), target.clone(), []
    for number in range(len(layers) + 1):
        row = []
        for token in range(target.shape[1]):
            state = target.clone() if fresh else state
            _replace(state, source, token)
            row.append(_norm(_last(state, layers[number:]).mean(1) - before))
        rows.append(torch.cat(row))
        state = _last(state, layers[number : number + 1]) if ahead else state
        source = _last(source, layers[number : number + 1])
    return torch.stack(rows)


def _last(states, layers):
    for layer in layers:
        states = layer(states)
    return states


def _vectors(target, source, layers):
    """The sentence vectors after each patch: (len(layers) + 1, tokens, hidden)."""
    return _patched(target, source, layers, measure=lambda change: change) + _last(target, layers).mean(1)


def _entropy_cases(rng):
    heads, tokens = rng.choice([3, 4]), rng.choice([6, 7, 9])
    some = normal(rng, heads, tokens, tokens).softmax(-1)
    keep = torch.ones(tokens)
    keep[-2:] = 0
    masked = (some * keep) / (some * keep).sum(-1, keepdim=True)
    small = torch.full((33,), 2.0**-22)
    small[0] = 1 - 32 * 2.0**-22
    yield Case("One number for each row of each head", some)
    yield Case("One row alone gives one number", some[0, 0])
    yield Case("Weights of 0 add nothing", masked)
    yield Case("All weight on one token: 0 bits; two halves: 1 bit", torch.tensor([[0.0, 1, 0], [0.5, 0, 0.5]]))
    yield Case("Even weights over n tokens: log2(n) bits", torch.full((2, tokens), 1 / tokens))
    yield Case("Rows in four dimensions", normal(rng, 2, 1, heads, tokens).softmax(-1))
    yield Case("As many heads as tokens", normal(rng, 4, 4, 4).softmax(-1))
    yield Case("Small weights count, too", torch.stack([small, small.flip(0)]))


def _entropy(w):
    return torch.special.entr(w).sum(-1) / math.log(2)


def _naive(w, log=torch.log2, dim=-1):
    return -(w * log(w)).sum(dim)


ENTROPY = exercise("05-entropy", _entropy_cases, _entropy, points=2, arguments=("weights",))(
    nan_for_zero=_naive,
    nats=lambda w: torch.special.entr(w).sum(-1),
    nats_and_nan=lambda w: _naive(w, torch.log),
    log10=lambda w: torch.special.entr(w).sum(-1) / math.log(10),
    log10_and_nan=lambda w: _naive(w, torch.log10),
    no_sign=lambda w: -_entropy(w),
    no_sign_and_nan=lambda w: -_naive(w),
    over_columns=lambda w: torch.special.entr(w).sum(-2) / math.log(2),
    over_dimension_zero=lambda w: torch.special.entr(w).sum(0) / math.log(2),
    one_sum=lambda w: _entropy(w).sum(),
    mean_of_rows=lambda w: _entropy(w).mean(-1),
    mean_of_all=lambda w: _entropy(w).mean(),
    mean_over_row=lambda w: torch.special.entr(w).mean(-1) / math.log(2),
    normalised=lambda w: _entropy(w) / math.log2(w.shape[-1]),
    perplexity=lambda w: 2 ** _entropy(w),
    logarithms_only=(
        *(lambda w, low=low: -w.clamp(min=low).log2().sum(-1) for low in (0, 1e-30, 1e-12, 1e-10, 1e-9)),
        *(lambda w, low=low: -(w + low).log2().sum(-1) for low in (1e-10, 1e-9)),
        lambda w: torch.where(w > 0, -w.log2(), 0.0).sum(-1),
    ),
    bound_too_large=[
        imitate
        for low in (1e-3, 1e-4, 1e-5, 1e-6)
        for imitate in (
            lambda w, low=low: -(w * (w + low).log2()).sum(-1),
            lambda w, low=low: -((w + low) * (w + low).log2()).sum(-1),
            lambda w, low=low: -(w.clamp(min=low) * w.clamp(min=low).log2()).sum(-1),
        )
    ],
    kept_dimension=lambda w: _entropy(w).unsqueeze(-1),
    row_for_one=lambda w: torch.atleast_1d(_entropy(w)),
)


def _patching_cases(rng):
    hidden = rng.choice([4, 5])

    def states(tokens, width=hidden):
        return 2 * normal(rng, 1, tokens, width)

    def layers(count, width=hidden):
        return [layer_maker(*(0.7 * normal(rng, width, width) for _ in range(3))) for _ in range(count)]

    target = states(3)
    yield Case("Two layers", target, states(3), layers(2))
    yield Case("One layer", states(2), states(2), layers(1))
    yield Case("As many tokens as hidden states and as numbers in a vector", states(3, 3), states(3, 3), layers(2, 3))
    yield Case("One token, and seven layers", states(1), states(1), layers(7))
    yield Case("A text patched with itself", target, target.clone(), layers(1))


def _norm(vectors):
    return vectors.norm(dim=-1)


def _replace(state, other, token):
    state[:, token] = other[:, token]


def _replace_all_others(state, other, token):
    kept = state[:, token].clone()
    state[:] = other
    state[:, token] = kept


def _replace_up_to(state, other, token):
    state[:, : token + 1] = other[:, : token + 1]


def _add(state, other, token):
    state[:, token] += other[:, token]


def _silence(state, other, token):
    state[:, token] = 0


def _patched(
    target, source, layers, *, patch=_replace, first=0, after=0, measure=_norm, pool=lambda h: h.mean(1), at=None,
    base=None,
):  # fmt: skip
    """The reference, with a switch for each known mistake.

    patch: changes a hidden state in place. first: the first hidden state that is patched. after: how many layers too
    late (or, negative, too early) the run goes on. at: the source's hidden state from which all vectors are taken.
    base: "source" compares with the source's vector.
    """
    runs = [[target], [source]]
    for run in runs:
        for layer in layers:
            run.append(layer(run[-1]))
    states, others = runs
    before = pool((others if base == "source" else states)[-1])
    rows = []
    for number in range(first, len(states)):
        result = states[number].repeat(target.shape[1], 1, 1)  # row i is patched at token i
        for token in range(target.shape[1]):
            patch(result[token : token + 1], others[number if at is None else at], token)
        for layer in layers[max(number + after, 0) :]:
            result = layer(result)
        rows.append(measure(pool(result) - before))
    return torch.stack(rows)


PATCHING_MAP = exercise("05-patching-map", _patching_cases, patching_map, points=2)(
    patches_stay=lambda t, s, f: _patched(t, s, f, patch=_replace_up_to),
    patches_stay_throughout=[
        lambda t, s, f, ahead=ahead: _from_state_0(t, s, f, ahead=ahead) for ahead in (False, True)
    ],
    target_state_zero=lambda t, s, f: _from_state_0(t, s, f, fresh=True),
    added=lambda t, s, f: _patched(t, s, f, patch=_add),
    zeroed=lambda t, s, f: _patched(t, s, f, patch=_silence),
    all_but_one=lambda t, s, f: _patched(t, s, f, patch=_replace_all_others),
    mean_of_lengths=lambda t, s, f: _patched(t, s, f, pool=lambda h: h, measure=lambda x: _norm(x).mean(-1)),
    length_of_all=lambda t, s, f: _patched(t, s, f, pool=lambda h: h.flatten(1)),
    source_state_zero=lambda t, s, f: _patched(t, s, f, at=0),
    source_last_state=lambda t, s, f: _patched(t, s, f, at=-1),
    layer_run_again=lambda t, s, f: _patched(t, s, f, after=-1),
    layer_left_out=lambda t, s, f: _patched(t, s, f, after=1),
    no_layer_runs=lambda t, s, f: _patched(t, s, f, after=len(f)),
    all_layers_run=lambda t, s, f: _patched(t, s, f, after=-len(f)),
    first_row_missing=lambda t, s, f: _patched(t, s, f, first=1),
    last_row_missing=lambda t, s, f: _patched(t, s, f)[:-1],
    exchanged=lambda t, s, f: _patched(t, s, f).T,
    compared_with_source=lambda t, s, f: _patched(t, s, f, base="source"),
    source_and_target_exchanged=lambda t, s, f: _patched(s, t, f),
    squared=lambda t, s, f: _patched(t, s, f, measure=lambda x: x.square().sum(-1)),
    absolute_differences=(
        lambda t, s, f: _patched(t, s, f, measure=lambda x: x.abs().sum(-1)),
        lambda t, s, f: _patched(t, s, f, measure=lambda x: x.abs().mean(-1)),
    ),
    lengths_subtracted=lambda t, s, f: (_norm(_vectors(t, s, f)) - _norm(_last(t, f).mean(1))).abs(),
    cosine=lambda t, s, f: 1 - torch.cosine_similarity(_vectors(t, s, f), _last(t, f).mean(1), dim=-1),
    first_token=lambda t, s, f: _patched(t, s, f, pool=lambda h: h[:, 0]),
    inside_vectors=lambda t, s, f: _patched(t, s, f, pool=lambda h: h.mean(-1)),
    sum=lambda t, s, f: _patched(t, s, f, pool=lambda h: h.sum(1)),
    normalised=lambda t, s, f: _patched(t, s, f, pool=lambda h: torch.nn.functional.normalize(h.mean(1), dim=-1)),
    share_of_whole_change=lambda t, s, f: _patched(t, s, f) / _norm(_last(s, f).mean(1) - _last(t, f).mean(1)),
)
