"""Matching files to learners: folders, zips and rosters from learning platforms, and attacks."""

import os
import re
import stat
import zipfile

import pytest

from course_utils.tools.grading import submissions
from course_utils.tools.grading.owners import own_part
from course_utils.tools.grading.submissions import HandInError, gather, read_roster
from course_utils.tools.grading.untrusted import for_messages

NOTEBOOK = '{"cells": []}'


@pytest.fixture
def collect(tmp_path):
    """Write files and gather them: a list of (learner, file, problem)."""

    def collect(*files, roster=None, zipped=False):
        root = tmp_path / "class"
        for file in files:
            path = root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{NOTEBOOK} {file}")
        source = root
        if zipped:
            source = tmp_path / "class.zip"
            with zipfile.ZipFile(source, "w") as archive:
                for file in files:
                    archive.write(root / file, file)
        unpacked = tmp_path / "unpacked"
        unpacked.mkdir()
        people = None
        if roster:
            (tmp_path / "roster.csv").write_text(roster)
            people = read_roster(tmp_path / "roster.csv")
        found = gather(source, unpacked, people)
        for one in found:
            assert one.path is None or one.path.read_text() == f"{NOTEBOOK} {one.file}", "each file keeps its own bytes"
        return [(one.learner, one.name, one.problem) for one in found]

    return collect


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    "files, learners",
    [
        (["ada/04_pooling.ipynb", "bob/04_pooling.ipynb"], ["ada", "bob"]),
        (["submitted/ada/ps1/04_pooling.ipynb", "submitted/bob/ps1/04_pooling.ipynb"], ["ada", "bob"]),
        (["ada.ipynb", "bob.ipynb"], ["ada", "bob"]),
        (["04_pooling-ada.ipynb", "04_pooling bob (1).ipynb"], ["ada", "bob"]),
        (["ada_04_pooling.ipynb", "Zoë Ångström - 04_pooling.ipynb"], ["Zoë Ångström", "ada"]),
        (["ada/04_pooling.ipynb"], ["ada"]),
        (["04_pooling.ipynb", "05_attention.ipynb"], ["class", "class"]),
        (["04_pooling.ipynb", "glossary.ipynb"], ["class"]),
        (["ada/04_pooling.ipynb", "ada/glossary.ipynb"], ["ada"]),
        (["ada/week1/04_pooling.ipynb", "ada/week2/05_attention.ipynb", "bob/x.ipynb"], ["ada", "ada", "bob"]),
        (["李雷/04_pooling.ipynb", "=1+1/04_pooling.ipynb"], ["=1+1", "李雷"]),
    ],
)
def test_folders_and_file_names(collect, files, learners, zipped):
    assert [learner for learner, _, problem in collect(*files, zipped=zipped) if not problem] == learners


def test_moodle_and_canvas(collect):
    assert collect(
        "Ada Lovelace_4711_assignsubmission_file_/04_pooling.ipynb", "Bob Ray_4712_assignsubmission_file/my work.ipynb"
    ) == [("4711", "Ada Lovelace", ""), ("4712", "Bob Ray", "")]


def test_canvas(collect):
    assert collect("lovelaceada_812_99001_04_pooling-1.ipynb", "raybob_LATE_813_99002_04_pooling.ipynb") == [
        ("812", "lovelaceada", ""),
        ("813", "raybob", ""),
    ]


@pytest.mark.parametrize(
    "file",
    [
        "LOVELACE-ADA/04_pooling.ipynb",
        "al1815/04.ipynb",
        "04_pooling_al1815.ipynb",
        "Ada Lovelace_4711_assignsubmission_file_/a.ipynb",
        "deep/ada.lovelace/04_pooling.ipynb",
        "AL1815@example.org/x.ipynb",
    ],
)
def test_the_roster_says_who_is_who(collect, file):
    roster = (
        "Username,First name,Last name,Email "
        "address\nal1815,Ada,Lovelace,ada.lovelace@example.org\nlovelace-ada,,,\nbob,Bob,Ray,AL1815@example.org\n"
    )
    ((learner, name, _),) = collect(file, roster=roster)
    assert learner in {"al1815", "lovelace-ada"} or file.startswith("AL1815@") and learner == "bob"
    assert name in ("Ada Lovelace", "", "Bob Ray")


@pytest.mark.parametrize(
    "mine",
    [
        "bob_999_12345_x.ipynb",
        "V_4711_assignsubmission_file_/a.ipynb",
        "bob.ipynb",
        "bob/04_pooling.ipynb",
        "notes_2024_11_30.ipynb",
    ],
)
@pytest.mark.parametrize("roster", [None, "id,name\nbob,Bob\nmallory,Mal\nada,Ada\n"])
def test_no_file_within_a_learners_folder_makes_it_anothers(collect, mine, roster):
    found = collect(f"mallory/{mine}", "ada/04_pooling.ipynb", roster=roster)
    assert [learner for learner, _, _ in found] == ["ada", "mallory"]


