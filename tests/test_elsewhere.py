"""Colab, Binder and codespaces: every address follows from one setting, and only copies for Colab
install anything.
"""

import re
import subprocess
import sys
import types

import nbformat
import pytest
from packaging.requirements import Requirement

from course_utils._support.notebooks import name_of, parts
from course_utils.tools import doctor
from course_utils.tools.publish import PublishError, elsewhere
from course_utils.tools.workspace.copies import learner_copy

from .project import ROOT

READMES = ("README.md", "notebooks/README.md")
OTHER = "https://github.com/some-school/course.of-ours"


@pytest.fixture
def moved(tmp_path):
    """The files that hold addresses, and two lessons, in a repository with another address."""
    for name in (
        "pyproject.toml",
        *READMES,
        "notebooks/04_pooling.ipynb",
        "notebooks/glossary.ipynb",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    project = tmp_path / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    project.write_text(re.sub(r"https://github\.com/[\w./-]+", OTHER, text), encoding="utf-8")
    return tmp_path


def written(readme):
    # what `course links` wrote into it
    _, _, rest = readme.read_text(encoding="utf-8").partition(elsewhere.BEGIN)
    return rest.partition(elsewhere.END)[0].strip()


NAMES = [*map(name_of, parts().values()), "glossary"]
SOMEWHERE = {"urls": {"Repository": OTHER}, "version": "1"}


def test_the_badge_and_the_links_are_those_of_the_setting():
    badge, links = (written(ROOT / name) for name in READMES)
    project = elsewhere.read_project()
    assert badge == elsewhere.badge(project), "run `course links`"
    assert links == elsewhere.links(project, NAMES), "run `course links`"


def test_without_an_address_no_picture_is_broken_and_no_link_leads_nowhere():
    nowhere = {"urls": {"Repository": "https://github.com/OWNER/some-course"}}
    assert elsewhere.badge(nowhere) == ""
    assert elsewhere.links(nowhere, NAMES) == elsewhere.WAITING


def test_each_lesson_has_a_link_into_colab():
    assert elsewhere.links(SOMEWHERE, NAMES).count("colab.research.google.com") == len(NAMES)


def test_the_badge_is_of_checks_that_run_on_each_push():
    file = re.match(r"\[!\[.*/actions/workflows/([\w.]+)/badge", elsewhere.badge(SOMEWHERE))[1]
    assert re.search(
        r"^on:\n(  .*\n)*  push:",
        (ROOT / ".github" / "workflows" / file).read_text(encoding="utf-8"),
        re.MULTILINE,
    )


def test_another_address_changes_all_links(moved):
    assert elsewhere.write_links(moved) == [moved / name for name in READMES]
    assert elsewhere.write_links(moved) == [], "nothing is left to change"
    readme, lessons = ((moved / name).read_text(encoding="utf-8") for name in READMES)
    assert readme.count(OTHER) == 2  # the picture of the badge, and its link
    assert elsewhere.repository(elsewhere.read_project()) not in readme + lessons
    project = elsewhere.read_project(moved)
    for place in elsewhere.PLACES.keys() - {"release"}:
        address = elsewhere.address(project, place, "04_pooling")
        assert address.count("some-school/course.of-ours") == 1
        assert address in lessons


def test_another_address_changes_the_copies_for_colab(moved):
    *copies, requirements = elsewhere.write_colab(moved / "out", moved)
    assert [path.name for path in copies] == ["04_pooling.ipynb", "glossary.ipynb"]
    pooling, *others = (path.read_text(encoding="utf-8") for path in (*copies, requirements))
    assert elsewhere.repository(elsewhere.read_project()) not in "".join([pooling, *others])
    assert f'WHEEL = \\"{OTHER}/releases/download/' in pooling


def test_no_address_of_the_repository_stands_anywhere_else():
    name = elsewhere.repository(elsewhere.read_project())
    listed = subprocess.run(["git", "grep", "-lF", name], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode > 1:
        pytest.skip("not a git checkout")
    readmes = READMES if elsewhere.is_known(elsewhere.read_project()) else ()
    assert set(listed.stdout.split()) == {"pyproject.toml", *readmes}


@pytest.mark.parametrize(
    "address",
    ["", "https://example.org/us/a", "https://github.com/us", f"{OTHER}/tree/main", f"{OTHER}.git"],
)
def test_an_address_of_another_form_is_one_sentence(address):
    with pytest.raises(PublishError, match="not of the form https://github.com/OWNER/NAME"):
        elsewhere.links({"urls": {"Repository": address}}, ["04_pooling"])


@pytest.mark.parametrize("name", READMES)
def test_without_a_place_for_the_links_nothing_is_written(name, moved):
    (moved / name).write_text("# The lessons\n")
    before = [(moved / readme).read_text() for readme in READMES]
    with pytest.raises(PublishError, match="no place for what is written there"):
        elsewhere.write_links(moved)
    assert [(moved / readme).read_text() for readme in READMES] == before


def test_a_copy_for_colab_is_the_learners_with_two_more_cells(moved):
    *paths, _ = elsewhere.write_colab(moved / "out", moved)
    for path in paths:
        copy = nbformat.read(path, as_version=4)
        nbformat.validate(copy)
        title, note, install, *rest = copy.cells
        assert (note.id, install.id) == ("in-colab", "install-the-course")
        assert "Save a copy in Drive" in note.source
        assert install.metadata.cellView == "form"
        learners = learner_copy(nbformat.read(ROOT / "notebooks" / path.name, as_version=4))
        assert [cell.id for cell in (title, *rest)] == [cell.id for cell in learners.cells]
        in_copy = [cell.source for cell in (title, *rest) if cell.cell_type == "code"]
        assert in_copy == [cell.source for cell in learners.cells if cell.cell_type == "code"]
        text = path.read_text(encoding="utf-8")
        # a Markdown link to a notebook beside this one
        assert not re.search(r"\]\([\w./]+\.ipynb", text), "a link that leads nowhere there"


def test_colab_gets_the_versions_of_the_course():
    project = elsewhere.read_project()
    index, *lines = elsewhere.requirements(project).splitlines()
    assert index.startswith("--extra-index-url https://")
    needs = [Requirement(line) for line in project["dependencies"]]
    assert {need.name.lower() for need in needs} > set(doctor.NOT_IN_COLAB), (
        "each of them is a dependency"
    )
    assert [Requirement(line) for line in lines] == [
        need for need in needs if need.name.lower() not in doctor.NOT_IN_COLAB
    ]


IMPORTS_WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1:]))  # whose value is None: importing them fails
import course_utils, course_utils.explore
[getattr(course_utils, name) for name in course_utils.__all__]
import course_utils.attention, course_utils.diagrams, course_utils.training, course_utils.plots
print('fine')
"""


def test_lessons_do_without_what_colab_does_not_get():
    # Colab has its own ipywidgets
    modules = [name.replace("-", "_") for name in doctor.NOT_IN_COLAB if name != "ipywidgets"]
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS_WITHOUT, *modules], capture_output=True, text=True
    )
    assert done.stdout.strip() == "fine", done.stderr


@pytest.mark.parametrize(
    "where, name, value",
    [
        (sys.modules, "google.colab", types.ModuleType("google.colab")),
        (doctor.os.environ, "COLAB_RELEASE_TAG", "release-colab_20261130"),
    ],
    ids=["notebook", "terminal"],
)
def test_in_colab_the_doctor_does_not_ask_for_what_is_left_out_there(
    monkeypatch, where, name, value
):
    monkeypatch.setattr(doctor, "INSTALLED", True)
    # of these three packages, the last is one that only an extra asks for
    lines = ["click==1", "Sphinx==1; python_version >= '3'", "tqdm==1; extra == 'more'"]
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: lines)
    assert re.findall("click|Sphinx|tqdm", doctor.packages().detail) == ["click", "Sphinx"]
    monkeypatch.setitem(where, name, value)
    assert re.findall("click|Sphinx|tqdm", doctor.packages().detail) == ["click"]
