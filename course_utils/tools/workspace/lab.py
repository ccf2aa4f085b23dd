"""JupyterLab on a workspace: its files, how it looks at first, a server that already runs."""

import json
import os
import shutil
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

# No pop-up about fetching news, no dates beside the lessons' names; the layout that JupyterLab
# starts with.
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


def home_is_writable() -> bool:
    """Whether the home folder can be written, or made."""
    try:
        home = Path.home()
        existing = next(folder for folder in (home, *home.parents) if folder.exists())
    except (RuntimeError, OSError, StopIteration):
        return False
    return existing.is_dir() and os.access(existing, os.W_OK)


def keep_jupyter_files_out_of_home(workspace: str | Path) -> bool:
    """Have Jupyter keep its files in the workspace if the home folder cannot be written.

    Returns whether it does.
    """
    if home_is_writable():
        return False
    for name, folder in HOMELESS.items():
        os.environ.setdefault(name, str(Path(workspace).resolve() / LAB_FILES / folder))
    return True


def find_running_server(workspace: Path, page: str = FIRST_PAGE) -> dict[str, Any] | None:
    """The Jupyter server that runs in a workspace: {"port": ..., "address": of a page}, or None."""
    try:
        from jupyter_core.paths import jupyter_runtime_dir

        # the usual case, which saves the second that the next line takes
        if not any(Path(jupyter_runtime_dir()).glob("jpserver-*.json")):
            return None
        from jupyter_server.serverapp import list_running_servers

        for server in list_running_servers():
            if Path(server["root_dir"]).resolve() == workspace.resolve() and _listens(server):
                token = f"?token={server['token']}" if server["token"] else ""
                return {"port": server["port"], "address": f"{server['url']}lab/{page}{token}"}
    except Exception:  # a damaged runtime file must not keep Lab from starting
        pass
    return None


def _listens(server: dict[str, Any]) -> bool:
    """Whether a server is listening.

    After a crash its runtime file remains, and its PID may have been reused.
    """
    host = (
        server["hostname"] if server["hostname"] not in ("", "0.0.0.0", "::", "*") else "localhost"
    )
    try:
        socket.create_connection((host, server["port"]), timeout=2).close()
        return True
    except OSError:
        return False


def write_at_first(workspace: str | Path) -> None:
    """Write what a workspace has from the beginning, unless a file of that name is there.

    This is JupyterLab's layout, with files and table of contents, and the notebook that asks what
    is due.
    """
    layout = Path(workspace) / LAB_FILES / FIRST_LAYOUT.name
    today = Path(workspace) / "today.ipynb"
    with suppress(OSError):  # a folder that cannot be written gets none
        layout.parent.mkdir(exist_ok=True)
        for source, target in ((FIRST_LAYOUT, layout), (TODAY, today)):
            if not target.exists():
                shutil.copyfile(source, target)


def write_side_by_side(workspace: str | Path, file: Path) -> str:
    """Have JupyterLab show a live copy, and its page at the right of it.

    Returns the address for `command_line`.
    """
    page, name = file.with_suffix(".html").as_posix(), file.stem
    left, right = f"notebook:{file.as_posix()}", f"htmlviewer:{page}"
    areas = [
        {"type": "tab-area", "currentIndex": 0, "widgets": [widget]} for widget in (left, right)
    ]
    dock = {
        "type": "split-area",
        "orientation": "horizontal",
        "sizes": [0.6, 0.4],
        "children": areas,
    }
    data = {
        "layout-restorer:data": {
            "main": {"dock": dock, "current": left},
            "left": {"collapsed": True, "visible": True, "widgets": ["filebrowser"]},
            "right": {"collapsed": True, "visible": True, "widgets": ["@jupyterlab/toc:plugin"]},
        },
        left: {"data": {"path": file.as_posix(), "factory": "Notebook"}},
        right: {"data": {"path": page, "factory": "HTML Viewer"}},
    }
    with suppress(OSError):  # JupyterLab then opens the live copy alone
        from jupyterlab_server.workspaces_handler import WorkspacesManager

        layout = json.dumps({"data": data, "metadata": {"id": name}})
        WorkspacesManager(str(Path(workspace) / LAB_FILES)).save(name, layout)
    return f"workspaces/{name}/tree/{file.as_posix()}"


def command_line(
    workspace: str | Path, flags: Sequence[str] = (), page: str = FIRST_PAGE
) -> list[str]:
    """The command line that starts JupyterLab on a page of a workspace."""
    command = [
        *(sys.executable, "-m", "jupyterlab"),
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
