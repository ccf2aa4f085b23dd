"""Answers as learners write them: {lesson: module with RIGHT and WRONG}, for the lessons that have any."""

import pkgutil
from importlib import import_module

ANSWERS = {name[-2:]: import_module(f"{__name__}.{name}") for _, name, _ in pkgutil.iter_modules(__path__)}
