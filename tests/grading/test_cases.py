"""Hand-ins are read from Markdown exactly."""

from .cases import Case, read

# Markdown in which a reader easily loses something. The first cell has an empty last line and names
# of constants, the second is indented, and the third, an answer, is empty. The backticks around all
# of a value go, those around a part of it stay. Without its backticks, the name would be bold.
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


def test_cases_arrive_as_they_are_written(tmp_path):
    (tmp_path / "one.md").write_text(FILE, encoding="utf-8")
    keys = ("kind", "said")
    assert read(tmp_path, built=("built",), roles=("answer",), keys=keys, A="a", B="b") == [
        Case(
            name="__name__",
            description="What it does, and how.",
            cells={"": ['%%time\n\nx = "ab\u2028"\n', "    y"], "answer": [""]},
            settings={"kind": "one", "said": "has `two`"},
        ),
        Case(name="built", description="In Python.", cells={}, settings={}),
    ]
