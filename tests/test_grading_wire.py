"""Values sent into the sandbox and back arrive unchanged, and nothing else gets through."""

import itertools
import math
import struct

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from course_utils.exercises.comparing import difference
from course_utils.tools.grading import wire

NUMBERS = st.integers() | st.floats() | st.booleans() | st.none() | st.text()
ARRAYS = st.sampled_from(["float32", "float64", "int64", "bool"]).flatmap(
    lambda kind: arrays(kind, st.tuples(st.integers(0, 3), st.integers(0, 3)))
)
VALUES = st.recursive(
    NUMBERS | ARRAYS,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner)
    ),
)


def there_and_back(value):
    # the value as it is on the other side
    frame = wire.pack({"value": value})
    text_length, rest_length = wire.lengths(frame[: wire.HEADER.size])
    body = frame[wire.HEADER.size :]
    assert len(body) == text_length + rest_length
    return wire.unpack(body[:text_length], body[text_length:])["value"]


def same(left, right):
    """Whether two values are equal, of the same types, and dicts in the same order.

    NaN equals NaN; the types of a dict's keys are not compared.
    """
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(map(same, left.values(), right.values()))
    if isinstance(left, (np.ndarray, np.generic)):
        return (left.dtype, left.shape) == (right.dtype, right.shape) and np.array_equal(
            left, right, equal_nan=left.dtype.kind == "f"
        )
    return left == right or left != left


@given(VALUES)
def test_values_come_back_as_they_were(value):
    assert same(value, there_and_back(value))


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float32,
        torch.float64,
        torch.float16,
        torch.bfloat16,
        torch.int64,
        torch.int8,
        torch.bool,
    ],
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_tensors_come_back_as_they_were(dtype, shape):
    sent = (1 - torch.arange(math.prod(shape))).reshape(shape).to(dtype)  # 1, 0, -1: not only zeros
    received = there_and_back(sent)
    assert (type(received), received.dtype, received.shape) == (torch.Tensor, dtype, sent.shape)
    assert torch.equal(received, sent)


@pytest.mark.parametrize(
    "sent",
    [
        torch.tensor([[1.0, 2.0]]).expand(3, 2),
        torch.arange(6).reshape(2, 3).T,
        torch.ones(2, requires_grad=True) * 2,
        torch.nn.Parameter(torch.ones(2)),
    ],
    ids=["rows that share memory", "columns", "a result with a gradient", "a parameter"],
)
def test_tensors_of_unusual_memory_come_back(sent):
    assert torch.equal(there_and_back(sent), sent)


