"""What others call has types: helpers, diagrams, the exercises' data classes, and all tools."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "course_utils"
ROOMS = ("*.py", "exercises/model.py", "tools/**/*.py", "diagrams/*.py", "_support/*.py")
FILES = sorted(path for pattern in ROOMS for path in ROOT.glob(pattern))


def public_functions(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef]:
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body)
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node


def is_typed(function: ast.FunctionDef) -> bool:
    given = function.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    named = [argument for argument in arguments if argument and argument.arg not in ("self", "cls")]
    return function.returns is not None and all(argument.annotation for argument in named)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_public_function_says_what_it_takes_and_returns(file):
    functions = list(public_functions(ast.parse(file.read_text(encoding="utf-8")).body))
    # one of several overloads is enough
    typed = {function.name for function in functions if is_typed(function)}
    assert not {function.name for function in functions} - typed
