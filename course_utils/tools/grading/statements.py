"""Cells as Jupyter reads them: their statements, and what each of them binds, uses and changes.

Part of what the sandbox sees. IPython's own shell turns a cell into Python. Which names a statement
binds and uses is read from its bytecode, where Python itself has told the notebook's names from
local ones.
"""

import ast
import dis
import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# operations of bytecode that look up, or bind, a name of the notebook
LOOKUPS = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")
STORES = ("STORE_NAME", "STORE_GLOBAL")
# names of code objects of comprehensions, in which `:=` binds a name outside
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
# what Python raises for a text that it cannot read
UNREADABLE = (SyntaxError, ValueError, RecursionError)
IMPORTS = (ast.Import, ast.ImportFrom)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef, ast.Lambda)


# ---------------------------------------------------------------- from cells to statements


def shell() -> Any:
    """IPython's shell of this process.

    It opens no window and prints no error, and `!ls` and `%pip install` do nothing and return
    nothing. That `%%bash` starts a program, only the sandbox prevents.
    """
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.text import SList
    from traitlets.config import Config

    if not InteractiveShell.initialized():
        config = Config()
        config.HistoryManager.enabled = False  # it would use a database
        vars(InteractiveShell.instance(config=config)).update(
            system=lambda *args, **kwargs: None,
            getoutput=lambda *args, **kwargs: SList(),
            enable_gui=lambda gui=None: None,
            enable_matplotlib=lambda gui=None: (gui, "agg"),
            showtraceback=lambda *args, **kwargs: None,
            showsyntaxerror=lambda *args, **kwargs: None,
        )
    return InteractiveShell.instance()


@functools.cache
def parsed(source: str) -> tuple[str, list[ast.stmt]]:
    """A cell's text as Python, and its statements.

    Raises what Python raises for a text that it cannot read (UNREADABLE, MemoryError). Cached, as
    are the functions of a statement below: the warm server parses the lesson's own cells once for
    all submissions. So callers must not change the list.
    """
    text = shell().transform_cell(source)
    body = ast.parse(text).body
    for statement in body:
        compiled(statement)  # some errors appear only here
    return text, body


def prepare(sources: Iterable[str]) -> None:
    """Parse cells that many notebooks contain, and fill the caches, before any notebook arrives."""
    for _, body in map(parsed, sources):
        for statement in body:
            for cached in (bound, used, changed, calls_of_check):
                cached(statement)


def compiled(
    statement: ast.stmt, file: str = "<cell>", mode: str = "exec", flags: int = 0
) -> types.CodeType:
    """A statement as code that may use `await` at the top level.

    file: its name in tracebacks.
    mode: "eval" for the value of an `ast.Expr`, "exec" for any statement.
    flags: of the compiler, for `from __future__ import ...` in earlier statements.
    """
    tree = (
        ast.Expression(statement.value)
        if mode == "eval" and isinstance(statement, ast.Expr)
        else ast.Module([statement], [])
    )
    return compile(
        tree, file, mode, flags=flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
    )


# ---------------------------------------------------------------- what a statement does


@functools.cache
def bound(statement: ast.stmt) -> frozenset[str]:
    """Names that a statement binds in the notebook.

    Those that a function binds when it is called, or a class in its body, are not among them.
    """
    return frozenset(
        _names(compiled(statement), STORES, lambda code: code.co_name in COMPREHENSIONS)
    )


@functools.cache
def used(statement: ast.stmt) -> frozenset[str]:
    """Names that a statement, and the functions in it, look up in the notebook.

    Local variables are not among them; built-ins are, and names that a class looks up in its own
    body.
    """
    return frozenset(_names(compiled(statement), LOOKUPS, lambda code: True))


def _names(
    code: types.CodeType, operations: Iterable[str], enters: Callable[[types.CodeType], bool]
) -> Iterator[str]:
    """The names that appear in one of these operations of some code, or of the code inside it.

    enters: says whether to look into code inside, which is that of a function, class or
    comprehension.
    """
    for step in dis.get_instructions(code):
        if step.opname in operations:
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType) and enters(constant):
            yield from _names(constant, operations, enters)


@functools.cache
def changed(statement: ast.stmt) -> frozenset[str]:
    """Names whose values a statement may change without binding them: x[0] = 1, del x.y,
    x.append(1).

    A call of any method counts if its result is not used. Nested statements count too, except those
    in functions and classes.
    """
    names: set[str] = set()
    left: list[ast.AST] = [statement]
    while left:
        node = left.pop()
        if isinstance(node, DEFINITIONS):
            continue  # a function does this only when it is called
        left += ast.iter_child_nodes(node)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            target = node.value.func
        elif isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            target = node
        else:
            continue
        # from x.y[0] to x; a plain name is bound, deleted or called, not changed
        while isinstance(target, (ast.Attribute, ast.Subscript)):
            target = target.value
            if isinstance(target, ast.Name):
                names.add(target.id)
    return frozenset(names)


@functools.cache
def calls_of_check(statement: ast.stmt) -> list[ast.Call]:
    """The calls of `check` in a statement that have an exercise and an answer as positional
    arguments.
    """
    return [
        node
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", None) == "check"
        and len(node.args) > 1
    ]


def is_stub(statement: ast.stmt) -> bool:
    """Whether a statement is a function with a single statement, `raise NotImplementedError`.

    Its docstring, other expressions and `pass` do not count.
    """
    if not isinstance(statement, ast.FunctionDef):
        return False
    body = [part for part in statement.body if not isinstance(part, (ast.Expr, ast.Pass))]
    return [type(part) for part in body] == [ast.Raise] and (
        ast.unparse(body[0]).startswith("raise NotImplementedError")
    )
