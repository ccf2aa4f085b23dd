"""Where the source lessons lie, and the marks around a written solution."""

from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
