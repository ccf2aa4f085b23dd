"""Exercises of lesson 10, fine-tuning a classifier.

See `model.py` on cases and mistakes' swaps.
"""

import re  # noqa: F401  in source texts of mistakes

import numpy as np  # noqa: F401  in source texts of mistakes
import torch

from . import best_epoch
from .comparing import TOLERANCE, number_difference
from .model import Case, completion, exercise, padded


def _leak_cases(rng):
    def sentence(number):
        return f"{rng.choice(['a fine', 'A dull', 'one  more'])} film , number {number} ."

    train = [sentence(number) for number in range(6)]
    clean = [sentence(number) for number in range(20, 25)]
    year = rng.randint(1950, 2020)
    # É is not among A to Z: an answer that changes only those to small letters is found out
    loud, wide, accent = sentence(10), sentence(11), f"amélie , a film of {year} ."
    # some in capitals or with other spaces: an answer must make both parts alike
    written_variously = [*train, loud.upper(), f" {wide} ".replace(" ", "  "), accent.upper()]
    leaks = [train[2].upper(), f" {train[4]} ".replace(" ", "  "), train[0], loud, wide, accent]
    return [
        Case(
            "The same text, in capitals (É, too) or with other spaces",
            written_variously,
            rng.sample(clean + leaks, len(clean + leaks)),
        ),
        Case("A text that appears twice in the test part", train, [train[1], clean[0], train[1]]),
        Case(
            "A text that appears twice in the training part",
            [train[0], train[1], train[0]],
            [clean[0], train[0]],
        ),
        Case(
            "A word more, or a word less",
            [f"{train[0]} and more", "good"],
            [train[0], "film", "good good"],
        ),
        Case("Nothing to train on", [], clean),
        Case("Nothing to test", train, []),
        *_writing_cases(train, clean),
    ]


# Texts that differ in white space only are the same; with another word or another sign, they are
# not.
def _writing_cases(train, clean):
    return [
        Case(
            "Two or three spaces, and spaces at the ends",
            ["a fine film", " one more ", "so  dull", "a   year"],
            ["A  fine film", " a fine film ", "a fine   film", "one more", "so dull", "a year"],
        ),
        Case(
            "Tabs and line ends (`\\n` and `\\r\\n`)",
            [*train[:3], "\ta\tfine year\t", "\nso dull\n", "one\r\nmore\r\n", "a bad\nyear"],
            [
                train[1].replace(" ", "\t") + "\t",
                train[2].replace(" ", "\n"),
                train[0] + "\n",
                *("a fine year", "so dull", "one more", "a bad year"),
            ],
        ),
        Case("An empty text, in both parts", [train[0], ""], ["", clean[0]]),
        Case(
            "Punctuation counts",
            ["fine .", "Good!", "well-made", "'cold'", "not good , bad", "its own"],
            ["fine", "good", "good.", "well made", "cold", "not good bad", "it's own"],
        ),
        Case(
            "Each word counts, with its letters and its place",
            [
                "not good bad",
                "now here",
                "a cliché",
                "naïve",
                "films of 1990",
                "the cat",
                60 * "so " + "a",  # only the end differs
            ],
            [
                "bad not good",
                "nowhere",
                "a cliche",
                "naîve",
                "film of 1990",
                "films of 1991",
                "cat",
                60 * "so ",
            ],
        ),
    ]


def _leaks(train, test):
    def key(text):
        text = text.lower()
        return " ".join(text.split())

    seen = {key(text) for text in train}
    return [text for text in test if key(text) in seen]


# Whether two lists hold the same texts in any order: answers that make a list of a set have another
# order in each run.
def _alike_texts(one, other):
    return type(one) is type(other) is list and sorted(one) == sorted(other)


