"""A step of the right way done otherwise: pieces of the reference's source replaced.

Most mistakes are the reference with a step left out or done in another way. So a mistake need not
be written as a function: `{" / counts": ""}` says that it does not divide. Two of them at once are
tried where none alone explains an answer.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

source_of = functools.cache(inspect.getsource)


@dataclass(frozen=True)
class Otherwise:
    """The function whose source is that of `reference`, with texts replaced.

    reference: a function that stands at the left margin of its module. swaps: (old text, new text),
    one after the other, each wherever the old text stands. The first call raises ValueError if an
    old text does not stand in the source, SyntaxError if the result is no Python.
    """

    reference: Callable[..., Any]
    swaps: tuple[tuple[str, str], ...]

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    @functools.cached_property
    def function(self) -> Callable[..., Any]:
        source = source_of(self.reference)
        for old, new in self.swaps:
            if old not in source:
                raise ValueError(f"{old!r} does not stand in {self.reference.__name__}")
            source = source.replace(old, new)
        name = self.reference.__name__
        made: dict[str, Callable[..., Any]] = {}
        module = vars(sys.modules[self.reference.__module__])
        # it sees the names of the reference's module, and is not defined there but in `made`
        exec(compile(source, f"<{name}, otherwise>", "exec"), module, made)
        return made[name]

    def both(self, other: Otherwise) -> Otherwise | None:
        """This and another at once.

        Returns None where they cannot be joined: they have different references, both replace the
        same text, or one takes away what the other replaces or makes it invalid.
        """
        if self.reference is not other.reference or dict(self.swaps).keys() & dict(other.swaps):
            return None
        joined = Otherwise(self.reference, self.swaps + other.swaps)
        try:
            joined.function  # noqa: B018  made now, to see whether it can be
        except (ValueError, SyntaxError):
            return None
        return joined