def test_nor_within_a_folder_of_the_platform(collect):
    files = ["Mallory M_111_assignsubmission_file_/bob.ipynb", "Bob_222_assignsubmission_file_/x_222_9999_y.ipynb"]
    assert [learner for learner, _, _ in collect(*files, roster="id,name\nbob,Bob\n")] == ["111", "bob"]


@pytest.mark.parametrize(
    "files, learners",
    [
        (["ada/lesson-04/04_pooling.ipynb"], ["ada"]),
        (["ada/lesson-04/04_pooling.ipynb", "ada/lesson-05/05_attention.ipynb"], ["ada", "ada"]),
        (
            ["lesson-04/ada/04_pooling.ipynb", "lesson-05/ada/05_attention.ipynb", "lesson-04/bob/a.ipynb"],
            ["ada", "ada", "bob"],
        ),
        (["ada/04_pooling-Copy1.ipynb", "bob/04_pooling.ipynb", "roster.csv", "README.md"], ["ada", "bob"]),
        (
            ["Ada Lovelace_4711_assignsubmission_file_04_pooling.ipynb", "Bob_4712_assignsubmission_file_x.ipynb"],
            ["4711", "4712"],
        ),
        (["wrapper/ada.ipynb", "wrapper/bob.ipynb"], ["ada", "bob"]),
    ],
)
def test_more_layouts(collect, files, learners):
    assert [learner for learner, _, problem in collect(*files) if not problem] == learners


def test_the_roster_is_careful(collect):
    roster = "id,name,email\n1,Anna Schmidt,max@x.org\n2,Anna Schmidt,\nmax,Max,\n3,Ada Lovelace,\n"
    files = ["Anna Schmidt_77_assignsubmission_file_/a.ipynb", "max/b.ipynb", "lovelaceada_812_99001_04_pooling.ipynb"]
    assert [learner for learner, _, _ in collect(*files, roster=roster)] == ["3", "77", "max"], (
        "what two could claim, nobody gets"
    )


def test_a_damaged_zip_of_one_learner_stops_nobody(tmp_path):
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "04_pooling.ipynb").write_text(NOTEBOOK)
    path = archive_of(tmp_path / "class", ("work/04_pooling.ipynb", os.urandom(5000)), name="bob.zip")
    data = bytearray(path.read_bytes())
    data[100:400] = bytes(300)  # inside the compressed bytes
    path.write_bytes(data)
    (tmp_path / "unpacked").mkdir()
    found = {one.learner: one.problem for one in gather(tmp_path / "class", tmp_path / "unpacked")}
    assert found["ada"] == "" and "cannot be unpacked" in found["bob"] and list((tmp_path / "unpacked").iterdir()) == []


def test_one_learners_zip_does_not_fill_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(submissions, "MOST_OF_ONE", 3)
    (tmp_path / "class").mkdir()
    archive_of(tmp_path / "class", *((f"{number}.ipynb", NOTEBOOK) for number in range(9)), name="eve.zip")
    (tmp_path / "class" / "ada.ipynb").write_text(NOTEBOOK)
    (tmp_path / "unpacked").mkdir()
    found = gather(tmp_path / "class", tmp_path / "unpacked")
    assert sum(one.path is not None for one in found) == 4 and sum("too many" in one.problem for one in found) == 6


def test_files_of_one_name_are_kept_apart_and_results_are_no_hand_ins(tmp_path):
    for folder in ("class/ada", "class/results/feedback", "unpacked"):
        (tmp_path / folder).mkdir(parents=True)
    archive_of(tmp_path / "class" / "ada", ("04.ipynb", NOTEBOOK), ("x/../04.ipynb", NOTEBOOK + " "), name="mine.zip")
    (tmp_path / "class" / "results" / "feedback" / "04.ipynb").write_text(NOTEBOOK)
    found = gather(tmp_path / "class", tmp_path / "unpacked", skip=[tmp_path / "class" / "results"])
    assert len({one.file for one in found}) == len(found) == 2 and {one.learner for one in found} != {"results"}


def test_a_roster_with_semicolons(tmp_path):
    (tmp_path / "roster.csv").write_text("id;name;email\nada;Lovelace, Ada;a@x.org\n", encoding="utf-8-sig")
    assert read_roster(tmp_path / "roster.csv")["ada"].name == "Lovelace, Ada"