LEAKS = exercise("10-leaks", _leak_cases, _leaks, alike=_alike_texts, points=2)(
    as_written=[
        {"text = text.lower()": "return text"},
        lambda train, test: list(set(train) & set(test)),
    ],
    capitals_left=[
        {"text = text.lower()": lowered}
        for lowered in ("pass", 'text = re.sub("[A-Z]", lambda capital: capital[0].lower(), text)')
    ],
    white_space=[
        {'" ".join(text.split())': form}
        for form in (
            "text",
            "text.strip()",
            'text.replace("  ", " ").strip()',
            're.sub(" +", " ", text).strip()',
            're.sub("[ \\t]+", " ", text).strip()',
            'text.replace("\\t", " ").replace("\\n", " ").strip()',
            're.sub("\\\\s+", " ", text)',
        )
    ],
    one_part_only=[{"key(text) in seen": "text in seen"}, {"{key(text)": "{text"}],
    # texts are compared as sets of words, or a text may be a part of another
    not_whole_texts=[
        {'" ".join(': "frozenset("},
        {"key(text) in seen": "any(key(text) in other for other in seen)"},
    ],
    all_space_removed={'" ".join': '"".join'},
    punctuation_removed=[
        {"text.split()": 're.findall(r"\\w+", text)'},
        {"text.split()": 're.findall("[a-z0-9]+", text)'},
        {"text.split()": 're.sub(r"[^\\w\\s]", "", text).split()'},
    ],
    changed_texts={"[text for": "[key(text) for"},
    train_returned={
        "text for text in test if key(text) in seen": (
            "text for text in train if key(text) in map(key, test)"
        )
    },
    listed_once={"in test if": "in dict.fromkeys(test) if"},
    listed_for_each_in_train={
        "if key(text) in seen": "for other in train if key(text) == key(other)"
    },
    not_in_train={"in seen": "not in seen"},
)


def _schedule_cases(rng):
    steps = rng.randint(40, 90)
    warmup, peak = rng.randint(5, 9), rng.choice([2.0, 5.0, 10.0])
    middle = rng.randint(warmup + 5, steps - 5)
    # not halfway: there, a curve may meet the line
    early = rng.choice([step for step in range(1, warmup) if 2 * step != warmup])
    # 5e-6 to 3e-5, as encoders need it, and not round: an answer that rounds the rate is found out
    rate_in_the_middle = (rng.randint(50, 300) + 0.33) * 1e-7
    # from this peak, the rate falls to that
    small_peak = rate_in_the_middle * steps / (steps - middle)
    return [
        Case("The first step: nothing yet", 0, steps, warmup, peak),
        Case("Within the warm-up", early, steps, warmup, peak),
        Case("The end of the warm-up: the peak", warmup, steps, warmup, peak),
        Case("On the way down", middle, steps, warmup, peak),
        Case("The last step", steps - 1, steps, warmup, peak),
        Case("At the end", steps, steps, warmup, peak),
        Case("Long after the last step: still 0", steps + rng.randint(3, 9), steps, warmup, peak),
        Case("No warm-up: the peak at once", 0, steps, 0, peak),
        Case("No warm-up: on the way down", middle, steps, 0, small_peak),
        Case("A warm-up of one step", 0, steps, 1, peak),
        Case("A warm-up of one step", 1, steps, 1, peak),
    ]


def _rate(step, steps, warmup, peak):
    left = max(0, steps - step)
    share = step / warmup if step < warmup else left / (steps - warmup)
    return peak * share


# What is wrong with a rate, or None. It may be off by a share of the peak, which may be small.
def _rate_problem(outcome, step, steps, warmup, peak):
    return number_difference(outcome, _rate(step, steps, warmup, peak), TOLERANCE * peak)


