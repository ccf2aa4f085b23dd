"""Which learner each hand-in belongs to, by platforms and rosters, also under attack."""

import re
import time
from zipfile import ZIP_STORED

import pytest
from hypothesis import given, strategies

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
HONEST = {  # {her hand-in: (her number on its platform, a classmate's, the classmate's hand-in)}
    CANVAS: ("812", "900", "carolc_900_99009_z.ipynb"),
    MOODLE: ("4711", "4900", "Carol_4900_assignsubmission_file_/z.ipynb"),
}
STEALS = [  # (hers, his, roster): his file name can also be read as hers
    # on Canvas, the part that he chose holds her number in Moodle's form
    (CANVAS, "mallorym_813_99002_x_812_assignsubmission_y.ipynb", None),
    (
        CANVAS,
        "mallorym_813_99002_x_812_assignsubmission_file_y.ipynb",
        "id,name\n812,Ada Lovelace\n813,Mallory M\n",
    ),
    # ... in Canvas's form
    (CANVAS, "mallorym_813_99002_x_812_99001_y.ipynb", None),
    (CANVAS, "mallorym_LATE_813_99002_x_812_99001_y.ipynb", None),
    # ... in what stands for his name
    (CANVAS, "x_812_813_99002_y.ipynb", None),
    (CANVAS, "lovelaceada_812_813_99002_y.ipynb", None),
    (CANVAS, "x_812_1_813_99002_y.ipynb", "id,name\n812,Ada Lovelace\n813,Mallory M\n"),
    # ... there too, with a number of a file
    (CANVAS, "x_812_99005__813_99002_y.ipynb", None),
    # ... in the name of a zip
    (CANVAS, "mallorym_813_99002_x_812_assignsubmission_y.zip", None),
    # on Moodle
    (MOODLE, "Mallory_4712_assignsubmission_file_x_4711_assignsubmission_file_y.ipynb", None),
    (MOODLE, "x_4711_assignsubmission_file__4712_assignsubmission_file_/y.ipynb", None),
    (MOODLE, "x_4711_4712_assignsubmission_file_/y.ipynb", None),
    (MOODLE, "Mallory_4712_assignsubmission_file_x_4711_99001_y.ipynb", None),
]


# the hand-ins lie in a folder, or together in one zip, as platforms deliver them
each_packing = pytest.mark.parametrize("zipped", [False, True], ids=["a folder", "a zip"])


@each_packing
@pytest.mark.parametrize("hers, his, roster", STEALS)
def test_a_name_that_can_be_read_as_anothers_gets_nothing(collect, hers, his, roster, zipped):
    her_number, classmates_number, classmates_file = HONEST[hers]
    content = packed({"04_pooling.ipynb": NOTEBOOK}) if his.endswith(".zip") else NOTEBOOK
    collected = collect({hers: NOTEBOOK, his: content, classmates_file: NOTEBOOK}, roster, zipped)
    assert collected.files_of == {her_number: [hers], classmates_number: [classmates_file]}
    (left_out,) = collected.left_out
    # what is left out may be named with a file in it, and a zip is named without its ending
    assert left_out.startswith(his.partition("/")[0].removesuffix(".zip"))
    assert collected.reasons, "nobody is told why"


ROSTER = "id,name\n812,Ada Lovelace\n813,Bob Ray\n"
SIS = "id,name\nal1,Ada Lovelace\nbr2,Bob Ray\n12,Carol Oz\n"
ROSTERS = {  # {name in WHO_GETS_WHAT: text}
    "-": None,
    "ROSTER": ROSTER,
    "SIS": SIS,
    # Bob's address begins with Ada's user name, and one user name is made of her name
    "EMAILS": """Username,First name,Last name,Email address
al1815,Ada,Lovelace,ada.lovelace@example.org
lovelace-ada,,,
bob,Bob,Ray,AL1815@example.org
""",
    # two learners of one name; the address of one begins with the id of another
    "CLAIMED_TWICE": """id,name,email
1,Anna Schmidt,max@x.org
2,Anna Schmidt,
max,Max,
3,Ada Lovelace,
""",
    # names that share a word, and letters that may be written in two ways
    "ALIKE": """id,name,email,Student ID
1,Anna Berger,anna@x.org,70011
2,Anna Luise Schmitt,als@x.org,70012
3,Lena Schmitt,,70013
4,Maria Øberg,,70014
5,Jörg Łem,,70015
""",
    # as Moodle writes it, with two of one name
    "WORKSHEET": """Identifier,Full name
Participant 812,Ada Lovelace
Participant 813,Ada Lovelace
Participant 814,Bob
""",
}