def test_what_is_no_hand_in_is_passed_over_and_what_is_none_is_told(collect):
    assert collect(
        "ada/04_pooling.ipynb",
        "ada/.ipynb_checkpoints/04_pooling-checkpoint.ipynb",
        "ada/notes.txt",
        "__MACOSX/ada/._04_pooling.ipynb",
        "bob/essay.docx",
    ) == [("ada", "", ""), ("bob", "", "essay.docx is not a notebook")]


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "no learners"),
        ("id,name\n", "no learners"),
        ("colour\nblue\n", "no id and no email in line 2"),
        ("id\nada\nada\n", "twice (again in line 3)"),
        ("id\n\xff", None),
    ],
)
def test_bad_rosters(tmp_path, text, words):
    (tmp_path / "roster.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(HandInError, match=words and words.replace("(", r"\(").replace(")", r"\)")):
        read_roster(tmp_path / "roster.csv")
    with pytest.raises(HandInError, match="No such file"):
        read_roster(tmp_path / "nowhere.csv")


def test_links_are_not_followed(tmp_path):
    (tmp_path / "secret.ipynb").write_text(NOTEBOOK)
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "other.ipynb").write_text(NOTEBOOK)
    root = tmp_path / "class"
    (root / "eve").mkdir(parents=True)
    (root / "eve" / "04_pooling.ipynb").symlink_to(tmp_path / "secret.ipynb")
    (root / "mallory").symlink_to(tmp_path / "secrets")
    os.mkfifo(root / "eve" / "pipe.ipynb")
    found = gather(root, tmp_path)
    assert [one.path for one in found] == [None, None, None] and all("not followed" in one.problem for one in found)


def archive_of(tmp_path, *members, name="class.zip"):
    path = tmp_path / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members:
            archive.writestr(member, data)
    return path


def test_archive_members_that_point_outside_stay_inside(tmp_path):
    link = zipfile.ZipInfo("eve/04_pooling.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = archive_of(
        tmp_path,
        ("../../evil.ipynb", NOTEBOOK),
        ("/etc/evil.ipynb", NOTEBOOK),
        ("a\\..\\..\\evil.ipynb", NOTEBOOK),
        (link, "/etc/passwd"),
        ("ada/04_pooling.ipynb", NOTEBOOK),
    )
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    before = sorted(tmp_path.rglob("*"))
    found = gather(path, unpacked)
    new = [one for one in sorted(tmp_path.rglob("*")) if one not in before]
    assert len(new) == 4 and all(re.fullmatch(r"\d{6}\.ipynb", one.name) and one.parent == unpacked for one in new)
    assert [one.problem for one in found if one.learner == "eve"] == ["it is a link, which is not followed"]
    assert "ada" in {one.learner for one in found}


def test_bombs_are_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(submissions, "LARGEST", 1000)
    monkeypatch.setattr(submissions, "LARGEST_ARCHIVE", 1500)
    path = archive_of(tmp_path, ("ada/a.ipynb", " " * 900), ("bob/b.ipynb", " " * 900), ("eve/bomb.ipynb", " " * 10**6))
    (tmp_path / "unpacked").mkdir()
    found = {one.learner: one.problem for one in gather(path, tmp_path / "unpacked")}
    assert found["ada"] == "" and "unpacks to more than" in found["bob"] and "unpacks to more than" in found["eve"]
    assert sum(one.stat().st_size for one in (tmp_path / "unpacked").iterdir()) == 900


def test_a_zip_handed_in_by_one_learner(tmp_path):
    (tmp_path / "class" / "ada").mkdir(parents=True)
    archive_of(tmp_path / "class" / "ada", ("work/04_pooling.ipynb", NOTEBOOK), name="mine.zip")
    (tmp_path / "class" / "bob").mkdir()
    (tmp_path / "class" / "bob" / "broken.zip").write_bytes(
        archive_of(tmp_path, ("a.ipynb", "x" * 99)).read_bytes()[:-30] + b"\0" * 30
    )
    (tmp_path / "unpacked").mkdir()
    assert [(one.learner, one.file) for one in gather(tmp_path / "class", tmp_path / "unpacked") if one.path] == [
        ("ada", "ada/mine/work/04_pooling.ipynb")
    ]


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda path: None, "There is no"),
        (lambda path: path.mkdir(), "no hand-ins"),
        (lambda path: path.write_text("x"), "neither a folder"),
    ],
)
def test_nothing_to_mark(tmp_path, make, words):
    make(tmp_path / "source")
    with pytest.raises(HandInError, match=words):
        gather(tmp_path / "source", tmp_path)


def test_names_are_fit_to_be_for_messages():
    assert for_messages("ada\x00\n\u202egnp") == "ada\ufffd\ufffd\ufffdgnp"
    assert len(for_messages("a" * 500)) == 120
    assert (
        own_part("04_pooling-ada (2)") == "ada"
        and own_part("04_pooling - Copy") == ""
        and own_part("05_attention") == ""
    )
