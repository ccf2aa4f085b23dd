"""The grader's side of the sandbox.

It starts the isolated warm server and talks to one submission at a time.

Bubblewrap provides the isolation: no network, a separate process tree, and only programs and
packages visible, read-only. Each submission is a fork of the warm server with further isolation
(`sandbox_server.shut_in`).
"""

import contextlib
import json
import os
import platform
import shutil
import signal
import site
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any, Self

from ..._support import hub_cache
from ..._support.installation import INSTALLED
from ...exercises.judging import OutOfTime
from . import refusals, running, sandbox_server, wire

PACKAGE = Path(__file__).resolve().parents[2]
GRADER = PACKAGE / "tools" / "grading"
# namespaces of its own, no environment variables, no terminal, no files but /proc and links in /dev
BARE = """
    bwrap --die-with-parent --new-session --as-pid-1 --clearenv
    --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try
    --hostname sandbox --proc /proc --tmpfs /dev --dir /dev/shm --symlink /proc/self/fd /dev/fd
"""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# what Python and its packages read of the system, beside libraries
SYSTEM = (
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/sys/devices/system/cpu",
    "/usr/lib/locale",
    "/usr/share/zoneinfo",
)
SHARED_BY_ALL = (Path("/usr"), Path("/usr/local"))  # prefixes that hold more than Python
# files that the helpers read, and that would reveal what a check expects
IN_PLACE_OF = {
    "tables/review_queries.csv": "tools/grading/no_queries.csv",
    "tables/plot_queries.csv": "tools/grading/no_plot_queries.csv",
    "tables/plot_judgements.csv": "tools/grading/no_judgements.csv",
}
# folders of the course that an answer cannot see at all; only a wheel has notebooks, which hold the
# solutions
HIDDEN = ("exercises", "diagrams", "explore", *(["notebooks"] if INSTALLED else []))
# the modules of the grader that an answer can see, since they run in its process
VISIBLE = "__init__ sandbox_server submission running program statements reading wire".split()
MOST_LATE = 500  # parts of a reply that are still accepted after its deadline
# if set to anything, the server imports nothing in advance: it starts sooner, and each submission
# takes longer
COLD = "COURSE_COLD_SANDBOX"
# variables for the libraries that would start threads of their own
ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "TOKENIZERS_PARALLELISM": "false",
}
STARTING = 300  # seconds allowed for the server to warm up, on a slow disk
SENDING = 60  # seconds allowed for handing a notebook over


class SandboxError(RuntimeError):
    """The sandbox is unavailable. The message says why, and what to do if anything can be done."""


class NotJudged(BaseException):
    """There is no answer that could be judged.

    Not a subclass of Exception, so that no check mistakes it for an answer's error.

    state, reason: of the mark, see `results.Mark`. Only `Session` raises "killed", which is not yet
    the state of a mark.
    message: a sentence for the learner, by default the reason.
    reply: the sandbox's, {} if there is none.
    """

    def __init__(
        self, state: str, reason: str, message: str = "", reply: dict | None = None
    ) -> None:
        super().__init__(reason)
        self.state, self.reason = state, reason
        self.message = message or f"{reason[:1].upper()}{reason[1:]}."
        self.reply = reply or {}


