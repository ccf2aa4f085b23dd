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
    # BaseLoader leaves all values strings; another would read the key `on` as True
    path.stem: yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    for path in sorted((GITHUB / "workflows").glob("*.y*ml"))
}
JOBS = {  # by (workflow, key in it)
    (name, key): job
    for name, workflow in WORKFLOWS.items()
    for key, job in workflow["jobs"].items()
}
WRITES = {  # the permissions of the jobs that may write; all others only read
    ("release", "release"): {"contents": "write"},
    ("release", "pages"): {"pages": "write", "id-token": "write"},
}
each_job = pytest.mark.parametrize("key", JOBS, ids=" ".join)


def commands(key):
    # the lines of all scripts of a job
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
    # GitHub's own limit is 360 minutes; no job needs more than four hours
    assert 0 < int(job["timeout-minutes"]) <= 240
    assert job["permissions"] == WRITES.get(key, {"contents": "read"})
    assert not job["runs-on"].endswith("latest"), "a runner that changes by itself"


@pytest.mark.parametrize("key", WRITES, ids=" ".join)
def test_a_job_that_may_write_runs_no_package(key):
    assert all(line.startswith(("gh ", "git ")) for line in commands(key)), "runs others' code"


def called(pattern):
    # what the pattern's group matches in the commands of all jobs
    lines = [line for key in JOBS for line in commands(key)]
    return sorted({match for line in lines for match in re.findall(pattern, line)})


def test_the_targets_of_make_that_jobs_call_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert set(called(r"^make ([\w-]+)")) <= {*re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)}


@pytest.mark.parametrize("script", called(r"^(\.ci/\S+)"))
def test_a_script_that_jobs_call_can_be_run(script):
    assert (ROOT / script).is_file()
    assert os.name == "nt" or os.access(ROOT / script, os.X_OK)  # Windows has no such right


@pytest.mark.parametrize("module", called(r"python3? -m ([\w.]+)"))
def test_a_module_that_jobs_run_exists(module):
    # not importlib.util.find_spec: asked for pip, it makes setuptools fail in this process from
    # then on
    package = module.rpartition(".")[0].replace(".", "/")
    assert PathFinder.find_spec(module, [str(ROOT / package)] if package else None)


# a path as an argument; what follows -m is a module
@pytest.mark.parametrize("path", called(r"(?<=\s)(?<!-m )(notebooks|tests\S*)(?=\s|$)"))
def test_a_folder_that_jobs_name_exists(path):
    assert (ROOT / path).exists()


def test_the_commands_of_the_course_that_jobs_run_exist():
    assert set(called(r"/course (\S+)")) <= {*course.commands, "--version"}


def test_the_oldest_and_the_newest_python_on_three_systems():
    allowed = SpecifierSet(PROJECT["project"]["requires-python"])
    versions = [f"3.{minor}" for minor in range(100) if f"3.{minor}" in allowed]
    systems = set()
    for (workflow, _), job in JOBS.items():
        if workflow == "tests" and "strategy" in job:
            assert job["strategy"]["matrix"]["python"] == [versions[0], versions[-1]]
            systems.add(job["runs-on"].partition("-")[0])
    assert systems == {"ubuntu", "macos", "windows"}


def test_where_hand_ins_cannot_be_isolated_ci_is_empty():
    """Where hand-ins cannot be isolated, the grader's tests fail if CI is set, else are skipped.

    "as set": the job leaves the value that GitHub sets.
    """
    value_of_ci = {
        name: job.get("env", {}).get("CI", "as set")
        for (workflow, name), job in JOBS.items()
        if workflow == "tests"
    }
    assert value_of_ci == {
        "linux": "as set",
        "slow": "as set",
        "sabotage": "as set",
        "shake": "as set",
        "verdicts": "as set",
        "macos": "",
        "windows": "",
    }


def refused(code):
    # the error of a server that answers with this status
    return HTTPError("https://a.org", code, "", {}, None)


@pytest.mark.parametrize(
    "answers, state",
    [
        # each: what happens at the first try, and at the second if there is one
        ([MagicMock()], "ok"),
        ([refused(404), refused(410)], "gone"),
        ([URLError("no such host"), MagicMock()], "ok"),
        ([URLError("no such host")] * 2, "gone"),
        # not for programs, too many requests, out of service: a person may get the page
        *(([refused(code)], "undecided") for code in (403, 429, 503)),
        ([links.HTTPException("no status line")], "undecided"),
        ([links.InvalidURL("nonnumeric port")] * 2, "gone"),
    ],
)
def test_a_link_is_gone_only_if_it_is_not_found_twice(answers, state, monkeypatch):
    monkeypatch.setattr(links.urllib.request, "urlopen", Mock(side_effect=answers))
    assert links.ask("https://a.org")[0] == state


def test_links_are_found_where_people_read_them(tmp_path):
    (tmp_path / "notebooks").mkdir()
    # addresses that are examples, or not of the internet
    not_asked = (
        "`http://localhost:8888` https://c.example/ http://10.0.0.1:8 https://e.{us}/ https://"
    )
    (tmp_path / "a.md").write_text(f"[one](https://a.org/x_(y)#part), <https://b.org>. {not_asked}")
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
    # the project itself has many more; with fewer, the search has missed files
    assert len(links.addresses(ROOT)) > 20


def test_the_package_and_its_citation_have_the_version_and_the_license_of_the_project():
    project = PROJECT["project"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", project["version"])
    assert project["name"] == course_utils.PROJECT
    assert course_utils.__version__ == project["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation.items() >= {key: project[key] for key in ("version", "license")}.items()


def test_the_changes_begin_with_this_version_and_go_back():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d[\d.]*)", changes, re.MULTILINE)
    assert released[0] == PROJECT["project"]["version"]
    numbers = [[*map(int, name.split("."))] for name in released]
    assert numbers == sorted(numbers, reverse=True)


def test_an_installed_package_has_the_version_that_pip_knows(monkeypatch, tmp_path):
    # as if it were installed: the pyproject.toml beside it is another project's
    monkeypatch.setattr(course_utils, "__file__", str(tmp_path / "course_utils" / "__init__.py"))
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "another"\nversion = "9.9.9"\n')
    assert course_utils.__version__ == metadata.version(course_utils.PROJECT)


def test_updates_wait_a_week_and_leave_out_the_packages_that_the_lessons_numbers_come_from():
    updates = yaml.safe_load((GITHUB / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert [update["package-ecosystem"] for update in updates] == ["github-actions", "pip"]
    ignored = {row["dependency-name"] for row in updates[1]["ignore"]}  # of pip
    # models and texts: pyproject.toml says behind each of them that it is inside the package
    in_packages = re.compile(r'^ *"([\w-]+)==.*inside the package$', re.MULTILINE)
    assert ignored == set(
        in_packages.findall((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    )
    # a bad release is mostly found and withdrawn within a week
    assert all(update["cooldown"]["default-days"] >= 7 for update in updates)
