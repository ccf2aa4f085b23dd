"""What the badge says is run: hosted CI calls `make test` and each part of `make nightly`, and no test is left out."""

import os
import re
import subprocess
import sys

import pytest
import yaml

from . import offline, run, sabotage
from .project import ROOT

WORKFLOW = yaml.load(
    (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"), Loader=yaml.BaseLoader
)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

COMMANDS = {  # {target of the Makefile: the arguments with which it calls Python}
    "test": "-m tests.run",
    "slow": "-m tests.run --nightly",
    "sabotage": "-m tests.sabotage",
    "shake": "-m tests.shake $(or $(SEED),today)",
    "verdicts": "-W ignore -m tests.verdicts $(L)",
}


def recipe(target):
    """What a target of the Makefile needs, and its commands: two lists."""
    needs, commands = re.search(rf"^{target}:(.*)\n((?:\t.*\n)*)", MAKEFILE, re.MULTILINE).groups()
    return needs.split(), [line.strip() for line in commands.splitlines()]


def test_each_push_to_main_and_each_pull_request_runs_all():
    # "": of every pull request, without conditions
    assert WORKFLOW["on"] == {"push": {"branches": ["main"]}, "pull_request": ""}
    # what the last step of each job runs
    called = {job: settings["steps"][-1].get("run") for job, settings in WORKFLOW["jobs"].items()}
    wanted = {
        "linux": ".ci/run",
        "slow": "make slow",
        "sabotage": "make sabotage",
        "shake": "make shake",
        "verdicts": "make verdicts",
    }
    assert {job: called[job] for job in wanted} == wanted
    # neither the job nor that step is skipped or may fail
    assert not any(
        {"if", "continue-on-error"} & {*job, *job["steps"][-1]}
        for job in map(WORKFLOW["jobs"].get, wanted)
    )


def test_ci_runs_make_test_and_fails_with_it():
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert "set -euo pipefail" in script and script.splitlines()[-1] == "make test"


def test_make_test_and_make_nightly_call_what_they_should():
    assert recipe("nightly")[0] == ["slow", "sabotage", "shake", "verdicts"]
    for target, arguments in COMMANDS.items():
        assert recipe(target)[1] == [f"$(BIN)/python {arguments}"]


@pytest.mark.parametrize(
    "flags, marks, folders, passed_on",
    [
        ([], "not nightly", {"notebooks", "tests"}, set()),
        (["--nightly", "-x"], "nightly", {"tests"}, {"-x"}),
    ],
    ids=["make test", "make slow"],
)
def test_a_test_is_in_one_of_the_two_runs(flags, marks, folders, passed_on, monkeypatch):
    arguments = []
    monkeypatch.setattr(run.pytest, "main", arguments.extend)
    # nothing else of a run happens: no linter starts, no network is blocked, nothing is counted
    monkeypatch.setattr(run, "FIRST", {})
    monkeypatch.setattr(run, "block_network", lambda: "not in a test")
    monkeypatch.setattr(run, "start_warm", lambda: None)
    monkeypatch.setattr(run.size, "report", str)
    monkeypatch.setenv("COURSE_NETWORK_BLOCKED", "")  # which a run sets; restored afterwards
    run.main(flags)
    assert arguments[arguments.index("-m") + 1] == marks
    assert {"notebooks", "tests"} & set(arguments) == folders
    assert {"--nightly", "-x"} & set(arguments) == passed_on


def test_the_breakages_are_many_and_fit_the_files():
    breakages = sabotage.breakages()
    # each has a text of its own; 40: most of them cannot have got lost
    assert len({breakage.what for breakage in breakages}) == len(breakages) >= 40
    for breakage in breakages:
        before = (ROOT / breakage.file).read_text(encoding="utf-8")
        broken = breakage.broken(before)
        assert broken != before, breakage.what
        if breakage.file.endswith(".py"):
            compile(broken, breakage.file, "exec")  # what does not parse, no test could notice
        files = [word for word in breakage.tests if word.startswith(("tests/", "notebooks/"))]
        assert all((ROOT / file).exists() for file in files), breakage.what


def test_a_breakage_of_a_text_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="0 times, not once"):
        sabotage.breakages()[-1].broken("another text")


def test_a_breakage_that_nobody_notices_is_named(monkeypatch, capsys, tmp_path):
    # On a small checkout with three tests: one that notices, one that cannot fail, one that fails
    # by itself.
    (tmp_path / "part.py").write_text("def one():\n    return 1\n")
    (tmp_path / "test_part.py").write_text(
        "from part import one\n\ndef test_it():\n    assert one() == 1\n\n"
        "def test_nothing():\n    pass\n\ndef test_broken():\n    assert False\n"
    )
    broken = [
        sabotage.Breakage(
            room="room",
            what=test,
            file="part.py",
            new="return 2",
            tests=(f"test_part.py::{test}",),
            old="return 1",
        )
        for test in ("test_it", "test_nothing", "test_broken")
    ]
    # without plugins, the six runs of pytest start in half the time
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr(sabotage, "ROOT", tmp_path)
    monkeypatch.setattr(sabotage, "breakages", lambda words: broken)
    monkeypatch.setattr(sabotage, "block_network", lambda: "")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    assert sabotage.main([]) == 1
    first, second, third, last = [
        # "room" begins each outcome, and "1 of" the sum; the other lines are what pytest printed
        line
        for line in capsys.readouterr().out.splitlines()
        if line.startswith(("room", "1 of"))
    ]
    assert first.endswith("test_it: noticed")
    assert "nobody noticed" in second
    assert "do not pass without it" in third
    assert last == "1 of 3 noticed"


# ---------------------------------------------------------------- the network is blocked


# For a process of its own: this one could not undo it, and conftest.py patches its sockets. If the
# network cannot be blocked here, it says why, and ends with 42, a status that nothing else gives.
BLOCK_NETWORK_AND_CONNECT = """
import socket
from tests.offline import block_network, interfaces
reason = block_network()
if reason:
    print(reason)
    raise SystemExit(42)
assert interfaces() == ["lo"], interfaces()
with socket.socket() as server:
    server.bind(("127.0.0.1", 0))
    server.listen()
    socket.create_connection(server.getsockname(), timeout=5).close()
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)  # an address for documentation
except OSError as error:
    print("refused:", error.strerror)
"""


def test_only_loopback_is_left():
    done = subprocess.run(
        [sys.executable, "-c", BLOCK_NETWORK_AND_CONNECT], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode == 42:  # as BLOCK_NETWORK_AND_CONNECT ends where it cannot block
        pytest.skip(done.stdout.strip())
    assert done.stdout.startswith("refused:"), done.stdout + done.stderr


@pytest.mark.skipif("COURSE_NETWORK_BLOCKED" not in os.environ, reason="only under `make test`")
def test_this_very_run_is_cut_off():
    assert os.environ["COURSE_NETWORK_BLOCKED"] != "1" or offline.interfaces() == ["lo"]
