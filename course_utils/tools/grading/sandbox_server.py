"""The sandbox's inside: a warm server that forks one child per submission, and that child.

Nothing here judges answers or knows the right ones. The server imports what answers use, loads the encoder, and from
then on only forks. A child isolates itself (`shut_in`), reads the notebook, and runs what an answer needs of it. A
child's messages cannot be trusted, since a learner's code can change the child; the grader therefore accepts only
values.
"""

import contextlib
import ctypes
import gc
import json
import mmap
import os
import re
import signal
import socket
import sys
import time
import types

try:
    import resource
except ImportError:  # Windows: nothing is run there, but `course release` reads the lessons' points
    resource = None

from ..._support.inspection import notebook_data
from ..._support.namespaces import NEW_IPC, NEW_MOUNTS, NEW_NETWORK, NEW_PROCESSES, call_libc, own_users
from .. import warm
from . import program, wire

PRIVATE_RECURSIVE, READ_ONLY, NO_SUID, NO_DEVICES, NO_PROGRAMS = 0x44000, 1, 2, 4, 8
SCRATCH = "/scratch"  # the only folder where a submission may write
NOT_SHUT_IN = 77  # exit status of a child that could not isolate itself


# ---------------------------------------------------------------- one submission


class Checks:
    """Stands in for `check`, which knows the answers: it judges nothing, so that a notebook goes on after a check.

    It says "passed", or in a run that tries one of several candidates, only of that one. No mark depends on it.
    """

    def __init__(self):
        self.start()

    def start(self, only=0):
        """Begin a run. only: the call for an exercise, counted from 1, that says "passed"; 0 for all."""
        self.only, self.calls = only, {}

    def __call__(self, exercise_id="", answer=None, seed=None):
        number = self.calls[str(exercise_id)] = self.calls.get(str(exercise_id), 0) + 1
        passed = self.only in (0, number)
        return types.SimpleNamespace(
            exercise_id=exercise_id, title="", status="passed" if passed else "failed", passed=passed, headline="",
            messages=(), seed=seed, discreet=(), mistakes=(),
        )  # fmt: skip

    def note(self, exercise_id=""):
        """What `hint` and `solution` return."""
        return types.SimpleNamespace(text="")


CHECKS = Checks()
# what only something outside the notebook could mend: another file, a package, somebody who types
FROM_OUTSIDE = ("ModuleNotFoundError", "ImportError", "FileNotFoundError", "EOFError")


