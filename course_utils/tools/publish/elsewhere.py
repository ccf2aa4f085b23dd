"""Where else the course opens: Google Colab, Binder, a codespace.

All addresses follow from that of the repository, in pyproject.toml.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import nbformat

from ..._support.fast_nbformat import read_notebook
from ..._support.files import write_changed
from ..._support.installation import ROOT
from ..._support.notebooks import name_of, parts, seen_from
from ..doctor import NOT_IN_COLAB, TORCH_INDEX
from ..pages import filled
from ..workspace.copies import learner_copy, with_note
from . import PublishError

REQUIREMENTS = "requirements-colab.txt"  # what each release has for Colab, beside the wheel
BEGIN, END = "<!-- course links -->", "<!-- end -->"  # around what `write_links` writes
WAITING = "*The links will stand here when the repository has its address.*"
# of the repository's page; that for cloning, which ends in .git, begins no other address
ADDRESS = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+(?<!\.git))")
# addresses by place: see `address`
PLACES = {
    # the branch colab of the repository: each release writes the learner's copies there
    "colab": "https://colab.research.google.com/github/{repository}/blob/colab/{file}.ipynb",
    "binder": "https://mybinder.org/v2/gh/{repository}/HEAD?labpath=workspace%2F00_start_here.ipynb",
    "codespace": "https://codespaces.new/{repository}",
    "release": "https://github.com/{repository}/releases/download/{version}/{file}",
}
Project = Mapping[str, Any]  # the table `project` of pyproject.toml


def read_project(root: str | Path = ROOT) -> Project:
    """The table `project` of pyproject.toml."""
    return tomllib.loads((Path(root) / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def repository(project: Project) -> str:
    """OWNER/NAME, from the project's address. Raises PublishError for one that is not on GitHub."""
    url = project.get("urls", {}).get("Repository", "")
    match = ADDRESS.fullmatch(url)
    if match is None:
        raise PublishError(
            f"Repository in pyproject.toml is {url!r}, not of the form "
            "https://github.com/OWNER/NAME."
        )
    return match[1]


def address(project: Project, place: str, file: str = "") -> str:
    """The address of a place of `PLACES`.

    file: a file of the release, or for Colab the name of a lesson, such as "04_pooling"; the other
    places need none. Raises PublishError as `repository`, KeyError for another place.
    """
    return PLACES[place].format(
        repository=repository(project), version=project["version"], file=file
    )


def wheel(project: Project) -> str:
    """The address of this version's wheel. Raises PublishError as `repository`."""
    name = f"{project['name'].replace('-', '_')}-{project['version']}-py3-none-any.whl"
    return address(project, "release", name)


def is_known(project: Project) -> bool:
    """Whether the repository has an address yet: until then, its owner in pyproject.toml is OWNER.

    Raises PublishError as `repository`.
    """
    return not repository(project).startswith("OWNER/")


def links(project: Project, names: Sequence[str]) -> str:
    """The links to all lessons, as Markdown; WAITING while the repository has no address.

    names: of the lessons, as `_names` gives them.
    """
    if not is_known(project):
        return WAITING
    return filled("links.md.j2", names=names, address=partial(address, project))


def badge(project: Project) -> str:
    """A picture in Markdown that says whether the newest commit's hosted tests pass.

    It leads to them. "" while the repository has no address: the picture would be broken.
    """
    if not is_known(project):
        return ""
    tests = f"https://github.com/{repository(project)}/actions/workflows/tests.yml"
    return f"[![Tests of the newest commit]({tests}/badge.svg?branch=main)]({tests})"


def write_links(root: str | Path = ROOT) -> list[Path]:
    """Write the badge and the links into the two READMEs. Returns the paths of those that changed.

    Raises PublishError, before anything is written, if a README has no place for them or the
    address is not on GitHub; OSError.
    """
    project = read_project(root)
    texts = {}
    for readme, written in (
        ("README.md", badge(project)),
        ("notebooks/README.md", links(project, _names(root))),
    ):
        path = Path(root) / readme
        before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
        _, end, after = rest.partition(END)
        if not end:
            raise PublishError(
                f"{path} has no place for what is written there, between {BEGIN} and {END}."
            )
        # without a badge, there is no empty paragraph
        paragraph = f"{written}\n\n" if written else ""
        texts[path] = f"{before}{begin}\n\n{paragraph}{end}{after}"
    return write_changed(texts)


def _names(root: str | Path) -> list[str]:
    """The names of lessons and glossary, in order: "05_attention", "further/05_effects"."""
    folder = Path(root) / "notebooks"
    return [name_of(path) for path in (*parts(folder).values(), *folder.glob("glossary.ipynb"))]


def requirements(project: Project) -> str:
    """The requirements of the lessons in Colab, as a file for pip.

    The wheel is installed after them, with --no-deps. What is in NOT_IN_COLAB is left out:
    JupyterLab, for one, would replace parts of the server that runs there. All dependencies in
    pyproject.toml are pinned with "==".
    """
    needs = [
        need
        for need in project["dependencies"]
        if need.partition("==")[0].lower() not in NOT_IN_COLAB
    ]
    return "\n".join([f"--extra-index-url {TORCH_INDEX}", *needs]) + "\n"


def colab_copy(
    notebook: nbformat.NotebookNode, project: Project, name: str
) -> nbformat.NotebookNode:
    """The learner's copy of a lesson; below its title, a note and a cell that installs the course.

    Links to other lessons lead to Colab.

    name: the lesson's, such as "further/05_effects", to which its links are relative.
    """
    # the cell removes torchvision and torchaudio, which fit one version of torch only: transformers
    # imports them where they are installed
    install = filled(
        "colab_install.txt",
        requirements=address(project, "release", REQUIREMENTS),
        wheel=wheel(project),
    )
    return with_note(
        learner_copy(notebook),
        nbformat.v4.new_markdown_cell(filled("colab_note.txt"), id="in-colab"),
        nbformat.v4.new_code_cell(
            install,
            id="install-the-course",
            metadata={"cellView": "form", "jupyter": {"source_hidden": True}},  # folded
        ),
        # a link comes without its suffix, which stays behind the address
        lambda link: address(project, "colab", seen_from(name, link)).removesuffix(".ipynb"),
    )


def write_colab(folder: str | Path, root: str | Path = ROOT) -> list[Path]:
    """Write the copies of all lessons for Colab, and their requirements, into a folder.

    root: the folder with pyproject.toml and the lessons. Returns the paths of all these files, also
    of those that were up to date. Raises PublishError, OSError, ValueError for a damaged lesson.
    """
    folder, project = Path(folder), read_project(root)
    texts = {}
    for name in _names(root):
        notebook = read_notebook(Path(root) / "notebooks" / f"{name}.ipynb")
        texts[folder / f"{name}.ipynb"] = (
            nbformat.writes(colab_copy(notebook, project, name)) + "\n"
        )
    texts[folder / REQUIREMENTS] = requirements(project)
    write_changed(texts)
    return list(texts)
