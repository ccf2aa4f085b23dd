"""A notebook as a program: its cells as Jupyter reads them, and the parts that an answer needs.

Part of what the sandbox sees; it does not know the right answers. IPython's own shell parses and runs cells.
"""

import __future__

import ast
import asyncio
import builtins
import contextlib
import dis
import faulthandler
import functools
import hashlib
import importlib
import inspect
import json
import linecache
import os
import re
import shlex
import signal
import sys
import time
import types

from . import wire

LOOKUPS = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")
TRANSPARENT_MAGICS = ("time", "capture", "prun")  # they run Python, and bind its names in the notebook
# called with plain names, these change nothing here
BY_NAME_ONLY = {"check", "hint", "solution", "setup", "print", "display"}
DYNAMIC = {"globals", "eval", "exec", "vars", "locals", "getattr", "get_ipython", "__main__", "__import__"}
IMPORTS = (ast.Import, ast.ImportFrom)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# of processor time, so that other programs on the machine cost nothing; by the clock it may be WALL times as long
SECONDS_OF_A_CELL, SECONDS_OF_ALL = 10, 30
WALL = 2
AGAIN = 0.01  # seconds after which an alarm that was swallowed rings again
LAST_RESORT = 10  # seconds after which a process is ended in which no alarm stops a cell
OUT_OF_TIME = 1  # its exit status then, which faulthandler chose
MOST_CANDIDATES = 4  # answers to one exercise between which a notebook chooses by the result of `check`


class Broken(Exception):
    """This notebook gives no answer. The message is one sentence."""


class CellUnreadable(Broken):
    """The answer is in a cell that is not valid Python."""


class TooSlow(BaseException):
    """A cell took too long. Not an Exception, so that a learner's own `except Exception` does not catch it."""


# ---------------------------------------------------------------- reading a notebook


def read_notebook(data):
    """The cells of a notebook, dicts with kind, source and grade_id, and the Python that it was last run with, or "".

    Raises Broken if the bytes are not a notebook.
    """
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Broken(f"this file is not a notebook: {_what_is(data)}") from None
    if isinstance(notebook, dict) and isinstance(notebook.get("worksheets"), list):  # before 2015
        sheets = [sheet for sheet in notebook["worksheets"] if isinstance(sheet, dict)]
        found = [cell for sheet in sheets for cell in sheet.get("cells") or []]
    else:
        found = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(found, list):
        raise Broken("this file is not a notebook: it has no cells")
    cells = [
        {
            "kind": cell.get("cell_type"),
            "source": _text(cell.get("source", cell.get("input", ""))),
            "grade_id": _within(cell, "metadata", "nbgrader", "grade_id"),
        }
        for cell in found
        if isinstance(cell, dict)
    ]
    return cells, _text(_within(notebook, "metadata", "language_info", "version"))[:20]


def _what_is(data):
    """What a file is that is not JSON, and what to do."""
    start = data[:1000].lstrip().lower()
    if not data.strip():
        return "it is empty"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "it is in UTF-16; save it as UTF-8"
    if start.startswith(b"version https://git-lfs"):
        return "it is a pointer of Git LFS; hand in the file that `git lfs pull` fetches"
    if start.startswith((b"<!doctype html", b"<html")):
        return "it is a web page; download the notebook itself"
    if b"\n<<<<<<< " in data:
        return "it holds the marks of a conflict in Git; resolve it, and save again"
    if data.startswith(b"PK\3\4"):
        return "it is a zip archive under another name"
    return "it is not JSON"


def _text(source):
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def _within(found, *keys):
    for key in keys:
        if not isinstance(found, dict):
            return None
        found = found.get(key)
    return found


def _needs_newer(python):
    """A clause for the problem of a cell, if its notebook was last run with a newer Python than this one, else ""."""
    version = tuple(map(int, re.findall(r"\d+", python)[:2]))
    own = sys.version_info[:2]
    if version <= own:
        return ""
    return f" (last run with Python {python}, and this grader has {own[0]}.{own[1]}: mark it with the newer one)"


def cell_checksum(source):
    """A checksum of a cell's text, independent of line ends, to recognise cells that the learner left unchanged."""
    return hashlib.sha256(source.replace("\r\n", "\n").strip().encode(errors="replace")).hexdigest()[:16]


