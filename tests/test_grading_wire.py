"""Values sent into the sandbox and back arrive unchanged, and nothing else gets through."""

import struct

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
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
    frame = wire.pack({"value": value})
    text, rest = wire.lengths(frame[: wire.HEADER.size])
    body = frame[wire.HEADER.size :]
    assert len(body) == text + rest
    return wire.unpack(body[:text], body[text:])["value"]


def same(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    if isinstance(one, (np.ndarray, np.generic)):
        alike = np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        return alike and one.dtype == other.dtype and one.shape == other.shape
    return one == other or one != one


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
    sent = (
        (torch.arange(6)[: int(np.prod(shape))] if shape != () else torch.tensor(1))
        .reshape(shape)
        .to(dtype)
    )
    found = there_and_back(sent)
    assert type(found) is torch.Tensor and torch.equal(found, sent)
    assert found.dtype == dtype and found.shape == sent.shape


def test_tensors_of_unusual_memory():
    rows = torch.tensor([[1.0, 2.0]]).expand(3, 2)
    columns = torch.arange(6).reshape(2, 3).T
    result = torch.ones(2, requires_grad=True) * 2
    for sent in (rows, columns, result, torch.nn.Parameter(torch.ones(2))):
        assert torch.equal(there_and_back(sent), sent)


@pytest.mark.parametrize(
    "value, name",
    [
        *((object(), "object"), (b"bytes", "bytes"), (1j, "complex"), (10**5000, "int")),
        *(((number for number in "ab"), "generator"), (len, "builtin_function_or_method")),
        *((np.array([None]), "ndarray"), (np.ma.masked_array([1, 2]), "MaskedArray")),
        *(
            (one, "tensor")
            for one in (torch.ones(2).to_sparse(), torch.ones(2, device="meta"), torch.ones(2) * 1j)
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_of_other_things_only_the_name_travels(value, name):
    assert type(there_and_back(value)).__name__ in (name, "thing")
    assert isinstance(there_and_back(value), wire.Thing)
    assert difference(there_and_back(value), [1, 2]) is not None


def test_liars_become_plain_values():
    lies = {
        "__eq__": lambda self, other: True,
        "__len__": lambda self: 3,
        "__sub__": lambda self, other: 0.0,
    }
    items, number = there_and_back(
        [type("Liar", (list,), lies)([1]), type("Number", (float,), lies)(7)]
    )
    assert type(items) is list and items == [1]
    assert type(number) is float and difference(number, 2.0) is not None
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
    return b'{"dict": [["v", ' + value + b"]]}"


def test_a_frame_written_by_hand_is_read():
    arrays = framed(b'{"list": [{"array": ["int8", [1], 0]}, {"array": ["int8", [2], 64]}]}')
    assert wire.unpack(arrays, b"\0".ljust(wire.ALIGN) + b"\1\2")["v"][1].tolist() == [1, 2]
    assert wire.unpack(framed(b'{"list": [1, "a"]}'), b"") == {"v": [1, "a"]}


FORGED = """{"array": ["float32", [2], 0]}
{"array": ["float32", [-1], 0]}
{"array": ["object", [1], 0]}
{"array": ["float32", [1099511627775, 1099511627775], 0]}
{"array": ["float32", [true], 0]}
{"array": ["float32", [1], -4]}
{"list": [{"array": ["int8", [4], 0]}, {"array": ["int8", [4], 0]}]}
{"array": ["float32"]}
{"array": [["float32"], [1], 0]}
{"tensor": ["float32", [1], 0, [1]]}
{"tensor": ["float32", ["a"], 0]}
{"tensor": ["float32", [-1], 0]}
{"recipe": ["os.system", "ls"]}
{"recipe": []}
{"set": [{"list": []}]}
{"dict": [[1]]}
{"a": 1, "b": 2}
{"pickle": "gASV"}
{"list": 5}
[1]"""
LONG = [
    b'{"list": [' + b",".join([b'{"thing": "a"}'] * 10_001) + b"]}",
    b"[" * 100_000,
    b'{"list": [' * 60 + b"]}" * 60,
]
NO_MESSAGES = [b"[1]", b"\xff", b"", b'{"list": []}', b'{"dict": [], "list": []}']


@pytest.mark.parametrize(
    "text", [*map(framed, [*FORGED.encode().splitlines(), *LONG]), *NO_MESSAGES]
)
def test_forged_frames_are_refused(text):
    with pytest.raises(wire.WireError):
        wire.unpack(text, b"\0\0\0\0")


def test_a_bool_is_0_or_1_whatever_its_byte():
    found = wire.unpack(framed(b'{"tensor": ["bool", [2], 0]}'), b"\x07\x00")["v"]
    assert found.tolist() == [True, False] and found.sum() == 1


def test_keys_that_collide_do_not_stop_the_grader():
    prime = 2**61 - 1  # integers that differ by this have the same hash
    whole = [str(prime * number) for number in range(50_000)]
    for keys in (whole, [f"{key}.0" for key in whole]):
        with pytest.raises(wire.WireError, match="keys"):
            wire.unpack(framed(b'{"set": [' + ",".join(keys).encode() + b"]}"), b"")
        with pytest.raises(wire.WireError, match="keys"):
            wire.unpack(
                framed(b'{"dict": [' + ",".join(f"[{key}, 1]" for key in keys).encode() + b"]}"),
                b"",
            )
    assert len(there_and_back({str(number) for number in range(5000)})) == 5000, (
        "texts do not collide"
    )
    assert len(there_and_back({(number, -number) for number in range(5000)})) == 5000, (
        "nor do these"
    )
    with pytest.raises(wire.WireError, match="same hash"):  # -1 and -2 have the same
        there_and_back(
            {tuple(-1 - (number >> bit & 1) for bit in range(9)) for number in range(500)}
        )


def test_too_large_is_refused_before_it_is_read():
    for lengths in ((2**32 - 1, 0), (0, 2**32 - 1), (wire.LARGEST_REPLY_JSON + 1, 0)):
        with pytest.raises(wire.WireError, match="too large"):
            wire.lengths(struct.pack("!II", *lengths))


def test_exceptions_travel_as_name_and_text():
    class Trap(Exception):
        def __str__(self):
            raise SystemExit

    assert wire.wording(Trap()) == ["Trap", ""]
    assert (
        str(wire.raised("KeyError", "'a'")) == "'a'"
        and type(wire.raised("KeyError", "")).__name__ == "KeyError"
    )
    assert isinstance(wire.raised("NotImplementedError", ""), NotImplementedError)
    assert type(wire.raised("no name; at all", "")).__name__ == "Exception"