@pytest.mark.parametrize("roster", [None, ROSTER])
@pytest.mark.parametrize(
    "file",
    [
        CANVAS,
        # she put a date or other numbers into the name
        "lovelaceada_812_99001_notes_2024_11_30.ipynb",
        "lovelaceada_812_99001_2024_11_30_notes.ipynb",
        "lovelaceada_812_99001_12345678_pooling.ipynb",
        "lovelaceada_812_99001_20241130_pooling.ipynb",
        "lovelaceada_812_99001_notes_4_500_x.ipynb",
        # late, and handed in again, for which Canvas adds a number
        "lovelaceada_LATE_812_99001_04_pooling-1.ipynb",
        # other letters and signs in what stands for her name
        "ångströmzoë_812_99001_x.ipynb",
        "李雷_812_99001_x.ipynb",
        "lovelace-ada_812_99001_x.ipynb",
        "s_lovelace_812_99001_x.ipynb",
        # a name that she downloaded, with her own numbers
        "lovelaceada_812_99001_mine_812_99001_x.ipynb",
    ],
)
def test_an_ordinary_hand_in_of_canvas_belongs_to_its_number(collect, file, roster):
    collected = collect([file, "raybob_813_99002_04_pooling.ipynb"], roster)
    assert sorted(collected.files_of) == ["812", "813"]
    assert collected.left_out == []


