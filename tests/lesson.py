"""Update one lesson after a change: `make lesson L=04`. Renews what derives from it, executes it, runs its tests."""

import os
import sys

import pytest

from course_utils.tools.authoring import ROOT, AuthoringError, renew
from course_utils.tools.workspace.overview import overview

from .execute import execute, lessons

# This lesson's cases in the tests of all lessons, and the whole glossary, since a lesson may be the first to use a
# term.
SHARED = ("notebooks", "exercises", "promises", "claims", "glossary", "progress", "decks", "grading_parity")


def main(number):
    """Returns pytest's exit status, or a sentence that says what is wrong with the lesson."""
    try:
        changed = renew(number)
    except AuthoringError as error:
        return str(error)
    os.environ.update(TQDM_DISABLE="1", HF_HUB_OFFLINE="1")
    (path,) = lessons([f"{number}_"])
    (start,) = lessons(["00_"])
    todo = [path]
    if start != path and not stands_in(start, repr(overview(None))):
        todo.append(start)  # its output shows the whole course
    for one in todo:
        print(f"Executing {one.name}", flush=True)
        execute(one)
    print("Renewed: " + (", ".join(str(one.relative_to(ROOT)) for one in changed) or "nothing but outputs"), flush=True)
    files = [f"tests/test_{name}.py" for name in (*SHARED, f"lesson_{number}")]
    chosen = f"({number}_ or {number}- or [{number} or test_lesson_{number} or test_glossary) and not browser"
    return pytest.main(
        ["-q", "-p", "no:cacheprovider", "-k", chosen, *(file for file in files if (ROOT / file).exists())]
    )


def stands_in(path, text):
    """Whether a notebook has this text as an output."""
    import nbformat

    cells = nbformat.read(path, as_version=4).cells
    return any(output.get("data", {}).get("text/plain") == text for cell in cells for output in cell.get("outputs", []))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
