"""Run many marking processes at once, each with a sandbox of its own.

A marking process runs this module as a program, with JSON objects as lines in and out. The first
line holds the settings: lessons (keys), seed, isolated, seconds and memory (bytes) of a notebook,
and optionally judging (bytes instead of MEMORY_OF_JUDGING). The reply is {"ready": true}. Each
further line is a job: key, name and path. Its reply holds this key, and as result the fields of a
`Result`. Instead of any reply, {"fatal": sentence} says why the process ends. It also ends when its
input ends, or the process that started it.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from . import sandbox_server
from .results import NOT_MARKED, Result, result_from
from .sandbox import ONE_THREAD, STARTING, Sandbox, SandboxError

BUDGET = 2  # all notebooks of a learner may take so many times as long as one
# a job whose marking process dies is retried once, in another; `_Fleet.result` says "twice"
TRIES = 2
# bytes that judging may use beyond what the process has when it is ready
MEMORY_OF_JUDGING = 4 * 2**30


class MarkingProcess:
    """A marking process, as a context manager.

    settings: see the module.
    folder: the temporary files of code that is not isolated; None for a sandbox, which has its own.
    patience: the seconds to wait for a reply.

    A fleet enters and leaves it by calling the methods, since its processes outlive the call that
    starts them. It may leave one twice.
    """

    def __init__(self, settings: dict) -> None:
        environment = {**os.environ, **ONE_THREAD}
        self.folder = (
            None
            if settings["isolated"]
            else tempfile.TemporaryDirectory(prefix="course-grade-", ignore_cleanup_errors=True)
        )
        if self.folder:  # a process that is killed cannot clean up after itself
            environment["TMPDIR"] = self.folder.name
        # Any, since to the type checker its pipes might be missing
        self.process: Any = subprocess.Popen(
            [sys.executable, "-m", "course_utils.tools.grading.fleet"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            start_new_session=True,
        )
        self.settings = settings
        # generous, since a notebook that takes too long is stopped by the marking process itself
        self.patience = 2 * settings["seconds"] + 60

    def ask(self, message: dict, seconds: float | None = None) -> dict:
        """Send a line and wait for one, which is returned. Messages and replies: see the module.

        seconds: how long to wait; None for `patience`.

        Raises SandboxError for a "fatal" reply, EOFError if the process is gone or was killed for
        taking too long.
        """
        watch = threading.Timer(seconds or self.patience, self.process.kill)
        watch.start()
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except (BrokenPipeError, ValueError):  # ValueError: it was closed meanwhile
            line = ""
        finally:
            watch.cancel()
        if not line.endswith("\n"):  # it may have died in the middle of a line
            raise EOFError
        reply = json.loads(line)
        if "fatal" in reply:
            raise SandboxError(reply["fatal"])
        return reply

    def __enter__(self) -> Self:
        """Send the settings and wait until it is ready. If it does not become so, it is ended."""
        try:
            self.ask(self.settings, STARTING)
        except BaseException:
            self.__exit__()
            raise
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
    settings: see the module.
    workers: how many marking processes run at once.

    All processes are ended when the generator is exhausted or closed.
    """
    fleet = _Fleet(settings)
    threads = ThreadPoolExecutor(workers)
    try:
        for future in as_completed([threads.submit(fleet.mark, job) for job in jobs]):
            yield future.result()
    finally:
        fleet.is_over = True
        for process in list(fleet.processes):
            process.__exit__()
        threads.shutdown(cancel_futures=True)


@dataclass
class _Fleet:
    """What the threads share.

    processes: all that were started, ended ones too.
    idle: the processes without a job.
    is_over: whether all are to stop.
    spent: the seconds that each learner's notebooks have taken so far; a job without a learner
    counts for itself.
    """

    settings: dict
    processes: list[MarkingProcess] = field(default_factory=list)
    idle: list[MarkingProcess] = field(default_factory=list)
    is_over: bool = False
    spent: dict = field(default_factory=lambda: defaultdict(float))

    def mark(self, job: dict) -> tuple[int, Result]:
        """Have a job marked. Returns its key and the result."""
        learner = job.get("learner", job["key"])
        if self.spent[learner] > BUDGET * self.settings["seconds"]:
            return job["key"], Result(
                "unreadable",
                "it was not run: this learner's later notebooks had taken "
                f"{self.spent[learner]:.0f} seconds",
            )
        start = time.monotonic()
        result = self.result(job)
        self.spent[learner] += time.monotonic() - start
        return job["key"], result

    def result(self, job: dict) -> Result:
        """What an idle process, or else a new one, says about a job. Raises SandboxError.

        NOT_MARKED if the processes that had the job ended.
        """
        for _ in range(TRIES):
            # taken without looking first: two threads could see the same last process
            try:
                process = self.idle.pop()
            except IndexError:
                process = self.started()
            try:
                result = result_from(process.ask(job)["result"])
            except EOFError:
                process.__exit__()
                continue
            self.idle.append(process)
            return result
        return Result(NOT_MARKED, "its marking process ended twice")

    def started(self) -> MarkingProcess:
        """A new process, ready for a job. Raises SandboxError if it ended before it was.

        It is in `processes` before it is ready, so that `mark_here` can end it meanwhile.
        """
        process = MarkingProcess(self.settings)
        self.processes.append(process)
        if self.is_over:  # `mark_here` may have ended the others before it knew this one
            process.__exit__()
        else:
            with contextlib.suppress(EOFError):  # it ended, and has been cleaned up after
                return process.__enter__()
        raise SandboxError(
            "A marking process ended before it was ready; `course doctor` may say why."
        )


# ---------------------------------------------------------------- a marking process


def main() -> None:
    """Mark jobs from standard input, writing one result per line."""
    sandbox_server.end_with_parent()
    # Results go to the original output. What libraries print goes where errors go.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")

    def reply(message: dict) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    settings = json.loads(sys.stdin.readline())
    try:
        with Sandbox(settings["isolated"], settings["seconds"], settings["memory"]) as sandbox:
            import torch  # while the sandbox warms up

            from ...exercises import exercises_of
            from .handed_files import LARGEST
            from .marking import Marker

            torch.set_num_threads(1)
            marker = Marker(sandbox, settings["lessons"], settings["seed"], settings["seconds"])
            # imports what the checks import, before memory is limited; 05-layer is of lesson 05
            exercises_of({key[:2] for key in settings["lessons"]})
            sandbox.wait()
            sandbox_server.limit(
                "AS", sandbox_server.mapped() + settings.get("judging", MEMORY_OF_JUDGING)
            )
            reply({"ready": True})
            for line in sys.stdin:
                job = json.loads(line)
                # larger only if it has changed since it was gathered, and then no marks are kept
                data = read(job["path"], LARGEST)
                reply({"key": job["key"], "result": asdict(marker.mark(data, job["name"]))})
    except SandboxError as error:
        reply({"fatal": str(error)})
        sys.exit(1)


def read(path: str | Path, most: int) -> bytes:
    """The first bytes of a hand-in, at most `most`.

    Raises SandboxError if it cannot be read. That is not the learner's fault, since it could be
    read a moment ago.
    """
    try:
        with open(path, "rb") as file:
            # the size also bounds the allocation
            return file.read(min(most, os.fstat(file.fileno()).st_size))
    except OSError as error:
        raise SandboxError(
            f"{path} can no longer be read: {error.strerror}. What was marked is kept; run the "
            "command again."
        ) from None


if __name__ == "__main__":
    main()