# A case a line, of three fields between " ; ": whose each file is ("?" for one that is left out, "-"
# for one that is no hand-in); the roster (a name in ROSTERS, or the ids of one); the files. An
# indented line continues the one above.
WHO_GETS_WHAT = """
# the roster, and identical names
al1 ; SIS ; Ada Lovelace_77_assignsubmission_file_/a.ipynb
? | ? | br2 ; SIS ; Ada Lovelace_77_assignsubmission_file_/a.ipynb |
    Ada Lovelace_78_assignsubmission_file_/a.ipynb | Bob Ray_79_assignsubmission_file_/b.ipynb
lovelace-ada ; EMAILS ; LOVELACE-ADA/04_pooling.ipynb
al1815 ; EMAILS ; al1815/04.ipynb
al1815 ; EMAILS ; 04_pooling_al1815.ipynb
al1815 ; EMAILS ; Ada Lovelace_4711_assignsubmission_file_/a.ipynb
al1815 ; EMAILS ; deep/ada.lovelace/04_pooling.ipynb
bob ; EMAILS ; AL1815@example.org/x.ipynb
77 | max | 3 ; CLAIMED_TWICE ; Anna Schmidt_77_assignsubmission_file_/a.ipynb | max/b.ipynb |
    lovelaceada_812_99001_04_pooling.ipynb
812 | 813 | 814 ; WORKSHEET ; Participant_812_assignsubmission_file_/x.ipynb |
    Ada Lovelace_813_assignsubmission_file_/x.ipynb | Participant_814_assignsubmission_file_/x.ipynb
# no file within a learner's folder makes it another's
ada | mallory ; - ; ada/04_pooling.ipynb | mallory/bob_999_12345_x.ipynb
ada | mallory ; - ; ada/04_pooling.ipynb | mallory/V_4711_assignsubmission_file_/a.ipynb
ada | mallory ; - ; ada/04_pooling.ipynb | mallory/bob.ipynb
ada | mallory ; - ; ada/04_pooling.ipynb | mallory/bob/04_pooling.ipynb
ada | mallory ; - ; ada/04_pooling.ipynb | mallory/notes_2024_11_30.ipynb
ada | mallory | mallory | mallory ; bob mallory ada ; ada/04_pooling.ipynb |
    mallory/bob_999_12345_x.ipynb | mallory/V_4711_assignsubmission_file_/a.ipynb |
    mallory/notes_2024_11_30.ipynb
ada | mallory | mallory ; bob mallory ada ; ada/04_pooling.ipynb | mallory/bob.ipynb |
    mallory/bob/04_pooling.ipynb
111 | bob ; bob ; Mallory M_111_assignsubmission_file_/bob.ipynb |
    Bob_222_assignsubmission_file_/x_222_9999_y.ipynb
# refused files do not cast doubt on others
al1 | ? ; SIS ; lovelaceada_812_99001_04_pooling.ipynb |
    lovelaceada_4712_assignsubmission__813_99002_y.ipynb
813 ; ROSTER ; Ada Lovelace_813_assignsubmission_file_/a.ipynb
812 | ? ; ROSTER ; Ada Lovelace_812_assignsubmission_file_/a.ipynb |
    Ada Lovelace_900_assignsubmission_file_/a.ipynb
4712 ; - ; Bob_4712_assignsubmission_file_notes_2024_11_300_x.ipynb
4711 ; - ; Ada_4711_assignsubmission_file_/Bob_4712_assignsubmission_file_/x.ipynb
? | ada ; ada bob ; bob_for_ada.ipynb | ada.ipynb
? | ada | ? ; ada bob ; bob_for_ada/x.ipynb | ada/x.ipynb | bob_for_ada.docx
ada_lovelace_12 | bob ; - ; ada_lovelace_12.ipynb | bob.ipynb
al1 | x ; SIS ; Ada_Lovelace_2.ipynb | x.ipynb
al1 | x ; SIS ; ada_lovelace_12.ipynb | x.ipynb
a.b | ab | A-B ; a.b ab ; a.b/x.ipynb | ab/x.ipynb | A-B/x.ipynb
AB | ab ; AB ab ; AB/x.ipynb | ab/x.ipynb
ada_2024_11_30 | bob_2024_11_30 ; - ; ada_2024_11_30.ipynb | bob_2024_11_30.ipynb
? | ? | 3 ; - ; ada_2_101_final.ipynb | bob_2_101_final.ipynb | carol_3_102_final.ipynb
# numbers: lessons or learners?
01 | 02 | 12_smith ; 01 02 12_smith ; 01/04_pooling.ipynb | 02/04_pooling.ipynb |
    12_smith/04_pooling.ipynb
01 | 02 | 12_smith ; - ; 01/04_pooling.ipynb | 02/04_pooling.ipynb | 12_smith/04_pooling.ipynb
01 ; - ; 01/04_pooling.ipynb
01 | 02 ; - ; 01/work.ipynb | 02/work.ipynb
01 | 17 ; - ; 01/a.ipynb | 17/b.ipynb
04 | 05 ; - ; 04/04_pooling.ipynb | 05/05_attention.ipynb
ada | bob | ada ; - ; lesson-04/ada.ipynb | hw4/bob.ipynb | lesson 05/ada.ipynb
812 | 812 ; - ; lesson-04/lovelaceada_812_99001_x.ipynb | lesson-05/lovelaceada_812_99003_x.ipynb
ada | ada | bob | bob ; - ; ps4/ada/x.ipynb | 14_capstone/ada/x.ipynb | lesson-05/bob/x.ipynb |
    week 12/bob/x.ipynb
04 | 05 ; 04 05 ; 04/ada/x.ipynb | 05/bob/x.ipynb
ps123456 | hw1023 | ada ; - ; ps123456/x.ipynb | hw1023/x.ipynb | ps1/ada/x.ipynb
ada | ada | bob ; - ; ada/01/04_pooling.ipynb | ada/02/04_pooling.ipynb | bob/x.ipynb
# skipped files are reported
ada | bob ; - ; ada/.04_pooling.ipynb.icloud | bob/x.ipynb
ada | - | ? | ? ; - ; ada/x.ipynb | .bob/x.ipynb | ada/.y.ipynb | .eve.ipynb
4711 | 4712 ; - ; .Ada_4711_assignsubmission_file_/x.ipynb | Bob_4712_assignsubmission_file_/x.ipynb
ada | - | - | - | - | - ; - ; ada/x.ipynb | roster.csv | README.md | .DS_Store | ada/data.csv |
    ada/picture.png
ada | ? | ? ; - ; ada/x.ipynb | ada/more.7z | essay.docx
ada | ? | ? ; - ; ada.ipynb | data.json | notes.txt
ada | - ; - ; ada.ipynb | LICENSE
ada | bob | - | - | - ; - ; ada/04_pooling.ipynb | bob/essay.docx |
    ada/.ipynb_checkpoints/04_pooling-checkpoint.ipynb | ada/notes.txt |
    __MACOSX/ada/._04_pooling.ipynb
ada | 813 ; - ; ada.ipynb | raybob_813_99002_essay.docx
- | ada | bob ; - ; README.md | ada/x.ipynb | bob/README.md
# as some browsers save them
812 | 813 ; - ; lovelaceada_812_99001_04_pooling.ipynb.txt | raybob_813_99002_04_pooling.ipynb.json
ada | bob ; - ; ada.ipynb.txt | bob.ipynb.json
# names between other words and signs, and behind those of groups
al1 | br2 ; SIS ; Ada Lovelace - hand-in/x.ipynb | Ray, Bob (04)/x.ipynb
al1 | br2 ; SIS ; 48120-99001 - Ada Lovelace - 4 December, 2026 603 PM/x.ipynb | hw4-br2/x.ipynb
al1 | br2 ; SIS ; hw4-al1.ipynb | 2026-12-04_Bob.Ray_final.ipynb
al1815 | bob ; EMAILS ; ada.lovelace@example.org 4/x.ipynb | [Ray] Bob/x.ipynb
al1 | br2 ; SIS ; Team 3-Ada Lovelace_812_assignsubmission_file_/x.ipynb |
    Team 3-Bob Ray_813_assignsubmission_file_/x.ipynb
al1 | ? | ? ; SIS ; Ada Lovelace/x.ipynb | Bob Ray and Carol Oz/x.ipynb | Bob Ray, Carol Oz.ipynb
# names, numbers and given names of others within a name
1 | Anna Schmitt ; ALIKE ; Anna Berger/x.ipynb | Anna Schmitt/x.ipynb
3 | ? ; ALIKE ; Lena Schmitt/x.ipynb | Anna Luise Lena Schmitt/x.ipynb
71 | 3 ; ALIKE ; Anna-Lena Schmitt_71_assignsubmission_file_/x.ipynb |
    Lena Schmitt_73_assignsubmission_file_/x.ipynb
Ada King - Blatt 3 | 4 ; ALIKE ; Ada King - Blatt 3/x.ipynb | Maria Øberg - Blatt 3/x.ipynb
Assignment_who_attempt_2026-12-04-05-04-03_x | 4 ; ALIKE ;
    Assignment_who_attempt_2026-12-04-05-04-03_x.ipynb |
    Maria Oeberg - 4 December, 2026 503 PM/x.ipynb
2 | 5 ; ALIKE ; hw4-70012/x.ipynb | Lem_Joerg.ipynb
# two assignments: a platform gives everybody another number for each
al1 | br2 | al1 | br2 ; SIS ; Pooling/Ada Lovelace_71_assignsubmission_file_/04_pooling.ipynb |
    Pooling/Bob Ray_72_assignsubmission_file_/04_pooling.ipynb |
    Benchmark/Ada Lovelace_81_assignsubmission_file_/a.ipynb |
    Benchmark/Bob Ray_82_assignsubmission_file_/a.ipynb
al1 | br2 | al1 | br2 ; SIS ; Ada Lovelace_71_assignsubmission_file_/04_pooling.ipynb |
    Bob Ray_72_assignsubmission_file_/04_pooling.ipynb |
    Ada Lovelace_81_assignsubmission_file_/08_similarity_benchmark.ipynb |
    Bob Ray_82_assignsubmission_file_/08_similarity_benchmark.ipynb
? | br2 | ? ; SIS ; Ada Lovelace_71_assignsubmission_file_/04_pooling.ipynb |
    Bob Ray_72_assignsubmission_file_/04_pooling.ipynb |
    Ada Lovelace_73_assignsubmission_file_/04_pooling.ipynb
812 | 813 | 812 | 813 ; - ; Pooling/lovelaceada_812_99001_x.ipynb |
    Pooling/raybob_813_99002_x.ipynb | Benchmark/lovelaceada_812_99003_x.ipynb |
    Benchmark/raybob_813_99004_x.ipynb
al1 | br2 | al1 | br2 ; SIS ; Pooling/Ada Lovelace/x.ipynb | Pooling/br2/x.ipynb |
    Benchmark/al1/x.ipynb | Benchmark/Bob Ray/x.ipynb
# layouts of folders and of file names
ada | bob ; - ; ada/04_pooling.ipynb | bob/04_pooling.ipynb
ada | bob ; - ; submitted/ada/ps1/04_pooling.ipynb | submitted/bob/ps1/04_pooling.ipynb
ada | bob ; - ; ada.ipynb | bob.ipynb
ada | bob ; - ; 04_pooling-ada.ipynb | 04_pooling bob (1).ipynb
ada | Zoë Ångström ; - ; ada_04_pooling.ipynb | Zoë Ångström - 04_pooling.ipynb
ada ; - ; ada/04_pooling.ipynb
class | class ; - ; 04_pooling.ipynb | 05_attention.ipynb
class | class ; - ; 04_pooling - Copy.ipynb | 05_attention (2).ipynb
class | - ; - ; 04_pooling.ipynb | glossary.ipynb
ada | - ; - ; ada/04_pooling.ipynb | ada/glossary.ipynb
ada | ada | bob ; - ; ada/week1/04_pooling.ipynb | ada/week2/05_attention.ipynb | bob/x.ipynb
李雷 | =1+1 ; - ; 李雷/04_pooling.ipynb | =1+1/04_pooling.ipynb
ada ; - ; ada/lesson-04/04_pooling.ipynb
ada | ada ; - ; ada/lesson-04/04_pooling.ipynb | ada/lesson-05/05_attention.ipynb
ada | ada | bob ; - ; lesson-04/ada/04_pooling.ipynb | lesson-05/ada/05_attention.ipynb |
    lesson-04/bob/a.ipynb
ada | bob | - | - ; - ; ada/04_pooling-Copy1.ipynb | bob/04_pooling.ipynb | roster.csv | README.md
4711 | 4712 ; - ; Ada Lovelace_4711_assignsubmission_file_04_pooling.ipynb |
    Bob_4712_assignsubmission_file_x.ipynb
ada | bob ; - ; wrapper/ada.ipynb | wrapper/bob.ipynb
"""


