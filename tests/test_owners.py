"""Which learner each hand-in belongs to: platform downloads, rosters and expected owners, with some attacks."""

import re
import time
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.tools.grading import handed_files
from course_utils.tools.grading.handed_files import HandedFile, LeftOut
from course_utils.tools.grading.owners import Owners
from course_utils.tools.grading.results import GradeError
from course_utils.tools.grading.rosters import Learner
from course_utils.tools.grading.submissions import gather
from course_utils.tools.grading.texts import for_keys

from .hand_ins import NOTEBOOK, collecting, packed  # noqa: F401

CANVAS = "lovelaceada_812_99001_04_pooling.ipynb"
MOODLE = "Ada Lovelace_4711_assignsubmission_file_/04_pooling.ipynb"
STEALS = [  # (hers, his, roster): his file name can also be read as hers
    (CANVAS, "mallorym_813_99002_x_812_assignsubmission_y.ipynb", None),
    (
        CANVAS,
        "mallorym_813_99002_x_812_assignsubmission_file_y.ipynb",
        "id,name\n812,Ada Lovelace\n813,Mallory M\n",
    ),
    (CANVAS, "mallorym_813_99002_x_812_99001_y.ipynb", None),
    (CANVAS, "mallorym_LATE_813_99002_x_812_99001_y.ipynb", None),
    (CANVAS, "x_812_813_99002_y.ipynb", None),
    (CANVAS, "lovelaceada_812_813_99002_y.ipynb", None),
    (CANVAS, "x_812_1_813_99002_y.ipynb", "id,name\n812,Ada Lovelace\n813,Mallory M\n"),
    (CANVAS, "x_812_99005__813_99002_y.ipynb", None),
    (CANVAS, "mallorym_813_99002_x_812_assignsubmission_y.zip", None),
    (MOODLE, "Mallory_4712_assignsubmission_file_x_4711_assignsubmission_file_y.ipynb", None),
    (MOODLE, "x_4711_assignsubmission_file__4712_assignsubmission_file_/y.ipynb", None),
    (MOODLE, "x_4711_4712_assignsubmission_file_/y.ipynb", None),
    (MOODLE, "Mallory_4712_assignsubmission_file_x_4711_99001_y.ipynb", None),
]


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("hers, his, roster", STEALS)
def test_a_name_that_can_be_read_as_anothers_gets_nothing(collect, hers, his, roster, zipped):
    content = packed({"04_pooling.ipynb": NOTEBOOK}) if his.endswith(".zip") else NOTEBOOK
    other = (
        "carolc_900_99009_z.ipynb"
        if hers == CANVAS
        else "Carol_4900_assignsubmission_file_/z.ipynb"
    )
    found = collect({hers: NOTEBOOK, his: content, other: NOTEBOOK}, roster, zipped)
    assert found.has["812" if hers == CANVAS else "4711"] == [hers] and len(found.has) == 2
    assert (
        len(found.out) == 1
        and found.out[0].startswith(his.partition("/")[0].removesuffix(".zip"))
        and found.why
    )


ROSTER = "id,name\n812,Ada Lovelace\n813,Bob Ray\n"
SIS = "id,name\nal1,Ada Lovelace\nbr2,Bob Ray\n12,Carol Oz\n"
EMAILS = """Username,First name,Last name,Email address
al1815,Ada,Lovelace,ada.lovelace@example.org
lovelace-ada,,,
bob,Bob,Ray,AL1815@example.org
"""
CLAIMED_TWICE = (
    "id,name,email\n1,Anna Schmidt,max@x.org\n2,Anna Schmidt,\nmax,Max,\n3,Ada Lovelace,\n"
)
ALIKE = """id,name,email,Student ID
1,Anna Berger,anna@x.org,70011
2,Anna Luise Schmitt,als@x.org,70012
3,Lena Schmitt,,70013
4,Maria Øberg,,70014
5,Jörg Łem,,70015
"""
ROSTERS = {
    "ALIKE": ALIKE,
    "-": None,
    "SIS": SIS,
    "ROSTER": ROSTER,
    "EMAILS": EMAILS,
    "CLAIMED_TWICE": CLAIMED_TWICE,
}
ORDINARY = f"""{CANVAS}
lovelaceada_812_99001_notes_2024_11_30.ipynb
lovelaceada_812_99001_2024_11_30_notes.ipynb
lovelaceada_LATE_812_99001_04_pooling-1.ipynb
lovelaceada_812_99001_12345678_pooling.ipynb
lovelaceada_812_99001_20241130_pooling.ipynb
lovelaceada_812_99001_notes_4_500_x.ipynb
ångströmzoë_812_99001_x.ipynb
李雷_812_99001_x.ipynb
lovelace-ada_812_99001_x.ipynb
s_lovelace_812_99001_x.ipynb
lovelaceada_812_99001_mine_812_99001_x.ipynb"""


