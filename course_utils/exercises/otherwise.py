"""A step of the right way done otherwise: pieces of the reference's source replaced, one at a time or two at once.

Most mistakes are the reference with a step left out or done in another way. So a mistake need not be written as a
function: `{" / counts": ""}` says that it does not divide. Two of them at once are tried where none alone explains an
answer.
"""

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Otherwise:
    """The function whose source is that of `reference` with each old text of `swaps`, (old, new), replaced by the new.

    Raises ValueError when it is first called if an old text does not stand in the source.
    """

    reference: Callable
    swaps: tuple[tuple[str, str], ...]

    def __call__(self, *args):
        return self.function(*args)

    @functools.cached_property
    def function(self):
        source = source_of(self.reference)
        for old, new in self.swaps:
            if old not in source:
                raise ValueError(f"{old!r} does not stand in {self.reference.__name__}")
            source = source.replace(old, new)
        made = {}
        exec(compile(source, f"<{self.reference.__name__}, otherwise>", "exec"), self._globals, made)
        return made[self.reference.__name__]

    @property
    def _globals(self):
        return vars(sys.modules[self.reference.__module__])

    def both(self, other):
        """This and another at once, or None where one takes away what the other replaces."""
        first, second = (text for text, _ in self.swaps), (text for text, _ in other.swaps)
        if self.reference is not other.reference or set(first) & set(second):
            return None
        for swaps in (self.swaps + other.swaps, other.swaps + self.swaps):
            both = Otherwise(self.reference, swaps)
            try:
                both.function  # noqa: B018  it is made now
            except (ValueError, SyntaxError):
                continue
            return both
        return None


@functools.cache
def source_of(function):
    """The source of a function, which stands at the left margin of its module."""
    return inspect.getsource(function)
