"""How two results differ, in words that a learner reads."""

import copy
import math
import numbers
import re
import reprlib
from typing import Any

import numpy as np

from .._support.inspection import is_array

# Of a decimal; relative to numbers above 1, or to the largest number of an array above 1. It leaves
# room for the rounding of float32 (about 1e-7) in any order of adding.
TOLERANCE = 1e-5
ROUNDING = 1e-9  # of a decimal where a whole number is expected
DIGITS = 4  # significant ones, of a decimal in an answer; inputs have those that NumPy prints
# What came, and what is right. Each message that names what is right has " where " before it:
# `judging._discreet` cuts it there, for a page that others may read.
RETURNED = "your function returned {} where {} is expected"
MOST_SHOWN = 120  # characters of a value in a message
# numbers, texts and so on in what an answer returns; correct results are far smaller
MOST_RETURNED = 1_000_000


def safely(function: Any, *args: Any, otherwise: Any) -> Any:
    """What a function returns, or `otherwise` if it raises: objects of an answer may do so when
    they are inspected.
    """
    try:
        return function(*args)
    except Exception:
        return otherwise


def too_many(outcome: Any) -> bool:
    """Whether an answer returned more than MOST_RETURNED things.

    Copies nothing; of arrays it reads the shape only.
    """
    count, left = 0, [outcome]
    while left and count <= MOST_RETURNED:
        value = left.pop()
        if is_array(value):
            count += math.prod(value.shape)
        elif type(value) in (list, tuple, set, frozenset, dict):
            count += len(value)
            if count <= MOST_RETURNED:
                left += [*value, *value.values()] if type(value) is dict else value
    return count > MOST_RETURNED


def copied(value: Any) -> Any:
    """As `copy.deepcopy`, but in a tenth of the time.

    An object that is in two places becomes two objects.
    """
    kind = type(value)
    if kind in (str, int, float, bool):
        return value
    if kind in (list, tuple):
        return kind([copied(item) for item in value])
    if kind is dict:
        return {key: copied(item) for key, item in value.items()}
    # known by its name, since importing torch is slow
    if kind.__name__ == "Tensor" and value.is_contiguous() and not value.requires_grad:
        return value.clone()
    return copy.deepcopy(value)


def unchanged(after: Any, before: Any) -> bool:
    """Whether an argument is as it was, to the last digit."""
    return safely(_is_same, after, before, otherwise=False)


def _is_same(after: Any, before: Any) -> bool:
    if isinstance(before, (list, tuple)):
        same_length = isinstance(after, (list, tuple)) and len(after) == len(before)
        return same_length and all(map(_is_same, after, before))
    if isinstance(before, dict):
        same_keys = after.keys() == before.keys()
        return same_keys and all(_is_same(after[key], before[key]) for key in before)
    if type(after) is not type(before):
        return False
    if is_array(before):
        same_form = after.shape == before.shape and after.dtype == before.dtype
        # texts and objects have no NaN; torch's dtypes have no `kind`
        as_array = np.asarray if getattr(before.dtype, "kind", "f") in "SUO" else as_float64
        return same_form and np.array_equal(
            as_array(after), as_array(before), equal_nan=as_array is as_float64
        )
    both_nan = after != after and before != before  # NaN does not equal itself
    return bool(after == before or both_nan)


def wording(error: BaseException) -> str:
    """An error's text without its numbers, which depend on the order of multiplication."""
    return re.sub(r"\d+", "#", text_of(error))


def text_of(error: BaseException) -> str:
    """An error's text, or none if it has none."""
    return safely(str, error, otherwise="")


def kind_of(value: Any) -> str:
    """What a value is, with its article: "a list", "a Tensor of shape (2, 3)"."""
    if value is None:
        return "`None`"
    name = type(value).__name__ or "thing"
    # one says "an n-d array", but "a uint8"
    article = "an" if name[0] in "aeioAEIO" or name.startswith("nd") else "a"
    if is_array(value):
        name += (
            f" of shape {tuple(value.shape)}"
            if value.shape
            else " without dimensions, a single number"
        )
    return f"{article} {name}"


