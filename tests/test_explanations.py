"""What explains a wrong answer: a known mistake, two at once, a slip, an error in plain words."""

import math
import re

import numpy as np
import pytest
import torch

from course_utils import check
from course_utils.exercises.otherwise import Otherwise
from course_utils.exercises.raised import in_plain_words
from course_utils.exercises.slips import slip_between
from course_utils.pooling import mean_pool


def mean(numbers):
    total = sum(numbers)
    count = len(numbers)
    return total / count


def otherwise(*swaps):
    """A function that is `mean` after these replacements in its source: pairs (old, new)."""
    return Otherwise(mean, swaps)


NO_DIVISION = otherwise((" / count", ""))


def test_a_mistake_is_the_reference_with_something_replaced():
    assert (mean([1, 2, 6]), NO_DIVISION([1, 2, 6])) == (3, 9)
    assert {NO_DIVISION, otherwise((" / count", ""))} == {NO_DIVISION}, "equal, with the same hash"
    with pytest.raises(ValueError, match="'median' does not stand in mean"):
        otherwise(("median", "mean"))([1])


def test_two_mistakes_are_made_together():
    squares = otherwise(("sum(numbers)", "sum(n * n for n in numbers)"))
    one_less = otherwise(("len(numbers)", "len(numbers) - 1"))
    assert squares.both(one_less)([1, 2, 3]) == 7
    assert one_less.both(NO_DIVISION).function([1, 2, 3]) == 6, "an unused step is no conflict"


@pytest.mark.parametrize(
    "other",
    [otherwise(("total / count", "min(numbers)")), NO_DIVISION, Otherwise(slip_between, ())],
    ids=["the same line", "a part of it", "another function"],
)
def test_mistakes_that_replace_the_same_are_not_made_together(other):
    assert otherwise(("total / count", "max(numbers)")).both(other) is None


def padding_added_and_divided_by_all(token_embeddings, attention_mask):
    return token_embeddings.sum(dim=1) / attention_mask.sum()


def test_both_of_two_mistakes_are_told():
    report = check("04-mean-pool", padding_added_and_divided_by_all)
    assert report.mistakes == report.messages
    sum_includes_padding, divided_by_all = report.messages
    assert "sum includes padding" in sum_includes_padding
    assert "in the whole batch" in divided_by_all


def test_a_mistake_that_explains_most_results_is_told_alone():
    # of a batch of one text, zeros are returned; by themselves, zeros are no known mistake
    def padded_length_and_nothing_for_one(token_embeddings, attention_mask):
        total = (token_embeddings * attention_mask.unsqueeze(-1)).sum(dim=1)
        return total / token_embeddings.shape[1] if len(total) > 1 else 0 * total

    (mistake,) = check("04-mean-pool", padded_length_and_nothing_for_one).mistakes
    assert mistake.startswith("You divide by the padded length.")
    assert not check(
        "04-mean-pool", lambda token_embeddings, attention_mask: 0 * token_embeddings[:, 0]
    ).mistakes


@pytest.mark.parametrize(
    "exercise_id, answer, message",
    [
        (
            "04-mean-pool",
            lambda token_embeddings, attention_mask: (
                2 * mean_pool(token_embeddings, attention_mask)
            ),
            "You have the right result, times 2.",
        ),
        ("14-margin", lambda threshold, scores: threshold, "You return `threshold` as it is."),
        ("04-normalise", lambda vectors: vectors, "You return `vectors` as it is."),
    ],
)
def test_a_slip_is_told_and_no_coincidence_of_two_mistakes(exercise_id, answer, message):
    assert check(exercise_id, answer).messages[0] == message


TABLE = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, -6.0]])


@pytest.mark.parametrize(
    "got, right, sentence",
    [
        # tables of numbers
        (TABLE.T, TABLE, "the right result, transposed"),
        (TABLE.unsqueeze(1), TABLE, r"their shape is \(2, 1, 3\) and should be \(2, 3\)"),
        (TABLE / 4, TABLE, r"times 0\.25\."),
        ((-TABLE).tolist(), TABLE, "times -1"),
        ([0, 1, 2], [1, 2, 3], "minus 1"),
        (1 - TABLE, TABLE, "1 minus the right result"),
        (TABLE.abs(), TABLE, "without its signs"),
        (TABLE**2, TABLE, "squared"),
        # the order of items, and which there are
        (np.array([3, 1, 2]), np.array([2, 1, 3]), "in the reverse order"),
        (["b", "a"], ["a", "b"], "in the reverse order"),
        (["b", "c", "a"], ["a", "b", "c"], "in another order"),
        (["a"], ["a", "b"], "something is missing"),
        (["a", "b", "b"], ["a", "b"], "something besides"),
    ],
)
def test_a_slip_has_its_sentence(got, right, sentence):
    assert re.search(sentence, slip_between([(got, right)]))


