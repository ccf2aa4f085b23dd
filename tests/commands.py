"""The `course` commands, called in this process, and whether another process has ended."""

import time

import psutil
from click.testing import CliRunner

from course_utils.tools.cli import main


def run(*words, keys=None):
    """What a command prints, and its exit status; `keys` are typed in. Its exceptions are raised here."""
    words = [str(word) for word in words]
    done = CliRunner().invoke(main, words, input=keys, catch_exceptions=False)
    return done.output, done.exit_code


def output_of(*words, keys=None, status=0):
    """What a command prints that must end with this exit status."""
    text, ended = run(*words, keys=keys)
    assert ended == status, text
    return text


def gone(pid, seconds=10):
    """Whether a process ends within this time; it may stay a zombie if its parent does not wait for it."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False
