"""Hand-ins are read from Markdown exactly."""

import pytest

from .cases import read

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


def cases(folder, text):
    (folder / "one.md").write_text(text, encoding="utf-8")
    return read(folder, ("built",), ("answer",), ("kind", "said"), A="a", B="b")


def test_cells_arrive_as_they_are_written(tmp_path):
    first, second = cases(tmp_path, FILE)
    assert (first.name, first.description) == ("__name__", "What it does, and how.")
    assert first.cells == {"": ['%%time\n\nx = "ab\u2028"\n', "    y"], "answer": [""]}
    assert first.settings == {"kind": "one", "said": "has `two`"}
    assert (second.name, second.cells, second.settings) == ("built", {}, {})


@pytest.mark.parametrize(
    "text, wrong",
    [("python answer", "python anwser"), ("- said", "- sad"), ("### built", "### __name__")],
    ids=["role", "setting", "name twice"],
)
def test_what_no_case_may_have_is_an_error(text, wrong, tmp_path):
    with pytest.raises(AssertionError):
        cases(tmp_path, FILE.replace(text, wrong))
