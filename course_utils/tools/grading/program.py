"""A notebook as a program: which of its statements an answer needs.

Part of what the sandbox sees.
"""

import __future__

import ast
import builtins
import linecache
import re
import sys
from collections.abc import Collection, Iterator
from typing import NamedTuple

from .reading import Cell, cell_checksum
from .statements import (
    FUNCTIONS,
    IMPORTS,
    UNREADABLE,
    bound,
    calls_of_check,
    changed,
    is_stub,
    parsed,
    used,
)

# one for each answer between which a notebook chooses by the result of `check`; the fifth and later
# ones are not tried, as each try costs a run from the top
TRIES = ("try 1", "try 2", "try 3", "try 4")


class Part(NamedTuple):
    """A statement, and the number of its cell."""

    cell: int
    statement: ast.stmt

    def defines(self, name: str) -> bool:
        """Whether it binds this name other than by an import."""
        return name in bound(self.statement) and not isinstance(self.statement, IMPORTS)


class Program:
    """The code cells of a notebook, parsed.

    Cells are named by their number, counted from 0. A place is an index into `parts`.

    known: the checksums of the lesson's own cells, see `cell_checksum`.
    python: the version with which the notebook was last run, "" if it does not say so.

    parts: all statements of the cells that can be read, in order.
    own: the cells that can be read and are not the lesson's.
    problems: by cell, a sentence that says why it cannot be read.
    inputs, counts: what Jupyter calls `In`, and by cell its index there: In[1] is the first cell
    that is not empty.
    flags: of the compiler, for `from __future__ import ...`, since each statement is compiled
    separately.
    """

    def __init__(self, cells: list[Cell], known: Collection[str] = (), python: str = "") -> None:
        self.cells = cells
        self.parts: list[Part] = []
        self.own: set[int] = set()
        self.problems: dict[int, str] = {}
        self.inputs = [""]
        self.counts: dict[int, int] = {}
        self.flags = 0
        for number, cell in enumerate(cells):
            if cell.kind == "code" and cell.source.strip():
                self.counts[number] = len(self.inputs)
                self.inputs.append(cell.source)
                try:
                    self._read(number, cell)
                except (*UNREADABLE, MemoryError) as error:
                    self.problems[number] = _problem(number, error, python)
                    continue
                if cell_checksum(cell.source) not in known:
                    self.own.add(number)

    def _read(self, number: int, cell: Cell) -> None:
        text, body = parsed(cell.source)
        file = file_of(number)
        # for `inspect.getsource`
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        self.parts += [Part(number, statement) for statement in body]
        for statement in body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                for alias in statement.names:
                    feature = getattr(__future__, alias.name, None)
                    self.flags |= getattr(feature, "compiler_flag", 0)

    # ---------------------------------------- where an exercise is answered and checked

    def answer_name(self, exercise_id: str, name: str) -> str:
        """The name under which an exercise is answered.

        The given name; else the name that `check` is called with; else the only function of the
        exercise's cell.
        """
        if any(part.defines(name) for part in self.parts):
            return name
        for _, call in self._checks_of(exercise_id):
            if isinstance(call.args[1], ast.Name):
                return call.args[1].id
        functions = [
            part.statement.name
            for part in self.parts
            if self.cells[part.cell].grade_id == exercise_id
            and isinstance(part.statement, ast.FunctionDef)
        ]
        return functions[0] if len(functions) == 1 else name

    def answer(self, name: str) -> int | None:
        """The place of the answer: the last statement that defines the name; a stub if all are
        stubs, None if there is none.
        """
        places = [place for place, part in enumerate(self.parts) if part.defines(name)]
        written = [place for place in places if not is_stub(self.parts[place].statement)]
        return max(written or places, default=None)

    def last_cell(self, exercise_id: str, answer: int | None) -> int:
        """The number of the last cell that checks this exercise, else of the one of its answer,
        else of the last code cell.

        answer: its place, None without one.
        """
        cells = [part.cell for part, _ in self._checks_of(exercise_id)]
        if not cells and answer is not None:
            cells = [self.parts[answer].cell]
        return max(cells or self.counts, default=0)

    def _checks_of(self, exercise_id: str) -> Iterator[tuple[Part, ast.Call]]:
        """The calls of `check` for an exercise, each with its part.

        They have at least two arguments.
        """
        for part in self.parts:
            for call in calls_of_check(part.statement):
                if isinstance(call.args[0], ast.Constant) and call.args[0].value == exercise_id:
                    yield part, call

    # ------------------------------------------------------------ what a run executes

    def slice(self, name: str, answer: int) -> set[int]:
        """The places of all statements that `name` needs to have its value in the notebook.

        For each name that the answer uses, these are the definitions before it (or in its cell), as
        in a run from the top; if there are none, any definition. Star imports are always among
        them, since nobody knows what they define.
        """
        # places that are needed, those of them whose names are still to be looked up, and the names
        # that were
        wanted, to_follow, seen = {answer}, [answer], set()
        while to_follow:
            place = to_follow.pop()
            needed = used(self.parts[place].statement) - seen
            if place == answer and isinstance(self.parts[answer].statement, ast.FunctionDef):
                needed -= {name}  # it calls itself
            seen |= needed
            for other in needed:
                new = self._what_makes(other, name, answer) - wanted
                wanted |= new
                to_follow += new
        star_imports = {
            place
            for place, part in enumerate(self.parts)
            if isinstance(part.statement, ast.ImportFrom) and part.statement.names[0].name == "*"
        }
        return wanted | star_imports

    def _what_makes(self, needed: str, name: str, answer: int) -> set[int]:
        """The places of what gives a name its value: its definitions, and what changes it
        afterwards.
        """
        places = [
            place
            for place, part in enumerate(self.parts)
            if needed in bound(part.statement) and place != answer
        ]
        if needed == name:  # an earlier definition of the answer's own name, which it may use
            places = [place for place in places if place < answer]
        last = self.parts[answer].cell
        before = [place for place in places if self.parts[place].cell <= last]
        # a builtin, unless the notebook binds its name first
        if not before and hasattr(builtins, needed):
            return set()
        places = before or places
        if places and not isinstance(self.parts[places[-1]].statement, IMPORTS):
            last = max(last, self.parts[places[-1]].cell)
            places += [
                place
                for place, part in enumerate(self.parts)
                if place != answer and part.cell <= last and needed in changed(part.statement)
            ]
        return set(places)

    def whole(self, name: str, last: int) -> tuple[set[int], set[int]]:
        """What a run from the top executes.

        name: of the answer. last: the number of the last cell that runs.

        Returns the numbers of the learner's own cells up to the last one, and the places of the
        lesson's statements that they need.
        """
        cells = {number for number in self.own if number <= last}
        needs = set()
        for place, part in enumerate(self.parts):
            if part.cell in cells:
                needs |= self.slice(name, place)
        return cells, {place for place in needs if self.parts[place].cell not in self.own}

    def further_runs(self, exercise_id: str, name: str, answer: int, sliced: set[int]) -> list[str]:
        """The further runs that might change the result.

        "check" adds the cells up to the one that checks the exercise, "end" those below, too. If
        the notebook does something with what `check` returns, it may choose between candidates:
        "try 1", "try 2" and so on take one each.

        name, answer: the answer's name and place. sliced: the places that its own run executes.
        """
        last = self.last_cell(exercise_id, answer)
        others = [
            part
            for place, part in enumerate(self.parts)
            if part.cell in self.own and place not in sliced
        ]
        # the cells of all statements but those that only define a function
        acting = [
            part.cell
            for part in others
            if not isinstance(part.statement, FUNCTIONS) or part.statement.decorator_list
        ]
        runs = []
        if any(cell <= last for cell in acting) or any(part.defines(name) for part in others):
            runs.append("check")
        if any(cell > last for cell in acting):
            runs.append("end")
        for part, call in self._checks_of(exercise_id):
            # the call is not a statement by itself, so something reads what it returns
            if not isinstance(part.statement, ast.Expr) or part.statement.value is not call:
                return [*runs, *TRIES]
        return runs


def file_of(number: int) -> str:
    """The name of a cell in tracebacks."""
    return f"<cell {number + 1}>"


def _problem(number: int, error: BaseException, python: str) -> str:
    """Why a cell cannot be read, with its place, in at most 200 characters, and what to do about a
    newer Python.
    """
    line = getattr(error, "lineno", None)
    where = f"cell {number + 1}, line {line}" if line else f"cell {number + 1}"
    # an error without a message leaves ": " at the end
    problem = f"{where}: {type(error).__name__}: {getattr(error, 'msg', error)}"[:200].rstrip(": ")
    version = tuple(map(int, re.findall(r"\d+", python)[:2]))
    grader = sys.version_info[:2]
    if isinstance(error, SyntaxError) and version > grader:
        problem += (
            f" (last run with Python {python}, and this grader has {grader[0]}.{grader[1]}: "
            "mark it with the newer one)"
        )
    return problem
