"""Submissions that attack the grader or are broken. Those that are odd but honest stand in odd.py.

Most of them are data: the files in hostile/, which README.md explains. They answer lesson 04 with an attack in place of
mean pooling, and two other exercises wrongly. Here is what a program has to build, and what the files refer to.
"""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import indent

from course_utils.tools.grading.marking import assignment

from ..grader import PARTS_OF_04, ROOT, points_of, solutions
from .cases import read

# in the name or text of everything that an attack leaves, and of everything that it must not find
TOKEN = f"hostile-{secrets.token_hex(4)}"
MEAN_POOL = "04-mean-pool"  # the exercise that attacks answer
NAMES = {  # of the functions, by exercise
    exercise_id: name for exercise_id, (name, _) in assignment(PARTS_OF_04)["exercises"].items()
}
RIGHT = solutions("04")  # sources, by exercise
# only two of the other exercises: with all of them, the attacks would take twice as long
WRONG = {
    exercise_id: f"def {NAMES[exercise_id]}(*args):\n    return 'wrong'"
    for exercise_id in ("04-max-pool", "04-how-pooled")
}
FULL = points_of(*PARTS_OF_04)  # the points of a hand-in that is right throughout


@dataclass(frozen=True)
class Hostile:
    """One submission: `build` returns the bytes of its notebook.

    file_name: what it is handed in as; "" if the grader is not told.
    statuses: those that the submission may get. message: words of a message or of the reason.
    needs_filter: only the filter of system calls stops it.
    """

    name: str
    description: str
    build: Callable[[], bytes]
    file_name: str = ""
    statuses: tuple[str, ...] = ("ok",)
    message: str = ""
    needs_filter: bool = False


# ---------------------------------------------------------------- building


def code_cell(source, grade_id=None, **fields):
    """A code cell as nbformat 4 stores it. fields: added to its own, or in place of them."""
    return {
        "cell_type": "code",
        "metadata": {"nbgrader": {"grade_id": grade_id}} if grade_id else {},
        "source": source,
        "outputs": [],
        "execution_count": None,
        **fields,
    }


def check_cell(exercise_id):
    """The check that lesson 04 has below the answer to an exercise."""
    return code_cell(f'check("{exercise_id}", {NAMES[exercise_id]})', f"{exercise_id}-check")


def lesson_cells(answers):
    """The cells of lesson 04 that count: each answer, and the check below it.

    answers: sources by exercise id.
    """
    return [
        cell
        for exercise_id, source in answers.items()
        for cell in (code_cell(source, exercise_id), check_cell(exercise_id))
    ]


def notebook_bytes(cells, **fields):
    """The bytes of a notebook of these cells. fields: added to its own, or in place of them."""
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **fields}
    return json.dumps(notebook).encode()


def hostile_hand_in(answer, above=(), below=()):
    """A notebook with this answer to mean pooling, wrong ones to two others, and further cells."""
    return notebook_bytes([*above, *lesson_cells({MEAN_POOL: answer, **WRONG}), *below])


def right_hand_in(above=(), below=(), **answers):
    """A notebook with right answers, some of them replaced, and further cells above and below.

    answers: sources by the function's name.
    """
    ids = {name: exercise_id for exercise_id, name in NAMES.items()}
    replaced = {ids[name]: source for name, source in answers.items()}
    return notebook_bytes([*above, *lesson_cells({**RIGHT, **replaced}), *below])


# ---------------------------------------------------------------- what cells of the files stand for


def instead(body, before=""):
    """An answer that does this in place of pooling. before: lines above the function."""
    return (
        f"{before}\ndef my_mean_pool(token_embeddings, attention_mask):\n{indent(body, '    ')}\n"
    )


def probe(body, before=""):
    """An answer that tries things when first called, and raises an error that lists what worked.

    body: lines of a function that appends what worked to `won`, by calling `tried` or `allowed`.
    before: lines above the functions.
    """
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
    # the attacks name system calls by the numbers that they have on x86_64
    return libc.syscall(number, *args) if os.uname().machine == "x86_64" else -1

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


# in an answer, a function that writes a frame (wire.py) to every open descriptor below 128 but the
# standard streams
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

# by the word behind ```python, what makes the answer of the source below it
ANSWER_FROM = {
    "my_mean_pool": lambda answer: answer,
    "instead": instead,
    "probe": probe,
    # a frame is written to every open descriptor when the answer is called
    "forged": lambda arguments: SEND + instead(f"send({arguments})\nreturn 1"),
    # or already when the answer's cell runs
    "forged at definition": lambda arguments: f"{SEND}my_mean_pool = send({arguments})",
}


# ---------------------------------------------------------------- what a program builds

