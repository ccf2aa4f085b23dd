"""Exercises of lesson 03, contextual vectors. See `model.py` on how an exercise is written."""

import numpy as np
import torch

from ..pooling import normalise
from .model import Case, completion, exercise, normal


def _word_cases(rng):
    hidden = rng.randint(5, 8)
    pieces = rng.sample([1, 3, 1, 2, 1, 4], 6)
    word_ids = [None, *(word for word, count in enumerate(pieces) for _ in range(count)), None]
    states = normal(rng, len(word_ids), hidden) + 3
    labels = {
        1: "A word of one piece gets that piece's vector",
        2: "A word of several pieces gets the mean of their vectors",
    }
    return [
        *(Case(labels[min(count, 2)], states, word_ids, word) for word, count in enumerate(pieces)),
        Case(
            "Special tokens and padding belong to no word",
            torch.cat([states, 50 + normal(rng, 3, hidden)]),
            word_ids + [None] * 3,
            pieces.index(4),
        ),
        Case("Words are counted from 0", states[:5], [None, 0, 0, 1, None], 0),
        Case(
            "As many tokens as dimensions",
            normal(rng, hidden, hidden),
            [None, 0, 1, 1, 2, 2, 2, None][:hidden],
            1,
        ),
    ]


def _word_vector(hidden_states, word_ids, index):
    positions = [place for place, word in enumerate(word_ids) if word == index]
    pieces = hidden_states[positions]
    return pieces.mean(dim=0)


WORD_VECTOR = exercise("03-word-vector", _word_cases, _word_vector)(
    token_position=[
        {"pieces.mean(dim=0)": f"hidden_states[{place}]"} for place in ("index", "index + 1")
    ],
    one_piece=[{"[positions]": f"[positions[{part}]]"} for part in (":1", "-1:")],
    sum={".mean(": ".sum("},
    inside_vectors={"dim=0": "dim=1"},
    other_tokens=[
        {"hidden_states[positions]": "hidden_states"},
        *({"word == index": words} for words in ("word is not None", "word not in (None, index)")),
    ],
    list_compared=[
        {"[positions]": "[word_ids == index]"},
        {"[positions]": "[torch.tensor(word_ids) == index]"},
    ],
    word_zero_lost=[
        {"word == index": "word and word == index"},
        {"word == index": "word and word == index", "pieces.mean(dim=0)": "torch.stack([*pieces])"},
    ],
    last_piece_lost=[
        {"index]": "index][:-1]"},
        {"index]": "index][:-1]", "pieces.mean(dim=0)": "sum(pieces) / len(pieces)"},
    ],
    none_as_zero={"word == index": "(word or 0) == index"},
    other_word=[{"word == index": f"word == index {shift}"} for shift in ("- 1", "+ 1")],
    positions_shifted=[
        {"hidden_states[positions]": "hidden_states[1:][positions]"},
        {"enumerate(word_ids)": "enumerate(word for word in word_ids if word is not None)"},
    ],
)


# Rotate the rows at random into a space with more dimensions, which leaves their cosines
# unchanged.
def _turned(rng, rows):
    few = rows.shape[1]
    return rows @ torch.linalg.qr(normal(rng, few + 4, few + 4)).Q[:few]


# `count` pairs of rows: the rows of a pair are close (cosine about 0.95), other rows are further
# apart.
def _pairs(rng, count, common=0.0):
    pair = torch.eye(count).repeat_interleave(2, dim=0)
    side = torch.tensor([[0.16], [-0.16]]).repeat(count, 1)
    rows = torch.cat([pair, side * pair, torch.full((2 * count, 1), common)], dim=1)
    return _turned(rng, rows + 0.003 * normal(rng, *rows.shape))


# Rows at the given angles in one plane, each moved by `most` degrees at most; the plane is
# rotated at random.
def _in_a_plane(rng, *degrees, most=2):
    angles = torch.tensor([angle + rng.uniform(-most, most) for angle in degrees]).deg2rad()
    return _turned(rng, torch.stack([angles.cos(), angles.sin()], dim=1))


