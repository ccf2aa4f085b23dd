"""Exercises of lesson 05, attention."""

import math

import torch

from .._support.values import layer_maker
from ..attention import attention_weights, patching_map
from .framework import Case, Exercise, Mistake, difference, normal


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
    return [
        Case("One head alone", drawn(tokens, 1, size)),
        Case("Several heads, each with numbers of its own", (q, k, v, heads)),
        Case("As many heads as tokens", drawn(4, 4, 3)),
        Case("Tokens in another order give the same rows in that order", (q[order], k[order], v[order], heads)),
        Case("The values of a head reach no other head", (q, k, v * first, heads)),
        Case("Equal scores give each token the mean of all values", (q, torch.zeros_like(k), v, heads)),
        Case("A single token gets its own value", drawn(1, heads, size)),
    ]


AXIS = (
    "The softmax still runs over the wrong dimension. `dim=1` of (heads, tokens, tokens) is the token that *looks*, "
    "so columns add up to 1. Each row must."
)
SPLIT = (
    "`reshape(heads, tokens, size)` has the right shape and cuts in the wrong places: a head then holds numbers of "
    "several tokens. Which dimension must be cut, before heads and tokens change places?"
)
JOIN = (
    "The heads are put together in the wrong order: from (heads, tokens, size), first swap heads and tokens with "
    "`transpose(0, 1)`, then `reshape(tokens, hidden)`."
)

