"""The protocol between the grader and the sandbox: values as JSON and plain arrays, never pickle.

A frame is two lengths, JSON, and the bytes of all arrays. Real numbers, strings, lists, tuples,
dicts and sets arrive as such, those of a subclass as the base class has them, and so do plain NumPy
arrays and torch tensors of real numbers; a function of RECIPES is made again. Of any other value
only the name of its type is sent. The decoder trusts nothing: it verifies lengths, types, shapes
and offsets, and raises WireError for anything invalid.
"""

import functools
import inspect
import json
import math
import re
import socket
import struct
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ..._support.recipes import layer_maker, linear_maker, small_encoder

HEADER = struct.Struct("!II")  # bytes of JSON, bytes of arrays
DTYPES = tuple(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
)
SHARED = 2**32 - 1  # instead of the size of the arrays: they are in an in-memory file sent along
# arrays begin at multiples of this many bytes: behind n bytes, -n % ALIGN are left empty
ALIGN = 64
DEEPEST, MOST_AXES = 40, 32  # levels of nested lists, and axes of an array (as in NumPy 1)
# These limits are far above what exercises need, and low enough that a hostile reply costs the
# grader neither minutes nor its memory.
LARGEST_REPLY = 64 * 2**20  # bytes that an answer may send back in all, and as JSON
LARGEST_REPLY_JSON = 8 * 2**20
MOST_PARTS = 10_000  # arrays, NumPy numbers and other objects in one frame
MOST_KEYS = 5000  # in all dicts and sets of one frame, not counting strings
# such keys with the same hash: each is compared with all others of its hash
MOST_OF_ONE_HASH = 50
LARGEST_INT = 10**4000  # Python refuses to read or write more than 4300 digits
LONGEST_NAME, LONGEST_TEXT = 60, 2000  # characters of a type's name, of an error's text


class WireError(ValueError):
    """The data received is not a valid frame, or too large.

    The message is a clause for the end of a sentence, without a full stop.
    """


class Thing:
    """A stand-in for a value that is not sent; each subclass has the name of the value's type."""


@functools.lru_cache(maxsize=1000)
def thing(name: str) -> Thing:
    """A Thing whose type has this name, or "thing" for a name that no such type may have."""
    # `_encoded` takes types of these two names for torch's
    if not name.isidentifier() or name in ("Tensor", "Parameter"):
        name = "thing"
    return type(name, (Thing,), {})()


# functions that make functions: one of these is sent as the name of its maker, and the arguments
RECIPES: dict[str, Callable] = {
    maker.__name__: maker for maker in (linear_maker, layer_maker, small_encoder)
}


def pack(message: dict) -> bytes:
    """The bytes of one frame.

    message: a dict of values. Raises RecursionError for a recipe that contains itself.
    """
    text, arrays = parts(message)
    return b"".join([HEADER.pack(len(text), len(arrays)), text, arrays])


def parts(message: dict) -> tuple[bytes, bytearray]:
    """The JSON and the bytes of all arrays of one frame; its header is left to the caller."""
    arrays = bytearray()
    # encoding fills `arrays`, so it comes first in the tuple
    return json.dumps(_encoded(message, arrays, 0)).encode(), arrays


def unpack(text: bytes, arrays: Any, recipes: bool = False, shared: bool = False) -> dict:
    """Decode the message of one frame from its two parts. Raises WireError.

    text: the JSON.
    arrays: bytes or a memory map.
    recipes: whether functions may be made, see RECIPES: only of what the grader has sent.
    shared: the arrays are in memory shared with the sender; decoded arrays are views, so that
    changes are visible to both.
    """
    try:
        message = _Decoder(arrays, recipes, shared).value(json.loads(text))
    except WireError:
        raise
    except (ValueError, TypeError, LookupError, RecursionError, ArithmeticError) as error:
        raise WireError(f"what came back cannot be read: {type(error).__name__}") from None
    if not isinstance(message, dict):
        raise WireError("what came back is not a message")
    return message


def lengths(header: bytes | bytearray) -> tuple[int, int]:
    """How many bytes of JSON and of arrays follow a header.

    Raises WireError if they exceed the limits.
    """
    text, arrays = HEADER.unpack(header)
    if text > LARGEST_REPLY_JSON or text + arrays > LARGEST_REPLY:
        raise WireError(
            f"what came back is too large: {(text + arrays) / 2**20:,.0f} MB, of which "
            f"{text / 2**20:,.0f} MB are text"
        )
    return text, arrays


def receive(line: socket.socket, size: int, before_each: Callable = lambda: None) -> bytearray:
    """Read this many bytes from a socket. Raises EOFError if it is closed first.

    before_each: called before each part is read; may set a timeout. What it and the socket raise,
    such as TimeoutError, is raised.
    """
    data = bytearray()
    while len(data) < size:
        before_each()
        part = line.recv(min(size - len(data), 2**20))  # a false size costs no memory
        if not part:
            raise EOFError
        data += part
    return data


