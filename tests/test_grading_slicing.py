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

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="Windows cannot interrupt a cell, so none is run there"
)


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """Each test works in a folder of its own, and what it changes in this process is undone.

    IPython's shell replaces `__main__` and the displayhook; notebooks write a module `helpers`, and
    set an environment variable and a method of a library's class.
    """
    from IPython.core.interactiveshell import InteractiveShell

    main, hook = sys.modules["__main__"], sys.displayhook
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    # what notebooks set in their place is removed with these
    monkeypatch.setenv("DIM", "")
    monkeypatch.setattr("json.JSONDecoder.five", None, raising=False)
    # pytest's own hook fails if an alarm interrupts it
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    InteractiveShell.clear_instance()
    sys.modules["__main__"], sys.displayhook = main, hook
    sys.modules.pop("helpers", None)


def define(cells, ids=None, name="f", run="slice", known=()):
    """The reply of `Submission.define` for the function f of a notebook, and f or None.

    cells: separated by " || ", which no cell contains. ids: {number of a cell, from 0: its
    exercise}. name: the name that the lesson gives f. run: "slice", the statements that f needs;
    "check", the cells down to its check; "end", all cells. known: sources of the lesson's cells.
    Raises CellUnreadable.

    Of the reply, tests use: callable, whether there is a function; broken, why there is none; more,
    the other values of `run` that may give another result; stopped, the cells that took too long,
    from 1; failed, the first error that lacks something outside the notebook, such as a file.
    """
    submission = Submission()
    submission.cells = [
        Cell("code", source, (ids or {}).get(number))
        for number, source in enumerate(cells.split(" || "))
    ]
    submission.open(["00-f"], [], [cell_checksum(source) for source in known])
    return submission.define("00-f", name, run), submission.answers.get("00-f")


def reply_to(cells, **options):
    # the reply without the function
    return define(cells, **options)[0]


def answer(cells, **options):
    # the function f of the notebook, which must be there
    reply, function = define(cells, **options)
    assert reply.get("callable"), reply
    return function


# where `str.splitlines` ends a line and Python does not
SEPARATORS = "\u2028\u2029\x0b\x0c\x1c\x1d\x1e\x85"


