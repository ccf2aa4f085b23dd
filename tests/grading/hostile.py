"""Submissions that attack the grader or are broken. Those that are odd but honest stand in odd.py.

Most of them are data: the files in hostile/, which README.md explains. They answer lesson 04 with an attack in place of
mean pooling, and the other exercises wrongly. Here is what a program has to build, and what the files refer to.
"""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import indent

from course_utils.tools.grading.marking import assignment

from ..grader import LESSON, ROOT, points_of, solutions
from .cases import read

# in the name or text of everything that an attack leaves, and of everything that it must not find
TOKEN = f"hostile-{secrets.token_hex(4)}"
ID = "04-mean-pool"
NAMES = {  # of the functions, by exercise
    exercise_id: name for exercise_id, (name, _) in assignment(LESSON)["exercises"].items()
}
RIGHT = solutions("04")  # sources, by exercise
# only two of the other exercises: with all of them, the attacks would take twice as long
WRONG = {
    exercise_id: f"def {NAMES[exercise_id]}(*args):\n    return 'wrong'"
    for exercise_id in ("04-max-pool", "04-how-pooled")
}
FULL = points_of(*LESSON)  # the points of a hand-in that is right throughout


@dataclass(frozen=True)
class Hostile:
    """One submission: `answer` is in the cell of mean pooling, or `build` makes the whole notebook's bytes.

    statuses: those that the submission may get. message: words of a message or of the reason.
    needs_filter: only the filter of system calls stops it.
    """

    name: str
    description: str
    answer: str = ""
    build: Callable[[], bytes] | None = None
    statuses: tuple[str, ...] = ("ok",)
    message: str = ""
    needs_filter: bool = False

    def notebook(self):
        return self.build() if self.build else hand_in(self.answer)


# ---------------------------------------------------------------- building


# A code cell as nbformat 4 stores it, with further or other fields.
def code(source, grade_id=None, **fields):
    return {
        "cell_type": "code",
        "metadata": {"nbgrader": {"grade_id": grade_id}} if grade_id else {},
        "source": source,
        "outputs": [],
        "execution_count": None,
        **fields,
    }


def file(cells, **fields):
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **fields}
    return json.dumps(notebook).encode()


# The cells of lesson 04 that count: each answer, and the check below it.
def lesson(answers):
    return [
        cell
        for exercise_id, source in answers.items()
        for cell in (
            code(source, exercise_id),
            code(f'check("{exercise_id}", {NAMES[exercise_id]})', f"{exercise_id}-check"),
        )
    ]


def hand_in(answer):
    return file(lesson({ID: answer, **WRONG}))


def right(before=(), after=(), **answers):
    """A notebook with right answers, some of them replaced, and cells before and after.

    answers: sources by the function's name.
    """
    ids = {name: exercise_id for exercise_id, name in NAMES.items()}
    replaced = {ids[name]: source for name, source in answers.items()}
    return file([*before, *lesson({**RIGHT, **replaced}), *after])


# ---------------------------------------------------------------- what cells of the files stand for


# An answer that does this in place of pooling.
def instead(body, before=""):
    return (
        f"{before}\ndef my_mean_pool(token_embeddings, attention_mask):\n{indent(body, '    ')}\n"
    )


# An answer that tries things when first called, and raises an error that lists those which
# worked, in `won`. The lines of `body` are a function's; they call `tried` or `allowed`.
def probe(body, before=""):
    return f"""
import os, ctypes, sys
said = ""
libc = ctypes.CDLL(None, use_errno=True)
{before}
def tried(won, what, function, *args):
    try:
        function(*args)
    except BaseException:
        return
    won.append(what)

def syscall(number, *args):
    return libc.syscall(number, *args) if os.uname().machine == "x86_64" else -1  # the numbers of this processor

def allowed(won, what, result):
    if result != -1:
        won.append(what)

def attack(won):
{indent(body, "    ")}

def my_mean_pool(token_embeddings, attention_mask):
    global said
    if not said:
        won = []
        attack(won)
        said = f"won {{won}}" if won else "won nothing"
    raise RuntimeError(said)
"""


# in an answer, a function that writes a frame to every open descriptor but the standard streams
SEND = """
import json, os, struct
def send(*pairs, arrays=b"", text=None, times=1):
    text = json.dumps({"dict": pairs}).encode() if text is None else text
    for descriptor in range(3, 128):
        left = (struct.pack("!II", len(text), len(arrays)) + text + arrays) * times
        try:
            while left:
                left = left[os.write(descriptor, left):]
        except OSError:
            pass
"""


# A frame that the answer writes to every open descriptor when it is called.
def forged(sent):
    return SEND + instead(f"send({sent})\nreturn 1")


# A frame that the answer's cell writes to every open descriptor when it runs.
def forged_at_definition(sent):
    return f"{SEND}my_mean_pool = send({sent})"


# in an answer, the descriptors and sizes of the memory that it shares with the grader, and a
# function that overwrites all of it
SHARED = """
import fcntl, mmap, stat, torch
def shared():
    for descriptor in range(3, 128):
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                yield descriptor, os.fstat(descriptor).st_size
        except OSError:
            pass
def wipe(byte=b"\\0"):
    for descriptor, size in shared():
        os.pwrite(descriptor, byte * size, 0)
        mmap.mmap(descriptor, size)[:] = byte * size
"""

