"""Faults of the machine and of the instructor end in one sentence, keep existing marks, and cost no learner a point."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from course_utils.tools import cli
from course_utils.tools.grading import store
from course_utils.tools.grading.class_run import Options, grade
from course_utils.tools.grading.csv_files import read_table
from course_utils.tools.grading.fleet import mark_here
from course_utils.tools.grading.marking import marking_fingerprint
from course_utils.tools.grading.results import GradeError
from course_utils.tools.grading.sandbox import SandboxError
from course_utils.tools.grading.store import Entry, opened

from .. import grader
from ..grader import (
    COURSE,
    ROOT,
    SETTINGS,
    begun,
    course,
    first_result,
    hand_in,
    isolation,
    write_class,
)
from ..marks import ALL_04, FULL, result

SLOW = "def my_max_pool(a, b):\n    while True:\n        pass"
PYTHON = os.path.realpath(sys.executable)
pytestmark = pytest.mark.nightly
# of results that `run` below takes for its own: lessons, seconds, bytes, and no isolation
MADE_WITH = f"{marking_fingerprint()} 04 120 {2 * 2**30} False"


@pytest.fixture(autouse=True)
def no_patience(monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 0.3)


def entry(learner="ada", file="ada/04_pooling.ipynb", sha256="1"):
    return Entry(learner, "", file, sha256, MADE_WITH, result(*ALL_04))


@pytest.fixture
def marked(tmp_path):
    """A class of one that is already marked, and its results folder."""
    source = write_class(tmp_path / "class", ada=hand_in("04", all="solution"))
    digest = hashlib.sha256((source / "ada" / "04_pooling.ipynb").read_bytes()).hexdigest()
    (tmp_path / "out").mkdir()
    with opened(tmp_path / "out" / "results.jsonl") as known:
        known.put(entry(sha256=digest))
    return source, tmp_path / "out"


@pytest.fixture
def class_of_two(tmp_path):
    """A class of ada and bob that is not marked."""
    return write_class(tmp_path / "class", ada=hand_in("04"), bob=hand_in("04", all="solution"))


@pytest.fixture
def nothing_to_mark(tmp_path):
    """A class of two who handed in no notebook, so no marking process is needed."""
    for name in ("dan", "eve"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "notes.txt").write_text("notes")
    (tmp_path / "out").mkdir()
    return tmp_path / "class", tmp_path / "out"


# Run `grade` without isolation. expected: how many notebooks it must mark. before: called before
# it marks them.
def run(source, out, expected=0, before=lambda: None, **options):
    def watched(results, total):
        assert total == expected
        before()
        return results

    return grade(
        source, out, Options(lessons=("04",), isolated=False, workers=1, **options), watched
    )


def points(records):
    return [record.points for record in records]


# The text of an error that pytest caught: one line of fewer than 400 characters that ends with a
# full stop.
def sentence(error):
    text = str(error.value)
    assert re.fullmatch(r"[^\n]{1,398}\.", text), text
    return text


# --- results in an unexpected format


# A function that writes this content to a file.
def holding(content):
    return lambda path: path.write_bytes(
        content if isinstance(content, bytes) else content.encode()
    )


LINE = json.dumps(asdict(entry())) + "\n"
OTHER_SHAPES = {
    "binary": bytes(range(256)) * 40,
    "NULs": bytes(8192),
    "other words": "mine",
    "other lines": '{"learner": "ada"}\n',
    "a damaged line": LINE[:100] + "\n" + LINE,
    "no UTF-8": LINE.encode().replace(b"ada", b"\xff"),
    "a list": "[]\n",
    "JSON without end": "[" * 100_000 + "\n",
    "a list of marks": json.dumps({**asdict(entry()), "result": {"exercises": []}}) + "\n",
}


# the names in a folder, the bytes of a file, or the kind of anything else
def content(path):
    if path.is_dir():
        return [inner.name for inner in path.iterdir()]
    if path.is_file():
        return path.read_bytes()
    return path.lstat().st_mode


@pytest.fixture(params=OTHER_SHAPES)
def other_results(request, tmp_path):
    """A file of results in an unexpected format."""
    holding(OTHER_SHAPES[request.param])(tmp_path / "results.jsonl")
    return tmp_path / "results.jsonl"


def test_results_of_another_shape_are_named_and_stay(other_results):
    before = other_results.read_bytes()
    with pytest.raises(GradeError) as error, opened(other_results):
        pass
    assert re.search(f"{re.escape(str(other_results))}.*--regrade", sentence(error))
    assert other_results.read_bytes() == before


def test_regrade_keeps_results_of_another_shape_beside_the_new_ones(other_results, tmp_path):
    before = other_results.read_bytes()
    (tmp_path / "results-1.jsonl").write_text("the first name for what is kept is taken")
    with opened(other_results, anew=True) as known:  # as --regrade does
        assert known.entries == {}
        known.put(entry())
    with opened(other_results) as known:
        assert list(known.entries.values()) == [entry()]
    assert (tmp_path / "results-2.jsonl").read_bytes() == before


def test_a_line_that_was_cut_off_costs_only_its_own_result(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text(LINE + LINE[:-20])  # a whole line, and one without its end
    with opened(path) as known:
        assert list(known.entries.values()) == [entry()]
        known.put(entry(learner="bob"))
    assert path.read_text() == LINE + LINE.replace('"ada"', '"bob"', 1)


NO_UTF8, NO_FILE = "is not in UTF-8", "It is not a file"


@pytest.mark.parametrize(
    "name, spoil, words",
    [
        ("manual.csv", os.makedirs, "Is a directory"),
        ("manual.csv", holding(b"\x00\xff\xfe" * 99), NO_UTF8),
        ("manual.csv", holding("learner,cell,points\nada,14-report,5\n".encode("utf-16")), NO_UTF8),
        ("manual.csv", holding("a\0b,c\n1,2\n"), "needs the columns"),
        (
            "manual.csv",
            holding('learner,cell,points,comment\na,b,3,"good\nc,d,2,\n'),
            "line 2: a quotation mark is never closed",
        ),
        *(
            (name, os.makedirs, NO_FILE)
            for name in ("grades.csv", "summary.html", "feedback/dan.html")
        ),
        ("moodle.csv", os.mkfifo, NO_FILE),
        *((name, os.makedirs, "Is a directory") for name in ("left_out.csv", "feedback/zoe.html")),
        ("feedback", holding(""), "File exists"),
    ],
)
def test_files_of_another_shape_stop_the_run_and_stay(name, spoil, words, nothing_to_mark):
    source, out = nothing_to_mark
    spoil(out / name)
    before = content(out / name)
    with pytest.raises(GradeError) as error:
        run(source, out)
    assert str(out / name) in sentence(error)
    assert words in sentence(error)
    assert content(out / name) == before
    (out / name).rename(out / "away")
    assert len(run(source, out)) == 2, "the next run succeeds"


def test_a_link_in_place_of_the_unpacked_files_goes_and_is_not_followed(nothing_to_mark, tmp_path):
    source, out = nothing_to_mark
    (tmp_path / "file").touch()
    (out / ".unpacked").symlink_to(tmp_path)
    assert run(source, out)
    assert (tmp_path / "file").exists()
    assert not list(out.glob(".*"))


# --- the results folder


@pytest.mark.parametrize(
    "results, beside",
    [
        ("class", []),
        ("class/dan/results", []),
        ("class/to/new", []),
        ("link/results", []),
        ("out/../class", []),
        ("out", ["class/course"]),
    ],
    ids=[
        "the class's folder",
        "a learner's",
        "through a link in it",
        "through a link to it",
        "by a detour",
        "nbgrader's course",
    ],
)
def test_results_do_not_go_among_the_submissions(results, beside, nothing_to_mark, tmp_path):
    source, out = nothing_to_mark
    (tmp_path / "link").symlink_to(source)
    (source / "to").symlink_to(tmp_path / "class" / "dan")
    before = sorted(source.rglob("*"))
    with pytest.raises(GradeError, match="is the submissions folder, or is inside it"):
        run(source, tmp_path / results, beside=[tmp_path / name for name in beside])
    assert sorted(source.rglob("*")) == before
    assert list(out.iterdir()) == []


# how a script begins: it runs in a process of its own, so it imports this module's names
SMALL_DISK = """
import os, subprocess, sys
from pathlib import Path
import pytest
from tests.grading.test_faults_results import *
disk, source = map(Path, sys.argv[1:])

