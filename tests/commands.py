"""The `course` commands, called in this process, and whether another process has ended."""

import os
import time
from unittest.mock import Mock

import psutil
from click.testing import CliRunner

from course_utils.tools.cli import main


def run(*words, keys=None):
    """(what a command prints, its exit status). Its exceptions are raised here.

    keys: what is typed in, as a text.
    """
    done = CliRunner().invoke(
        main, [str(word) for word in words], input=keys, catch_exceptions=False
    )
    return done.output, done.exit_code


def output_of(*words, keys=None, status=0):
    """What a command prints that must end with this exit status."""
    text, ended = run(*words, keys=keys)
    assert ended == status, text
    return text


def run_lab(monkeypatch, *arguments):
    """(output, [the page that JupyterLab is to open]) of `course lab`, which starts no JupyterLab.

    The list is empty if `course lab` would not start it.
    """
    start = Mock(side_effect=SystemExit)
    monkeypatch.setenv("PATH", os.environ["PATH"])  # which lab changes for JupyterLab
    monkeypatch.setattr(os, "execv", start)
    monkeypatch.setattr("course_utils.tools.kernels.provisioner.start_warm", lambda: None)
    text, _ = run("lab", *arguments)
    flags = start.call_args.args[1] if start.called else []
    # such a flag is --LabApp.default_url=/lab/PAGE
    return text, [flag.partition("/lab/")[2] for flag in flags if "default_url" in flag]


def gone(pid, seconds=60):
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