@pytest.mark.parametrize(
    "results",  # pairs of what an answer returns and what is right
    [
        [(TABLE + torch.rand(2, 3), TABLE)],  # every entry is off by something else
        [(TABLE.numpy(), TABLE)],  # the kind is wrong, and not the numbers
        [(3.0, 1.5)],  # one number is always a multiple of another
        [("ba", "ab")],  # a text is no list of letters
        [([["a"], 1], [{}, 2])],  # items that have no order and no hash
        [(ValueError("no"), TABLE)],  # the answer raised an error
        [(TABLE, None)],  # nothing is right
        [([], [1])],  # nothing is returned
        [([], ["a"]), ([], ["b", "c"])],  # nothing is returned where words are right
        [(TABLE * math.nan, TABLE)],  # NaN is not the right result times NaN
        [(math.inf, 1.5), (math.inf, 0.3), (math.inf, 2.2)],  # nor infinity that plus infinity
        [(2 * TABLE, TABLE), (3 * TABLE, TABLE)],  # not one slip for all results
        [(True, True), (True, False)],  # truth values are no numbers
    ],
)
def test_what_is_no_slip_is_not_told_as_one(results):
    assert slip_between(results) == ""


@pytest.mark.parametrize(
    "factor, sentence",
    [
        (2, "You have the right result, times 2."),
        (math.log(2), "You have the right result, times 0.6931."),
        (-0.01, "You have the right result, times -0.01."),
        (0.1063, ""),  # nobody writes this number
        (745.12, ""),  # nor this, whose exponential is infinite
        (374210.5, ""),  # nor this: the exponential of 1 over it is nearly 1
    ],
)
def test_single_numbers_are_scaled_by_what_stands_in_code(factor, sentence):
    # one number is a multiple of any other, so there are several results
    assert slip_between([(factor * value, value) for value in (1.5, 0.3, 2.2)]) == sentence


# (what raises an error, a regular expression that its explanation contains)
@pytest.mark.parametrize("raising, words", [
    (lambda: torch.ones(2, 3) @ torch.ones(2, 3), "shapes do not line up"),
    (lambda: torch.ones(2, 3) * torch.ones(2), "shapes do not line up"),
    (lambda: np.ones((2, 3)) @ np.ones((2, 3)), "shapes do not line up"),
    (lambda: np.ones(2) + np.ones(3), "shapes do not line up"),
    (lambda: torch.ones(2).sum(dim=1), "no such dimension"),
    (lambda: torch.ones(3, dtype=torch.int64).mean(), "make.* decimals"),
    (lambda: 1 - torch.ones(2).bool(), "Booleans cannot be subtracted"),
    (lambda: torch.ones(2).bool() - torch.ones(2).bool(), "Booleans cannot be subtracted"),
    (lambda: -torch.ones(2).bool(), "nor have a minus"),
    (lambda: -np.ones(2, dtype=bool), "nor have a minus"),
    (lambda: torch.ones(2).masked_fill(torch.ones(2).long(), 0), "not 1 and 0"),
    (lambda: torch.ones(2).masked_select(torch.ones(2).long()), "not 1 and 0"),
    (lambda: torch.ones(2).sum(0, keepdim=1), "not 1 and 0"),
    (lambda: torch.equal(torch.ones(2), torch.ones(2))(3), "no function is called"),
    (lambda: torch.equal(torch.ones(2), torch.ones(2))[0], r"no `\[\.\.\.\]`"),
    (lambda: "a" + (1 == 1), "kinds do not go together"),
    (lambda: torch.cat([torch.ones(2, 3), torch.ones(2, 4)]), "shapes do not line up"),
    (lambda: torch.stack([torch.ones(2), torch.ones(3)]), "shapes do not line up"),
    (lambda: torch.ones(3)[torch.ones(2).bool()], "shapes do not line up"),
    (lambda: np.ones(3)[np.ones(2, dtype=bool)], "shapes do not line up"),
    (lambda: [1][float(1)], "index must be a whole number"),
    (lambda: np.ones(3)[1.5], "index must be a whole number"),
    (lambda: [1][1], "beyond the end"),
    (lambda: torch.ones(2)[2], "beyond the end"),
    (lambda: {}["a"], "no key `'a'`"),
    (lambda: [1].shape, r"A list has no `\.shape`"),
    (lambda: len(3), r"\A\Z"),  # no explanation: Python's own words are plain
    (lambda: missing_name, "`missing_name` has no value"),  # noqa: F821
    (lambda: 1 / 0, "divides by 0"),
    (lambda: max([]), "nothing to choose from"),
    (lambda: bool(np.ones(2) > 0), "Several truth values"),
    (lambda: torch.ones(2).item(), "one is needed"),
    (lambda: len("")(2), "no function is called"),
    (lambda: [*len("")], "no loop can go through it"),
    (lambda: {[]}, "use a tuple"),
    (lambda: None + 1, "Something is `None`"),
    (lambda: [1] + 1, "kinds do not go together"),
    (lambda: torch.tensor(["a"]), "numbers only, in lists of the same length"),
    (lambda: torch.tensor([[1], [2, 3]]), "numbers only, in lists of the same length"),
    (lambda: torch.tensor([None, 1]), "numbers only, in lists of the same length"),
    (lambda: np.array([[1], [2, 3]]), "numbers only, in lists of the same length"),
])  # fmt: skip
def test_usual_errors_are_told_in_plain_words(raising, words):
    with pytest.raises(Exception) as caught:
        raising()
    assert re.search(words, in_plain_words(caught.value), re.IGNORECASE)


def test_the_line_that_raised_is_shown():
    def answer(token_embeddings, attention_mask):
        return (token_embeddings * attention_mask).sum(dim=1)

    (message,) = check("04-mean-pool", answer).messages
    assert "in `return (token_embeddings * attention_mask).sum(dim=1)`" in message
    assert "do not line up" in message