def remount(options):
    subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)

def fill():
    with contextlib.suppress(OSError), open(disk / "filler", "wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
"""


def on_a_small_disk(tmp_path, script, source=""):
    """Run a script on a separate disk of 300 kB, which only its process sees."""
    new_mounts = ["unshare", "-m"]
    if os.geteuid() or subprocess.run([*new_mounts, "true"], capture_output=True).returncode:
        pytest.skip("only root may mount a disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    # "$4" is the disk: the shell's arguments are the Python, -c, the script, the disk and the source
    mount = ["sh", "-c", 'mount -t tmpfs -o size=300k tmpfs "$4" && exec "$@"', "sh"]
    # not `sys.executable`, which `replace_process` changes
    python = [COURSE[0], "-c", SMALL_DISK + script + "\nprint('done')", disk, source]
    done = subprocess.run([*new_mounts, *mount, *python], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.endswith("done\n")


@pytest.mark.parametrize(
    "spoil, repair, words",
    [
        ("fill()", "(disk / 'filler').unlink()", "(No space left|full).*to continue"),
        ("remount('ro')", "remount('rw')", "Read-only file system"),
    ],
    ids=["full", "read-only"],
)
def test_a_disk_that_cannot_be_written_to_stops_the_run(tmp_path, marked, spoil, repair, words):
    source, out = marked
    script = f"""shutil.copytree({str(out)!r}, disk / "out")
{spoil}
with pytest.raises(GradeError, match={words!r}) as error:
    run(source, disk / "out")
assert sentence(error)
{repair}
assert run(source, disk / "out")[0].points == FULL
"""
    on_a_small_disk(tmp_path, script, source)


# --- concurrent and killed writers


def test_one_run_writes_at_a_time(marked):
    source, out = marked
    with (
        opened(out / "results.jsonl"),
        pytest.raises(GradeError, match="`course grade` is already writing"),
    ):
        run(source, out)
    assert run(source, out)[0].points == FULL


def test_a_run_that_is_killed_leaves_no_folder_and_loses_nothing(tmp_path):
    isolation()
    slow = hand_in("04", max_pool=SLOW)
    hand_ins = [hand_in("04", all="solution"), slow + " ", slow]
    for name, members in (("class.zip", hand_ins), ("first.zip", hand_ins[:1])):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for number, text in enumerate(members):
                archive.writestr(f"class/s{number}/04_pooling.ipynb", text)
    out = tmp_path / "out"
    command = ["grade", "--out", out, "--workers", "1", "--lessons", "04"]
    running = grader.start(*command, tmp_path / "class.zip")
    begun(running, lambda: first_result(out))
    descendants = psutil.Process(running.pid).children(recursive=True)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert len(list((out / ".unpacked").iterdir())) == 3
    for process in descendants:  # those that have not ended with it
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    done = course(*command, tmp_path / "first.zip")
    assert done.returncode == 0, done.stderr
    assert read_table(out / "grades.csv")[0]["total"] == str(FULL)
    assert not list(out.glob(".*"))


@pytest.mark.parametrize(
    "stop, isolated", [(signal.SIGINT, True), (signal.SIGTERM, False)], ids=["marks", "starts"]
)
def test_a_run_that_is_told_to_end_says_so_and_leaves_nothing(tmp_path, stop, isolated):
    """Told while it marks, isolated, or while it starts, not isolated."""
    if isolated:
        isolation()
    source, out = tmp_path / "class", tmp_path / "out"
    # different bytes, so that both are marked
    slow = {f"s{number}": hand_in("04", max_pool=SLOW + " " * number) for number in (1, 2)}
    write_class(source, s0=hand_in("04"), **slow)
    how = [] if isolated else ["--unsafe-no-isolation"]
    options = ["--workers", 1, "--lessons", "04", *how]
    # what runs in the background of a shell ignores SIGINT
    before = signal.signal(stop, signal.SIG_DFL)
    try:
        running = grader.start("grade", source, "--out", out, *options, TMPDIR=str(tmp_path))
    finally:
        signal.signal(stop, before)
    descendants = begun(running, lambda: psutil.Process(running.pid).children(recursive=True))
    if isolated:
        begun(running, lambda: first_result(out))
        descendants = psutil.Process(running.pid).children(recursive=True)
        assert "bwrap" in [process.name() for process in descendants]
    running.send_signal(stop)
    _, messages = running.communicate(timeout=60)
    assert running.returncode == 128 + stop  # as shells report a signal
    assert (
        f"Stopped. What was marked is kept in {out}; run the same command to continue." in messages
    )
    assert "Traceback" not in messages
    _, alive = psutil.wait_procs(descendants, timeout=20)
    assert alive == []
    assert [*out.glob(".*"), *tmp_path.glob("course-grade-*")] == []


# --- marking processes


@pytest.fixture
def replace_process(monkeypatch, tmp_path):
    """Replace the marking process with another program, which reads a line of settings first."""

    def put(program):
        path = tmp_path / "python"
        path.write_text(
            f"#!{PYTHON}\nimport json, sys, time\nline = sys.stdin.readline\nline()\n{program}"
        )
        path.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(path))

    return put


# programs for it: the line that says that it is ready, one that gives full marks to every hand-in,
# and one whose sandbox is gone when it is given the first
READY = "print(json.dumps({'filter': True}), flush=True)\n"
WORKS = f"""{READY}result = {asdict(result(*ALL_04))!r}
while job := line():
    print(json.dumps({{'key': json.loads(job)['key'], 'result': result}}), flush=True)
"""
LOSES_ITS_SANDBOX = f"""{READY}line()
print(json.dumps({{'fatal': 'The sandbox is gone.'}}), flush=True)
line()
"""


@pytest.mark.parametrize(
    "fails",
    [
        "sys.exit()",
        "print('{\"key\": 0, \"resu', end=''); sys.exit()",
        "sys.stdin.close(); time.sleep(1); sys.exit()",
    ],
    ids=["dies", "dies in a line", "hears nothing"],
)
def test_a_hand_in_on_which_the_grader_fails_is_not_marked(
    fails, replace_process, tmp_path, class_of_two
):
    """The next hand-in gets a new process, and the next run tries again."""
    out = tmp_path / "out"
    replace_process(
        WORKS.replace("    print(", f"    if 'ada/04' in job:\n        {fails}\n    print(")
    )
    arguments = [
        "grade",
        str(class_of_two),
        f"--out={out}",
        "--unsafe-no-isolation",
        "--workers=1",
        "--lessons=04",
    ]
    done = CliRunner().invoke(cli.main, arguments)
    assert "Not marked: ada. They have no points yet" in done.output
    assert done.exit_code == 3  # some are not marked
    ada, bob = read_table(out / "grades.csv")
    assert {ada[column] for column in ("total", *ALL_04)} == {""}
    assert ada["status"] == "not marked"
    assert "ended twice" in ada["reason"]
    assert bob["status"] == "ok"
    assert bob["total"] == str(FULL)
    replace_process(WORKS)
    assert CliRunner().invoke(cli.main, arguments).exit_code == 0
    assert [row["total"] for row in read_table(out / "grades.csv")] == [str(FULL)] * 2


@pytest.mark.parametrize(
    "program, words",
    [
        ("", "ended before it was ready"),
        ("print(json.dumps({'fatal': 'No sandbox: why.'}))", "No sandbox: why."),
        (LOSES_ITS_SANDBOX, "sandbox is gone."),
    ],
    ids=["ends", "no sandbox", "loses it"],
)
def test_a_marking_process_that_cannot_work_stops_the_run(
    program, words, replace_process, tmp_path, class_of_two
):
    replace_process(program)
    with pytest.raises(SandboxError, match=words):
        run(class_of_two, tmp_path / "out", expected=2)
    assert not (tmp_path / "out" / "grades.csv").exists()
    replace_process(WORKS)
    assert points(run(class_of_two, tmp_path / "out", expected=2)) == [FULL, FULL]


def test_a_disk_that_fills_up_keeps_earlier_results_and_the_same_command_marks_the_rest(
    tmp_path, replace_process
):
    source = write_class(
        tmp_path / "class", **{f"s{number}": hand_in("04") for number in range(20)}
    )
    replace_process(
        WORKS.replace("while ", "result['texts'] = {'04-mean-pool': 'x' * 20_000}\nwhile ")
    )
    script = f"""sys.executable = {sys.executable!r}
with pytest.raises(GradeError) as error:
    run(source, disk / "out", expected=20)
text = sentence(error)
assert "No space left" in text
assert "to continue" in text
assert "--regrade" not in text
with opened(disk / "out" / "results.jsonl") as known:
    kept = len(known.entries)
assert 0 < kept < 20, (kept, text)
remount("size=20m")
assert points(run(source, disk / "out", expected=20 - kept)) == [FULL] * 20
"""
    on_a_small_disk(tmp_path, script, source)


def test_other_settings_or_another_hand_in_are_marked_again(marked, replace_process):
    source, out = marked
    replace_process(WORKS)
    for other in ({"seconds": 60}, {"memory": 2**30}, {"seed": 5}):
        assert run(source, out, expected=1, **other)
    (source / "ada" / "04_pooling.ipynb").write_text(hand_in("04"))
    assert run(source, out, expected=1)
    assert run(source, out, expected=0)


@pytest.mark.parametrize(
    "change", [Path.unlink, lambda path: path.write_text(hand_in("04")[:100])], ids=["gone", "half"]
)
def test_a_hand_in_that_changes_while_it_is_marked_is_not_marked(
    tmp_path, replace_process, class_of_two, change
):
    """A marked file may have been half copied, so its marks match neither the file found first nor the present one."""
    replace_process(WORKS.replace("    print(", "    open(json.loads(job)['path'])\n    print("))
    path, out = class_of_two / "ada" / "04_pooling.ipynb", tmp_path / "out"
    before = path.read_text()
    ada, bob = run(class_of_two, out, expected=2, before=lambda: change(path))
    assert ada.status == "not marked"
    assert ada.points is None
    assert bob.status == "ok"
    assert bob.points == FULL
    # of a file that is gone, nobody can say that it changed
    assert not path.exists() or "it changed while" in ada.reason
    path.write_text(before)
    assert points(run(class_of_two, out, expected=1)) == [FULL, FULL]
    shutil.rmtree(class_of_two / "ada")
    assert points(run(class_of_two, out)) == [FULL], "who is gone has no row"


def test_without_bubblewrap_the_run_stops_and_names_the_option(
    nothing_to_mark, monkeypatch, tmp_path
):
    monkeypatch.setenv("PATH", str(tmp_path))
    words = "cannot be isolated here: bubblewrap is not installed.*--unsafe-no-isolation"
    with pytest.raises(GradeError, match=words) as error:
        grade(nothing_to_mark[0], tmp_path / "new")
    assert sentence(error)
    assert not (tmp_path / "new").exists()


def test_a_sandbox_that_is_killed_stops_the_run(tmp_path):
    isolation()
    # the first is marked at once, the second hangs, so the third waits
    jobs = [{"key": name, "name": name, "path": str(tmp_path / name)} for name in "abc"]
    for job, answers in zip(jobs, [{"normalise": "solution"}, {"max_pool": SLOW}, {}]):
        Path(job["path"]).write_text(hand_in("04", **answers))
    results = mark_here(jobs, SETTINGS, workers=1)
    _, first = next(results)
    assert first.status == "ok"
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.parent().name() == "bwrap":  # the sandbox's server, which bwrap started
                process.kill()
    with pytest.raises(SandboxError) as error:
        list(results)
    assert sentence(error)