@pytest.mark.parametrize("roster", [None, ROSTER])
@pytest.mark.parametrize("file", ORDINARY.splitlines())
def test_an_ordinary_hand_in_of_an_ordinary_download(collect, file, roster):
    found = collect([file, "raybob_813_99002_04_pooling.ipynb"], roster)
    assert sorted(found.has) == ["812", "813"] and not found.out


ZOE = "Zoe\u0308/x.ipynb"  # with a letter and an accent, as macOS writes it
# learners of the hand-ins in order ; how many files are left out ; the roster, or its ids ; files
WHO_GETS_WHAT = """
# the roster, and identical names
al1 ; 0 ; SIS ; Ada Lovelace_77_assignsubmission_file_/a.ipynb
br2 ; 2 ; SIS ; Ada Lovelace_77_assignsubmission_file_/a.ipynb | Ada Lovelace_78_assignsubmission_file_/a.ipynb |
    Bob Ray_79_assignsubmission_file_/b.ipynb
lovelace-ada ; 0 ; EMAILS ; LOVELACE-ADA/04_pooling.ipynb
al1815 ; 0 ; EMAILS ; al1815/04.ipynb
al1815 ; 0 ; EMAILS ; 04_pooling_al1815.ipynb
al1815 ; 0 ; EMAILS ; Ada Lovelace_4711_assignsubmission_file_/a.ipynb
al1815 ; 0 ; EMAILS ; deep/ada.lovelace/04_pooling.ipynb
bob ; 0 ; EMAILS ; AL1815@example.org/x.ipynb
3 | 77 | max ; 0 ; CLAIMED_TWICE ; Anna Schmidt_77_assignsubmission_file_/a.ipynb | max/b.ipynb |
    lovelaceada_812_99001_04_pooling.ipynb
# no file within a learner's folder makes it another's
ada | mallory ; 0 ; - ; ada/04_pooling.ipynb | mallory/bob_999_12345_x.ipynb
ada | mallory ; 0 ; - ; ada/04_pooling.ipynb | mallory/V_4711_assignsubmission_file_/a.ipynb
ada | mallory ; 0 ; - ; ada/04_pooling.ipynb | mallory/bob.ipynb
ada | mallory ; 0 ; - ; ada/04_pooling.ipynb | mallory/bob/04_pooling.ipynb
ada | mallory ; 0 ; - ; ada/04_pooling.ipynb | mallory/notes_2024_11_30.ipynb
ada | mallory | mallory | mallory ; 0 ; bob mallory ada ; ada/04_pooling.ipynb | mallory/bob_999_12345_x.ipynb |
    mallory/V_4711_assignsubmission_file_/a.ipynb | mallory/notes_2024_11_30.ipynb
ada | mallory | mallory ; 0 ; bob mallory ada ; ada/04_pooling.ipynb | mallory/bob.ipynb | mallory/bob/04_pooling.ipynb
111 | bob ; 0 ; bob ; Mallory M_111_assignsubmission_file_/bob.ipynb |
    Bob_222_assignsubmission_file_/x_222_9999_y.ipynb
# refused files do not cast doubt on others
al1 ; 1 ; SIS ; lovelaceada_812_99001_04_pooling.ipynb | lovelaceada_4712_assignsubmission__813_99002_y.ipynb
813 ; 0 ; ROSTER ; Ada Lovelace_813_assignsubmission_file_/a.ipynb
812 ; 1 ; ROSTER ; Ada Lovelace_812_assignsubmission_file_/a.ipynb | Ada Lovelace_900_assignsubmission_file_/a.ipynb
4712 ; 0 ; - ; Bob_4712_assignsubmission_file_notes_2024_11_300_x.ipynb
4711 ; 0 ; - ; Ada_4711_assignsubmission_file_/Bob_4712_assignsubmission_file_/x.ipynb
ada ; 1 ; ada bob ; bob_for_ada.ipynb | ada.ipynb
ada ; 2 ; ada bob ; bob_for_ada/x.ipynb | ada/x.ipynb | bob_for_ada.docx
ada_lovelace_12 | bob ; 0 ; - ; ada_lovelace_12.ipynb | bob.ipynb
al1 | x ; 0 ; SIS ; Ada_Lovelace_2.ipynb | x.ipynb
al1 | x ; 0 ; SIS ; ada_lovelace_12.ipynb | x.ipynb
A-B | a.b | ab ; 0 ; a.b ab ; a.b/x.ipynb | ab/x.ipynb | A-B/x.ipynb
AB | ab ; 0 ; AB ab ; AB/x.ipynb | ab/x.ipynb
ada_2024_11_30 | bob_2024_11_30 ; 0 ; - ; ada_2024_11_30.ipynb | bob_2024_11_30.ipynb
3 ; 2 ; - ; ada_2_101_final.ipynb | bob_2_101_final.ipynb | carol_3_102_final.ipynb
# numbers: lessons or learners?
01 | 02 | 12_smith ; 0 ; 01 02 12_smith ; 01/04_pooling.ipynb | 02/04_pooling.ipynb | 12_smith/04_pooling.ipynb
01 | 02 | 12_smith ; 0 ; - ; 01/04_pooling.ipynb | 02/04_pooling.ipynb | 12_smith/04_pooling.ipynb
01 ; 0 ; - ; 01/04_pooling.ipynb
01 | 02 ; 0 ; - ; 01/work.ipynb | 02/work.ipynb
01 | 17 ; 0 ; - ; 01/a.ipynb | 17/b.ipynb
04 | 05 ; 0 ; - ; 04/04_pooling.ipynb | 05/05_attention.ipynb
ada | ada | bob ; 0 ; - ; lesson-04/ada.ipynb | hw4/bob.ipynb | lesson 05/ada.ipynb
812 | 812 ; 0 ; - ; lesson-04/lovelaceada_812_99001_x.ipynb | lesson-05/lovelaceada_812_99003_x.ipynb
ada | ada | bob | bob ; 0 ; - ; ps4/ada/x.ipynb | 14_capstone/ada/x.ipynb | lesson-05/bob/x.ipynb |
    week 12/bob/x.ipynb
04 | 05 ; 0 ; 04 05 ; 04/ada/x.ipynb | 05/bob/x.ipynb
ada | hw1023 | ps123456 ; 0 ; - ; ps123456/x.ipynb | hw1023/x.ipynb | ps1/ada/x.ipynb
ada | ada | bob ; 0 ; - ; ada/01/04_pooling.ipynb | ada/02/04_pooling.ipynb | bob/x.ipynb
# skipped files are reported
ada | bob ; 0 ; - ; ada/.04_pooling.ipynb.icloud | bob/x.ipynb
ada ; 2 ; - ; ada/x.ipynb | .bob/x.ipynb | ada/.y.ipynb | .eve.ipynb
4711 | 4712 ; 0 ; - ; .Ada_4711_assignsubmission_file_/x.ipynb | Bob_4712_assignsubmission_file_/x.ipynb
ada ; 0 ; - ; ada/x.ipynb | roster.csv | README.md | .DS_Store | ada/data.csv | ada/picture.png
ada ; 2 ; - ; ada/x.ipynb | ada/more.7z | essay.docx
813 | ada ; 0 ; - ; ada.ipynb | raybob_813_99002_essay.docx
ada | bob ; 0 ; - ; README.md | ada/x.ipynb | bob/README.md
# as some browsers save them
812 | 813 ; 0 ; - ; lovelaceada_812_99001_04_pooling.ipynb.txt | raybob_813_99002_04_pooling.ipynb.json
ada | bob ; 0 ; - ; ada.ipynb.txt | bob.ipynb.json
# names between other words and signs, and behind those of groups
al1 | br2 ; 0 ; SIS ; Ada Lovelace - hand-in/x.ipynb | Ray, Bob (04)/x.ipynb
al1 | br2 ; 0 ; SIS ; 48120-99001 - Ada Lovelace - 4 December, 2026 603 PM/x.ipynb | hw4-br2/x.ipynb
al1 | br2 ; 0 ; SIS ; hw4-al1.ipynb | 2026-12-04_Bob.Ray_final.ipynb
al1815 | bob ; 0 ; EMAILS ; ada.lovelace@example.org 4/x.ipynb | [Ray] Bob/x.ipynb
al1 | br2 ; 0 ; SIS ; Team 3-Ada Lovelace_812_assignsubmission_file_/x.ipynb |
    Team 3-Bob Ray_813_assignsubmission_file_/x.ipynb
al1 ; 2 ; SIS ; Ada Lovelace/x.ipynb | Bob Ray and Carol Oz/x.ipynb | Bob Ray, Carol Oz.ipynb
# names, numbers and given names of others within a name
1 | Anna Schmitt ; 0 ; ALIKE ; Anna Berger/x.ipynb | Anna Schmitt/x.ipynb
3 ; 1 ; ALIKE ; Lena Schmitt/x.ipynb | Anna Luise Lena Schmitt/x.ipynb
3 | 71 ; 0 ; ALIKE ; Anna-Lena Schmitt_71_assignsubmission_file_/x.ipynb |
    Lena Schmitt_73_assignsubmission_file_/x.ipynb
4 | Ada King - Blatt 3 ; 0 ; ALIKE ; Ada King - Blatt 3/x.ipynb | Maria Øberg - Blatt 3/x.ipynb
4 | Assignment_who_attempt_2026-12-04-05-04-03_x ; 0 ; ALIKE ; Assignment_who_attempt_2026-12-04-05-04-03_x.ipynb |
    Maria Oeberg - 4 December, 2026 503 PM/x.ipynb
2 | 5 ; 0 ; ALIKE ; hw4-70012/x.ipynb | Lem_Joerg.ipynb
# two assignments: a platform gives everybody another number for each
al1 | al1 | br2 | br2 ; 0 ; SIS ; Pooling/Ada Lovelace_71_assignsubmission_file_/04_pooling.ipynb |
    Pooling/Bob Ray_72_assignsubmission_file_/04_pooling.ipynb |
    Benchmark/Ada Lovelace_81_assignsubmission_file_/a.ipynb | Benchmark/Bob Ray_82_assignsubmission_file_/a.ipynb
al1 | al1 | br2 | br2 ; 0 ; SIS ; Ada Lovelace_71_assignsubmission_file_/04_pooling.ipynb |
    Bob Ray_72_assignsubmission_file_/04_pooling.ipynb |
    Ada Lovelace_81_assignsubmission_file_/08_similarity_benchmark.ipynb |
    Bob Ray_82_assignsubmission_file_/08_similarity_benchmark.ipynb
br2 ; 2 ; SIS ; Ada Lovelace_71_assignsubmission_file_/04_pooling.ipynb |
    Bob Ray_72_assignsubmission_file_/04_pooling.ipynb | Ada Lovelace_73_assignsubmission_file_/04_pooling.ipynb
812 | 812 | 813 | 813 ; 0 ; - ; Pooling/lovelaceada_812_99001_x.ipynb | Pooling/raybob_813_99002_x.ipynb |
    Benchmark/lovelaceada_812_99003_x.ipynb | Benchmark/raybob_813_99004_x.ipynb
al1 | al1 | br2 | br2 ; 0 ; SIS ; Pooling/Ada Lovelace/x.ipynb | Pooling/br2/x.ipynb | Benchmark/al1/x.ipynb |
    Benchmark/Bob Ray/x.ipynb
# layouts of folders and of file names
ada | bob ; 0 ; - ; ada/04_pooling.ipynb | bob/04_pooling.ipynb
ada | bob ; 0 ; - ; submitted/ada/ps1/04_pooling.ipynb | submitted/bob/ps1/04_pooling.ipynb
ada | bob ; 0 ; - ; ada.ipynb | bob.ipynb
ada | bob ; 0 ; - ; 04_pooling-ada.ipynb | 04_pooling bob (1).ipynb
Zoë Ångström | ada ; 0 ; - ; ada_04_pooling.ipynb | Zoë Ångström - 04_pooling.ipynb
ada ; 0 ; - ; ada/04_pooling.ipynb
class | class ; 0 ; - ; 04_pooling.ipynb | 05_attention.ipynb
class ; 0 ; - ; 04_pooling.ipynb | glossary.ipynb
ada ; 0 ; - ; ada/04_pooling.ipynb | ada/glossary.ipynb
ada | ada | bob ; 0 ; - ; ada/week1/04_pooling.ipynb | ada/week2/05_attention.ipynb | bob/x.ipynb
=1+1 | 李雷 ; 0 ; - ; 李雷/04_pooling.ipynb | =1+1/04_pooling.ipynb
ada ; 0 ; - ; ada/lesson-04/04_pooling.ipynb
ada | ada ; 0 ; - ; ada/lesson-04/04_pooling.ipynb | ada/lesson-05/05_attention.ipynb
ada | ada | bob ; 0 ; - ; lesson-04/ada/04_pooling.ipynb | lesson-05/ada/05_attention.ipynb | lesson-04/bob/a.ipynb
ada | bob ; 0 ; - ; ada/04_pooling-Copy1.ipynb | bob/04_pooling.ipynb | roster.csv | README.md
4711 | 4712 ; 0 ; - ; Ada Lovelace_4711_assignsubmission_file_04_pooling.ipynb |
    Bob_4712_assignsubmission_file_x.ipynb
ada | bob ; 0 ; - ; wrapper/ada.ipynb | wrapper/bob.ipynb
"""


