"""Where the source lessons are, their kinds, and the marks around a written solution."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
INSTALLED = (PACKAGE / "notebooks").is_dir()  # from a wheel, which holds the lessons; in a clone they stand beside it
ROOT = PACKAGE if INSTALLED else PACKAGE.parent
NOTEBOOKS, LOCK = ROOT / "notebooks", ROOT / "requirements.lock"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
KINDS = {
    "full": "exercises, questions before results, and a deck of 45 minutes",
    "short": "as full, with a deck of 25 minutes or less",
    "page": "text and code, nothing else",
}


def kind_of(notebook):
    """The kind of a lesson, one of KINDS, from its first cell's metadata; "full" by default.

    Raises ValueError for an unknown kind.
    """
    first = next(iter(notebook["cells"]), {"metadata": {}})
    kind = first["metadata"].get("course", {}).get("kind", "full")
    if kind not in KINDS:
        raise ValueError(f"its kind is {kind!r}, which is none of {', '.join(KINDS)}")
    return kind