@pytest.mark.parametrize(
    "cells, given, right",
    [
        pytest.param("def f(x): return x + 1", 1, 2, id="alone"),
        pytest.param("def g(x): return x * 2 || def f(x): return g(x)", 2, 4, id="a helper above"),
        pytest.param("def f(x): return g(x) || def g(x): return x * 3", 2, 6, id="a helper below"),
        pytest.param(
            "import math as m\nfrom statistics import mean || def f(x): return m.floor(mean(x))",
            [1, 2.5],
            1,
            id="imports above",
        ),
        pytest.param(
            "table = {}\n"
            "for n, letter in enumerate('abc'):\n"
            "    table[letter] = n || "
            "def f(x): return table[x]",
            "c",
            2,
            id="a loop fills a table",
        ),
        pytest.param(
            "words = []\n"
            "with open('/dev/null') as file:\n"
            "    words.append('a') || "
            "words.append('b') || "
            "def f(x): return words + x",
            ["c"],
            ["a", "b", "c"],
            id="a list grows over cells",
        ),
        pytest.param(
            "words = ['a', 'b'] || del words[0] || def f(x): return words + x",
            ["c"],
            ["b", "c"],
            id="a list loses an item",
        ),
        pytest.param(
            "try:\n"
            "    import nowhere as lib\n"
            "except ImportError:\n"
            "    import math as lib || "
            "def f(x): return lib.sqrt(x)",
            4,
            2.0,
            id="an import in a try",
        ),
        pytest.param(
            "if True:\n"
            "    def g(x): return x\n"
            "else:\n"
            "    def g(x): return -x || "
            "def f(x): return g(x)",
            4,
            4,
            id="a choice",
        ),
        pytest.param(
            "def f(x): return sum(x) || sum = 0 || max, len = 1, 2",
            [1, 2],
            3,
            id="a builtin taken below",
        ),
        pytest.param(
            "from __future__ import annotations || def f(x: Tensor) -> Unknown: return x",
            1,
            1,
            id="annotations of the future",
        ),
        pytest.param("def f(x):\n    display(x)\n    return x", 1, 1, id="display"),
        pytest.param(
            "class Box:\n"
            "    def __init__(self, x): self.x = x || "
            "Box.more = 5 || "
            "def f(x): return Box(x).x + Box.more",
            1,
            6,
            id="a class changed below",
        ),
        pytest.param(
            "from functools import cache\n"
            "@cache\n"
            "def g(x): return x || "
            "@cache\n"
            "def f(x): return g(x) + 1",
            1,
            2,
            id="decorators",
        ),
        pytest.param("f = lambda x: x ** 2", 3, 9, id="a lambda"),
        pytest.param(
            "from math import * || def f(x): return floor(sqrt(x))", 10, 3, id="a star import"
        ),
        pytest.param(
            "def f(x): return 0 || "
            "def f(x): return x || "
            "def f(x):\n"
            "    raise NotImplementedError()",
            7,
            7,
            id="a stub below",
        ),
        pytest.param(
            "def helper(x): return x + 1 || "
            "def f(x): return helper(x) || "
            "def helper(x): return x + 100",
            1,
            2,
            id="a helper changed below",
        ),
        pytest.param(
            "def f(x): return x || %matplotlib inline\n!ls || %%bash\nrm x", 5, 5, id="magics"
        ),
        pytest.param(
            "n: int = 3\nn += 1 || def f(x):\n    global n\n    n = n + x\n    return n",
            1,
            5,
            id="global",
        ),
        pytest.param(
            "a, *b = [1, 2, 3] || "
            "def f(x):\n"
            "    match x:\n"
            "        case 1: return b\n"
            "        case _: return (y := a)",
            1,
            [2, 3],
            id="match and walrus",
        ),
        pytest.param(
            "from dataclasses import dataclass\n"
            "@dataclass\n"
            "class P:\n"
            "    x: int = 1 || "
            "def f(x): return P(x).x",
            8,
            8,
            id="a dataclass",
        ),
        pytest.param(
            "while True:\n    pass || 1 / 0 || def f(x): return x || print(f(nowhere))",
            1,
            1,
            id="an endless cell",
        ),
        pytest.param(
            "def f(x):\n    return x\nf(1 || def f(x): return x + 5",
            1,
            6,
            id="a cell that is no Python",
        ),
        # how Jupyter reads cells
        *(
            pytest.param(
                f"# a{sign}comment (\ndef f(x): return x + 'a{sign}b'",
                "",
                f"a{sign}b",
                id=f"U+{ord(sign):04X}",
            )
            for sign in SEPARATORS
        ),
        pytest.param("    def f(x):\n        return x + 1\n    n = 1", 1, 2, id="indented evenly"),
        pytest.param(">>> def f(x):\n...     return x + 1", 1, 2, id="prompts of Python"),
        pytest.param("In [3]: def f(x):\n   ...:     return x + 1", 1, 2, id="prompts of IPython"),
        pytest.param(
            "import asyncio\nnumber = await asyncio.sleep(0, 7)\ndef f(x): return number",
            1,
            7,
            id="await",
        ),
        pytest.param(
            "import asyncio\n"
            "task = asyncio.create_task(asyncio.sleep(0, 7))\n"
            "number = await task\n"
            "def f(x): return number",
            1,
            7,
            id="a task",
        ),
        pytest.param("DIM = %time 2 + 3\ndef f(x): return DIM", 1, 5, id="%time after a name"),
        pytest.param(
            "if True:\n"
            "    %matplotlib inline\n"
            "    !ls\n"
            "files = !ls\n"
            "%pip install torch\n"
            "def f(x): return files",
            1,
            [],
            id="shell lines",
        ),
        pytest.param("def f(x):\r\n\treturn x", 1, 1, id="line ends of Windows"),
        pytest.param(
            "import inspect\ndef f(x): return inspect.getsource(f)",
            1,
            "def f(x): return inspect.getsource(f)\n",
            id="the source of a function",
        ),
        pytest.param(
            "import pickle\n"
            "class P: pass\n"
            "def f(x): return type(pickle.loads(pickle.dumps(P()))) is P",
            1,
            True,
            id="pickle",
        ),
        pytest.param(
            "match {'a': [1, 2, 3]}:\n"
            "    case {'a': [first, *others], **rest} as everything: pass\n"
            "def f(x): return first, others, rest, len(everything)",
            1,
            (1, [2, 3], {}, 1),
            id="match",
        ),
        pytest.param(
            "with open('/dev/null') as (file): pass\ndef f(x): return file.closed",
            1,
            True,
            id="with",
        ),
        pytest.param(
            "if (n := 3) > 2: pass\n[(last := x) for x in (1, 2)]\ndef f(x): return n, last",
            1,
            (3, 2),
            id="walrus",
        ),
        pytest.param("for i in range(4): pass\ndef f(x): return i", 1, 3, id="for"),
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


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(
            "table = {}\ndef fill(t): t['a'] = 5 || fill(table) || def f(x): return table['a']",
            id="a function fills a table",
        ),
        pytest.param(
            "def choose():\n    global DIM\n    DIM = 5 || choose() || def f(x): return DIM",
            id="global",
        ),
        pytest.param("globals()['DIM'] = 5 || def f(x): return DIM", id="globals()"),
        pytest.param("exec('DIM = 5') || def f(x): return DIM", id="exec"),
        pytest.param(
            "%%writefile helpers.py\nDIM = 5 || import helpers || def f(x): return helpers.DIM",
            id="%%writefile and import",
        ),
        pytest.param(
            "%%writefile helpers.py\nDIM = 5 || %run helpers.py || def f(x): return DIM",
            id="%%writefile and %run",
        ),
        pytest.param(
            "%%writefile helpers.py\ndef f(x): return 5 || from helpers import f",
            id="%%writefile and from",
        ),
        pytest.param(
            "class Box: pass || setattr(Box, 'size', 5) || def f(x): return Box.size", id="setattr"
        ),
        pytest.param(
            "registry = []\n"
            "def keep(function):\n"
            "    registry.append(function)\n"
            "    return function || "
            "@keep\n"
            "def five(x): return 5 || "
            "def f(x): return registry[0](x)",
            id="a registry",
        ),
        pytest.param(
            "open('note.txt', 'w').write('5') || def f(x): return int(open('note.txt').read())",
            id="a file",
        ),
        pytest.param(
            "import os\nos.environ['DIM'] = '5' || def f(x): return int(os.environ['DIM'])",
            id="an environment variable",
        ),
        pytest.param("2 + 3 || DIM = _ || def f(x): return DIM", id="_"),
        pytest.param(
            "import json\n"
            "def five(self): return 5 || "
            "json.JSONDecoder.five = five || "
            "def f(x): return json.JSONDecoder().five()",
            id="a patched class",
        ),
        pytest.param(
            "raise KeyboardInterrupt || "
            "import asyncio\n"
            "await asyncio.sleep(0)\n"
            "raise asyncio.CancelledError || "
            "globals()['DIM'] = 5 || "
            "def f(x): return DIM",
            id="interrupts",
        ),
        pytest.param(
            "while True:\n"
            "    pass || "
            "raise SystemExit || "
            "def broken(: || "
            "globals()['DIM'] = 5 || "
            "1 / 0\n"
            "globals()['DIM'] = 6 || "
            "def f(x): return DIM",
            id="an endless cell and errors",
        ),
    ],
)
def test_what_is_done_by_side_effect_is_there_when_all_is_run(cells, monkeypatch):
    # of processor time: enough for a cell that ends, and short for one that does not
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
            1,  # cells count from 1
        ),
        (
            "SECONDS_OF_ALL",
            "DIM = 5 || while True:\n    DIM = 6 || def f(x): return DIM",
            "slice",
            2,
        ),
    ],
    ids=["the time of a cell", "the time of all cells"],
)
def test_a_cell_that_is_stopped_is_named(limit, cells, run, number, monkeypatch):
    monkeypatch.setattr(running, limit, 0.2)
    assert reply_to(cells, run=run)["stopped"] == [number]


