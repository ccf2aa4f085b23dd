"""The report of how large the course is."""

import subprocess

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from . import size

# nine tokens: def f ( ) : return ( 1 )
CODE = b'"""Of the module."""\n\n\ndef f():\n    """Of f."""\n    # why\n    return (\n        1\n    )\n'


def test_tokens_are_those_of_code_however_it_is_broken_into_lines():
    assert size.tokens(CODE) == size.tokens(b"def f(): return (1)") == 9
    assert size.tokens(b'x = "a text"\n') == 3, "a text that is no docstring counts"
    assert size.tokens(b"") == 0
    assert size.tokens(b"x = (") > 0, "a cell may have an error on purpose"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A checkout with a module, a test and a lesson, one commit behind which the module has grown."""
    (tmp_path / "course_utils" / "tools").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "notebooks" / "further").mkdir(parents=True)
    (tmp_path / "course_utils" / "flat.py").write_text("x = 1\n")
    (tmp_path / "course_utils" / "tools" / "cli.py").write_text("x = 1\n")
    (tmp_path / "tests" / "test_x.py").write_text("assert True\n")
    cells = [new_markdown_cell("Four words of text"), new_code_cell("print(1)")]
    nbformat.write(new_notebook(cells=cells), tmp_path / "notebooks" / "further" / "04_x.ipynb")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    (tmp_path / "course_utils" / "tools" / "cli.py").write_text("x = 1 + 1\n")
    monkeypatch.setattr(size, "ROOT", tmp_path)
    return tmp_path


def rows(report):
    return {line[:32].strip(): line[32:].split() for line in report.splitlines()[1:]}


def test_the_report_has_each_room_and_what_changed(course):
    assert rows(size.report("HEAD")) == {
        "course_utils/*.py": ["3", "+0"],
        "course_utils/tools": ["5", "+2"],
        "notebooks/further, code": ["4", "+0"],
        "notebooks/further, words": ["4", "+0"],
        "tests": ["2", "+0"],
    }


def test_without_an_earlier_commit_the_report_has_sizes_only(course):
    report = size.report()
    assert rows(report)["course_utils/tools"] == ["5"]
    assert report.endswith("git knows no earlier commit to compare with.")


def test_the_change_is_the_one_since_the_last_tag(course):
    subprocess.run(["git", "tag", "0.1.0"], cwd=course, check=True)
    assert rows(size.report())["course_utils/tools"] == ["5", "+2"]


def test_a_commit_that_git_does_not_know_is_named(course, capsys):
    assert size.main(["nowhere"]) == 1
    assert "git has no commit nowhere" in capsys.readouterr().out