# What counts as the same type.
#
# NumPy's numbers are numbers; lists, tuples and, unless `strict`, arrays are lists.
def _family(value: Any, strict: bool) -> str:
    if is_array(value) and not value.shape:
        value = value.item()
    if is_array(value):
        return type(value).__name__ if strict else "list"
    for family, types in (("list", (list, tuple)), ("dict", dict), ("number", numbers.Real)):
        if isinstance(value, types):
            return family
    return type(value).__name__


def difference(got: Any, right: Any, strict: bool = False) -> str | None:
    """None if `got` equals `right`, else a few words on the first difference.

    Decimals may be off by TOLERANCE, and by ROUNDING where a whole number is expected; integers,
    words and truth values are equal or not. A list, a tuple, a NumPy array and a tensor of the same
    numbers are equal, whatever the dtype; if `strict`, arrays must be of the same type and dtype.
    """
    return safely(
        _difference,
        got,
        right,
        strict,
        otherwise=f"your function returned something that cannot be compared with {kind_of(right)}",
    )


def number_difference(got: Any, right: float, allowed: float) -> str | None:
    """As `difference`, for a number that may be off by at most `allowed`."""
    if safely(lambda: np.ndim(got) == 0 and abs(got - right) <= allowed, otherwise=False):
        return None
    return difference(got, right) or f"your result is off by {abs(got - right):.3g}"


def weights_difference(got: Any, right: Any, mask: Any, most: float) -> str | None:
    """As `difference`; in addition, no weight where the mask is 0 may be larger than `most`.

    mask: of the shape of the weights, or of their last dimensions.
    """
    problem = difference(got, right)
    if problem:
        return problem
    array = got if is_array(got) else np.array(_nested(got))
    is_padding = as_float64(mask) == 0
    largest = (np.abs(as_float64(array)) * is_padding).max(initial=0.0)
    if largest <= most:
        return None
    return f"your function gives padding the weight {largest:.3g} where exactly 0 is expected"


def _difference(got: Any, right: Any, strict: bool) -> str | None:
    if type(got) is type(right) and type(right) in (str, bool, int, float) and got == right:
        return None  # a quick way for most items of long lists
    if isinstance(got, BaseException):
        # of a long text, such as a dump of a value, the beginning is enough
        return f"your function raised {type(got).__name__}: {text_of(got)[:200] or '(no text)'}"
    family = _family(right, strict)
    if _family(got, strict) != family:
        return RETURNED.format(kind_of(got), kind_of(right))
    if is_array(right) and tuple(right.shape):
        return _array_difference(got, right, strict)
    if family == "list":
        return _list_difference(_listed(got), right, strict)
    if family == "number":
        return _number_difference(_listed(got), _listed(right))
    if family == "dict":
        return _dict_difference(got, right, strict)
    return None if got == right else RETURNED.format(short(got), short(right))


# An array as nested lists, or as a number; anything else as it is.
def _listed(value: Any) -> Any:
    return value.tolist() if is_array(value) else value


def _number_difference(got: Any, right: Any) -> str | None:
    if got == right or (got != got and right != right):  # NaN does not equal itself
        return None
    got = got if isinstance(got, (int, float)) else float(got)
    allowed = TOLERANCE * max(1.0, abs(right))
    if isinstance(right, int):  # a whole number of an answer must be the same
        allowed = ROUNDING if isinstance(got, float) else 0
    if math.isfinite(right) and abs(got - right) <= allowed:
        return None
    return RETURNED.format(*distinct_texts(got, right))


# The sentence that shows both as a whole, or None if one is too long for that or both are shown
# alike.
def _whole(got: Any, right: Any) -> str | None:
    shown_got, shown_right = short(got), short(right)
    if max(len(shown_got), len(shown_right)) < MOST_SHOWN and shown_got != shown_right:
        return RETURNED.format(shown_got, shown_right)
    return None


def _dict_difference(got: Any, right: dict, strict: bool) -> str | None:
    if got.keys() != right.keys():
        return RETURNED.format(short(got), short(right))
    for key in right:
        problem = _difference(got[key], right[key], strict)
        if problem:
            return _whole(got, right) or f"under {short(key)}: {problem}"
    return None


