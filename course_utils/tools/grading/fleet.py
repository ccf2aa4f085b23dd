"""Run many marking processes at once, here or on a cluster. Each runs `marking_process` with a sandbox of its own."""

import base64
import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from ..cluster import cluster_at
from .results import NOT_MARKED, Result, result_from
from .sandbox import ONE_THREAD, STARTING, SandboxError

BUDGET = 2  # all notebooks of a learner may take so many times as long as one
TOO_LONG = "it was not run: this learner's later notebooks had taken {:.0f} seconds"
TRIES = 2  # a job whose marking process dies is retried once, in a new process


class MarkingProcess:
    """A marking process, as a context manager."""

    def __init__(self, settings):
        environment = {**os.environ, **ONE_THREAD}
        self.folder = (
            None
            if settings["isolated"]
            else tempfile.TemporaryDirectory(prefix="course-grade-", ignore_cleanup_errors=True)
        )
        if self.folder:
            environment["TMPDIR"] = self.folder.name  # a process that is killed cannot clean up after itself
        self.process = subprocess.Popen(
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
            self.filtered = self.ask(settings, STARTING)["filter"]
        except BaseException:
            self.__exit__()
            raise

    def ask(self, message, seconds=None):
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

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()  # its sandbox dies with it
        self.process.wait()
        with contextlib.suppress(OSError):  # closing may flush unread input
            self.process.stdin.close()
        self.process.stdout.close()
        if self.folder:
            self.folder.cleanup()


def mark_here(jobs, settings, workers):
    """Mark jobs on this machine. Yields (key, Result) in order of completion. Raises SandboxError.

    Once a learner's notebooks have taken BUDGET times what one may take, the others are not run.
    """
    todo, done, processes, over = queue.SimpleQueue(), queue.SimpleQueue(), set(), threading.Event()
    spent = Counter()
    for job in jobs:
        todo.put(job)
    threads = [
        threading.Thread(target=_work, args=(todo, done, settings, processes, over, spent), daemon=True)
        for _ in range(min(workers, len(jobs)))
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in jobs:
            outcome = done.get()
            if isinstance(outcome, BaseException):
                raise outcome
            yield outcome
    finally:
        over.set()
        for process in list(processes):
            process.__exit__()


def _work(todo, done, settings, processes, over, spent):
    """One thread: a marking process that takes jobs until none are left. spent: the seconds of each learner so far."""
    process = None
    try:
        while not over.is_set():
            try:
                job = todo.get_nowait()
            except queue.Empty:
                return
            learner, start = job.get("learner"), time.monotonic()
            if spent[learner] > BUDGET * settings["seconds"]:
                done.put((job["key"], Result("unreadable", TOO_LONG.format(spent[learner]))))
                continue
            for tries in range(1, TRIES + 1):
                if over.is_set():
                    return
                try:
                    if process is None:
                        process = MarkingProcess(settings)
                        processes.add(process)
                    reply = process.ask(job)
                    done.put((reply["key"], result_from(reply["result"])))
                    break
                except EOFError:
                    if process is None:
                        raise SandboxError(
                            "A marking process ended before it was ready; `course doctor` may say why."
                        ) from None
                    _let_go(process, processes)
                    process = None
                    if tries == TRIES:
                        done.put((job["key"], Result(NOT_MARKED, "its marking process ended twice")))
            if learner is not None:
                spent[learner] += time.monotonic() - start
    except BaseException as error:
        done.put(error)
    finally:
        if process is not None:
            _let_go(process, processes)


def _let_go(process, processes):
    process.__exit__()
    processes.discard(process)


def mark_on_cluster(jobs, settings, scheduler):
    """Mark jobs on a Dask cluster whose workers have the course installed. Yields (key, Result) as they finish."""
    with cluster_at(scheduler) as client:
        from distributed import as_completed

        threads = sum(client.nthreads().values())
        size = max(1, min(50, -(-len(jobs) // (2 * threads))))  # large batches, since a process warms up once per batch
        futures = []
        for start in range(0, len(jobs), size):
            batch = [with_data(job) for job in jobs[start : start + size]]
            futures.append(client.submit(mark_batch, batch, settings, pure=False))
        try:
            for future in as_completed(futures):
                yield from future.result()
        finally:
            client.cancel(futures)


def with_data(job):
    """A job that carries its notebook, for a machine that cannot see the file."""
    data = base64.b64encode(Path(job["path"]).read_bytes()).decode()
    return {**{name: job[name] for name in ("key", "name", "learner")}, "data": data}


def mark_batch(jobs, settings):
    """A Dask worker's task: a subprocess marks, since forking from a threaded worker is not safe."""
    return list(mark_here(jobs, settings, workers=1))
