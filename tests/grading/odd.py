"""Notebooks that are odd but honest: what is odd, and the points that each deserves.

test_odd_kernel.py proves the points with a real kernel; test_odd.py compares the grader with them.
Most are data: the files in odd/, which README.md explains. All answer lesson 04 rightly, and mean
pooling oddly, but for those that name the exercises that they lose: nearly all of them are in
odd/less.md. Here is what a program has to build; its sentence, which says what is odd, is in those
files, too.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path

from ..grader import points_of
from .cases import read
from .hostile import (
    FULL,
    MEAN_POOL,
    NAMES,
    RIGHT,
    check_cell,
    code_cell,
    lesson_cells,
    notebook_bytes,
    right_hand_in,
)

MEAN = RIGHT[MEAN_POOL].strip()
RIGHT_CELLS = lesson_cells(RIGHT)  # by turns an answer and its check
ANSWER, CHECK, *OTHERS = RIGHT_CELLS  # the first two are those of mean pooling


@dataclass(frozen=True)
class Odd:
    """A notebook: `build` returns its bytes, and it deserves `points`."""

    name: str
    what_is_odd: str
    build: Callable[[], bytes]
    points: int = FULL


# ---------------------------------------------------------------- building


def replaced(text, old, new):
    """A text, or bytes, with `new` wherever `old` was, which must be there."""
    assert old in text, f"lesson 04 answers mean pooling in other words: {old!r} is not there"
    return text.replace(old, new)


# mean pooling that takes its dimension, or its weights, from an expression in place of {}
MEAN_WITH_GAP = {
    "dim": replaced(MEAN, "dim=1", "dim={}"),
    "weights": replaced(
        MEAN,
        "attention_mask.unsqueeze(-1).to(token_embeddings.dtype)",
        "{}(attention_mask, token_embeddings)",
    ),
}


def with_first_lines(lines):
    """A notebook whose mean pooling does this first, each time it is called. lines: one text."""
    first = "".join(f"    {line}\n" for line in lines.split("\n"))
    return right_hand_in(my_mean_pool=replaced(MEAN, "    weight =", f"{first}    weight ="))


def with_answer_cell(**fields):
    """A right notebook, with these fields in the cell that answers mean pooling."""
    return notebook_bytes([{**ANSWER, **fields}, CHECK, *OTHERS])


def with_renamed(check):
    """A notebook whose mean pooling is called `pool`. check: the source of the cell below it."""
    return notebook_bytes(
        [
            code_cell(replaced(MEAN, "my_mean_pool", "pool"), MEAN_POOL),
            code_cell(check, f"{MEAN_POOL}-check"),
            *OTHERS,
        ]
    )


def cells_with_metadata(**metadata):
    """The lesson's cells, each with this metadata beside its own."""
    return [{**cell, "metadata": {**cell["metadata"], **metadata}} for cell in RIGHT_CELLS]


def text_cell(source, kind="markdown", **fields):
    """A cell that holds no code, with further or other fields."""
    return {"cell_type": kind, "metadata": {}, "source": source, **fields}


# ---------------------------------------------------------------- what a program builds