def cases(table):
    """(files, roster, {file: whose it is, "?" if it is left out}) of each case of a table.

    table: a text in the form of WHO_GETS_WHAT.
    """
    for line in re.sub(r"\n +", " ", table).strip().splitlines():
        if not line.startswith("#"):
            owners, roster, files = line.split(" ; ")
            # a roster that has no name is a list of ids
            roster_text = ROSTERS.get(roster, "\n".join(["id", *roster.split(), ""]))
            pairs = zip(files.split(" | "), owners.split(" | "), strict=True)
            handed_in = {file: owner for file, owner in pairs if owner != "-"}
            yield files.split(" | "), roster_text, handed_in


JUNK = ["Thumbs.db", "desktop.ini", "._x.ipynb", "Icon\r"]
# as many as are marked
BOBS_FILES = [f"bob/{number}.png" for number in range(102) if number not in (98, 99)]


@each_packing
@pytest.mark.parametrize(
    "files, roster, owner_of",
    [
        *cases(WHO_GETS_WHAT),
        # more files than are marked: the last hand-in stands for bob/98.png and bob/99.png
        (
            ["ada/x.ipynb", *BOBS_FILES, "bob/98.png", "bob/99.png"],
            None,
            {"ada/x.ipynb": "ada", **dict.fromkeys(BOBS_FILES, "bob"), "2 more": "bob"},
        ),
        # longer than names in messages
        (
            ["ada/x.ipynb", f"ada/{'x' * 150}.7z"],
            None,
            {"ada/x.ipynb": "ada", f"ada/{'x' * 150}.7z": "?"},
        ),
        (["कि/x.ipynb", "का/x.ipynb"], "id,name\n1,कि\n", {"कि/x.ipynb": "1", "का/x.ipynb": "का"}),
        (
            # an e and an accent, as macOS writes them
            [*JUNK, *(f"B/{name}" for name in JUNK)]
            + [f"Zoe\u0308/{name}" for name in [*JUNK, "x.ipynb"]],
            "id,name\n1,Zoë\n2,B\n",
            {"Zoe\u0308/x.ipynb": "1"},
        ),
    ],
)
def test_who_gets_what(collect, files, roster, owner_of, zipped):
    collected = collect(files, roster, zipped)
    handed_in = {hand_in.file: hand_in.learner for hand_in in collected.hand_ins}
    assert handed_in | dict.fromkeys(collected.left_out, "?") == owner_of


