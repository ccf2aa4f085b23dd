"""How stored outputs are compared: `pytest --nbval notebooks`. Additions of ours to nbval.

- Decimals may differ by one unit in their last printed place, since processors round differently.
  Whole numbers, words and the number of decimals are compared exactly.
- Of a figure, what is written in it is compared, and its data, which stand beside it as text: the
  places of its lines and letters depend on the last digits of both.
- A cell whose stored execution count is not its place (never run, or run out of order) fails; nbval
  lets it pass.
- Each lesson runs in an empty folder of its own, and fails if it leaves anything there.
- Cells run with history on, as in JupyterLab: counts are right, and `;` at a cell's end hides its
  output.
- A kernel that dies is noticed within a second.
- If there is a warm process (see tests/run.py), each kernel must come from it.
- The summary says how many code cells were compared.
"""

import os
import re
import subprocess
import tempfile
import time
from queue import Empty

from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile

from course_utils.tools.kernels import provisioner

# a decimal with its sign and the spaces before it, which fill a column up; a version such as 2.13.0
# is none
DECIMAL = re.compile(r"( *[-−+]?(?<![\d.])\d+\.\d+(?![\d]|\.\d))")
FIGURE = '<figure class="cu-figure"'  # how a figure's HTML begins
WRITTEN = re.compile(r"<text[^>]*>([^<]*)</text>")  # what is written in a drawing
counts = {"code cells": 0, "compared": 0}  # for the summary


def is_rounding(decimal, other):
    """Whether two decimals, as text, have as many places and differ by at most one in the last."""
    decimals = len(decimal.rsplit(".", 1)[1])
    other_decimals = len(other.rsplit(".", 1)[1])
    # both may be written with a minus sign, which `float` does not read
    apart = abs(float(decimal.replace("−", "-")) - float(other.replace("−", "-")))
    # a little more than 1, since the difference of two floats is not exact
    return decimals == other_decimals and apart <= 1.01 * 10**-decimals


def nearly_equal(text, other):
    """True if the two texts are the same but for decimals that differ by at most one in the last
    printed place.
    """
    # `split` puts the decimals at the odd places, and what stands between them at the even ones
    parts, other_parts = DECIMAL.split(text), DECIMAL.split(other)
    if len(parts) != len(other_parts) or parts[::2] != other_parts[::2]:
        return False
    return all(map(is_rounding, parts[1::2], other_parts[1::2]))


class Tolerant(str):
    """Text that equals another if they differ only in the last printed place of decimals."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        if not isinstance(other, str):
            return NotImplemented
        return str.__eq__(self, other) or nearly_equal(str(self), str(other))

    def __ne__(self, other):
        return not self == other


def started_apart(start):
    """RunningKernel's `__init__`, but in an empty folder of its own.

    It fails if the kernel should come from the warm process and does not.
    """

    def start_apart(self, kernel_name, cwd=None, **kwargs):
        self.folder = tempfile.TemporaryDirectory(prefix="lesson-")
        start(self, kernel_name, cwd=self.folder.name, **kwargs)
        # one from the warm process is no child of this process, and has no Popen
        is_cold = isinstance(self.km.provisioner.process, subprocess.Popen)
        warm_process = "COURSE_WARM_SOCKET" in os.environ
        is_warm_wanted = warm_process and not os.environ.get("COURSE_COLD_KERNELS")
        assert not (is_cold and is_warm_wanted), "the warm process refused to start this kernel"

    return start_apart


def looked_through(teardown):
    """IPyNbFile's `teardown`, which fails if the lesson has left files in its folder."""

    def look_through(self):
        teardown(self)
        if self.kernel is not None:
            with self.kernel.folder as folder:
                left = os.listdir(folder)
            assert left == [], f"the lesson leaves files in the learner's folder: {left}"

    return look_through


def execute_with_history(self, cell_input, allow_stdin=None):
    """RunningKernel's `execute_cell_input`, but with history on."""
    return self.kc.execute(
        cell_input, store_history=True, allow_stdin=allow_stdin, stop_on_error=False
    )


def await_reply_or_death(self, msg_id, timeout=None):
    """Wait for the kernel's reply.

    Raises queue.Empty after `timeout` seconds, RuntimeError if the kernel dies.
    """
    end = time.monotonic() + (timeout or float("inf"))
    while True:
        try:
            message = self.get_message(stream="shell", timeout=1)
        except Empty:
            if not self.is_alive():
                raise RuntimeError("the kernel died while it ran this cell") from None
            if time.monotonic() > end:
                raise
            continue
        if message["parent_header"].get("msg_id") == msg_id:
            return


def pytest_configure(config):
    if not config.option.nbval:
        return
    os.environ["TQDM_DISABLE"] = "1"  # no progress bars in compared outputs
    # vectors are computed afresh; tests/run.py names a folder that is empty at first
    os.environ.setdefault("COURSE_VECTORS", "")
    # the first kernels ask a warm process that may still import, on a busy machine for minutes
    provisioner.PATIENCE = 900
    exact, run = IPyNbCell.sanitize, IPyNbCell.runtest

    def sanitize(self, text):
        text = exact(self, text)
        if isinstance(text, str) and text.startswith(FIGURE):
            text = "\n".join(WRITTEN.findall(text))
        return Tolerant(text) if isinstance(text, str) else text

    def runtest(self):
        stored = self.cell.execution_count
        if stored != self.cell_num + 1:
            self.raise_cell_error(
                f"the stored execution count is {stored}, its place is {self.cell_num + 1}: run "
                "the lesson from top to bottom with `make lesson` (all of them: `make notebooks`)"
            )
        run(self)

    IPyNbCell.sanitize, IPyNbCell.runtest = sanitize, runtest
    RunningKernel.execute_cell_input = execute_with_history
    RunningKernel.await_reply = await_reply_or_death
    RunningKernel.__init__ = started_apart(RunningKernel.__init__)
    IPyNbFile.teardown = looked_through(IPyNbFile.teardown)


def pytest_runtest_setup(item):
    """Note at each code cell whether it will be compared; the note travels with its report."""
    if isinstance(item, IPyNbCell):
        will_be_compared = bool(item.options["check"] and not item.options["skip"])
        item.user_properties.append(("compared", will_be_compared))


def pytest_runtest_logreport(report):
    properties = dict(report.user_properties)
    if report.when == "call" and "compared" in properties:
        counts["code cells"] += 1
        counts["compared"] += properties["compared"] and report.passed


def pytest_terminal_summary(terminalreporter):
    if counts["code cells"]:
        terminalreporter.write_line(
            f"{counts['compared']} of {counts['code cells']} code cells compared"
        )
