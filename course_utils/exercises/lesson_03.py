"""Exercises of lesson 03, contextual vectors. See `model.py` on cases and mistakes' swaps."""

import numpy as np
import torch

from ..pooling import normalise
from .model import Case, completion, exercise, normal


def _word_cases(rng):
    hidden = rng.randint(5, 8)
    pieces = rng.sample([1, 3, 1, 2, 1, 4], 6)  # how many each word has, in random order
    # None is for [CLS] and [SEP]
    word_ids = [None, *np.repeat(range(len(pieces)), pieces).tolist(), None]
    # the offset keeps means away from 0, where a sum would be close to them
    states = normal(rng, len(word_ids), hidden) + 3
    return [
        *(
            Case(
                "A word of one piece gets that piece's vector"
                if count == 1
                else "A word of several pieces gets the mean of their vectors",
                states,
                word_ids,
                word,
            )
            for word, count in enumerate(pieces)
        ),
        Case(
            "Special tokens and padding belong to no word",
            # three more tokens, whose large numbers spoil any mean
            torch.cat([states, 50 + normal(rng, 3, hidden)]),
            word_ids + [None] * 3,
            pieces.index(4),  # the word of four pieces
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
    sum={"pieces.mean(dim=0)": "pieces.sum(dim=0)"},
    inside_vectors={"dim=0": "dim=1"},
    other_tokens=[
        {"hidden_states[positions]": "hidden_states"},
        {"word == index": "word is not None"},
        {"word == index": "word not in (None, index)"},
    ],
    list_compared=[
        {"[positions]": "[word_ids == index]"},
        {"[positions]": "[torch.tensor(word_ids) == index]"},
    ],
    # without positions, the mean is NaN; the second form raises an error instead
    word_zero_lost=[
        {"word == index": "word and word == index"},
        {"word == index": "word and word == index", "pieces.mean(dim=0)": "torch.stack([*pieces])"},
    ],
    # `]` closes the list of positions, and `[:-1]` drops its last one. For a word of one piece the
    # mean is NaN, or the second form divides by 0.
    last_piece_lost=[
        {"word == index]": "word == index][:-1]"},
        {
            "word == index]": "word == index][:-1]",
            "pieces.mean(dim=0)": "sum(pieces) / len(pieces)",
        },
    ],
    none_as_zero={"word == index": "(word or 0) == index"},
    other_word=[{"word == index": f"word == index {shift}"} for shift in ("- 1", "+ 1")],
    positions_shifted=[
        {"hidden_states[positions]": "hidden_states[1:][positions]"},
        {"enumerate(word_ids)": "enumerate(word for word in word_ids if word is not None)"},
    ],
)


def _rotated(rng, rows):
    """The rows, rotated at random into a space of four dimensions more.

    Cosines and lengths stay the same, but no axis is special.
    """
    width = rows.shape[1]
    random_axes = torch.linalg.qr(normal(rng, width + 4, width + 4)).Q  # at right angles
    return rows @ random_axes[:width]


def _close_pairs(rng, count, common=0.0):
    """`count` pairs of rows, (2 * count, 2 * count + 5), those of a pair one after the other.

    common: a number that all rows share; 0 gives cosines of about 0.95 in a pair and about 0
    otherwise, and a larger number raises all of them.
    """
    axes = torch.eye(count).repeat_interleave(2, dim=0)  # each pair has its own
    # the rows of a pair lie on two sides of its axis: (1 - 0.16**2) / (1 + 0.16**2) is about 0.95
    sides = torch.tensor([[0.16], [-0.16]]).repeat(count, 1) * axes
    rows = torch.cat([axes, sides, torch.full((2 * count, 1), common)], dim=1)
    return _rotated(rng, rows + 0.003 * normal(rng, *rows.shape))  # and a little noise


def _in_a_plane(rng, *degrees, jitter=2):
    """Rows at these angles, (angles, 6), in a plane that is rotated at random.

    Each angle is drawn anew, up to `jitter` degrees off.
    """
    angles = torch.tensor([angle + rng.uniform(-jitter, jitter) for angle in degrees]).deg2rad()
    return _rotated(rng, torch.stack([angles.cos(), angles.sin()], dim=1))


def _nearest_cases(rng):
    # two labels with the same letters, first and last ones included
    first, second = rng.sample(
        rng.choice([("diary", "dairy"), ("casual", "causal"), ("martial", "marital")]), 2
    )
    third = first + " 2"  # begins with the first
    mixed = _close_pairs(rng, 5, common=0.6)
    # rows 0 and 1 of `mixed` are a pair, 2 and 3, ...: in three of five pairs, both have one sense
    senses = [first, first, second, second, first, second, second, first, first, first]
    order = rng.sample(range(10), 10)  # pairs need not stand together
    # rows along axes have cosines of exactly 0, 1 or −1
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
            _close_pairs(rng, 4, common=0.6)
            * torch.tensor([[0.1], [10], [1], [1], [0.1], [10], [0.1], [10]]),
            [f"sense {i // 2}" for i in range(8)],
        ),
        Case(
            "A row is never its own neighbour, even when all cosines are negative",
            # over 90° apart, so 0 in the place of a row's cosine with itself would win
            _in_a_plane(rng, 0, 100, 245),
            [first, second, first],
        ),
        Case(
            "Only the nearest row counts, not the average of a sense",
            # nearest to their own sense by row, but not by mean: half of the first sense is on the
            # other side, so on average the rows at 0, 20 and 180 are closer to the second
            _in_a_plane(rng, 0, 20, 180, 190, 70, 75, 80),
            [first] * 4 + [second] * 3,
        ),
        Case(
            "Three senses",
            mixed,
            [first, first, second, third, first, second, second, second, first, third],
        ),
        Case(
            "A row that occurs twice is nearest to its copy",
            # 0 and 100 occur twice; nearest to them, apart from the copy, is a row of another sense
            _in_a_plane(rng, 0, 10, 100, 110)[[0, 0, 1, 2, 2, 3]],
            [first, first, second, second, second, first],
        ),
        Case(
            "Two equal rows of different senses are each other's nearest",
            axes * torch.tensor([[2.0], [2.0], [3.0], [3.0], [5.0], [5.0]]),
            ["river", "money", "money", "river", "bird", "bird"],
        ),
        *_largest_cosine_cases(rng, first, second),
        Case("The only other row is the nearest, even at the cosine −1", opposite, [first, second]),
        Case("Two rows of one sense give 1", _close_pairs(rng, 1), [first, first]),
    ]


