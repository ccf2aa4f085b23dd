"""Update one lesson after a change: `make lesson L=04`, or a further part: `make lesson L=04-lengths`.

Renews what derives from it, executes it, and runs its tests, which are those of the lesson with all its parts.
"""

import argparse
import os
import sys

import pytest
from nbclient.exceptions import CellExecutionError

from course_utils._support.notebooks import parts
from course_utils.tools.authoring import ROOT, AuthoringError, renew
from course_utils.tools.publish import PublishError
from course_utils.tools.publish.elsewhere import write_links

from .execute import execute
from .run import look_at_files

# Files whose tests have a case for each lesson, of which only this lesson's are run (a deck's in a browser, too), and
# files that any lesson can break. test_authoring.py has a test that no file is missing.
CASES = (
    "notebooks exercises words promises claims ideas progress verdicts pictures decks decks_in_browser "
    "grading_parity live run_again take_along".split()
)
WHOLE = "glossary diagrams elsewhere taken_along".split()


def chosen_lesson():
    """The key on the command line, such as "04" or "04-lengths"."""
    parser = argparse.ArgumentParser(prog="python -m tests.lesson", description=__doc__)
    parser.add_argument("key", choices=parts(), metavar="KEY", help="such as 04 or 04-lengths")
    return parser.parse_args().key


def main(key):
    """Renew, execute and test a lesson. Returns an exit status, or a sentence about what is wrong with it."""
    if status := look_at_files():
        return status
    os.environ.update(TQDM_DISABLE="1")
    path, number = parts()[key], key[:2]
    try:
        changed = [*renew(key), *write_links()]
        print(f"Executing {path.name}", flush=True)
        execute(path)
        changed += renew(key)  # a new picture counts in the minutes
    except (AuthoringError, PublishError, CellExecutionError) as error:
        return str(error)
    files = [str(file.relative_to(ROOT)) for file in dict.fromkeys(changed)]
    renewed = ", ".join(files) or "nothing but outputs"
    print(f"Renewed: {renewed}", flush=True)
    names = [f"tests/test_{name}.py" for name in (*CASES, *WHOLE, f"lesson_{number}")]
    existing = [name for name in names if (ROOT / name).exists()]
    # the tests of this lesson, as pytest's -k selects them; and all tests of some files, whose whole names stand here
    # because "taken_along" alone would also choose test_take_along.py's cases of all lessons
    # and what adds up the minutes of the lessons
    cases = [f"{number}_", f"{number}-", f"[{number}", f"test_lesson_{number}", "each_route_takes"]
    selection = " or ".join([*cases, *(f"test_{name}.py" for name in WHOLE)])
    # the notebook last: its second run shows whether its outputs are the same each time
    return pytest.main(
        ["-p", "no:cacheprovider", "-k", selection, *existing, str(path.relative_to(ROOT))]
    )


if __name__ == "__main__":
    sys.exit(main(chosen_lesson()))
