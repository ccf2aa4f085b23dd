"""Notebooks that are odd but honest: what is odd, and the points that each deserves.

test_odd_kernel.py proves the points with a real kernel; test_odd.py compares the grader with them. Most are data: the
files in odd/, which README.md explains. All but those in odd/less.md answer lesson 04 rightly, and mean pooling oddly.
Here is what a program has to build.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
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
# mean pooling that takes its dimension, or its weights, from an expression in place of {}
MEAN_WITH_GAP = {
    "dim": MEAN.replace("dim=1", "dim={}"),
    "weights": MEAN.replace(
        "attention_mask.unsqueeze(-1).to(token_embeddings.dtype)",
        "{}(attention_mask, token_embeddings)",
    ),
}
assert all("{}" in source for source in MEAN_WITH_GAP.values()), (
    "lesson 04 answers mean pooling in other words"
)


@dataclass(frozen=True)
class Odd:
    """A notebook: `build` returns its bytes, and it deserves `points`."""

    name: str
    what_is_odd: str
    build: Callable[[], bytes]
    points: int = FULL


# ---------------------------------------------------------------- what a program builds


# Mean pooling is answered by this cell.
def mean(source):
    return lambda: right_hand_in(my_mean_pool=source)


# Mean pooling does this first, each time it is called.
def inside(lines):
    first = "".join(f"    {line}\n" for line in lines.split("\n"))
    return mean(MEAN.replace("    weight =", f"{first}    weight =", 1))


# A right notebook whose cells `change` replaces, by a list that it returns, or changes in place.
# right_cells[0] answers mean pooling, right_cells[1] checks it, and so on by pairs.
def cells(change):
    def build():
        right_cells = lesson_cells(RIGHT)
        return notebook_bytes(change(right_cells) or right_cells)  # a change in place returns None

    return build


# Mean pooling is answered by `pool`, and checked by this cell.
def renamed(check):
    return cells(
        lambda right_cells: [
            code_cell(MEAN.replace("my_mean_pool", "pool"), MEAN_POOL),
            code_cell(check, f"{MEAN_POOL}-check"),
            *right_cells[2:],
        ]
    )


# The lesson's cells, each with this metadata beside its own.
def with_metadata(**metadata):
    return [{**cell, "metadata": {**cell["metadata"], **metadata}} for cell in lesson_cells(RIGHT)]


# A cell that is no code.
def text(source, kind="markdown", **fields):
    return {"cell_type": kind, "metadata": {}, "source": source, **fields}


METADATA = {  # of whole notebooks
    "Colab": {
        "colab": {"provenance": [], "name": "04.ipynb"},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "accelerator": "GPU",
    },
    "VS Code": {
        "kernelspec": {
            "name": "base",
            "display_name": "base (Python 3.12.1)",
            "language": "python",
        },
        "orig_nbformat": 4,
        "vscode": {"interpreter": {"hash": "0"}},
    },
    "Kaggle": {
        "kaggle": {"accelerator": "none", "isGpuEnabled": False},
        "kernelspec": {"name": "python3"},
        "papermill": {"duration": 1.5},
    },
    "another kernel's name": {
        "kernelspec": {"name": "my-env", "display_name": "Mine"},
        "language_info": {"name": "python", "version": "3.8"},
    },
}
COUNTS = (99, 1, None, "x", 5, 5, 2, 1)  # of runs, as no kernel counts
KAGGLE = "import os\nfor folder, _, files in os.walk('/kaggle/input'):\n    print(folder, files)"
# by the name of the case, a function that returns the whole notebook
BUILT = {
    "as it should be": right_hand_in,
    "a long chain of choices": inside(
        "x = 0\nif x == 1:\n    x = 1\n"
        + "".join(f"elif x == {number}:\n    x = 2\n" for number in range(2, 250))
    ),
    "a byte order mark": lambda: b"\xef\xbb\xbf" + right_hand_in(),
    "line ends of old Macs": mean(MEAN.replace("\n", "\r")),
    "lines as a list": mean(f"\n{MEAN}\n".splitlines(keepends=True)),
    "letters as a list": mean(list(MEAN)),
    "an empty list": lambda: right_hand_in([code_cell([]), code_cell("")]),
    "a list of one text": mean([MEAN]),
    "a NUL in a Markdown cell": lambda: right_hand_in([text("# 04\0 Pooling")]),
    "a very long line": inside("# " + "x" * 100_000),
    "a very long list": lambda: right_hand_in(
        [code_cell(f"NUMBERS = {[1] * 20_000}")],
        my_mean_pool=MEAN_WITH_GAP["dim"].replace("{}", "NUMBERS[-1]"),
    ),
    "a timed check": cells(
        lambda right_cells: right_cells[1].update(
            source=f'%time check("{MEAN_POOL}", my_mean_pool)'
        )
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
    "answers, then checks": lambda: notebook_bytes(
        [*lesson_cells(RIGHT)[::2], *lesson_cells(RIGHT)[1::2]]
    ),
    "checks, then answers": lambda: notebook_bytes(
        [*lesson_cells(RIGHT)[1::2], *lesson_cells(RIGHT)[::2]]
    ),
    "no checks": lambda: notebook_bytes(lesson_cells(RIGHT)[::2]),
    "a renamed function": renamed(f'check("{MEAN_POOL}", pool)'),
    "another name in the check's cell": renamed(
        f'my_mean_pool = pool\ncheck("{MEAN_POOL}", my_mean_pool)'
    ),
    "split over two cells": lambda: right_hand_in(
        [code_cell("DIM = 1", MEAN_POOL)], my_mean_pool=MEAN_WITH_GAP["dim"].replace("{}", "DIM")
    ),
    "nbformat 4.0": lambda: notebook_bytes(lesson_cells(RIGHT), nbformat_minor=0),
    "a format of the future": lambda: notebook_bytes(lesson_cells(RIGHT), nbformat_minor=9),
    "no version": lambda: json.dumps(
        {"cells": lesson_cells(RIGHT), "metadata": {}, "nbformat": 4}
    ).encode(),
    "cells without ids": lambda: notebook_bytes(
        [text("# 04 Pooling"), *map(code_cell, RIGHT.values())]
    ),
    "ids of cells": cells(
        lambda right_cells: [
            {**cell, "id": f"cell-{number}"} for number, cell in enumerate(right_cells)
        ]
    ),
    "one id for all cells": cells(
        lambda right_cells: [{**cell, "id": "same"} for cell in right_cells]
    ),
    "metadata lost": cells(lambda right_cells: [{**cell, "metadata": {}} for cell in right_cells]),
    "metadata of checks lost": cells(
        lambda right_cells: [  # each second cell is a check
            {**cell, "metadata": {}} if number % 2 else cell
            for number, cell in enumerate(right_cells)
        ]
    ),
    "no metadata at all": cells(
        lambda right_cells: [
            {key: value for key, value in cell.items() if key != "metadata"} for cell in right_cells
        ]
    ),
    "odd metadata": lambda: notebook_bytes(
        with_metadata(tags=["x", None], deepnote={"a": []}, collapsed=None, **{"": 1})
    ),
    "an id that went to another cell": lambda: right_hand_in(
        [text("See below.", metadata={"nbgrader": {"grade_id": MEAN_POOL}})]
    ),
    "Colab": lambda: notebook_bytes(
        with_metadata(id="aB3", cellView="form", outputId="x"),
        nbformat_minor=0,
        metadata=METADATA["Colab"],
    ),
    "VS Code": lambda: notebook_bytes(
        with_metadata(vscode={"languageId": "python"}), metadata=METADATA["VS Code"]
    ),
    "Kaggle": lambda: notebook_bytes(
        [code_cell(KAGGLE), *lesson_cells(RIGHT)], metadata=METADATA["Kaggle"]
    ),
    "another kernel's name": lambda: notebook_bytes(
        lesson_cells(RIGHT), metadata=METADATA["another kernel's name"]
    ),
    "30 MB of outputs": cells(
        lambda right_cells: right_cells[0].update(
            outputs=[
                {
                    "output_type": "display_data",
                    "metadata": {},
                    "data": {"image/png": "iVBORw0KGgo" * 3_000_000},
                }
            ]
        )
    ),
    "outputs of all kinds": cells(
        lambda right_cells: right_cells[0].update(
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
        )
    ),
    "attachments": lambda: right_hand_in(
        [text("![](attachment:a.png)", attachments={"a.png": {"image/png": "iVBORw0KGgo="}})]
    ),
    "raw cells": lambda: right_hand_in(
        [
            text("---\ntitle: 04\n---", "raw"),
            text(
                "def my_mean_pool(t, m):\n    return t", "raw", metadata={"format": "text/x-python"}
            ),
        ]
    ),
    "unknown kinds of cells": lambda: right_hand_in(
        [text("select 1", "sql"), text("Title", "heading", level=1), text({"a": 1}, "widget")]
    ),
    "a cell without a source": cells(
        lambda right_cells: [
            {"cell_type": "code", "metadata": {}, "outputs": []},
            {"cell_type": "markdown", "metadata": {}},
            *right_cells,
        ]
    ),
    "counts of runs": cells(
        lambda right_cells: [
            {**cell, "execution_count": count} for cell, count in zip(right_cells, cycle(COUNTS))
        ]
    ),
    "escaped letters": lambda: right_hand_in().replace(b"weight", b"\\u0077eight"),
    "indented JSON": lambda: json.dumps(json.loads(right_hand_in()), indent=2000).encode(),
    "a final line end and spaces": lambda: b"\n\n" + right_hand_in() + b"\r\n \t\n",
    "keys in another order": lambda: json.dumps(
        json.loads(right_hand_in()), sort_keys=True
    ).encode(),
    "locked cells": lambda: notebook_bytes(
        with_metadata(
            editable=False, deletable=False, trusted=True, jupyter={"source_hidden": True}
        )
    ),
    "the first two alone": lambda: notebook_bytes(lesson_cells(RIGHT)[:4]),
    "in a Markdown cell": cells(lambda right_cells: right_cells[0].update(cell_type="markdown")),
    "in a raw cell": cells(lambda right_cells: right_cells[0].update(cell_type="raw")),
}


# ---------------------------------------------------------------- the table


# The notebook that a case describes, with its points.
def notebook(case):
    answers = {name: case.cells[name][0] for name in NAMES.values() if name in case.cells}
    # a case has at most one of them
    for key in MEAN_WITH_GAP.keys() & case.settings.keys():
        answers["my_mean_pool"] = MEAN_WITH_GAP[key].replace("{}", case.settings[key])
    lost = case.settings["lost"].split(", ") if "lost" in case.settings else []
    above, below = case.cells.get("", []), case.cells.get("below", [])
    build = BUILT.get(case.name) or (
        lambda: right_hand_in(map(code_cell, above), map(code_cell, below), **answers)
    )
    return Odd(case.name, case.description, build, FULL - points_of(*lost))


ODD = [
    notebook(case)
    for case in read(
        Path(__file__).with_name("odd"), BUILT, tuple(NAMES.values()), ("dim", "weights", "lost")
    )
]
