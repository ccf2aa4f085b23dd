"""The protocol between the grader and the sandbox: values as JSON and plain arrays, never pickle.

A frame is two lengths, JSON, and the bytes of all arrays. Numbers, strings, lists, tuples, dicts, sets, NumPy arrays
and torch tensors keep their type; of any other value only the name of its type is sent. The decoder trusts nothing: it
verifies lengths, types, shapes and offsets, and raises WireError for anything invalid.
"""

import functools
import inspect
import json
import math
import re
import struct
from collections import Counter
from fractions import Fraction

import numpy as np

from ..._support.recipes import layer_maker, linear_maker, small_encoder

HEADER = struct.Struct("!II")  # bytes of JSON, bytes of arrays
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
SHARED = 2**32 - 1  # instead of the size of the arrays: they are in an in-memory file sent along
ALIGN = 64  # bytes, of arrays in that file
DEEPEST = 40  # levels of nested lists
LARGEST_REPLY = 64 * 2**20  # bytes that an answer may send back in all, and as JSON
LARGEST_REPLY_JSON = 8 * 2**20
MOST_PARTS = 10_000  # arrays, NumPy numbers and other objects in one frame
MOST_KEYS = 5000  # in all dicts and sets of one frame, not counting strings
MOST_OF_ONE_HASH = 50  # such keys: each is compared with all others of its hash
LARGEST_INT = 10**4000


class WireError(ValueError):
    """The data received is not a valid frame, or too large. The message is one sentence."""


class Thing:
    """A stand-in for a value that is not sent; each subclass has the name of the value's type."""


@functools.lru_cache(maxsize=1000)
def thing(name):
    """A value whose type has this name."""
    name = str(name)[:60]
    return type(name if name.isidentifier() and name not in ("Tensor", "Parameter") else "thing", (Thing,), {})()


RECIPES = {made.__name__: made for made in (linear_maker, layer_maker, small_encoder)}


def pack(message):
    """The bytes of one frame. message: a dict of values."""
    text, arrays = parts(message)
    return b"".join([HEADER.pack(len(text), len(arrays)), text, arrays])


def parts(message, align=1):
    """The JSON and the bytes of all arrays of one frame. align: arrays begin at multiples of this many bytes."""
    arrays = _Arrays(align)
    text = json.dumps(_encoded(message, arrays, 0)).encode()
    return text, b"".join(arrays)


class _Arrays(list):
    """Accumulates the bytes of arrays."""

    def __init__(self, align):
        self.align, self.size = align, 0

    def add(self, data):
        """Add bytes and return their offset."""
        place = -(-self.size // self.align) * self.align
        self += [bytes(place - self.size), data]
        self.size = place + len(data)
        return place


def unpack(text, arrays, recipes=False, align=1, shared=False):
    """Decode the message of one frame from its two parts. Raises WireError.

    recipes: whether functions may be made.
    shared: the arrays are in memory shared with the sender; decoded arrays are views, so that changes are visible to
    both.
    """
    try:
        message = _Decoder(arrays, recipes, align, shared).value(json.loads(text))
    except WireError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError) as error:
        raise WireError(f"what came back cannot be read: {type(error).__name__}") from None
    if not isinstance(message, dict):
        raise WireError("what came back is not a message")
    return message


def lengths(header, largest=LARGEST_REPLY, largest_json=LARGEST_REPLY_JSON):
    """The two lengths in a header. Raises WireError if they exceed the limits."""
    text, arrays = HEADER.unpack(header)
    if text > largest_json or text + arrays > largest:
        raise WireError(
            f"what came back is too large: {(text + arrays) / 2**20:,.0f} MB, of which {text / 2**20:,.0f} MB are text"
        )
    return text, arrays


def receive(line, size, before_each=lambda: None):
    """Read this many bytes from a socket. Raises EOFError if it is closed first.

    before_each: called before each part is read; may set a timeout.
    """
    data = bytearray()
    while len(data) < size:
        before_each()
        part = line.recv(min(size - len(data), 2**20))
        if not part:
            raise EOFError
        data += part
    return data


def _encoded(value, arrays, depth):
    kind = type(value)
    if value is None or kind is bool or kind is float or kind is str or (kind is int and abs(value) < LARGEST_INT):
        return value
    if kind is Fraction and max(abs(value.numerator), value.denominator) < LARGEST_INT:
        return {"fraction": [value.numerator, value.denominator]}
    if value is ...:
        return {"thing": "ellipsis"}
    if isinstance(value, np.generic) and value.dtype.kind in "USO":
        return _encoded(value.item(), arrays, depth)
    if isinstance(value, np.generic) and value.dtype.name in DTYPES:
        return {"number": _stored(np.asarray(value), arrays)}
    if kind is np.ndarray and value.dtype.name in DTYPES:
        return {"array": _stored(value, arrays)}
    if kind.__name__ in ("Tensor", "Parameter"):
        stored = _stored_tensor(value, arrays)
        return {kind.__name__.lower(): stored} if stored else {"thing": "tensor"}
    if depth < DEEPEST:
        for name, base in (("list", list), ("tuple", tuple), ("set", (set, frozenset))):
            if isinstance(value, base):
                return {name: [_encoded(item, arrays, depth + 1) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[_encoded(item, arrays, depth + 1) for item in pair] for pair in value.items()]}
    for base in (str, int, float):  # their subclasses
        if isinstance(value, base) and (base is str or abs(value) < LARGEST_INT):
            return base(value)
    if inspect.isfunction(value) and hasattr(value, "recipe"):
        return {"recipe": [value.recipe[0], *(_encoded(item, arrays, depth + 1) for item in value.recipe[1:])]}
    return {"thing": kind.__name__}