SCHEDULE = exercise(
    "10-schedule",
    _schedule_cases,
    _rate,
    judge=lambda args, outcome: _rate_problem(outcome, *args),
    points=2,
)(
    below_zero={"max(0, steps - step)": "steps - step"},
    no_warmup={"if step < warmup": "if False", "/ (steps - warmup)": "/ steps"},
    no_fall={"left / (steps - warmup)": "1"},
    divided_by_steps=[
        {"/ (steps - warmup)": "/ steps"},
        {"left / (steps - warmup)": "1 - (step - warmup) / steps"},
        {"left / (steps - warmup)": "max(0, 1 - (step - warmup) / steps)"},
        {"left / (steps - warmup)": "1 - (step - warmup) / steps if left else 0"},
    ],
    steps_done=[
        {"left /": "(step - warmup) /"},
        {"left / (steps - warmup)": "min(1, (step - warmup) / (steps - warmup))"},
    ],
    zero_too_early={
        "steps - step)": "steps - 1 - step)",
        "(steps - warmup)": "(steps - 1 - warmup)",
    },
    # a warm-up of 0 steps becomes one of 1 step, whose first rate is 0
    zero_without_warmup=[
        {"step < warmup": "step <= warmup", "/ warmup": "/ max(1, warmup)"},
        {"left =": "warmup = max(1, warmup)\n    left ="},
    ],
    # the words of the error differ between integers and floats
    divided_by_zero=[
        {"step < warmup": "step <= warmup"},
        {"step < warmup": "step <= warmup", "step / warmup": "float(step) / warmup"},
    ],
    first_step_above_zero=[
        {"step / warmup": "(step + 1) / warmup"},
        {"step / warmup": "(step + 1) / (warmup + 1)"},
        {"left =": "step = step + 1\n    left ="},
    ],
    rounded=[{"peak * share": f"round(peak * share, {digits})"} for digits in (6, 5, 4, 3, 2)],
    not_straight=[
        {"step / warmup": "step // warmup"},
        {"left /": "left //"},
        {"step / warmup": "(step / warmup) ** 2"},
        {"left / (steps - warmup)": "(left / (steps - warmup)) ** 2"},
        # a cosine, and the square root of 1 over the step
        {"left / (steps - warmup)": "(1 - np.cos(np.pi * left / (steps - warmup))) / 2"},
        {"left / (steps - warmup)": "(max(1, warmup) / max(1, step)) ** 0.5"},
    ],
)

DIAGNOSE = best_epoch.DIAGNOSE  # here, since exercises are in the order of their definitions


def _group_cases(rng):
    nouns = "door lamp boat train piano river oven letter garden window clock coat".split()
    # eight different sentences
    a, b, c, d, e, f, g, h = (
        f"The {noun} is {rng.choice(['old', 'new', 'lost'])}." for noun in rng.sample(nouns, 8)
    )
    many = [f"Sentence {number}." for number in range(rng.randint(30, 40))]
    # each sentence with the next one, shuffled; a pair that belongs to none of them comes between
    chain = rng.sample([*zip(many, many[1:])], len(many) - 1)
    chain.insert(rng.randint(3, 9), (a, b))
    return [
        Case("No sentence is in two pairs", [(a, b), (c, d), (e, f)]),
        Case("A sentence that stands first in two pairs", [(a, b), (c, d), (a, e)]),
        Case("A sentence that stands second in two pairs", [(a, b), (c, d), (e, b)]),
        Case(
            "A sentence that stands first in one pair and second in another",
            [(a, b), (c, d), (d, e), (f, a)],
        ),
        Case("A chain of pairs", [(d, e), (a, b), (g, f), (c, b), (f, e)]),
        Case("A pair that joins two groups", [(a, b), (c, d), (e, f), (g, h), (f, a)]),
        Case(
            "A later pair joins two groups: no number is left out",
            [(a, b), (c, d), (a, d), (e, f), (g, h)],
        ),
        Case("A long chain, in any order", chain),
        Case("The same pair twice, and once in the other order", [(a, b), (c, d), (a, b), (d, c)]),
        Case("A pair of the same sentence", [(a, a), (b, c), (d, a), (e, e), (c, d)]),
        Case("No pairs", []),
        Case(
            "Sentences are compared as they are written",
            [(a, b), (c, a.upper()), (d, b.replace(" ", "  ")), (e, a.rstrip(".")), (f, " " + b)],
        ),
        Case("An empty sentence, in two pairs", [(a, b), (c, ""), (d, e), ("", f)]),
    ]


# The group of each pair, as a number counted from 0 in the order in which groups appear. Pairs that
# share a sentence, directly or by way of other pairs, are one group.
#
# Mistakes replace texts of the body, among them `group_of, numbers, new_group =` and
# `group_of | dict`: keep these, though each could be written in another way.
def _groups(pairs):
    # group_of: sentence -> number of its group; numbers: of each pair, the number of its group;
    # new_group: the lowest number that no group has had yet
    group_of, numbers, new_group = {}, [], 0
    for pair in pairs:
        joined = [group_of[sentence] for sentence in pair if sentence in group_of]
        group = min(joined, default=new_group)
        new_group = max(new_group, group + 1)
        group_of = group_of | dict.fromkeys(pair, group)
        # the groups that the pair joins become one
        group_of |= {sentence: group for sentence, old in group_of.items() if old in joined}
        numbers.append(group)
    # Later pairs may have joined a pair's group to another: read the numbers again. Those of the
    # loop are what mistakes that leave this out return.
    numbers = [group_of[first] for first, _ in pairs]
    # counted again from 0, without gaps
    order = list(dict.fromkeys(numbers))
    return [order.index(group) for group in numbers]


