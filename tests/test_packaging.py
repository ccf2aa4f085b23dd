"""pyproject.toml and its locks agree, and Binder and the devcontainer install the same.

The commands, links and pictures of the documents exist.
"""

import json
import re
import shlex
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from course_utils.tools.cli import main as course
from course_utils.tools.publish import elsewhere

from .project import PROJECT, ROOT, checkout, direct_needs

LOCK_LINES = [
    line
    for line in (ROOT / "requirements.lock").read_text().splitlines()
    if line.strip() and not line.lstrip().startswith("#")
]
CUDA = ("nvidia", "cuda", "triton")  # how its packages' names begin
PLATFORMS = {  # {name: what the markers are on a usual machine}
    "Linux": {
        "platform_system": "Linux",
        "sys_platform": "linux",
        "os_name": "posix",
        "platform_machine": "x86_64",
    },
    "Darwin": {
        "platform_system": "Darwin",
        "sys_platform": "darwin",
        "os_name": "posix",
        "platform_machine": "arm64",
    },
    "Windows": {
        "platform_system": "Windows",
        "sys_platform": "win32",
        "os_name": "nt",
        "platform_machine": "AMD64",
    },
}


def locked(environment):
    """{name: version, with its "=="} in one environment. No package may be locked twice there.

    environment: values of the markers, as `packaging` names them.
    """
    versions = {}
    for line in LOCK_LINES:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(environment):
            name = canonicalize_name(requirement.name)
            assert name not in versions, f"{name} is locked twice for {environment['sys_platform']}"
            versions[name] = str(requirement.specifier)
    return versions


@pytest.mark.parametrize("platform", PLATFORMS)
# a version of each supported Python: which patch does not matter
@pytest.mark.parametrize("python", ["3.11.9", "3.12.1", "3.13.0", "3.14.0"])
def test_the_lock_is_exact_on_every_platform(platform, python):
    versions = {"python_full_version": python, "python_version": python.rsplit(".", 1)[0]}
    lock = locked(default_environment() | PLATFORMS[platform] | versions)
    assert all(re.fullmatch(r"==[\w.]+", version) for version in lock.values())
    for name, need in direct_needs().items():
        assert lock[name] == str(need.specifier), f"{name}: run `make lock`"
    # the terminals of Jupyter on Windows: a need that only one platform has
    assert ("pywinpty" in lock) == (platform == "Windows")


def test_the_lock_holds_indirect_packages_too():
    assert [line for line in LOCK_LINES if line.startswith(CUDA)] == []
    lock = locked(default_environment())
    for name in lock:
        for need in map(Requirement, metadata.requires(name) or []):
            is_needed = need.marker is None or need.marker.evaluate({"extra": ""})
            if is_needed and canonicalize_name(need.name) not in lock:
                # without PyTorch's own index, the registry's build is installed, which needs CUDA
                is_cuda = name == "torch" and need.name.startswith(CUDA)
                assert is_cuda or need.name in {"pip", "setuptools"}, (
                    f"{name} needs {need.name}, not locked"
                )


def test_the_lock_of_the_graders_extra_goes_beside_the_other():
    lines = [Requirement(line) for line in (ROOT / "tests/grading.lock").read_text().splitlines()]
    extra = {canonicalize_name(line.name): str(line.specifier) for line in lines}
    assert not set(extra) & set(locked(default_environment())), "a package is in both"
    (need,) = map(Requirement, PROJECT["project"]["optional-dependencies"]["nbgrader"])
    assert extra[need.name] == str(need.specifier)


def test_environment_yml_installs_the_lock_and_names_what_it_brings():
    text = (ROOT / "environment.yml").read_text()
    environment = yaml.safe_load(text)
    (pip,) = (entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    assert environment["name"] == PROJECT["project"]["name"]
    assert environment["channels"] == ["conda-forge"]
    assert pip == [
        "--extra-index-url https://download.pytorch.org/whl/cpu",
        "-r requirements.lock",
        "--editable .",
    ]
    named = re.search(r"# The lock brings (.*) and the rest", text)[1].split(", ")
    assert set(named) <= set(locked(default_environment()))


@pytest.mark.parametrize("need", direct_needs().values(), ids=list(direct_needs()))
def test_every_dependency_says_what_it_is_for(need):
    assert re.search(rf'"{re.escape(str(need))}",\s+# \w', (ROOT / "pyproject.toml").read_text()), (
        "it has no comment"
    )


PAGES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not {".venv", ".pytest_cache", "build", "workspace"} & {*path.relative_to(ROOT).parts}
)
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
PROGRAMS = {  # beside `make` and `course`, whose targets and commands are looked up
    "git",
    "sudo",
    "conda",
    "pip",
    "python3",
    ".ci/run",
    *(f".venv/bin/{name}" for name in "pytest python ruff oxlint oxfmt".split()),
}


