"""The hosted checks as data, what they call, and the files that the platform reads. None of them is run here."""

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import course_utils
from course_utils.tools.cli import main as course

from . import canary, links
from .offline import free_port
from .project import PROJECT, ROOT, direct_needs

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


def steps(key):
    return JOBS[key]["steps"]


def commands(key):
    return [line.strip() for step in steps(key) for line in step.get("run", "").splitlines()]


def test_the_workflows_hold_nothing_that_zizmor_calls_unsafe():
    """Pinned actions, rights, credentials, expressions in scripts, triggers and caches: zizmor knows the attacks."""
    program = shutil.which("zizmor", path=Path(sys.executable).parent)
    if not program:
        pytest.skip("zizmor is not installed: make setup")
    done = subprocess.run([program, "--offline", GITHUB], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@each_job
def test_a_job_ends_and_has_only_the_rights_that_it_needs_and_with_more_runs_no_package(key):
    job = JOBS[key]
    assert 0 < int(job["timeout-minutes"]) <= 240
    assert job["permissions"] == WRITES.get(key, {"contents": "read"})
    assert not job["runs-on"].endswith("latest"), "a runner that changes by itself"
    if key in WRITES:
        assert all(line.startswith(("gh ", "git ")) for line in commands(key)), "a package"


@each_job
def test_what_a_job_calls_exists(key):
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    called = 0
    for line in commands(key):
        if found := re.match(r"make ([\w-]+)", line):
            assert found[1] in targets, line
        elif line.startswith(".ci/"):
            script = ROOT / line.split()[0]
            assert script.is_file() and (os.name == "nt" or os.access(script, os.X_OK))
        elif found := re.search(r"python3? -m ([\w.]+)", line):
            # not importlib.util.find_spec: asked for pip, it makes setuptools fail in this process from then on
            package = found[1].rpartition(".")[0].replace(".", "/")
            assert PathFinder.find_spec(found[1], [str(ROOT / package)] if package else None), line
            for path in re.findall(r"(?<=\s)(?:notebooks|tests\S*)(?=\s|$)", line[found.end() :]):
                assert (ROOT / path).exists(), line
        elif found := re.search(r"/course (\S+)", line):
            assert found[1] in (*course.commands, "--version"), line
        else:
            continue
        called += 1
    assert called or key in WRITES or key[0] == "release"


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
    assert set_in == dict.fromkeys(("linux", "slow", "sabotage", "shake", "verdicts"), "as set") | {
        "macos": "",
        "windows": "",
    }


def test_the_canary_takes_what_make_lab_installs_without_versions():
    found = {canary.normalised(name): version for name, version in canary.pinned().items()}
    assert found == {
        name: str(need.specifier).removeprefix("==") for name, need in direct_needs().items()
    }
    freeze = "numpy==2.5.0\ntorch==2.13.0+cpu\nScikit_Learn==1.9.1\nelse==1\n"
    known = {"numpy": "2.4.6", "torch": "2.13.0", "scikit-learn": "1.9.1", "tqdm": "4.70.1"}
    assert canary.newer(freeze, known) == ["numpy 2.4.6 -> 2.5.0", "tqdm 4.70.1 -> missing"]


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(self.path.strip("/")))
        self.end_headers()

    def log_message(self, *_):
        pass


def test_a_link_is_gone_only_if_nobody_has_it():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        asked = {
            code: links.ask(f"http://127.0.0.1:{server.server_port}/{code}")
            for code in (200, 403, 404, 429, 503)
        }
        server.shutdown()
    assert [asked[code][0] for code in (200, 404)] == ["ok", "gone"]
    assert {asked[code][0] for code in (403, 429, 503)} == {"undecided"}
    assert links.ask(f"http://127.0.0.1:{free_port()}/200")[0] == "gone"


def test_links_are_found_where_people_read_them(tmp_path):
    (tmp_path / "notebooks").mkdir()
    nowhere = "`http://localhost:8888` https://c.example/ http://10.0.0.1:8 https://"
    (tmp_path / "a.md").write_text(f"[one](https://a.org/x_(y)#part), <https://b.org>. {nowhere}")
    cells = {"markdown": "See [it](https://d.org/e).", "code": "'https://code.org'"}
    cells = [{"cell_type": kind, "source": [source]} for kind, source in cells.items()]
    (tmp_path / "notebooks" / "n.ipynb").write_text(json.dumps({"cells": cells}))
    assert set(links.addresses(tmp_path)) == {
        "https://a.org/x_(y)",
        "https://b.org",
        "https://d.org/e",
    }
    assert len(links.addresses(ROOT)) > 20


def test_version_and_citation_stand_in_one_place_and_the_others_agree(monkeypatch, tmp_path):
    version = PROJECT["project"]["version"]
    assert re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", version), "semantic versions"
    assert course_utils.__version__ == version
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0" and citation["version"] == version
    assert citation["license"] == PROJECT["project"]["license"]
    (authors,) = citation["authors"]
    assert authors["name"].lower() in (ROOT / "LICENSE").read_text(encoding="utf-8").lower()
    sections = re.findall(
        r"^## (\S+)(.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    names = [name for name, _ in sections]
    released = names[1:] if names[0] == "Unreleased" else names
    assert released[0] == version and "Unreleased" not in released
    numbers = [tuple(map(int, name.split("."))) for name in released]
    assert numbers == sorted(set(numbers), reverse=True), "the newest first"
    monkeypatch.setattr(course_utils, "__file__", str(tmp_path / "course_utils" / "__init__.py"))
    assert course_utils.__version__ == metadata.version(course_utils.PROJECT), (
        "installed, not a checkout"
    )
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "another"\nversion = "9.9.9"\n')
    assert course_utils.__version__ != "9.9.9"
    assert PROJECT["project"]["name"] == course_utils.PROJECT


def test_forms_ask_for_what_is_needed():
    forms = sorted(GITHUB.glob("ISSUE_TEMPLATE/[0-9]_*.yml"))
    assert len(forms) == 3
    for form in forms:
        said = yaml.safe_load(form.read_text(encoding="utf-8"))
        # labels would have to exist
        assert said["name"] and said["description"] and "labels" not in said
        asked = [field for field in said["body"] if field["type"] != "markdown"]
        assert len({field["id"] for field in asked}) == len(asked) >= 4
        assert all(field["validations"]["required"] for field in asked)


def test_updates_leave_out_what_the_numbers_come_from():
    updates = yaml.safe_load((GITHUB / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert [one["package-ecosystem"] for one in updates] == ["github-actions", "pip"]
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = str([needs["dependencies"], needs["optional-dependencies"]])
    assert all(f"'{one['dependency-name']}==" in known for one in updates[1]["ignore"])
    assert all(one["cooldown"]["default-days"] >= 7 for one in updates)
