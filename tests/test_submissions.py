"""Reading hand-ins: what is passed over, unpacked or refused, and rosters.

`test_owners` is about whose they are.
"""

import os
import re
import stat
import zipfile

import pytest

from course_utils.tools.grading import handed_files
from course_utils.tools.grading.rosters import read_roster
from course_utils.tools.grading.submissions import gather
from course_utils.tools.grading.texts import for_messages

from .hand_ins import NOTEBOOK, collecting, packed  # noqa: F401


def test_one_learners_zip_does_not_fill_the_disk(collect, monkeypatch):
    monkeypatch.setattr(handed_files, "MOST_OF_ONE", 3)
    nine = packed({f"{number}.ipynb": NOTEBOOK for number in range(9)})
    hand_ins = collect({"eve.zip": nine, "ada.ipynb": NOTEBOOK}).hand_ins
    # Ada's, and Eve's first three
    assert sum(hand_in.path is not None for hand_in in hand_ins) == 1 + 3
    assert sum("it is one of" in hand_in.problem for hand_in in hand_ins) == 9 - 3


def test_files_of_one_name_are_kept_apart(collect):
    # the second path leads to the same name; the space is a content of its own
    hand_ins = collect(
        {"ada/mine.zip": packed({"04.ipynb": NOTEBOOK, "x/../04.ipynb": NOTEBOOK + " "})}
    ).hand_ins
    assert len({hand_in.file for hand_in in hand_ins}) == len(hand_ins) == 2


def test_of_a_full_zip_the_lessons_notebook_is_read(collect, monkeypatch):
    # the archive has 8 notebooks and 20 other files, and the lesson's notebook is the last of all
    monkeypatch.setattr(handed_files, "MOST_OF_ONE", 3)
    monkeypatch.setattr(handed_files, "MOST_MEMBERS_OF_ONE", 9)
    others = {f"a/{number}.ipynb": NOTEBOOK for number in range(7)}
    packages = {f"venv/lib/site-packages/x/{number}.py": "" for number in range(20)}
    hand_ins = collect(
        {"eve.zip": packed({**others, **packages, "z/04_pooling.ipynb": NOTEBOOK})}
    ).hand_ins
    assert "eve/z/04_pooling.ipynb" in [hand_in.file for hand_in in hand_ins if hand_in.path]


NOTHING_ELSE = ("", "", "", "")  # no name, e-mail address, login or SIS id
CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Pooling (4)
,,,,,Manual Posting
    Points Possible,,,,,14