def rows(text):
    """The cases of the table. An indented line continues the one above."""
    for line in re.sub(r"\n +", " ", text).strip().splitlines():
        if not line.startswith("#"):
            learners, out, roster, files = line.split(" ; ")
            ids = "\n".join(["id", *roster.split(), ""])
            yield files.split(" | "), ROSTERS.get(roster, ids), learners.split(" | "), int(out)


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    "files, roster, learners, out",
    [
        *rows(WHO_GETS_WHAT),
        (
            ["ada/x.ipynb", *(f"bob/{number}.png" for number in range(102))],
            None,
            ["ada", *["bob"] * 101],
            0,
        ),
        # names that look alike
        (["कि/x.ipynb", "का/x.ipynb"], "id,name\n1,कि\n", ["1", "का"], 0),
        (
            [
                f"ada{hidden}/x.ipynb"
                for hidden in ("", " ", "\u202e", "\u202d", "\u200b", "\u2060")
            ],
            None,
            6,
            0,
        ),
        ([f"{name}/x.ipynb" for name in ("ada", "ADA", "аda")], None, 3, 0),
        (["a" * 121 + "1/x.ipynb", "a" * 121 + "2/x.ipynb", "a" * 120 + "/x.ipynb"], None, 3, 0),
        (
            [
                *(
                    f"{one}{name}"
                    for one in ("", "Zoe\u0308/")
                    for name in ("Thumbs.db", "desktop.ini", "._x.ipynb")
                ),
                ZOE,
            ],
            *("id,name\n1,Zoë\n2,B\n", ["1"], 0),
        ),
    ],
)
def test_who_gets_what(collect, files, roster, learners, out, zipped):
    found = collect(files, roster, zipped)
    if isinstance(learners, int):
        assert len(found.has) == learners and all(len(files) == 1 for files in found.has.values())
    else:
        assert sorted(one.learner for one in found.found) == learners
    assert len(found.out) == out, found.out


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    "file",
    [
        *("bob/x.ipynb", "../bob/x.ipynb", "/bob/x.ipynb", "bob\\..\\x.ipynb"),
        *("raybob_813_99002_x.ipynb", "Bob_813_assignsubmission_file_/x.ipynb"),
    ],
)
@pytest.mark.parametrize("name", ["ada/work.zip", "ada.zip", "lovelaceada_812_99001_work.zip"])
def test_what_is_in_a_learners_zip_is_hers(collect, name, file, zipped):
    # without one, it might be the class's archive
    roster = "id\nada\nbob\n" if name == "ada.zip" else None
    found = collect({name: packed([(file, NOTEBOOK), ("ada2/y.ipynb", NOTEBOOK)])}, roster, zipped)
    assert list(found.has) == ["812" if "812" in name else "ada"]


