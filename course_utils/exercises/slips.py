"""Slips that are possible in any exercise: a result that is transposed, scaled, shifted, reversed
or incomplete.

A slip is explained in one sentence if it explains all results of an answer; see `slip_between`.
"""

import numbers

import numpy as np

from .._support.inspection import is_array
from .comparing import TOLERANCE, safely

# of a list; longer ones are not compared, for each item is counted among all others
MOST_ITEMS = 1000
# what an answer returns, as words behind "You have", and how it follows from the right result
CHANGES = {
    "1 minus the right result": lambda right: 1 - right,
    "the right result, without its signs": np.abs,
    "the right result, squared": np.square,
    "the right result, under a square root": np.sqrt,
    "the right result, as an exponential": np.exp,
    "the right result, as a logarithm": np.log,
}


def slip_between(pairs: list[tuple]) -> str:
    """The change that turns each right result into what was returned, as a sentence.

    pairs: [(returned, right result)], not all equal. Returns "" if no change explains all, if an
    error is among them, or if nothing but empty lists was returned.
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


# A number, an array, or lists of numbers as a float64 array; None for anything else.
def _numbers(value):
    if not (is_array(value) or isinstance(value, (numbers.Real, list, tuple))):
        return None
    value = value.detach().cpu() if hasattr(value, "detach") else value
    array = safely(np.asarray, value, otherwise=np.array(None))
    # "bifu": booleans, integers, decimals and unsigned integers
    return array.astype(np.float64) if array.dtype.kind in "bifu" else None


# Whether two arrays have one shape and, up to rounding, the same numbers. The tolerance is relative
# to the largest right number, or to 1 if all are smaller.
def _close(got, result):
    allowed = TOLERANCE * np.abs(result[np.isfinite(result)]).max(initial=1.0)
    return got.shape == result.shape and np.allclose(
        got, result, rtol=0, atol=allowed, equal_nan=True
    )


# A transposed result, or the right numbers with too many or too few dimensions of size 1.
def _slip_of_shape(arrays):
    if all(result.ndim == 2 and _close(got, result.T) for got, result in arrays):
        return "You have the right result, transposed: its rows and columns are swapped."
    shapes = [(got.shape, result.shape) for got, result in arrays if got.shape != result.shape]
    if shapes and all(_close(got.squeeze(), result.squeeze()) for got, result in arrays):
        got, result = shapes[0]
        return (
            f"You have the numbers of the right result, but their shape is {got} and should be "
            f"{result}."
        )
    return ""


# The same change of all numbers, or the reverse order of rows.
def _slip_of_numbers(arrays):
    if any(got.shape != result.shape or not np.isfinite(result).all() for got, result in arrays):
        return ""

    def always(change):
        return all(_close(got, change(result)) for got, result in arrays)

    returned = np.concatenate([np.ravel(got) for got, _ in arrays])
    expected = np.concatenate([np.ravel(result) for _, result in arrays])
    # one or two numbers prove nothing; equal ones have no slip
    if returned.size < 3 or always(np.copy):
        return ""
    # Between two single numbers there is always a factor and a shift, so it must be one that
    # somebody would write. Medians, because the quotient of two tiny numbers may be far off. NaN or
    # infinity is no factor and no shift, although it turns any number into itself.
    single = all(result.ndim == 0 for _, result in arrays)
    with np.errstate(all="ignore"):
        if expected.any() and returned.any() and np.isfinite(returned).all():
            factor = np.median(returned[expected != 0] / expected[expected != 0])
            if always(lambda right: factor * right) and (not single or _written(factor)):
                return f"You have the right result, times {factor:.4g}."
        shift = np.median(returned - expected)
        if (
            np.isfinite(shift)
            and always(lambda right: right + shift)
            and (not single or _written(shift))
        ):
            return (
                f"You have the right result, {'plus' if shift > 0 else 'minus'} {abs(shift):.4g}."
            )
        for words, change in CHANGES.items():
            if always(change):
                return f"You have {words}."
    if all(got.ndim and _close(got, result[::-1]) for got, result in arrays):
        return "You have the right result, in the reverse order."
    return ""


# Whether a number may come from somebody's code: it has at most two significant digits, or is 1
# over such a number, or the logarithm of such a number, or 1 over that.
def _written(number):
    # Logarithms of such numbers, and 1 over these, lie within the bounds. Beyond them `exp` gives
    # about 0 or 1, or infinity, whatever the number is.
    powers = np.exp([number, 1 / number]) if 0.01 < abs(number) < 100 else ()
    return any(
        np.isclose(form, float(f"{form:.2g}"), rtol=TOLERANCE, atol=0)
        for form in (number, 1 / number, *powers)
    )


# Lists of words and the like: in another order, or with items missing or besides.
def _slip_of_lists(lists):
    if all(got == result[::-1] for got, result in lists):
        return "You have the right result, in the reverse order."
    some_missing = any(_more_of(result, got) for got, result in lists)
    some_more = any(_more_of(got, result) for got, result in lists)
    if (some_missing and some_more) or not any(got for got, _ in lists):
        return ""
    if some_missing:
        return "All that you return is right, but something is missing."
    if some_more:
        return "All that is expected is in your list, and something besides."
    return "Your list holds the same as the right result, in another order."


# Whether a list has any item more often than another list. Not all items have a hash.
def _more_of(items, others):
    return any(items.count(item) > others.count(item) for item in items)