@each_page
def test_commands_of_the_documents_exist(page):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    blocks = re.findall(
        r"```(?:bash|sh|console)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
    )
    # one command a line
    text = "\n".join(blocks).replace("\\\n", " ").replace("&&", "\n")
    for command in text.splitlines():
        words = [
            word
            for word in shlex.split(command, comments=True)
            if "=" not in word or word.startswith("-")  # without settings, as in NAME=value
        ]
        if words[:1] == ["make"]:
            assert set(words[1:]) <= targets, command
        elif words[:1] == ["course"]:
            assert words[1] in course.commands, command
        else:
            assert not words or words[0] in PROGRAMS, command


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them.

    In lower case, without signs, with "-" for each space.
    """
    headings = re.findall(r"^#{1,6} +(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings
    }


@each_page
def test_links_between_the_documents_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    # "](address)", but no web page
    for address in re.findall(r"\]\((?!https?://)([^)\s]+)\)", text):
        name, _, anchor = address.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), address
        assert not anchor or anchor in anchors(target), address


def test_every_picture_is_shown():
    # `make screenshots` renews them all.
    text = "".join(
        (ROOT / page).read_text(encoding="utf-8") for page in ("notebooks/README.md", "README.md")
    )
    pictures = {path.name for path in (ROOT / "notebooks" / "pictures").iterdir()}
    assert pictures == set(re.findall(r"pictures/([^)]+)\)", text)) != set()


def test_the_readme_is_short_and_says_how_to_begin():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 100, "lines: it is read in two minutes"
    assert [command for command in ("make lab", "make test") if command not in text] == []


@pytest.mark.parametrize(
    "file", sorted((ROOT / "course_utils").glob("*.py")), ids=lambda file: file.name
)
def test_what_lessons_import_is_small(file):
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 350, (
        "lines: course_utils/README.md promises it"
    )


# the names of the repository's files; a copy without git's records has no list of them
@pytest.fixture
def names():
    return checkout() or pytest.skip("not a git checkout")


def test_few_files_are_at_the_top_level(names):
    # GitHub shows README.md below their list
    assert len([name for name in names if "/" not in name]) <= 15


def test_no_path_of_this_machine_is_in_the_repository(names):
    for name in names:
        text = (ROOT / name).read_text(encoding="utf-8", errors="ignore")
        assert str(ROOT) not in text and str(Path.home()) + "/" not in text, name


def test_binder_can_build_what_stands_in_its_folder():
    # repo2docker copies the whole checkout in before pip runs only if a line says `..` (see its
    # buildpacks/conda/__init__.py); paths for pip count from there. No image is built here.
    for_binder = (ROOT / ".binder" / "environment.yml").read_text()
    as_at_the_top = for_binder.replace("../requirements.lock", "requirements.lock").replace(
        "--editable ..", "--editable ."
    )
    assert yaml.safe_load(as_at_the_top) == yaml.safe_load((ROOT / "environment.yml").read_text())
    assert "- --editable .." in for_binder
    assert (ROOT / ".binder" / "postBuild").read_text().endswith("\ncourse lab --write-only\n")
    assert elsewhere.address(PROJECT["project"], "binder").endswith(
        "workspace%2F00_start_here.ipynb"
    )


def test_the_devcontainer_sets_up_as_the_readme_says():
    settings = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    python = re.search(r"/python:\d+\.\d+\.\d+-(3\.\d+)-\w+$", settings["image"])[1]
    assert SpecifierSet(PROJECT["project"]["requires-python"]).contains(python)
    assert settings["postCreateCommand"] == "make setup && .venv/bin/course lab --write-only"
