"""One submission, marked: the checks of the lessons judge from outside what a learner's functions return inside the sandbox."""

import ast
import functools
import hashlib
import json
import random
import re
import time
from pathlib import Path

import nbformat

from ..exercises import LESSONS, find
from ..exercises.framework import NOTEBOOKS, OutOfTime, examine
from . import wire
from .sandbox import PACKAGE, Ended, Session

STATES = ("unreadable", "crashed", "memory", "timeout", "missing exercise", "ok")  # the first that occurs is the submission's
NO_MEMORY = re.compile(r"MemoryError|not enough memory|can't allocate memory|Unable to allocate|bad_alloc", re.IGNORECASE)


@functools.cache
def assignment(lessons=LESSONS, folder=NOTEBOOKS):
    """What is marked: {"exercises": {id: (function, points)}, "by_hand": {id: points}, "titles": {lesson: title}}, from the source lessons.

    Raises ValueError for a lesson that is not there.
    """
    exercises, by_hand, titles = {}, {}, {}
    for lesson in lessons:
        paths = sorted(Path(folder).glob(f"{lesson}_*.ipynb"))
        if len(paths) != 1 or lesson not in LESSONS:
            raise ValueError(f"lesson {lesson!r} is not in this course; its lessons are {LESSONS[0]} to {LESSONS[-1]}")
        cells = nbformat.read(paths[0], as_version=4).cells
        titles[lesson] = cells[0].source.splitlines()[0].lstrip("# ")
        for cell in cells:
            marks = cell.metadata.get("nbgrader", {})
            if marks.get("solution") and cell.cell_type == "code":
                exercises[marks["grade_id"]] = [function_name(cell.source), 0]
            elif marks.get("solution"):
                by_hand[marks["grade_id"]] = marks["points"]
            elif marks.get("grade"):
                exercises[marks["grade_id"].removesuffix("-check")][1] = marks["points"]
    return {"exercises": {one: tuple(found) for one, found in exercises.items()}, "by_hand": by_hand, "titles": titles}


def function_name(source):
    """The last function that a cell defines."""
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)][-1]


@functools.cache
def fingerprint():
    """A checksum of what a mark depends on beside the submission: the checks, the lessons' points, and this grader."""
    parts = hashlib.sha256(json.dumps(assignment()["exercises"], sort_keys=True).encode())
    for path in sorted([*(PACKAGE / "exercises").glob("*.py"), *(PACKAGE / "grading" / name for name in ("marking.py", "sandbox.py", "inside.py", "wire.py"))]):
        parts.update(path.read_bytes())
    return parts.hexdigest()[:16]


class Answer:
    """Stands for a function in the sandbox: sends arguments, receives what comes back."""

    def __init__(self, session, exercise, foreign, deadline):
        self.session, self.exercise, self.deadline = session, exercise, deadline
        self.notebook_data = foreign if foreign and len(foreign) < 60 and foreign.isidentifier() else None
        self.short_of_memory = self.stopped = False

    def __call__(self, *args):
        raise TypeError("call it through `call_in_sandbox`")

    def call(self, args, seconds):
        """What the function returned or raised, and the arguments after it."""
        seconds = min(seconds, self.deadline - time.monotonic())
        if seconds <= 0:
            raise OutOfTime
        reply = self.session.ask(seconds, do="call", exercise_id=self.exercise.id, args=list(args))
        after = reply.get("args", args)
        after = tuple(one if callable(one) else other for one, other in zip(args, after)) if len(after) == len(args) else args
        if "raised" not in reply:
            return reply.get("value"), after
        name, text = reply["raised"]
        self.short_of_memory |= bool(NO_MEMORY.search(f"{name} {text}"))
        if name == "KeyboardInterrupt":
            raise OutOfTime
        return wire.raised(name, text), after


def fit(text, most=2000):
    """A text from a submission, fit for a file: no halves of letters, and not too long."""
    return str(text)[:most].encode("utf-8", "replace").decode()


def call_in_sandbox(answer, args, seconds):
    """As `framework.here`, elsewhere."""
    try:
        return answer.call(args, seconds)
    except OutOfTime:
        answer.stopped = True
        raise


@functools.lru_cache(maxsize=64)
def cases_of(exercise_id, seed):
    return find(exercise_id).cases(random.Random(seed))


