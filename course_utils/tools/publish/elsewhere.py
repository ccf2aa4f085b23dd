"""Where else the course opens: Google Colab, Binder, a codespace. All addresses follow from one, in pyproject.toml."""

import re
import tomllib
from pathlib import Path

import nbformat

from ..._support.files import write_whole
from ..._support.notebooks import ROOT, name_of, parts, seen_from
from ..doctor import NOT_IN_COLAB, TORCH_INDEX
from ..workspace.copies import learner_copy

BRANCH = "colab"  # of the repository; each release writes the learner's copies there
REQUIREMENTS = "requirements-colab.txt"  # a file of each release
BEGIN, END = "<!-- course links -->", "<!-- end -->"  # around what `write_links` writes
WAITING = "*The links will stand here when the repository has its address.*"
TEMPLATES = Path(__file__).parent / "templates"
LINK = re.compile(r"\]\(([\w./]+)\.ipynb")
ADDRESS = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)")


class ElsewhereError(RuntimeError):
    """The addresses or the copies cannot be written. The message is one sentence."""


def read_project(root=ROOT):
    """The table `project` of pyproject.toml. Raises ElsewhereError where there is none."""
    try:
        return tomllib.loads((Path(root) / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except (OSError, ValueError, KeyError):
        raise ElsewhereError(f"{root} has no pyproject.toml with the repository's address.") from None


def repository(project):
    """OWNER/NAME, from the project's address. Raises ElsewhereError for one that is not on GitHub."""
    address = project.get("urls", {}).get("Repository", "")
    if not (found := ADDRESS.fullmatch(address)):
        raise ElsewhereError(
            f"Repository in pyproject.toml is {address!r}, not of the form https://github.com/OWNER/NAME."
        )
    return found[1]


def colab(project, name):
    """The address that opens the learner's copy of a lesson, such as "04_pooling", in Colab."""
    return f"https://colab.research.google.com/github/{repository(project)}/blob/{BRANCH}/{name}.ipynb"


def binder(project):
    """The address that builds the repository on mybinder.org and opens the learner's copy of the first lesson."""
    return f"https://mybinder.org/v2/gh/{repository(project)}/HEAD?labpath=workspace%2F00_start_here.ipynb"


def codespace(project):
    """The address that starts a codespace, which reads .devcontainer."""
    return f"https://codespaces.new/{repository(project)}"


def release_file(project, name):
    """The address of a file of this version's release."""
    return f"https://github.com/{repository(project)}/releases/download/{project['version']}/{name}"


def wheel(project):
    """The address of this version's wheel."""
    return release_file(project, f"{project['name'].replace('-', '_')}-{project['version']}-py3-none-any.whl")


def links(project, names):
    """The links to all lessons, as Markdown. A sentence as long as the repository has no address."""
    if not is_known(project):
        return WAITING
    lessons = [
        f"[{name[:2] if name[0].isdigit() else name.rpartition('/')[2]}]({colab(project, name)})" for name in names
    ]
    return (
        f"- [Binder]({binder(project)})\n- [a codespace]({codespace(project)})\n- Google Colab, lesson by lesson:\n  "
        + ",\n  ".join(lessons)
    )


def is_known(project):
    """Whether the repository has an address yet: until then, OWNER stands in its place."""
    return not repository(project).startswith("OWNER/")


def badge(project):
    """Whether the hosted tests of the newest commit pass, as a picture that leads to them. Markdown.

    Nothing as long as the repository has no address: it would be a broken picture.
    """
    if not is_known(project):
        return ""
    tests = f"https://github.com/{repository(project)}/actions/workflows/tests.yml"
    return f"[![Tests of the newest commit]({tests}/badge.svg?branch=main)]({tests})"


def write_links(root=ROOT):
    """Write the badge and the links into the two READMEs. Returns the paths of those that changed.

    Raises ElsewhereError, before anything is written, or OSError.
    """
    project, texts = read_project(root), {}
    for readme, new in (("README.md", badge(project)), ("notebooks/README.md", links(project, _names(root)))):
        path = Path(root) / readme
        text = path.read_text(encoding="utf-8")
        before, begin, rest = text.partition(BEGIN)
        _, end, after = rest.partition(END)
        if not (begin and end):
            raise ElsewhereError(f"{path} has no place for what is written there, between {BEGIN} and {END}.")
        if text != (written := "\n\n".join([before + BEGIN, *filter(None, [new]), END + after])):
            texts[path] = written
    for path, text in texts.items():
        write_whole(path, text)
    return list(texts)


def _names(root):
    """The names of lessons and glossary, in order: "05_attention", "further/05_effects"."""
    folder = Path(root) / "notebooks"
    return [name_of(path) for path in (*parts(folder).values(), *folder.glob("glossary.ipynb"))]


def requirements(project):
    """The requirements of the lessons in Colab, as a file for pip. The wheel is installed after them, without its own.

    Left out is what Colab does in its own way: JupyterLab would replace parts of the server that runs there.
    """
    needs = [need for need in project["dependencies"] if need.partition("==")[0].lower() not in NOT_IN_COLAB]
    return "\n".join([f"--extra-index-url {TORCH_INDEX}", *needs]) + "\n"


def colab_copy(notebook, project, name):
    """The learner's copy of a lesson with a cell that installs the course, below the title. Links lead to Colab.

    name: the lesson's, such as "further/05_effects", from where its links are seen.
    """
    copy = learner_copy(notebook)
    note, install = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("colab_note.txt", "colab_install.txt"))
    # torchvision and torchaudio fit one version of torch only, and transformers imports them where they are
    code = install.format(requirements=release_file(project, REQUIREMENTS), wheel=wheel(project))
    folded = {"cellView": "form", "jupyter": {"source_hidden": True}}
    copy.cells[1:1] = [
        nbformat.v4.new_markdown_cell(note, id="in-colab"),
        nbformat.v4.new_code_cell(code, id="install-the-course", metadata=folded),
    ]
    for cell in copy.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(lambda link: f"]({colab(project, seen_from(name, link[1]))}", cell.source)
    return copy


def write_colab(folder, root=ROOT):
    """Write the copies of all lessons for Colab, and their requirements, into a folder. Returns the paths.

    Raises ElsewhereError, OSError.
    """
    folder, project, written = Path(folder), read_project(root), []
    folder.mkdir(parents=True, exist_ok=True)
    for name in _names(root):
        notebook = nbformat.read(Path(root) / "notebooks" / f"{name}.ipynb", as_version=4)
        (folder / name).parent.mkdir(exist_ok=True)
        write_whole(folder / f"{name}.ipynb", nbformat.writes(colab_copy(notebook, project, name)) + "\n")
        written.append(folder / f"{name}.ipynb")
    write_whole(folder / REQUIREMENTS, requirements(project))
    return [*written, folder / REQUIREMENTS]
