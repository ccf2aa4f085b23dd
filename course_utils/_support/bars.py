"""Progress bars that leave nothing behind, in a terminal and in a notebook."""

import contextlib
import io
import os


def progress_bar(**settings):
    """A tqdm bar that appears after two seconds and disappears when it is done.

    With TQDM_DISABLE=1 there is none.
    """
    disable = os.environ.get("TQDM_DISABLE") == "1"
    return _kind()(**settings, delay=2, leave=False, disable=disable)


def in_a_notebook():
    with contextlib.suppress(ImportError):
        from IPython import get_ipython

        return hasattr(get_ipython(), "kernel")
    return False


def _kind():
    from tqdm import tqdm

    if not in_a_notebook():
        return tqdm

    class NotebookBar(tqdm):
        """A line of text that is emptied at the end. tqdm's own widget would stay in the saved notebook."""

        def __init__(self, *args, **settings):
            self.shown = None
            super().__init__(*args, **settings, file=io.StringIO(), ascii=False, ncols=80)

        def display(self, msg=None, pos=None):
            line = {"text/plain": str(self) if msg is None else msg} if msg != "" else {}
            if self.shown is not None:
                self.shown.update(line, raw=True)
            elif line:
                from IPython.display import display

                self.shown = display(line, raw=True, display_id=True)

    return NotebookBar
