"""`course lab`: write the copies of the lessons, then become JupyterLab on one of them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from ..._support.files import write_whole
from ..._support.notebooks import NOTEBOOKS, ROUTES, is_core, part_of, parts
from ...models import ENV_VAR
from .. import beforehand
from .copies import GLOSSARY, LEFT_ALONE, obstacle, report_lines, write_workspace
from .live import write_live
from .overview import overview
from .owner import as_owner_of

# a folder of settings: no pop-up about fetching news, no dates beside the lessons' names; and the
# layout that JupyterLab starts with
LAB_SETTINGS = Path(__file__).parent / "lab_settings"
# JupyterLab's name for the layout called "default"
FIRST_LAYOUT = LAB_SETTINGS / "default-37a8.jupyterlab-workspace"
LAB_FILES = ".jupyterlab"  # the folder in a workspace where JupyterLab stores its layout
FIRST_PAGE = "tree/00_start_here.ipynb"  # what JupyterLab opens, below its address
# a notebook, under a name that no search for lessons finds
TODAY = Path(__file__).with_name("today.json")
# where Jupyter, IPython and matplotlib keep their files, below it, if the home folder cannot be
# written
HOMELESS = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "IPYTHONDIR": "ipython",
    "MPLCONFIGDIR": "matplotlib",
}


def keep_jupyter_files_out_of_home(workspace: str | Path) -> bool:
    """Have Jupyter keep its files in the workspace if the home folder cannot be written, or made.

    It sets those variables of HOMELESS that are not set. Returns whether the home folder cannot be
    written.
    """
    home = Path(os.path.expanduser("~"))
    # the home folder, or the nearest folder above it that exists
    existing = next(folder for folder in (home, *home.parents) if os.path.exists(folder))
    if existing.is_dir() and os.access(existing, os.W_OK):
        return False
    for name, folder in HOMELESS.items():
        os.environ.setdefault(name, str(Path(workspace).resolve() / LAB_FILES / folder))
    return True


def write_at_first(workspace: str | Path) -> None:
    """Write what a workspace has from the beginning, unless a file of that name is there.

    This is JupyterLab's layout, with files and table of contents, and the notebook that asks what
    is due.
    """
    workspace = Path(workspace)
    contents = {
        workspace / LAB_FILES / FIRST_LAYOUT.name: FIRST_LAYOUT.read_bytes(),
        workspace / "today.ipynb": TODAY.read_bytes(),
    }
    # a folder that cannot be written gets none
    with as_owner_of(workspace), suppress(OSError):
        for path, content in contents.items():
            path.parent.mkdir(exist_ok=True)
            if not (os.path.lexists(path) or obstacle(workspace, path)):
                write_whole(path, content, through_links=False)


def write_side_by_side(workspace: str | Path, file: Path) -> str:
    """Have JupyterLab show a live copy, and its page at the right of it.

    file: the live copy, as a path in the workspace. A layout of its name is stored, or replaced.
    Returns the address, below Lab's own, for `command_line`.
    """
    page = file.with_suffix(".html").as_posix()
    # JupyterLab's names for the two views
    left, right = f"notebook:{file.as_posix()}", f"htmlviewer:{page}"
    dock = {
        "type": "split-area",
        "orientation": "horizontal",
        "sizes": [0.6, 0.4],  # shares of the width
        "children": [
            {"type": "tab-area", "currentIndex": 0, "widgets": [widget]} for widget in (left, right)
        ],
    }
    # in the form in which JupyterLab stores its layout: the open files, and the two sidebars
    data = {
        "layout-restorer:data": {
            "main": {"dock": dock, "current": left},
            "left": {"collapsed": True, "visible": True, "widgets": ["filebrowser"]},
            "right": {"collapsed": True, "visible": True, "widgets": ["@jupyterlab/toc:plugin"]},
        },
        left: {"data": {"path": file.as_posix(), "factory": "Notebook"}},
        right: {"data": {"path": page, "factory": "HTML Viewer"}},
    }
    from jupyterlab_server.workspaces_handler import WorkspacesManager

    # where it cannot be stored, JupyterLab opens the live copy alone
    with as_owner_of(workspace), suppress(OSError):
        WorkspacesManager(str(Path(workspace) / LAB_FILES)).save(
            file.stem, json.dumps({"data": data, "metadata": {"id": file.stem}})
        )
    return f"workspaces/{file.stem}/tree/{file.as_posix()}"


def command_line(
    workspace: str | Path, flags: Sequence[str] = (), page: str = FIRST_PAGE
) -> list[str]:
    """The command line that starts JupyterLab on a page of a workspace.

    flags: more of JupyterLab's options. page: below its address, such as FIRST_PAGE.
    """
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={Path(workspace).resolve()}",
        f"--LabApp.default_url=/lab/{page}",
        f"--LabApp.app_settings_dir={LAB_SETTINGS}",
        f"--LabApp.workspaces_dir={Path(workspace).resolve() / LAB_FILES}",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # in a container there is often no other user
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        command.append("--no-browser")  # Lab prints the address instead
    return [*command, *flags]


def open_lab(
    workspace: Path,
    flags: Sequence[str] = (),
    write_only: bool = False,
    live: str | None = None,
    route: str | None = None,
    say: Callable[[str], object] = print,
) -> None:
    """Write the copies of the lessons, and become JupyterLab on one of them.

    flags: for JupyterLab.
    write_only: write the copies, and return. Without it, this process becomes JupyterLab, or exits
    with its exit code.
    live: the lesson of a live copy to write and to open, such as "04".
    route: the last word of one of ROUTES; its first lesson with an open exercise is opened, unless
    there is `live`.
    say: shows a line to the learner.

    Raises CopyError, or ValueError for an unknown lesson.
    """
    if keep_jupyter_files_out_of_home(workspace):
        say(
            "Your home folder cannot be written, so Jupyter keeps its files in "
            f"{workspace / LAB_FILES}."
        )
    page = FIRST_PAGE
    if route:
        page = _show_route(workspace, route, say)
    if live:
        page = _write_live_copy(workspace, live, say)
    _write_lessons(workspace, say)
    if not route:
        say("One day, all cores, or everything? --route day, course or everything shows the way.")
    write_at_first(workspace)
    if not write_only:
        _become_lab(command_line(workspace, flags, page))


def _write_lessons(workspace: Path, say: Callable[[str], object]) -> None:
    reports = write_workspace(workspace)
    left_alone = [report for report in reports if report.action in LEFT_ALONE]
    for line in report_lines(left_alone, workspace):
        say(line)
    lessons = {report.name: report.action for report in reports if report.name != GLOSSARY}
    written = sum(action in ("written", "renewed") for action in lessons.values())
    cores = sum(is_core(part_of(name)) for name in lessons)
    is_whole = "blocked" not in lessons.values()
    news = "all already there" if is_whole and not written else f"{written} of them newly written"
    say(
        f"Your lessons are in {workspace.resolve()}: {cores} lessons and {len(lessons) - cores} "
        f"further parts, {news}."
    )


def _become_lab(command: list[str]) -> None:
    # so that Lab's terminals find `course`
    os.environ["PATH"] = os.pathsep.join(
        [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    )
    encoder = Path(os.environ.get(ENV_VAR) or "").expanduser()
    if os.environ.get(ENV_VAR) and encoder.is_dir():
        os.environ[ENV_VAR] = str(encoder.resolve())  # kernels have other working folders
    if sys.platform == "linux":
        from ..kernels.provisioner import start_warm

        start_warm()
    beforehand.start()
    if os.name == "posix":
        os.execv(command[0], command)  # so that Ctrl-C reaches only JupyterLab
    sys.exit(subprocess.call(command))


def _show_route(workspace: Path, route: str, say: Callable[[str], object]) -> str:
    """Say the lessons of a route.

    Returns JupyterLab's page of the first one that has an open exercise, else of the first one.
    """
    # exactly one, or this raises a ValueError
    (name,) = [name for name in ROUTES if name.endswith(route)]
    on_route = overview(workspace).on(name)
    say(on_route.plan())
    lesson = on_route.next[0] if on_route.next else on_route.lessons[0]
    return f"tree/{parts()[lesson.key].relative_to(NOTEBOOKS).as_posix()}"


def _write_live_copy(workspace: Path, key: str, say: Callable[[str], object]) -> str:
    """Write the live copy of a lesson, and say where it is. Returns its page in JupyterLab."""
    file, edited = write_live(workspace, key)
    if edited:
        say(
            f"{file}: you have worked in it, so it was kept; rename or delete it, and run this "
            "again for a new one."
        )
    else:
        say(
            f"The live copy is {file}, and the code to type is beside it in "
            f"{file.with_suffix('.html').name}."
        )
    return write_side_by_side(workspace, file)