def test_whose_a_file_may_be_is_kept(collect):
    left = collect(["bob_for_ada.ipynb", "ada.ipynb"], "id\nada\nbob\n").found.left_out
    assert [one.maybe for one in left] == [("bob", "ada")]


def test_the_platforms_zip_may_lie_in_a_folder(collect):
    inner = {
        MOODLE: NOTEBOOK,
        "Bob_4712_assignsubmission_file_/x.zip": packed({"x.ipynb": NOTEBOOK}),
    }
    assert sorted(collect({"download.zip": packed(inner)}).has) == ["4711", "4712"]


@pytest.mark.parametrize(
    "beside", [[], ["later/Ada Lovelace_91_assignsubmission_file_/01_tokenization.ipynb"]]
)
def test_the_platforms_zips_of_two_assignments_may_lie_in_a_folder(collect, beside):
    name = "{}_{}_assignsubmission_file_/{}.ipynb"
    first = {
        name.format(who, number, "04_pooling"): NOTEBOOK
        for who, number in (("Ada Lovelace", 71), ("Bob Ray", 72))
    }
    second = {
        name.format("Ada Lovelace", 81, "x"): NOTEBOOK,
        name.format("Bob Ray", 82, "y"): NOTEBOOK,
    }
    zips = {"Course-Pooling-4711.zip": packed(first), "Course-Benchmark-4712.zip": packed(second)}
    found = collect({**zips, **dict.fromkeys(beside, NOTEBOOK)}, SIS)
    assert {who: len(files) for who, files in found.has.items()} == {
        "al1": 2 + len(beside),
        "br2": 2,
    }
    assert not found.out


