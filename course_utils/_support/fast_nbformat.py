"""nbformat, imported two seconds faster: `from .._support.fast_nbformat import nbformat`.

It keeps jsonschema from building a grammar of web addresses, which notebooks do not need.
"""

import sys
from pathlib import Path
from typing import cast

from .installation import INSTALLED

GRAMMAR = "rfc3987_syntax"
# not if another library has imported it already
_left_out = GRAMMAR not in sys.modules
if _left_out:
    # None makes an import of it fail, and jsonschema does without what is not installed
    sys.modules[GRAMMAR] = None  # pyrefly: ignore[unsupported-operation]  # it expects a module
try:
    import nbformat
finally:
    if _left_out:  # whoever needs it can import it again
        del sys.modules[GRAMMAR]


def read_notebook(path: str | Path) -> "nbformat.NotebookNode":
    """The notebook in a file, converted to format 4.

    Raises OSError for a file that cannot be read, and ValueError, which says what to do, for one
    that is not a notebook.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    # JSON that is not a notebook gives many kinds: `[]` an AttributeError, `"cells": 1` a TypeError,
    # `"nbformat_minor": ""` an AssertionError
    except (
        nbformat.ValidationError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        AssertionError,
        RecursionError,
    ):
        advice = (
            "Install the course again"
            if INSTALLED
            else f"Fetch it again, for example with: git checkout {path}"
        )
        raise ValueError(f"The lesson {path} is damaged. {advice}") from None
    return cast("nbformat.NotebookNode", notebook)