# The swap of a mistake that groups other pairs: `changed` is a comprehension, without its brackets,
# that makes them of `pairs`. They are changed before the first line of `_groups`.
def _pairs_as(changed):
    return {
        "group_of, numbers, new_group =": f"pairs = [{changed}]\n    group_of, numbers, new_group ="
    }


# The line that reads each pair's number again once all groups are joined. Without it a pair keeps
# the number that its group had when the pair came.
_AT_END = "numbers = [group_of[first] for first, _ in pairs]"

SPLIT_PAIRS = exercise("10-split-pairs", _group_cases, _groups, points=3)(
    one_side_only=[
        _pairs_as("(first, first) for first, _ in pairs"),
        _pairs_as("(second, second) for _, second in pairs"),
    ],
    # a sentence that stands first is another than the same one that stands second
    same_side_only=_pairs_as("((0, first), (1, second)) for first, second in pairs"),
    # A pair that joins two groups changes the number of neither. It is in the group with the lowest
    # number, or in that of its first sentence that has one; its number is read again at the end, or
    # stays as it was when the pair came.
    not_joined=[
        {" if old in joined": " if False"},
        {" if old in joined": " if False", _AT_END: "pass"},
        {
            " if old in joined": " if False",
            "min(joined, default=new_group)": "joined[0] if joined else new_group",
        },
        {
            " if old in joined": " if False",
            "min(joined, default=new_group)": "joined[0] if joined else new_group",
            _AT_END: "pass",
        },
    ],
    # a pair is in the group of the first pair with which it shares a sentence
    chain_not_followed={
        _AT_END: (
            "numbers = [next(place for place, other in enumerate(pairs) if {*pair} & {*other})"
            " for pair in pairs]"
        )
    },
    # of all pairs before, only the last is remembered
    previous_only={"group_of | dict": "dict", _AT_END: "pass"},
    # a whole pair stands for both of its sentences, with or without their order
    equal_pairs=[
        _pairs_as("(pair, pair) for pair in pairs"),
        _pairs_as("[frozenset(pair)] * 2 for pair in pairs"),
    ],
    # a new group has the next number, or the place of its first pair
    numbers_left_out=[
        {"order.index(group)": "group"},
        {"order.index(group)": "group", "default=new_group": "default=len(numbers)"},
    ],
    # groups are numbered from the last pair, or in the order of the alphabet
    numbered_otherwise=[
        {"list(dict.fromkeys(numbers))": other}
        for other in (
            "list(dict.fromkeys(numbers[::-1]))",
            "list(dict.fromkeys(numbers[::-1]))[::-1]",
            "sorted(set(numbers), key=lambda group: "
            "min(text for text in group_of if group_of[text] == group))",
        )
    ],
    sentences_normalised=[
        _pairs_as(f"tuple({form} for text in pair) for pair in pairs")
        for form in (
            "text.lower()",
            "text.strip()",
            "text.strip().lower()",
            '" ".join(text.split())',
        )
    ],
    places_returned={
        "[order.index(group) for group in numbers]": (
            "[[place for place, number in enumerate(numbers) if number == group]"
            " for group in order]"
        )
    },
    # an empty sentence never equals another one
    empty_skipped=_pairs_as("tuple(text or object() for text in pair) for pair in pairs"),
)


def _epoch_cases(rng):
    return [
        Case(
            label,
            *best_epoch.small_training(
                rng, rng.randint(2, 4), rng.randint(2, 3), size, count, rate=0.5
            ),
        )
        for label, count, size in (
            ("One batch", 1, 5),
            ("Two batches", 2, 4),
            ("Five batches", 5, 3),
            ("Batches of one example", 4, 1),
        )
    ]


