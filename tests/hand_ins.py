"""Hand-ins as a platform delivers them, for tests of which files are read and whose they are."""

import io
import zipfile
from types import SimpleNamespace

import pytest

from course_utils.tools.grading.rosters import read_roster
from course_utils.tools.grading.submissions import gather

NOTEBOOK = '{"cells": [], "nbformat": 4}'


def packed(files, method=zipfile.ZIP_DEFLATED):
    """The bytes of a zip. files: {name: content}, or pairs of both, where a name may come twice.

    A content is text or bytes. method: how it is packed, one of zipfile's constants.
    """
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in files.items() if isinstance(files, dict) else files:
            archive.writestr(name, content)
    return data.getvalue()


@pytest.fixture(name="collect")
def collecting(tmp_path):
    """A function that writes files into a folder or, zipped, into an archive, and gathers them.

    files: {name: text or bytes}, or names alone, whose files are notebooks. roster: the text of the
    class's CSV file. It can be called once per test, and returns the `hand_ins` as `gather` does,
    the `files_of` each learner ({learner: names}), the names of those `left_out`, and in one text
    the `reasons` for that.
    """

    def collect(files, roster=None, zipped=False):
        if not isinstance(files, dict):
            # each gets a content of its own, which tells it apart below
            files = {file: f"{NOTEBOOK} {file}" for file in files}
        files = {
            file: content if isinstance(content, bytes) else content.encode()
            for file, content in files.items()
        }
        source = tmp_path / ("class.zip" if zipped else "class")
        if zipped:
            source.write_bytes(packed(files))
        else:
            for file, data in files.items():
                (source / file).parent.mkdir(parents=True, exist_ok=True)
                (source / file).write_bytes(data)
        (tmp_path / "unpacked").mkdir()
        if roster:
            (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
        people = read_roster(tmp_path / "roster.csv") if roster else None
        gathered = gather(source, tmp_path / "unpacked", people)
        files_of = {}
        for hand_in in gathered:
            files_of.setdefault(hand_in.learner, []).append(hand_in.file)
            if hand_in.path and hand_in.file in files:
                # whatever a test is about, no file has another's bytes
                assert hand_in.path.read_bytes() == files[hand_in.file], "not its own bytes"
        return SimpleNamespace(
            files_of=files_of,
            left_out=[file.file for file in gathered.left_out],
            reasons=" ".join(file.why for file in gathered.left_out),
            hand_ins=gathered,
        )

    return collect
