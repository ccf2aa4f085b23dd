"""Which parts of a notebook an answer needs: honest code means the same in the grader as in the notebook."""

import asyncio
import gc
import itertools
import re
import signal
import sys

import pytest

from course_utils.tools.grading import program, running
from course_utils.tools.grading.reading import Cell, CellUnreadable, cell_checksum
from course_utils.tools.grading.submission import Submission


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """A temporary folder, with cleanup: IPython's shell installs its own module, displayhook and name."""
    from IPython.core.interactiveshell import InteractiveShell

    main, hook = sys.modules["__main__"], sys.displayhook
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    # pytest's own fails if an alarm interrupts it
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    InteractiveShell.clear_instance()
    sys.modules["__main__"], sys.displayhook = main, hook
    sys.modules.pop("helpers", None)


def define(cells, ids=None, name="f", run="slice", known=()):
    """The grader's reply for the function f of a notebook with these cells, and the function.

    cells: separated by " || ". ids: {number of a cell: its exercise}. known: sources of the
    lesson's own cells. run: "slice", the statements that f needs; "check", the cells down to its
    check; "end", all cells.
    """
    submission = Submission()
    submission.cells = [
        Cell("code", source, (ids or {}).get(number))
        for number, source in enumerate(cells.split(" || "))
    ]
    submission.open(["00-f"], [], [cell_checksum(source) for source in known])
    return submission.define("00-f", name, run), submission.answers.get("00-f")


def reply_to(cells, **more):
    # the grader's reply alone
    return define(cells, **more)[0]


def answer(cells, **more):
    reply, function = define(cells, **more)
    assert reply.get("callable"), reply
    return function


@pytest.mark.parametrize(
    "cells, given, right",
    [
        ("def f(x): return x + 1", 1, 2),
        ("def g(x): return x * 2 || def f(x): return g(x)", 2, 4),
        ("def f(x): return g(x) || def g(x): return x * 3", 2, 6),
        (
            "import math as m\nfrom statistics import mean || def f(x): return m.floor(mean(x))",
            [1, 2.5],
            1,
        ),
        (
            "table = {}\nfor n, letter in enumerate('abc'):\n    table[letter] = n || def f(x): return table[x]",
            "c",
            2,
        ),
        (
            "words = []\nwith open('/dev/null') as file:\n    words.append('a') || words.append('b') || "
            "def f(x): return words + x",
            ["c"],
            ["a", "b", "c"],
        ),
        (
            "try:\n    import nowhere as lib\nexcept ImportError:\n    import math as lib || "
            "def f(x): return lib.sqrt(x)",
            4,
            2.0,
        ),
        (
            "if True:\n    def g(x): return x\nelse:\n    def g(x): return -x || def f(x): return g(x)",
            4,
            4,
        ),
        ("def f(x): return sum(x) || sum = 0 || max, len = 1, 2", [1, 2], 3),
        ("from __future__ import annotations || def f(x: Tensor) -> Unknown: return x", 1, 1),
        ("def f(x):\n    display(x)\n    return x", 1, 1),
        (
            "class Box:\n    def __init__(self, x): self.x = x || Box.more = 5 || def f(x): return Box(x).x + Box.more",
            1,
            6,
        ),
        (
            "from functools import cache\n@cache\ndef g(x): return x || @cache\ndef f(x): return g(x) + 1",
            1,
            2,
        ),
        ("f = lambda x: x ** 2", 3, 9),
        ("from math import * || def f(x): return floor(sqrt(x))", 10, 3),
        (
            "def f(x): return 0 || def f(x): return x || def f(x):\n    raise NotImplementedError()",
            7,
            7,
        ),
        (
            "def helper(x): return x + 1 || def f(x): return helper(x) || def helper(x): return x + 100",
            1,
            2,
        ),
        ("def f(x): return x || %matplotlib inline\n!ls || %%bash\nrm x", 5, 5),
        ("n: int = 3\nn += 1 || def f(x):\n    global n\n    n = n + x\n    return n", 1, 5),
        (
            "a, *b = [1, 2, 3] || def f(x):\n    match x:\n        case 1: return b\n        case _: return (y := a)",
            1,
            [2, 3],
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 1 || def f(x): return P(x).x",
            8,
            8,
        ),
        ("while True:\n    pass || 1 / 0 || def f(x): return x || print(f(nowhere))", 1, 1),
        ("def f(x):\n    return x\nf(1 || def f(x): return x + 5", 1, 6),
    ],
    ids=[
        "alone",
        "a helper above",
        "a helper below",
        "imports above",
        "a loop fills a table",
        "a list grows over cells",
        "an import in a try",
        "a choice",
        "a builtin taken below",
        "annotations of the future",
        "display",
        "a class changed below",
        "decorators",
        "a lambda",
        "a star import",
        "a stub below",
        "a helper changed below",
        "magics",
        "global",
        "match and walrus",
        "a dataclass",
        "an endless cell",
        "a cell that is no Python",
    ],
)
def test_code_means_what_it_means_in_the_notebook(cells, given, right):
    assert answer(cells)(given) == right