FIND_THE_BUG = Exercise(
    id="05-find-the-bug",
    title="Find the bug",
    arguments=("queries", "keys", "values", "heads"),
    cases=_bug_cases,
    reference=_heads,
    minutes=10,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(
            "Both mistakes are still there. The first is before the weights, the second in the line that computes "
            "them.",
            lambda q, k, v, h: _heads(q, k, v, h, dim=1, split=_split_wrongly),
        ),
        Mistake(
            f"One mistake is fixed, the other is not. {SPLIT}",
            lambda q, k, v, h: _heads(q, k, v, h, split=_split_wrongly),
        ),
        Mistake(f"One mistake is fixed, the other is not. {AXIS}", lambda q, k, v, h: _heads(q, k, v, h, dim=1)),
        Mistake(
            "The softmax runs over the heads. Heads work apart; each *row* of a head adds up to 1.",
            lambda q, k, v, h: _heads(q, k, v, h, dim=0),
        ),
        Mistake(
            "The softmax runs over the heads, where each *row* of a head should add up to 1. And the other mistake "
            f"is still there. {SPLIT}",
            lambda q, k, v, h: _heads(q, k, v, h, dim=0, split=_split_wrongly),
        ),
        Mistake(JOIN, lambda q, k, v, h: _heads(q, k, v, h, join=_join_wrongly)),
        Mistake(f"{JOIN} {AXIS}", lambda q, k, v, h: _heads(q, k, v, h, dim=1, join=_join_wrongly)),
        Mistake(
            f"The softmax is right now. {SPLIT} The way back was right before: swap, then `reshape(tokens, hidden)`.",
            lambda q, k, v, h: _heads(q, k, v, h, split=_split_wrongly, join=_join_wrongly),
        ),
        Mistake(
            "The numbers of your heads alternate in the vector. A head owns `size` numbers that stand "
            "side by side: `reshape(tokens, heads, size)`, then `transpose(0, 1)`.",
            lambda q, k, v, h: _heads(q, k, v, h, split=_interleaved),
        ),
        Mistake(
            "The numbers of your heads alternate in the vector, and they are put back in the same way. A "
            "head owns `size` numbers that stand side by side: heads come before `size` when you cut, and when you "
            "join.",
            lambda q, k, v, h: _heads(q, k, v, h, split=_interleaved, join=_join_interleaved),
        ),
        Mistake(
            "You divide by the root of 32, which is right for this model only. The number under the root is `size`.",
            lambda q, k, v, h: _heads(q, k, v, h, divide=lambda size: math.sqrt(32)),
        ),
        Mistake(
            f"You divide by the root of 32, which is right for this model only. And one mistake is left. {SPLIT}",
            lambda q, k, v, h: _heads(q, k, v, h, split=_split_wrongly, divide=lambda size: math.sqrt(32)),
        ),
        Mistake(
            f"You divide by the root of 32, which is right for this model only. And one mistake is left. {AXIS}",
            lambda q, k, v, h: _heads(q, k, v, h, dim=1, divide=lambda size: math.sqrt(32)),
        ),
        Mistake(
            "You swap heads and tokens without cutting by heads first, so that tokens or heads are mixed. "
            "`reshape(tokens, heads, size)` first, then `transpose(0, 1)`.",
            lambda q, k, v, h: _heads(q, k, v, h, split=lambda x, n: x.T.reshape(n, len(x), -1)),
        ),
        Mistake(
            "The division by the root of `size` is gone. It was right; keep it.",
            lambda q, k, v, h: _heads(q, k, v, h, divide=lambda size: 1),
        ),
        Mistake(
            "You divide by `size`. Its root was right.", lambda q, k, v, h: _heads(q, k, v, h, divide=lambda size: size)
        ),
        Mistake(
            "You divide by the root of `hidden`. The products add up `size` numbers: the root of `size` was right.",
            lambda q, k, v, h: _heads(q, k, v, h, divide=lambda size: math.sqrt(size * h)),
        ),
        Mistake(
            "The vectors are not cut into heads: you compute one large head. Each head has weights of its own.",
            lambda q, k, v, h: _heads(q, k, v, 1),
        ),
        Mistake(
            "Queries and keys are swapped: rows now stand for the token that is looked at. `q @ k.transpose(-1, "
            "-2)` was right.",
            lambda q, k, v, h: _heads(k, q, v, h),
        ),
        Mistake(
            "The heads are not put together: return (tokens, hidden). Swap heads and tokens, then `reshape(tokens, "
            "hidden)`.",
            lambda q, k, v, h: _heads(q, k, v, h, join=lambda x: x),
        ),
    ),
    hints=(
        "Follow one token, say the third. After the line that splits, where are its numbers? And along "
        "which direction of the table should weights add up to 1?",
        "Compare with the lesson's `split_heads`: it cuts the last dimension first. And compare the softmax with "
        "the lesson's `sum(dim=-1, keepdim=True)`.",
        "`x.reshape(tokens, heads, size).transpose(0, 1)` and `softmax(dim=-1)`.",
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
    return [
        Case("No padding", (q, k, ones)),
        Case("Padding on the right", (q, k, right)),
        Case("Padding on the left", (q, k, right.flip(0))),
        Case("Padding on both sides", (q, k, right.roll(1))),
        Case("Scores of about a million and minus a million", _far_apart(right)),
        Case("One head, and few numbers", (q[:1, :, :2], k[:1, :, :2], right)),
        Case(
            "As many heads and numbers as tokens",
            (normal(rng, 5, 5, 5), normal(rng, 5, 5, 5), torch.tensor([1, 1, 1, 0, 0])),
        ),
    ]


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


def _only_real_rows(q, k, m):
    return attention_weights(q, k, m) * (m != 0).unsqueeze(-1)


NOT_A_ZERO = (
    "You give padding the score 0 before the softmax, and e to the power of 0 is 1: padding keeps some weight. Its "
    "score must be minus infinity."
)

NOT_LOW_ENOUGH = (
    "The score that you give padding is not low enough: where the other scores are low, padding gets weight. Use minus "
    "infinity."
)

ATTENTION_WEIGHTS = Exercise(
    id="05-attention-weights",
    title="Attention weights",
    arguments=("queries", "keys", "attention_mask"),
    cases=_weight_cases,
    reference=attention_weights,
    judge=_judge_weights,
    minutes=12,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake("The mask has no effect: padding gets attention.", lambda q, k, m: attention_weights(q, k)),
        Mistake(
            "The mask has no effect, and the scores are not divided by the root of d.",
            lambda q, k, m: _scores(q, k, lambda d: 1).softmax(-1),
        ),
        Mistake(
            "You set the weights of padding to 0 *after* the softmax, so rows no longer add up to 1. Put minus "
            "infinity into the scores, before the softmax.",
            lambda q, k, m: _scores(q, k).softmax(-1) * m,
        ),
        Mistake(
            "You put minus infinity into the weights, after the softmax. It belongs into the scores, before the "
            "softmax.",
            lambda q, k, m: _lowered(_scores(q, k).softmax(-1), m),
        ),
        Mistake(
            "You take padding away after the softmax and rescale the rest. Where padding has by far the highest score, "
            "the rest is 0, and 0 / 0 is NaN. Put minus infinity into the scores, before the softmax.",
            lambda q, k, m: (w := _scores(q, k).softmax(-1) * m) / w.sum(-1, keepdim=True),
        ),
        Mistake(
            "Where padding has by far the highest score, all weights in your rows are 0, and a row should add up to 1. "
            "Put minus infinity into the scores, before the softmax.",
            lambda q, k, m: (w := _scores(q, k).softmax(-1) * m) / w.sum(-1, keepdim=True).clamp(min=1e-6),
        ),
        Mistake(
            "Very high or very low scores make your rows NaN: e to the power of a high score is infinite, and that of "
            "a low one is 0. Use `softmax`, which subtracts the highest first, on scores that are minus infinity at "
            "padding.",
            lambda q, k, m: (e := _scores(q, k).exp() * m) / e.sum(-1, keepdim=True),
        ),
        Mistake(NOT_A_ZERO, lambda q, k, m: (_scores(q, k) * m).softmax(-1)),
        Mistake(
            "Adding the mask to the scores (or taking 1 away at padding) favours real tokens a little, but padding "
            "keeps some weight. Its score must be minus infinity.",
            lambda q, k, m: (_scores(q, k) + m).softmax(-1),
        ),
        Mistake(
            "The scores of padding become 0, in rows and in columns, and e to the power of 0 is 1: padding keeps some "
            "weight. Mask the columns only, and with minus infinity.",
            lambda q, k, m: _scores(q * m.unsqueeze(-1), k * m.unsqueeze(-1)).softmax(-1),
        ),
        Mistake(
            "Your mask acts on the rows of padding tokens, which become even, and padding is still looked at. What "
            "must not be looked at are columns: the mask lines up with the last dimension.",
            lambda q, k, m: _scores(q * m.unsqueeze(-1), k).softmax(-1),
        ),
        Mistake(
            "Your mask acts on the rows of padding tokens, too, which become even. They stay: mask the columns of the "
            "scores, and nothing else.",
            lambda q, k, m: _lowered(_scores(q * m.unsqueeze(-1), k), m).softmax(-1),
        ),
        *(
            Mistake(NOT_LOW_ENOUGH, lambda q, k, m, low=low: _scores(q, k).masked_fill(m == 0, low).softmax(-1))
            for low in (-10, -1e4, -1e6)  # -20 or -100,000, filled in or added, give the same as -1e4
        ),
        Mistake(NOT_LOW_ENOUGH, lambda q, k, m: (_scores(q, k) + (1 - m) * -10).softmax(-1)),
        Mistake(
            "Your result is NaN throughout. `(1 - attention_mask) * -inf` does this: at real tokens it is 0 times "
            "infinity, which is not a number. Fill with minus infinity only at padding: `masked_fill`.",
            lambda q, k, m: (_scores(q, k) + (1 - m) * float("-inf")).softmax(-1),
        ),
        Mistake(
            "The scores are not divided: divide by the root of d, the last dimension of `queries`.",
            lambda q, k, m: _lowered(_scores(q, k, lambda d: 1), m).softmax(-1),
        ),
        Mistake(
            "You divide by d. Divide by its root.", lambda q, k, m: _lowered(_scores(q, k, lambda d: d), m).softmax(-1)
        ),
        Mistake(
            "You divide by the root of 32, which is right for this model only. d is the last dimension of "
            "`queries`: `queries.shape[-1]`.",
            lambda q, k, m: _lowered(_scores(q, k, lambda d: 32**0.5), m).softmax(-1),
        ),
        Mistake(
            "You multiply by the root of d. Divide by it.",
            lambda q, k, m: _lowered(_scores(q, k, lambda d: 1 / math.sqrt(d)), m).softmax(-1),
        ),
        Mistake(
            "You divide by the root of the number of tokens. d is the last dimension of `queries`: the products add "
            "up d numbers.",
            lambda q, k, m: _lowered(_scores(q, k, lambda d: math.sqrt(q.shape[1])), m).softmax(-1),
        ),
        Mistake(
            "You divide by the root of the number of real tokens. d is the last dimension of `queries`: the products "
            "add up d numbers.",
            lambda q, k, m: _lowered(_scores(q, k, lambda d: math.sqrt(m.sum())), m).softmax(-1),
        ),
        Mistake(
            "You divide by the root of heads times d. Each product adds up d numbers: divide by the root of d.",
            lambda q, k, m: _lowered(_scores(q, k, lambda d: math.sqrt(len(q) * d)), m).softmax(-1),
        ),
        Mistake(
            "All heads get the weights of head 0. Each head has queries and keys of its own.",
            lambda q, k, m: attention_weights(q, k, m)[:1].expand(len(q), -1, -1),
        ),
        Mistake(
            "You divide by the root of d after the softmax, so rows do not add up to 1. Divide the scores.",
            lambda q, k, m: _lowered(_scores(q, k, lambda d: 1), m).softmax(-1) / math.sqrt(q.shape[-1]),
        ),
        Mistake(
            "You take the softmax down the columns. Each *row* is divided over the tokens that are looked at: "
            "`dim=-1`.",
            lambda q, k, m: _lowered(_scores(q, k), m).softmax(-2),
        ),
        Mistake(
            "You take the softmax over the heads. Each row of each head adds up to 1: `dim=-1`.",
            lambda q, k, m: _lowered(_scores(q, k), m).softmax(0),
        ),
        Mistake("You return the scores. Softmax makes weights of them.", lambda q, k, m: _lowered(_scores(q, k), m)),
        Mistake(
            "You divide each row of scores by its sum. Scores can be negative: softmax takes e to their power first.",
            lambda q, k, m: (s := _scores(q, k) * m) / s.sum(-1, keepdim=True),
        ),
        Mistake(
            "The mask is inverted: real tokens get no weight. 0 marks padding.",
            lambda q, k, m: _scores(q, k).masked_fill(m == 1, float("-inf")).softmax(-1),
        ),
        Mistake(
            "You mask the *rows* of padding tokens. What must not be looked at are columns: the mask lines up with "
            "the last dimension.",
            lambda q, k, m: _scores(q, k).masked_fill((m == 0).unsqueeze(-1), float("-inf")).softmax(-1),
        ),
        Mistake(
            "You mask rows *and* columns. A row in which everything is minus infinity becomes NaN. Only columns are "
            "masked; the rows of padding tokens stay.",
            lambda q, k, m: _scores(q, k).masked_fill((m == 0).unsqueeze(-1) | (m == 0), float("-inf")).softmax(-1),
        ),
        Mistake("The rows of padding tokens are set to 0. They stay: every row adds up to 1.", _only_real_rows),
        Mistake(
            "Queries and keys are swapped: row i must belong to the query of token i.",
            lambda q, k, m: attention_weights(k, q, m),
        ),
        Mistake(
            "Rows and columns of your result are exchanged: row i must say how token i divides its attention.",
            lambda q, k, m: attention_weights(q, k, m).transpose(-1, -2),
        ),
        Mistake(
            "`masked_fill` needs true and false, and the mask holds the numbers 1 and 0. Write `attention_mask == 0`.",
            lambda q, k, m: _scores(q, k).masked_fill(~m, float("-inf")).softmax(-1),
        ),
        Mistake(
            "`keys.T` turns all three dimensions around: (d, tokens, heads). Swap the last two only: "
            "`keys.transpose(-1, -2)`.",
            lambda q, k, m: _lowered(q @ k.permute(2, 1, 0) / math.sqrt(q.shape[-1]), m).softmax(-1),
        ),
        Mistake(
            "The shapes do not fit: `queries` and `keys` are both (heads, tokens, d). Swap the last two dimensions "
            "of the keys with `transpose(-1, -2)`.",
            lambda q, k, m: _lowered(q @ k / math.sqrt(q.shape[-1]), m).softmax(-1),
        ),
    ),
    hints=(
        "Follow the lesson: scores from one matrix product, divided by the root of d, then softmax. d is the last "
        "dimension of `queries`.",
        "The mask acts between the division and the softmax. Which score becomes the weight 0?",
        "`scores.masked_fill(attention_mask == 0, float('-inf'))` fills columns, since the mask lines up with the "
        "last dimension. Then `softmax(dim=-1)`.",
    ),
)


