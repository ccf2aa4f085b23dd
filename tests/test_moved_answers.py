"""A lesson that was divided: what a learner wrote in its core goes along to the further part, and nothing is lost."""

import json
import tempfile
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils._support.passed import RECORD, SAVED, passed, remember
from course_utils.tools.workspace import copies
from course_utils.tools.workspace.copies import reset_lesson, update_workspace, write_workspace
from course_utils.tools.workspace.merging import CODE_NOTE, FRAME_NOTE
from course_utils.tools.workspace.moving import EARLIER_NOTE

from .cutting import cutter
from .test_renamed import files
from .test_workspace import ANSWER, new_notebook, part, run

CORE, FURTHER = "05_attention.ipynb", "05_attention_further.ipynb"
FRAME = "def {0}(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION"
MINE = "def f(x):\n    return 'mine'"
EXERCISE = "05-entropy"


def exercise(name=EXERCISE, function="f"):
    return part(name, FRAME.format(function), "code", nbgrader={**ANSWER, "grade_id": name})


def write(folder, name, *cells):
    folder.mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=list(cells)), folder / name)


def setup_cell():
    return part("setup", "setup()", "code")


def both():
    return part("both", "queries = 1", "code")


def undivided():
    cells = [part("title", "# 05 All"), setup_cell(), part("kept", "Kept"), part("layer", "The layer"), exercise()]
    return [*cells, part("gone", "x = 1", "code"), exercise("05-stays", "g"), both()]


def divide_course(sources, *more, function="f", text="The layer", core=()):
    """The course, divided: a core, and a further part with what was in it."""
    cells = [part("title", "# 05 Core"), setup_cell(), part("kept", "Kept"), exercise("05-stays", "g"), both()]
    write(sources, CORE, *cells, *core)
    cells = [part("title", "# 05 Further"), setup_cell(), both(), part("layer", text), exercise(function=function)]
    write(sources, FURTHER, *cells, part("new", "New"), *more)


@pytest.fixture
def place(tmp_path):
    """(sources, workspace): a workspace of the undivided course, which is divided now."""
    sources, workspace = tmp_path / "notebooks", tmp_path / "work"
    write(sources, CORE, *undivided())
    write_workspace(workspace, sources)
    divide_course(sources)
    return sources, workspace


