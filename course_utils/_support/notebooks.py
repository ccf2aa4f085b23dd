"""Where the source lessons lie, what kinds there are, and the marks around a written solution."""

from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
KINDS = {
    "full": "exercises, questions before results, and a deck of 45 minutes",
    "short": "as full, with a deck of 25 minutes or less",
    "page": "text and code, nothing else",
}


def kind_of(notebook):
    """The kind of a lesson, one of KINDS, as the metadata of its first cell say; "full" where they say nothing. Raises
    ValueError for another one.
    """
    first = next(iter(notebook["cells"]), {"metadata": {}})
    kind = first["metadata"].get("course", {}).get("kind", "full")
    if kind not in KINDS:
        raise ValueError(f"its kind is {kind!r}, which is none of {', '.join(KINDS)}")
    return kind