# Cases in which the result differs if a row is compared with one whose cosine is not the largest.
def _largest_cosine_cases(rng, first, second):
    return [
        Case(
            "The most similar row counts, even if it leads by very little",
            # 0 is nearer to −29.998, of its own sense, than to 30; so is 180 to 209.998 than to 150
            _in_a_plane(rng, 0, 30, -29.998, 180, 209.998, 150, jitter=0),
            [first, second, first, second, second, first],
        ),
        Case(
            "Opposite rows are the least similar ones",
            # the cosine of 0 and 175 is nearly −1: without its sign it would be the largest
            _in_a_plane(rng, 0, 60, 175),
            [first, first, second],
        ),
        Case(
            "Of negative cosines, the one closest to 0 is the largest",
            # over 90° apart; by the cosines furthest from 0, no row would find its own sense
            _in_a_plane(rng, 245, 100, 0),
            [first, second, second],
        ),
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
        {"itself, -torch.inf": "cosines > 0.9999, -torch.inf"},
        {"others.argmax(dim=1)": "cosines.topk(2).indices[:, 1]"},
        {"others.argmax(dim=1)": "cosines.argsort(dim=1)[:, -2]"},
        {"others.argmax(dim=1)": "cosines.argsort(dim=1, descending=True)[:, 1]"},
    ],
    not_low_enough=[
        {"-torch.inf": "0.0"},
        {"-torch.inf": "-1.0"},
        {"senses[place] ==": "(senses[place] if others[i].max() > 0 else None) =="},
        {"senses[place] ==": "senses[place if others[i].max() > 0 else 0] =="},
    ],
    without_sign={"unit @ unit.T": "(unit @ unit.T).abs()"},
    not_normalised=[
        {"normalise(vectors)": "vectors"},
        {"normalise(vectors)": "vectors / vectors.norm(dim=1)"},
        {"normalise(vectors)": "vectors / vectors.norm(dim=0)"},
        {"unit @ unit.T": "-torch.cdist(vectors, vectors)"},
    ],
    least_similar=[
        {"-torch.inf": "torch.inf", "argmax": "argmin"},
        {"others.argmax(dim=1)": "cosines.argsort(dim=1)[:, 1]"},
    ],
    other_divisor=[{" / len(right)": ""}, {"/ len(right)": "/ (len(right) - 1)"}],
)