def _nearest_cases(rng):
    # two labels with the same letters, first and last ones included, and a third that begins with
    # the first
    one, two = rng.sample(
        rng.choice([("diary", "dairy"), ("casual", "causal"), ("martial", "marital")]), 2
    )
    three = one + " 2"
    mixed, senses = _pairs(rng, 5, common=0.6), [one, one, two, two, one, two, two, one, one, one]
    order = rng.sample(range(10), 10)
    # along axes, so that cosines are exactly 0 or 1, or −1
    axes = torch.eye(7)[rng.sample(range(7), 3)].repeat_interleave(2, dim=0)
    opposite = torch.tensor([[3.0], [-2.0]]) * torch.eye(5)[rng.randrange(5)]
    return [
        Case(
            "Six of ten rows have a nearest row of their own sense",
            mixed[order],
            [senses[i] for i in order],
        ),
        Case(
            "Similarity is the cosine: the lengths of the vectors do not matter",
            _pairs(rng, 4, common=0.6)
            * torch.tensor([[0.1], [10], [1], [1], [0.1], [10], [0.1], [10]]),
            [f"sense {i // 2}" for i in range(8)],
        ),
        Case(
            "A row is never its own neighbour, even when all cosines are negative",
            _in_a_plane(rng, 0, 100, 245),
            [one, two, one],
        ),
        Case(
            "Only the nearest row counts, not the average of a sense",
            _in_a_plane(rng, 0, 20, 180, 190, 70, 75, 80),
            [one] * 4 + [two] * 3,
        ),
        Case("Three senses", mixed, [one, one, two, three, one, two, two, two, one, three]),
        Case(
            "A row that occurs twice is nearest to its copy",
            _in_a_plane(rng, 0, 10, 100, 110)[[0, 0, 1, 2, 2, 3]],
            [one, one, two, two, two, one],
        ),
        Case(
            "Two equal rows of different senses are each other's nearest",
            axes * torch.tensor([[2.0], [2.0], [3.0], [3.0], [5.0], [5.0]]),
            ["river", "money", "money", "river", "bird", "bird"],
        ),
        Case(
            "The most similar row counts, even if it leads by very little",
            _in_a_plane(rng, 0, 30, -29.998, 180, 209.998, 150, most=0),
            [one, two, one, two, two, one],
        ),
        Case(
            "Opposite rows are the least similar ones",
            _in_a_plane(rng, 0, 60, 175),
            [one, one, two],
        ),
        Case(
            "Of negative cosines, the one closest to 0 is the largest",
            _in_a_plane(rng, 245, 100, 0),
            [one, two, two],
        ),
        Case("The only other row is the nearest, even at the cosine −1", opposite, [one, two]),
        Case("Two rows of one sense give 1", _pairs(rng, 1), [one, one]),
    ]


def _nearest_sense(vectors, senses):
    unit = normalise(vectors)
    cosines = unit @ unit.T
    itself = torch.eye(len(senses), dtype=torch.bool)
    others = cosines.masked_fill(itself, -torch.inf)
    nearest = others.argmax(dim=1)
    right = [senses[place] == senses[i] for i, place in enumerate(nearest)]
    return sum(right) / len(right)


NEAREST_SENSE = exercise("03-nearest-sense", _nearest_cases, _nearest_sense, points=2)(
    finds_itself={"others.argmax": "cosines.argmax"},
    by_value=[
        {"masked_fill(itself": "masked_fill(cosines > 0.9999"},
        *(
            {"others.argmax(dim=1)": f"cosines.{second}"}
            for second in (
                "topk(2).indices[:, 1]",
                "argsort(dim=1)[:, -2]",
                "argsort(dim=1, descending=True)[:, 1]",
            )
        ),
    ],
    not_low_enough=[
        {"-torch.inf": "0.0"},
        {"-torch.inf": "-1.0"},
        {"senses[place] ==": "(senses[place] if others[i].max() > 0 else None) =="},
        {"senses[place] ==": "senses[place if others[i].max() > 0 else 0] =="},
    ],
    without_sign={"unit @ unit.T": "(unit @ unit.T).abs()"},
    not_normalised=[
        *(
            {"normalise(vectors)": other}
            for other in (
                "vectors",
                "vectors / vectors.norm(dim=1)",
                "vectors / vectors.norm(dim=0)",
            )
        ),
        {"unit @ unit.T": "-torch.cdist(vectors, vectors)"},
    ],
    least_similar=[
        {"-torch.inf": "torch.inf", "argmax": "argmin"},
        {"others.argmax(dim=1)": "cosines.argsort(dim=1)[:, 1]"},
    ],
    other_divisor=[{" / len(right)": ""}, {"/ len(right)": "/ (len(right) - 1)"}],
)


