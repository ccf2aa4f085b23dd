"""The environment in `.venv`: what is wrong with it, and what the set-up of a clone does to it.

The Makefile runs this file as a program (`-I environment.py check`), `course doctor` imports it.
Neither may need a package or a new Python: it has only the standard library, and runs on 3.8.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

VENV = Path(__file__).resolve().parents[2] / ".venv"  # in a clone
UNFINISHED = ".unfinished"  # in the environment while it is being set up
INTERRUPTED = "its set-up was interrupted"
# hatchling's file for an editable installation: the folder that holds `course_utils`
COURSE = "_sentence_embeddings_course.pth"
LONGEST_SHEBANG = 127  # bytes that Linux reads of one
# the first line of a program for Python, or the first three, where its path has a blank or is long;
# its two groups are the folder of that Python
SHEBANG = re.compile(
    rb"""#!(?:(/[^\n]*)/python[\d.]*|/bin/sh\n'''exec' "?(/[^\n]*)/python[\d.]*"? [^\n]*\n' ''')\n"""
)


def programs_of(venv: Path) -> Path:
    """The folder with the programs of an environment."""
    return venv / ("Scripts" if os.name == "nt" else "bin")


def packages_of(venv: Path) -> Path:
    """The folder for the packages of an environment, by the version of the Python that runs this.

    Raises KeyError before Python 3.11.
    """
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(venv)}))


def problem(venv: Path = VENV) -> str:
    """Why an environment cannot be used as it stands, as a clause; "" if it can.

    Its own Python finds out, in milliseconds.
    """
    python = programs_of(venv) / "python"
    try:
        done = subprocess.run(
            [str(python), "-IS", __file__, "check", str(venv)], stdout=subprocess.PIPE, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        if (venv / UNFINISHED).exists():
            return INTERRUPTED
        return f"its Python does not run any more ({os.path.realpath(python)})"
    return done.stdout.decode(errors="replace").strip()


def check(venv: Path) -> str:
    """As `problem`, for the environment whose Python runs this."""
    packages = packages_of(venv)
    if (venv / UNFINISHED).exists():
        return INTERRUPTED
    if not packages.is_dir():
        version = ".".join(map(str, sys.version_info[:2]))
        return f"its packages are for another Python than its own, which is {version} now"
    try:
        installed = Path(os.fsdecode((packages / COURSE).read_bytes()).strip())
    except OSError:
        return "the course is not installed in it"
    # an environment that several clones share, by links, has the course of one of them
    if (installed / "course_utils").is_dir():
        if venv.is_symlink() or installed.samefile(venv.parent):
            return ""
        return f"it was copied, and has the course in {installed}"
    return f"it was set up for {installed}, and the folder was moved or renamed since"


def make(venv: Path) -> str:
    """Make an environment with the Python that runs this, where none is or a broken one.

    Packages for the same version of Python stay; what is for another one is removed. Returns a
    sentence about what could not be done; "" if all was.
    """
    if venv.is_symlink() and not (venv.is_dir() and not any(venv.iterdir())):
        return (
            f"{venv} is a link to {os.path.realpath(venv)}, whose Python does not run, and what a "
            "link leads to is not changed from here. Remove the link, then try again."
        )
    if venv.is_dir() and any(venv.iterdir()):
        if packages_of(venv).is_dir():
            print(f"{venv}: {problem(venv)}. It gets {sys.executable}, and its packages stay.")
            for program in programs_of(venv).glob("python*"):
                program.unlink()
            remove_unfinished(venv)
        else:
            print(f"{venv}: {problem(venv)}. It is made anew.")
            shutil.rmtree(venv)
    if not venv.exists():
        print(f"Setting up {venv.name}: once, 3 GB on disk, a few minutes.")
    sys.stdout.flush()
    venv.mkdir(exist_ok=True)
    (venv / UNFINISHED).touch()
    # its own words say what is missing, such as Debian's python3-venv
    done = subprocess.run([sys.executable, "-m", "venv", str(venv)])
    return f"{sys.executable} could not make {venv}." if done.returncode else ""


def begin(venv: Path) -> str:
    """Note that packages are about to be installed, and let pip install cut-off ones again."""
    (venv / UNFINISHED).touch()
    remove_unfinished(venv)
    return ""


def remove_unfinished(venv: Path) -> None:
    """Remove pip's note of each package that it had not finished: it has no record of its files.

    pip would take such a package for installed, though files or programs are missing.
    """
    for note in packages_of(venv).glob("*.dist-info"):
        if not (note / "RECORD").exists():
            shutil.rmtree(note)


def finish(venv: Path) -> str:
    """Let the programs of an environment start its own Python, and note that it is complete.

    They name it by its full path, which is another one once the folder was moved.
    """
    python = programs_of(venv) / "python"
    folders = (programs_of(venv), venv / "grading" / "bin")
    programs = [path for folder in folders for path in sorted(folder.glob("*"))]
    moved = [path for path in programs if path.is_file() and point_to(python, path)]
    if moved:
        print(f"{len(moved)} programs in {venv} start its Python again, where it is now.")
        # writes `activate` again, which names the folder, too
        subprocess.run([str(python), "-m", "venv", "--without-pip", str(venv)], check=True)
    (venv / UNFINISHED).unlink()
    return ""


def point_to(python: Path, program: Path) -> bool:
    """Let a program be run by this Python, in place of one in an environment that is gone, or is
    another one. Returns whether the program changed. Others stay as they are.
    """
    with open(program, "rb") as file:
        if file.read(2) != b"#!":  # some are large, and not for Python
            return False
    content = program.read_bytes()
    shebang = SHEBANG.match(content)
    if not shebang:
        return False
    folder = Path(os.fsdecode(shebang[1] or shebang[2]))
    is_system = folder.is_dir() and not (folder.parent / "pyvenv.cfg").is_file()
    if is_system or (folder.is_dir() and folder.samefile(python.parent)):
        return False
    path = os.fsencode(python)
    line = b"#!" + path + b"\n"
    if b" " in path or len(line) > LONGEST_SHEBANG:
        line = b"#!/bin/sh\n'''exec' \"" + path + b'" "$0" "$@"\n' + b"' '''\n"
    # in place: the file keeps its permissions
    program.write_bytes(line + content[shebang.end() :])
    return True


def main() -> None:
    """Do what the first argument says to the environment in the second one, VENV by default."""
    word, *folder = sys.argv[1:]
    actions = {"check": check, "make": make, "begin": begin, "finish": finish}
    # not `resolve`: a link must stay one
    sentence = actions[word](Path(os.path.abspath(folder[0])) if folder else VENV)
    if sentence:
        # what `problem` reads; for set-up, an error
        print(sentence, file=sys.stdout if word == "check" else sys.stderr)
    sys.exit(1 if sentence else 0)


if __name__ == "__main__":
    main()