@each_packing
@pytest.mark.parametrize(
    "names",
    [
        # a space, marks that turn the direction of writing, and spaces of no width
        ["ada", "ada ", "ada\u202e", "ada\u202d", "ada\u200b", "ada\u2060"],
        ["ada", "ADA", "\u0430da"],  # the last begins with a Cyrillic letter
        ["a" * 121 + "1", "a" * 121 + "2", "a" * 120],  # a key has at most 120 characters
    ],
    ids=["invisible", "alike", "long"],
)
def test_folders_whose_names_look_alike_are_of_different_learners(collect, names, zipped):
    collected = collect([f"{name}/x.ipynb" for name in names], None, zipped)
    assert [len(files) for files in collected.files_of.values()] == [1] * len(names)
    assert not collected.left_out


@each_packing
@pytest.mark.parametrize(
    "file",
    [
        # a classmate's folder, as a path of each kind
        "bob/x.ipynb",
        "../bob/x.ipynb",
        "/bob/x.ipynb",
        "bob\\..\\x.ipynb",
        # his file, as Canvas and Moodle name it
        "raybob_813_99002_x.ipynb",
        "Bob_813_assignsubmission_file_/x.ipynb",
    ],
)
@pytest.mark.parametrize(
    "name, roster, learner",
    [
        ("ada/work.zip", None, "ada"),
        ("ada.zip", "id\nada\nbob\n", "ada"),  # without a roster, it might be the class's archive
        ("lovelaceada_812_99001_work.zip", None, "812"),
    ],
)
def test_what_is_in_a_learners_zip_is_hers(collect, name, roster, learner, file, zipped):
    work = packed([(file, NOTEBOOK), ("ada2/y.ipynb", NOTEBOOK)])
    assert list(collect({name: work}, roster, zipped).files_of) == [learner]