@pytest.mark.parametrize(
    "cell",
    [
        "%%time\ndef f(x): return x",
        "%%prun\ndef f(x): return x",
        "%time DIM = 5\ndef f(x): return DIM",
        "%%capture out\nDIM = 5\ndef f(x): return DIM",
    ],
)
def test_what_a_magic_binds_is_there_in_a_run_from_the_top(cell):
    assert reply_to(cell)["more"]
    assert answer(cell, run="end")(5) == 5


def test_an_answer_is_found_by_its_check_or_its_cell():
    assert answer("def mine(x): return x || check('00-f', mine)")(1) == 1
    assert answer("def other(x): return 0 || def mine(x): return x", ids={1: "00-f"})(1) == 1


SEPARATORS = "\u2028\u2029\x0b\x0c\x1c\x1d\x1e\x85"


@pytest.mark.parametrize(
    "cell, given, right",
    [
        *(
            (f"# a{sign}comment (\ndef f(x): return x + 'a{sign}b'", "", f"a{sign}b")
            for sign in SEPARATORS
        ),
        ("    def f(x):\n        return x + 1\n    n = 1", 1, 2),
        (">>> def f(x):\n...     return x + 1", 1, 2),
        ("In [3]: def f(x):\n   ...:     return x + 1", 1, 2),
        ("import asyncio\nnumber = await asyncio.sleep(0, 7)\ndef f(x): return number", 1, 7),
        (
            "import asyncio\ntask = asyncio.create_task(asyncio.sleep(0, 7))\nnumber = await task\ndef f(x): return "
            "number",
            1,
            7,
        ),
        ("DIM = %time 2 + 3\ndef f(x): return DIM", 1, 5),
        (
            "if True:\n    %matplotlib inline\n    !ls\nfiles = !ls\n%pip install torch\ndef f(x): return files",
            1,
            [],
        ),
        ("def f(x):\r\n\treturn x", 1, 1),
        (
            "import inspect\ndef f(x): return inspect.getsource(f)",
            1,
            "def f(x): return inspect.getsource(f)\n",
        ),
        (
            "import pickle\nclass P: pass\ndef f(x): return type(pickle.loads(pickle.dumps(P()))) is P",
            1,
            True,
        ),
        (
            "match {'a': [1, 2, 3]}:\n    case {'a': [first, *others], **rest} as everything: pass\ndef f(x): "
            "return first, others, rest, len(everything)",
            1,
            (1, [2, 3], {}, 1),
        ),
        ("with open('/dev/null') as (file): pass\ndef f(x): return file.closed", 1, True),
        (
            "if (n := 3) > 2: pass\n[(last := x) for x in (1, 2)]\ndef f(x): return n, last",
            1,
            (3, 2),
        ),
        ("for i in range(4): pass\ndef f(x): return i", 1, 3),
    ],
    ids=[
        *(f"U+{ord(sign):04X}" for sign in SEPARATORS),
        "indented evenly",
        "prompts of Python",
        "prompts of IPython",
        "await",
        "a task",
        "%time after a name",
        "shell lines",
        "line ends of Windows",
        "the source of a function",
        "pickle",
        "match",
        "with",
        "walrus",
        "for",
    ],
)
def test_cells_are_read_as_jupyter_reads_them(cell, given, right):
    assert answer(cell)(given) == right


