"""What of two results differs, in words that a learner reads."""

import copy
import math
import numbers
import re
import reprlib

import numpy as np

from .._support.inspection import is_array

TOLERANCE = 1e-5
ROUNDING = 1e-9  # of a decimal, where a whole number is expected
DIGITS = 4  # significant ones, of a decimal in an answer; inputs have those that NumPy prints
MOST_RETURNED = 1_000_000  # numbers, texts and so on in what an answer returns; correct results are far smaller


def too_many(outcome):
    """Whether an answer returned more than MOST_RETURNED things. Copies nothing; of arrays it reads the shape only."""
    count, left = 0, [outcome]
    while left and count <= MOST_RETURNED:
        value = left.pop()
        if is_array(value):
            count += math.prod(value.shape)
            continue
        count += 1
        if type(value) in (list, tuple, set, frozenset, dict):
            if len(value) > MOST_RETURNED:
                return True
            left += [*value, *value.values()] if type(value) is dict else value
            if len(left) > MOST_RETURNED:
                return True
    return count > MOST_RETURNED


def copied(value):
    """As `copy.deepcopy`, which takes ten times as long, but what stands in two places becomes two objects."""
    kind = type(value)
    if kind in (str, int, float, bool):
        return value
    if kind in (list, tuple):
        return kind([copied(item) for item in value])
    if kind is dict:
        return {key: copied(item) for key, item in value.items()}
    if kind.__name__ == "Tensor" and value.is_contiguous() and not value.requires_grad:
        return value.clone()
    return copy.deepcopy(value)


def unchanged(after, before):
    """Whether an argument is as it was, to the last digit."""
    try:
        return _is_same(after, before)
    except Exception:  # inspecting what an answer left may raise
        return False


def _is_same(after, before):
    if isinstance(before, (list, tuple)):
        return isinstance(after, (list, tuple)) and len(after) == len(before) and all(map(_is_same, after, before))
    if isinstance(before, dict):
        return after.keys() == before.keys() and all(_is_same(after[key], before[key]) for key in before)
    if not is_array(before):
        return type(after) is type(before) and bool(after == before or (after != after and before != before))
    if type(after) is not type(before) or after.shape != before.shape or after.dtype != before.dtype:
        return False
    return np.array_equal(_float64(after), _float64(before), equal_nan=True)


def wording(error):
    """An error's text without its numbers, which depend on the order of multiplication."""
    return re.sub(r"\d+", "#", text_of(error))


def text_of(error):
    """An error's text, or none if it has none."""
    try:
        return str(error)
    except Exception:
        return ""


def kind_of(value):
    """What a value is, with its article: "a list", "a Tensor of shape (2, 3)"."""
    if value is None:
        return "`None`"
    name = type(value).__name__ or "thing"
    if is_array(value):
        name += f" of shape {shape}" if (shape := tuple(value.shape)) else " without dimensions, a single number"
    return f"{'an' if name[0] in 'aeioAEIO' or name.startswith('nd') else 'a'} {name}"


def _family(value, strict):
    """What counts as the same type: NumPy numbers are numbers; lists, tuples and, unless `strict`, arrays are lists."""
    if is_array(value):
        kind = type(value).__name__ if strict else "list"
        return kind if tuple(value.shape) else _family(value.item(), strict)
    for family, types in (("list", (list, tuple)), ("dict", dict), ("number", numbers.Real)):
        if isinstance(value, types):
            return family
    return type(value).__name__


def difference(got, right, strict=False):
    """None if `got` equals `right`, else a few words on the first difference.

    Decimals may be off by 1e-5, and by 1e-9 from a whole number; integers, words and truth values are equal or not.
    A list, a tuple, a NumPy array and a tensor of the same numbers are equal, whatever the dtype; if `strict`, arrays
    must be of the same type and dtype.
    """
    try:
        tell = _difference(got, right, strict)
        return tell and tell()
    except Exception:  # inspecting a returned object may raise
        return f"your function returned something that cannot be compared with {kind_of(right)}"


def equal(got, right, strict):
    """Whether `difference` finds none, without putting one into words."""
    try:
        return _difference(got, right, strict) is None
    except Exception:
        return False


def _difference(got, right, strict):
    """None, or a function that says what the difference is: most differences are only looked for, and never told."""
    if type(got) is type(right) and type(right) in (str, bool, int, float) and got == right:
        return None  # most items of long lists
    if isinstance(got, BaseException):
        return lambda: f"your function raised {type(got).__name__}: {text_of(got)[:200] or '(no text)'}"
    family = _family(right, strict)
    if _family(got, strict) != family:
        return lambda: f"your function returned {kind_of(got)} where {kind_of(right)} is expected"
    if is_array(right) and tuple(right.shape):
        return _array_difference(got, right, strict)
    if family == "list":
        return _list_difference(_listed(got), right, strict)
    if family == "number":
        return _number_difference(_listed(got), _listed(right))
    if family == "dict":
        return _dict_difference(got, right, strict)
    return None if got == right else lambda: f"your function returned {short(got)} where {short(right)} is expected"


