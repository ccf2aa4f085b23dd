"""The hosted checks as data, what they call, and the files that the platform reads. None of them is run here."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from unittest.mock import MagicMock, Mock
from urllib.error import HTTPError, URLError

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import course_utils
from course_utils.tools.cli import main as course

from . import links
from .project import PROJECT, ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = {
    # it leaves `on` a word
    path.stem: yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    for path in sorted((GITHUB / "workflows").glob("*.y*ml"))
}
JOBS = {
    (name, key): job
    for name, workflow in WORKFLOWS.items()
    for key, job in workflow["jobs"].items()
}
WRITES = {
    ("release", "release"): {"contents": "write"},
    ("release", "pages"): {"pages": "write", "id-token": "write"},
}
each_job = pytest.mark.parametrize("key", JOBS, ids=" ".join)


def commands(key):
    return [
        line.strip() for step in JOBS[key]["steps"] for line in step.get("run", "").splitlines()
    ]


def test_the_workflows_hold_nothing_that_zizmor_calls_unsafe():
    """Pinned actions, rights, credentials, expressions in scripts, triggers and caches: zizmor knows the attacks."""
    program = shutil.which("zizmor", path=Path(sys.executable).parent)
    if not program:
        pytest.skip("zizmor is not installed: make setup")
    done = subprocess.run([program, "--offline", GITHUB], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@each_job
def test_a_job_ends_on_a_runner_that_stays_the_same_and_has_only_the_rights_that_it_needs(key):
    job = JOBS[key]
    assert 0 < int(job["timeout-minutes"]) <= 240
    assert job["permissions"] == WRITES.get(key, {"contents": "read"})
    assert not job["runs-on"].endswith("latest"), "a runner that changes by itself"


@pytest.mark.parametrize("key", WRITES, ids=" ".join)
def test_a_job_that_may_write_runs_no_package(key):
    assert all(line.startswith(("gh ", "git ")) for line in commands(key)), "a package"


@each_job
def test_what_a_job_calls_exists(key):
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    for line in commands(key):
        if target := re.match(r"make ([\w-]+)", line):
            assert target[1] in targets, line
        elif line.startswith(".ci/"):
            script = ROOT / line.split()[0]
            assert script.is_file()
            assert os.name == "nt" or os.access(script, os.X_OK)  # Windows has no such right
        elif module := re.search(r"python3? -m ([\w.]+)", line):
            # not importlib.util.find_spec: asked for pip, it makes setuptools fail in this process
            # from then on
            package = module[1].rpartition(".")[0].replace(".", "/")
            assert PathFinder.find_spec(module[1], [str(ROOT / package)] if package else None), line
            for path in re.findall(r"(?<=\s)(?:notebooks|tests\S*)(?=\s|$)", line[module.end() :]):
                assert (ROOT / path).exists(), line
        elif command := re.search(r"/course (\S+)", line):
            assert command[1] in (*course.commands, "--version"), line


def test_the_oldest_and_the_newest_python_on_three_systems():
    allowed = SpecifierSet(PROJECT["project"]["requires-python"])
    versions = [f"3.{minor}" for minor in range(100) if f"3.{minor}" in allowed]
    systems = set()
    for key in JOBS:
        if key[0] == "tests" and "strategy" in JOBS[key]:
            assert JOBS[key]["strategy"]["matrix"]["python"] == [versions[0], versions[-1]]
            systems.add(JOBS[key]["runs-on"].partition("-")[0])
    assert systems == {"ubuntu", "macos", "windows"}


def test_where_hand_ins_cannot_be_isolated_ci_is_empty():
    """Tests of the grader fail where CI is set and hand-ins cannot be isolated, and are skipped elsewhere."""
    set_in = {
        key[1]: JOBS[key].get("env", {}).get("CI", "as set") for key in JOBS if key[0] == "tests"
    }
    assert set_in == {
        "linux": "as set",
        "slow": "as set",
        "sabotage": "as set",
        "shake": "as set",
        "verdicts": "as set",
        "macos": "",
        "windows": "",
    }


def refused(code):
    return HTTPError("https://a.org", code, "", {}, None)


@pytest.mark.parametrize(
    "answers, state",
    [
        ([MagicMock()], "ok"),
        ([refused(404), refused(410)], "gone"),
        ([URLError("no such host"), MagicMock()], "ok"),
        ([URLError("no such host")] * 2, "gone"),
        *(([refused(code)], "undecided") for code in (403, 429, 503)),
    ],
)
def test_a_link_is_gone_only_if_nobody_has_it(answers, state, monkeypatch):
    monkeypatch.setattr(links.urllib.request, "urlopen", Mock(side_effect=answers))
    assert links.ask("https://a.org")[0] == state


def test_links_are_found_where_people_read_them(tmp_path):
    (tmp_path / "notebooks").mkdir()
    nowhere = "`http://localhost:8888` https://c.example/ http://10.0.0.1:8 https://"
    (tmp_path / "a.md").write_text(f"[one](https://a.org/x_(y)#part), <https://b.org>. {nowhere}")
    cells = [
        {"cell_type": "markdown", "source": ["See [it](https://d.org/e)."]},
        {"cell_type": "code", "source": ["'https://code.org'"]},
    ]
    (tmp_path / "notebooks" / "n.ipynb").write_text(json.dumps({"cells": cells}))
    assert set(links.addresses(tmp_path)) == {
        "https://a.org/x_(y)",
        "https://b.org",
        "https://d.org/e",
    }
    assert len(links.addresses(ROOT)) > 20


def test_the_package_and_its_citation_have_the_version_and_the_license_of_the_project():
    project = PROJECT["project"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", project["version"])
    assert project["name"] == course_utils.PROJECT
    assert course_utils.__version__ == project["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]


def test_the_changes_begin_with_this_version_and_go_back():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d[\d.]*)", changes, re.MULTILINE)
    assert released[0] == PROJECT["project"]["version"]
    numbers = [[*map(int, name.split("."))] for name in released]
    assert numbers == sorted(numbers, reverse=True)


def test_an_installed_package_has_the_version_that_pip_knows(monkeypatch, tmp_path):
    # as if it were installed, beside the project of somebody else
    monkeypatch.setattr(course_utils, "__file__", str(tmp_path / "course_utils" / "__init__.py"))
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "another"\nversion = "9.9.9"\n')
    assert course_utils.__version__ == metadata.version(course_utils.PROJECT)


def test_updates_leave_out_what_the_numbers_come_from():
    updates = yaml.safe_load((GITHUB / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert [update["package-ecosystem"] for update in updates] == ["github-actions", "pip"]
    for ignored in updates[1]["ignore"]:
        assert f"'{ignored['dependency-name']}==" in str(PROJECT["project"])
    assert all(update["cooldown"]["default-days"] >= 7 for update in updates)
