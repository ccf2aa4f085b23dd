"""Progress bars that leave nothing behind, in a terminal and in a notebook."""

import io
import os
import sys
from typing import Any


def progress_bar(**settings: Any) -> Any:
    """A tqdm bar that appears after two seconds and disappears when it is done.

    settings: of tqdm, except `leave` and `disable`, such as another `delay` in seconds. With
    TQDM_DISABLE=1 there is no bar.
    """
    return _kind()(
        **{"delay": 2, **settings}, leave=False, disable=os.environ.get("TQDM_DISABLE") == "1"
    )


def bars_are_text() -> None:
    """Let Sentence Transformers draw its bars, as with `show_progress_bar=True`, by `progress_bar`.

    Its own are widgets, which stay in a saved notebook, and TQDM_DISABLE would not turn them off.
    Call this before that library is imported.
    """
    import tqdm.autonotebook
    from tqdm.std import tqdm as ordinary

    class LibraryBar(ordinary):
        """`progress_bar`, called as tqdm is; a bar that is off, and a subclass, stay tqdm's own."""

        def __new__(
            cls, iterable: Any = None, desc: str | None = None, total: Any = None, **settings: Any
        ) -> Any:
            if cls is not LibraryBar or settings.get("disable"):
                return super().__new__(cls)
            ours = {name: settings[name] for name in settings.keys() - {"disable", "leave"}}
            return progress_bar(iterable=iterable, desc=desc, total=total, **ours)

    def bar_over_numbers(*bounds: int, **settings: Any) -> Any:
        return LibraryBar(range(*bounds), **settings)

    tqdm.autonotebook.tqdm = LibraryBar
    # it takes what they take
    tqdm.autonotebook.trange = bar_over_numbers  # pyrefly: ignore[bad-assignment]


def ipython_shell() -> Any:
    """The IPython shell that runs this code, or None. It does not import IPython, which is slow."""
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None


def in_a_notebook() -> bool:
    """Whether a Jupyter kernel runs this code."""
    return hasattr(ipython_shell(), "kernel")


def _kind() -> Any:
    # the class of bars; it is made here because the import of tqdm is slow
    from tqdm import tqdm

    class Bar(tqdm):
        """A bar that is not shown before its delay, not even for a new description, and that
        `close` always removes.
        """

        def refresh(self, *args: Any, **settings: Any) -> Any:
            if self.disable:  # such a bar has no clock, but the hub's client refreshes it
                return None
            # tqdm sets `_time`, but does not declare it
            now = self._time()  # pyrefly: ignore[missing-attribute]
            # without a delay, tqdm draws the bar before it sets `start_t`
            if self.delay <= 0 or now >= self.start_t + self.delay:
                # otherwise `close` would take it for a bar that was never shown
                self.last_print_t = now
                return super().refresh(*args, **settings)

    class NotebookBar(Bar):
        """A line of text that is emptied at the end. tqdm's own widget would stay in the saved
        notebook.
        """

        def __init__(self, *args: Any, **settings: Any):
            self.shown = None
            # a StringIO has neither a width nor an encoding from which tqdm could choose these
            super().__init__(*args, **settings, file=io.StringIO(), ascii=False, ncols=80)

        def display(self, msg: str | None = None, pos: int | None = None) -> None:
            text = str(self) if msg is None else msg
            line = {"text/plain": text} if text else {}
            if self.shown is None and line:
                from IPython.display import display

                # the output begins empty: some programs that run notebooks ignore updates, and
                # would keep the first state
                self.shown = display({"text/plain": ""}, raw=True, display_id=True)
            if self.shown is not None:
                self.shown.update(line, raw=True)

    return NotebookBar if in_a_notebook() else Bar