def _patching_cases(rng):
    hidden = rng.choice([4, 5])

    def states(tokens, width=hidden):
        return 2 * normal(rng, 1, tokens, width)

    def layers(count, width=hidden):
        return [layer_maker(*(0.7 * normal(rng, width, width) for _ in range(3))) for _ in range(count)]

    target = states(3)
    return [
        Case("Two layers", (target, states(3), layers(2))),
        Case("One layer", (states(2), states(2), layers(1))),
        Case("As many tokens as hidden states and as numbers in a vector", (states(3, 3), states(3, 3), layers(2, 3))),
        Case("One token, and seven layers", (states(1), states(1), layers(7))),
        Case("A text patched with itself", (target, target.clone(), layers(1))),
    ]


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


PATCHING_MAP = Exercise(
    id="05-patching-map",
    title="The patching map",
    arguments=("target", "source", "layers"),
    cases=_patching_cases,
    reference=patching_map,
    minutes=20,
    difficulty=3,
    points=2,
    mistakes=(
        Mistake(
            "Patches stay: when token 1 is patched, token 0 still holds the source's vector. Start from a fresh copy "
            "(`clone`) of the target's hidden state for each token.",
            lambda t, s, f: _patched(t, s, f, patch=_replace_up_to),
        ),
        *(
            Mistake(
                "Patches stay, in a row and from row to row: you copy the target once, before all loops. Start each "
                "patch from a fresh copy (`clone`) of the target's hidden state k.",
                lambda t, s, f, ahead=ahead: _from_state_0(t, s, f, ahead=ahead),
            )
            for ahead in (False, True)
        ),
        Mistake(
            "You patch the target's hidden state 0, whatever k is. For hidden state k, patch a copy of the target's "
            "hidden state k.",
            lambda t, s, f: _from_state_0(t, s, f, fresh=True),
        ),
        Mistake(
            "You add the source's vector to the target's. Put it in its place.",
            lambda t, s, f: _patched(t, s, f, patch=_add),
        ),
        Mistake(
            "You set the vector to 0. Replace it by the source's.", lambda t, s, f: _patched(t, s, f, patch=_silence)
        ),
        Mistake(
            "You replace all vectors but that of token i. Replace this one, and leave the others as they are.",
            lambda t, s, f: _patched(t, s, f, patch=_replace_all_others),
        ),
        Mistake(
            "You average the lengths of the tokens' changes. Take the mean over the tokens first, then the length.",
            lambda t, s, f: _patched(t, s, f, pool=lambda h: h, measure=lambda x: _norm(x).mean(-1)),
        ),
        Mistake(
            "You take the length of the change of all tokens together. Take the mean over the tokens first.",
            lambda t, s, f: _patched(t, s, f, pool=lambda h: h.flatten(1)),
        ),
        Mistake(
            "You take the vector from hidden state 0 of the source, whatever hidden state is patched. For hidden state "
            "k, take it from the source's hidden state k.",
            lambda t, s, f: _patched(t, s, f, at=0),
        ),
        Mistake(
            "You take the vector from the source's last hidden state. For hidden state k, take it from the source's "
            "hidden state k.",
            lambda t, s, f: _patched(t, s, f, at=-1),
        ),
        Mistake(
            "After hidden state k is patched, you run layer k once more. It has run already: the next one is layer "
            "k + 1, which is `layers[k]`.",
            lambda t, s, f: _patched(t, s, f, after=-1),
        ),
        Mistake(
            "After hidden state k is patched, layer k + 1 is left out. It is `layers[k]`, since the list counts from "
            "0.",
            lambda t, s, f: _patched(t, s, f, after=1),
        ),
        Mistake(
            "No layer runs after the patch. Let the layers after hidden state k work on the patched vectors.",
            lambda t, s, f: _patched(t, s, f, after=len(f)),
        ),
        Mistake(
            "You run all layers after each patch. From hidden state k on, only layers k + 1 to the last are left: "
            "`layers[k:]`.",
            lambda t, s, f: _patched(t, s, f, after=-len(f)),
        ),
        Mistake(
            "Hidden state 0, the one that comes in, is missing: it gets the first row.",
            lambda t, s, f: _patched(t, s, f, first=1),
        ),
        Mistake(
            "The last hidden state is missing: it gets the last row, although no layer comes after it.",
            lambda t, s, f: _patched(t, s, f)[:-1],
        ),
        Mistake(
            "Rows and columns are exchanged: a row for each hidden state, a column for each token.",
            lambda t, s, f: _patched(t, s, f).T,
        ),
        Mistake(
            "You compare with the source's sentence vector. Compare with the target's, without any patch.",
            lambda t, s, f: _patched(t, s, f, base="source"),
        ),
        Mistake(
            "Source and target are exchanged: the target runs, and gets single vectors of the source.",
            lambda t, s, f: _patched(s, t, f),
        ),
        Mistake(
            "You measure the squared length of the change. Take the root.",
            lambda t, s, f: _patched(t, s, f, measure=lambda x: x.square().sum(-1)),
        ),
        Mistake(
            "You add up (or average) absolute differences. The Euclidean length is asked for: the root of the sum of "
            "squares.",
            lambda t, s, f: _patched(t, s, f, measure=lambda x: x.abs().sum(-1)),
        ),
        Mistake(
            "You add up (or average) absolute differences. The Euclidean length is asked for: the root of the sum of "
            "squares.",
            lambda t, s, f: _patched(t, s, f, measure=lambda x: x.abs().mean(-1)),
        ),
        Mistake(
            "You subtract two lengths. Subtract the two sentence vectors first, and take the length of the difference.",
            lambda t, s, f: (_norm(_vectors(t, s, f)) - _norm(_last(t, f).mean(1))).abs(),
        ),
        Mistake(
            "You measure 1 minus the cosine. The length of the difference is asked for.",
            lambda t, s, f: 1 - torch.cosine_similarity(_vectors(t, s, f), _last(t, f).mean(1), dim=-1),
        ),
        Mistake(
            "You measure the change at the first token. The sentence vector is the mean over all tokens.",
            lambda t, s, f: _patched(t, s, f, pool=lambda h: h[:, 0]),
        ),
        Mistake(
            "You take the mean over the numbers of each vector. The sentence vector is the mean over the tokens.",
            lambda t, s, f: _patched(t, s, f, pool=lambda h: h.mean(-1)),
        ),
        Mistake(
            "Your sentence vector is the sum over the tokens. Take the mean.",
            lambda t, s, f: _patched(t, s, f, pool=lambda h: h.sum(1)),
        ),
        Mistake(
            "You scale the sentence vectors to length 1. They are compared as they are.",
            lambda t, s, f: _patched(t, s, f, pool=lambda h: torch.nn.functional.normalize(h.mean(1), dim=-1)),
        ),
        Mistake(
            "You divide by the change that replacing the whole text makes. The length itself is asked for.",
            lambda t, s, f: _patched(t, s, f) / _norm(_last(s, f).mean(1) - _last(t, f).mean(1)),
        ),
    ),
    hints=(
        "Run both texts first, and keep all their hidden states in two lists. `layers[k:]` are the layers after hidden "
        "state k.",
        "For hidden state k and token i: clone the target's hidden state k, write the source's vector over token i, "
        "run `layers[k:]` on the copy, take the mean over the tokens, subtract, take `norm()`.",
        "Two loops: `for k in range(len(layers) + 1)`, inside it `for i in range(target.shape[1])`. The patch is "
        "`state = targets[k].clone(); state[0, i] = sources[k][0, i]`.",
    ),
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
    return [
        Case("One number for each row of each head", (some,)),
        Case("One row alone gives one number", (some[0, 0],)),
        Case("Weights of 0 add nothing", (masked,)),
        Case("All weight on one token: 0 bits; two halves: 1 bit", (torch.tensor([[0.0, 1, 0], [0.5, 0, 0.5]]),)),
        Case("Even weights over n tokens: log2(n) bits", (torch.full((2, tokens), 1 / tokens),)),
        Case("Rows in four dimensions", (normal(rng, 2, 1, heads, tokens).softmax(-1),)),
        Case("As many heads as tokens", (normal(rng, 4, 4, 4).softmax(-1),)),
        Case("Small weights count, too", (torch.stack([small, small.flip(0)]),)),
    ]


def _entropy(w):
    return torch.special.entr(w).sum(-1) / math.log(2)


def _naive(w, log=torch.log2, dim=-1):
    return -(w * log(w)).sum(dim)


def _negated(w):
    return -_entropy(w)


ZERO_TIMES_INFINITY = (
    "A weight of 0 makes your result NaN: its logarithm is minus infinity, and 0 times infinity is not a number. "
    "Such weights must add nothing."
)
WITHOUT_WEIGHTS = "The logarithms are added up without their weights. Each is multiplied by its own weight first."
NATS = "These are nats, the unit of the natural logarithm `log`. Bits come from `log2`."

ENTROPY = Exercise(
    id="05-entropy",
    title="The entropy of a head",
    arguments=("weights",),
    cases=_entropy_cases,
    reference=_entropy,
    minutes=8,
    difficulty=2,
    points=2,
    mistakes=(
        Mistake(ZERO_TIMES_INFINITY, _naive),
        Mistake(NATS, lambda w: torch.special.entr(w).sum(-1)),
        Mistake(
            f"{NATS} And a weight of 0 makes your result NaN, since 0 times infinity is not a number.",
            lambda w: _naive(w, torch.log),
        ),
        Mistake("You use `log10`. Bits come from `log2`.", lambda w: torch.special.entr(w).sum(-1) / math.log(10)),
        Mistake(
            "You use `log10`, and a weight of 0 makes your result NaN. Bits come from `log2`; keep the logarithm "
            "finite.",
            lambda w: _naive(w, torch.log10),
        ),
        Mistake(
            "The sign is missing: logarithms of numbers below 1 are negative, and entropy is not. Put a minus "
            "before the sum.",
            _negated,
        ),
        Mistake(
            "The sign is missing, and a weight of 0 makes your result NaN. Put a minus before the sum, and keep the "
            "logarithm finite.",
            lambda w: -_naive(w),
        ),
        Mistake(
            "You add up over the columns. A row is one division of attention: `sum(dim=-1)`.",
            lambda w: torch.special.entr(w).sum(-2) / math.log(2),
        ),
        Mistake(
            "You add up over dimension 0. A row is one division of attention, along the *last* dimension: "
            "`sum(dim=-1)`.",
            lambda w: torch.special.entr(w).sum(0) / math.log(2),
        ),
        Mistake(
            "You add up everything into one number. Each row has its own entropy: `sum(dim=-1)`.",
            lambda w: _entropy(w).sum(),
        ),
        Mistake("You average the rows. Return one number for each row.", lambda w: _entropy(w).mean(-1)),
        Mistake("You average all rows into one number. Return one number for each row.", lambda w: _entropy(w).mean()),
        Mistake(
            "You take the mean over a row. Entropy is the sum.", lambda w: torch.special.entr(w).mean(-1) / math.log(2)
        ),
        Mistake(
            "You divide by the maximum, log2(n). Entropy in bits is asked for, without that.",
            lambda w: _entropy(w) / math.log2(w.shape[-1]),
        ),
        Mistake(
            "You return 2 to the power of the entropy, the perplexity. Return the entropy itself.",
            lambda w: 2 ** _entropy(w),
        ),
        *(
            Mistake(WITHOUT_WEIGHTS, lambda w, low=low: -w.clamp(min=low).log2().sum(-1))
            for low in (0, 1e-30, 1e-12, 1e-10, 1e-9)
        ),
        *(Mistake(WITHOUT_WEIGHTS, lambda w, low=low: -(w + low).log2().sum(-1)) for low in (1e-10, 1e-9)),
        Mistake(WITHOUT_WEIGHTS, lambda w: torch.where(w > 0, -w.log2(), 0.0).sum(-1)),
        *(
            Mistake(
                "What you add to the weights, or their bound, is too large and changes the result. 1e-30 is small "
                "enough.",
                imitate,
            )
            for low in (1e-3, 1e-4, 1e-5, 1e-6)
            for imitate in (
                lambda w, low=low: -(w * (w + low).log2()).sum(-1),
                lambda w, low=low: -((w + low) * (w + low).log2()).sum(-1),
                lambda w, low=low: -(w.clamp(min=low) * w.clamp(min=low).log2()).sum(-1),
            )
        ),
        Mistake(
            "The right numbers in the wrong shape: drop the last dimension (no `keepdim`).",
            lambda w: _entropy(w).unsqueeze(-1),
        ),
        Mistake(
            "For one row alone, return the number itself, without a dimension. You return a row that holds it.",
            lambda w: torch.atleast_1d(_entropy(w)),
        ),
    ),
    hints=(
        "For each weight p of a row: p times the logarithm (base 2) of p. Add up, and turn the sign.",
        "What is `0 * torch.tensor(0.).log2()`? Make the logarithm finite before you multiply: any finite number "
        "times 0 is 0.",
        "`-(weights * weights.clamp(min=1e-30).log2()).sum(dim=-1)`",
    ),
)

EXERCISES = [FIND_THE_BUG, ATTENTION_WEIGHTS, ENTROPY, PATCHING_MAP]
