"""Faults of the machine and of the instructor end in one sentence, keep existing marks, and cost no
learner a point.
"""

import contextlib
import errno
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
from functools import partial
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from course_utils._support.files import Notice
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
    SETTINGS,
    course,
    hand_in,
    has_a_result,
    skip_unless_isolated,
    wait_for_sign,
    write_class,
)
from ..marks import ALL_04, FULL, result

SLOW = "def my_max_pool(a, b):\n    while True:\n        pass"
PYTHON = os.path.realpath(sys.executable)
pytestmark = pytest.mark.nightly
# The `made_with` of results that `run` below takes for its own: the fingerprint, its lessons, the
# seconds and bytes of `Options`, and whether it isolates.
MADE_WITH = f"{marking_fingerprint()} 04 120 {2 * 2**30} False"


@pytest.fixture(autouse=True)
def no_patience(monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 0.3)  # seconds to wait for another writer


# a stored result of a hand-in that has full marks
def entry(learner="ada", file="ada/04_pooling.ipynb", sha256="1"):
    return Entry(learner, "", file, sha256, MADE_WITH, result(*ALL_04))


@pytest.fixture
def marked(tmp_path):
    """The folder of a class of one that is already marked, and its results folder."""
    source = write_class(tmp_path / "class", ada=hand_in("04", all="solution"))
    digest = hashlib.sha256((source / "ada" / "04_pooling.ipynb").read_bytes()).hexdigest()
    (tmp_path / "out").mkdir()
    with opened(tmp_path / "out" / "results.jsonl") as known:
        known.put(entry(sha256=digest))
    return source, tmp_path / "out"


@pytest.fixture
def class_of_two(tmp_path):
    """The folder of a class of ada and bob that is not marked."""
    return write_class(tmp_path / "class", ada=hand_in("04"), bob=hand_in("04", all="solution"))


@pytest.fixture
def nothing_to_mark(tmp_path):
    """The folder of a class of two who handed in no notebook, so no marking process is needed; and
    an empty results folder.
    """
    for name in ("dan", "eve"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "notes.txt").write_text("notes")
    (tmp_path / "out").mkdir()
    return tmp_path / "class", tmp_path / "out"


# Run `grade` without isolation; returns the records. expected: how many notebooks it must mark.
# before: called before it marks them. options: of `Options`.
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


# What changes if a file or folder is replaced or written to: its kind and rights, which one it is,
# and when it last changed.
def identity(path):
    status = path.lstat()
    return status.st_mode, status.st_ino, status.st_ctime_ns


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
    # a whole line, and one whose end a killed run has not written
    path.write_text(LINE + LINE[:-20])
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
    before = identity(out / name)
    with pytest.raises(GradeError) as error:
        run(source, out)
    assert str(out / name) in sentence(error)
    assert words in sentence(error)
    assert identity(out / name) == before
    (out / name).rename(out / "away")
    # the next run succeeds
    assert len(run(source, out)) == 2


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


@pytest.fixture
def small_disk(tmp_path_factory):
    """The folder of a disk of 300 kB, which only this test uses. Only root can have it."""
    disk = tmp_path_factory.mktemp("disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", disk]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root may mount a disk")
    yield disk
    # lazy: works even if a test that failed has left a file open
    subprocess.run(["umount", "--lazy", disk], check=True)


def remount(disk, options):
    subprocess.run(["mount", "-o", f"remount,{options}", disk], check=True)


def fill(disk):
    # the source has no end, so `cp` fails when the disk is full, and leaves what it has written
    subprocess.run(["cp", "/dev/zero", disk / "filler"])


@pytest.mark.parametrize(
    "break_disk, mend_disk, words",
    [
        (fill, lambda disk: (disk / "filler").unlink(), "(No space left|full).*to continue"),
        (partial(remount, options="ro"), partial(remount, options="rw"), "Read-only file system"),
    ],
    ids=["full", "read-only"],
)
def test_a_disk_that_cannot_be_written_to_stops_the_run(
    small_disk, marked, break_disk, mend_disk, words
):
    source, out = marked
    out_on_disk = shutil.copytree(out, small_disk / "out")
    break_disk(small_disk)
    with pytest.raises(GradeError, match=words) as error:
        run(source, out_on_disk)
    assert sentence(error)
    mend_disk(small_disk)
    assert run(source, out_on_disk)[0].points == FULL


