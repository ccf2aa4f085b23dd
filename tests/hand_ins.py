"""Hand-ins as a platform delivers them, for tests of which files are read and whose they are."""

import io
import zipfile
from types import SimpleNamespace

import pytest

from course_utils.tools.grading.rosters import read_roster
from course_utils.tools.grading.submissions import gather

NOTEBOOK = '{"cells": [], "nbformat": 4}'


def packed(files, method=zipfile.ZIP_DEFLATED):
    """The bytes of a zip. files: contents by name, or pairs of both."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in files.items() if isinstance(files, dict) else files:
            archive.writestr(name, content)
    return data.getvalue()


@pytest.fixture(name="collect")
def collecting(tmp_path):
    """Gather these files as a folder or, zipped, as one archive.

    Returns the hand-ins, the files of each learner, and what was left out, with the reason.
    """

    def collect(files, roster=None, zipped=False):
        if not isinstance(files, dict):
            files = {file: f"{NOTEBOOK} {file}" for file in files}
        source, unpacked = tmp_path / ("class.zip" if zipped else "class"), tmp_path / "unpacked"
        if zipped:
            source.write_bytes(packed(files))
        for file, data in () if zipped else files.items():
            (source / file).parent.mkdir(parents=True, exist_ok=True)
            (source / file).write_bytes(data if isinstance(data, bytes) else data.encode())
        unpacked.mkdir()
        if roster:
            (tmp_path / "roster.csv").write_text(roster)
        gathered = gather(
            source, unpacked, read_roster(tmp_path / "roster.csv") if roster else None
        )
        has = {}
        for one in gathered:
            has.setdefault(one.learner, []).append(one.file)
            assert (
                not one.path or one.file not in files or one.path.read_text() == files[one.file]
            ), "not its own bytes"
        why = " ".join(one.why for one in gathered.left_out)
        return SimpleNamespace(
            has=has, out=[one.file for one in gathered.left_out], why=why, found=gathered
        )

    return collect
