"""nbformat, imported two seconds faster: `from .._support.fast_nbformat import nbformat`.

It keeps jsonschema from building a grammar of web addresses, which notebooks do not need.
"""

import sys
from pathlib import Path
from typing import cast

from .notebooks import INSTALLED

GRAMMAR = "rfc3987_syntax"
_left_out = GRAMMAR not in sys.modules
if _left_out:
    # jsonschema takes it as not installed
    sys.modules[GRAMMAR] = None  # pyrefly: ignore[unsupported-operation]  # so Python says, importlib.import_
try:
    import nbformat
finally:
    if _left_out:
        del sys.modules[GRAMMAR]


def read_notebook(path: str | Path) -> "nbformat.NotebookNode":
    """A notebook file, in format 4. Raises ValueError for a file that is none, with what
    to do, and OSError.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except (nbformat.ValidationError, ValueError, TypeError, KeyError, AttributeError):
        advice = (
            "Install the course again"
            if INSTALLED
            else f"Fetch it again, for example with: git checkout {path}"
        )
        raise ValueError(f"The lesson {path} is damaged. {advice}") from None
    return cast("nbformat.NotebookNode", notebook)