# By the name of the case, a function that returns the bytes of the notebook. The sizes are those
# that the sentences of the cases name: far more than a learner's notebook has.
BUILT = {
    # --- the sources of its cells
    "a long chain of choices": lambda: with_first_lines(
        "x = 0\nif x == 1:\n    x = 1\n"
        + "".join(f"elif x == {number}:\n    x = 2\n" for number in range(2, 250))
    ),
    "line ends of old Macs": lambda: right_hand_in(my_mean_pool=replaced(MEAN, "\n", "\r")),
    "lines as a list": lambda: right_hand_in(my_mean_pool=f"\n{MEAN}\n".splitlines(keepends=True)),
    "letters as a list": lambda: right_hand_in(my_mean_pool=list(MEAN)),
    "an empty list": lambda: right_hand_in([code_cell([]), code_cell("")]),
    "a list of one text": lambda: right_hand_in(my_mean_pool=[MEAN]),
    "a NUL in a Markdown cell": lambda: right_hand_in([text_cell("# 04\0 Pooling")]),
    "a very long line": lambda: with_first_lines("# " + "x" * 100_000),
    "a very long list": lambda: right_hand_in(
        [code_cell(f"NUMBERS = {[1] * 20_000}")],
        my_mean_pool=MEAN_WITH_GAP["dim"].replace("{}", "NUMBERS[-1]"),
    ),
    # --- which cells it has, and in which order
    "as it should be": right_hand_in,
    "a timed check": lambda: notebook_bytes(
        [ANSWER, {**CHECK, "source": f'%time check("{MEAN_POOL}", my_mean_pool)'}, *OTHERS]
    ),
    "all in the last cell": lambda: notebook_bytes(
        [*map(check_cell, NAMES), code_cell("\n".join(RIGHT.values()))]
    ),
    "all in the first cell": lambda: notebook_bytes(
        [code_cell("\n".join(RIGHT.values())), *lesson_cells(dict.fromkeys(NAMES, ""))]
    ),
    "all in one cell with an id": lambda: notebook_bytes(
        lesson_cells({**dict.fromkeys(NAMES, ""), MEAN_POOL: "\n".join(RIGHT.values())})
    ),
    "a first try above": lambda: right_hand_in(
        [code_cell("def my_mean_pool(t, m):\n    return t.mean(1)", MEAN_POOL)]
    ),
    "the answer twice": lambda: right_hand_in([code_cell(MEAN, MEAN_POOL)]),
    "the answer twice with its check": lambda: right_hand_in(lesson_cells({MEAN_POOL: MEAN})),
    "in reverse order": lambda: notebook_bytes(lesson_cells(dict(reversed(RIGHT.items())))),
    "answers, then checks": lambda: notebook_bytes([*RIGHT_CELLS[::2], *RIGHT_CELLS[1::2]]),
    "checks, then answers": lambda: notebook_bytes([*RIGHT_CELLS[1::2], *RIGHT_CELLS[::2]]),
    "no checks": lambda: notebook_bytes(RIGHT_CELLS[::2]),
    "the first two alone": lambda: notebook_bytes(RIGHT_CELLS[:4]),
    "a renamed function": lambda: with_renamed(f'check("{MEAN_POOL}", pool)'),
    "another name in the check's cell": lambda: with_renamed(
        f'my_mean_pool = pool\ncheck("{MEAN_POOL}", my_mean_pool)'
    ),
    "split over two cells": lambda: right_hand_in(
        [code_cell("DIM = 1", MEAN_POOL)], my_mean_pool=MEAN_WITH_GAP["dim"].replace("{}", "DIM")
    ),
    "raw cells": lambda: right_hand_in(
        [
            text_cell("---\ntitle: 04\n---", "raw"),
            text_cell(
                "def my_mean_pool(t, m):\n    return t", "raw", metadata={"format": "text/x-python"}
            ),
        ]
    ),
    "unknown kinds of cells": lambda: right_hand_in(
        [
            text_cell("select 1", "sql"),
            text_cell("Title", "heading", level=1),
            text_cell({"a": 1}, "widget"),
        ]
    ),
    "a cell without a source": lambda: notebook_bytes(
        [
            {"cell_type": "code", "metadata": {}, "outputs": []},
            {"cell_type": "markdown", "metadata": {}},
            *RIGHT_CELLS,
        ]
    ),
    "in a Markdown cell": lambda: with_answer_cell(cell_type="markdown"),
    "in a raw cell": lambda: with_answer_cell(cell_type="raw"),
    # --- what its cells have beside a source, and its metadata
    "cells without ids": lambda: notebook_bytes(
        [text_cell("# 04 Pooling"), *map(code_cell, RIGHT.values())]
    ),
    "ids of cells": lambda: notebook_bytes(
        [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(RIGHT_CELLS)]
    ),
    "one id for all cells": lambda: notebook_bytes(
        [{**cell, "id": "same"} for cell in RIGHT_CELLS]
    ),
    "metadata lost": lambda: notebook_bytes([{**cell, "metadata": {}} for cell in RIGHT_CELLS]),
    "metadata of checks lost": lambda: notebook_bytes(
        [  # each second cell is a check
            {**cell, "metadata": {}} if number % 2 else cell
            for number, cell in enumerate(RIGHT_CELLS)
        ]
    ),
    "no metadata at all": lambda: notebook_bytes(
        [{key: cell[key] for key in cell if key != "metadata"} for cell in RIGHT_CELLS]
    ),
    "odd metadata": lambda: notebook_bytes(
        cells_with_metadata(tags=["x", None], deepnote={"a": []}, collapsed=None, **{"": 1})
    ),
    "locked cells": lambda: notebook_bytes(
        cells_with_metadata(
            editable=False, deletable=False, trusted=True, jupyter={"source_hidden": True}
        )
    ),
    "an id that went to another cell": lambda: right_hand_in(
        [text_cell("See below.", metadata={"nbgrader": {"grade_id": MEAN_POOL}})]
    ),
    "Colab": lambda: notebook_bytes(
        cells_with_metadata(id="aB3", cellView="form", outputId="x"),
        nbformat_minor=0,
        metadata={
            "colab": {"provenance": [], "name": "04.ipynb"},
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
            "accelerator": "GPU",
        },
    ),
    "VS Code": lambda: notebook_bytes(
        cells_with_metadata(vscode={"languageId": "python"}),
        metadata={
            "kernelspec": {
                "name": "base",
                "display_name": "base (Python 3.12.1)",
                "language": "python",
            },
            "orig_nbformat": 4,
            "vscode": {"interpreter": {"hash": "0"}},
        },
    ),
    "Kaggle": lambda: notebook_bytes(
        [
            code_cell(
                "import os\n"
                "for folder, _, files in os.walk('/kaggle/input'):\n"
                "    print(folder, files)"
            ),
            *RIGHT_CELLS,
        ],
        metadata={
            "kaggle": {"accelerator": "none", "isGpuEnabled": False},
            "kernelspec": {"name": "python3"},
            "papermill": {"duration": 1.5},
        },
    ),
    "another kernel's name": lambda: notebook_bytes(
        RIGHT_CELLS,
        metadata={
            "kernelspec": {"name": "my-env", "display_name": "Mine"},
            "language_info": {"name": "python", "version": "3.8"},
        },
    ),
    "30 MB of outputs": lambda: with_answer_cell(
        outputs=[
            {
                "output_type": "display_data",
                "metadata": {},
                "data": {"image/png": "iVBORw0KGgo" * 3_000_000},
            }
        ]
    ),
    "outputs of all kinds": lambda: with_answer_cell(
        outputs=[
            {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["\x1b[0;31m"]},
            {"output_type": "stream", "name": "stdout", "text": ["a", "b"]},
            {"output_type": "something_new"},
            {
                "output_type": "execute_result",
                "data": {"application/json": [1, None]},
                "metadata": {},
                "execution_count": 3,
            },
        ]
    ),
    "attachments": lambda: right_hand_in(
        [text_cell("![](attachment:a.png)", attachments={"a.png": {"image/png": "iVBORw0KGgo="}})]
    ),
    "counts of runs": lambda: notebook_bytes(
        [  # as no kernel counts
            {**cell, "execution_count": count}
            for cell, count in zip(RIGHT_CELLS, cycle((99, 1, None, "x", 5, 5, 2, 1)))
        ]
    ),
    # --- how the file is written
    "a byte order mark": lambda: b"\xef\xbb\xbf" + right_hand_in(),
    "nbformat 4.0": lambda: notebook_bytes(RIGHT_CELLS, nbformat_minor=0),
    "a format of the future": lambda: notebook_bytes(RIGHT_CELLS, nbformat_minor=9),
    "no version": lambda: json.dumps(
        {"cells": RIGHT_CELLS, "metadata": {}, "nbformat": 4}
    ).encode(),
    "escaped letters": lambda: replaced(right_hand_in(), b"weight", b"\\u0077eight"),
    "indented JSON": lambda: json.dumps(json.loads(right_hand_in()), indent=2000).encode(),
    "a final line end and spaces": lambda: b"\n\n" + right_hand_in() + b"\r\n \t\n",
    "keys in another order": lambda: json.dumps(
        json.loads(right_hand_in()), sort_keys=True
    ).encode(),
}


# ---------------------------------------------------------------- what the files describe


def with_cells_of(case):
    """A right notebook with the cells of a case.

    If the case has a setting `dim` or `weights`, mean pooling takes that from its expression.
    """
    # a case has one source for each function; its other cells are above and below the answers
    answers = {name: sources[0] for name, sources in case.cells.items() if name in NAMES.values()}
    # a case has at most one of these settings
    for key in MEAN_WITH_GAP.keys() & case.settings.keys():
        answers["my_mean_pool"] = MEAN_WITH_GAP[key].replace("{}", case.settings[key])
    above, below = (map(code_cell, case.cells.get(place, [])) for place in ("", "below"))
    return right_hand_in(above, below, **answers)


def odd(case):
    """The notebook that a case describes, and its points.

    It is built by the function in BUILT, or from the cells of the case.
    """
    lost = case.settings["lost"].split(", ") if "lost" in case.settings else []
    build = BUILT.get(case.name) or partial(with_cells_of, case)
    return Odd(case.name, case.description, build, points=FULL - points_of(*lost))


ODD = [
    odd(case)
    for case in read(
        Path(__file__).with_name("odd"),
        built=BUILT,
        roles=NAMES.values(),
        keys=(*MEAN_WITH_GAP, "lost"),
    )
]