def isolation_problem() -> str | None:
    """Why this machine cannot isolate a submission, or None if it can: a clause, and perhaps a
    sentence with what to do, without its full stop.

    It starts a sandbox to find out, and waits a minute for it at most.
    """
    if not sys.platform.startswith("linux"):
        return f"this system ({sys.platform}) cannot isolate programs: use Linux, or a container"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian, Ubuntu: apt-get install bubblewrap)"
    # -I, which keeps the current folder out, also makes Python ignore PYTHONPATH, set by `walls`
    probe = (
        "import os, sys; sys.path.insert(0, os.environ['PYTHONPATH']); "
        "from course_utils.tools.grading import sandbox_server; sandbox_server.probe()"
    )
    try:
        done = subprocess.run(
            [*walls(), sys.executable, "-I", "-c", probe],
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run here ({error})"
    if done.returncode:
        # of a traceback, the last line says what is wrong; shortened to fit a terminal
        reason = (done.stderr.strip() or "no reason given").splitlines()[-1][:200]
        return refusals.explain(reason)
    return None


def walls() -> list[str]:
    """Bubblewrap's command line, without the program to run: what the sandbox can see and do.

    Bubblewrap mounts in this order, so what is hidden must come after what is shown around it.
    """
    command = BARE.split()
    for device in DEVICES:  # and no terminal, which bubblewrap's own --dev would bring
        command += ["--dev-bind", device, device]
    # root needs no user namespace here, but the right to become nobody in `sandbox_server.settle`
    as_root = "--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID"
    command += (as_root if os.geteuid() == 0 else "--unshare-user").split()
    shown = visible_paths()
    for path in shown:
        command += read_only(path)
    installed = Path(sysconfig.get_path("purelib")) / PACKAGE.name
    # a second copy, whose exercises would be visible
    if installed.is_dir() and installed != PACKAGE:
        command += ["--tmpfs", str(installed), "--remount-ro", str(installed)]
    for folder in (*HIDDEN, GRADER):
        command += ["--tmpfs", str(PACKAGE / folder)]
    for name in VISIBLE:
        module = str(GRADER / f"{name}.py")
        command += ["--ro-bind", module, module]
    for secret, other in IN_PLACE_OF.items():
        command += ["--ro-bind", str(PACKAGE / other), str(PACKAGE / secret)]
    if not any(path.is_relative_to("/tmp") for path in shown):
        command += ["--symlink", sandbox_server.SCRATCH, "/tmp"]
    command += ["--perms", "1777", "--tmpfs", sandbox_server.SCRATCH]
    for folder in ("/dev", "/", *HIDDEN, GRADER):  # joined to PACKAGE, a full path stays as it is
        command += ["--remount-ro", str(PACKAGE / folder)]
    for name, value in surroundings(sandbox_server.SCRATCH).items():
        command += ["--setenv", name, value]
    return command


def visible_paths() -> list[Path]:
    """The files, links and folders of this Python, its packages and the course, parents before
    their contents.

    Of a prefix that the whole machine shares, such as /usr, only Python's own folders and the
    system's shared libraries are shown. What does not exist, or stands in a listed folder, is not
    listed.
    """
    encoder = hub_cache.cache_with() / hub_cache.ENTRY  # and no other models
    paths = {
        PACKAGE,
        encoder,
        *map(Path, SYSTEM),
        *map(Path, site.getsitepackages()),
        *(
            Path(sysconfig.get_path(kind))
            for kind in ("stdlib", "platstdlib", "purelib", "platlib")
        ),
    }
    for prefix in (Path(sys.prefix), Path(sys.base_prefix)):
        if prefix in SHARED_BY_ALL:
            paths |= set(prefix.glob("lib*/libpython3*"))
        else:
            paths |= {prefix / name for name in ("bin", "lib", "lib64", "pyvenv.cfg")}
    for root in ("/usr", "/"):
        # Debian's layout; elsewhere the libraries are in lib itself
        multiarch = Path(root, "lib", f"{platform.machine()}-linux-gnu")
        paths |= {
            multiarch if multiarch.is_dir() else Path(root, "lib"),
            Path(root, "lib64"),
            Path(root, "lib32"),
        }
    # a virtual environment's Python is a link, perhaps to another one
    python = Path(sys.executable)
    while python.is_symlink():
        paths.add(python)
        python = python.parent / os.readlink(python)
    paths.add(python)
    for link in (Path("/lib"), Path("/lib32"), Path("/lib64"), Path("/bin")):
        if link.is_symlink():  # to usr/lib and so on
            paths = {path for path in paths if not path.is_relative_to(link)} | {link}
    shown: list[Path] = []
    for path in sorted(paths):
        inside = any(path.is_relative_to(other) and not other.is_symlink() for other in shown)
        if not inside and (path.exists() or path.is_symlink()):
            shown.append(path)
    return shown


def read_only(path: Path) -> list[str]:
    """Bubblewrap's arguments for a link, or for a readable file or folder.

    Its parents are created explicitly, since those that Bubblewrap creates can be entered only by
    root.
    """
    parents: list[str] = []
    for parent in reversed(path.parents[:-1]):  # from the top, without the root
        parents += ["--perms", "0755", "--dir", str(parent)]
    if path.is_symlink():
        return [*parents, "--symlink", os.readlink(path), str(path)]
    return [*parents, "--ro-bind", str(path), str(path)]


def surroundings(folder: str) -> dict[str, str]:
    """The environment variables of the server: none are inherited from the user.

    folder: where it may write, a full path.
    """
    return {
        **dict.fromkeys(("HOME", "TMPDIR", "MPLCONFIGDIR", "HF_HOME", "IPYTHONDIR"), folder),
        "PATH": "/usr/bin:/bin",
        "MPLBACKEND": "agg",
        "PYTHONPATH": str(PACKAGE.parent),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        **ONE_THREAD,
        "RAYON_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_CACHE": str(hub_cache.cache_with()),
        "TQDM_DISABLE": "1",
        # the allocator asks for huge pages: a fork copies fewer entries of page tables
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    }


class Sandbox:
    """The warm server, as a context manager that ends it. `Session` talks to one submission.

    The requests on its control connection are described at `sandbox_server.Server.serve`. Only one
    child runs at a time.

    isolated: False runs learners' code with your own rights; only for code that you would run
    yourself.
    seconds, memory: the processor time and the bytes of memory that one submission may use.
    cold: import nothing in advance; by default as the environment says (COLD).

    Raises OSError if the program cannot be started. If the server ends, `wait` and the other
    methods raise SandboxError.
    """

    def __init__(
        self,
        isolated: bool = True,
        seconds: int = 120,
        memory: int = 2 * 2**30,
        cold: bool | None = None,
    ) -> None:
        self.seconds = seconds
        self.control, theirs = socket.socketpair()
        self.messages = self.control.makefile("rb")
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the sandbox)
        self.folder = None if isolated else tempfile.TemporaryDirectory(prefix="course-grade-")
        command = [
            *(walls() if isolated else []),
            sys.executable,
            "-m",
            "course_utils.tools.grading.sandbox_server",
            *(str(theirs.fileno()), "walls" if isolated else "open", str(seconds), str(memory)),
        ]
        if os.environ.get(COLD) if cold is None else cold:
            command.append("cold")
        with theirs:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=self.errors,
                stderr=self.errors,
                env=None if self.folder is None else surroundings(self.folder.name),
                pass_fds=[theirs.fileno()],
                cwd="/",
            )

    def wait(self) -> bool:
        """Wait until the server is warm.

        Returns whether system calls are filtered too. To be called once, before `start`.
        Raises SandboxError if the server has ended, or is not ready after STARTING seconds.
        """
        return self.next_message(STARTING)["filter"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.messages.close()
        self.control.close()
        self.process.kill()
        self.process.wait()
        if self.folder is not None:
            self.folder.cleanup()
        self.errors.close()

    def next_message(self, seconds: float = 30) -> dict:
        """Wait so many seconds for the server's next message.

        The default is far more than ending a child takes. Raises SandboxError if there is none.
        """
        self.control.settimeout(seconds)
        line = b""
        with contextlib.suppress(OSError):
            line = self.messages.readline()
        if not line.endswith(b"\n"):
            raise self.server_error()
        return json.loads(line)

    def server_error(self) -> SandboxError:
        """The error that says how the server ended: by which signal, or its last line of output."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        status = self.process.poll() or 0
        self.errors.seek(0)
        message = self.errors.read().decode(errors="replace").strip() or "it left no message"
        why = message.splitlines()[-1][:300]  # of a traceback, the error; shortened for a terminal
        if status < 0 or status > 128:  # bubblewrap adds 128 to a signal
            why = f"ended by signal {max(-status, status - 128)}"
        return SandboxError(
            f"The sandbox stopped ({why}). What was marked is kept; run the command again."
        )

    def prepare(self, cells: list[str]) -> None:
        """Let the server parse cells that many submissions contain, so that each submission need
        not.

        cells: their texts, from the course, not from a learner.
        """
        with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
            json.dump(cells, file)
            file.seek(0)
            self._request(b"r", file.fileno())

    def start(self) -> socket.socket:
        """Fork a child. Returns the connection to it, which the caller closes."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._request(b"s", theirs.fileno())
        return ours

    def _request(self, word: bytes, *files: int) -> None:
        try:
            socket.send_fds(self.control, [word], files)
        except OSError:
            raise self.server_error() from None

    def end(self, gone: bool = False) -> dict:
        """End the child and all that it started. Returns how it ended, see `Server.end`.

        gone: it seems to have ended by itself.
        """
        self._request(b"g" if gone else b"e")
        return self.next_message()


class Session:
    """One submission in its process.

    `load`, `ask`, `call` and `listen` raise OutOfTime after their time limit, and NotJudged if the
    process has ended or sent an invalid reply; its state is "crashed", "timeout" or, if the system
    killed the process, "killed". All methods raise SandboxError if the server has ended.

    patience: the seconds to wait for a reply if a request says nothing else.
    """

    def __init__(self, sandbox: Sandbox, patience: float = 20) -> None:
        self.sandbox, self.line = sandbox, sandbox.start()
        self.ended: dict | None = None  # how, see `sandbox_server.Server.end`
        self.patience = patience
        self.has_replied = False

    def load(self, notebook: bytes) -> dict:
        """Let the process read a notebook.

        notebook: its bytes. Returns {"cells": their number}, or why it cannot be read, as
        `submission.serve_submission` says.
        """
        self.tell(
            SENDING, wire.HEADER.pack(len(b"notebook"), len(notebook)) + b"notebook", notebook
        )
        return self.listen(self.patience)

    def ask(self, seconds: float | None = None, **request: Any) -> dict:
        """Send a request and wait for its reply, which `submission.Submission` describes.

        seconds: for each of the two; None for `patience`.
        request: do, the name of a method there, and its arguments.
        """
        seconds = seconds or self.patience
        self.tell(seconds, wire.pack(request))
        return self.listen(seconds)

    def call(self, seconds: float, **request: Any) -> tuple[dict, dict]:
        """As `ask`, for a call of an answer.

        Returns its reply, and the request as it is afterwards: the given one if nothing changed.

        Arrays are in memory shared with the submission's process, so that changes to them are seen
        here, whatever the reply claims.
        """
        if not hasattr(os, "memfd_create"):
            return self.ask(seconds, **request), request
        import fcntl  # unavailable on Windows, where nothing is marked

        text, arrays = wire.parts(request)
        shared = os.memfd_create("arguments", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            with open(shared, "wb", closefd=False) as file:
                file.write(arrays)
            fcntl.fcntl(
                shared,
                fcntl.F_ADD_SEALS,
                fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL,
            )
            self.line.settimeout(seconds)
            with contextlib.suppress(OSError):  # `listen` finds out why
                socket.send_fds(self.line, [wire.HEADER.pack(len(text), wire.SHARED)], [shared])
            self.tell(seconds, text)
            reply = self.listen(seconds)
            after = os.pread(shared, len(arrays), 0)
        finally:
            os.close(shared)
        if after != arrays:
            request = wire.unpack(text, after, recipes=True)
        return reply, request

    def tell(self, seconds: float, *parts: bytes) -> None:
        """Send parts of a frame, each in so many seconds at most.

        Failures are left to `listen`.
        """
        self.line.settimeout(seconds)
        with contextlib.suppress(ConnectionError, TimeoutError):  # `listen` finds out why
            for part in parts:
                self.line.sendall(part)

    def listen(self, seconds: float) -> dict:
        """The next reply, after so many seconds at most. An invalid one ends the process."""
        start = time.monotonic()
        deadline = start + seconds
        try:
            sizes = wire.lengths(self._received(wire.HEADER.size, deadline))
            text, arrays = [self._received(size, deadline) for size in sizes]
            reply = wire.checked_reply(wire.unpack(bytes(text), arrays))
        except TimeoutError:
            raise OutOfTime from None
        except (EOFError, ConnectionError):
            raise self._gone(time.monotonic() - start) from None
        except wire.WireError as error:
            self.close()
            raise NotJudged(
                "crashed", f"what your code sent back is not an answer: {error}"
            ) from None
        self.has_replied = True
        return reply

    def _received(self, size: int, deadline: float) -> bytearray:
        late_parts = 0

        def limit_wait() -> None:  # before each part
            nonlocal late_parts
            left = deadline - time.monotonic()
            late_parts += int(left <= 0)
            if late_parts > MOST_LATE:
                raise TimeoutError
            self.line.settimeout(max(left, 0.01))  # read what arrived even if we were suspended

        return wire.receive(self.line, size, limit_wait)

    def _gone(self, seconds: float) -> BaseException:
        """What to raise when the process has ended, so many seconds after a request."""
        ended = self.close(gone=True)
        was_long = seconds > running.WALL * running.SECONDS_OF_A_CELL
        if ended["status"] == running.OUT_OF_TIME and was_long:
            return OutOfTime()
        if ended["alive"]:
            return NotJudged("crashed", "your code closed its connection to the grader")
        # 1 second below the limit, since the kernel and `wait4` do not measure exactly alike
        if ended["signal"] == signal.SIGKILL and ended["seconds"] > self.sandbox.seconds - 1:
            return NotJudged(
                "timeout", f"your code used up its processor time ({ended['seconds']:.0f} seconds)"
            )
        # SIGKILL cannot reach the first process of its namespace from inside; the kernel sends it
        # when memory runs out
        if ended["signal"] == signal.SIGKILL:
            return NotJudged(
                "killed", "the system ended your code's process, perhaps for lack of memory"
            )
        if ended["status"] == sandbox_server.NOT_SHUT_IN and not self.has_replied:
            return SandboxError(
                "This machine no longer lets the sandbox isolate a submission, though it did at "
                "first. Nothing was run."
            )
        ending = (
            f"by signal {ended['signal']}"
            if ended["signal"]
            else f"with exit status {ended['status']}"
        )
        return NotJudged("crashed", f"your code ended its process ({ending})")

    def close(self, gone: bool = False) -> dict:
        """End the process. Returns how it ended, see `sandbox_server.Server.end`.

        Closing twice is harmless. gone: it seems to have ended by itself.
        """
        if self.ended is None:
            self.line.close()
            self.ended = self.sandbox.end(gone)
        return self.ended
