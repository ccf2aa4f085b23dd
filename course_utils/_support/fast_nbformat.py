"""nbformat, without two seconds of its import: jsonschema would build a grammar of web addresses, which no notebook
needs. Import it from here: `from .._support.fast_nbformat import nbformat`.
"""

import sys

GRAMMAR = "rfc3987_syntax"
_left_out = GRAMMAR not in sys.modules
if _left_out:
    sys.modules[GRAMMAR] = None  # jsonschema takes it for not installed
try:
    import nbformat  # noqa: F401
finally:
    if _left_out:
        del sys.modules[GRAMMAR]
