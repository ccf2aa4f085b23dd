"""One submission in its process: it runs what an answer needs, and calls the answer.

Part of what the sandbox sees. Nothing here judges answers or knows the right ones, and the grader
cannot trust what is sent from here, since a learner's code can change this process.
"""

import mmap
import os
import re
import socket
import types
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._support.inspection import notebook_data
from . import wire
from .program import Program
from .reading import Broken, Cell, CellUnreadable, read_notebook
from .running import Space
from .statements import bound

# a lesson's title at the beginning of a text cell: its number and at most 200 characters
TITLE = re.compile(r"#?\s*(\d\d .{,200})")
# what is reported at most, and what the grader takes: characters of a cell's text, and sentences
MAX_TEXT, MAX_PROBLEMS = 50_000, 20
MAX_REASON, MAX_FAILURE = 300, 200  # characters: why there is no answer, what Python says
# how errors begin that only something outside the notebook could mend: another file, a package,
# somebody who types
FROM_OUTSIDE = ("ModuleNotFoundError", "ImportError", "FileNotFoundError", "EOFError")


class Checks:
    """Stands in for `check`, which knows the answers, so that a notebook goes on after a check.

    It judges nothing. It says "passed" to every call or, in a run that tries one of several
    candidates, only to the call for that one. No mark depends on what it says alone: the grader
    judges the answer that a run leaves.
    """

    def __init__(self) -> None:
        self.start()

    def start(self, only: int = 0) -> None:
        """Begin a run.

        only: the call for an exercise, counted from 1, that says "passed"; 0 for all.
        """
        self.only, self.calls = only, Counter()

    def __call__(
        self, exercise_id: object = "", answer: object = None, seed: object = None
    ) -> types.SimpleNamespace:
        self.calls[str(exercise_id)] += 1
        passed = self.only in (0, self.calls[str(exercise_id)])
        return types.SimpleNamespace(
            exercise_id=exercise_id,
            title="",
            status="passed" if passed else "failed",
            passed=passed,
            headline="",
            messages=(),
            seed=seed,
            discreet=(),
            mistakes=(),
        )

    def note(self, exercise_id: object = "") -> types.SimpleNamespace:
        """What `hint` and `solution` return."""
        return types.SimpleNamespace(text="")


CHECKS = Checks()