def _encoded(value: Any, arrays: bytearray, depth: int) -> Any:
    # What JSON holds of a value inside `depth` others: itself, or {kind: content}. The bytes of its
    # arrays are appended to `arrays`. `_Decoder.value` is the reverse.
    kind = type(value)
    if value is None or kind in (bool, float, str) or (kind is int and abs(value) < LARGEST_INT):
        return value  # sent as it is
    if kind is Fraction and max(abs(value.numerator), value.denominator) < LARGEST_INT:
        return {"fraction": [value.numerator, value.denominator]}
    if value is ...:
        return {"thing": "ellipsis"}
    if isinstance(value, np.generic) and value.dtype.kind in "USO":  # texts, bytes and objects
        return _encoded(value.item(), arrays, depth)
    if isinstance(value, np.generic) and value.dtype.name in DTYPES:
        return {"number": _stored(np.asarray(value), arrays)}
    if kind is np.ndarray and value.dtype.name in DTYPES:
        return {"array": _stored(value, arrays)}
    if kind.__name__ in ("Tensor", "Parameter"):
        return _encoded_tensor(value, arrays)
    if depth < DEEPEST:  # of a list that is deeper, only the name is sent
        for name, base in (("list", list), ("tuple", tuple), ("set", (set, frozenset))):
            if isinstance(value, base):
                return {name: [_encoded(item, arrays, depth + 1) for item in value]}
        if isinstance(value, dict):
            return {
                "dict": [
                    [_encoded(item, arrays, depth + 1) for item in pair] for pair in value.items()
                ]
            }
    for base in (str, int, float):  # their subclasses; a number that is too large is a thing
        if isinstance(value, base) and (isinstance(value, str) or abs(value) < LARGEST_INT):
            return base(value)
    # `_support.recipes` notes on a function (the name of its maker, *arguments)
    if inspect.isfunction(value) and hasattr(value, "recipe"):
        name, *items = value.recipe
        return {"recipe": [name, *(_encoded(item, arrays, depth + 1) for item in items)]}
    return {"thing": kind.__name__}


def _stored(array: np.ndarray, arrays: bytearray) -> list:
    # Appends the array's bytes. Returns the arguments of `_Decoder.array`: type, shape, and where
    # the bytes begin.
    arrays += bytes(-len(arrays) % ALIGN)
    place = len(arrays)
    arrays += np.ascontiguousarray(array).tobytes()
    return [array.dtype.name, list(array.shape), place]


def _encoded_tensor(tensor: Any, arrays: bytearray) -> dict:
    import torch

    name = str(tensor.dtype).removeprefix("torch.")
    is_plain = tensor.layout == torch.strided and tensor.device.type == "cpu"
    if not is_plain or name not in (*DTYPES, "bfloat16"):
        return {"thing": "tensor"}
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if name == "bfloat16":  # NumPy has no such type
        tensor = tensor.contiguous().view(torch.int16)
    _, *stored = _stored(tensor.numpy(), arrays)
    return {"tensor": [name, *stored]}