def _patch_cases(rng):
    tokens, hidden = rng.sample(range(3, 7), 2)
    last, inside = tokens - 1, rng.randrange(1, tokens - 1)

    def drawn(count, layer, position=inside):
        mixes = normal(rng, count, tokens, tokens).softmax(dim=-1)
        weights = 1.5 * normal(rng, count, hidden, hidden) / hidden**0.5
        return (
            normal(rng, tokens, hidden),
            list(zip(mixes, weights)),
            layer,
            position,
            normal(rng, hidden),
        )

    return [
        Case("Hidden state 2 of 4 layers", *drawn(4, 2)),
        Case("Hidden state 1 is the output of the first layer", *drawn(2, 1)),
        Case("Hidden state 0 is the embedding output", *drawn(2, 0)),
        Case("The last hidden state", *drawn(2, 2)),
        Case("The hidden state below the last of 5 layers", *drawn(5, 4)),
        Case("The first position", *drawn(2, 1, position=0)),
        Case("The last position", *drawn(2, 1, position=last)),
        Case("One layer, patched below it", *drawn(1, 0)),
        Case("One layer, patched above it", *drawn(1, 1)),
    ]


def _patched(embeddings, layers, layer, position, vector):
    state, states = embeddings, []
    for number in range(len(layers) + 1):
        if number > 0:
            mix, weight = layers[number - 1]
            state = torch.tanh(mix @ state @ weight)
        if number == layer:
            state = state.clone()
            state[position] = vector
        states.append(state)
    return torch.stack(states)


PATCH = exercise("03-patch", _patch_cases, _patched, points=2)(
    patched_at_the_end={
        "number == layer": "False",
        "return": "states[layer] = states[layer].clone()\n    states[layer][position] = vector\n    return",
    },
    stored_before_patch={
        "if number == layer": "states.append(state)\n        if number == layer",
        "vector\n        states.append(state)": "vector",
    },
    one_off=[
        {"== layer": f"== layer {shift}"} for shift in ("+ 1", "- 1", "+ 1 or number == layer == 0")
    ],
    never_patched=[
        {"== layer": f"== layer and {only}"}
        for only in ("layer > 0", "layer < len(layers)", "0 < layer < len(layers)")
    ],
    other_states_too=[{"== layer": f"{sign} layer"} for sign in (">=", "<=", "is not")],
    all_tokens={"state[position] =": "state[:] ="},
    embeddings_missing={"stack(states)": "stack(states[1:])"},
    no_tanh={"torch.tanh(": "("},
    layer_changed=[
        {"mix @ state": "state"},
        {"mix @ state": "mix.T @ state"},
        {"@ weight": "@ weight.T"},
    ],
    not_chained=[{"layers[number - 1]": "layers[0]"}, {"mix @ state": "mix @ embeddings"}],
)


def _all_states_cases(rng):
    layers, batch, tokens, hidden = rng.sample(range(2, 8), 4)
    states = tuple(normal(rng, batch, tokens, hidden) for _ in range(layers + 1))
    return [
        Case("A token inside a sentence", states, rng.randrange(batch), rng.randrange(1, tokens)),
        Case("The first token of the first sentence", states, 0, 0),
        Case("The second token of the first sentence", states, 0, 1),
        Case("The last token of the last sentence", states, batch - 1, tokens - 1),
        Case("The row and the position have the same number", states, 1, 1),
    ]