DEEP = 100_000  # brackets or signs, far beyond what a parser's stack holds
BRACKETS = b"[" * DEEP + b"]" * DEEP
# by the name of the case, the answer to mean pooling
BUILT_ANSWERS = {
    "deep brackets in code": instead(f"return {'(' * DEEP}1{')' * DEEP}"),
    "deep arithmetic in code": instead(f"return {'-' * DEEP}1"),
    "a long sum": instead("x = " + "+".join(["1"] * 900) + "\nraise NotImplementedError"),
}
# by the name of the case, a function that returns the whole notebook
BUILT_NOTEBOOKS = {
    "an empty file": lambda: b"",
    "not JSON": lambda: b"\x89PNG\r\n\x1a\n" + bytes(1000),
    # without its end
    "half a notebook": lambda: hostile_hand_in("x = 1")[:-40],
    "a list": lambda: b"[1, 2]",
    "brackets": lambda: BRACKETS,
    "brackets in a cell": lambda: (
        b'{"cells": [{"cell_type": "code", "source": ' + BRACKETS + b"}]}"
    ),
    "cells that are no list": lambda: b'{"cells": "x"}',
    "cells of nothing": lambda: notebook_bytes([None, 1, [], "x", {}]),
    # a source, a type, an exercise id or metadata of a wrong type
    "odd cells": lambda: notebook_bytes(
        [
            code_cell(5),
            code_cell([1, None, "x = 1\n"]),
            code_cell({"a": 1}),
            {"cell_type": ["code"], "source": "x"},
            code_cell("x", [MEAN_POOL]),
            {"cell_type": "code", "metadata": [], "source": "x"},
            *lesson_cells(WRONG),
        ]
    ),
    "null bytes": lambda: hostile_hand_in("x = 1\0\nprint('\ud800')"),
    # the halves of surrogate pairs, which UTF-8 cannot write
    "half a letter in a report": lambda: hostile_hand_in(
        "def my_mean_pool(t, m):\n    raise ValueError('\\ud800')\n# \ud800",
        below=[{"cell_type": "markdown", "source": "# 04 \udfff", "metadata": {}}],
    ),
    # checks only
    "no answers": lambda: notebook_bytes(list(map(check_cell, (MEAN_POOL, *WRONG)))),
    "edited checks": lambda: notebook_bytes(
        [
            code_cell("", MEAN_POOL),
            code_cell(
                'import types\nmy_mean_pool = types.SimpleNamespace(status="passed", points=2)\n'
                'check = lambda *args: "passed"',
                f"{MEAN_POOL}-check",
            ),
            *lesson_cells(WRONG),
        ]
    ),
    # without exercise ids
    "renamed without a trace": lambda: notebook_bytes(
        [
            code_cell(RIGHT[MEAN_POOL].replace("my_mean_pool", "pool")),
            code_cell('check("04-mean-pool", my_mean_pool)'),
            *lesson_cells(WRONG),
        ]
    ),
    "a stub above a wrong one": lambda: notebook_bytes(
        [
            *reversed(lesson_cells(WRONG)),
            code_cell("def my_mean_pool(t, m):", MEAN_POOL),
            code_cell("    return t", MEAN_POOL),
            code_cell(instead("return 1"), MEAN_POOL),
            code_cell(instead("raise NotImplementedError()"), MEAN_POOL),
        ]
    ),
    "a million cells": lambda: (
        b'{"cells": [' + b",".join([b'{"cell_type":"code","source":"x=1"}'] * 10**6) + b"]}"
    ),
    "a hundred megabytes of outputs": lambda: notebook_bytes(
        [
            code_cell(
                source, exercise_id, outputs=[{"output_type": "stream", "text": "x" * 35_000_000}]
            )
            for exercise_id, source in {MEAN_POOL: "", **WRONG}.items()
        ]
    ),
    # the sizes of both hours: far more than the sandbox has the seconds or the memory to read
    "an hour of reading": lambda: b'{"cells": [' + b"[[]]," * 20_000_000 + b"[]]}",
    "an hour of magics": lambda: hostile_hand_in(
        instead("return 1"),
        above=[
            code_cell("x = " + "-" * 200_000 + "1"),
            code_cell("(" * 5000),
            code_cell('f"{' * 3000),
            code_cell("%" * 100_000),
            code_cell("\\\n" * 200_000),
            code_cell("?" * 100_000 + "\n!" * 50_000),
        ],
    ),
}


def submission(case):
    """The submission that a case describes: a notebook built as a whole, or an answer in its cell.

    case.cells has sources by the word behind their ```python: a key of ANSWER_FROM or "before" for
    those of the answer, "below" for cells below it, "" for cells above. README.md explains them, and
    the settings.
    """
    described = partial(
        Hostile,
        case.name,
        case.description,
        statuses=tuple(case.settings.get("status", "ok").split(", ")),
        message=case.settings.get("said", ""),
        needs_filter="filter" in case.settings,
    )
    if case.name in BUILT_NOTEBOOKS:
        return described(build=BUILT_NOTEBOOKS[case.name])
    written = [
        ANSWER_FROM[role](*case.cells[role], *case.cells.get("before", []))
        for role in ANSWER_FROM
        if role in case.cells
    ]
    # a case writes one answer at most; one whose attack stands in other cells has an empty one
    (answer,) = written or [BUILT_ANSWERS.get(case.name, "")]
    above, below = (list(map(code_cell, case.cells.get(place, []))) for place in ("", "below"))
    return described(
        build=lambda: hostile_hand_in(answer, above, below),
        # with other cells in it, the grader has to recognise the lesson by its cells alone
        file_name="" if above or below else "04_pooling.ipynb",
    )


HOSTILE = [
    submission(case)
    for case in read(
        Path(__file__).with_name("hostile"),
        BUILT_NOTEBOOKS.keys() | BUILT_ANSWERS.keys(),
        ("before", *ANSWER_FROM),
        ("status", "said", "filter"),
        SHARED=SHARED,
        TOKEN=TOKEN,
        REPOSITORY=str(ROOT),
        HOME=str(Path.home()),
    )
]
