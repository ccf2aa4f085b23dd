"""Which learner each hand-in belongs to: platform downloads, rosters and expected owners, with some attacks."""

import io
import re
import time
import zipfile
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.tools.grading import submissions
from course_utils.tools.grading.owners import Owners
from course_utils.tools.grading.submissions import HandInError, Learner, gather, read_roster
from course_utils.tools.grading.untrusted import for_keys

NOTEBOOK = '{"cells": [], "nbformat": 4}'


@pytest.fixture
def collect(tmp_path):
    """Gather these files as a folder or, zipped, as one archive.

    Returns what each learner has, and what was left out, with the reason.
    """

    def collect(files, roster=None, zipped=False):
        files = dict.fromkeys(files, NOTEBOOK) if not isinstance(files, dict) else files
        source, unpacked = tmp_path / ("class.zip" if zipped else "class"), tmp_path / "unpacked"
        if zipped:
            source.write_bytes(packed(files))
        else:
            for file, data in files.items():
                path = source / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data if isinstance(data, bytes) else data.encode())
        unpacked.mkdir()
        if roster:
            (tmp_path / "roster.csv").write_text(roster)
        found = gather(source, unpacked, read_roster(tmp_path / "roster.csv") if roster else None)
        has = {}
        for one in found:
            has.setdefault(one.learner, []).append(one.file)
        return SimpleNamespace(
            has=has,
            out=[one.file for one in found.left_out],
            why=" ".join(one.why for one in found.left_out),
            found=found,
        )

    return collect


