"""Run many marking processes at once. Each runs `marking_process` with a sandbox of its own."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Generator
from typing import Any

from .results import NOT_MARKED, Result, result_from
from .sandbox import ONE_THREAD, STARTING, SandboxError

BUDGET = 2  # all notebooks of a learner may take so many times as long as one
TOO_LONG = "it was not run: this learner's later notebooks had taken {:.0f} seconds"
TRIES = 2  # a job whose marking process dies is retried once, in a new process


class MarkingProcess:
    """A marking process, as a context manager. settings: see `marking_process`."""

    def __init__(self, settings: dict) -> None:
        environment = {**os.environ, **ONE_THREAD}
        self.folder = None
        if not settings["isolated"]:
            self.folder = tempfile.TemporaryDirectory(
                prefix="course-grade-", ignore_cleanup_errors=True
            )
            # a process that is killed cannot clean up after itself
            environment["TMPDIR"] = self.folder.name
        self.process: Any = subprocess.Popen(  # for the type checker, its pipes might be missing
            [sys.executable, "-m", "course_utils.tools.grading.marking_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            start_new_session=True,
        )
        try:
            self.patience = 2 * settings["seconds"] + 60
            self.ask(settings, STARTING)
        except BaseException:
            self.__exit__()
            raise

    def ask(self, message: dict, seconds: float | None = None) -> dict:
        """Send a line and wait for one.

        Raises SandboxError, or EOFError if the process is gone or was killed for taking too long.
        """
        watch = threading.Timer(seconds or self.patience, self.process.kill)
        watch.start()
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            watch.cancel()
        if not line.endswith("\n"):  # it may have died in the middle of a line
            raise EOFError
        reply = json.loads(line)
        if "fatal" in reply:
            raise SandboxError(reply["fatal"])
        return reply

    def __enter__(self) -> MarkingProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()  # its sandbox dies with it
        self.process.wait()
        with contextlib.suppress(OSError):  # closing may flush unread input
            self.process.stdin.close()
        self.process.stdout.close()
        if self.folder:
            self.folder.cleanup()


def mark_here(
    jobs: list[dict], settings: dict, workers: int
) -> Generator[tuple[int, Result], None, None]:
    """Mark jobs on this machine. Yields (key, Result) in order of completion. Raises SandboxError.

    jobs: dicts with key, name and path of a notebook, and its learner if that is known. Once a
    learner's notebooks have taken BUDGET times what one may take, the others are not run.
    """
    fleet = _Fleet(jobs, settings)
    for _ in range(min(workers, len(jobs))):
        threading.Thread(target=fleet.work, daemon=True).start()
    try:
        for _ in jobs:
            outcome = fleet.done.get()
            if isinstance(outcome, BaseException):
                raise outcome
            yield outcome
    finally:
        fleet.over.set()
        for process in list(fleet.processes):
            process.__exit__()


class _Fleet:
    """What the threads share, each of which has a marking process. over: set when they are to stop."""

    def __init__(self, jobs, settings):
        self.settings = settings
        self.todo, self.done = queue.SimpleQueue(), queue.SimpleQueue()
        for job in jobs:
            self.todo.put(job)
        self.processes: set[MarkingProcess] = set()
        self.over = threading.Event()
        self.spent: dict = defaultdict(float)  # seconds of each learner so far

    def work(self):
        """One thread: take jobs until none are left."""
        process = None
        try:
            while not self.over.is_set():
                job = self.todo.get_nowait()
                learner, start = job.get("learner", job["key"]), time.monotonic()
                if self.spent[learner] > BUDGET * self.settings["seconds"]:
                    result = Result("unreadable", TOO_LONG.format(self.spent[learner]))
                else:
                    process, result = self.marked(job, process)
                self.spent[learner] += time.monotonic() - start
                self.done.put((job["key"], result))
        except queue.Empty:
            pass
        except BaseException as error:
            self.done.put(error)
        finally:
            self.end(process)

    def marked(self, job, process):
        """Have a job marked. Returns the process, which may be a new one or None, and the result."""
        for _ in range(TRIES):
            if self.over.is_set():
                break
            try:
                process = process or self.begin()
                return process, result_from(process.ask(job)["result"])
            except EOFError:
                self.end(process)
                process = None
        return None, Result(NOT_MARKED, "its marking process ended twice")

    def begin(self):
        try:
            process = MarkingProcess(self.settings)
        except EOFError:
            raise SandboxError(
                "A marking process ended before it was ready; `course doctor` may say why."
            ) from None
        self.processes.add(process)
        return process

    def end(self, process):
        if process is not None:
            process.__exit__()
            self.processes.discard(process)