class _Decoder:
    """Builds the values of one frame.

    Its arrays must follow each other, without overlap and in the order in which they are named, so
    that the result is no larger than what was sent. See `unpack` for the arguments.
    """

    def __init__(self, arrays: Any, recipes: bool, shared: bool) -> None:
        self.arrays, self.recipes, self.shared = arrays, recipes, shared
        self.end = 0  # of the last array
        # how many there were: see MOST_PARTS, MOST_KEYS, MOST_OF_ONE_HASH
        self.part_count = self.key_count = 0
        self.times_of_hash: Counter[int] = Counter()

    def value(self, node: Any, depth: int = 0) -> Any:
        """The value of a node of the JSON, which `_encoded` has made, or a learner's code.

        Raises WireError, and for other invalid nodes the errors that `unpack` turns into one.
        """
        if node is None or isinstance(node, (bool, int, float, str)):
            return node
        # the arguments of a recipe may be deeper than DEEPEST
        if depth > DEEPEST + 2 or not isinstance(node, dict) or len(node) != 1:
            raise WireError("what came back is not a value")
        ((kind, content),) = node.items()
        if kind in ("thing", "number", "array", "tensor", "recipe"):
            self.part_count += 1
            if self.part_count > MOST_PARTS:
                raise WireError(
                    f"what came back has more than {MOST_PARTS:,} arrays and other values"
                )
        if kind == "thing":
            return ... if content == "ellipsis" else thing(str(content)[:LONGEST_NAME])
        if not isinstance(content, list):
            raise WireError("what came back is not a value")
        match kind:
            case "number":
                return self.array(*content)[()]  # from an array without axes
            case "array":
                return self.array(*content)
            case "tensor":
                return self.tensor(*content)
            case "fraction":
                return Fraction(*map(int, content))
            case "dict":
                keys = self.hashable([key for key, _ in content], depth)
                return {key: self.value(value, depth + 1) for key, (_, value) in zip(keys, content)}
            case "set":
                return set(self.hashable(content, depth))
            case "recipe" if self.recipes:
                return RECIPES[content[0]](*[self.value(item, depth + 1) for item in content[1:]])
        # must stay a lookup: a KeyError for any other kind, and for a recipe without `recipes`
        return {"list": list, "tuple": tuple}[kind](self.value(item, depth + 1) for item in content)

    def hashable(self, nodes: list, depth: int) -> list:
        """The keys of a dict, or the members of a set.

        Raises TypeError if one has no hash, and WireError if there are so many, or so many of one
        hash, that to put them into a dict would take hours.
        """
        self.key_count += sum(not isinstance(node, str) for node in nodes)
        if self.key_count > MOST_KEYS:
            raise WireError(f"what came back has more than {MOST_KEYS:,} keys that are not strings")
        keys = [self.value(node, depth + 1) for node in nodes]
        # strings are not counted: Python makes their hashes unpredictable
        self.times_of_hash.update(hash(key) for key in keys if not isinstance(key, str))
        if any(times > MOST_OF_ONE_HASH for times in self.times_of_hash.values()):
            raise WireError(
                f"what came back has more than {MOST_OF_ONE_HASH} keys with the same hash"
            )
        return keys

    # raises WireError for an array that `_stored` would not have written so
    def array(self, name: str, shape: list[int], place: int) -> np.ndarray:
        # not isinstance: a bool is no size; 2**40 bytes are more than a frame has
        are_sizes = all(type(size) is int and 0 <= size < 2**40 for size in (*shape, place))
        if name not in DTYPES or not are_sizes or len(shape) > MOST_AXES:
            raise WireError("what came back holds an array of unknown kind")
        dtype, count = np.dtype(name), math.prod(shape)
        end = place + count * dtype.itemsize
        # each array begins at the first multiple of ALIGN behind the one before
        if place != self.end + -self.end % ALIGN or end > len(self.arrays):
            raise WireError("what came back holds an array that is not where it should be")
        self.end = end
        array = np.frombuffer(self.arrays, dtype, count, place).reshape(shape)
        if self.shared:  # what the grader itself has sent is valid, so a view will do
            return array
        if name == "bool":  # a byte of 7 is no bool
            return array.view(np.uint8).astype(bool)
        return array.copy()

    # the reverse of `_encoded_tensor`; raises as `array`
    def tensor(self, name: str, shape: list[int], place: int) -> Any:
        import torch

        if name == "bfloat16":
            return torch.from_numpy(self.array("int16", shape, place)).view(torch.bfloat16)
        return torch.from_numpy(self.array(name, shape, place))


def wording(error: BaseException) -> list[str]:
    """[name of its type, text] of an exception, both cut, as they are sent in "raised"."""
    try:
        text = str(error)
    except BaseException:  # an exception's methods may themselves be hostile
        text = ""
    name = re.sub(r"\W", "", type(error).__name__)
    return [name[:LONGEST_NAME] or "Exception", text[:LONGEST_TEXT]]


def raised(name: str, text: str) -> Exception:
    """An exception with this type name and text, both cut: the reverse of `wording`.

    Its type is a new one, but for a NotImplementedError, which checks recognise.
    """
    name, text = name[:LONGEST_NAME], text[:LONGEST_TEXT]
    if name == "NotImplementedError":
        return NotImplementedError(text)
    return type(name if name.isidentifier() else "Exception", (Exception,), {})(text)


def _texts(value: Any) -> bool:
    """Whether a value is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


# What each part of a reply may be. `submission.Submission` says in `open`, `define` and `call` what
# the parts mean; "cells" is how many cells a notebook has, and "unreadable" why it cannot be read.
FORMS: dict[str, Callable[[Any], bool]] = {
    "cells": lambda value: type(value) is int,
    **dict.fromkeys(("present", "titles", "problems", "more"), _texts),
    **dict.fromkeys(("broken", "unreadable", "failed"), lambda value: isinstance(value, str)),
    # not isinstance: a bool is no number of a cell
    "stopped": lambda value: isinstance(value, list) and {*map(type, value)} <= {int},
    "texts": lambda value: isinstance(value, dict) and _texts([*value, *value.values()]),
    "raised": lambda value: _texts(value) and len(value) == 2,
    "callable": lambda value: value is True,
    "foreign": lambda value: value is None or isinstance(value, str),
    "args": lambda value: isinstance(value, list),
    "value": lambda value: True,
}


def checked_reply(reply: dict) -> dict:
    """The reply itself, if its parts have the form that FORMS says: a learner's code may have
    written it. Else raises WireError.

    Any part may be missing.
    """
    for name, part in reply.items():
        if name not in FORMS or not FORMS[name](part):
            raise WireError("it has a part of unknown form")
    return reply
