"""Who refuses bubblewrap its namespaces, and what a teacher reads: in `course grade` and by the doctor."""

import os
import re
import subprocess
import sys

import pytest

from course_utils.tools import doctor
from course_utils.tools.grading import refusals
from course_utils.tools.grading.class_run import grade
from course_utils.tools.grading.results import GradeError

from .grader import skip_unless_isolated
from .project import ROOT

# Who refuses namespaces: (the kernel's setting that says so and its value, bubblewrap's own words, what
# a teacher reads). The words are those of bubblewrap 0.9 on Ubuntu 24.04, in Docker, and on Debian.
REFUSALS = {
    "AppArmor": (
        ("kernel/apparmor_restrict_unprivileged_userns", "1"),
        "bwrap: setting up uid map: Permission denied",
        r"AppArmor does not let .* \(bwrap: setting up uid map: Permission denied\)\. .*"
        r'`sudo install -m 644 "/.*/grading/bwrap\.apparmor" /etc/apparmor\.d/bwrap && sudo apparmor_p',
    ),
    "container": (
        ("container", ""),
        "bwrap: Creating new namespace failed: Operation not permitted",
        r"looks like a container, .*failed: Operation not permitted.*--security-opt seccomp=unconf",
    ),
    "kernel": (
        ("kernel/unprivileged_userns_clone", "0"),
        "bwrap: No permissions to create new namespace",
        r"`sudo sysctl -w kernel\.unprivileged_userns_clone=1` allows them",
    ),
    "unknown": (("kernel/other", "1"), "bwrap: whatever", r"this machine does not .*: whatever\)"),
}


@pytest.mark.parametrize("setting, message, words", REFUSALS.values(), ids=REFUSALS)
def test_a_refused_namespace_names_who_refuses_it_and_the_way_out(
    setting, message, words, monkeypatch, tmp_path
):
    name, value = setting
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(f"{value}\n")
    monkeypatch.setattr(refusals, "SETTINGS", tmp_path)
    monkeypatch.setattr(refusals, "CONTAINER_FILES", [tmp_path / "container"])
    monkeypatch.delenv(refusals.KUBERNETES, raising=False)
    (tmp_path / "hand-ins").mkdir()
    bubblewrap = tmp_path / "bin" / "bwrap"
    bubblewrap.parent.mkdir()
    bubblewrap.write_text(f"#!/bin/sh\necho '{message}' >&2\nexit 1\n")
    bubblewrap.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bubblewrap.parent}:{os.environ['PATH']}")
    with pytest.raises(GradeError, match=f"cannot be isolated here: .*{words}") as error:
        grade(tmp_path / "hand-ins", tmp_path / "new")
    text = str(error.value)
    assert "\n" not in text and text.endswith("anyway: --unsafe-no-isolation.")
    assert len(text) < 600, "characters, of which the path of the profile may be many"
    finding = str(doctor.isolation())
    assert finding.startswith("NOTE  grader: only `course grade` needs it")
    assert re.search(words, finding)


# In a user namespace of its own, this process may forbid any further one.
FORBID_NAMESPACES = """
from pathlib import Path
from course_utils._support.namespaces import own_users
from course_utils.tools.grading.sandbox import isolation_problem
own_users()
Path("/proc/sys/user/max_user_namespaces").write_text("0")
print(isolation_problem())
"""


def test_a_kernel_that_allows_no_namespaces_is_named():
    skip_unless_isolated()
    done = subprocess.run(
        [sys.executable, "-c", FORBID_NAMESPACES], cwd=ROOT, capture_output=True, text=True
    )
    assert "the kernel's setting user.max_user_namespaces forbids the namespaces" in done.stdout


def test_the_apparmor_profile_is_the_documented_form():
    # no AppArmor here: https://ubuntu.com/blog/ubuntu-23-10-restricted-unprivileged-user-namespaces
    lines = refusals.PROFILE.read_text(encoding="utf-8").splitlines()
    rules = " ".join(line.strip() for line in lines if line and not line.startswith("#"))
    assert rules == (
        "abi <abi/4.0>, include <tunables/global> profile bwrap /usr/bin/bwrap flags=(unconfined) "
        "{ userns, include if exists <local/bwrap> }"
    )
