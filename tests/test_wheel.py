"""The wheel: built from the committed files, installed outside the clone, and used as a learner would."""

import functools
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
LESSONS = sorted((ROOT / "notebooks").glob("**/*.ipynb"))


def run(*command, folder, **environment):
    """What a command prints. It sees neither the clone nor the environment that is active here."""
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


def works(*command, **where):
    """What a command prints that ends well."""
    code, printed = run(*command, **where)
    assert code == 0, printed
    return printed


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    room = tmp_path_factory.mktemp("wheel")
    copy_checkout(room / "clone")
    flags = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    works(sys.executable, "-m", "pip", "wheel", *flags, "-w", room, room / "clone", folder=room)
    (built,) = room.glob("*.whl")
    return built


def borrowing(folder):
    """(folder of programs, Python) of a new environment in a folder, which borrows the packages of this one."""
    venv.create(folder / "env", with_pip=False)
    programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    python = next(programs.glob("python*"))
    purelib = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = works(python, "-c", purelib, folder=folder)
    Path(site.strip(), "borrowed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return programs, python


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """(folder to work in, `course`, Python): the wheel in an environment that borrows the packages of this one."""
    folder = tmp_path_factory.mktemp("Kurs für alle")
    programs, python = borrowing(folder)
    flags = ("--quiet", "--no-deps", "--no-index")
    works(sys.executable, "-m", "pip", "--python", python, "install", *flags, wheel, folder=folder)
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
    here = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "course_utils").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert here <= names, sorted(here - names)


def test_the_commands_work_without_a_clone(installed):
    folder, course, python = installed

    share = os.path.join(sysconfig.get_path("data"), "share", "jupyter")  # borrowed, too
    says = functools.partial(works, course, folder=folder, TQDM_DISABLE="1", JUPYTER_PATH=share)
    number = len(LESSONS) - 1  # the glossary is none
    assert f"{number} of them newly written" in says("lab", "--write-only")
    assert "up to date" in says("update")
    assert "00" in says("progress") and "restored" in says("reset", "04")
    assert "04_pooling.slides.html" in says("slides", "04", "--out", "decks")
    code, said = run(course, "new-exercise", "04", "more", folder=folder)
    assert code == 2 and "No such command" in said
    code, said = run(course, "doctor", folder=folder, HF_HUB_OFFLINE="1")
    assert "installed, in " in said and "OK    packages" in said and "OK    first embedding" in said
    answered = (
        "from course_utils import check; "
        "print(check('04-mean-pool', lambda token_vectors, attention_mask: token_vectors.mean(1)))"
    )
    assert "padding" in works(
        python, "-c", answered, folder=folder / "workspace", HF_HUB_OFFLINE="1"
    )


@pytest.mark.skipif(
    not shutil.which("bwrap"), reason="no bubblewrap on this machine: apt-get install bubblewrap"
)
def test_a_submission_does_not_see_the_lessons_of_the_wheel(installed):
    folder, _, python = installed
    code = (
        "import subprocess, sys; from course_utils._support.notebooks import NOTEBOOKS; from "
        "course_utils.tools.grading.sandbox import walls; assert len(list(NOTEBOOKS.glob('**/*.ipynb'))) == "
        f"{len(LESSONS)}; inside = 'import os, sys; print(os.listdir(sys.argv[1]), os.path.exists(sys.argv[2]))'; "
        "print(subprocess.run([*walls(), sys.executable, '-I', '-c', inside, str(NOTEBOOKS), sys.executable], "
        "capture_output=True, text=True))"
    )
    assert r"stdout='[] True\n'" in works(python, "-c", code, folder=folder)


RUN_CELL = """
import sys
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell
result = InteractiveShell().run_cell(Path(sys.argv[1]).read_text(encoding="utf-8"))
print("outcome:", repr(result.error_before_exec or result.error_in_exec))
"""


def test_the_cell_for_colab_installs_the_wheel_once(wheel, tmp_path):
    _, python = borrowing(tmp_path)
    project = elsewhere.read_project()
    notebook = nbformat.read(ROOT / "notebooks" / "04_pooling.ipynb", as_version=4)
    copy = elsewhere.colab_copy(notebook, project, "04_pooling")
    (cell,) = (one.source for one in copy.cells if one.id == "install-the-course")
    (tmp_path / "wanted.txt").write_text(elsewhere.requirements(project), encoding="utf-8")
    here = cell.replace(
        elsewhere.address(project, "release", elsewhere.REQUIREMENTS), str(tmp_path / "wanted.txt")
    )
    cells = {
        "lost.py": here.replace(elsewhere.wheel(project), str(tmp_path / "nowhere.whl")),
        "cell.py": here.replace(elsewhere.wheel(project), str(wheel)),
    }
    assert elsewhere.wheel(project).endswith(f"/{wheel.name}")

    def runs(name):
        (tmp_path / name).write_text(cells[name], encoding="utf-8")
        settings = {"PIP_NO_INDEX": "1", "IPYTHONDIR": str(tmp_path)}
        return works(python, "-c", RUN_CELL, name, folder=tmp_path, **settings)

    assert "outcome: SystemExit('The course is not installed" in runs("lost.py")
    assert (
        "outcome: SystemExit('The course is installed. Now choose Runtime > Restart session"
        in runs("cell.py")
    )
    assert runs("cell.py").strip() == "outcome: None", "once it is there, the cell does nothing"
    assert works(python, "-m", "course_utils.tools.cli", "--version", folder=tmp_path)