def cells_of(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def texts(workspace, name):
    """{id: text} of a copy, in order."""
    return {cell["id"]: "".join(cell["source"]) for cell in cells_of(workspace / name)}


def edit(workspace, changes, name=CORE, own=()):
    """Write these texts into cells, and cells of one's own (cell above, id, text) below others."""
    path = workspace / name
    copy = json.loads(path.read_text(encoding="utf-8"))
    for cell in copy["cells"]:
        cell["source"] = changes.get(cell["id"], cell["source"])
    for above, one, text in own:
        at = [cell["id"] for cell in copy["cells"]].index(above)
        copy["cells"].insert(at + 1, {"cell_type": "markdown", "id": one, "metadata": {}, "source": text})
    path.write_text(json.dumps(copy), encoding="utf-8")
    return path.read_bytes()


def worked(workspace):
    """Answers, an edited text, own cells below moved cells, and output."""
    own = [("layer", "aaaa0001", "My note"), (EXERCISE, "aaaa0002", "Tried"), ("aaaa0002", "aaaa0003", "Twice"),
           ("kept", "aaaa0004", "Of the core")]  # fmt: skip
    edit(workspace, {EXERCISE: MINE, "05-stays": "def g(x):\n    return 5"}, own=own)
    copy = json.loads((workspace / CORE).read_text())
    answer = next(cell for cell in copy["cells"] if cell["id"] == EXERCISE)
    answer["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["seen\n"]}]
    (workspace / CORE).write_text(json.dumps(copy))
    return (workspace / CORE).read_bytes()


CORE_NOW = ["title", "setup", "kept", "aaaa0004", "05-stays", "both"]
FURTHER_NOW = ["title", "setup", "both", "layer", "aaaa0001", EXERCISE, "aaaa0002", "aaaa0003", "new"]


def test_answers_and_the_cells_below_go_where_the_course_has_them_now(place):
    sources, workspace = place
    before = worked(workspace)
    remember(EXERCISE, workspace)
    rows = update_workspace(workspace, sources)
    said = f"your answer to {EXERCISE} and 3 cells of yours moved to {FURTHER}"
    assert [row[:2] for row in rows] == [(CORE, "moved"), (CORE, "merged"), (FURTHER, "written")]
    assert rows[0][2] == said and rows[1][2].endswith(f"your previous file is {SAVED}/05_attention-1.ipynb")
    core, further = texts(workspace, CORE), texts(workspace, FURTHER)
    assert list(core) == CORE_NOW and core["05-stays"].endswith("return 5")
    assert list(further) == FURTHER_NOW and further[EXERCISE] == MINE
    answer = next(cell for cell in cells_of(workspace / FURTHER) if cell["id"] == EXERCISE)
    assert answer["outputs"][0]["text"] == ["seen\n"] and answer["metadata"]["nbgrader"]["grade_id"] == EXERCISE
    assert (workspace / SAVED / "05_attention-1.ipynb").read_bytes() == before and passed(workspace) == {EXERCISE}
    now = files(workspace)
    for _ in range(2):
        assert {action for _, action, _ in update_workspace(workspace, sources)} == {"unchanged"}
    assert files(workspace) == now and {action for _, action in write_workspace(workspace, sources)} == {"unchanged"}


def test_the_next_update_knows_what_is_the_learners_in_both_files(place):
    sources, workspace = place
    worked(workspace)
    update_workspace(workspace, sources)
    divide_course(sources, part("last", "Last"), text="The layer, again", core=[part("end", "End")])
    rows = {name: words for name, _, words in update_workspace(workspace, sources)}
    assert rows[CORE].startswith("1 cell new; your 1 answer and 1 own cell are kept;")
    assert rows[FURTHER].startswith("1 cell new, 1 renewed; your 1 answer and 3 own cells are kept;")
    assert list(texts(workspace, FURTHER)) == [*FURTHER_NOW, "last"]


def test_without_work_nothing_moves(place):
    sources, workspace = place
    edit(workspace, {"05-stays": "def g(x):\n    return 5"})
    assert [row[:2] for row in update_workspace(workspace, sources)] == [(CORE, "merged"), (FURTHER, "written")]
    assert "# YOUR CODE HERE" in texts(workspace, FURTHER)[EXERCISE] and EXERCISE not in texts(workspace, CORE)


def test_lab_writes_the_part_without_answers_and_an_update_brings_them(place):
    sources, workspace = place
    before = worked(workspace)
    assert write_workspace(workspace, sources) == [(CORE, "kept"), (FURTHER, "written")]
    assert (workspace / CORE).read_bytes() == before
    update_workspace(workspace, sources)
    assert list(texts(workspace, CORE)) == CORE_NOW and list(texts(workspace, FURTHER)) == FURTHER_NOW
    assert [path.name for path in (workspace / SAVED).iterdir()] == ["05_attention-1.ipynb"], "an empty part is no loss"


def test_what_was_already_written_in_the_part_stays_and_the_other_stands_below(place):
    sources, workspace = place
    worked(workspace)
    write_workspace(workspace, sources)
    newer = edit(
        workspace, {EXERCISE: "def f(x):\n    return 'newer'", "layer": "Mine", "both": "queries = 3"}, FURTHER
    )
    edit(workspace, {"both": "queries = 2"})
    words = update_workspace(workspace, sources)[0][2]
    beside = f"your answer to {EXERCISE} moved to {FURTHER}, into a note below what you wrote there"
    assert words == f"3 cells of yours moved to {FURTHER}; {beside}"
    further = texts(workspace, FURTHER)
    assert further[EXERCISE].endswith("'newer'") and further["layer"] == "Mine" and further["both"] == "queries = 3"
    assert further[f"{EXERCISE}-yours"] == f"{EARLIER_NOTE}```python\n{MINE}\n```"
    assert (workspace / SAVED / "05_attention_further-1.ipynb").read_bytes() == newer
    assert EXERCISE not in texts(workspace, CORE) and texts(workspace, CORE)["both"] == "queries = 2"
    nbformat.validate(nbformat.read(workspace / FURTHER, as_version=4))
    now = files(workspace)
    assert {row[1] for row in update_workspace(workspace, sources)} == {"unchanged"} and files(workspace) == now


def test_what_the_course_changed_on_the_way_is_shown_as_in_any_update(place):
    sources, workspace = place
    edit(workspace, {EXERCISE: MINE, "layer": "My layer", "gone": "x = 'mine'"}, own=[("gone", "aaaa0001", "Below")])
    divide_course(sources, function="of", text="Another layer")
    update_workspace(workspace, sources)
    core, further = texts(workspace, CORE), texts(workspace, FURTHER)
    assert (core["gone"], core["aaaa0001"]) == ("x = 'mine'", "Below"), "the course has it nowhere, so it stays"
    assert further["layer"] == "Another layer" and further["layer-yours"].endswith("My layer")
    assert further[EXERCISE] == MINE and further[f"{EXERCISE}-frame"].startswith(FRAME_NOTE)
    assert CODE_NOTE not in "".join(further.values())


def test_a_cell_that_both_need_is_in_both(place):
    sources, workspace = place
    edit(workspace, {"both": "queries = 2", "title": "# Mine"})
    rows = update_workspace(workspace, sources)
    assert rows[0] == (CORE, "moved", f"1 cell of yours copied to {FURTHER}, which has the same")
    assert texts(workspace, CORE)["both"] == texts(workspace, FURTHER)["both"] == "queries = 2"
    assert texts(workspace, FURTHER)["title"] == "# 05 Further"


def test_names_that_the_core_defined_and_the_part_does_not_are_said(place):
    sources, workspace = place
    below = "import math\nfrom a.b import c as d, e\ny = 2\nz = 3\nf = 1\n"
    edit(workspace, {"gone": below, EXERCISE: "def f(x):\n    q = math.pi + d(e, y, undefined)\n    return sum(q)"})
    divide_course(sources, part("given", "y = 5", "code"))
    (_, _, words), *_ = update_workspace(workspace, sources)
    assert words == f"your answer to {EXERCISE} moved to {FURTHER}; it does not define d, e and math, which you use"


@pytest.mark.parametrize("call", range(6))
def test_an_update_that_is_cut_off_anywhere_is_completed_by_the_next(place, tmp_path, monkeypatch, call):
    sources, workspace = place
    worked(workspace)
    before, cut = edit(workspace, {"both": "queries = 2", "layer": "My layer"}), cutter(call)
    divide_course(sources, function="of", text="Another layer")

    with monkeypatch.context() as patch:  # as by a power cut: nothing is written any more, not even the record
        for name in ("write_whole", "save_beside"):
            patch.setattr(copies, name, cut(getattr(copies, name)))
        with pytest.raises(KeyboardInterrupt):
            update_workspace(workspace, sources)
    assert before in files(workspace).values()
    update_workspace(workspace, sources)
    interrupted = files(workspace)
    assert {row[1] for row in update_workspace(workspace, sources)} == {"unchanged"} and files(workspace) == interrupted
    write(tmp_path / "old", CORE, *undivided())
    another = tmp_path / "another"
    write_workspace(another, tmp_path / "old")
    (another / CORE).write_bytes(before)
    update_workspace(another, sources)  # in one go
    assert [texts(another, name) for name in (CORE, FURTHER)] == [texts(workspace, name) for name in (CORE, FURTHER)]


def test_work_waits_for_a_part_that_cannot_be_read(place):
    sources, workspace = place
    before = worked(workspace)
    (workspace / FURTHER).write_text("{ half a")
    rows = update_workspace(workspace, sources)
    assert [row[:2] for row in rows] == [(CORE, "waiting"), (FURTHER, "unreadable")]
    assert rows[0][2].startswith(f"what you wrote for {FURTHER} waits here, since that file is not a valid notebook")
    assert (workspace / CORE).read_bytes() == before and (workspace / FURTHER).read_text() == "{ half a"
    reset_lesson(workspace, "05-further", sources)
    update_workspace(workspace, sources)
    assert list(texts(workspace, CORE)) == CORE_NOW and list(texts(workspace, FURTHER)) == FURTHER_NOW


@pytest.mark.parametrize("core", ["unreadable", "another name", "gone"])
def test_a_core_that_is_not_there_is_written_or_named_and_nothing_is_lost(place, core):
    sources, workspace = place
    mine = worked(workspace)
    if core == "unreadable":
        mine = b"{ half a"
        (workspace / CORE).write_bytes(mine)
    elif core == "another name":
        (workspace / CORE).rename(workspace / "mine.ipynb")
    else:
        (workspace / CORE).rename(workspace.parent / "mine.ipynb")
    action = "unreadable" if core == "unreadable" else "written"
    assert update_workspace(workspace, sources) == [(CORE, action, ""), (FURTHER, "written", "")]
    assert core == "gone" or mine in files(workspace).values()


def test_a_lesson_that_was_renamed_and_then_divided(tmp_path):
    sources, workspace = tmp_path / "notebooks", tmp_path / "work"
    write(sources, "12_capstone.ipynb", part("title", "# 12 Capstone"), exercise("12-search"), exercise("12-diagnose"))
    write_workspace(workspace, sources)
    edit(workspace, {"12-diagnose": MINE}, "12_capstone.ipynb")
    (sources / "12_capstone.ipynb").unlink()
    write(sources, "14_capstone.ipynb", part("title", "# 14 Capstone"), exercise("14-search"))
    write(sources, "14_capstone_further_broken.ipynb", part("title", "# 14 Further"), exercise("14-diagnose"))
    assert [action for _, action, _ in update_workspace(workspace, sources)] == [
        "renamed",
        "moved",
        "merged",
        "written",
    ]
    assert texts(workspace, "14_capstone_further_broken.ipynb") == {"title": "# 14 Further", "14-diagnose": MINE}
    assert list(texts(workspace, "14_capstone.ipynb")) == ["title", "14-search"]


@pytest.mark.parametrize("record", ["lost", "old"])
def test_without_a_full_record_answers_and_own_cells_go_along_too(place, record):
    sources, workspace = place
    worked(workspace)
    known = json.loads((workspace / RECORD).read_text())
    (workspace / RECORD).write_text(json.dumps({} if record == "lost" else {CORE: known[CORE]["whole"]}))
    divide_course(sources, text="Another layer")
    assert update_workspace(workspace, sources)[0][1] == "moved"
    further = texts(workspace, FURTHER)
    assert further[EXERCISE] == MINE and {"aaaa0001", "aaaa0002", "aaaa0003"} <= set(further)
    assert f"{EXERCISE}-frame" not in further and ("layer-yours" in further) == (record == "lost")
    now = files(workspace)
    assert {row[1] for row in update_workspace(workspace, sources)} == {"unchanged"} and files(workspace) == now


def test_ids_that_an_editor_lost_are_found_by_the_exercise(place):
    sources, workspace = place
    worked(workspace)
    copy = json.loads((workspace / CORE).read_text())
    copy["cells"] = [{key: one for key, one in cell.items() if key != "id"} for cell in copy["cells"]]
    (workspace / CORE).write_text(json.dumps(copy | {"nbformat_minor": 4}))
    update_workspace(workspace, sources)
    assert texts(workspace, FURTHER)[EXERCISE] == MINE
    assert list(texts(workspace, FURTHER).values()).count("My note") == 1
    assert "My note" not in texts(workspace, CORE).values()


def test_the_commands_take_the_key_of_a_part(tmp_path):
    write_workspace(tmp_path / "w")
    for one in ("05-entropy", "05-head-kinds"):
        remember(one, tmp_path / "w")
    done = run("reset", "5-further", "--workspace", tmp_path / "w")
    assert done.exit_code == 0 and done.output.startswith(f"{FURTHER} is restored") and "still count" in done.output
    done = run("reset", FURTHER, "--forget", "--workspace", tmp_path / "w")
    assert done.output.endswith("Forgotten: 05-entropy.\n") and passed(tmp_path / "w") == {"05-head-kinds"}
    (tmp_path / "w" / FURTHER).write_text("{")
    assert "reset 05-further" in run("update", "--workspace", tmp_path / "w").output


@st.composite
def divisions(draw):
    """An undivided lesson, what a learner does to it, its division, and what the learner does in the further part."""
    names = draw(st.lists(st.sampled_from([*"abcdef", EXERCISE, "05-g"]), min_size=1, unique=True))
    homes = {name: draw(st.sampled_from(["core", "core", "further", "further", "both", "gone"])) for name in names}
    changed = {name for name in names if draw(st.booleans())}
    step = st.tuples(st.sampled_from(["edit", "edit", "add", "delete", "repeat", "no id", "move"]), st.integers(0, 20))
    steps = [draw(st.lists(step, max_size=6)), draw(st.lists(step, max_size=3))]
    return names, homes, changed, steps, draw(st.sampled_from(["new", "new", "old", "lost"])), draw(st.booleans())


def take_steps(path, steps, mark):
    """Change a copy as an editor might. Returns the texts written that are still in it."""
    copy = json.loads(path.read_text(encoding="utf-8"))
    cells = copy["cells"]
    for number, (step, where) in enumerate(steps):
        at, text = where % max(1, len(cells)), f"{mark} {number}\n```\n  "
        if step == "add" or not cells:
            cells.insert(at, {"cell_type": "markdown", "id": f"{number:08x}", "metadata": {}, "source": text})
        elif step == "edit":
            cells[at]["source"] = text
        elif step == "delete":
            cells.pop(at)
        elif step == "repeat":
            cells.insert(where % (len(cells) + 1), dict(cells[at]))
        elif step == "no id":
            cells[at].pop("id", None)
        else:
            cells.append(cells.pop(at))
    if steps:
        path.write_text(json.dumps(copy), encoding="utf-8")
    return [text for cell in cells if (text := "".join(cell["source"])).startswith(mark)]


@settings(max_examples=25, deadline=None)
@given(divisions())
def test_whatever_was_written_before_and_after_the_division_is_in_one_of_the_files(division):
    names, homes, changed, (first, later), record, both_written = division

    def cell(name, new):
        if name.startswith("05-"):
            return exercise(name, "of" if new and name in changed else "f")
        return part(name, f"text {name}{' again' if new and name in changed else ''}")

    def of(*kinds):
        return [cell(name, True) for name in names if homes[name] in kinds]

    with tempfile.TemporaryDirectory() as folder:
        sources, workspace = Path(folder) / "notebooks", Path(folder) / "work"
        write(sources, CORE, *(cell(name, False) for name in names))
        write_workspace(workspace, sources)
        written = take_steps(workspace / CORE, first, "before")
        known = json.loads((workspace / RECORD).read_text())
        if record != "new":
            (workspace / RECORD).write_text(json.dumps({} if record == "lost" else {CORE: known[CORE]["whole"]}))
        write(sources, CORE, part("title", "# Core"), *of("core", "both"))
        write(sources, FURTHER, part("title", "# Further"), *of("further", "both"))
        if both_written:
            write_workspace(workspace, sources)
            written += take_steps(workspace / FURTHER, later, "after")
        actions = {action for _, action, _ in update_workspace(workspace, sources)}
        found = ["".join(cell["source"]) for name in (CORE, FURTHER) for cell in cells_of(workspace / name)]
        assert all(any(text in one for one in found) for text in written)
        for name in [FURTHER, CORE] if "moved" in actions else []:
            nbformat.validate(json.loads((workspace / name).read_text()))
            assert len(texts(workspace, name)) == len(cells_of(workspace / name)), "ids are unique"
        now = files(workspace)
        assert {row[1] for row in update_workspace(workspace, sources)} == {"unchanged"} and files(workspace) == now