@pytest.mark.filterwarnings("ignore")  # of coroutines that were never awaited
@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.nightly)])
def test_wherever_an_alarm_falls_its_cell_ends_and_the_next_ones_run(step, monkeypatch, caplog):
    """An alarm at each line (or every tenth) that runs while it is on: of cell, asyncio and grader.

    Each round runs the first cell with the alarm `step` lines later, until the cell ends before it.
    """
    # several tasks, so that more than 1000 lines run
    sources = (
        "await asyncio.gather(*[asyncio.create_task(asyncio.sleep(0)) for _ in range(7)])",
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
            lines_left -= 1  # of those before the alarm
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
        if lines_left > 0:  # no alarm: the cell ended before this line
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
    # sleeping takes no processor time, and by the clock a cell may take WALL (2) times as long
    monkeypatch.setattr(running, "SECONDS_OF_A_CELL", 0.3)
    reply, function = define(
        "import time\ntime.sleep(0.4)\nglobals()['DIM'] = 5 || def f(x): return DIM", run="end"
    )
    assert reply["stopped"] == []
    assert function(1) == 5


@pytest.mark.parametrize(
    "version, words",
    [("9.12.1", ["last run with Python 9.12.1, and this grader has 3."]), ("3.8", []), ("", [])],
    ids=["newer", "older", "unknown"],
)
def test_the_problem_of_a_cell_names_the_python_of_its_notebook_if_it_is_newer(version, words):
    # not `define`, whose reply has no problems of cells; "= =" is an error in every Python
    submission = Submission()
    submission.cells = [Cell("code", "type Vec = = int\ndef f(x): return x", "00-f")]
    submission.python = version
    problem = submission.open(["00-f"], [])["problems"][0]
    assert "SyntaxError" in problem
    assert re.findall(r"last run.*grader has 3\.", problem) == words


@pytest.mark.parametrize(
    "cells, run, right",
    [
        pytest.param(
            "def f(x): return x || check('00-f', f) || def f(x): return 'an experiment below'",
            "check",
            1,
            id="an experiment below",
        ),
        pytest.param(
            "def f(x): return x || check('00-f', f) || f = f(2)",
            "check",
            1,
            id="its own result below",
        ),
        pytest.param(
            "def f(x):\n    f.calls += 1\n    return f.calls\nf.calls = 0",
            "check",
            1,
            id="an attribute of itself",
        ),
        pytest.param(
            "exec('DIM = 5') || def f(x): return DIM || check('00-f', f) || DIM = 6",
            "check",
            5,
            id="a constant changed below",
        ),
        pytest.param(
            "abs = None || def f(x): return abs(-x) || check('00-f', f) || del abs",
            "end",
            1,
            id="a builtin deleted below",
        ),
        pytest.param(
            "import asyncio, threading\n"
            "def later():\n"
            "    globals()['found'] = asyncio.run(asyncio.sleep(0, 5)) || "
            "thread = threading.Thread(target=later)\n"
            "thread.start()\n"
            "thread.join() || "
            "def f(x): return found",
            "check",
            5,
            id="a thread",
        ),
        pytest.param(
            " || "
            "2 + 3 || "
            "DIM = Out[1] + _1 || "
            "exec(In[2].replace('DIM', 'TWO')) || "
            "def f(x): return DIM, TWO",
            "check",
            (10, 10),
            id="earlier inputs and outputs",
        ),
        pytest.param(
            "import os\n"
            "os.makedirs('a/b') || "
            "%cd a/b || "
            "where = os.getcwd()[-3:] || "
            "def f(x): return where",
            "check",
            "a/b",
            id="%cd",
        ),
    ],
)
def test_a_run_to_the_check_or_to_the_end_gives_what_the_notebook_gave_there(cells, run, right):
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
        ("from mine import f", "imported but not defined"),  # there is no such module
        ("f = nowhere(1)", "running its cell failed (NameError"),
        ("import sys\nf = sys.exit(0)", "running its cell failed (SystemExit"),
    ],
)
def test_the_reply_says_why_there_is_no_function(cells, words):
    assert words in reply_to(cells)["broken"]


@pytest.mark.parametrize(
    "cells, ids, words",
    [
        pytest.param("def f(x:\n    return", {}, "cell 1, line 1: SyntaxError", id="by its name"),
        pytest.param(
            "x = 1 || def g(x:\n    return", {1: "00-f"}, "cell 2, line 1", id="by its id"
        ),
    ],
)
def test_a_cell_that_cannot_be_read_is_named_with_its_error(cells, ids, words):
    with pytest.raises(CellUnreadable, match=words):
        define(cells, ids)


def test_the_reply_says_that_an_answer_is_in_a_cell_that_is_not_code():
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
def test_the_reply_says_what_failed_around_an_answer(cells, failed):
    assert reply_to(cells)["failed"] == failed