def shell():
    """IPython's shell of this process.

    It starts no program and opens no window: `!ls` and `%pip install` do nothing and return nothing.
    """
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.text import SList
    from traitlets.config import Config

    if not InteractiveShell.initialized():
        config = Config()
        config.HistoryManager.enabled = False  # it would use a database
        made = InteractiveShell.instance(config=config)
        made.system = _instead_of_a_program
        made.enable_gui, made.enable_matplotlib = (lambda gui=None: None), (lambda gui=None: (gui, "agg"))
        made.getoutput = lambda *args, **kwargs: SList()
        made.showtraceback = made.showsyntaxerror = lambda *args, **kwargs: None
    return InteractiveShell.instance()


def _instead_of_a_program(command):
    """Replaces shell commands: only the creation of folders has an effect."""
    try:
        program, *words = shlex.split(command)
    except ValueError:
        return
    for folder in [word for word in words if program == "mkdir" and not word.startswith("-")]:
        os.makedirs(folder, exist_ok=True)


@functools.cache
def reading(source):
    """A cell's text as Python, its statements, and these with the bodies of `%%time` and similar magics unwrapped.

    Raises what Python raises. Cached, along with what depends on a statement alone (`bound`, `used`, ...): the warm
    server parses the lesson's own cells once for all submissions.
    """
    text = shell().transform_cell(source)
    body = ast.parse(text).body
    for statement in body:
        compiled(statement)  # some errors appear only here
    return text, body, [part for statement in body for part in _unwrapped(statement)]


def prepare(sources):
    """Parse cells that many notebooks contain, before any notebook arrives."""
    for source in sources:
        for statement in reading(source)[2]:
            bound(statement), changed(statement), used(statement), calls_of_check(statement)


