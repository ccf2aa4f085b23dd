"""The wheel: built from the committed files, installed outside the clone, and used by a learner.

Each command may take five minutes: building and first imports are slow on a busy machine.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import nbformat
import pytest

from course_utils.tools.publish import elsewhere

from .project import ROOT, copy_checkout

pytestmark = pytest.mark.nightly  # to build and install it takes seconds
# with the glossary
LESSONS = sorted((ROOT / "notebooks").glob("**/*.ipynb"))


def run(*command, folder, **environment):
    """(exit status, what a command prints, errors included).

    `environment` is added to the variables of this process, but for two: the command sees neither
    the clone nor the environment that is active here.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=kept | environment, text=True, encoding="utf-8", timeout=300,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout


def works(*command, folder, **environment):
    """As `run`, what the command prints; fails unless its exit status is 0."""
    status, printed = run(*command, folder=folder, **environment)
    assert status == 0, printed
    return printed


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    room = tmp_path_factory.mktemp("wheel")
    copy_checkout(room / "clone")
    works(
        sys.executable,
        *"-m pip wheel --quiet --no-deps --no-build-isolation --no-index --wheel-dir".split(),
        room,
        room / "clone",
        folder=room,
    )
    (built,) = room.glob("*.whl")
    return built


def borrowing_environment(folder):
    """(folder of programs, path of Python) of a new environment in folder / "env".

    It borrows the packages of this one: a .pth file names their folder.
    """
    venv.create(folder / "env", with_pip=False)
    programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    python = next(programs.glob("python*"))
    site = works(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=folder
    )
    Path(site.strip(), "borrowed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return programs, python


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """(folder to work in, path of `course`, path of Python); the wheel is installed there."""
    folder = tmp_path_factory.mktemp("Kurs für alle")  # with blanks and an umlaut
    programs, python = borrowing_environment(folder)
    works(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        *"install --quiet --no-deps --no-index".split(),
        wheel,
        folder=folder,
    )
    return folder, next(programs.glob("course*")), python


def test_the_wheel_holds_the_lessons_and_nothing_of_the_tests(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    lessons = {f"course_utils/{path.relative_to(ROOT).as_posix()}" for path in LESSONS}
    assert lessons == {name for name in names if name.endswith(".ipynb")}
    assert {
        "course_utils/requirements.lock",
        "course_utils/notebooks/lectures/04_pooling.md",
    } <= names
    assert not [name for name in names if name.startswith("tests/") or "__pycache__" in name]
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "course_utils").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert package <= names, sorted(package - names)


# The commands in the order of a learner's first day, and what each prints, among other things.
FIRST_DAY = [
    ("lab --write-only", f"{len(LESSONS) - 1} of them newly written"),  # the glossary is no lesson
    ("update", "up to date"),
    ("progress", "00"),
    ("reset 04", "restored"),
    ("slides 04 --out decks", "04_pooling.slides.html"),
]
# a wrong answer: it also averages the padding
CHECK_AN_ANSWER = """
from course_utils import check
print(check("04-mean-pool", lambda token_vectors, attention_mask: token_vectors.mean(1)))
"""


def test_the_commands_work_without_a_clone(installed):
    folder, course, python = installed
    share = os.path.join(sysconfig.get_path("data"), "share", "jupyter")  # borrowed, too
    for words, message in FIRST_DAY:
        assert message in works(
            course, *words.split(), folder=folder, TQDM_DISABLE="1", JUPYTER_PATH=share
        )
    assert "padding" in works(
        python, "-c", CHECK_AN_ANSWER, folder=folder / "workspace", HF_HUB_OFFLINE="1"
    )


def test_commands_for_authors_are_not_in_the_wheel(installed):
    folder, course, _ = installed
    status, printed = run(course, "new-exercise", "04", "more", folder=folder)
    assert status == 2 and "No such command" in printed  # 2: wrong usage


def test_the_doctor_finds_an_installation_that_works(installed):
    folder, course, _ = installed
    _, printed = run(course, "doctor", folder=folder, HF_HUB_OFFLINE="1")
    assert [
        line
        for line in ("installed, in ", "OK    packages", "OK    first embedding")
        if line not in printed
    ] == []


# Runs a program in the sandbox, with two arguments: the folder of the lessons, and the path of
# Python. Outside, the lessons are counted. Inside, the folder must look empty; Python must be there,
# else a sandbox that hides everything would pass.
LOOK_INTO_THE_SANDBOX = """
import subprocess, sys
from course_utils._support.notebooks import NOTEBOOKS
from course_utils.tools.grading.sandbox import walls
inside = '''
import os, sys
print("inside:", os.listdir(sys.argv[1]), "Python" if os.path.exists(sys.argv[2]) else "no Python")
'''
print("outside:", len(list(NOTEBOOKS.glob("**/*.ipynb"))), "lessons", flush=True)
command = [*walls(), sys.executable, "-I", "-c", inside, str(NOTEBOOKS), sys.executable]
subprocess.run(command, check=True)
"""


@pytest.mark.skipif(
    not shutil.which("bwrap"), reason="no bubblewrap on this machine: apt-get install bubblewrap"
)
def test_a_submission_does_not_see_the_lessons_of_the_wheel(installed):
    folder, _, python = installed
    assert works(python, "-c", LOOK_INTO_THE_SANDBOX, folder=folder).splitlines() == [
        f"outside: {len(LESSONS)} lessons",
        "inside: [] Python",
    ]


# runs the source in a file as a cell, and prints the error with which it ends, or None
RUN_CELL = """
import sys
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell
result = InteractiveShell().run_cell(Path(sys.argv[1]).read_text(encoding="utf-8"))
print("outcome:", repr(result.error_before_exec or result.error_in_exec))
"""


def outcome(source, python, folder):
    """What a cell with this source prints, and RUN_CELL after it. Writes folder / "cell.py"."""
    (folder / "cell.py").write_text(source, encoding="utf-8")
    return works(
        python, "-c", RUN_CELL, "cell.py", folder=folder, PIP_NO_INDEX="1", IPYTHONDIR=str(folder)
    )


def test_colab_downloads_the_wheel_by_its_name(wheel):
    assert elsewhere.wheel(elsewhere.read_project()).endswith(f"/{wheel.name}")


def test_the_cell_for_colab_installs_the_wheel_once(wheel, tmp_path):
    _, python = borrowing_environment(tmp_path)
    project = elsewhere.read_project()
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(elsewhere.requirements(project), encoding="utf-8")
    copy = elsewhere.colab_copy(
        nbformat.read(ROOT / "notebooks" / "04_pooling.ipynb", as_version=4), project, "04_pooling"
    )
    (source,) = [cell.source for cell in copy.cells if cell.id == "install-the-course"]
    # files of this machine stand for both downloads, and at first there is no wheel
    source = source.replace(
        elsewhere.address(project, "release", elsewhere.REQUIREMENTS), str(requirements)
    )
    without_wheel = source.replace(elsewhere.wheel(project), str(tmp_path / "nowhere.whl"))
    with_wheel = source.replace(elsewhere.wheel(project), str(wheel))

    assert "outcome: SystemExit('The course is not installed" in outcome(
        without_wheel, python, tmp_path
    )
    assert (
        "outcome: SystemExit('The course is installed. Now choose Runtime > Restart session"
        in outcome(with_wheel, python, tmp_path)
    )
    assert outcome(with_wheel, python, tmp_path).strip() == "outcome: None", (
        "once it is there, the cell does nothing"
    )
    assert works(python, "-m", "course_utils.tools.cli", "--version", folder=tmp_path)