def test_a_file_left_out_names_the_learners_it_may_belong_to(collect):
    hand_ins = collect(["bob_for_ada.ipynb", "ada.ipynb"], "id\nada\nbob\n").hand_ins
    assert [file.maybe for file in hand_ins.left_out] == [("bob", "ada")]


def test_the_platforms_zip_may_lie_in_a_folder(collect):
    download = {
        MOODLE: NOTEBOOK,
        "Bob_4712_assignsubmission_file_/x.zip": packed({"x.ipynb": NOTEBOOK}),
    }
    assert sorted(collect({"download.zip": packed(download)}).files_of) == ["4711", "4712"]


TWO_ASSIGNMENTS = {  # Moodle numbers learners anew for each assignment
    "Course-Pooling-4711.zip": [
        "Ada Lovelace_71_assignsubmission_file_/04_pooling.ipynb",
        "Bob Ray_72_assignsubmission_file_/04_pooling.ipynb",
    ],
    "Course-Benchmark-4712.zip": [
        "Ada Lovelace_81_assignsubmission_file_/x.ipynb",
        "Bob Ray_82_assignsubmission_file_/y.ipynb",
    ],
}


@pytest.mark.parametrize(
    "roster, zips, unzipped, numbers_of_files",
    [
        (SIS, TWO_ASSIGNMENTS, [], {"al1": 2, "br2": 2}),
        ("id\nada\nbob\n", {"all.zip": ["ada.ipynb", "bob.ipynb"]}, [], {"ada": 1, "bob": 1}),
        (
            SIS,
            TWO_ASSIGNMENTS,
            ["later/Ada Lovelace_91_assignsubmission_file_/01_tokenization.ipynb"],
            {"al1": 3, "br2": 2},
        ),
        (
            SIS,
            {
                "one.zip": [
                    "Ada Lovelace_71_assignsubmission_file_/a.ipynb",
                    "Bob Ray_72_assignsubmission_file_/a.ipynb",
                ],
                "two.zip": ["Ada Lovelace_81_assignsubmission_file_/a.ipynb"],
            },
            [],
            {"al1": 2, "br2": 1},
        ),
        (
            None,
            {
                "ada.zip": ["04_pooling.ipynb"],
                "mallory.zip": [
                    "Bob_813_assignsubmission_file_/x.ipynb",
                    "y/Carol_814_assignsubmission_file_/y.ipynb",
                ],
            },
            [],
            {"ada": 1, "mallory": 2},
        ),
    ],
    ids=[
        "two zips",
        "one zip of files named after learners",
        "two zips and a file",
        "a zip of one hand-in, which is not a learner's",
        "learners' zips, which are theirs whatever they hold",
    ],
)
def test_zips_in_a_folder_are_those_of_assignments_or_of_learners(
    collect, roster, zips, unzipped, numbers_of_files
):
    handed_in = dict.fromkeys(unzipped, NOTEBOOK)
    for name, files in zips.items():
        handed_in[name] = packed(dict.fromkeys(files, NOTEBOOK))
    collected = collect(handed_in, roster)
    assert {key: len(files) for key, files in collected.files_of.items()} == numbers_of_files
    assert not collected.left_out