def _patch_cases(rng):
    tokens, hidden = rng.sample(range(3, 7), 2)  # never equal, so that exchanged axes show
    inside = rng.randrange(1, tokens - 1)
    # count: of layers. layer, position: which hidden state is patched, and where.
    for label, count, layer, position in (
        ("Hidden state 2 of 4 layers", 4, 2, inside),
        ("Hidden state 1 is the output of the first layer", 2, 1, inside),
        ("Hidden state 0 is the embedding output", 2, 0, inside),
        ("The last hidden state", 2, 2, inside),
        ("The hidden state below the last of 5 layers", 5, 4, inside),
        ("The first position", 2, 1, 0),
        ("The last position", 2, 1, tokens - 1),
        ("One layer, patched below it", 1, 0, inside),
        ("One layer, patched above it", 1, 1, inside),
    ):
        mixes = normal(rng, count, tokens, tokens).softmax(dim=-1)
        # so large that `tanh` changes what it is given
        weights = 1.5 * normal(rng, count, hidden, hidden) / hidden**0.5
        yield Case(
            label,
            normal(rng, tokens, hidden),
            list(zip(mixes, weights)),
            layer,
            position,
            normal(rng, hidden),
        )


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
        "return": (
            "states[layer] = states[layer].clone()\n"
            "    states[layer][position] = vector\n"
            "    return"
        ),
    },
    stored_before_patch={
        "if number == layer": "before = state\n        if number == layer",
        "states.append(state)": "states.append(before)",
    },
    # the last form patches the embeddings, too, where they are the hidden state to patch
    one_off=[
        {"== layer": f"== layer {shift}"} for shift in ("+ 1", "- 1", "+ 1 or number == layer == 0")
    ],
    never_patched=[
        {"== layer": f"== layer and {only}"}
        for only in ("layer > 0", "layer < len(layers)", "0 < layer < len(layers)")
    ],
    other_states_too=[{"== layer": f"{sign} layer"} for sign in (">=", "<=", "!=")],
    all_tokens={"state[position] =": "state[:] ="},
    embeddings_missing={"stack(states)": "stack(states[1:])"},
    no_tanh={"torch.tanh(mix @ state @ weight)": "mix @ state @ weight"},
    layer_changed=[
        {"mix @ state": "state"},
        {"mix @ state": "mix.T @ state"},
        {"@ weight": "@ weight.T"},
    ],
    not_chained=[{"layers[number - 1]": "layers[0]"}, {"mix @ state": "mix @ embeddings"}],
)


def _all_states_cases(rng):
    layers, batch, tokens, hidden = rng.sample(range(2, 8), 4)  # never equal: exchanged axes show
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
        {"[row, position]": "[0, position]"},
        {"[row, position]": "[:, position]"},
        {"[row, position]": "[:, position].mean(dim=0)"},
    ],
    position_forgotten=[{", position]": other} for other in (", 0]", "]", "].mean(dim=0)")],
    position_off=[{", position]": f", position {shift}]"} for shift in ("+ 1", "- 1")],
    embeddings_skipped={"in hidden_states": "in hidden_states[1:]"},
    last_state_lost={"in hidden_states": "in hidden_states[:-1]"},
)


def _gap_cases(rng):
    first, second, third = rng.sample(["river", "money", "bird", "machine", "season"], 3)
    return [
        Case(label, normalise(rows) @ normalise(rows).T, senses)
        for label, senses, rows in (
            (
                "Three rows of each sense",
                rng.sample([first, first, second, second, first, second], 6),
                normal(rng, 6, 4),
            ),
            ("Unequal numbers of rows", [first, first, second, first, second], normal(rng, 5, 3)),
            (
                "Three senses",
                [first, second, third, second, first, third, third],
                normal(rng, 7, 4),
            ),
            (
                "Rows of a sense are alike, and the diagonal does not count",
                [first, first, second, second],
                _close_pairs(rng, 2),
            ),
            # all over 90° apart
            ("Negative cosines", [first, second, second], _in_a_plane(rng, 0, 130, 240)),
        )
    ]


def _gap_from_table(cosines, senses):
    same = torch.tensor([[row == column for column in senses] for row in senses])
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
    turned_round={"return ": "return -"},
    whole_table_counted={
        f"cosines[{pairs}]": f"(cosines * {pairs})" for pairs in ("within", "between")
    },
    sums={".mean()": ".sum()"},
)


def _overtaken_cases(rng):
    # Leads of the first column over the second, one for each word, in sixteenths. Over 4 or 8 words
    # their means are exact: no tie becomes a lead by rounding. Two equal columns have equal means.
    for label, leads in (
        ("The first is ahead, mostly by a few words", [5, -1, 4, -2, 0, -1, -2, -1]),
        ("The second is ahead", [-1, -2, 1, -1]),
        ("Two equal columns", [0] * 7),
        ("One word decides", [-6, 1, 1, 1, 1, 1, 1, 1]),
    ):
        second = np.array([rng.randint(4, 10) for _ in leads]) / 16
        yield Case(
            label,
            second + np.array(leads) / 16,
            second,
            # 50 draws of as many words as there are, with repetition
            np.array([rng.choices(range(len(leads)), k=len(leads)) for _ in range(50)]),
        )


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
