"""The diagrams of the lessons: four kinds for everyday use, and those that a lesson has of its own."""

from .kinds import bars as bars, flow as flow, lines as lines, table as table
