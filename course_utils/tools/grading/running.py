"""Running a notebook's statements as a new kernel would, each within its time.

Part of what the sandbox sees.
"""

import ast
import asyncio
import builtins
import contextlib
import faulthandler
import functools
import importlib
import inspect
import itertools
import os
import signal
import sys
import time
import types
from collections.abc import Collection, Iterable

from . import wire
from .program import Program, file_of
from .statements import IMPORTS, compiled, shell

# of processor time, so that other programs on the machine cost nothing; by the clock it may be WALL
# times as long
SECONDS_OF_A_CELL, SECONDS_OF_ALL = 10, 30
WALL = 2
AGAIN = 0.01  # seconds after which an alarm that was swallowed rings again
# seconds by the clock that a cell may outlast its alarm, before faulthandler ends its process with
# the exit status OUT_OF_TIME, which cannot be chosen
LAST_RESORT = 10
OUT_OF_TIME = 1


class TooSlow(BaseException):
    """A cell took too long.

    Not an Exception, so that a learner's own `except Exception` does not catch it.
    """


class Space:
    """A namespace like a new kernel's, in which statements run in order.

    Failures are recorded and skipped. Creating a space replaces this process's `__main__`.

    names: the variables, by name.
    problems: the errors that statements raised, and that cells took too long, in order.
    stopped: the cells that took too long, counted from 1; elsewhere, cells are counted from 0.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.problems: list[str] = []
        self.stopped: list[int] = []
        module = types.ModuleType("__main__")
        self.names = module.__dict__
        self.names.update(
            __builtins__=builtins,
            display=lambda *args, **kwargs: None,
            get_ipython=shell().get_ipython,
            In=program.inputs,
            Out={},
        )
        # so that pickle finds the notebook's classes
        sys.modules["__main__"] = shell().user_module = module
        shell().user_ns = self.names

    def run(self, statement: ast.stmt, number: int) -> bool:
        """Run a statement of a cell and return whether it succeeded.

        number: of the cell, counted from 0.

        The value of an expression becomes `_`, as in Jupyter. An `_Alarm` may raise TooSlow
        anywhere in here, and nowhere else in the grader.
        """
        if isinstance(statement, IMPORTS):
            importlib.invalidate_caches()  # a cell may just have written the module
        mode = "eval" if isinstance(statement, ast.Expr) else "exec"
        try:
            code = compiled(statement, file_of(number), mode, self.program.flags)
            value = _in_loop(code, self.names)
        except (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError) as error:
            self.problems.append(": ".join(wire.wording(error)))
            return False
        if value is not None:
            count = self.program.counts[number]
            self.names["_"] = self.names[f"_{count}"] = self.names["Out"][count] = value
        return True

    def owns(self, value: object) -> bool:
        """Whether the notebook, or a module that it wrote, defines this function."""
        module = sys.modules.get(str(getattr(value, "__module__", None)))
        if module is None:
            return False
        if module.__dict__ is self.names:
            return True
        file = getattr(module, "__file__", None) or "/"  # built-in modules have none
        return os.path.dirname(os.path.abspath(file)) == os.getcwd()

    def run_slice(self, places: Iterable[int]) -> None:
        """Run statements in the notebook's order, SECONDS_OF_ALL together.

        places: indices into the program's parts. Failures are skipped: what is missing below may
        not be needed.
        """
        number = 0  # of the cell that runs
        with _Alarm(SECONDS_OF_ALL) as alarm:
            for place in sorted(places):
                number, statement = self.program.parts[place]
                self.run(statement, number)
                if alarm.rang:
                    break
        if alarm.rang:
            self._stop(number)

    def run_cells(self, cells: Collection[int], places: Collection[int]) -> None:
        """Run these cells as Jupyter does, each until a statement fails or its time is up.

        Of the other cells, run the statements at these places. Each of these cells, and each of
        these statements, has SECONDS_OF_A_CELL. After SECONDS_OF_ALL, no more is begun, except the
        last of these cells.
        """
        chosen = [
            part
            for place, part in enumerate(self.program.parts)
            if part.cell in cells or place in places
        ]
        last_cell = max(cells, default=None)
        processor_end = time.process_time() + SECONDS_OF_ALL
        clock_end = time.monotonic() + WALL * SECONDS_OF_ALL
        # each chosen cell as a whole, each statement of another cell alone
        steps = itertools.groupby(
            chosen, key=lambda part: (part.cell, part.cell in cells or part.statement)
        )
        for (number, _), parts in steps:
            is_late = time.process_time() > processor_end or time.monotonic() > clock_end
            # the last cell, which the run is for, always has its own time
            was_stopped = is_late and number != last_cell
            if not was_stopped:
                with _Alarm(SECONDS_OF_A_CELL) as alarm:
                    for part in parts:
                        if not self.run(part.statement, number) or alarm.rang:
                            break
                was_stopped = alarm.rang
            if was_stopped:
                self._stop(number)

    def _stop(self, number: int) -> None:
        self.stopped.append(number + 1)
        self.problems.append("TooSlow: it took too long")


class _Alarm:
    """Raise TooSlow in `Space.run` after so many seconds of processor time, or WALL times as many
    by the clock.

    It rings until the block is left: a learner's `except`, or a callback of asyncio, may swallow
    what it raises. Code that blocks signals, or computes outside Python for ever, ends with its
    process, LAST_RESORT seconds later.

    rang: whether the time was up. The block then ends without an exception.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.rang = False
        self.is_left = False

    def __enter__(self) -> "_Alarm":
        # no thread can be started; the grader has a clock of its own
        with contextlib.suppress(RuntimeError):
            faulthandler.dump_traceback_later(WALL * self.seconds + LAST_RESORT, exit=True, file=2)
        self.set_timers(self.seconds)
        # an earlier cell may block them
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGPROF, signal.SIGALRM))
        return self

    def set_timers(self, seconds: float) -> None:
        """Ring after these seconds, and then AGAIN and again, even if there is no room on the stack
        for `ring`.
        """
        for kind, timer, first in (
            (signal.SIGPROF, signal.ITIMER_PROF, seconds),
            (signal.SIGALRM, signal.ITIMER_REAL, WALL * seconds),
        ):
            signal.signal(kind, self.ring)
            signal.setitimer(timer, first, AGAIN)

    def ring(self, _: int, frame: types.FrameType | None) -> None:
        if self.is_left:
            return
        self.rang = True
        self.set_timers(AGAIN)  # by the clock, too: what swallows this may wait for nothing
        # raise only within `Space.run`: elsewhere it would interrupt the grader's own bookkeeping
        while frame and frame.f_code is not Space.run.__code__:
            frame = frame.f_back
        if frame:
            raise TooSlow

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self.is_left = True
        self.set_timers(0)  # stops both
        faulthandler.cancel_dump_traceback_later()
        if self.rang:
            _drop_event_loop()
        return kind is TooSlow


def _in_loop(code: types.CodeType, names: dict[str, object]) -> object:
    """Run code inside the event loop, as Jupyter's kernel does, and await it if it uses top-level
    `await`.
    """

    async def run() -> object:
        value = eval(code, names)
        return await value if code.co_flags & inspect.CO_COROUTINE else value

    return event_loop().run_until_complete(run())


@functools.cache
def event_loop() -> asyncio.AbstractEventLoop:
    """The event loop of this process, created on first use."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return loop


def _drop_event_loop() -> None:
    """Let the next cell have a new event loop: an alarm may have interrupted this one's own
    bookkeeping.
    """
    # nothing public forgets a loop that was interrupted while it ran
    asyncio._set_running_loop(None)
    sys.set_asyncgen_hooks(None, None)
    event_loop.cache_clear()