def _list_difference(got: Any, right: Any, strict: bool) -> str | None:
    # one item after the other: those behind the first that differs are not compared
    problems = (_difference(*pair, strict) for pair in zip(got, right))
    differing = ((position, problem) for position, problem in enumerate(problems) if problem)
    position, problem = next(differing, (0, None))
    if len(got) == len(right) and not problem:
        return None
    whole = _whole([_listed(item) for item in got], [_listed(item) for item in right])
    if whole:
        return whole
    if len(got) != len(right) or problem is None:  # if there is no problem, the lengths differ
        return f"your function returned {len(got)} items where {len(right)} are expected"
    # a list in a list, which differs in an item: "item 2 of what ..." becomes
    # "item 2 of item 0 of what ..."
    if problem.startswith("item "):
        return problem.replace(" of what", f" of item {position} of what", 1)
    # the sentence begins with the item, and not with "your function returned"
    return (
        f"item {position} of what your function returned: "
        f"{problem.removeprefix('your function returned ')}"
    )


def _array_difference(got: Any, right: Any, strict: bool) -> str | None:
    shape = tuple(right.shape)
    if not is_array(got):
        try:
            got = np.array(_nested(got))
        except ValueError:
            return RETURNED.format(kind_of(got), f"the shape {shape}")
    if tuple(got.shape) != shape:
        return f"your result has the shape {tuple(got.shape)} where {shape} is expected"
    if strict and got.dtype != right.dtype:
        return f"your result has the dtype {got.dtype} where {right.dtype} is expected"
    returned, wanted = as_float64(got), as_float64(right)
    if np.array_equal(returned, wanted):  # most often; it is much quicker than what follows
        return None
    if (np.isnan(returned) != np.isnan(wanted)).any():
        return f"your result holds {'NaN' if np.isnan(returned).any() else 'no NaN'}"
    largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=1.0)
    allowed = TOLERANCE * largest if "float" in str(right.dtype) else ROUNDING
    if np.isclose(returned, wanted, rtol=0, atol=allowed, equal_nan=True).all():
        return None

    if "bool" in str(right.dtype):
        wrong_entries = np.argwhere(returned != wanted).tolist()
        first = wrong_entries[0]
        return (
            f"{len(wrong_entries)} of {wanted.size} entries are wrong; the first is at "
            f"{first}, where {bool(wanted[tuple(first)])} is expected"
        )
    # where both are infinite, their difference is 0 and not NaN
    errors = np.subtract(returned, wanted, where=returned != wanted, out=np.zeros_like(returned))
    return f"your result is off by up to {np.nanmax(np.abs(errors)):.3g}"


# A list of numbers, lists or arrays as nested lists.
def _nested(value: Any) -> Any:
    return [_nested(item) for item in value] if isinstance(value, (list, tuple)) else _listed(value)


def as_float64(array: Any) -> np.ndarray:
    """Numbers, as an array of float64. Raises TypeError or ValueError."""
    # NumPy has no bfloat16, so a tensor becomes float64 before it is an array
    array = array.detach().cpu().double() if hasattr(array, "detach") else array
    return np.asarray(array, dtype=np.float64)


# Shows the first 40 items of containers; decimals are rounded, whole numbers exact.
class _Brief(reprlib.Repr):
    def __init__(self, most: int, digits: int):
        super().__init__()
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = 40
        self.maxstring = self.maxother = self.maxlong = most
        self.digits = digits

    def repr_float(self, value, level):
        return repr(_rounded(float(value), self.digits))

    repr_float64 = repr_float32 = repr_float  # NumPy's


def short(value: Any, most: int = MOST_SHOWN, digits: int = DIGITS) -> str:
    """`repr` with rounded decimals, cut to at most `most` characters and never slow to compute."""
    text = _Brief(most, digits).repr(value)
    return text if len(text) <= most else text[: most - 3] + "..."


# A decimal with so many significant digits. A whole number stays, but for floats from 2**53 on,
# which are whole whatever they stand for.
def _rounded(value: Any, digits: int) -> Any:
    whole = isinstance(value, int) or (float(value).is_integer() and abs(value) < 2**53)
    return value if whole else float(f"{value:.{digits}g}")


def distinct_texts(first: float, second: float, digits: int = DIGITS) -> list[str]:
    """Two unequal numbers as texts.

    They have `digits` significant digits, or as many as tell them apart.
    """
    # 17 digits tell all floats apart
    while digits < 17 and f"{first:.{digits}g}" == f"{second:.{digits}g}":
        digits += 1
    return [str(_rounded(number, digits)).removesuffix(".0") for number in (first, second)]
