"""A real kernel gives each odd notebook the points that the table says it deserves.

Code cells run in order in an empty working folder. A cell is interrupted after 4 seconds; an error
does not stop the notebook. If a cell ends the kernel, a new one is started, as Jupyter does. After
the last cell, `check` is called for each exercise not yet passed. An exercise is passed if any
check passed it, in a cell of the notebook or at the end; a cell that ends the kernel passes none.

A kernel is used for the next notebook if a notebook changed nothing but its names, which are
cleared; otherwise a new one is forked. One notebook in 24 runs in each run of the tests, the others
nightly.
"""

import ast
import json
import queue
import subprocess
import sys
import time

import pytest
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import KernelProvisionerFactory

from course_utils.tools.grading.marking import assignment
from course_utils.tools.kernels.provisioner import COLD, SOCKET, start_warm

from ..grader import PARTS_OF_04, each_run_or_nightly
from .odd import ODD

SECONDS = 4  # for a cell, and again for its reply after an interruption
SECONDS_TO_START = 60
EXERCISES = assignment(PARTS_OF_04)["exercises"]  # id -> (name of the function, points)
# What a kernel runs first: text, since it runs in that kernel, and in a function, so that it leaves
# the single name `start`. It adds to the exercises' module the set `passed` of those that `check`
# passed, and `again(folder, fresh)`. This makes the kernel as new for the next notebook: it clears
# all names, goes to that folder and forgets what was passed. It fails if the notebook has changed
# anything else in the process, unless the kernel is `fresh`: then no notebook has run in it.
START = """
def start():
    import builtins, logging, math, os, signal, sys, threading, warnings
    import numpy as np
    import torch
    from course_utils import exercises

    def own_modules():
        # those that neither Python nor its packages brought
        installed = (sys.prefix, sys.base_prefix)
        return {
            name for name, module in sys.modules.items()
            if not str(getattr(module, '__file__', '')).startswith(installed)
        }

    def state():
        # what a notebook may change beside its names; two states of one kernel can be compared
        shell = get_ipython()
        text = shell.display_formatter.formatters['text/plain']
        return [
            # the process
            dict(os.environ), list(sys.path), list(sys.argv), own_modules(), sys.stdout, sys.stderr,
            list(warnings.filters), threading.enumerate(),
            list(logging.root.handlers), logging.root.level,
            [signal.getsignal(kind) for kind in (signal.SIGINT, signal.SIGALRM, signal.SIGUSR1)],
            # what cells may have patched; the kernel itself replaces `input` in each cell
            [{**vars(owner), 'input': None}
             for owner in (builtins, math, torch.Tensor, np.ndarray)],
            # settings of torch and numpy
            torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads(),
            repr(torch._tensor_str.PRINT_OPTS), np.geterr(), np.get_printoptions(),
            # settings of IPython
            shell.InteractiveTB.mode, shell.autocall,
            {kind: set(names) for kind, names in shell.magics_manager.magics.items()},
            set(shell.extension_manager.loaded), text.float_precision, text.pprint,
        ]

    def again(folder, fresh=False):
        assert fresh or state() == before
        get_ipython().reset(new_session=True)
        os.chdir(folder)
        exercises.passed = set()
        exercises.remember = exercises.passed.add  # `check` calls it when an exercise is passed
        # as the lesson's first cell
        get_ipython().ex('from course_utils import check, hint, setup, solution')

    exercises.passed, exercises.again = set(), again
    exercises.all_exercises()  # imports the course's modules
    before = state()
start()
"""
# What reaches `again` and `passed` in a kernel, whatever the notebook has done to its names.
AGAIN = "__import__('sys').modules['course_utils.exercises'].again({folder!r}, fresh={fresh})"
PASSED = "sorted(__import__('sys').modules['course_utils.exercises'].passed)"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="some cells use the shell of Unix")


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A process from which kernels are forked. Where forking is impossible, kernels start normally,
    more slowly.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(COLD, raising=False)
        # start_warm sets these to its own; set here, they are as before once the tests are done
        patch.setenv(SOCKET, "")
        patch.setenv("JUPYTER_DEFAULT_PROVISIONER_NAME", "local-provisioner")
        # hide the settings of the user who runs the tests
        for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name)))
        # one thread, as in the other tests, and no network for pip in a cell
        for name in ("OMP_NUM_THREADS", "PIP_NO_INDEX", "PIP_DISABLE_PIP_VERSION_CHECK"):
            patch.setenv(name, "1")
        process = start_warm()
        # another test may have made the factory before its default was set above
        KernelProvisionerFactory.clear_instance()
        yield
        if process:
            process.kill()
            process.wait()
    KernelProvisionerFactory.clear_instance()