def _train_epoch(make, batches):
    layer, stepper = make()
    losses = []
    for inputs, labels in batches:
        loss = torch.nn.functional.cross_entropy(layer(inputs), labels)
        stepper.zero_grad()
        loss.backward()
        stepper.step()
        losses.append(loss.item())
    return losses


TRAIN = completion("10-train", _epoch_cases, _train_epoch)(
    never_cleared={"stepper.zero_grad()": "pass"},
    no_gradients={"loss.backward()": "loss.backward()\n        stepper.zero_grad()"},
    stepped_twice=[
        {"stepper.zero_grad()": "stepper.step()"},
        {"stepper.zero_grad()": "stepper.step()\n        stepper.zero_grad()"},
    ],
    backward_twice={"loss.backward()": "loss.backward(retain_graph=True)\n        loss.backward()"},
    loss_scaled=[
        {"loss.backward()": f"loss = loss {scaled}\n        loss.backward()"}
        for scaled in ("/ len(inputs)", "/ len(batches)", "* len(inputs)")
    ],
)


def _report_cases(rng):
    for label, settings in (
        ("Learning rates", (0.001, 0.01, 0.1)),
        ("Epochs", tuple(range(1, 9))),
        ("One setting", ("only",)),
        ("Names", ("head", "last layer", "everything")),
    ):
        scores = rng.sample(range(500, 800), len(settings) - 1)
        # the best is neither the first nor the last, where there are three settings or more
        scores.insert(len(settings) // 2, rng.randint(800, 900))
        yield Case(
            label,
            {name: score / 1000 for name, score in zip(settings, scores)},
            # in another order; with other scores, whose best may be of another setting
            {name: rng.randint(500, 900) / 1000 for name in settings[1:] + settings[:1]},
        )


def _score_to_report(validation_scores, test_scores):
    scores = validation_scores
    setting = max(scores, key=scores.get)
    return test_scores[setting]


REPORT = completion("10-report", _report_cases, _score_to_report)(
    chosen_on_test={"scores = validation_scores": "scores = test_scores"},
    score_as_key={"max(scores, key=scores.get)": "max(scores.values())"},
    validation_reported={"return test_scores": "return validation_scores"},
    worst_setting={"max(": "min("},
    not_by_score=[
        {"max(scores, key=scores.get)": key}
        for key in (
            "max(scores)",
            "list(scores)[0]",
            "list(scores)[-1]",
            "[*test_scores][0]",
            "[*test_scores][-1]",
        )
    ],
    by_position=[
        {"test_scores[setting]": "list(test_scores.values())[list(scores).index(setting)]"},
        {"max(scores, key=scores.get)": "list(scores.values()).index(max(scores.values()))"},
    ],
    setting_returned={"return test_scores[setting]": "return setting"},
)


def _last_token_cases(rng):
    return [
        Case(label, *padded(rng, lengths, width, hidden=rng.randint(2, 5)))
        for label, lengths, width in (
            ("Rows of different lengths", [5, 2, 4], 6),
            ("A batch without padding", [3, 3], 3),
            ("One row, one real token", [1], 4),
            ("The longest row is not the first", [rng.randint(1, 3), 7, rng.randint(4, 6)], 7),
        )
    ]


def _last_real_token(states, attention_mask):
    lengths = (attention_mask == 1).sum(dim=1)
    return states[torch.arange(len(states)), lengths - 1]


LAST_TOKEN = completion("10-last-token", _last_token_cases, _last_real_token)(
    last_position={"(attention_mask == 1).sum(dim=1)": "attention_mask.shape[1]"},
    one_too_far={"lengths - 1": "lengths"},
    one_too_early={"lengths - 1": "lengths - 2"},
    first_real_token={"lengths - 1": "attention_mask.argmax(dim=1)"},
    first_padding={"lengths - 1": "attention_mask.argmin(dim=1)"},
    one_for_all=[{"sum(dim=1)": f"sum(dim=1){chosen}"} for chosen in (".max()", ".min()", "[0]")],
    padding_counted={"== 1": "== 0"},
    dimension_kept={"dim=1": "dim=1, keepdim=True"},
)
