"""What a check shows: its report, and hints and solutions as notes."""

import html
import sys
from dataclasses import dataclass, field

from .._support.bars import in_a_notebook
from .._support.marks import code_marks

SIGNS = {"passed": "✓ passed", "failed": "✗ not there yet", "not attempted": "○ not attempted yet"}
COLOURS = {"passed": "#029e73", "failed": "#d55e00", "not attempted": "#949494"}


@dataclass(frozen=True)
class Report:
    """The result of `check`.

    `status` is "passed", "failed" or "not attempted"; `messages` are sentences, in which code
    stands between backticks. `seed` is that of the inputs, where any were drawn.
    """

    exercise_id: str
    title: str
    status: str
    messages: tuple[str, ...] = ()
    seed: int | None = None
    # The messages without inputs and expected values, for a page that others may read. Empty, if
    # `messages` has none of these.
    discreet: tuple[str, ...] = ()
    # the messages of the known mistake, or of two at once, that explain the results
    mistakes: tuple[str, ...] = ()
    # execution counts of the cells that have shown it
    shown_in: list[int] = field(default_factory=list, compare=False, repr=False)

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    @property
    def headline(self) -> str:
        return f"{self.title}: {SIGNS[self.status]}"

    def __repr__(self) -> str:
        lines = [self.headline, *(f"  - {message}" for message in self.messages)]
        if self._again:
            lines.append(f"(To repeat these inputs: {self._again})")
        return "\n".join(lines)

    @property
    def _again(self) -> str:
        """The call that draws the same inputs, for a failed report that had inputs."""
        drew_inputs = self.status == "failed" and self.seed is not None
        return f"check({self.exercise_id!r}, ..., seed={self.seed})" if drew_inputs else ""

    def show(self) -> None:
        """Show the report at once, as the result of its cell.

        Only in a notebook, where a cell shows its last line alone. Notes the cell in `shown_in`, so
        that `_ipython_display_` does not show the report in it again.
        """
        if not in_a_notebook():
            return
        from IPython import get_ipython
        from IPython.display import display

        shell = get_ipython()
        # a semicolon at the cell's end hides results, also those of other lines
        display_result = display if shell.displayhook.quiet() else sys.displayhook
        display_result(self)
        self.shown_in.append(shell.execution_count)

    def _ipython_display_(self) -> None:
        """Display nothing in a cell that has shown the report already, as one that ends with `check`
        has.
        """
        from IPython import get_ipython

        if getattr(get_ipython(), "execution_count", None) not in self.shown_in:
            raise NotImplementedError  # IPython then displays it as HTML and text

    def _repr_html_(self) -> str:
        page = f"<strong>{html.escape(self.headline)}</strong>"
        if self.messages:
            items = "".join(f"<li>{code_marks(message)}</li>" for message in self.messages)
            page += f"<ul>{items}</ul>"
        if self._again:
            page += f"<p><small>To repeat these inputs: <code>{self._again}</code></small></p>"
        return (
            f'<div style="border-left: 6px solid {COLOURS[self.status]}; padding: 0.3em 1em">'
            f"{page}</div>"
        )


@dataclass(frozen=True)
class Note:
    """A piece of Markdown, which displays as such and prints as text."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text
