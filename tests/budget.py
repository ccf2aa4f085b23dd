"""How large the course is beside what it may be: `python -m tests.budget`; `make test` ends with this table.

Code is counted in statements (`ast.stmt`), so that long lines save nothing. The words of the lessons are those of their
Markdown cells. CONTRIBUTING.md says what to do when something is over its limit.
"""

import ast
from pathlib import Path

import nbformat

from .project import ROOT

LIMITS = {  # statements; of the lessons, words
    "course_utils/*.py": 1_244,
    "course_utils/_support": 1_624,
    "course_utils/diagrams": 1_308,
    "course_utils/diary": 197,
    "course_utils/exercises": 2_513,
    "course_utils/explore": 805,
    "course_utils/tools": 7_572,
    "course_utils/trainings": 1_236,
    "tests": 14_000,
    "notebooks/*.ipynb": 48_720,
    "notebooks/further": 37_130,
}


def statements(path: Path) -> int:
    """How many statements a Python file has."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree))


def words(path: Path) -> int:
    """How many words the Markdown cells of a notebook have."""
    cells = nbformat.read(path, as_version=4).cells
    return sum(len(cell.source.split()) for cell in cells if cell.cell_type == "markdown")


def size(place: str) -> int:
    """The statements, or words, of all files that a key of LIMITS names: a pattern or a folder."""
    pattern = place if "*" in place else f"{place}/**/*"
    count, suffix = (words, ".ipynb") if place.startswith("notebooks") else (statements, ".py")
    return sum(count(path) for path in ROOT.glob(pattern) if path.suffix == suffix)


def sizes() -> dict[str, int]:
    """The size of each key of LIMITS."""
    return {place: size(place) for place in LIMITS}


def over(size_of: dict[str, int]) -> list[str]:
    """The keys of LIMITS whose size is above their limit."""
    return [place for place, limit in LIMITS.items() if size_of[place] > limit]


def table() -> str:
    """A head, a line for each limit, and a line that names what is over its limit."""
    size_of = sizes()
    lines = [f"{'statements; of lessons, words':32} {'size':>7} {'limit':>7}"]
    for place, limit in LIMITS.items():
        lines.append(f"{place:32} {size_of[place]:7,} {limit:7,}")
    too_large = ", ".join(over(size_of))
    lines.append(
        f"Over: {too_large}. See .github/CONTRIBUTING.md" if too_large else "Nothing is over."
    )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
