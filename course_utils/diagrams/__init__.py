"""The diagrams of the lessons: four kinds for everyday use, and those that a lesson has of its own."""

from .kinds import bars as bars
from .kinds import flow as flow
from .kinds import lines as lines
from .kinds import table as table
