"""Answers as learners write them, not as the checks imitate them: {lesson: module}.

RIGHT must pass, in several types of results; so must COMPLETED, whose entries are answers to the
tasks in which only a line of a function is missing. WRONG must fail with these words. PROMISES must
fail, too: each breaks the quoted words of the exercise's text and nothing else, and is told the
words behind it, if there are any. The code of an answer does not count: two that return the same
are one.

No helper has the name of a function that an exercise asks for: test_grading_parity.py runs these
files as cells of a notebook, where the learner's function would replace it.
"""

import pkgutil
from importlib import import_module

ANSWERS = {
    name[-2:]: import_module(f"{__name__}.{name}") for _, name, _ in pkgutil.iter_modules(__path__)
}