def compiled(statement, file="<cell>", mode="exec", flags=0):
    """A statement as code that may use `await` at the top level."""
    tree = ast.Expression(statement.value) if mode == "eval" else ast.Module([statement], [])
    return compile(tree, file, mode, flags=flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def _unwrapped(statement):
    """The statements that a magic such as `%time` or `%%capture` runs; for any other statement, itself."""
    magic = _magic(statement.value) if isinstance(statement, ast.Expr) else None
    if magic and magic[0] in TRANSPARENT_MAGICS:
        try:
            return reading(magic[-1])[1]
        except (SyntaxError, ValueError, RecursionError):
            pass
    return [statement]


class Program:
    """The code cells of a notebook, parsed.

    statements: [(cell number, statement)] in order, with the bodies of `%%time` and similar magics unwrapped.
    problems: a sentence for each cell that cannot be read, by its number.
    mine: numbers of cells that are not the lesson's own, whose checksums are `known`.
    python: the version with which the notebook was last run, if it says so.
    """

    def __init__(self, cells, known=(), python=""):
        self.statements, self.problems, self.bodies, self.flags, self.mine = [], {}, {}, 0, set()
        self.inputs, self.counts = [""], {}  # numbered as in Jupyter: In[1] is the first non-empty cell
        for number, cell in enumerate(cells):
            if cell["kind"] != "code" or not cell["source"].strip():
                continue
            self.counts[number] = len(self.inputs)
            self.inputs.append(cell["source"])
            try:
                source, body, parts = reading(cell["source"])
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                line = f", line {error.lineno}" if getattr(error, "lineno", None) else ""
                self.problems[number] = (
                    f"cell {number + 1}{line}: {type(error).__name__}: {getattr(error, 'msg', error)}"
                )[:200].rstrip(": ") + (_needs_newer(python) if isinstance(error, SyntaxError) else "")
                continue
            file = f"<cell {number + 1}>"
            linecache.cache[file] = (len(source), None, source.splitlines(True), file)  # for `inspect.getsource`
            for statement in body:
                self._note_future(statement)
            self.bodies[number] = body
            self.statements += [(number, part) for part in parts]
            if cell_checksum(cell["source"]) not in known:
                self.mine.add(number)
        self.binding = [bound(statement) for _, statement in self.statements]
        self.calls = [(number, node) for number, statement in self.statements for node in calls_of_check(statement)]

    def _note_future(self, statement):
        """Apply `from __future__ import ...` to all cells below, though each statement is compiled separately."""
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                self.flags |= getattr(getattr(__future__, alias.name, None), "compiler_flag", 0)

    def compiled(self, statement, number, mode):
        return compiled(statement, f"<cell {number + 1}>", mode, self.flags)

    # ------------------------------------------------------------ what an answer needs

    def answer_name(self, cells, exercise_id, name):
        """The name under which an exercise is answered.

        The given name; else the name that `check` is called with; else the only function of the exercise's cell.
        """
        if any(
            name in names and not isinstance(statement, IMPORTS)
            for names, (_, statement) in zip(self.binding, self.statements)
        ):
            return name
        for _, node in self.calls:
            if _checks(node, exercise_id) and isinstance(node.args[1], ast.Name):
                return node.args[1].id
        own = [
            statement.name
            for number, statement in self.statements
            if cells[number]["grade_id"] == exercise_id and isinstance(statement, ast.FunctionDef)
        ]
        return own[0] if len(own) == 1 else name

    def answer(self, name, kinds=(ast.stmt,), last=None):
        """The index of the answer: the last statement of these kinds that binds the name and is not the stub.

        An import does not count.

        last: the number of the last cell that counts.

        Raises Broken if there is none.
        """
        places = [
            place
            for place, (number, statement) in enumerate(self.statements)
            if (last is None or number <= last)
            and name in self.binding[place]
            and isinstance(statement, kinds)
            and not isinstance(statement, IMPORTS)
        ]
        if not places and kinds != (ast.stmt,):
            return self.answer(name, last=last)
        if not places:
            raise Broken(f"`{name}` is not defined anywhere in this notebook")
        return next((place for place in reversed(places) if not is_stub(self.statements[place][1])), places[-1])

    def checked(self, exercise_id):
        """The number of the last cell that checks this exercise, or None."""
        return max((number for number, node in self.calls if _checks(node, exercise_id)), default=None)

    def slice(self, name, answer):
        """The indices, in order, of all statements that `name` needs to have its value in the notebook.

        For each name that the answer uses, these are the definitions before it (or in its cell), as in a run from the
        top; if there are none, any definition.
        """
        found, binding = self.statements, self.binding
        wanted, open_names, seen = {answer}, [(name, answer) for name in used(found[answer][1])], set()
        while open_names:
            needed, user = open_names.pop()
            if needed in seen or (needed == name and user == answer and isinstance(found[answer][1], ast.FunctionDef)):
                continue
            seen.add(needed)
            places = [place for place, names in enumerate(binding) if needed in names and place != answer]
            if needed == name:
                places = [place for place in places if place < answer]
            before = [place for place in places if found[place][0] <= found[answer][0]]
            places = before or ([] if hasattr(builtins, needed) else places)
            if places and not isinstance(found[places[-1]][1], IMPORTS):
                places += [
                    place
                    for place, (cell, statement) in enumerate(found)
                    if needed in changed(statement)
                    and place != answer
                    and cell <= max(found[answer][0], found[places[-1]][0])
                ]
            for place in places:
                if place not in wanted:
                    wanted.add(place)
                    open_names += [(other, place) for other in used(found[place][1])]
        wanted |= {
            place
            for place, (cell, statement) in enumerate(found)  # my_function.cache = {}
            if name in changed(statement)
            and isinstance(statement, (ast.Assign, ast.AnnAssign))
            and answer < place
            and cell <= found[answer][0] + 1
        }
        return wanted | {
            place
            for place, (_, statement) in enumerate(found)
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"
        }

    def whole(self, name, last):
        """What a run from the top executes.

        Returns the learner's own cells up to this one, and the indices of the lesson's statements that they need.
        """
        cells, needs = {number for number in self.mine if number <= last and number in self.bodies}, set()
        for place, (number, _) in enumerate(self.statements):
            if number in cells:
                needs |= self.slice(name, place)
        return cells, {place for place in needs if self.statements[place][0] not in self.mine}

    def further_runs(self, exercise_id, name, answer, sliced):
        """The further runs that might change the result.

        "check" adds all cells above the one that checks the exercise, "end" those below. If the notebook does something
        with what `check` returns, it may choose between candidates: "try 1", "try 2" and so on take one each.
        """
        last = self.checked(exercise_id)
        above, runs = self.statements[answer][0] if last is None else last, []
        try:
            seen = self.answer(name, last=last)
        except Broken:
            seen = None
        if (
            seen != answer
            or self._acts_within(range(above + 1), sliced)
            or DYNAMIC & set().union(*(used(self.statements[place][1]) for place in sliced))
        ):
            runs.append("check")
        runs += ["end"] * self._acts_within(range(above + 1, max(self.bodies) + 1), sliced)
        return runs + self.tries(exercise_id)

    def tries(self, exercise_id):
        """The runs that each take one candidate. A statement that is only a call of `check` chooses nothing."""
        chosen = any(
            _checks(node, exercise_id) and not (isinstance(statement, ast.Expr) and statement.value is node)
            for _, statement in self.statements
            for node in calls_of_check(statement)
        )
        return [f"try {number}" for number in range(1, MOST_CANDIDATES + 1)] if chosen else []

    def _acts_within(self, cells, sliced):
        return any(
            number in self.mine and number in cells and place not in sliced and _acts(statement)
            for place, (number, statement) in enumerate(self.statements)
        )


def _checks(node, exercise_id):
    """Whether this call of `check` is for the exercise."""
    return isinstance(node.args[0], ast.Constant) and node.args[0].value == exercise_id


def _magic(node):
    """The text arguments of a call of `get_ipython().run_line_magic` or `run_cell_magic`, or None."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("run_line_magic", "run_cell_magic")
        and node.args
        and all(isinstance(arg, ast.Constant) and isinstance(arg.value, str) for arg in node.args)
    ):
        return [arg.value for arg in node.args]
    return None


def _named_in_magics(statement):
    """The names used in the arguments of a statement's magics, where these are Python."""
    names = set()
    for text in (text for node in ast.walk(statement) for text in (_magic(node) or [])[1:]):
        try:
            names |= {node.id for node in ast.walk(ast.parse(text.strip())) if isinstance(node, ast.Name)}
        except (SyntaxError, ValueError, RecursionError):
            continue
    return names


@functools.cache
def used(statement):
    """Names that a statement, and the functions in it, look up in the notebook, without their local variables."""
    names, left = set(), [compiled(statement)]
    while left:
        code = left.pop()
        names |= {step.argval for step in dis.get_instructions(code) if step.opname in LOOKUPS}
        left += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    if "get_ipython" in names:
        names |= _named_in_magics(statement)
    return frozenset(names)


@functools.cache
def calls_of_check(statement):
    """The calls of `check` in a statement."""
    return [
        node
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "check"
        and len(node.args) > 1
    ]


@functools.cache
def bound(statement):
    """Names that a statement binds at the top level."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, IMPORTS):
        return {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    names, left = set(), [statement]
    while left:
        node = left.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef, *IMPORTS)):
            names |= bound(node)
            continue
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        # a comprehension's own names stay inside, except those bound with :=
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            names |= {inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)}
        elif not isinstance(node, ast.Lambda):
            left += ast.iter_child_nodes(node)
    return names


@functools.cache
def changed(statement):
    """Names whose values a statement changes without binding them: x[0] = 1, x.y = 1, x.append(1).

    Nested statements count too.
    """
    names, left = set(), [statement]
    while left:
        node = left.pop()
        targets = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets = [node.target]
        elif (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Attribute)
        ):
            targets = [node.value.func]
        elif isinstance(node, (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.ExceptHandler)):
            left += [part for part in ast.iter_child_nodes(node) if isinstance(part, (ast.stmt, ast.ExceptHandler))]
        for target in targets:
            while isinstance(target, (ast.Attribute, ast.Subscript, ast.Starred)):
                target = target.value
                if isinstance(target, ast.Name):
                    names.add(target.id)
    return names


def is_stub(statement):
    """Whether a function does nothing but `raise NotImplementedError()`."""
    if not isinstance(statement, ast.FunctionDef):
        return False
    body = [part for part in statement.body if not isinstance(part, (ast.Expr, ast.Pass))]
    if [type(part) for part in body] != [ast.Raise]:
        return False
    error = body[0].exc.func if isinstance(body[0].exc, ast.Call) else body[0].exc
    return isinstance(error, ast.Name) and error.id == "NotImplementedError"


def _acts(statement):
    """Whether a statement may do more than bind names: it contains a call or a decorator."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return bool(statement.decorator_list) or isinstance(statement, ast.ClassDef)
    if (
        isinstance(statement, IMPORTS)
        or isinstance(statement, ast.Expr)
        and isinstance(statement.value, (ast.Constant, ast.Name))
    ):
        return False
    call = statement.value if isinstance(statement, ast.Expr) else None
    return not (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in BY_NAME_ONLY
        and all(
            isinstance(part, (ast.Constant, ast.Name)) for part in [*call.args, *(word.value for word in call.keywords)]
        )
    )


# ---------------------------------------------------------------- running it


class Space:
    """A namespace like a new kernel's, in which statements run in order. Failures are recorded and skipped."""

    def __init__(self, program):
        self.program, self.problems, self.stopped = program, [], []
        module = types.ModuleType("__main__")
        self.names = module.__dict__
        self.names.update(__builtins__=builtins, display=lambda *args, **kwargs: None, get_ipython=shell().get_ipython)
        sys.modules["__main__"] = shell().user_module = module  # so that pickle finds the notebook's classes
        shell().user_ns = self.names
        self.names.update(In=program.inputs, Out={})

    def run(self, statement, number):
        """Run a statement and return whether it succeeded. The value of an expression becomes `_`, as in Jupyter.

        An `_Alarm` may raise TooSlow anywhere in here, and nowhere else in the grader.
        """
        if isinstance(statement, IMPORTS):
            importlib.invalidate_caches()  # a cell may just have written the module
        expression, count = isinstance(statement, ast.Expr), self.program.counts[number]
        try:
            value = _in_loop(self.program.compiled(statement, number, "eval" if expression else "exec"), self.names)
        except (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError) as error:
            self.problems.append(": ".join(wire.wording(error)))
            return False
        if expression and value is not None:
            self.names["_"] = self.names[f"_{count}"] = self.names["Out"][count] = value
        return True

    def owns(self, value):
        """Whether the notebook, or a module that it wrote, defines this function."""
        module = sys.modules.get(getattr(value, "__module__", None))
        return module is not None and (
            module.__dict__ is self.names
            or os.path.dirname(os.path.abspath(getattr(module, "__file__", None) or "/")) == os.getcwd()
        )

    def run_slice(self, places):
        """Run statements one by one. Failures are skipped: what is missing below may not be needed."""
        with _Alarm(SECONDS_OF_ALL) as alarm:
            for place in sorted(places):
                number, statement = self.program.statements[place]
                self.run(statement, number)
                if alarm.rang:
                    break
        if alarm.rang:
            self._stop(number)

    def run_cells(self, cells, places):
        """Run these cells as Jupyter does, each until a statement fails or its time is up.

        Of the other cells, run the statements at these indices.
        """
        end, parts = time.process_time() + SECONDS_OF_ALL, [(number, None) for number in cells]
        latest = time.monotonic() + WALL * SECONDS_OF_ALL
        parts += [(self.program.statements[place][0], place) for place in places]
        last = max(cells, default=None)
        for number, place in sorted(parts, key=lambda part: (part[0], part[1] or 0)):
            over = time.process_time() > end or time.monotonic() > latest
            if not over or number == last:
                body = self.program.bodies[number] if place is None else [self.program.statements[place][1]]
                with _Alarm(SECONDS_OF_A_CELL) as alarm:
                    all(self.run(statement, number) and not alarm.rang for statement in body)
                over = alarm.rang
            if over:
                self._stop(number)

    def _stop(self, number):
        self.stopped.append(number + 1)
        self.problems.append("TooSlow: it took too long")


class _Alarm:
    """Raise TooSlow in `Space.run` after so many seconds of processor time, or WALL times as many by the clock.

    It rings until the block is left: a learner's `except`, or a callback of asyncio, may swallow what it raises. Code
    that blocks signals, or computes outside Python for ever, ends with its process.
    """

    def __init__(self, seconds):
        self.seconds, self.rang, self.over = seconds, False, False

    def __enter__(self):
        with contextlib.suppress(RuntimeError):  # no thread can be started; the grader has a clock of its own
            faulthandler.dump_traceback_later(WALL * self.seconds + LAST_RESORT, exit=True, file=2)
        self.set(self.seconds)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGPROF, signal.SIGALRM))  # an earlier cell may block them
        return self

    def set(self, seconds):
        """Ring after these seconds, and then AGAIN and again, even if there is no room on the stack for `ring`."""
        for kind, timer, first in (
            (signal.SIGPROF, signal.ITIMER_PROF, seconds),
            (signal.SIGALRM, signal.ITIMER_REAL, WALL * seconds),
        ):
            signal.signal(kind, self.ring)
            signal.setitimer(timer, first, AGAIN)

    def ring(self, _, frame):
        if self.over:
            return
        self.rang = True
        self.set(AGAIN)  # by the clock, too: what swallows this may wait for nothing
        while frame and frame.f_code is not Space.run.__code__:
            frame = frame.f_back
        if frame:
            raise TooSlow

    def __exit__(self, kind, *_):
        self.over = True
        self.set(0)
        faulthandler.cancel_dump_traceback_later()
        if self.rang:
            _drop_event_loop()
        return kind is TooSlow


def _in_loop(code, names):
    """Run code inside the event loop, as Jupyter's kernel does, and await it if it uses top-level `await`."""

    async def run():
        value = eval(code, names)
        return await value if code.co_flags & inspect.CO_COROUTINE else value

    return event_loop().run_until_complete(run())


def event_loop():
    """The event loop of this process, created on first use."""
    if not hasattr(event_loop, "made"):
        event_loop.made = asyncio.new_event_loop()
        asyncio.set_event_loop(event_loop.made)
    return event_loop.made


def _drop_event_loop():
    """Let the next cell have a new event loop: an alarm may have interrupted this one's own bookkeeping."""
    asyncio._set_running_loop(None)
    sys.set_asyncgen_hooks(None, None)
    vars(event_loop).pop("made", None)