@pytest.mark.parametrize(
    "cells",
    [
        "table = {}\ndef fill(t): t['a'] = 5 || fill(table) || def f(x): return table['a']",
        "def choose():\n    global DIM\n    DIM = 5 || choose() || def f(x): return DIM",
        "globals()['DIM'] = 5 || def f(x): return DIM",
        "exec('DIM = 5') || def f(x): return DIM",
        "%%writefile helpers.py\nDIM = 5 || import helpers || def f(x): return helpers.DIM",
        "%%writefile helpers.py\nDIM = 5 || %run helpers.py || def f(x): return DIM",
        "%%writefile helpers.py\ndef f(x): return 5 || from helpers import f",
        "class Box: pass || setattr(Box, 'size', 5) || def f(x): return Box.size",
        "registry = []\ndef keep(function):\n    registry.append(function)\n    return function || "
        "@keep\ndef five(x): return 5 || def f(x): return registry[0](x)",
        "open('note.txt', 'w').write('5') || def f(x): return int(open('note.txt').read())",
        "import os\nos.environ['DIM'] = '5' || def f(x): return int(os.environ['DIM'])",
        "2 + 3 || DIM = _ || def f(x): return DIM",
        "import json\ndef five(self): return 5 || json.JSONDecoder.five = five || "
        "def f(x): return json.JSONDecoder().five()",
        "raise KeyboardInterrupt || import asyncio\nawait asyncio.sleep(0)\nraise asyncio.CancelledError || "
        "globals()['DIM'] = 5 || def f(x): return DIM",
        "while True:\n    pass || raise SystemExit || def broken(: || globals()['DIM'] = 5 || "
        "1 / 0\nglobals()['DIM'] = 6 || def f(x): return DIM",
    ],
    ids=[
        "a function fills a table",
        "global",
        "globals()",
        "exec",
        "%%writefile and import",
        "%%writefile and %run",
        "%%writefile and from",
        "setattr",
        "a registry",
        "a file",
        "an environment variable",
        "_",
        "a patched class",
        "interrupts",
        "an endless cell and errors",
    ],
)
def test_what_is_done_by_side_effect_is_there_when_all_is_run(cells, monkeypatch):
    monkeypatch.setattr(running, "SECONDS_OF_A_CELL", 0.2)
    assert answer(cells, run="end")(1) == 5
    assert reply_to(cells)["more"], "the grader knows that it should try"


@pytest.mark.parametrize(
    "limit, cells, run, number",
    [
        (
            "SECONDS_OF_A_CELL",
            "while True:\n    pass || globals()['DIM'] = 5 || def f(x): return DIM",
            "end",
            1,
        ),
        (
            "SECONDS_OF_ALL",
            "DIM = 5 || while True:\n    DIM = 6 || def f(x): return DIM",
            "slice",
            2,
        ),
    ],
)
def test_a_cell_that_is_stopped_is_named(limit, cells, run, number, monkeypatch):
    monkeypatch.setattr(running, limit, 0.2)
    assert reply_to(cells, run=run)["stopped"] == [number]


@pytest.mark.filterwarnings("ignore")  # of coroutines that were never awaited
@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.nightly)])
def test_wherever_an_alarm_falls_its_cell_ends_and_the_next_ones_run(step, monkeypatch, caplog):
    """At each of a thousand lines, or at every tenth: of the cell, of asyncio and of the grader, until it is off."""
    first = "await asyncio.gather(*[asyncio.create_task(asyncio.sleep(0)) for _ in range(7)])"
    sources = (
        first,
        "number = await asyncio.create_task(asyncio.sleep(0, 5))",
        "double = 2 * number",
    )
    notebook = program.Program([Cell("code", source) for source in sources])
    original_enter, original_exit = running._Alarm.__enter__, running._Alarm.__exit__

    def enter_and_trace(alarm):
        original_enter(alarm)
        if lines_left > 0:
            sys.settrace(count_down)
        return alarm

    def count_down(frame, event, _):
        nonlocal lines_left, is_leaving
        if event == "line":
            lines_left -= 1
            if lines_left >= 0 and frame.f_code is original_exit.__code__:
                is_leaving = True  # the cell has ended by itself, so it may not be stopped
            if lines_left == 0:
                signal.raise_signal(signal.SIGALRM)  # an exception also ends the tracing
        return count_down

    monkeypatch.setattr(running._Alarm, "__enter__", enter_and_trace)
    caplog.set_level("CRITICAL", "asyncio")
    for line in itertools.count(1, step):
        lines_left, is_leaving = line, False
        space = running.Space(notebook)
        space.names["asyncio"] = asyncio
        space.run_cells({0}, ())
        sys.settrace(None)
        if lines_left > 0:  # all lines have had their alarm
            break
        assert space.stopped == [1] or is_leaving, line
        assert all(space.run(statement, number) for number, statement in notebook.parts[1:]), line
        assert space.names["double"] == 10
    gc.collect()  # while asyncio's complaints about tasks that never ended are not shown
    assert line > 1000, "too few lines were tried"


@pytest.mark.parametrize("swallow", ["except:", "except BaseException:", "finally:"])
@pytest.mark.parametrize("work", ["int('x')", "while True: pass"])
def test_a_cell_that_swallows_its_alarm_ends_too(work, swallow, monkeypatch):
    monkeypatch.setattr(running, "SECONDS_OF_A_CELL", 0.2)
    endless = f"while True:\n    try:\n        {work}\n    {swallow}\n        continue"
    reply, function = define(
        f"{endless} || globals()['DIM'] = 5 || def f(x): return DIM", run="end"
    )
    assert reply["stopped"] == [1]
    assert function(1) == 5


