"""nbformat, imported two seconds faster: `from .._support.fast_nbformat import nbformat`.

It keeps jsonschema from building a grammar of web addresses, which notebooks do not need.
"""

import sys
from pathlib import Path
from typing import cast

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
    """A notebook file, in format 4. Raises what nbformat raises for a file that is none."""
    return cast("nbformat.NotebookNode", nbformat.read(path, as_version=4))