@dataclass
class Submission:
    """One notebook.

    Its public methods are the requests that the grader may send; each returns the reply. What a
    reply may hold stands in `wire.FORMS`, too.

    python: the version with which the notebook was last run, "" if it does not say so.
    answers: by exercise, what `define` found.
    """

    cells: list[Cell] = field(default_factory=list)
    python: str = ""
    program: Program = field(default_factory=lambda: Program([]))
    answers: dict[str, Any] = field(default_factory=dict)

    def open(
        self, exercises: Sequence[str], by_hand: Sequence[str], known: Sequence[str] = ()
    ) -> dict:
        """Report what the notebook has.

        exercises, by_hand: the ids to look for.
        known: checksums of the lesson's own cells.

        Returns a dict:
        - present: those of the exercises that the notebook has.
        - titles: of lessons, the first three, since a hand-in may hold several.
        - problems: a sentence for each cell that does not parse, MAX_PROBLEMS at most.
        - texts: by id, the contents of the answer cells, MAX_TEXT characters of each at most.
        """
        self.program = Program(self.cells, frozenset(known), self.python)
        grade_ids = {cell.grade_id for cell in self.cells if isinstance(cell.grade_id, str)}
        code = "\n".join(cell.source for cell in self.cells if cell.kind == "code")
        headings = [cell.source for cell in self.cells if cell.kind == "markdown"]
        titles = [title[1] for title in map(TITLE.match, headings) if title]
        return {
            # by nbgrader's id or, where a tool has removed the ids, by the call of `check`
            "present": [
                exercise
                for exercise in exercises
                if {exercise, f"{exercise}-check"} & grade_ids
                or f'check("{exercise}"' in code
                or f"check('{exercise}'" in code
            ],
            "titles": titles[:3],
            "problems": list(self.program.problems.values())[:MAX_PROBLEMS],
            "texts": {
                exercise: self._text_of(exercise)
                for exercise in [*exercises, *by_hand]
                if exercise in grade_ids
            },
        }

    def _text_of(self, exercise_id: str) -> str:
        sources = [cell.source for cell in self.cells if cell.grade_id == exercise_id]
        return "\n\n".join(sources)[:MAX_TEXT]

    def define(self, exercise_id: str, name: str, run: str = "slice") -> dict:
        """Run what an answer needs.

        name: of the answer in the lesson; the learner may have chosen another.
        run: "slice" for what it names; "check" for all of the learner's own cells up to the one
        that checks it; "end" for all of them; "try 2" as "check", where only the second call of
        `check` for this exercise says "passed".

        Returns a dict, in which some keys may be missing:
        - broken: a sentence that says why there is no answer; without it, there is one.
        - callable: True if the answer is a function, and foreign: the name of an array or list that
          it reads from the notebook, or None.
        - value: any other answer.
        - more: further runs that might give another result, as `run`.
        - stopped: the cells that took too long, counted from 1.
        - failed: the first error that came from outside the notebook, else "".

        Raises CellUnreadable if the answer's cell cannot be read.
        """
        mode, _, candidate = run.partition(" ")
        CHECKS.start(int(candidate or 0))
        name = self.program.answer_name(exercise_id, name)
        place = self.program.answer(name)
        if place is None:
            self._refuse_unreadable(exercise_id, name)
        space = Space(self.program)
        if mode == "slice":
            if place is None:
                return {"broken": self._why_none(name), "more": ["end"] if self.program.own else []}
            more = self._run_slice(space, exercise_id, name, place)
        else:
            more = []
            last = (
                max(self.program.counts, default=0)
                if mode == "end"
                else self.program.last_cell(exercise_id, place)
            )
            space.run_cells(*self.program.whole(name, last))
        # an import is no answer, but what `exec` or a module of the notebook defines is one
        if place is None and name in space.names and not space.owns(space.names[name]):
            return {"broken": f"`{name}` is imported but not defined in this notebook"}
        return self._keep_answer(space, exercise_id, name, more)

    def _keep_answer(self, space: Space, exercise_id: str, name: str, more: list[str]) -> dict:
        """Keep the answer that a run defined, for `call`. Returns the reply of `define`.

        more: further runs that might give another result.
        """
        failed = [problem for problem in space.problems if problem.startswith(FROM_OUTSIDE)]
        reply = {
            "more": more,
            "stopped": space.stopped,
            "failed": failed[0][:MAX_FAILURE] if failed else "",
        }
        if name not in space.names:
            problem = space.problems[-1] if space.problems else "no reason given"
            return {"broken": f"running its cell failed ({problem[:MAX_REASON]})", **reply}
        answer = self.answers[exercise_id] = space.names[name]
        if callable(answer):
            return {"callable": True, "foreign": notebook_data(answer), **reply}
        return {"value": answer, **reply}

    def _run_slice(self, space: Space, exercise_id: str, name: str, place: int) -> list[str]:
        """Run what the answer at a place names. Returns the runs that might change its result."""
        sliced = self.program.slice(name, place)
        further_runs = self.program.further_runs(exercise_id, name, place, sliced)
        space.run_slice(sliced)
        # the answer may lack a definition from another cell
        if space.problems and "check" not in further_runs:
            further_runs.insert(0, "check")
        return further_runs

    def _refuse_unreadable(self, exercise_id: str, name: str) -> None:
        """Raise CellUnreadable if the answer stands in a cell that cannot be read."""
        for number, problem in reversed(self.program.problems.items()):
            cell = self.cells[number]
            if cell.grade_id == exercise_id or f"def {name}" in cell.source:
                raise CellUnreadable(problem)

    def _why_none(self, name: str) -> str:
        if any(cell.kind != "code" and f"def {name}(" in cell.source for cell in self.cells):
            return f"`{name}` stands in a cell that is not code; change the cell's type to Code"
        if any(name in bound(part.statement) for part in self.program.parts):
            return (
                f"`{name}` is imported but not defined in this notebook, and only this one file "
                "is read"
            )
        return f"`{name}` is not defined anywhere in this notebook"

    def call(self, exercise_id: str, args: Sequence) -> dict:
        """Call an answer that `define` has found.

        Returns a dict: `value`, or `raised` with the error's type and text, and `args` if the call
        changed the arguments, with None in place of functions.
        """
        # a call cannot change a function, and one cannot be sent back
        values = [None if callable(argument) else argument for argument in args]
        before = wire.pack({"args": values})
        try:
            reply: dict = {"value": self.answers[exercise_id](*args)}
        except BaseException as error:  # SystemExit, too, is the answer's doing
            reply = {"raised": wire.wording(error)}
        if wire.pack({"args": values}) != before:
            reply["args"] = values
        return reply


def serve_submission(line: socket.socket) -> None:
    """The loop of a submission's process: one reply per request, until the connection is closed.

    A request is a frame of `wire`: the notebook, or the name of a method of Submission as `do`,
    with its arguments. The reply is what the method returns, or one of:
    - unreadable: a sentence, since the cell of the answer cannot be read.
    - broken: a sentence, since the notebook gives no answer.
    - raised: ["MemoryError", ""].
    """
    submission = Submission()
    while True:
        header, files, _, _ = socket.recv_fds(line, wire.HEADER.size, 1)
        if len(header) < wire.HEADER.size:
            return
        text_size, arrays_size = wire.HEADER.unpack(header)
        text = bytes(wire.receive(line, text_size))
        arrays = _shared(files[0]) if files else wire.receive(line, arrays_size)
        try:
            reply = _reply(submission, text, arrays, shared=bool(files))
        except CellUnreadable as problem:
            reply = {"unreadable": str(problem)}
        except Broken as problem:
            reply = {"broken": str(problem)}
        except MemoryError:
            reply = {"raised": ["MemoryError", ""]}
        except Exception as error:  # Python itself fails on some code, such as one nested too deep
            reply = {"broken": f"Python cannot read it ({type(error).__name__})"}
        try:
            frame = wire.pack(reply)
        except RecursionError:  # a value nested too deep: the grader gets a stand-in
            frame = wire.pack({"value": wire.thing("list")})
        except MemoryError:
            frame = wire.pack({"raised": ["MemoryError", ""]})
        line.sendall(frame)


def _shared(file: int) -> mmap.mmap | bytes:
    """The memory that a descriptor shares with the grader, see `sandbox.Session.call`.

    The descriptor is closed.
    """
    size = os.fstat(file).st_size
    arrays = mmap.mmap(file, size) if size else b""
    os.close(file)
    return arrays


def _reply(submission: Submission, text: bytes, arrays: Any, shared: bool) -> dict:
    if text == b"notebook":
        submission.cells, submission.python = read_notebook(arrays)
        return {"cells": len(submission.cells)}
    request = wire.unpack(text, arrays, recipes=True, shared=shared)
    # only the grader sends requests, and it names public methods
    return getattr(submission, request.pop("do"))(**request)
