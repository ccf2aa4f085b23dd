"""`make setup` and what becomes of `.venv` later: the clone is moved, Python is gone, set-up breaks off."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course_utils.tools import environment

from .project import ROOT

MAKE = shutil.which("make")
needs_make = pytest.mark.skipif(not MAKE or sys.platform == "win32", reason="no make")
# the Python from which this virtual environment was made
BASE_PYTHON = getattr(sys, "_base_executable", sys.executable)
FILES = ("Makefile", "course_utils/tools/environment.py", "pyproject.toml")
# In place of pip, which would fetch 3 GB. It leaves what pip leaves of the course: a file that names
# the clone, and a program that says where its Python is. Its calls are counted.
PIP = """
import os, sys, sysconfig
packages = sysconfig.get_path("purelib")
with open(os.path.join(packages, "_sentence_embeddings_course.pth"), "w") as file:
    file.write(os.getcwd())
program = os.path.join(os.path.dirname(sys.executable), "course")
if not os.path.exists(program):
    with open(program, "w") as file:
        file.write(f"#!{sys.executable}\\nimport sys; print('lab of', sys.prefix)\\n")
    os.chmod(program, 0o755)
with open("calls", "a") as file:
    file.write("*")
"""


class Clone:
    """A folder with a Makefile, which sets up an environment without packages."""

    def __init__(self, folder):
        self.folder, self.venv = folder, folder / ".venv"

    def make(self, target="lab", pip="$(BIN)/python pip.py"):
        """(what `make` prints, how often it called pip, its exit status)."""
        calls = self.folder / "calls"
        calls.write_text("")
        command = [MAKE, target, f"PYTHON={BASE_PYTHON}", f"PIP={pip}"]
        done = subprocess.run(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return done.stdout, len(calls.read_text()), done.returncode

    def opens(self, repaired):
        """Assert that `make lab` starts this folder's course. Returns what it prints.

        repaired: whether set-up runs before.
        """
        printed, calls, status = self.make()
        assert status == 0, printed
        assert f"lab of {self.venv}\n" in printed
        assert (calls > 0) == repaired, printed
        return printed


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clones") / "template"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / "course_utils" / "__init__.py").touch()
    (folder / "requirements.lock").write_text("torch==1\n")
    (folder / "pip.py").write_text(PIP)
    template = Clone(folder)
    assert "Setting up .venv: once" in template.opens(repaired=True)
    template.opens(repaired=False)
    return template


@pytest.fixture
def clone(template, tmp_path):
    copied = Clone(tmp_path / "course")
    shutil.copytree(template.folder, copied.folder, symlinks=True)
    assert "it was copied" in environment.problem(copied.venv)
    copied.opens(repaired=True)
    template.opens(repaired=False)
    return copied


@needs_make
def test_a_copied_a_moved_and_a_linked_clone_open_their_own_course(clone, tmp_path):
    moved = Clone(
        tmp_path / "a new name"
    )  # with a blank, which the first line of a program cannot hold
    clone.folder.rename(moved.folder)
    assert f"for {clone.folder}, and the folder was moved" in environment.problem(moved.venv)
    assert "start its Python again" in moved.opens(repaired=True)
    moved.opens(repaired=False)
    assert str(clone.folder) not in (moved.venv / "bin" / "activate").read_text()
    elsewhere = tmp_path / "elsewhere"
    moved.venv.rename(elsewhere)
    moved.venv.symlink_to(elsewhere)
    moved.opens(repaired=False)
    # a second working tree, which shares the environment
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".venv").symlink_to(elsewhere)
    assert environment.problem(tmp_path / "tree" / ".venv") == ""
    (elsewhere / "bin" / "python").unlink()
    printed, calls, status = moved.make()
    assert (calls, status) == (0, 2)
    assert "is a link to" in printed and "Remove the link, then try again." in printed


@needs_make
def test_a_python_that_is_gone_or_another_one_is_replaced_and_set_up_goes_on_where_it_broke_off(
    clone,
):
    for python in (clone.venv / "bin").glob("python*"):
        python.unlink()
        python.symlink_to("/no/such/python")
    assert "does not run any more (/no/such/python)" in environment.problem(clone.venv)
    assert "its packages stay" in clone.opens(repaired=True)
    (library,) = (clone.venv / "lib").iterdir()
    library.rename(library.with_name("python3.1"))
    assert "for another Python than its own" in environment.problem(clone.venv)
    assert "It is made anew" in clone.opens(repaired=True)
    (clone.folder / "requirements.lock").touch()
    assert clone.make(pip="false")[2] == 2
    assert environment.problem(clone.venv) == environment.INTERRUPTED
    clone.opens(repaired=True)
    assert environment.problem(clone.venv) == ""
    clone.opens(repaired=False)


@pytest.mark.parametrize("python, pattern", [
    ("/moved/.venv/bin/python", "#!{}\n"),
    ("/moved to/.venv/bin/python", "#!/bin/sh\n'''exec' \"{}\" \"$0\" \"$@\"\n' '''\n"),
    (f"/{'long/' * 30}.venv/bin/python", "#!/bin/sh\n'''exec' \"{}\" \"$0\" \"$@\"\n' '''\n"),
], ids=["short", "blank", "long"])  # fmt: skip
@pytest.mark.parametrize("first", [
    "#!/gone/.venv/bin/python\n",
    "#!/gone/.venv/bin/python3.11\n",
    "#!/bin/sh\n'''exec' \"/gone for ever/.venv/bin/python3\" \"$0\" \"$@\"\n' '''\n",
    "#!/bin/sh\n'''exec' /gone/.venv/bin/python \"$0\" \"$@\"\n' '''\n",
])  # fmt: skip
def test_the_first_line_of_a_program_is_as_pip_writes_it(tmp_path, first, python, pattern):
    program = tmp_path / "program"
    program.write_text(f"{first}import sys\n")
    program.chmod(0o755)
    assert environment.point_to(Path(python), program)
    assert program.read_text() == pattern.format(python) + "import sys\n"
    assert program.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("content", [
    "#!/bin/sh\nexec true\n", "#!/usr/bin/env python3\n", "\x7fELF #!/gone/bin/python\n", "",
    f"#!{sys.prefix}/bin/python\n",
])  # fmt: skip
def test_other_programs_stay_as_they_are(tmp_path, content):
    program = tmp_path / "program"
    program.write_text(content)
    assert not environment.point_to(Path(sys.prefix, "bin", "python"), program)
    assert program.read_text() == content


def test_a_package_that_pip_had_not_finished_is_installed_again(tmp_path):
    packages = environment.packages_of(tmp_path)
    for name in ("whole", "cut_off"):
        (packages / f"{name}-1.dist-info").mkdir(parents=True)
        (packages / f"{name}-1.dist-info" / "METADATA").touch()
    (packages / "whole-1.dist-info" / "RECORD").touch()
    environment.begin(tmp_path)
    assert [path.name for path in packages.iterdir()] == ["whole-1.dist-info"]
    assert environment.problem(tmp_path) == environment.INTERRUPTED


# --- the doctor, with any Python

# prints the files of the course that the doctor imports before its first check
IMPORTED = """
import sys
import course_utils.tools.doctor
for name, module in sorted(sys.modules.items()):
    if name.startswith("course_utils"):
        print(module.__file__)
"""


def test_what_the_doctor_imports_first_has_the_grammar_of_python_3_8():
    done = subprocess.run(
        [BASE_PYTHON, "-S", "-c", IMPORTED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = {str(Path(line).relative_to(ROOT)) for line in done.stdout.splitlines()}
    assert {"course_utils/tools/doctor.py", "course_utils/tools/environment.py"} < names
    for name in names:
        tree = ast.parse((ROOT / name).read_text(encoding="utf-8"), name, feature_version=(3, 8))
        statements = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
        # what 3.8 lacks as an expression, such as `list[str]`, may be in annotations
        if any(isinstance(node, ast.FunctionDef) for node in tree.body):
            assert statements[0].module == "__future__", name


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10"])
def test_the_doctor_runs_with_an_older_python(version):
    python = shutil.which(f"python{version}")
    # a program of that name may only say that it is not installed
    if not python or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"no Python {version} here")
    done = subprocess.run(
        [python, "-m", "course_utils.tools.doctor"], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "OK    course", "FAIL  Python", "FAIL  environment", "OK    disk",
    ]  # fmt: skip
    assert f"{version}." in lines[1]