def test_a_moodle_zip_with_one_hand_in_is_no_learners(collect):
    ada, bob = (
        "Ada Lovelace_81_assignsubmission_file_/a.ipynb",
        "Bob Ray_72_assignsubmission_file_/a.ipynb",
    )
    mine = ada.replace("81", "71")
    found = collect(
        {"one.zip": packed({mine: NOTEBOOK, bob: NOTEBOOK}), "two.zip": packed({ada: NOTEBOOK})},
        SIS,
    )
    assert {learner: len(files) for learner, files in found.has.items()} == {
        "al1": 2,
        "br2": 1,
    } and not found.out


def test_learners_zips_side_by_side_are_theirs(collect):
    stolen = {
        "Bob_813_assignsubmission_file_/x.ipynb": NOTEBOOK,
        "y/Carol_814_assignsubmission_file_/y.ipynb": NOTEBOOK,
    }
    files = {"ada.zip": packed({"04_pooling.ipynb": NOTEBOOK}), "mallory.zip": packed(stolen)}
    assert sorted(collect(files).has) == ["ada", "mallory"]


def test_a_zip_within_a_zip_is_opened_once(collect):
    inner = packed({"y.ipynb": NOTEBOOK})
    hers = packed({"x.ipynb": NOTEBOOK, "more.zip": inner})
    found = collect(
        {"ada.zip": hers, "bob/b.zip": packed({"b.zip": inner}), "eve.zip": b"PK\3\4 torn"},
        None,
        True,
    )
    assert found.has == {"ada": ["ada/x.ipynb"], "bob": ["bob/b/b.zip"], "eve": ["eve"]}
    assert found.out == ["ada/more.zip"]
    problems = {one.learner: one.problem for one in found.found}
    assert "b.zip is not a notebook" in problems["bob"] and "cannot be unpacked" in problems["eve"]


