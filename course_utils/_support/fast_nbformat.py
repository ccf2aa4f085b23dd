"""nbformat, imported two seconds faster: `from .._support.fast_nbformat import nbformat`.

It keeps jsonschema from building a grammar of web addresses, which notebooks do not need.
"""

import sys

GRAMMAR = "rfc3987_syntax"
_left_out = GRAMMAR not in sys.modules
if _left_out:
    sys.modules[GRAMMAR] = None  # jsonschema takes it as not installed
try:
    import nbformat  # noqa: F401
finally:
    if _left_out:
        del sys.modules[GRAMMAR]
