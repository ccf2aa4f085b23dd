"""A class on a JupyterHub: an ordinary user, a read-only installation owned by another user, and no network."""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest

from course_utils._support.notebooks import cores
from course_utils.diary.workspace import RECORD
from course_utils.tools.grading.sandbox import read_only
from course_utils.tools.workspace.copies import CopyError, write_workspace
from course_utils.tools.workspace.lab import LAB_FILES
from course_utils.tools.workspace.owner import as_owner_of

from .commands import output_of
from .grader import course, skip_unless_isolated
from .project import ROOT
from .sources import printed_by

NOBODY = 65534  # the id of the user `nobody` and of its group
# what Python and its libraries read of the system; /sys tells them how many processors there are
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc", "/sys/devices/system/cpu")
# arguments: a notebook, the folder to run it in; saves it with its outputs
RUN = """
import sys, nbformat
from nbclient import NotebookClient
path, folder = sys.argv[1:]
notebook = nbformat.read(path, as_version=4)
where = {"metadata": {"path": folder}}
NotebookClient(notebook, timeout=180, kernel_name="python3", resources=where).execute()
nbformat.write(notebook, path)
"""


def ordinary_user(writable):
    """The beginning of a command line that runs the rest as the user `nobody`.

    The rest sees the system, this Python and the project, read-only, and can write in the folder
    `writable` and in an empty /tmp. Folders that only root can enter, such as root's home, become
    folders that all users can enter.
    """
    # setpriv below needs all capabilities, and drops them
    command = (
        "bwrap --bind /proc /proc --dev-bind /dev /dev --perms 1777 --tmpfs /tmp --cap-add ALL"
    ).split()
    mounted = []
    # resolved: a prefix may be a link; parents[1]: the program's prefix, as it is in the folder bin
    pythons = {
        Path(sys.prefix),
        Path(sys.prefix).resolve(),
        Path(sys.base_prefix),
        Path(sys.executable).resolve().parents[1],
    }
    for folder in [*map(Path, SYSTEM), *sorted(pythons | {ROOT})]:
        # a link stays a link; one in the project, such as .venv, comes with the project
        if folder.is_symlink() and not folder.is_relative_to(ROOT):
            command += ["--symlink", os.readlink(folder), str(folder)]
        elif folder.exists() and not any(folder.is_relative_to(other) for other in mounted):
            command += read_only(folder)
            mounted.append(folder)
    # the folders that the writable one is in, without /; of /tmp, only the folder itself is there
    for parent in reversed(Path(writable).parents[:-1]):
        is_mounted = any(parent.is_relative_to(other) for other in mounted)
        if not (is_mounted or parent == Path("/tmp")):
            command += ["--perms", "0755", "--dir", str(parent)]
    command += ["--bind", str(writable), str(writable)]
    return [
        *command,
        "setpriv",
        f"--reuid={NOBODY}",
        f"--regid={NOBODY}",
        "--clear-groups",
        "--inh-caps=-all",
        "--bounding-set=-all",
    ]


@pytest.fixture
def room():
    # a folder of the user `nobody`, not in pytest's own, which only root can enter
    skip_unless_isolated()  # the same mechanism makes this machine's files read-only
    if os.getuid() != 0:
        pytest.skip("the other tests run as an ordinary user already")
    room = Path(tempfile.mkdtemp(prefix="ordinary-"))
    os.chown(room, NOBODY, NOBODY)
    yield room
    shutil.rmtree(room)


@pytest.fixture
def students_home():
    """The home of the user `nobody`, while the test runs as root."""
    if os.name != "posix" or os.getuid() != 0:
        pytest.skip("only root can write in the homes of others")
    # not in pytest's own folder, which only root can enter
    home = Path(tempfile.mkdtemp(prefix="home-"))
    os.chown(home, NOBODY, NOBODY)
    yield home
    shutil.rmtree(home)


def test_what_a_hook_of_root_writes_is_the_students(students_home):
    before = os.geteuid(), os.getegid(), os.getgroups()
    workspace = students_home / "courses" / "sentence embeddings"
    for _ in range(2):
        output_of("lab", "--write-only", "--live", "00", "--workspace", workspace)
    assert (os.geteuid(), os.getegid(), os.getgroups()) == before
    written = [path.relative_to(workspace).as_posix() for path in workspace.rglob("*")]
    assert {"00_start_here.ipynb", "further", "today.ipynb", RECORD, LAB_FILES} <= {*written}
    assert {"live_copies/00_start_here_live.html", f"{RECORD}.lock"} <= {*written}
    owners = {(path.lstat().st_uid, path.lstat().st_gid) for path in students_home.rglob("*")}
    assert len(owners) == 1
    assert owners.pop()[0] == NOBODY


def test_root_goes_nowhere_that_the_student_may_not(students_home, tmp_path):
    workspace = students_home / "work"
    workspace.symlink_to(tmp_path)
    os.chown(workspace, NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(CopyError, match="Permission denied"):
        write_workspace(workspace)
    # a folder that root wrote there earlier, and one of the student in it
    (students_home / "earlier").mkdir()
    with pytest.raises(CopyError, match=re.escape(f"Cannot write {students_home / 'earlier'}")):
        write_workspace(students_home / "earlier")
    assert list(tmp_path.iterdir()) == []


def test_root_stays_root_in_its_own_folders_and_where_it_may_not_change(students_home, monkeypatch):
    def refused(number):
        raise PermissionError(1, "Operation not permitted")

    with as_owner_of("/etc/course/workspace"):
        assert os.geteuid() == 0
    monkeypatch.setattr(os, "setgroups", refused)
    with as_owner_of(students_home):
        assert os.geteuid() == 0


@pytest.mark.nightly
def test_a_student_gets_copies_works_and_is_remembered(room):
    student = {  # how `course` runs a command as the student
        "before": ordinary_user(room),
        "env": {**os.environ, "HOME": str(room), "PYTHONPATH": str(ROOT), "TQDM_DISABLE": "1"},
    }
    home = room / "sentence embeddings"
    for _ in range(2):  # a hub may do this before each start
        done = course("lab", "--write-only", "--workspace", home, **student)
        assert done.returncode == 0, done.stderr
        assert f"{len(cores())} lessons and" in done.stdout, done.stderr
    assert (home / "00_start_here.ipynb").stat().st_uid == NOBODY
    assert (home / "glossary.ipynb").exists()

    lesson = nbformat.read(home / "00_start_here.ipynb", as_version=4)
    # the exercise's cell gets a right answer: the largest similarity to another row
    (answer,) = [cell for cell in lesson.cells if cell.id == "00-nearest"]
    answer.source = "def nearest(table, i):\n    return max({*range(len(table))} - {i}, key=lambda j: table[i, j])"
    nbformat.write(lesson, home / "00_start_here.ipynb")
    done = course(home / "00_start_here.ipynb", home, program=["-c", RUN], **student)
    assert done.returncode == 0, done.stderr[-2000:]
    assert any(
        "✓ passed" in printed_by(cell)
        for cell in nbformat.read(home / "00_start_here.ipynb", as_version=4).cells
    )

    done = course("progress", "--workspace", home, **student)
    assert done.returncode == 0, done.stdout + done.stderr
    # one exercise of all is passed
    assert done.stdout.startswith("1 of "), done.stdout + done.stderr
