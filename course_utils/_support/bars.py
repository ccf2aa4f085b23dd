"""Progress bars that leave nothing behind, in a terminal and in a notebook."""

import io
import os
import sys
from typing import Any


def progress_bar(**settings: Any) -> Any:
    """A tqdm bar that appears after two seconds, or another `delay`, and disappears when it is
    done.

    With TQDM_DISABLE=1 there is none.
    """
    disable = os.environ.get("TQDM_DISABLE") == "1"
    return _kind()(**{"delay": 2, **settings}, leave=False, disable=disable)


def bars_are_text() -> None:
    """Let Sentence Transformers draw its bars as text, which TQDM_DISABLE puts out: widgets stay in
    a saved notebook.

    It has to be called before that library is imported.
    """
    import tqdm.autonotebook

    tqdm.autonotebook.tqdm, tqdm.autonotebook.trange = tqdm.std.tqdm, tqdm.std.trange


def ipython_shell() -> Any:
    """The IPython that runs this code, if any. It is not imported for that, which takes long."""
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None


def in_a_notebook() -> bool:
    """Whether a Jupyter kernel runs this code."""
    return hasattr(ipython_shell(), "kernel")


def _kind() -> Any:
    from tqdm import tqdm

    class Bar(tqdm):
        """One that is not shown before its delay, not even for a new description, and that `close`
        always removes.
        """

        def refresh(self, *args, **settings):
            if self.disable:  # it has no clock, and the hub's client refreshes it all the same
                return None
            # tqdm sets it, and declares nothing
            now = self._time()  # pyrefly: ignore[missing-attribute]
            # without a delay it begins before `start_t` is set
            if self.delay <= 0 or now >= self.start_t + self.delay:
                # without which `close` takes the bar for one that was never shown
                self.last_print_t = now
                return super().refresh(*args, **settings)

    class NotebookBar(Bar):
        """A line of text that is emptied at the end. tqdm's own widget would stay in the saved
        notebook.
        """

        def __init__(self, *args, **settings):
            self.shown = None
            super().__init__(*args, **settings, file=io.StringIO(), ascii=False, ncols=80)

        def display(self, msg=None, pos=None):
            text = str(self) if msg is None else msg
            line = {"text/plain": text} if text else {}
            if self.shown is None and line:
                from IPython.display import display

                # it begins empty: some programs that run notebooks know no updates, and would keep
                # its first state for good
                self.shown = display({"text/plain": ""}, raw=True, display_id=True)
            if self.shown is not None:
                self.shown.update(line, raw=True)

    return NotebookBar if in_a_notebook() else Bar
