"""Hand-ins are read from Markdown exactly, and what cannot be read is an error that names its line."""

import pytest

from . import hostile, odd
from .cases import Case, read

GOOD = """# Title
An introduction.

### `__name__`
What it does,
and how.

```python
%%time

x = "{A}{B}{U+2028}"

```
```python
    y
```
```python answer
```
- kind: `one`
- said: has `two`

### built
In Python.
"""


def cases(folder, text, built=("built",)):
    (folder / "one.md").write_text(text, encoding="utf-8")
    return read(folder, built, ("answer",), ("kind", "said"), A="a", B="b")


def test_cells_arrive_as_they_are_written(tmp_path):
    first, second = cases(tmp_path, GOOD)
    assert (first.name, first.what, first.where) == (
        "__name__",
        "What it does, and how.",
        f"{tmp_path}/one.md:4",
    )
    assert first.cells == {"": ['%%time\n\nx = "ab\u2028"\n', "    y"], "answer": [""]}
    assert first.more == {"kind": "one", "said": "has `two`"}
    assert (second.name, second.cells, second.more) == ("built", {}, {})


@pytest.mark.parametrize(
    "good, bad, error",
    [
        ("python answer", "python anwser", "17: an unknown kind of cell: python anwser"),
        ("```python answer", "```py answer", "17: an unknown kind of cell: py answer"),
        ("```python\n    y", "```python answer\n    y", "17: a second cell for answer"),
        ('"\n\n```\n', '"\n\n', "8: a cell without an end"),
        ("```\n- kind: `one`", "- kind: `one`", "17: a cell without an end"),
        ("- said", "- sad", "19: unknown, repeated, empty or too long: sad"),
        ("- said", "- kind", "19: unknown, repeated, empty or too long: kind"),
        ("two`", "two`\n  and three", "19: unknown, repeated, empty or too long: said"),
        ("### built", "### __name__", "22: a second case with the name __name__"),
        ("### built", "## built", "22: a heading that is not expected here"),
        ("### built\n", "", "22: a paragraph that is not expected here"),
        ("What it does,\nand how.\n", "", "6: a fence that is not expected here"),
        ("An introduction.", "- an item", "2: a bullet_list that is not expected here"),
        ("In Python.", "", "22: a case needs a sentence"),
        (
            "### built",
            "### build",
            "22: a case needs a sentence, and cells either here or in Python",
        ),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_line(good, bad, error, tmp_path):
    assert GOOD.count(good) == 1
    with pytest.raises(ValueError) as raised:
        cases(tmp_path, GOOD.replace(good, bad))
    assert f"{tmp_path}/one.md:{error}" in str(raised.value)


@pytest.mark.parametrize("built", [("built", "__name__"), ("built", "another")])
def test_what_is_built_in_python_has_a_case_without_cells(built, tmp_path):
    with pytest.raises(
        ValueError, match="either here or in Python|no case has the name {'another'}"
    ):
        cases(tmp_path, GOOD, built)


@pytest.mark.parametrize(
    "made, case",
    [
        (
            hostile.submission,
            Case("a", "x.md:1", "b", {"instead": ["return 1"], "probe": ["pass"]}),
        ),
        (
            hostile.submission,
            Case("a", "x.md:1", "b", {"my_mean_pool": ["x = 1"], "before": ["y = 1"]}),
        ),
        (odd.notebook, Case("a", "x.md:1", "b", {"my_mean_pool": ["x = 1"]}, {"dim": "DIM"})),
        (
            odd.notebook,
            Case("a", "x.md:1", "b", {"": ["x = 1"]}, {"dim": "DIM", "weights": "weights"}),
        ),
        (odd.notebook, Case("a", "x.md:1", "b", {"": ["x = 1"]}, {"lost": "04-mean-pol"})),
    ],
)
def test_a_case_that_contradicts_itself_is_an_error(made, case):
    with pytest.raises(ValueError, match="x.md:1: "):
        made(case)