def test_waiting_for_other_programs_is_not_counted(monkeypatch):
    monkeypatch.setattr(running, "SECONDS_OF_A_CELL", 0.3)
    reply, function = define(
        "import time\ntime.sleep(0.4)\nglobals()['DIM'] = 5 || def f(x): return DIM", run="end"
    )
    assert reply["stopped"] == []
    assert function(1) == 5


@pytest.mark.parametrize(
    "version, words",
    [("9.12.1", ["last run with Python 9.12.1, and this grader has 3."]), ("3.8", []), ("", [])],
)
def test_a_cell_for_a_newer_python_says_which(version, words):
    # `define` does not say what the cells' problems are
    submission = Submission()
    submission.cells = [Cell("code", "type Vec = = int\ndef f(x): return x", "00-f")]
    submission.python = version
    problem = submission.open(["00-f"], [])["problems"][0]
    assert "SyntaxError" in problem
    assert re.findall(r"last run.*grader has 3\.", problem) == words


@pytest.mark.parametrize(
    "cells, run, right",
    [
        (
            "def f(x): return x || check('00-f', f) || def f(x): return 'an experiment below'",
            "check",
            1,
        ),
        ("def f(x): return x || check('00-f', f) || f = f(2)", "check", 1),
        ("def f(x):\n    f.calls += 1\n    return f.calls\nf.calls = 0", "check", 1),
        ("exec('DIM = 5') || def f(x): return DIM || check('00-f', f) || DIM = 6", "check", 5),
        ("abs = None || def f(x): return abs(-x) || check('00-f', f) || del abs", "end", 1),
        (
            "import asyncio, threading\ndef later():\n"
            "    globals()['found'] = asyncio.run(asyncio.sleep(0, 5)) || "
            "thread = threading.Thread(target=later)\nthread.start()\nthread.join() || def f(x): return found",
            "check",
            5,
        ),
        (
            " || 2 + 3 || DIM = Out[1] + _1 || exec(In[2].replace('DIM', 'TWO')) || def f(x): return DIM, TWO",
            "check",
            (10, 10),
        ),
        (
            "import os\nos.makedirs('a/b') || %cd a/b || where = os.getcwd()[-3:] || def f(x): return where",
            "check",
            "a/b",
        ),
    ],
    ids=[
        "an experiment below",
        "its own result below",
        "an attribute of itself",
        "a constant changed below",
        "a builtin deleted below",
        "a thread",
        "earlier inputs and outputs",
        "%cd",
    ],
)
def test_what_check_saw_counts_and_what_stands_at_the_end(cells, run, right):
    assert run in reply_to(cells)["more"]
    assert answer(cells, run=run)(1) == right


def test_the_lessons_own_cells_are_run_only_if_they_are_needed():
    # the first would end the run if it ran; the others run, since f needs what they leave
    lesson = ["raise SystemError", "n = 0", "n += 1"]
    cells = " || ".join([*lesson, "globals()['m'] = n", "def f(x): return m"])
    assert answer(cells, run="check", known=lesson)(1) == 1


@pytest.mark.parametrize(
    "cells, words",
    [
        ("x = 1", "`f` is not defined anywhere"),
        ("from math import floor as f", "is imported but not defined"),
        ("from mine import f", "imported but not defined"),
        ("f = nowhere(1)", "running its cell failed (NameError"),
        ("import sys\nf = sys.exit(0)", "running its cell failed (SystemExit"),
    ],
)
def test_what_cannot_be_had_is_told(cells, words):
    assert words in reply_to(cells)["broken"]


@pytest.mark.parametrize(
    "cells, ids, words",
    [
        ("def f(x:\n    return", {}, "cell 1, line 1: SyntaxError"),
        ("x = 1 || def g(x:\n    return", {1: "00-f"}, "cell 2, line 1"),
    ],
    ids=["by its name", "by its id"],
)
def test_a_cell_that_cannot_be_read_is_called_that(cells, ids, words):
    with pytest.raises(CellUnreadable, match=words):
        define(cells, ids)


def test_an_answer_in_a_cell_that_is_not_code_is_told():
    submission = Submission()
    submission.cells = [Cell("markdown", "def f(x): return x")]
    submission.open(["00-f"], [])
    assert "`f` stands in a cell that is not code" in submission.define("00-f", "f")["broken"]


@pytest.mark.parametrize(
    "cells, failed",
    [
        (
            "from no_such_helpers import g || def f(x): return g(x)",
            "ModuleNotFoundError: No module named 'no_such_helpers'",
        ),
        ("def f(x): return x", ""),
    ],
)
def test_what_failed_around_an_answer_is_told(cells, failed):
    assert reply_to(cells)["failed"] == failed
