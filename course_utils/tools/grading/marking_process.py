"""A marking process: one sandbox that marks jobs one after the other, with JSON lines in and out.

The first line holds the settings: lessons, seed, isolated, seconds, memory, and optionally judging
(bytes). Each further line is a job: key, name and path. Each reply has its
job's key. The process ends when its input ends, or the process that started it.
"""

import json
import os
import sys
import warnings
from dataclasses import asdict
from pathlib import Path

from . import sandbox_server
from .sandbox import Sandbox, SandboxError

JUDGING = 4 * 2**30  # bytes that judging may use beyond what the process has when it is ready


def main() -> None:
    """Mark jobs from standard input, writing one result per line."""
    sandbox_server.end_with_parent()
    # keeps what libraries print out of the results
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")

    def say(message):
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
            # imports what the checks import, before memory is limited
            exercises_of({key[:2] for key in settings["lessons"]})
            sandbox.wait()
            sandbox_server.limit_memory(settings.get("judging", JUDGING), sandbox_server.mapped())
            say({"ready": True})
            for line in sys.stdin:
                job = json.loads(line)
                data = read(job["path"], LARGEST + 1)
                say({"key": job["key"], "result": asdict(marker.mark(data, job["name"]))})
    except SandboxError as error:
        say({"fatal": str(error)})
        sys.exit(1)


def read(path: str | Path, most: int) -> bytes:
    """A hand-in's bytes, so many at most.

    Raises SandboxError if it cannot be read: it could be a moment ago, so that is not the learner's
    fault.
    """
    try:
        with open(path, "rb") as file:
            # the size also bounds the allocation
            return file.read(min(most, os.fstat(file.fileno()).st_size))
    except OSError as error:
        raise SandboxError(
            f"{path} can no longer be read: {error.strerror}. What was marked is kept; run the command again."
        ) from None


if __name__ == "__main__":
    main()