# --- concurrent and killed writers


def test_one_run_writes_at_a_time(marked):
    source, out = marked
    with (
        opened(out / "results.jsonl"),
        pytest.raises(GradeError, match="`course grade` is already writing"),
    ):
        run(source, out)
    assert run(source, out)[0].points == FULL


def test_a_folder_without_locks_takes_results_and_says_so(tmp_path, monkeypatch):
    def no_locks(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    path = tmp_path / "results.jsonl"
    with pytest.warns(Notice, match="has no locks"), opened(path) as results:
        results.put(entry())
    assert [file.name for file in tmp_path.iterdir() if file.suffix != ".lock"] == [path.name]


def test_a_run_that_is_killed_leaves_no_folder_and_loses_nothing(tmp_path):
    skip_unless_isolated()
    slow = hand_in("04", max_pool=SLOW)
    # the blank makes the two slow ones different, so that both are marked
    hand_ins = [hand_in("04", all="solution"), slow + " ", slow]
    for name, members in (("class.zip", hand_ins), ("first.zip", hand_ins[:1])):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for number, text in enumerate(members):
                archive.writestr(f"class/s{number}/04_pooling.ipynb", text)
    out = tmp_path / "out"
    command = ["grade", "--out", out, "--workers", "1", "--lessons", "04"]
    running = grader.start(*command, tmp_path / "class.zip")
    wait_for_sign(running, lambda: has_a_result(out))
    descendants = psutil.Process(running.pid).children(recursive=True)
    running.send_signal(signal.SIGKILL)
    running.wait()
    # the kill came before the run could clear away the three unpacked notebooks
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
    """It is told with SIGINT while it marks, isolated, or with SIGTERM while it starts, not
    isolated.
    """
    if isolated:
        skip_unless_isolated()
    source, out = tmp_path / "class", tmp_path / "out"
    # different bytes, so that both are marked
    slow = {f"s{number}": hand_in("04", max_pool=SLOW + " " * number) for number in (1, 2)}
    write_class(source, s0=hand_in("04"), **slow)
    isolation_options = [] if isolated else ["--unsafe-no-isolation"]
    options = ["--workers", 1, "--lessons", "04", *isolation_options]
    # If these tests run in the background of a shell, they ignore SIGINT, and so would `course`,
    # which they start. It inherits the default from here.
    before = signal.signal(stop, signal.SIG_DFL)
    try:
        running = grader.start("grade", source, "--out", out, *options, TMPDIR=str(tmp_path))
    finally:
        signal.signal(stop, before)
    descendants = wait_for_sign(
        running, lambda: psutil.Process(running.pid).children(recursive=True)
    )
    if isolated:
        wait_for_sign(running, lambda: has_a_result(out))
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
    """A function that replaces the marking process with another program in Python.

    The program's process has read the line of settings; `line()` reads the next: a job, or "" at
    the end.
    """

    def replace(program):
        path = tmp_path / "python"
        path.write_text(
            f"#!{PYTHON}\nimport json, sys, time\nline = sys.stdin.readline\nline()\n{program}"
        )
        path.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(path))

    return replace


# Programs for `replace_process`, in text since they run in that process: the line with which a
# marking process says that it is ready, ...
READY = "print(json.dumps({'filter': True}), flush=True)\n"
# ... a process that gives full marks to every hand-in, ...
WORKS = f"""{READY}result = {asdict(result(*ALL_04))!r}
while job := line():
    print(json.dumps({{'key': json.loads(job)['key'], 'result': result}}), flush=True)
"""
# ... and one whose sandbox is gone when it is given the first.
LOSES_ITS_SANDBOX = f"""{READY}line()
print(json.dumps({{'fatal': 'The sandbox is gone.'}}), flush=True)
line()
"""