@pytest.mark.parametrize(
    "value, name",
    [
        (object(), "object"),
        (b"bytes", "bytes"),
        (1j, "complex"),
        (10**5000, "int"),  # larger than wire.LARGEST_INT
        ((number for number in "ab"), "generator"),
        (len, "builtin_function_or_method"),
        (np.array([None]), "ndarray"),
        (np.ma.masked_array([1, 2]), "MaskedArray"),
        (torch.ones(2).to_sparse(), "tensor"),
        (torch.ones(2, device="meta"), "tensor"),
        (torch.ones(2) * 1j, "tensor"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_of_other_things_only_the_name_travels(value, name):
    assert type(there_and_back(value)).__name__ == name
    assert isinstance(there_and_back(value), wire.Thing)
    assert difference(there_and_back(value), [1, 2]) is not None  # it is no right answer


def test_liars_become_plain_values():
    lies = {
        "__eq__": lambda self, other: True,
        "__len__": lambda self: 3,
        "__sub__": lambda self, other: 0.0,
    }
    items, number = there_and_back(
        [type("Liar", (list,), lies)([1]), type("Number", (float,), lies)(7)]
    )
    assert (type(items), items, type(number)) == (list, [1], float)
    assert difference(number, 2.0) is not None


def test_a_list_that_holds_itself_is_no_answer():
    endless = []
    endless.append(endless)
    assert difference(there_and_back(endless), [1]) is not None


@given(st.binary(max_size=200), st.binary(max_size=50))
def test_nonsense_is_refused_in_one_way(text, rest):
    try:
        assert isinstance(wire.unpack(text, rest), dict)
    except wire.WireError:
        pass


def framed(value):
    # the JSON of a message with this value, which is JSON, under the key "v"
    return b'{"dict": [["v", ' + value + b"]]}"


def test_a_frame_written_by_hand_is_read():
    assert wire.unpack(framed(b'{"list": [1, "a"]}'), b"") == {"v": [1, "a"]}
    # the second array begins at wire.ALIGN, 64; what fills the bytes before it does not count
    two_arrays = framed(b'{"list": [{"array": ["int8", [1], 0]}, {"array": ["int8", [2], 64]}]}')
    assert wire.unpack(two_arrays, b"\0".ljust(wire.ALIGN) + b"\1\2")["v"][1].tolist() == [1, 2]


# each as the one value of a message, beside the four bytes of one float32
FORGED = [
    b'{"array": ["float32", [2], 0]}',  # longer than the bytes
    b'{"array": ["float32", [-1], 0]}',
    b'{"array": ["object", [1], 0]}',  # pointers
    b'{"array": ["float32", [1099511627775, 1099511627775], 0]}',  # 2**40 - 1, the largest size
    b'{"array": ["float32", [true], 0]}',
    b'{"array": ["float32", [1], -4]}',  # before the bytes
    # the same bytes twice
    b'{"list": [{"array": ["int8", [4], 0]}, {"array": ["int8", [4], 0]}]}',
    b'{"array": ["float32"]}',
    b'{"array": [["float32"], [1], 0]}',
    b'{"tensor": ["float32", [1], 0, [1]]}',  # one item too many
    b'{"tensor": ["float32", ["a"], 0]}',
    b'{"tensor": ["float32", [-1], 0]}',
    b'{"recipe": ["os.system", "ls"]}',
    b'{"recipe": []}',
    b'{"fraction": [1, 0]}',
    b'{"set": [{"list": []}]}',  # not hashable
    b'{"dict": [[1]]}',  # a key without a value
    b'{"a": 1, "b": 2}',  # a node has one kind
    b'{"pickle": "gASV"}',
    b'{"list": 5}',
    b"[1]",  # a list without its kind
]
LONG = [
    b'{"list": [' + b",".join([b'{"thing": "a"}'] * (wire.MOST_PARTS + 1)) + b"]}",
    b"[" * 100_000,  # deeper than Python's own decoder goes
    b'{"list": [' * 60 + b"]}" * 60,  # deeper than wire.DEEPEST, 40
]
NO_MESSAGES = [b"[1]", b"\xff", b"", b'{"list": []}', b'{"dict": [], "list": []}']


@pytest.mark.parametrize("text", [*map(framed, [*FORGED, *LONG]), *NO_MESSAGES])
def test_forged_frames_are_refused(text):
    with pytest.raises(wire.WireError):
        wire.unpack(text, bytes(4))


def test_a_bool_is_0_or_1_whatever_its_byte():
    sent = wire.unpack(framed(b'{"tensor": ["bool", [2], 0]}'), b"\x07\x00")["v"]
    assert (sent.tolist(), sent.sum()) == ([True, False], 1)


@pytest.mark.parametrize(
    "kind, entry", [("set", "{}"), ("set", "{}.0"), ("dict", "[{}, 1]"), ("dict", "[{}.0, 1]")]
)
def test_numbers_that_collide_do_not_stop_the_grader(kind, entry):
    # integers that differ by a multiple of this prime have the same hash, and so have such floats;
    # 50,000 are ten times as many as wire.MOST_KEYS
    entries = [entry.format(number * (2**61 - 1)) for number in range(50_000)]
    with pytest.raises(wire.WireError, match="keys"):
        wire.unpack(framed(f'{{"{kind}": [{",".join(entries)}]}}'.encode()), b"")


def test_tuples_that_collide_do_not_stop_the_grader():
    # hash(-1) == hash(-2), so these 2**9 tuples have one hash: more than wire.MOST_OF_ONE_HASH, 50
    same_hash = set(itertools.product([-1, -2], repeat=9))
    with pytest.raises(wire.WireError, match="same hash"):
        there_and_back(same_hash)


@pytest.mark.parametrize("key", [str, lambda number: (number, -number)])
def test_many_keys_that_do_not_collide_arrive(key):
    assert len(there_and_back({key(number) for number in range(wire.MOST_KEYS)})) == wire.MOST_KEYS


@pytest.mark.parametrize(
    "lengths",  # bytes of JSON, bytes of arrays
    [(2**32 - 1, 0), (0, 2**32 - 1), (wire.LARGEST_REPLY_JSON + 1, 0)],
)
def test_too_large_is_refused_before_it_is_read(lengths):
    with pytest.raises(wire.WireError, match="too large"):
        wire.lengths(struct.pack("!II", *lengths))


def test_exceptions_travel_as_name_and_text():
    class Trap(Exception):
        def __str__(self):
            raise SystemExit

    assert wire.wording(Trap()) == ["Trap", ""]
    error = wire.raised("KeyError", "'a'")
    assert (type(error).__name__, str(error)) == ("KeyError", "'a'")
    assert isinstance(wire.raised("NotImplementedError", ""), NotImplementedError)
    assert type(wire.raised("no name; at all", "")).__name__ == "Exception"