def _stored(array, arrays):
    return [array.dtype.name, list(array.shape), arrays.add(np.ascontiguousarray(array).tobytes())]


def _stored_tensor(tensor, arrays):
    import torch

    if tensor.layout != torch.strided or tensor.device.type != "cpu":
        return None
    shape, tensor = list(tensor.shape), tensor.detach().resolve_conj().resolve_neg()
    for dim, step in enumerate(tensor.stride()):
        if step == 0 and tensor.shape[dim] > 1:  # rows that share memory, as after `expand`, still do
            tensor = tensor.narrow(dim, 0, 1)
    name = str(tensor.dtype).removeprefix("torch.")
    if name == "bfloat16":  # NumPy has no such type
        tensor = tensor.contiguous().view(torch.int16)
    elif name not in DTYPES:
        return None
    return [name, *_stored(tensor.numpy(), arrays)[1:], shape]


class _Decoder:
    """Builds the values of one frame.

    Arrays must be contiguous in its bytes, so that the result is no larger than what was sent.
    """

    def __init__(self, arrays, recipes, align=1, shared=False):
        self.arrays, self.recipes, self.align, self.shared = arrays, recipes, align, shared
        self.place, self.parts, self.keys, self.hashes = 0, 0, 0, Counter()

    def value(self, node, depth=0):
        if node is None or isinstance(node, (bool, int, float, str)):
            return node
        if depth > DEEPEST + 2 or not isinstance(node, dict) or len(node) != 1:
            raise WireError("what came back is not a value")
        ((kind, content),) = node.items()
        if kind in ("thing", "number", "array", "tensor", "parameter", "recipe"):
            self.parts += 1
            if self.parts > MOST_PARTS:
                raise WireError(f"what came back has more than {MOST_PARTS:,} arrays and other values")
        if kind == "thing":
            return ... if content == "ellipsis" else thing(str(content)[:60])
        if not isinstance(content, list) or kind == "recipe" and not self.recipes:
            raise WireError("what came back is not a value")
        if kind in ("number", "array"):
            found = self.array(*content)
            return found[()] if kind == "number" and found.shape == () else found
        if kind in ("tensor", "parameter"):
            return self.tensor(kind, *content)
        if kind in ("dict", "set"):
            self.keys += sum(not isinstance(one[0] if kind == "dict" else one, str) for one in content)
            if self.keys > MOST_KEYS:
                # they may be chosen to collide
                raise WireError(f"what came back has more than {MOST_KEYS:,} keys that are not strings")
        if kind == "fraction":
            return Fraction(*map(int, content))
        if kind == "dict":
            keys = self.hashable(self.value(key, depth + 1) for key, _ in content)
            return {key: self.value(value, depth + 1) for key, (_, value) in zip(keys, content)}
        items = [self.value(item, depth + 1) for item in (content[1:] if kind == "recipe" else content)]
        if kind == "recipe":
            return RECIPES[content[0]](*items)
        return {"list": list, "tuple": tuple, "set": lambda found: set(self.hashable(found))}[kind](items)

    def hashable(self, keys):
        """These keys as a list. Raises TypeError if one has no hash, and WireError if too many have the same one."""
        keys = list(keys)
        self.hashes.update(hash(key) for key in keys if not isinstance(key, str))
        if any(times > MOST_OF_ONE_HASH for times in self.hashes.values()):
            raise WireError(f"what came back has more than {MOST_OF_ONE_HASH} keys with the same hash")
        return keys

    def array(self, name, shape, place):
        if (
            name not in DTYPES
            or not all(type(number) is int and 0 <= number < 2**40 for number in (*shape, place))
            or len(shape) > 32
        ):
            raise WireError("what came back holds an array of unknown kind")
        dtype, count = np.dtype(name), math.prod(shape)
        if place != -(-self.place // self.align) * self.align or place + count * dtype.itemsize > len(self.arrays):
            raise WireError("what came back holds an array that is not where it should be")
        self.place = place + count * dtype.itemsize
        array = np.frombuffer(self.arrays, dtype, count, place).reshape(shape)
        if self.shared:
            return array
        array = array.copy()
        return array.view(np.uint8).astype(bool).reshape(shape) if name == "bool" else array  # 7 is no bool

    def tensor(self, kind, name, stored_shape, place, shape):
        import torch

        found = torch.from_numpy(self.array("int16" if name == "bfloat16" else name, stored_shape, place))
        found = found.view(torch.bfloat16) if name == "bfloat16" else found
        if shape != stored_shape:
            if (
                not all(type(number) is int and number >= 0 for number in shape)
                or math.prod(shape) > LARGEST_REPLY // 8
            ):
                raise WireError("what came back holds a tensor with an impossible shape")
            try:
                found = found.expand(shape)
            except RuntimeError:
                raise WireError("what came back holds a tensor whose shapes do not match") from None
        return torch.nn.Parameter(found, requires_grad=False) if kind == "parameter" else found


def wording(error):
    """The type and text of an exception, as they are sent."""
    try:
        text = str(error)
    except BaseException:  # an exception's methods may themselves be hostile
        text = ""
    return [re.sub(r"\W", "", type(error).__name__)[:60] or "Exception", text[:2000]]


def raised(name, text):
    """An exception with this type name and text."""
    name, text = str(name)[:60], str(text)[:2000]
    if name == "NotImplementedError":
        return NotImplementedError(text)
    return type(name if name.isidentifier() else "Exception", (Exception,), {})(text)