class Submission:
    """One notebook in its process: answers requests until the connection is closed."""

    def __init__(self):
        self.cells, self.python, self.program, self.answers = [], "", None, {}

    def open(self, exercises, by_hand, known=()):
        """Report which exercises the notebook has, the contents of its answer cells, and what does not parse.

        known: checksums of the lesson's own cells.
        """
        self.program = program.Program(self.cells, frozenset(known), self.python)
        grade_ids = {cell["grade_id"] for cell in self.cells if isinstance(cell["grade_id"], str)}
        text = "\n".join(cell["source"] for cell in self.cells if cell["kind"] == "code")
        present = [
            one
            for one in exercises
            if one in grade_ids or f"{one}-check" in grade_ids or f'check("{one}"' in text or f"check('{one}'" in text
        ]
        titles = [
            match[1]
            for cell in self.cells
            if cell["kind"] in ("markdown", "heading") and (match := re.match(r"#?\s*(\d\d .{,200})", cell["source"]))
        ]
        return {
            "present": present,
            "titles": titles[:3],
            "problems": list(self.program.problems.values())[:20],
            "texts": {
                one: "\n\n".join(cell["source"] for cell in self.cells if cell["grade_id"] == one)[:50_000]
                for one in [*exercises, *by_hand]
                if one in grade_ids
            },
        }

    def define(self, exercise_id, name, run="slice"):
        """Run what an answer needs.

        run: "slice" for what it names; "check" for all of the learner's own cells up to the one that checks it; "end"
        for all of them; "try 2" as "check", where only the second call of `check` for this exercise says "passed".

        Reports whether it is a function, which further runs might give another result, and which cells were stopped;
        any other value is sent as it is. Raises CellUnreadable.
        """
        run, _, number = run.partition(" ")
        CHECKS.start(int(number or 0))
        name = self.program.answer_name(self.cells, exercise_id, name)
        try:
            place = self.program.answer(name)
        except program.Broken as missing:
            own = [
                problem
                for number, problem in self.program.problems.items()
                if self.cells[number]["grade_id"] == exercise_id or f"def {name}" in self.cells[number]["source"]
            ]
            if own:
                raise program.CellUnreadable(own[-1]) from None
            if run == "slice":
                broken = self._why_none(name) or str(missing)
                return {"broken": broken, "more": ["end"] if self.program.mine else []}
            place = None
        space, more = program.Space(self.program), []
        if run == "slice":
            sliced = self.program.slice(name, place)
            more = self.program.further_runs(exercise_id, name, place, sliced)
            space.run_slice(sliced)
            if name in space.names and not callable(space.names[name]):  # rank = rank(scores), below the answer
                space = program.Space(self.program)
                space.run_slice(self.program.slice(name, self.program.answer(name, program.FUNCTIONS)))
            # it may lack a definition from another cell
            more = ["check", *more] if space.problems and "check" not in more else more
        else:
            last = None if run == "end" else self.program.checked(exercise_id)
            if last is None:
                last = (
                    max(self.program.bodies, default=0)
                    if run == "end" or place is None
                    else self.program.statements[place][0]
                )
            space.run_cells(*self.program.whole(name, last))
            if place is None and name in space.names and not space.owns(space.names[name]):
                return {"broken": f"`{name}` is imported but not defined in this notebook"}
        failed = next((problem for problem in space.problems if problem.startswith(FROM_OUTSIDE)), "")
        told = {"more": more, "stopped": space.stopped, "failed": failed[:200]}
        if name not in space.names:
            return {"broken": f"running its cell failed ({(space.problems or ['no reason given'])[-1][:300]})", **told}
        answer = self.answers[exercise_id] = space.names[name]
        return (
            {"callable": True, "foreign": notebook_data(answer), **told}
            if callable(answer)
            else {"value": answer, **told}
        )

    def _why_none(self, name):
        """Why there is no answer of this name, if it stands in a cell that is no code, or is imported."""
        if any(cell["kind"] != "code" and f"def {name}(" in cell["source"] for cell in self.cells):
            return f"`{name}` stands in a cell that is not code; change the cell's type to Code"
        if any(
            name in names and isinstance(statement, program.IMPORTS)
            for names, (_, statement) in zip(self.program.binding, self.program.statements)
        ):
            return f"`{name}` is imported but not defined in this notebook, and only this one file is read"
        return ""

    def call(self, exercise_id, args):
        """Call an answer. Sends what it returned or raised, and the arguments if they changed."""
        values = [None if callable(arg) else arg for arg in args]  # functions cannot change
        before = wire.pack({"args": values})
        try:
            reply = {"value": self.answers[exercise_id](*args)}
        except BaseException as error:
            reply = {"raised": wire.wording(error)}
        return reply if wire.pack({"args": values}) == before else {**reply, "args": values}


def serve_submission(line):
    """The child's loop: one reply per request."""
    submission = Submission()
    while True:
        header, files, _, _ = socket.recv_fds(line, wire.HEADER.size, 1)
        if len(header) < wire.HEADER.size:
            return
        text, size = wire.HEADER.unpack(header)
        text = bytes(wire.receive(line, text))
        if files:
            size = os.fstat(files[0]).st_size
            arrays = mmap.mmap(files[0], size) if size else b""
            os.close(files[0])
        else:
            arrays = wire.receive(line, size)
        try:
            if text == b"notebook":
                submission.cells, submission.python = program.read_notebook(arrays)
                reply = {"cells": len(submission.cells)}
            else:
                request = wire.unpack(text, arrays, recipes=True, align=wire.ALIGN if files else 1, shared=bool(files))
                reply = getattr(submission, request.pop("do"))(**request)
        except program.CellUnreadable as problem:
            reply = {"unreadable": str(problem)}
        except program.Broken as problem:
            reply = {"broken": str(problem)}
        except MemoryError:
            reply = {"raised": ["MemoryError", ""]}
        except Exception as error:  # Python itself fails on some code
            reply = {"broken": f"Python cannot read it ({type(error).__name__})"}
        try:
            reply = wire.pack(reply)
        except RecursionError:
            reply = wire.pack({"value": wire.thing("list")})
        line.sendall(reply)


# ---------------------------------------------------------------- the walls


def fork_apart(home):
    """Fork a child as the first process of a new PID namespace: when it ends, the kernel ends all others there.

    home: a descriptor of this process's own PID namespace, to which its next child belongs again.
    """
    call_libc("unshare", NEW_PROCESSES)
    child = os.fork()
    if child:
        call_libc("setns", home, NEW_PROCESSES)
    return child


def shut_in():
    """Isolate this process: new user, mount, IPC and network namespaces, and empty folders over writable places."""
    own_users(NEW_MOUNTS | NEW_IPC | NEW_NETWORK)
    call_libc("mount", b"none", b"/", None, ctypes.c_ulong(PRIVATE_RECURSIVE), None)
    with contextlib.suppress(OSError):  # mount_setattr (Linux 5.12+): also protects times and modes of device files
        call_libc("syscall", 442, -100, b"/", 0x8000, (ctypes.c_uint64 * 4)(READ_ONLY), ctypes.c_size_t(32))
    tame = NO_SUID | NO_DEVICES | NO_PROGRAMS
    call_libc("mount", b"tmpfs", b"/proc", b"tmpfs", ctypes.c_ulong(tame | READ_ONLY), b"size=4k,mode=555")
    call_libc("mount", b"tmpfs", SCRATCH.encode(), b"tmpfs", ctypes.c_ulong(tame), b"size=64m,nr_inodes=4096,mode=700")


