"""Lessons that the course has renamed: what a learner or a class still has under the old names.

An id that an exercise once had is never given to another one (a test looks), so an old id says which lesson is meant.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Renamed:
    """A lesson's old and new name, as files are called without .ipynb, and its exercises at that time, without number.

    Its cells were called NN-exercise and NN-exercise-check. Some of these exercises may be gone under the new number.
    """

    old: str
    new: str
    exercises: tuple[str, ...]

    def ids(self):
        """{old id: new id} of the exercises."""
        return {f"{self.old[:2]}-{one}": f"{self.new[:2]}-{one}" for one in self.exercises}


RENAMED = (Renamed("12_capstone", "14_capstone", ("reciprocal-rank", "search", "diagnose", "report")),)
NEW_IDS = {old: new for one in RENAMED for old, new in one.ids().items()}


def new_id(name):
    """The present id of an exercise or of its check, such as "14-search-check"; any other name as it is."""
    if not isinstance(name, str):
        return name
    exercise = name.removesuffix("-check")
    return NEW_IDS[exercise] + name[len(exercise) :] if exercise in NEW_IDS else name
