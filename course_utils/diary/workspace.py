"""A workspace: the folder with a learner's copies of the lessons."""

from pathlib import Path

RECORD = ".course.json"  # a folder that holds it is a workspace
# Below it, learners' files from before a reset or an update, and live copies of `course lab
# --live`. The grader ignores both.
SAVED = "yours_saved"
LIVE = "live_copies"


def current() -> Path:
    """The folder where this process works; of saved files or live copies, their workspace.

    Raises OSError if it is gone.
    """
    folder = Path.cwd()
    if folder.name in (SAVED, LIVE) and (folder.parent / RECORD).is_file():
        return folder.parent
    return folder


def current_workspace() -> Path | None:
    """The workspace where this process works, or None."""
    try:
        folder = current()
    except OSError:
        return None
    return folder if (folder / RECORD).is_file() else None
