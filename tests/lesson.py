"""Update one lesson after a change: `make lesson L=04`, or L=04-lengths for a further part.

Renews what derives from it, executes it, and runs its tests, which are those of the lesson with all
its parts.
"""

import argparse
import sys

import nbformat
import pytest
from nbclient.exceptions import CellControlSignal

from course_utils._support.notebooks import parts
from course_utils.tools.authoring import ROOT, renew
from course_utils.tools.publish import PublishError
from course_utils.tools.publish.elsewhere import write_links

from .execute import execute
from .run import look_at_files

MANY_LINES = 30  # of a code cell at 88 columns: so many may be more than one step

# Three lists of tests/test_*.py. test_authoring.py fails if a file is missing from them.
# Files whose tests have a case for each lesson, of which only this lesson's are run. Of these, the
# quick ones, which are run first:
QUICK = "notebooks words claims verdicts pictures progress take_along".split()
# and the others (a deck's in a browser, too):
CASES = (
    "exercises promises ideas decks decks_in_browser grading_parity class_report live run_again"
).split()
# Files that any lesson can break, of which all tests are run:
WHOLE = "glossary diagrams elsewhere taken_along".split()


def selected_tests(key):
    """(quick test files, others, expression for pytest's -k) of a lesson.

    The expression selects the lesson's tests in both. Not every lesson has a file of its own.
    """
    number = key[:2]  # a further part, such as 04-lengths, has the tests of its lesson
    others = [f"tests/test_{name}.py" for name in (*CASES, *WHOLE, f"lesson_{number}")]
    words = [
        # the files, tests and cases of this lesson have its number in their names
        f"{number}_",
        f"{number}-",
        f"[{number}",
        f"test_lesson_{number}",
        # the tests that add up the minutes of the lessons on each route, and of one day
        "each_route_takes",
        "one_day_has",
        # whole names, since "taken_along" alone would also select test_take_along.py's cases of all
        # lessons
        *(f"test_{name}.py" for name in WHOLE),
    ]
    existing = [name for name in others if (ROOT / name).exists()]
    return [f"tests/test_{name}.py" for name in QUICK], existing, " or ".join(words)


def long_cells(path):
    """A remark on the code cells of many lines that a reader of this notebook sees, or ""."""
    cells = [
        f"{cell.id} ({len(cell.source.splitlines())})"
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code"
        and len(cell.source.splitlines()) > MANY_LINES
        and not cell.metadata.get("jupyter", {}).get("source_hidden")
    ]
    if not cells:
        return ""
    return f"More than {MANY_LINES} lines, if each is one step all is well: {', '.join(cells)}"


def main(key):
    """Renew, execute and test a lesson.

    Returns an exit status, or a sentence about what is wrong with the lesson, for `sys.exit`. Where
    it cannot be executed or a quick test fails, the other tests are not run.
    """
    if status := look_at_files():
        return status
    path = parts()[key]
    try:
        changed = [*renew(key), *write_links()]
        print(f"Executing {path.name}", flush=True)
        execute(path)
        changed += renew(key)  # a new picture counts in the minutes
    except (ValueError, PublishError, CellControlSignal) as error:  # a cell failed or took too long
        return str(error)
    renewed = ", ".join(str(file.relative_to(ROOT)) for file in dict.fromkeys(changed))
    print(f"Renewed: {renewed or 'nothing but outputs'}", flush=True)
    if remark := long_cells(path):
        print(remark, flush=True)
    quick, others, selection = selected_tests(key)
    # the notebook last: its second run shows whether its outputs are the same each time
    others.append(str(path.relative_to(ROOT)))
    options = ["-p", "no:cacheprovider", "-k", selection]
    return pytest.main([*options, *quick]) or pytest.main([*options, *others])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.lesson", description=__doc__)
    parser.add_argument("key", choices=parts(), metavar="KEY", help="such as 04 or 04-lengths")
    sys.exit(main(parser.parse_args().key))