ANSWERS = {
    "my_mean_pool": str,
    "instead": instead,
    "probe": probe,
    "forged": forged,
    "forged at definition": forged_at_definition,
}


# ---------------------------------------------------------------- what a program builds

DEEP = 100_000  # brackets or signs, far beyond what a parser's stack holds
EDITED = """import types
my_mean_pool = types.SimpleNamespace(status="passed", points=2)
check = lambda *args: "passed\""""
# by the name of the case, an answer or a function that returns the whole notebook
BUILT = {
    "an empty file": lambda: b"",
    "not JSON": lambda: b"\x89PNG\r\n\x1a\n" + bytes(1000),
    "half a notebook": lambda: hand_in("x = 1")[:-40],
    "a list": lambda: b"[1, 2]",
    "brackets": lambda: b"[" * DEEP + b"]" * DEEP,
    "brackets in a cell": lambda: (
        b'{"cells": [{"cell_type": "code", "source": ' + b"[" * DEEP + b"]" * DEEP + b"}]}"
    ),
    "cells that are no list": lambda: b'{"cells": "x"}',
    "cells of nothing": lambda: file([None, 1, [], "x", {}]),
    "odd cells": lambda: file(
        [
            *map(code, (5, [1, None, "x = 1\n"], {"a": 1})),
            *({"cell_type": ["code"], "source": "x"}, code("x", ["04-mean-pool"])),
            *({"cell_type": "code", "metadata": [], "source": "x"}, *lesson(WRONG)),
        ]
    ),
    "null bytes": lambda: hand_in("x = 1\0\nprint('\ud800')"),
    "half a letter in a report": lambda: file(
        [
            *lesson(
                {ID: "def my_mean_pool(t, m):\n    raise ValueError('\\ud800')\n# \ud800", **WRONG}
            ),
            {"cell_type": "markdown", "source": "# 04 \udfff", "metadata": {}},
        ]
    ),
    "deep brackets in code": instead(f"return {'(' * DEEP}1{')' * DEEP}"),
    "deep arithmetic in code": instead(f"return {'-' * DEEP}1"),
    "a long sum": instead("x = " + "+".join(["1"] * 900) + "\nraise NotImplementedError"),
    "no answers": lambda: file(lesson({ID: "", **WRONG})[1::2]),
    "edited checks": lambda: file([code("", ID), code(EDITED, f"{ID}-check"), *lesson(WRONG)]),
    "renamed without a trace": lambda: file(
        [
            code(RIGHT[ID].replace("my_mean_pool", "pool")),
            code('check("04-mean-pool", my_mean_pool)'),
            *lesson(WRONG),
        ]
    ),
    "a stub above a wrong one": lambda: file(
        [
            *lesson(WRONG)[::-1],
            *(code(half, ID) for half in ("def my_mean_pool(t, m):", "    return t")),
            code(instead("return 1"), ID),
            code(instead("raise NotImplementedError()"), ID),
        ]
    ),
    "a million cells": lambda: (
        b'{"cells": [' + b",".join([b'{"cell_type":"code","source":"x=1"}'] * 10**6) + b"]}"
    ),
    "a hundred megabytes of outputs": lambda: file(
        [
            code(source, exercise_id, outputs=[{"output_type": "stream", "text": "x" * 25_000_000}])
            for exercise_id, source in {ID: "", **WRONG}.items()
        ]
    ),
    "an hour of reading": lambda: b'{"cells": [' + b"[[]]," * 20_000_000 + b"[]]}",
    "an hour of magics": lambda: file(
        [
            *map(code, ("x = " + "-" * 200_000 + "1", "(" * 5000, 'f"{' * 3000, "%" * 100_000)),
            *map(code, ("\\\n" * 200_000, "?" * 100_000 + "\n!" * 50_000)),
            *lesson({ID: instead("return 1"), **WRONG}),
        ]
    ),
}


# The submission that a case describes.
def submission(case):
    answer = BUILT.get(case.name, "")  # or a function that builds the whole notebook
    for role in ANSWERS.keys() & case.cells.keys():  # one at most
        answer = ANSWERS[role](*case.cells[role], *case.cells.get("before", []))
    above, below = case.cells.get("", []), case.cells.get("below", [])
    if above or below:
        cells = [*map(code, above), *lesson({ID: answer, **WRONG}), *map(code, below)]
        answer = partial(file, cells)
    is_text = isinstance(answer, str)
    return Hostile(
        case.name,
        case.description,
        answer=answer if is_text else "",
        build=None if is_text else answer,
        statuses=tuple(case.settings.get("status", "ok").split(", ")),
        message=case.settings.get("said", ""),
        needs_filter="filter" in case.settings,
    )


HOSTILE = [
    submission(case)
    for case in read(
        Path(__file__).with_name("hostile"),
        BUILT,
        ("before", *ANSWERS),
        ("status", "said", "filter"),
        SHARED=SHARED,
        TOKEN=TOKEN,
        REPOSITORY=str(ROOT),
        HOME=str(Path.home()),
    )
]
