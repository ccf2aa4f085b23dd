"""Hand-ins are read from Markdown exactly."""

import pytest

from .cases import Case, read

# Markdown in which a reader easily loses something. The first cell has an empty last line, the
# second is indented, and the third, an answer, is empty. The backticks around all of a value go,
# those around a part of it stay. Without its backticks, the name would be bold.
FILE = """# Title
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


def cases_in(text, folder):
    (folder / "one.md").write_text(text, encoding="utf-8")
    return read(folder, built=("built",), roles=("answer",), keys=("kind", "said"), A="a", B="b")


def test_cases_arrive_as_they_are_written(tmp_path):
    assert cases_in(FILE, tmp_path) == [
        Case(
            name="__name__",
            description="What it does, and how.",
            cells={"": ['%%time\n\nx = "ab\u2028"\n', "    y"], "answer": [""]},
            settings={"kind": "one", "said": "has `two`"},
        ),
        Case(name="built", description="In Python.", cells={}, settings={}),
    ]


@pytest.mark.parametrize(
    "right, wrong, message",
    [
        ("python answer", "python anwser", "a cell has an unknown role: .*'anwser'"),
        ("- said", "- sad", "an unknown setting: .*'sad'"),
        ("In Python.", "", "no description: .*'built'"),
        ("### built", "### __name__", "either cells, or a program that builds it: .*'__name__'"),
        ("In Python.", "In Python.\n\n### built\nAgain.", "two cases have the same name"),
        ("### built\nIn Python.\n", "", "a case without cells is not described"),
    ],
    ids=["role", "setting", "description", "no cells", "name twice", "not described"],
)
def test_a_case_that_says_too_little_or_something_unknown_is_refused(
    right, wrong, message, tmp_path
):
    with pytest.raises(AssertionError, match=message):
        cases_in(FILE.replace(right, wrong), tmp_path)