def _listed(value):
    """An array as nested lists, or as a number."""
    return (value.detach() if hasattr(value, "detach") else value).tolist() if is_array(value) else value


def _number_difference(got, right):
    if got == right or (got != got and right != right):
        return None
    got = got if isinstance(got, (int, float)) else float(got)
    whole = isinstance(right, int)
    near = ROUNDING * isinstance(got, float) if whole else TOLERANCE * max(1.0, abs(right))
    if math.isfinite(right) and abs(got - right) <= near:
        return None

    def tell():
        one, other = _told_apart(got, right)
        return f"your function returned {one} where {other} is expected"

    return tell


def _whole(got, right):
    """The sentence that shows both as a whole, or None if one is too long for that or both are shown alike."""
    shown = [short(value) for value in (got, right)]
    if max(map(len, shown)) < 120 and shown[0] != shown[1]:
        return f"your function returned {shown[0]} where {shown[1]} is expected"
    return None


def _dict_difference(got, right, strict):
    if got.keys() != right.keys():
        return lambda: f"your function returned {short(got)} where {short(right)} is expected"
    items = ((key, _difference(got[key], right[key], strict)) for key in right)
    key, first = next(((key, item) for key, item in items if item), (None, None))
    return first and (lambda: _whole(got, right) or f"under {short(key)}: {first()}")


def _list_difference(got, right, strict):
    items = (_difference(one, other, strict) for one, other in zip(got, right, strict=False))
    place, first = next(((place, item) for place, item in enumerate(items) if item), (0, None))
    if len(got) == len(right) and first is None:
        return None

    def tell():
        if whole := _whole(*([_listed(item) for item in value] for value in (got, right))):
            return whole
        if len(got) != len(right):
            return f"your function returned {len(got)} items where {len(right)} are expected"
        if (told := first()).startswith("item "):
            return told.replace(" of what", f" of item {place} of what", 1)
        return f"item {place} of what your function returned: {told.removeprefix('your function returned ')}"

    return tell


def _array_difference(got, right, strict):
    shape = tuple(right.shape)
    if not is_array(got):
        try:
            got = np.array(_nested(got))
        except ValueError:
            return lambda: f"your function returned {kind_of(got)} where the shape {shape} is expected"
    if tuple(got.shape) != shape:
        return lambda: f"your result has the shape {tuple(got.shape)} where {shape} is expected"
    if strict and got.dtype != right.dtype:
        return lambda: f"your result has the dtype {got.dtype} where {right.dtype} is expected"
    found, wanted = _float64(got), _float64(right)
    if np.array_equal(found, wanted):
        return None
    if (np.isnan(found) != np.isnan(wanted)).any():
        return lambda: "your result holds NaN"
    whole = "float" not in str(right.dtype)
    near = ROUNDING if whole else TOLERANCE * np.abs(wanted[np.isfinite(wanted)]).max(initial=1.0)
    if np.isclose(found, wanted, rtol=0, atol=near, equal_nan=True).all():
        return None

    def tell():
        if "bool" in str(right.dtype):
            first, *others = np.argwhere(found != wanted).tolist()
            expected = bool(wanted[tuple(first)])
            return (
                f"{1 + len(others)} of {wanted.size} entries are wrong; the first is at {first}, "
                f"where {expected} is expected"
            )
        off = np.abs(np.subtract(found, wanted, where=found != wanted, out=np.zeros_like(found)))
        return f"your result is off by up to {np.nanmax(off):.3g}"

    return tell


def _nested(value):
    """A list of numbers, lists or arrays as nested lists."""
    return [_nested(item) for item in value] if isinstance(value, (list, tuple)) else _listed(value)


def _float64(array):
    return array.detach().cpu().double().numpy() if hasattr(array, "detach") else np.asarray(array, dtype=np.float64)


class _Brief(reprlib.Repr):
    """Of containers, their first 40 items; decimals rounded, whole numbers exact."""

    def __init__(self, most, digits):
        super().__init__()
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = 40
        self.maxstring = self.maxother = self.maxlong = most
        self.digits = digits

    def repr_float(self, value, level):
        return repr(_rounded(float(value), self.digits))

    repr_float64 = repr_float32 = repr_float  # NumPy's


def short(value, most=120, digits=DIGITS):
    """`repr` with rounded decimals, cut to at most `most` characters and never slow to compute."""
    text = _Brief(most, digits).repr(value)
    return text if len(text) <= most else text[: most - 3] + "..."


def _rounded(value, digits):
    """A decimal with this many significant digits; a whole number as it is, but for floats beyond exactness."""
    whole = isinstance(value, int) or (float(value).is_integer() and abs(value) < 2**53)
    return value if whole else float(f"{value:.{digits}g}")


def _told_apart(one, other):
    """Two unequal numbers as text, with four significant digits or as many as it takes to see that they differ."""
    digits = next(n for n in range(DIGITS, 18) if f"{one:.{n}g}" != f"{other:.{n}g}" or n == 17)
    return [str(_rounded(number, digits)).removesuffix(".0") for number in (one, other)]