def packed(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items() if isinstance(files, dict) else files:
            archive.writestr(name, content)
    return data.getvalue()


CANVAS = "lovelaceada_812_99001_04_pooling.ipynb"
MOODLE = "Ada Lovelace_4711_assignsubmission_file_/04_pooling.ipynb"
STEALS = [  # (hers, his, roster): his file name can also be read as hers
    (CANVAS, "mallorym_813_99002_x_812_assignsubmission_y.ipynb", None),
    (CANVAS, "mallorym_813_99002_x_812_assignsubmission_file_y.ipynb", "id,name\n812,Ada Lovelace\n813,Mallory M\n"),
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
    found = collect(
        {
            hers: NOTEBOOK,
            his: content,
            "carolc_900_99009_z.ipynb" if hers == CANVAS else "Carol_4900_assignsubmission_file_/z.ipynb": NOTEBOOK,
        },
        roster,
        zipped,
    )
    assert found.has["812" if hers == CANVAS else "4711"] == [hers] and len(found.has) == 2
    assert len(found.out) == 1 and found.out[0].startswith(his.partition("/")[0].removesuffix(".zip")) and found.why


ROSTER = "id,name\n812,Ada Lovelace\n813,Bob Ray\n"
SIS = "id,name\nal1,Ada Lovelace\nbr2,Bob Ray\n12,Carol Oz\n"


@pytest.mark.parametrize("roster", [None, ROSTER])
@pytest.mark.parametrize(
    "file",
    [
        CANVAS,
        "lovelaceada_812_99001_notes_2024_11_30.ipynb",
        "lovelaceada_812_99001_2024_11_30_notes.ipynb",
        "lovelaceada_LATE_812_99001_04_pooling-1.ipynb",
        "lovelaceada_812_99001_12345678_pooling.ipynb",
        "lovelaceada_812_99001_20241130_pooling.ipynb",
        "lovelaceada_812_99001_notes_4_500_x.ipynb",
        "ångströmzoë_812_99001_x.ipynb",
        "李雷_812_99001_x.ipynb",
        "lovelace-ada_812_99001_x.ipynb",
        "s_lovelace_812_99001_x.ipynb",
        "lovelaceada_812_99001_mine_812_99001_x.ipynb",
    ],
)
def test_an_ordinary_hand_in_of_an_ordinary_download(collect, file, roster):
    found = collect([file, "raybob_813_99002_04_pooling.ipynb"], roster)
    assert sorted(found.has) == ["812", "813"] and not found.out


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    "files, roster, learners, out",
    [
        # the roster, and identical names
        (["Ada Lovelace_77_assignsubmission_file_/a.ipynb"], SIS, ["al1"], 0),
        (
            [
                "Ada Lovelace_77_assignsubmission_file_/a.ipynb",
                "Ada Lovelace_78_assignsubmission_file_/a.ipynb",
                "Bob Ray_79_assignsubmission_file_/b.ipynb",
            ],
            SIS,
            ["br2"],
            2,
        ),
        # refused files do not cast doubt on others
        ([CANVAS, "lovelaceada_4712_assignsubmission__813_99002_y.ipynb"], SIS, ["al1"], 1),
        (["Ada Lovelace_813_assignsubmission_file_/a.ipynb"], ROSTER, ["813"], 0),
        (
            ["Ada Lovelace_812_assignsubmission_file_/a.ipynb", "Ada Lovelace_900_assignsubmission_file_/a.ipynb"],
            ROSTER,
            ["812"],
            1,
        ),
        (["Bob_4712_assignsubmission_file_notes_2024_11_300_x.ipynb"], None, ["4712"], 0),
        (["Ada_4711_assignsubmission_file_/Bob_4712_assignsubmission_file_/x.ipynb"], None, ["4711"], 0),
        (["bob_for_ada.ipynb", "ada.ipynb"], "id\nada\nbob\n", ["ada"], 1),
        (["bob_for_ada/x.ipynb", "ada/x.ipynb", "bob_for_ada.docx"], "id\nada\nbob\n", ["ada"], 2),
        (["ada_lovelace_12.ipynb", "bob.ipynb"], None, ["ada_lovelace_12", "bob"], 0),
        (["Ada_Lovelace_2.ipynb", "x.ipynb"], SIS, ["al1", "x"], 0),
        (["ada_lovelace_12.ipynb", "x.ipynb"], SIS, ["x"], 1),
        (["a.b/x.ipynb", "ab/x.ipynb", "A-B/x.ipynb"], "id\na.b\nab\n", ["A-B", "a.b", "ab"], 0),
        (["AB/x.ipynb", "ab/x.ipynb"], "id\nAB\nab\n", ["AB", "ab"], 0),
        (["कि/x.ipynb", "का/x.ipynb"], "id,name\n1,कि\n", ["1", "का"], 0),
        (["ada_2024_11_30.ipynb", "bob_2024_11_30.ipynb"], None, ["ada_2024_11_30", "bob_2024_11_30"], 0),
        (["ada_2_101_final.ipynb", "bob_2_101_final.ipynb", "carol_3_102_final.ipynb"], None, ["3"], 2),
        # numbers: lessons or learners?
        (
            ["01/04_pooling.ipynb", "02/04_pooling.ipynb", "12_smith/04_pooling.ipynb"],
            "id\n01\n02\n12_smith\n",
            ["01", "02", "12_smith"],
            0,
        ),
        (
            ["01/04_pooling.ipynb", "02/04_pooling.ipynb", "12_smith/04_pooling.ipynb"],
            None,
            ["01", "02", "12_smith"],
            0,
        ),
        (["01/04_pooling.ipynb"], None, ["01"], 0),
        (["01/work.ipynb", "02/work.ipynb"], None, ["01", "02"], 0),
        (["01/a.ipynb", "17/b.ipynb"], None, ["01", "17"], 0),
        (["04/04_pooling.ipynb", "05/05_attention.ipynb"], None, ["class", "class"], 0),
        (["04/ada.ipynb", "04/bob.ipynb", "05/ada.ipynb"], None, ["ada", "ada", "bob"], 0),
        (
            ["04/ada.ipynb", "04/bob.ipynb", "04/05_attention.ipynb", "05/ada.ipynb"],
            None,
            ["ada", "ada", "bob", "class"],
            0,
        ),
        (["04/lovelaceada_812_99001_x.ipynb", "05/lovelaceada_812_99003_x.ipynb"], None, ["812", "812"], 0),
        (["04/lovelaceada_812_99001_x.ipynb", "05/lovelaceada_812_99001_x.ipynb"], None, ["812", "812"], 0),
        (
            ["04/ada/x.ipynb", "12_capstone/ada/x.ipynb", "lesson-05/bob/x.ipynb", "week 12/bob/x.ipynb"],
            None,
            ["ada", "ada", "bob", "bob"],
            0,
        ),
        (["04/ada/x.ipynb", "05/bob/x.ipynb"], "id\n04\n05\n", ["04", "05"], 0),
        (["ps123456/x.ipynb", "hw1023/x.ipynb", "ps1/ada/x.ipynb"], None, ["ada", "hw1023", "ps123456"], 0),
        (["ps01/04_pooling.ipynb", "ps02/04_pooling.ipynb"], None, ["ps01", "ps02"], 0),
        (["ada/01/04_pooling.ipynb", "ada/02/04_pooling.ipynb", "bob/x.ipynb"], None, ["ada", "ada", "bob"], 0),
        # names that look alike
        (
            ["ada/x.ipynb", "ada /x.ipynb", "ADA/x.ipynb", "аda/x.ipynb", "ada\u202e/x.ipynb", "ada\u202d/x.ipynb"],
            None,
            6,
            0,
        ),
        (["a" * 121 + "1/x.ipynb", "a" * 121 + "2/x.ipynb", "a" * 120 + "/x.ipynb"], None, 3, 0),
        (
            [
                "Zoe\u0308/x.ipynb",
                "Thumbs.db",
                "desktop.ini",
                "._x.ipynb",
                "Zoe\u0308/Thumbs.db",
                "Zoe\u0308/._x.ipynb",
            ],
            "id,name\n1,Zoë\n2,B\n",
            ["1"],
            0,
        ),
        # skipped files are reported
        (["ada/x.ipynb", ".bob/x.ipynb", "ada/.old/y.ipynb", ".eve.ipynb"], None, ["ada"], 3),
        (["ada/x.ipynb", "roster.csv", "README.md", ".DS_Store", "ada/data.csv", "ada/picture.png"], None, ["ada"], 0),
        (["ada/x.ipynb", "ada/more.7z", "essay.docx"], None, ["ada"], 2),
        (["ada.ipynb", "raybob_813_99002_essay.docx"], None, ["813", "ada"], 0),
        (["README.md", "ada/x.ipynb", "bob/README.md"], None, ["ada", "bob"], 0),
        (["ada/x.ipynb", *(f"bob/{number}.png" for number in range(22))], None, ["ada", *["bob"] * 20], 1),
        # recognised by content
        (
            [
                "lovelaceada_812_99001_04_pooling.ipynb.txt",
                "raybob_813_99002_04_pooling.json",
                "ozcarol_814_99003_04_pooling",
            ],
            None,
            ["812", "813", "814"],
            0,
        ),
        (["ada.ipynb.txt", "bob.json", "04_pooling-carol"], None, ["ada", "bob", "carol"], 0),
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
        "bob/x.ipynb",
        "../bob/x.ipynb",
        "/bob/x.ipynb",
        "bob\\..\\x.ipynb",
        "raybob_813_99002_x.ipynb",
        "Bob_813_assignsubmission_file_/x.ipynb",
    ],
)
@pytest.mark.parametrize("name", ["ada/work.zip", "ada.zip", "lovelaceada_812_99001_work.zip"])
def test_what_is_in_a_learners_zip_is_hers(collect, name, file, zipped):
    roster = "id\nada\nbob\n" if name == "ada.zip" else None  # without one, it might be the class's archive
    assert list(collect({name: packed([(file, NOTEBOOK), ("ada2/y.ipynb", NOTEBOOK)])}, roster, zipped).has) == [
        "812" if "812" in name else "ada"
    ]


def test_nor_does_it_make_lessons_learners(collect):
    work = packed({"05_attention.ipynb": NOTEBOOK})
    assert sorted(
        collect({"04/mal.zip": work, "04/ada.zip": packed({"04_pooling.ipynb": NOTEBOOK}), "05/ada.zip": work}).has
    ) == ["ada", "mal"]


def test_the_platforms_zip_may_lie_in_a_folder(collect):
    assert sorted(
        collect(
            {
                "download.zip": packed(
                    {MOODLE: NOTEBOOK, "Bob_4712_assignsubmission_file_/x.zip": packed({"x.ipynb": NOTEBOOK})}
                )
            }
        ).has
    ) == ["4711", "4712"]


def test_a_zip_within_a_zip_is_opened_once(collect):
    inner = packed({"y.ipynb": NOTEBOOK})
    found = collect(
        {
            "ada.zip": packed({"x.ipynb": NOTEBOOK, "more.zip": inner}),
            "bob/b.zip": packed({"b.zip": inner}),
            "eve.zip": b"PK\3\4 torn",
        },
        None,
        True,
    )
    assert found.has == {"ada": ["ada/x.ipynb"], "bob": ["bob/b/b.zip"], "eve": ["eve"]} and found.out == [
        "ada/more.zip"
    ]
    problems = {one.learner: one.problem for one in found.found}
    assert "zip within a zip" in problems["bob"] and "cannot be unpacked" in problems["eve"]


def test_data_are_no_notebooks(collect):
    found = collect(
        {"ada.ipynb": NOTEBOOK, "data.json": '{"metadata": {"rows": 3}}', "notes.txt": NOTEBOOK, "LICENSE": "MIT"}
    )
    assert list(found.has) == ["ada"] and found.out == ["data.json", "notes.txt"]


def test_a_learners_key_does_not_depend_on_others(collect, tmp_path):
    for number, others in enumerate([[], ["bob/x.ipynb"], ["ADA/x.ipynb", "ada\u202d/x.ipynb"]]):
        for file in ["ada\u202e/x.ipynb", *others]:
            (tmp_path / str(number) / "class" / file).parent.mkdir(parents=True)
            (tmp_path / str(number) / "class" / file).write_text(NOTEBOOK)
        assert for_keys("ada\u202e") in {one.learner for one in gather(tmp_path / str(number) / "class", tmp_path)}


def test_two_texts_never_become_one():
    texts = [
        "ada",
        "ada ",
        " ada",
        "ada\u202e",
        "ada\u202d",
        "ada\ufffd",
        "a" * 120,
        "a" * 121,
        "a" * 122,
        "ad\udce9",
        "",
        " ",
        for_keys("ada "),
        for_keys("ada\u202e"),
    ]
    assert (
        len({for_keys(text) for text in texts}) == len(texts)
        and all(len(for_keys(text)) <= 120 for text in texts)
        and for_keys("ada") == "ada"
    )


def test_files_of_one_name_are_all_different_and_long_names_too(collect):
    files = [f"ada/{'a' * 200}/{'b' * 200}/{name}.ipynb" for name in "xy"]
    found = collect([*files, "bob/x.ipynb"])
    assert len(set(found.has["ada"])) == 2 and all(len(file) <= 300 for file in found.has["ada"])


@pytest.mark.parametrize(
    "name, number",
    [
        ("ada/04_pooling.ipynb", 16_000),
        ("ada/notes.png", 16_000),
        ("{}/04_pooling.ipynb", 3_000),
        ("ada/{}.ipynb", 3_000),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_16000_members_take_no_time_and_are_bounded(tmp_path, name, number):
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("bob/x.ipynb", NOTEBOOK)
        for one in range(number):
            archive.writestr(name.format(one), NOTEBOOK)
    (tmp_path / "unpacked").mkdir()
    start = time.process_time()
    found = gather(tmp_path / "class.zip", tmp_path / "unpacked")
    assert time.process_time() - start < 2
    mine = [one for one in found if one.learner == "ada"]
    assert "bob" in {one.learner for one in found} and len(mine) <= submissions.MOST_OF_ONE + 2 * submissions.MOST_TOLD
    if "ada/04" in name or "ada/{" in name:
        assert sum(one.path is not None for one in mine) == submissions.MOST_OF_ONE and any(
            re.search("too many|at most 100", one.problem) for one in mine
        )


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_too_many_members_are_not_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(submissions, "MOST_MEMBERS", 30)
    monkeypatch.setattr(submissions, "MOST_MEMBERS_OF_ONE", 10)
    big = packed([("x.ipynb", NOTEBOOK)] * 20)
    (tmp_path / "unpacked").mkdir()
    (tmp_path / "class.zip").write_bytes(packed({"ada.zip": big, "bob.ipynb": NOTEBOOK}))
    found = {one.learner: one.problem for one in gather(tmp_path / "class.zip", tmp_path / "unpacked")}
    assert found["bob"] == "" and "20 members" in found["ada"]
    (tmp_path / "class.zip").write_bytes(packed([("x.ipynb", NOTEBOOK)] * 40))
    with pytest.raises(HandInError, match="40 members"):
        gather(tmp_path / "class.zip", tmp_path / "unpacked")


def test_a_long_directory_is_not_read(tmp_path):
    (tmp_path / "unpacked").mkdir()
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "bob.ipynb").write_text(NOTEBOOK)
    with zipfile.ZipFile(tmp_path / "class" / "ada.zip", "w") as archive:
        for number in range(300):
            archive.writestr(f"{number:060000d}.txt", "")
    found = {one.learner: one.problem for one in gather(tmp_path / "class", tmp_path / "unpacked")}
    assert "directory is too long" in found["ada"] and found["bob"] == ""


def test_when_all_is_left_out_that_is_said(collect):
    with pytest.raises(HandInError, match="belong to a learner; .*can be read as a hand-in of 812 and 813"):
        collect(["mallorym_813_99002_x_812_assignsubmission_y.ipynb"])


PIECES = [
    "_",
    "812",
    "813",
    "99001",
    "99002",
    "lovelaceada",
    "ada",
    "LATE",
    "_assignsubmission_",
    "file_",
    "2024",
    "11",
    "x",
    "4711",
    "4712",
    " ",
    "-",
    ".",
    "~",
    "04_pooling",
]


@pytest.mark.parametrize(
    "roster",
    [
        None,
        "id,name\n812,Ada Lovelace\n813,Mal M\n4711,Ada Lovelace\n4712,Mal M\n",
        "id,name\nada,Ada Lovelace\nmal,Mal M\n",
    ],
)
@pytest.mark.parametrize(
    "front, hers, mine",
    [
        ("mmal_813_99002_", {"812": CANVAS}, "813"),
        ("mmal_813_99002_", {"812": "lovelaceada_812_99001_x_4_500_y.ipynb"}, "813"),
        (
            "Mal M_4712_assignsubmission_file_",
            {"4711": "Ada Lovelace_4711_assignsubmission_file_04_pooling.ipynb"},
            "4712",
        ),
    ],
)
@given(
    name=st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    suffix=st.sampled_from([".ipynb", ".ipynb.txt", ".zip"]),
)
def test_no_name_of_a_file_takes_or_gives_marks(front, hers, mine, roster, name, suffix):
    files = [
        SimpleNamespace(parts=(file,), outer=1, notebook=True) for file in [*hers.values(), front + name + ".ipynb"]
    ]
    if suffix == ".zip":
        files[1] = SimpleNamespace(
            parts=(front + name, "Ada Lovelace_4711_assignsubmission_file_", "lovelaceada_812_99001_x.ipynb"),
            outer=1,
            notebook=True,
        )
    people = {line.split(",")[0]: Learner(*line.split(",")) for line in (roster or "").splitlines()[1:]}
    owners = Owners(files, "class", people)
    her, his = map(owners.of, files)
    ((number, _),) = hers.items()
    assert her.learner == ("ada" if people and number not in people else number) and not her.why
    assert his.why or his.learner == ("mal" if people and mine not in people else mine)