def _token_in_all_states(hidden_states, row, position):
    return torch.stack([state[row, position] for state in hidden_states])


ALL_STATES = completion("03-token-in-all-states", _all_states_cases, _token_in_all_states)(
    row_and_position_swapped={"[row, position]": "[position, row]"},
    row_forgotten=[
        {"[row, ": "[0, "},
        {"[row, ": "[:, "},
        {"[row, position]": "[:, position].mean(dim=0)"},
    ],
    position_forgotten=[{", position]": other} for other in (", 0]", "]", "].mean(dim=0)")],
    position_off=[{", position]": f", position {shift}]"} for shift in ("+ 1", "- 1")],
    embeddings_skipped={"in hidden_states": "in hidden_states[1:]"},
    last_state_lost={"in hidden_states": "in hidden_states[:-1]"},
)


def _gap_cases(rng):
    one, two, three = rng.sample(["river", "money", "bird", "machine", "season"], 3)
    senses = rng.sample([one, one, two, two, one, two], 6)
    return [
        Case(label, normalise(rows) @ normalise(rows).T, senses)
        for label, rows, senses in (
            ("Three rows of each sense", normal(rng, 6, 4), senses),
            ("Unequal numbers of rows", normal(rng, 5, 3), [one, one, two, one, two]),
            ("Three senses", normal(rng, 7, 4), [one, two, three, two, one, three, three]),
            (
                "Rows of a sense are alike, and the diagonal does not count",
                _pairs(rng, 2),
                [one, one, two, two],
            ),
            ("Negative cosines", _in_a_plane(rng, 0, 130, 240), [one, two, two]),
        )
    ]


def _gap_from_table(cosines, senses):
    same = torch.tensor([[one == other for other in senses] for one in senses])
    itself = torch.eye(len(senses), dtype=torch.bool)
    within = same & ~itself
    between = ~same
    return (cosines[within].mean() - cosines[between].mean()).item()


GAP_FROM_TABLE = completion("03-gap-from-table", _gap_cases, _gap_from_table)(
    diagonal_in_mean=[{"same & ~itself": "same"}, {"between = ~same": "between = ~within"}],
    pairs_mixed=[
        {"between = ~same": "between = ~itself"},
        {"same & ~itself": "~itself"},
        {"cosines[between]": "cosines"},
        {"cosines[within]": "cosines"},
    ],
    turned_round={"return (": "return -("},
    whole_table_counted={
        f"cosines[{pairs}]": f"(cosines * {pairs})" for pairs in ("within", "between")
    },
    sums={".mean()": ".sum()"},
)


def _overtaken_cases(rng):
    def columns(words, lead):
        second = np.array([rng.randint(4, 10) for _ in range(words)]) / 16
        return (
            second + np.array(lead) / 16,
            second,
            np.array([rng.choices(range(words), k=words) for _ in range(50)]),
        )

    # 4 or 8 words, and numbers in sixteenths: means are exact, so that no lead of 0 is a lead by
    # rounding
    return [
        Case(
            "The first is ahead, mostly by a few words", *columns(8, [5, -1, 4, -2, 0, -1, -2, -1])
        ),
        Case("The second is ahead", *columns(4, [-1, -2, 1, -1])),
        Case("Two equal columns", *columns(7, [0] * 7)),
        Case("One word decides", *columns(8, [-6, 1, 1, 1, 1, 1, 1, 1])),
    ]


def _overtaken(first, second, draws):
    leads = first[draws].mean(axis=1) - second[draws].mean(axis=1)
    return (leads < 0).mean()


OVERTAKEN = completion("03-overtaken", _overtaken_cases, _overtaken)(
    subtracted_the_other_way={"leads < 0": "leads > 0"},
    draws_left_out={"[draws].mean(axis=1)": ""},
    not_one_value_for_each_draw=[{"axis=1": "axis=0"}, {"axis=1": ""}, {".mean(axis=1)": ""}],
    one_not_drawn=[
        {f"{column}[draws].mean(axis=1)": f"{column}.mean()"} for column in ("first", "second")
    ],
)
