"""`make arm`: what it says if a tool is missing, and how it counts. Nothing is emulated here."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbval.kernel import RunningKernel

from . import patience
from .project import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="debootstrap needs Linux")

SCRIPT = Path("tests", "arm_debian.sh")
USED = ["bash", "cat", "cmp", "cp", "dirname", "env", "git", "ls", "mkdir", "rm", "sed"]
LOCK = """\
old==1 ; python_full_version < '3.12'
new==2 ; python_full_version >= '3.12'  # a remark
elsewhere==3 ; sys_platform == 'win32'
accelerated==4 ; platform_machine == 'aarch64'
torch==5
"""


def program(path, *lines):
    """Write a program for the shell."""
    path.write_text("\n".join(["#!/bin/bash", *lines, ""]))
    path.chmod(0o755)


@pytest.fixture
def checkout(tmp_path):
    """A checkout in which everything has been unpacked and installed, with programs of ours for
    debootstrap, proot and `uname`.
    """
    course = tmp_path / "course"
    (course / "tests").mkdir(parents=True)
    shutil.copy(ROOT / SCRIPT, course / SCRIPT)
    (course / "notebooks").mkdir()
    for name in ["00_start.ipynb", "02_next.ipynb"]:
        (course / "notebooks" / name).write_text("{}")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in ["init -q", "add .", "commit -qm first"]:
        subprocess.run([*git, *arguments.split()], cwd=course, check=True)

    (course / "requirements.lock").write_text(LOCK)
    (course / ".venv/bin").mkdir(parents=True)
    (course / ".venv/bin/python").symlink_to(sys.executable)
    arm = course / "build/arm"
    for path in ["qemu-aarch64", "system/etc/ssl/certs/ca-certificates.crt"]:
        (arm / path).parent.mkdir(parents=True, exist_ok=True)
        (arm / path).touch()
    (arm / "packages").mkdir()
    (arm / "packages/requirements").write_text("new==2\naccelerated==4\ntorch==5\n")

    programs = tmp_path / "bin"
    programs.mkdir()
    for name in USED:
        (programs / name).symlink_to(shutil.which(name))
    program(programs / "uname", "echo x86_64")
    program(programs / "debootstrap", "echo nothing is left to download >&2; exit 1")
    program(
        programs / "proot", "case $* in *' -m pytest '*) echo 24 of 24 code cells compared;; esac"
    )
    return course


def compare(checkout, *lessons):
    """Run the script. Returns its exit status and what it wrote."""
    done = subprocess.run(
        ["bash", SCRIPT, *lessons],
        cwd=checkout,
        env={"PATH": str(checkout.parent / "bin")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("name", ["debootstrap", "proot"])
def test_a_missing_tool_is_named_and_where_it_comes_from(checkout, name):
    (checkout.parent / "bin" / name).unlink()
    status, output = compare(checkout, "00")
    assert (status, output) == (
        1,
        f"{name} is missing. Install it (on Debian and Ubuntu: apt-get install {name}) and try "
        "again.\n",
    )


def test_an_arm_needs_no_emulation(checkout):
    program(checkout.parent / "bin/uname", "echo aarch64")
    status, output = compare(checkout, "00")
    assert status == 1 and "an ARM already: .venv/bin/pytest notebooks" in output


def test_a_second_run_unpacks_nothing_and_counts_the_cells_of_each_lesson(checkout):
    status, output = compare(checkout, "00", "02")
    assert status == 0
    assert output.splitlines()[1:] == [
        "notebooks/00_start.ipynb: 24 of 24 cells as stored; 0 minutes",
        "notebooks/02_next.ipynb: 24 of 24 cells as stored; 0 minutes",
    ]


def test_a_cell_that_differs_is_shown_and_fails_after_the_other_lessons_were_compared(checkout):
    program(
        checkout.parent / "bin/proot",
        "case $* in *00_start*)",
        "  echo a cell differs; echo 23 of 24 code cells compared; exit 1;;",
        "esac",
        "case $* in *' -m pytest '*) echo 31 of 31 code cells compared;; esac",
    )
    status, output = compare(checkout, "00", "02")
    assert status == 1
    assert output.splitlines()[1:] == [
        "a cell differs",
        "23 of 24 code cells compared",
        "notebooks/00_start.ipynb: 23 of 24 cells as stored; 0 minutes",
        "notebooks/02_next.ipynb: 31 of 31 cells as stored; 0 minutes",
    ]


@pytest.mark.parametrize("status_of_proot", [0, 1])  # 0, if a signal ended the program
def test_what_ended_without_a_count_fails(checkout, status_of_proot):
    program(
        checkout.parent / "bin/proot",
        f"case $* in *' -m pytest '*) echo ...; exit {status_of_proot};; esac",
    )
    status, output = compare(checkout, "00")
    assert status == 1
    assert output.splitlines()[1:] == [
        "...",
        "notebooks/00_start.ipynb: no cell was compared; 0 minutes",
    ]


def test_a_lesson_that_does_not_exist_fails(checkout):
    status, output = compare(checkout, "99")
    assert status == 1 and "notebooks/99_" in output.splitlines()[-1]


def test_another_lock_is_installed_anew(checkout):
    (checkout / "requirements.lock").write_text(LOCK.replace("torch==5", "torch==6"))
    pip = checkout / ".venv/bin/python"
    pip.unlink()
    program(  # the lock is read by Python, and nothing is downloaded
        pip,
        f'if [ "$1" = - ]; then exec {sys.executable} "$@"; fi',
        'echo "$@" >>pip.log',
        "mkdir -p build/arm/packages build/arm/wheels",
    )
    (checkout.parent / "bin/grep").symlink_to(shutil.which("grep"))
    for _ in range(2):
        assert compare(checkout, "00")[0] == 0
    assert (checkout / "build/arm/packages/requirements").read_text() == (
        "new==2\naccelerated==4\ntorch==6\n"
    )
    torch, everything = (checkout / "pip.log").read_text().splitlines()
    assert torch.startswith("-m pip download") and torch.endswith(" torch==6")
    assert everything.startswith("-m pip install") and "manylinux2014_aarch64" in everything


def test_an_emulated_kernel_has_sixty_times_as_long(monkeypatch):
    waits = []
    monkeypatch.setattr(
        RunningKernel, "await_reply", lambda self, msg_id, timeout: waits.append(timeout)
    )
    monkeypatch.setattr(
        RunningKernel, "get_message", lambda self, stream, timeout: waits.append(timeout)
    )
    patience.pytest_configure()
    kernel = object.__new__(RunningKernel)
    kernel.await_reply("message", timeout=180)
    kernel.get_message("iopub", timeout=5)
    kernel.get_message("shell", timeout=1)  # between two looks whether the kernel lives
    assert waits == [180 * 60, 5 * 60, 1]
