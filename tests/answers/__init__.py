"""Answers as learners write them, not as the checks imitate them: {lesson: module}.

RIGHT must pass, in several types of results. WRONG must fail with these words. PROMISES must fail, too: each breaks the
quoted words of the exercise's text and nothing else, and is told the words behind it, if there are any. The code of an
answer does not count: two that return the same are one.
"""

import pkgutil
from importlib import import_module

ANSWERS = {
    name[-2:]: import_module(f"{__name__}.{name}") for _, name, _ in pkgutil.iter_modules(__path__)
}