def test_a_learners_zip_is_opened_but_no_zip_in_it(collect):
    inner = packed({"y.ipynb": NOTEBOOK})
    class_archive = {
        "ada.zip": packed({"x.ipynb": NOTEBOOK, "more.zip": inner}),
        "bob/b.zip": packed({"b.zip": inner}),
        "eve.zip": b"PK\3\4 torn",  # begins as a zip does
    }
    collected = collect(class_archive, zipped=True)
    assert collected.files_of == {"ada": ["ada/x.ipynb"], "bob": ["bob/b/b.zip"], "eve": ["eve"]}
    assert collected.left_out == ["ada/more.zip"]
    problems = {hand_in.learner: hand_in.problem for hand_in in collected.hand_ins}
    assert "b.zip is not a notebook" in problems["bob"]
    assert "cannot be unpacked" in problems["eve"]


@pytest.mark.parametrize("others", [[], ["bob/x.ipynb"], ["ADA/x.ipynb", "ada\u202d/x.ipynb"]])
def test_a_learners_key_does_not_depend_on_others(collect, others):
    assert for_keys("ada\u202e") in collect(["ada\u202e/x.ipynb", *others]).files_of


def test_different_texts_have_different_keys_of_at_most_120_characters():
    texts = [
        # what cannot be seen, or not be written as UTF-8
        *("ada", "ada ", " ada", "ada\u202e", "ada\u202d", "ada\ufffd", "ad\udce9", "", " "),
        # as long as a key may be, and longer
        *("a" * 120, "a" * 121, "a" * 122),
        # the keys of other texts, used as names
        *(for_keys("ada "), for_keys("ada\u202e")),
    ]
    keys = [for_keys(text) for text in texts]
    assert keys[0] == "ada"
    assert len(set(keys)) == len(texts)
    assert max(map(len, keys)) == 120


def test_long_names_of_files_are_shortened_and_stay_different(collect):
    files = [f"ada/{'a' * 200}/{'b' * 200}/{name}.ipynb" for name in "xy"]
    shortened = collect([*files, "bob/x.ipynb"]).files_of["ada"]
    assert len(set(shortened)) == 2
    assert max(map(len, shortened)) <= 300, "characters, of more than 400"


MANY = {  # {names of members, {} being a number from 0 on: how many}
    # one path again and again, of a notebook and of another file
    "ada/04_pooling.ipynb": 16_000,
    "ada/notes.png": 16_000,
    "{}/04_pooling.ipynb": 3_000,  # as many learners
    "ada/{}.ipynb": 3_000,  # different notebooks of one learner
}


@pytest.mark.parametrize("name", MANY)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_thousands_of_members_take_seconds_and_each_learner_has_at_most_100(tmp_path, name):
    members = [name.format(number) for number in range(MANY[name])]
    archive = packed([(member, NOTEBOOK) for member in ["bob/x.ipynb", *members]], ZIP_STORED)
    (tmp_path / "class.zip").write_bytes(archive)
    (tmp_path / "unpacked").mkdir()
    start = time.process_time()
    hand_ins = gather(tmp_path / "class.zip", tmp_path / "unpacked")
    # of this process alone; a busy neighbour on the same core makes each up to three times as long
    assert time.process_time() - start < 12, "seconds"
    # the many do not displace another learner's
    assert "bob" in [hand_in.learner for hand_in in hand_ins]
    adas = [hand_in for hand_in in hand_ins if hand_in.learner == "ada"]
    assert len(adas) <= handed_files.MOST_OF_ONE + 1, "and one that says how many more"
    if name.startswith("ada/") and name.endswith(".ipynb"):
        assert sum(hand_in.path is not None for hand_in in adas) == handed_files.MOST_OF_ONE
        assert re.search("too many|at most 100", str([hand_in.problem for hand_in in adas]))