class Kernel:
    """A real kernel, and the exercises that its checks passed.

    folder: where the present notebook runs. passed: ids of exercises, over all kernels that this
    notebook has had. manager, client: Jupyter's, of the present kernel; `start` makes them.
    """

    def __init__(self):
        self.folder = ""
        self.passed = set()
        self.start()

    def start(self):
        for _ in range(2):  # another program may take one of its ports before the kernel does
            self.manager = KernelManager(kernel_name="python3")
            self.manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.client = self.manager.blocking_client()
            self.client.start_channels(
                shell=True, iopub=False, stdin=False, hb=False, control=False
            )
            if self.execute(START)["status"] == "ok":
                return
            status = self.manager.provisioner.process.poll()
            self.end()
        pytest.fail(f"no kernel starts; the last one's exit status was {status}")

    def end(self):
        process = self.manager.provisioner.process
        process.kill()
        process.wait()
        self.client.stop_channels()
        self.manager.cleanup_connection_file()

    def begin(self, folder):
        """Reset to the state of a new kernel, in an empty folder, or else start a new one."""
        self.folder = folder
        if self.execute(AGAIN.format(folder=folder, fresh=False))["status"] != "ok":
            self.restart()
        self.passed = set()

    # A new kernel in the same folder; what was passed stays.
    def restart(self):
        self.end()
        self.start()
        assert self.execute(AGAIN.format(folder=self.folder, fresh=True))["status"] == "ok"

    def run(self, source, seconds=SECONDS, store_history=True):
        """How a cell ended: "ok", "error", or None if it ended the kernel or could not be stopped.

        After None, there is a new kernel.
        """
        content = self.execute(source, seconds, store_history)
        # `exit` and `quit` ask; with keep_kernel=True, they end only a console
        asks_to_exit = [
            payload
            for payload in content.get("payload", ())
            if payload["source"] == "ask_exit" and not payload["keepkernel"]
        ]
        if content["status"] is None or asks_to_exit:
            self.restart()
            return None
        return content["status"]

    # the defaults are for START and AGAIN, which prepare a kernel
    def execute(self, source, seconds=SECONDS_TO_START, store_history=False):
        """The content of the reply to a cell, whose checks are added to `passed`.

        Its status is "ok" or "error", or None if the kernel has ended or could not be stopped. This
        starts no new kernel; `run` does.
        """
        message = self.client.execute(
            source,
            store_history=store_history,
            allow_stdin=False,
            stop_on_error=False,
            user_expressions={"passed": PASSED},
        )
        content = self.reply(message, seconds)
        if content["status"] is None and self.manager.is_alive():
            self.manager.interrupt_kernel()
            content = self.reply(message, SECONDS)
        if content["status"] == "ok":
            passed = content["user_expressions"]["passed"]["data"]["text/plain"]
            self.passed |= {*ast.literal_eval(passed)}
        return content

    # The content of the reply. message: the id of the request that is answered.
    def reply(self, message, seconds):
        end = time.monotonic() + seconds
        while self.manager.is_alive() and time.monotonic() < end:
            try:
                reply = self.client.get_shell_msg(timeout=0.1)
            except queue.Empty:
                continue
            if reply["parent_header"].get("msg_id") == message:
                return reply["content"]
        return {"status": None}


@pytest.fixture(scope="module")
def kernel(warm):
    kernel = Kernel()
    yield kernel
    kernel.end()


# The code cells' sources in order, even of a notebook that Jupyter would have to repair.
def code_cells(notebook):
    # one of the notebooks begins with a byte order mark
    cells = json.loads(notebook.decode("utf-8-sig"))["cells"]
    for cell in cells:
        source = cell.get("source", "")
        if cell["cell_type"] == "code":
            yield source if isinstance(source, str) else "".join(source)


@pytest.mark.parametrize("odd", each_run_or_nightly(ODD, 24))
def test_a_real_kernel_gives_these_points(odd, kernel, tmp_path):
    kernel.begin(str(tmp_path))
    for source in code_cells(odd.build()):
        if source.strip():
            kernel.run(source)
    for exercise_id in sorted(EXERCISES.keys() - kernel.passed):
        name, _ = EXERCISES[exercise_id]
        kernel.run(
            # any seed, so that each run of the tests has the same inputs
            f"__import__('course_utils').check({exercise_id!r}, {name}, seed=4)",
            store_history=False,
        )
    points = [EXERCISES[exercise_id][1] for exercise_id in kernel.passed & EXERCISES.keys()]
    assert sum(points) == odd.points, f"passed: {sorted(kernel.passed)}"
