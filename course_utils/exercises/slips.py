"""Slips that are possible in any exercise: a result that is transposed, scaled, shifted, reversed or
incomplete.

A slip is explained in one sentence if it explains all results of an answer; see `slip_between`.
"""

import numbers

import numpy as np

from .._support.inspection import is_array
from .comparing import TOLERANCE, safely

MOST_ITEMS = 1000  # of a list; longer ones are not compared
CHANGES = {
    "1 minus the right result": lambda right: 1 - right,
    "the right result, without its signs": np.abs,
    "the right result, squared": np.square,
    "the right result, under a square root": np.sqrt,
    "the right result, as an exponential": np.exp,
    "the right result, as a logarithm": np.log,
}


def slip_between(pairs: list[tuple]) -> str:
    """The change that turns each right result into what was returned, as a sentence, or "".

    pairs: [(returned, right result)], not all equal.
    """
    values = [value for pair in pairs for value in pair]
    if any(isinstance(value, BaseException) for value in values):
        return ""
    arrays = [(_numbers(got), _numbers(result)) for got, result in pairs]
    if all(got is not None and result is not None for got, result in arrays):
        return _slip_of_shape(arrays) or _slip_of_numbers(arrays)
    if all(isinstance(value, (list, tuple)) and len(value) <= MOST_ITEMS for value in values):
        return _slip_of_lists([(list(got), list(result)) for got, result in pairs])
    return ""


# A number, an array, or lists of numbers as float64, or None.
def _numbers(value):
    if not (is_array(value) or isinstance(value, (numbers.Real, list, tuple))):
        return None
    value = value.detach().cpu() if hasattr(value, "detach") else value
    array = safely(np.asarray, value, otherwise=np.array(None))
    return array.astype(np.float64) if array.dtype.kind in "bifu" else None


def _close(got, result):
    near = TOLERANCE * np.abs(result[np.isfinite(result)]).max(initial=1.0)
    same_shape = got.shape == result.shape
    return same_shape and np.allclose(got, result, rtol=0, atol=near, equal_nan=True)


def _slip_of_shape(arrays):
    if all(result.ndim == 2 and _close(got, result.T) for got, result in arrays):
        return "You have the right result, transposed: its rows and columns are swapped."
    shapes = [(got.shape, result.shape) for got, result in arrays if got.shape != result.shape]
    if shapes and all(_close(got.squeeze(), result.squeeze()) for got, result in arrays):
        got, result = shapes[0]
        return f"You have the numbers of the right result, but their shape is {got} and should be {result}."
    return ""


def _slip_of_numbers(arrays):
    if any(got.shape != result.shape or not np.isfinite(result).all() for got, result in arrays):
        return ""

    def always(change):
        return all(_close(got, change(result)) for got, result in arrays)

    returned = np.concatenate([np.ravel(got) for got, _ in arrays])
    expected = np.concatenate([np.ravel(result) for _, result in arrays])
    if returned.size < 3 or always(np.copy):  # few numbers prove nothing; equal ones have no slip
        return ""
    # between two single numbers there is always a factor and a shift
    single = all(result.ndim == 0 for _, result in arrays)
    with np.errstate(all="ignore"):
        if expected.any() and returned.any():
            factor = np.median(returned[expected != 0] / expected[expected != 0])
            if always(lambda right: factor * right) and (not single or _written(factor)):
                return f"You have the right result, times {factor:.4g}."
        shift = np.median(returned - expected)
        if always(lambda right: right + shift) and (not single or _written(shift)):
            return (
                f"You have the right result, {'plus' if shift > 0 else 'minus'} {abs(shift):.4g}."
            )
        for words, change in CHANGES.items():
            if always(change):
                return f"You have {words}."
    if all(got.ndim and _close(got, result[::-1]) for got, result in arrays):
        return "You have the right result, in the reverse order."
    return ""


# Whether a number may stand in somebody's code: it has two digits, or is 1 over such a number, or
# the logarithm of one of these.
def _written(number):
    return any(
        np.isclose(form, float(f"{form:.2g}"), rtol=TOLERANCE, atol=0)
        for form in (number, 1 / number, np.exp(number), np.exp(1 / number))
    )


# Lists of words and the like: in another order, or with some too few or too many.
def _slip_of_lists(lists):
    if all(got == result[::-1] for got, result in lists):
        return "You have the right result, in the reverse order."
    some_missing = any(_more_of(result, got) for got, result in lists)
    some_more = any(_more_of(got, result) for got, result in lists)
    if some_missing and some_more:
        return ""
    if some_missing:
        return "All that you return is right, but something is missing."
    if some_more:
        return "All that is expected is in your list, and something besides."
    return "Your list holds the same as the right result, in another order."


# Whether a list has any item more often than another list. Not all items have a hash.
def _more_of(items, others):
    return any(items.count(item) > others.count(item) for item in items)