"Lovelace, Ada",812,S1,al1,A,
"Student, Test",999,,,A,
"""


# people: {key: (name, e-mail address, login, SIS id)}
# {what a row is for: (a roster's text, the people in it)}
ROSTERS = {
    "Canvas": (CANVAS, {"812": ("Lovelace, Ada", "", "al1", "S1")}),
    "Moodle, blind": (
        "Identifier,Full name,Email address\nParticipant 812,,\nParticipant 813,,\n",
        {"812": NOTHING_ELSE, "813": NOTHING_ELSE},
    ),
    "Moodle, German": (
        "ID;Vollständiger Name;E-Mail-Adresse;Status\n"
        "Teilnehmer/in812;Ada Lovelace;a@x.org;Keine Abgabe\n",
        {"812": ("Ada Lovelace", "a@x.org", "", "")},
    ),
    "sep=": (
        # more commas than semicolons
        "sep=;\r\nVorname;Nachname;Anmeldename;Rolle, Ort, Raum, Tag, Zeit\r\nAda;Lovelace;al1\r\n",
        {"al1": ("Ada Lovelace", "", "", "")},
    ),
    "lines above": (
        'Kurs,"Embeddings, 2026"\n\nMatrikelnummer,Name\n7,Ada\n',
        {"7": ("Ada", "", "", "")},
    ),
    "the last heading below five lines": (
        "A\nB\nC\nD\nE\nWohnort,Matrikelnummer\nUlm,7\n",
        {"7": NOTHING_ELSE},
    ),
    "the word Participant": (
        "id\nParticipant\nparticipant x1\n",
        {"Participant": NOTHING_ELSE, "participant x1": NOTHING_ELSE},
    ),
    "semicolons": (
        "id;name;email\na1;Lovelace, Ada;a@x\n",
        {"a1": ("Lovelace, Ada", "a@x", "", "")},
    ),
    "tabs": ("id\tname\temail\na1\tLovelace, Ada\ta@x\n", {"a1": ("Lovelace, Ada", "a@x", "", "")}),
    "last name in Name": (
        "Matrikelnr.;Name;Vorname\n1;Weber;Simon Paul\n",
        {"1": ("Simon Paul Weber", "", "", "")},
    ),
    "first name that begins the last": (
        "id;Vorname;Name\n1;Jan;Jansen\n",
        {"1": ("Jan Jansen", "", "", "")},
    ),
    "first name in a name without spaces": (
        "id,first name,name\n1,明,王明\n",
        {"1": ("王明", "", "", "")},
    ),
    "first name in name": (
        "id,name,first name\n1,Simon Paul Weber,Simon Paul\n",
        {"1": ("Simon Paul Weber", "", "", "")},
    ),
    "a last name alone": ("id;Nachname\n1;Weber\n", {"1": ("Weber", "", "", "")}),
    "empty lines": ("id,name\n,\nada,Ada\n , \n,\n", {"ada": ("Ada", "", "", "")}),
}


@pytest.mark.parametrize("text, people", ROSTERS.values(), ids=ROSTERS)
def test_rosters_as_platforms_write_them(tmp_path, text, people):
    (tmp_path / "roster.csv").write_text(text, encoding="utf-8-sig", newline="")
    assert {
        key: (learner.name, learner.email, learner.login, learner.sis)
        for key, learner in read_roster(tmp_path / "roster.csv").items()
    } == people


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither such links nor pipes")
def test_links_are_not_followed(tmp_path):
    (tmp_path / "secret.ipynb").write_text(NOTEBOOK)
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "other.ipynb").write_text(NOTEBOOK)
    root = tmp_path / "class"
    (root / "eve").mkdir(parents=True)
    (root / "eve" / "04_pooling.ipynb").symlink_to(tmp_path / "secret.ipynb")
    (root / "mallory").symlink_to(tmp_path / "secrets")
    os.mkfifo(root / "eve" / "pipe.ipynb")
    hand_ins = gather(root, tmp_path)
    assert [hand_in.path for hand_in in hand_ins] == [None, None, None]
    assert all("not followed" in hand_in.problem for hand_in in hand_ins)


def test_archive_members_that_point_outside_stay_inside(collect, tmp_path):
    link = zipfile.ZipInfo("eve/04_pooling.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16  # the upper 16 bits: Unix type and rights
    # three that lead out of the folder, and an honest one
    names = ("../../evil.ipynb", "/etc/evil.ipynb", "a\\..\\..\\evil.ipynb", "ada/04_pooling.ipynb")
    hand_ins = collect(
        {**dict.fromkeys(names, NOTEBOOK), link: "/etc/passwd"}, zipped=True
    ).hand_ins
    written = [path for path in tmp_path.rglob("*") if path.name not in ("class.zip", "unpacked")]
    assert [path.parent for path in written] == [tmp_path / "unpacked"] * len(names)
    assert all(re.fullmatch(r"\d{6}\.ipynb", path.name) for path in written), "a number of ours"
    problems = {hand_in.learner: hand_in.problem for hand_in in hand_ins}
    assert {"ada": "", "eve": "it is a link, which is not followed"}.items() <= problems.items()


def test_bombs_are_not_unpacked(collect, tmp_path, monkeypatch):
    # one file of 900 bytes fits; two are too large for an archive, and Eve's is too large by itself
    monkeypatch.setattr(handed_files, "LARGEST", 1000)
    monkeypatch.setattr(handed_files, "LARGEST_ARCHIVE", 1500)
    files = {"ada/a.ipynb": " " * 900, "bob/b.ipynb": " " * 900, "eve/bomb.ipynb": " " * 10**6}
    problems = [
        hand_in.problem.partition(" than ")[0] for hand_in in collect(files, zipped=True).hand_ins
    ]
    assert problems == ["", "it unpacks to more", "it unpacks to more"]
    assert sum(path.stat().st_size for path in (tmp_path / "unpacked").iterdir()) == 900


def test_names_are_fit_for_messages():
    assert for_messages("ada\x00\n\u202egnp") == "ada\ufffd\ufffd\ufffdgnp"
    assert len(for_messages("a" * 500)) == 120, "cut to the default of `most`"