# the statement by which the replaced process fails when it is given ada's hand-in
@pytest.mark.parametrize(
    "failure",
    [
        "sys.exit()",
        "print('{\"key\": 0, \"resu', end=''); sys.exit()",
        "sys.stdin.close(); time.sleep(1); sys.exit()",
    ],
    ids=["dies", "dies in a line", "hears nothing"],
)
def test_a_hand_in_on_which_the_grader_fails_is_not_marked(
    failure, replace_process, tmp_path, class_of_two
):
    """It is tried twice. The next hand-in gets a new process, and the next run tries again."""
    out = tmp_path / "out"
    replace_process(
        WORKS.replace("    print(", f"    if 'ada/04' in job:\n        {failure}\n    print(")
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
    small_disk, tmp_path, replace_process
):
    source = write_class(
        tmp_path / "class", **{f"s{number}": hand_in("04") for number in range(20)}
    )
    # with 20 kB of texts, the results of 20 hand-ins are larger than the disk
    replace_process(
        WORKS.replace("while ", "result['texts'] = {'04-mean-pool': 'x' * 20_000}\nwhile ")
    )
    out = small_disk / "out"
    with pytest.raises(GradeError) as error:
        run(source, out, expected=20)
    text = sentence(error)
    assert "No space left" in text
    assert "to continue" in text
    assert "--regrade" not in text
    with opened(out / "results.jsonl") as known:
        kept = len(known.entries)
    assert 0 < kept < 20, (kept, text)
    remount(small_disk, "size=20m")
    assert points(run(source, out, expected=20 - kept)) == [FULL] * 20


def test_other_settings_or_another_hand_in_are_marked_again(marked, replace_process):
    source, out = marked
    replace_process(WORKS)
    # The class was marked with the defaults, and by seed 1. Each of these differs in one setting
    # from what was marked last; where no seed is asked for, any will do.
    for other in ({"seed": 5}, {"seconds": 60}, {"seconds": 60, "memory": 2**30}):
        assert run(source, out, expected=1, **other)
    (source / "ada" / "04_pooling.ipynb").write_text(hand_in("04"))
    assert run(source, out, expected=1, **other)
    assert run(source, out, expected=0, **other)


@pytest.mark.parametrize(
    "change", [Path.unlink, lambda path: path.write_text(hand_in("04")[:100])], ids=["gone", "half"]
)
def test_a_hand_in_that_changes_while_it_is_marked_is_not_marked(
    tmp_path, replace_process, class_of_two, change
):
    """A marked file may have been half copied, so its marks match neither the file found first nor
    the present one.
    """
    # a marking process opens each file that it is given
    replace_process(WORKS.replace("    print(", "    open(json.loads(job)['path'])\n    print("))
    path, out = class_of_two / "ada" / "04_pooling.ipynb", tmp_path / "out"
    before = path.read_text()
    ada, bob = run(class_of_two, out, expected=2, before=lambda: change(path))
    assert ada.status == "not marked"
    assert ada.points is None
    assert bob.status == "ok"
    assert bob.points == FULL
    # a file that is gone has another reason: the marking process could not open it
    assert not path.exists() or "it changed while" in ada.reason
    path.write_text(before)
    assert points(run(class_of_two, out, expected=1)) == [FULL, FULL]
    shutil.rmtree(class_of_two / "ada")
    # who is gone has no row
    assert points(run(class_of_two, out)) == [FULL]


def test_without_bubblewrap_the_run_stops_and_names_the_option(
    nothing_to_mark, monkeypatch, tmp_path
):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        GradeError,
        match="cannot be isolated here: bubblewrap is not installed.*--unsafe-no-isolation",
    ) as error:
        grade(nothing_to_mark[0], tmp_path / "new")
    assert sentence(error)
    assert not (tmp_path / "new").exists()


def test_a_sandbox_that_is_killed_stops_the_run(tmp_path):
    skip_unless_isolated()
    # the first is marked at once, the second hangs, so the third waits
    jobs = [{"key": name, "name": name, "path": str(tmp_path / name)} for name in "abc"]
    for job, answers in zip(jobs, [{"mean_pool": "solution"}, {"max_pool": SLOW}, {}]):
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