def give_up_rights():
    """Drop all capabilities, and prevent gaining any by running a program."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3 of the call, for this process
    call_libc("capset", header, (ctypes.c_uint32 * 6)())
    call_libc("prctl", 38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS


# system calls that start programs, create processes, namespaces or sockets, or inspect other processes
DENIED = """
    execve execveat fork vfork socket connect bind listen accept accept4 ptrace process_vm_readv
    process_vm_writev process_madvise pidfd_open pidfd_getfd pidfd_send_signal unshare setns mount umount2
    move_mount fsmount fsopen fsconfig fspick open_tree mount_setattr pivot_root chroot bpf perf_event_open
    io_uring_setup io_uring_enter io_uring_register userfaultfd keyctl add_key request_key kexec_load
    kexec_file_load init_module finit_module delete_module open_by_handle_at name_to_handle_at kcmp personality
    quotactl acct swapon swapoff reboot sethostname setdomainname settimeofday clock_settime adjtimex
    clock_adjtime vhangup syslog memfd_create memfd_secret shmget shmat msgget semget mq_open vmsplice mknod
    mknodat
"""


def system_call_filter():
    """A filter of the system calls denied to learners' code.

    Returns None if libseccomp is missing: namespaces and limits are then the only isolation.
    """
    import ctypes.util

    find, names = ctypes.util.find_library, {"c": "libc.so.6", "seccomp": "libseccomp.so.2"}
    # the original runs programs that the sandbox does not show
    ctypes.util.find_library = lambda name: names.get(name) or find(name)
    try:
        import pyseccomp
    except (ImportError, OSError, RuntimeError):
        return None
    finally:
        ctypes.util.find_library = find
    rules = pyseccomp.SyscallFilter(defaction=pyseccomp.ALLOW)
    refuse = pyseccomp.ERRNO(1)
    for call in DENIED.split():
        try:
            rules.add_rule(refuse, call)
        except (ValueError, OSError, RuntimeError):  # not a system call of this processor
            continue
    # event loops use such a pair to wake themselves
    rules.add_rule(refuse, "socketpair", pyseccomp.Arg(0, pyseccomp.NE, socket.AF_UNIX))
    # "not implemented": the C library then uses clone, whose flags the filter can see
    rules.add_rule(pyseccomp.ERRNO(38), "clone3")
    thread = 0x00010000
    rules.add_rule(refuse, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, thread, 0))
    return rules


def mapped():
    """Bytes of address space that this process has mapped, or None if the system does not say."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return None


def limit_memory(most):
    """Limit the address space to this many bytes beyond the current use; reaching the limit raises MemoryError."""
    if (now := mapped()) and resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (now + most, now + most))