def test_data_are_no_notebooks(collect):
    data = {"data.json": '{"metadata": {"rows": 3}}', "notes.txt": NOTEBOOK, "LICENSE": "MIT"}
    found = collect({"ada.ipynb": NOTEBOOK, **data})
    assert list(found.has) == ["ada"] and found.out == ["data.json", "notes.txt"]


@pytest.mark.parametrize("others", [[], ["bob/x.ipynb"], ["ADA/x.ipynb", "ada\u202d/x.ipynb"]])
def test_a_learners_key_does_not_depend_on_others(collect, others):
    assert for_keys("ada\u202e") in collect(["ada\u202e/x.ipynb", *others]).has


def test_two_texts_never_become_one():
    texts = ["ada", "ada ", " ada", "ada\u202e", "ada\u202d", "ada\ufffd", "ad\udce9", "", " "]
    texts += [
        *("a" * length for length in (120, 121, 122)),
        for_keys("ada "),
        for_keys("ada\u202e"),
    ]
    assert len({for_keys(text) for text in texts}) == len(texts) and for_keys("ada") == "ada"
    assert all(len(for_keys(text)) <= 120 for text in texts)


def test_files_of_one_name_are_all_different_and_long_names_too(collect):
    files = [f"ada/{'a' * 200}/{'b' * 200}/{name}.ipynb" for name in "xy"]
    found = collect([*files, "bob/x.ipynb"])
    assert len(set(found.has["ada"])) == 2 and all(len(file) <= 300 for file in found.has["ada"])


MANY = {
    "ada/04_pooling.ipynb": 16_000,
    "ada/notes.png": 16_000,
    "{}/04_pooling.ipynb": 3_000,
    "ada/{}.ipynb": 3_000,
}


