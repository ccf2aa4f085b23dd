"""`course lab`: write the copies of the lessons, then become JupyterLab on one of them."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ..._support.notebooks import NOTEBOOKS, ROUTES, part_of, parts
from ...models import ENV_VAR
from . import lab
from .copies import GLOSSARY, LEFT_ALONE, report_lines, write_workspace
from .live import write_live
from .overview import overview


def open_lab(
    workspace: Path,
    flags: Sequence[str] = (),
    write_only: bool = False,
    live: str | None = None,
    route: str | None = None,
    say: Callable[[str], object] = print,
) -> None:
    """Write the copies of the lessons, and become JupyterLab on one of them.

    flags: for JupyterLab. live: the lesson of a live copy, such as "04". route: the last word of
    one of ROUTES. Raises CopyError.
    """
    if lab.keep_jupyter_files_out_of_home(workspace):
        say(
            f"Your home folder cannot be written, so Jupyter keeps its files in {workspace / lab.LAB_FILES}."
        )
    page = lab.FIRST_PAGE
    if route:
        page = _show_route(workspace, route, say)
    if live:
        page = _show_live(workspace, live, say)
    if not write_only and (server := lab.find_running_server(workspace, page)):
        say(
            f"JupyterLab is already running on this workspace, on port {server['port']}: continue "
            "at "
            f"{server['address']}, or stop it (Ctrl-C twice in its terminal) and run this again."
        )
        return
    _write_lessons(workspace, say)
    if not route:
        say("One day, all cores, or everything? --route day, course or everything shows the way.")
    lab.write_at_first(workspace)
    if not write_only:
        _become_lab(lab.command_line(workspace, flags, page))


def _write_lessons(workspace: Path, say: Callable[[str], object]) -> None:
    report = write_workspace(workspace)
    left_alone = [(name, action, "") for name, action in report if action in LEFT_ALONE]
    for line in report_lines(left_alone, workspace):
        say(line)
    lessons = {name: action for name, action in report if name != GLOSSARY}
    written = sum(action in ("written", "renewed") for action in lessons.values())
    cores = sum(len(part_of(name)) == 2 for name in lessons)
    news = f"{written} of them newly written" if written else "all already there"
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
    if os.name == "posix":
        os.execv(command[0], command)  # so that Ctrl-C reaches only JupyterLab
    sys.exit(subprocess.call(command))


def _show_route(workspace: Path, route: str, say: Callable[[str], object]) -> str:
    """Print the lessons of a route.

    Returns JupyterLab's page of the first one that has an open exercise.
    """
    (name,) = [name for name in ROUTES if name.endswith(route)]
    picture = overview(workspace).on(name)
    say("\n".join(picture.plan()))
    lesson = picture.next[0] if picture.next else picture.lessons[0]
    return f"tree/{parts()[lesson.key].relative_to(NOTEBOOKS).as_posix()}"


def _show_live(workspace: Path, key: str, say: Callable[[str], object]) -> str:
    """Write a live copy. Returns JupyterLab's page of it."""
    file, edited = write_live(workspace, key)
    if edited:
        say(
            f"{file}: you have worked in it, so it was kept; rename or delete it, and run this again for a new one."
        )
    else:
        page = file.with_suffix(".html").name
        say(f"The live copy is {file}, and the code to type is beside it in {page}.")
    return lab.write_side_by_side(workspace, file)