@pytest.mark.parametrize(
    "members, problem",
    [
        ([(f"{number}.ipynb", NOTEBOOK) for number in range(20)], "20 members"),
        # names of 60,000 characters: a directory of 18 MB, where 2 are allowed
        ([(f"{number:060000d}.txt", "") for number in range(300)], "directory is too long"),
    ],
    ids=["many", "long"],
)
def test_what_is_too_large_to_be_looked_at_is_its_learners_problem(
    collect, monkeypatch, members, problem
):
    # a learner's zip may have fewer members than the class's archive
    monkeypatch.setattr(handed_files, "MOST_MEMBERS", 30)
    monkeypatch.setattr(handed_files, "MOST_MEMBERS_OF_ONE", 10)
    files = {"ada.zip": packed(members), "bob.ipynb": NOTEBOOK}
    problems = {
        hand_in.learner: hand_in.problem for hand_in in collect(files, zipped=True).hand_ins
    }
    assert problems["bob"] == ""
    assert problem in problems["ada"]


def test_too_many_members_of_the_classs_archive_stop_the_run(collect, monkeypatch):
    monkeypatch.setattr(handed_files, "MOST_MEMBERS", 30)
    with pytest.raises(GradeError, match="40 members"):
        collect([f"{number}.ipynb" for number in range(40)], zipped=True)


def test_when_all_files_are_left_out_the_message_names_one_and_why(collect):
    with pytest.raises(
        GradeError, match="belong to a learner; .*can be read as a hand-in of 812 and 813"
    ):
        collect(["mallorym_813_99002_x_812_assignsubmission_y.ipynb"])


# what names of files are made of on Canvas and on Moodle
PIECES = """_ 812 813 99001 99002 lovelaceada ada LATE _assignsubmission_ file_ 2024 11 x
4711 4712 - . ~ 04_pooling""".split()
# rosters, of her and of him: by the numbers of both platforms, or by other keys
BY_NUMBER = {
    "812": Learner("812", "Ada Lovelace"),
    "813": Learner("813", "Mal M"),
    "4711": Learner("4711", "Ada Lovelace"),
    "4712": Learner("4712", "Mal M"),
}
BY_NAME = {
    "ada": Learner("ada", "Ada Lovelace", "ada.lovelace@x.org"),
    "mal": Learner("mal", "Mal M", "mal.m@x.org"),
}


@pytest.mark.parametrize("people", [{}, BY_NUMBER, BY_NAME], ids=["none", "numbers", "names"])
@pytest.mark.parametrize(
    "numbers, her_file, his_front",  # numbers: hers and his
    [
        # Canvas, without and with other numbers in the part that she chose
        (["812", "813"], CANVAS, "mmal_813_99002_"),
        (["812", "813"], "lovelaceada_812_99001_x_4_500_y.ipynb", "mmal_813_99002_"),
        # Moodle
        (
            ["4711", "4712"],
            "Ada Lovelace_4711_assignsubmission_file_04_pooling.ipynb",
            "Mal M_4712_assignsubmission_file_",
        ),
    ],
)
@given(
    name=strategies.lists(strategies.sampled_from([*PIECES, " "]), max_size=12).map("".join),
    is_zip=strategies.booleans(),
)
def test_no_name_of_a_file_takes_or_gives_marks(numbers, her_file, his_front, people, name, is_zip):
    # the platform writes the front of a name, and he chooses the rest: none makes it hers
    names_in_his_zip = ("Ada Lovelace_4711_assignsubmission_file_", "lovelaceada_812_99001_x.ipynb")
    his_parts = (his_front + name, *names_in_his_zip) if is_zip else (f"{his_front}{name}.ipynb",)
    # all below the first part is from his zip
    files = [HandedFile(parts, outer=1, problem="not read") for parts in ((her_file,), his_parts)]
    her_key, his_key = list(BY_NAME) if people is BY_NAME else numbers
    owners = Owners(files, "class", people)
    her, his = (owners.of(file) for file in files)
    assert her.learner == her_key
    assert isinstance(his, LeftOut) or his.learner == his_key
