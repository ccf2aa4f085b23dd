"""Renew the pictures in the READMEs: `make screenshots`, a quarter of an hour, since it writes the whole book.

The browser tests keep screenshots; those with the name of a picture in notebooks/pictures replace it. Look at each.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from .browser import CHROMIUM

PICTURES = Path(__file__).resolve().parents[1] / "notebooks" / "pictures"
TESTS = (
    "tests/test_browser.py::test_lesson_00_shows_its_picture",
    "tests/test_browser.py::test_lesson_00_says_of_each_task_that_it_is_not_attempted_yet",
    "tests/test_decks_in_browser.py::test_slides_turn_nothing_overflows_and_nothing_leaves_the_machine[05_attention]",
    "tests/test_book.py::test_attention_views_draw_and_answer[all]",
)


def main():
    """Returns an exit status, or what is missing."""
    if CHROMIUM is None:
        return "No Chromium on this machine: apt-get install chromium"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COURSE_SCREENSHOTS"] = folder
        if status := pytest.main(["-q", "-p", "no:cacheprovider", *TESTS]):
            return status
        for picture in sorted(PICTURES.glob("*.png")):
            shutil.copyfile(Path(folder, picture.name), picture)
            print(f"Renewed: {picture.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
