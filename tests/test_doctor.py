"""`course doctor`: what it says of this machine, of one that lacks something, and of a course
installed in part.
"""

import re
import shutil
import subprocess
import sys
from importlib.metadata import PathDistribution
from pathlib import Path
from unittest.mock import Mock

import pytest

import course_utils
from course_utils._support import installation
from course_utils._support.connections import Failure
from course_utils.tools import doctor

from .project import PROJECT, ROOT


def test_the_doctor_finds_all_well_here(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "DISK_GB", 0)  # free space on this machine does not matter here
    monkeypatch.setattr(doctor, "MEMORY_GB", 0)
    status, lines = doctor.main(), capsys.readouterr().out.splitlines()
    assert status == 0, lines
    assert len(lines) == len(doctor.CHECKS)
    assert {line[:6] for line in lines} <= {"OK    ", "NOTE  "}
    # lessons need neither
    assert {line[6:].split(":")[0] for line in lines if "NOTE" in line} <= {"grader", "model hub"}


def test_the_version_is_the_one_of_pyproject_toml():
    # read without tomllib, for the doctor's sake
    assert course_utils.__version__ == PROJECT["project"]["version"]


LOCKS = {  # name: (text of the lock or None if there is none, words of the finding, of its fix)
    "wrong": (
        "click==0.1\nno-such-package==1.0\nappnope==9 ; sys_platform == 'nowhere'\n",
        "locked 0.1; no-such-package missing",
        f'"{sys.executable}" -m pip install -r',
    ),
    "odd": ("not a requirement ===\n", "cannot be read", "git checkout requirements.lock"),
    "empty": ("", "cannot be read", "git checkout requirements.lock"),
    "gone": (None, "cannot be read (FileNotFoundError)", "git checkout requirements.lock"),
}


@pytest.mark.parametrize("lock, words, fix", LOCKS.values(), ids=LOCKS)
def test_the_doctor_names_wrong_and_missing_packages(tmp_path, lock, words, fix):
    if lock is not None:
        (tmp_path / "lock").write_text(lock)
    finding = doctor.packages(tmp_path / "lock")
    assert words in finding.detail
    assert "appnope" not in finding.detail, "it is for another system"
    assert fix in finding.fix


@pytest.mark.parametrize("is_set_up, fix", [(False, "make setup"), (True, "make doctor, which")])
def test_on_a_bare_python_the_doctor_says_that_packages_are_missing_and_how_to_get_them(
    is_set_up, fix, monkeypatch, tmp_path
):
    monkeypatch.delenv("CONDA_PREFIX", raising=False)  # there, the way would be another

    def other_files(folder, names):
        return [name for name in names if Path(name).suffix not in ("", ".py")]

    shutil.copytree(doctor.PACKAGE, tmp_path / doctor.PACKAGE.name, ignore=other_files)
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    if is_set_up:
        (tmp_path / ".venv").symlink_to(sys.prefix)
    # only the standard library and pip
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
        "from course_utils.tools import doctor; sys.exit(doctor.main())"
    )
    # the Python from which this virtual environment was made
    bare_python = getattr(sys, "_base_executable", sys.executable)
    done = subprocess.run([bare_python, "-I", "-c", code], capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stderr
    assert "missing, locked" in done.stdout
    assert "\nOK    Python" in done.stdout, done.stdout
    for check in ("environment", "packages", "encoder", "notebook kernel"):
        assert re.search(rf"^FAIL  {check}.*Fix: {fix}", done.stdout, re.MULTILINE), done.stdout


# what `monkeypatch` sets: the start of a name in the doctor, and why the hub does not answer
DOCTOR, HUB = "course_utils.tools.doctor.", "course_utils._support.downloads.hub_failure"


@pytest.mark.parametrize(
    "check, name, value, well, words",
    [  # (check, what is set, to what, whether all is well, words of the finding)
        ("python_version", DOCTOR + "BITS", 32, False, "32-bit. Fix: install a 64-bit Python"),
        # more gigabytes than any machine has
        ("disk", DOCTOR + "DISK_GB", 10**9, False, "GB free"),
        ("memory", DOCTOR + "MEMORY_GB", 10**9, False, "GB"),
        (
            "python_environment",
            DOCTOR + "venv_problem",
            lambda: "it was moved",
            False,
            ".venv: it was moved. Fix: make setup",
        ),
        ("hub", HUB, lambda: None, True, " answers;"),
        (
            "hub",
            HUB,
            lambda: Failure("It is shut", "Come back."),
            True,
            "NOTE  model hub: It is shut; only models other than the packaged one need it. Come back",
        ),
        (
            "kernel",
            "jupyter_client.kernelspec.KernelSpecManager.get_kernel_spec",
            lambda *_: Mock(argv=["/other/python"]),
            False,
            f'a different Python, /other/python. Fix: "{sys.executable}"',
        ),
    ],
)
def test_the_doctor_says_what_works_and_what_cannot(check, name, value, well, words, monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(name, value)
    finding = getattr(doctor, check)()
    assert words in str(finding)
    assert (finding.fix == "") == well


def test_the_doctor_tries_the_encoder_that_lessons_will_use(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_ENCODER", str(tmp_path))
    finding = doctor.first_embedding()
    assert finding.fix == "unset COURSE_ENCODER"
    assert "no config.json" in finding.detail


INSTALLED_FILES = (
    "course_utils/a.py",
    "course_utils/b.ipynb",
    "course_utils/c.csv",
    "../bin/course",
)
TEXT = "0123456789"  # of each file when it was installed


@pytest.mark.parametrize(
    "changed, problem",
    [  # (files with another text than TEXT, or with None if they are missing; the problem)
        ({}, ""),
        ({"course_utils/b.ipynb": None}, "b.ipynb missing or cut off"),
        (
            {"course_utils/b.ipynb": "cut", "course_utils/c.csv": None},
            "b.ipynb and c.csv missing or cut off",
        ),
        ({"../bin/course": "with another first line, as pipx writes it"}, ""),
        ({"course.dist-info/RECORD": None}, "pip has not recorded what it installed"),
    ],
)
def test_the_doctor_sees_an_installation_that_broke_off(tmp_path, monkeypatch, changed, problem):
    # a line of pip's record is "file,hash,size in bytes"
    record = "".join(f"{name},,{len(TEXT)}\n" for name in INSTALLED_FILES)
    installed = {**dict.fromkeys(INSTALLED_FILES, TEXT), "course.dist-info/RECORD": record}
    for name, text in {**installed, **changed}.items():
        path = tmp_path / "packages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            path.write_text(text)
    distribution = PathDistribution(tmp_path / "packages" / "course.dist-info")
    monkeypatch.setattr(installation, "INSTALLED", True)
    monkeypatch.setattr(installation.metadata, "distributions", lambda name: [distribution])
    assert installation.incomplete() == problem
    finding = doctor.course()
    assert problem in finding.detail
    assert bool(finding.fix) == bool(problem)


def test_the_doctor_goes_on_after_a_check_that_breaks(monkeypatch, capsys):
    checks = {
        "broken thing": Mock(side_effect=PermissionError("not for you")),
        "Python": doctor.python_version,
    }
    monkeypatch.setattr(doctor, "CHECKS", checks)
    assert doctor.main() == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("FAIL  broken thing: PermissionError: not for you")
    assert second.startswith("OK")