class Marker:
    """Marks notebooks in one sandbox.

    lessons: those that count. seed: the inputs' seed, one for the whole class. seconds: wall-clock time for one submission.
    """

    def __init__(self, sandbox, lessons, seed, seconds=120):
        self.sandbox, self.seed, self.seconds = sandbox, seed, seconds
        self.work = assignment(tuple(lessons))
        self.session = None

    def mark(self, notebook, name=""):
        """Everything about one notebook, as plain data. notebook: its bytes. name: of its file, which may say the lesson."""
        deadline, known = time.monotonic() + self.seconds, {**self.work["exercises"], **self.work["by_hand"]}
        try:
            facts = self.opened(notebook)
            lessons = self.lessons_of(facts, name)
            problems = [fit(problem, 300) for problem in facts["problems"][:20]]
            texts = {one: fit(text, 50_000) for one, text in facts["texts"].items() if one in known}
            marks = {one: self.exercise(notebook, one, deadline) for one in self.work["exercises"] if one[:2] in lessons}
        except (Ended, OutOfTime, _Unreadable) as error:
            reason = fit(error, 300) or f"reading it took longer than {self.sandbox_patience} seconds"
            return {"status": "unreadable", "reason": reason, "lessons": [], "exercises": {}, "texts": {}, "problems": []}
        finally:
            self.close()
        states = [mark["state"] for mark in marks.values()]
        status = next(state for state in STATES if state in states or state == "ok")
        reasons = [f"{one}: {mark['reason']}" for one, mark in marks.items() if mark["state"] == status != "ok"]
        return {"status": status, "reason": "; ".join(reasons), "lessons": lessons, "exercises": marks, "texts": texts, "problems": problems}

    sandbox_patience = 20

    def opened(self, notebook):
        """Start a process on a notebook. Returns what it says about itself."""
        self.close()
        self.session = Session(self.sandbox, self.sandbox_patience)
        read = self.session.load(notebook)
        facts = self.session.ask(do="open", exercises=list(self.work["exercises"]), by_hand=list(self.work["by_hand"])) if "cells" in read else read
        if "present" not in facts:
            raise _Unreadable(facts.get("broken", "it does not fit into memory"))
        return {"titles": [], "problems": [], "texts": {}, **facts}

    def close(self):
        if self.session is not None:
            self.session.close()
            self.session = None

    def lessons_of(self, facts, name):
        """Which lessons a notebook belongs to: by its exercises, else its title, else its file's name."""
        for found in ([one[:2] for one in facts["present"]], facts["titles"], re.findall(r"(?<!\d)(\d\d)_", name)):
            lessons = sorted(set(found) & set(self.work["titles"]))
            if lessons:
                return lessons
        raise _Unreadable(f"it holds no exercise of {'lesson' if len(self.work['titles']) == 1 else 'the lessons'} {', '.join(self.work['titles'])}")

    def exercise(self, notebook, exercise_id, deadline):
        """The mark for one exercise. A process that was ended before is started anew."""
        function, most = self.work["exercises"][exercise_id]
        exercise = find(exercise_id)

        def mark(status, messages=(), state="ok", reason="", discreet=(), mistake=""):
            return {"title": exercise.title, "status": status, "points": most if status == "passed" else 0, "of": most, "state": state,
                    "reason": fit(reason, 300), "messages": [fit(text) for text in messages], "discreet": [fit(text) for text in discreet or messages],
                    "mistake": mistake, "seed": self.seed}

        answer = None
        try:
            if time.monotonic() > deadline:
                return mark("failed", ["The time for this notebook was used up before this exercise."], "timeout", "no time was left")
            if self.session is None or self.session.ended is not None:
                self.opened(notebook)
            told = self.session.ask(do="define", exercise_id=exercise_id, name=function)
            if "broken" in told:
                return mark("missing", [f"There is no answer to mark: {told['broken']}."], "missing exercise", told["broken"])
            if "raised" in told:
                raise Ended(*(("memory", "running its cell took more memory than a submission may use") if told["raised"][0] == "MemoryError"
                              else ("crashed", "what your code sent back is no answer")))
            if "callable" in told:
                answer = Answer(self.session, exercise, told.get("foreign"), deadline)
            report = examine(exercise, answer or told.get("value"), self.seed, call_in_sandbox, cases_of(exercise_id, self.seed))
        except OutOfTime:
            self.close()
            return mark("failed", ["Stopped: running its cell took too long."], "timeout", "running its cell took too long")
        except Ended as error:
            return mark("failed", [f"{str(error)[:1].upper()}{str(error)[1:]}."], error.state, error.reason)
        except _Unreadable as error:
            return mark("failed", ["The notebook could be read at first, and then not."], "crashed", str(error))
        if answer is not None and answer.stopped:
            self.close()
            return mark("failed", report.messages, "timeout", "a call did not come back in time", report.discreet)
        if answer is not None and answer.short_of_memory and not report.passed:
            return mark("failed", report.messages, "memory", "it asked for more memory than a submission may use", report.discreet)
        return mark(report.status, report.messages, "ok", "", report.discreet, report.mistake)


class _Unreadable(Exception):
    pass