def end_with_parent():
    """Have the kernel kill this process when the thread that started it ends, however it ends (Linux)."""
    if sys.platform == "linux":
        parent = os.getppid()
        call_libc("prctl", 1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:  # it has already ended; in a container, 1 is an ordinary parent
            os._exit(1)


def limit(seconds, memory, mapped):
    """Limit processor time (seconds), memory beyond what is mapped (bytes), file size, processes, open files."""
    for what, most in (
        ("RLIMIT_CPU", seconds),
        ("RLIMIT_AS", mapped + memory if mapped else None),
        ("RLIMIT_FSIZE", 64 * 2**20),
        ("RLIMIT_NPROC", 32),
        ("RLIMIT_NOFILE", 128),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_MEMLOCK", 0),
        ("RLIMIT_MSGQUEUE", 0),
    ):
        if most is not None and hasattr(resource, what):
            try:
                resource.setrlimit(getattr(resource, what), (most, most))
            except (ValueError, OSError):  # macOS lacks some of them
                continue


# ---------------------------------------------------------------- the warm server


# what answers use beyond the imports of the course's own functions
ANSWERS_USE = (
    "pandas",
    "scipy.stats",
    "sklearn.decomposition",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
    *(f"course_utils.{name}" for name in ("data", "models", "nearest", "plots", "pooling", "settings", "training")),
)


def warm_up(cold=False):
    """Import what lessons and answers import, and load the encoder, once for all children.

    cold: import only what every child needs.
    """
    import torch

    program.shell().transform_cell("%time warm = 1")
    torch.set_num_threads(1)
    stand_ins = types.ModuleType("course_utils.exercises")  # the real ones are hidden: they know the answers
    stand_ins.check, stand_ins.hint, stand_ins.solution = CHECKS, CHECKS.note, CHECKS.note
    sys.modules[stand_ins.__name__] = stand_ins
    if not cold:
        import course_utils

        warm.load(ANSWERS_USE)
        course_utils.setup()


class Server:
    """Forks a child for each request on the control connection; ends it, with all that it started, on request."""

    def __init__(self, control, walls, seconds, memory):
        self.control, self.walls, self.seconds, self.memory = control, walls, seconds, memory
        self.filter = system_call_filter() if walls else None
        self.home = os.open("/proc/self/ns/pid", os.O_RDONLY) if walls else None
        self.mapped = mapped()
        self.child = self.ending = None

    def serve(self):
        self.say({"ready": True, "filter": self.filter is not None})
        while True:
            request, lines, _, _ = socket.recv_fds(self.control, 1, 1)
            if not request:
                return
            if request == b"s":
                self.start(lines[0])
                os.close(lines[0])
            elif request == b"r":
                with open(lines[0], encoding="utf-8") as file:
                    program.prepare(json.load(file))
                gc.freeze()
            elif request in (b"e", b"g"):
                self.say(self.end(gone=request == b"g"))

    def say(self, message):
        self.control.sendall(json.dumps(message).encode() + b"\n")

    def start(self, line):
        self.child = fork_apart(self.home) if self.walls else os.fork()
        if self.child == 0:
            self.be_child(line)
        if self.ending:  # by now its memory has been freed
            os.waitpid(self.ending, 0)
            self.ending = None

    def be_child(self, line):
        """Become a child; never returns. The server's files are closed before any of the learner's input is read."""
        status = NOT_SHUT_IN
        try:
            os.setsid()  # else a signal to the child's own group would reach the server
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(0, 1)
            os.dup2(0, 2)
            kept = os.dup2(line, 3)
            os.closerange(4, 4096)
            line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=kept)
            self.control = None
            if self.walls:
                shut_in()
            os.chdir(os.environ["TMPDIR"])
            sys.path.insert(0, "")  # a notebook may import a module that it wrote
            import torch

            # else each of the learner's threads recreates torch's pool, which sometimes fails after a fork
            torch.set_num_threads(1)
            limit(self.seconds, self.memory, self.mapped)
            if self.walls:
                give_up_rights()
                if self.filter is not None:
                    self.filter.load()
            gc.enable()
            status = 0
            serve_submission(line)
        finally:
            os._exit(status)

    def end(self, gone=False):
        """Kill the child if it is still alive. Returns how it ended: signal, exit status, seconds of processor time.

        gone: its connection is closed. The kernel does that first when a process ends, so the end may follow shortly.
        """
        if self.child is None:
            return {"alive": False, "signal": 0, "status": NOT_SHUT_IN, "seconds": 0}
        pid, self.child = self.child, None
        patience = time.monotonic() + gone
        while (
            alive := os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        ) and time.monotonic() < patience:
            time.sleep(0.005)
        if alive:
            os.kill(pid, signal.SIGKILL)
            self.ending = pid
            return {"alive": True, "signal": 0, "status": 0, "seconds": 0}
        _, status, used = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        return {
            "alive": False,
            "signal": max(0, -code),
            "status": max(0, code),
            "seconds": used.ru_utime + used.ru_stime,
        }


def leave_root():
    """Switch from root to the user nobody: the limit on processes does not apply to root."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        call_libc("prctl", 4, 1, 0, 0, 0)  # PR_SET_DUMPABLE, so that children may write their user maps


def settle():
    """Become the user nobody and the first process of a new PID namespace, in a new user namespace.

    Only a process with all capabilities in its own namespace can return to it after each `fork_apart`.
    """
    leave_root()
    own_users(NEW_PROCESSES)
    end_with_parent()  # changing the user clears the parent-death signal that bubblewrap had set
    if child := os.fork():
        os.closerange(3, 4096)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    end_with_parent()


def probe():
    """Isolate one process, as each submission will be. An OSError says what this machine does not allow."""
    settle()
    child = fork_apart(os.open("/proc/self/ns/pid", os.O_RDONLY))
    if child == 0:
        try:
            shut_in()
            give_up_rights()
            os._exit(0)
        except OSError as error:
            os.write(2, str(error).encode())
        finally:
            os._exit(1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def main():
    """Run the server process; see `sandbox.Sandbox` for its arguments."""
    control, walls, seconds, memory = int(sys.argv[1]), sys.argv[2] == "walls", int(sys.argv[3]), int(sys.argv[4])
    cold = sys.argv[5:] == ["cold"]
    if walls:
        settle()
    control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=control)
    warm_up(cold)
    warm.set_aside()
    Server(control, walls, seconds, memory).serve()


if __name__ == "__main__":
    main()