@pytest.mark.parametrize("name", MANY)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_16000_members_take_no_time_and_are_bounded(tmp_path, name):
    members = [
        ("bob/x.ipynb", NOTEBOOK),
        *((name.format(one), NOTEBOOK) for one in range(MANY[name])),
    ]
    (tmp_path / "class.zip").write_bytes(packed(members, zipfile.ZIP_STORED))
    (tmp_path / "unpacked").mkdir()
    start = time.process_time()
    found = gather(tmp_path / "class.zip", tmp_path / "unpacked")
    assert time.process_time() - start < 2
    mine = [one for one in found if one.learner == "ada"]
    assert "bob" in {one.learner for one in found} and len(mine) <= 100 + 2 * 20
    if name.startswith("ada/") and name.endswith(".ipynb"):
        assert sum(one.path is not None for one in mine) == 100
        assert any(re.search("too many|at most 100", one.problem) for one in mine)


@pytest.mark.parametrize(
    "members, problem",
    [
        ([(f"{number}.ipynb", NOTEBOOK) for number in range(20)], "20 members"),
        ([(f"{number:060000d}.txt", "") for number in range(300)], "directory is too long"),
    ],
    ids=["many", "long"],
)
def test_what_is_too_large_to_be_looked_at_is_its_learners_problem(
    collect, monkeypatch, members, problem
):
    monkeypatch.setattr(handed_files, "MOST_MEMBERS", 30)
    monkeypatch.setattr(handed_files, "MOST_MEMBERS_OF_ONE", 10)
    files = {"ada.zip": packed(members), "bob.ipynb": NOTEBOOK}
    found = {one.learner: one.problem for one in collect(files, zipped=True).found}
    assert found["bob"] == "" and problem in found["ada"]


def test_too_many_members_of_the_classs_archive_stop_the_run(collect, monkeypatch):
    monkeypatch.setattr(handed_files, "MOST_MEMBERS", 30)
    with pytest.raises(GradeError, match="40 members"):
        collect([f"{number}.ipynb" for number in range(40)], zipped=True)


def test_when_all_is_left_out_that_is_said(collect):
    with pytest.raises(
        GradeError, match="belong to a learner; .*can be read as a hand-in of 812 and 813"
    ):
        collect(["mallorym_813_99002_x_812_assignsubmission_y.ipynb"])


PIECES = [*"_ 812 813 99001 99002 lovelaceada ada LATE _assignsubmission_ file_ 2024 11 x".split()]
PIECES += [*"4711 4712 - . ~ 04_pooling".split(), " "]
BOTH = "id,name\n812,Ada Lovelace\n813,Mal M\n4711,Ada Lovelace\n4712,Mal M\n"
ADAS_ON_MOODLE = "Ada Lovelace_4711_assignsubmission_file_04_pooling.ipynb"


@pytest.mark.parametrize("roster", [None, BOTH, "id,name\nada,Ada Lovelace\nmal,Mal M\n"])
@pytest.mark.parametrize(
    "front, hers, mine",
    [
        ("mmal_813_99002_", {"812": CANVAS}, "813"),
        ("mmal_813_99002_", {"812": "lovelaceada_812_99001_x_4_500_y.ipynb"}, "813"),
        ("Mal M_4712_assignsubmission_file_", {"4711": ADAS_ON_MOODLE}, "4712"),
    ],
)
@given(
    name=st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    suffix=st.sampled_from([".ipynb", ".ipynb.txt", ".zip"]),
)
def test_no_name_of_a_file_takes_or_gives_marks(front, hers, mine, roster, name, suffix):
    inner = (
        front + name,
        "Ada Lovelace_4711_assignsubmission_file_",
        "lovelaceada_812_99001_x.ipynb",
    )
    paths = [
        *((file,) for file in hers.values()),
        inner if suffix == ".zip" else (front + name + ".ipynb",),
    ]
    files = [HandedFile(parts, 1, problem="not read") for parts in paths]
    people = {
        line.split(",")[0]: Learner(*line.split(",")) for line in (roster or "").splitlines()[1:]
    }
    owners = Owners(files, "class", people)
    her, his = map(owners.of, files)
    ((number, _),) = hers.items()
    assert her.learner == ("ada" if people and number not in people else number)
    assert isinstance(his, LeftOut) or his.learner == (
        "mal" if people and mine not in people else mine
    )
