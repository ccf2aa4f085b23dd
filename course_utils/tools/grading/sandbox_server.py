"""The sandbox's inside: a warm server that forks one child per submission.

Nothing here judges answers or knows the right ones. The server imports what answers use, loads the
encoder, and from then on only forks. A child isolates itself (`shut_in`), reads the notebook, and
runs what an answer needs of it (`submission`). A child's messages cannot be trusted, since a
learner's code can change the child; the grader therefore accepts only values.
"""

import contextlib
import ctypes
import gc
import json
import mmap
import os
import signal
import socket
import sys
import time
import types
from typing import Any, NoReturn

from ..._support.namespaces import (
    NEW_IPC,
    NEW_MOUNTS,
    NEW_NETWORK,
    NEW_PROCESSES,
    call_libc,
    own_users,
)
from .. import warm
from . import statements
from .submission import CHECKS, serve_submission

# Numbers of Linux, as its headers have them, under other names.
# Flags of mounts: MS_REC | MS_PRIVATE, MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC
PRIVATE_RECURSIVE, READ_ONLY, NO_SUID, NO_DEVICES, NO_PROGRAMS = 0x44000, 1, 2, 4, 8
# the system call mount_setattr, which older C libraries do not know, and its arguments:
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE = 442, -100, 0x8000
# operations of prctl:
SET_PDEATHSIG, SET_DUMPABLE, SET_NO_NEW_PRIVS = 1, 4, 38
CAPABILITY_VERSION_3 = 0x20080522  # of the arguments of capset
NOT_PERMITTED, NOT_IMPLEMENTED = 1, 38  # errors: EPERM, ENOSYS
CLONE_THREAD = 0x00010000  # a flag of clone

# the user and the group without rights, by custom of Linux distributions
NOBODY = 65534
# all descriptors here are below this: Linux gives out the lowest free number, and neither the
# server nor the grader, which numbers the control connection, opens many files
MOST_FILES = 4096
SCRATCH = "/scratch"  # the only folder where a submission may write
NOT_SHUT_IN = 77  # exit status of a child that could not isolate itself
# of a child, beside processor time and memory: bytes of a file, processes and threads, open files,
# bytes of a core dump, of locked memory and of message queues
LIMITS = {"FSIZE": 64 * 2**20, "NPROC": 32, "NOFILE": 128, "CORE": 0, "MEMLOCK": 0, "MSGQUEUE": 0}


# ---------------------------------------------------------------- the walls


def fork_apart(home: int) -> int:
    """Fork a child as the first process of a new PID namespace.

    When it ends, the kernel ends all others there.

    home: a descriptor of this process's own PID namespace, to which its next child belongs again.

    Returns as `os.fork`: 0 in the child. Raises OSError.
    """
    call_libc("unshare", NEW_PROCESSES)
    child = os.fork()
    if child:
        call_libc("setns", home, NEW_PROCESSES)
    return child


def shut_in() -> None:
    """Isolate this process.

    It gets new user, mount, IPC and network namespaces, an empty /proc, and an empty SCRATCH, the
    only folder where it can write. Raises OSError if the machine does not allow this.
    """
    own_users(NEW_MOUNTS | NEW_IPC | NEW_NETWORK)
    call_libc("mount", b"none", b"/", None, ctypes.c_ulong(PRIVATE_RECURSIVE), None)
    # all mounts become read-only, which also protects times and modes of device files; Linux can do
    # this since 5.12, and the folders are read-only without it
    with contextlib.suppress(OSError):
        attributes = (ctypes.c_uint64 * 4)(READ_ONLY)  # to set, to clear, propagation, user
        call_libc(
            "syscall",
            MOUNT_SETATTR,
            AT_FDCWD,
            b"/",
            AT_RECURSIVE,
            attributes,
            ctypes.c_size_t(ctypes.sizeof(attributes)),
        )
    tame = NO_SUID | NO_DEVICES | NO_PROGRAMS
    call_libc(
        "mount", b"tmpfs", b"/proc", b"tmpfs", ctypes.c_ulong(tame | READ_ONLY), b"size=4k,mode=555"
    )
    # its files are in memory, so their size and number are limited
    call_libc(
        "mount",
        b"tmpfs",
        SCRATCH.encode(),
        b"tmpfs",
        ctypes.c_ulong(tame),
        b"size=64m,nr_inodes=4096,mode=700",
    )


def give_up_rights() -> None:
    """Drop all capabilities, and prevent gaining any by running a program."""
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)  # 0: of this process
    call_libc("capset", header, (ctypes.c_uint32 * 6)())  # all zero: no capability
    call_libc("prctl", SET_NO_NEW_PRIVS, 1, 0, 0, 0)


# system calls that start programs, create processes, namespaces or sockets, inspect other
# processes, or administer the machine (mounts, modules, keys, clocks); shared memory and queues
DENIED = """
    execve execveat fork vfork socket connect bind listen accept accept4 ptrace process_vm_readv
    process_vm_writev process_madvise pidfd_open pidfd_getfd pidfd_send_signal unshare setns mount
    umount2 move_mount fsmount fsopen fsconfig fspick open_tree mount_setattr pivot_root chroot bpf
    perf_event_open io_uring_setup io_uring_enter io_uring_register userfaultfd keyctl add_key
    request_key kexec_load kexec_file_load init_module finit_module delete_module open_by_handle_at
    name_to_handle_at kcmp personality quotactl acct swapon swapoff reboot sethostname setdomainname
    settimeofday clock_settime adjtimex clock_adjtime vhangup syslog memfd_create memfd_secret
    shmget shmat msgget semget mq_open vmsplice mknod mknodat
"""


def system_call_filter() -> Any:
    """A filter of the system calls denied to learners' code.

    It applies once its `load` is called. Returns None if pyseccomp or libseccomp is missing:
    namespaces and limits are then the only isolation.
    """
    import ctypes.util

    find, names = ctypes.util.find_library, {"c": "libc.so.6", "seccomp": "libseccomp.so.2"}
    # for pyseccomp: the original runs programs that the sandbox does not show
    ctypes.util.find_library = lambda name: names.get(name) or find(name)
    try:
        import pyseccomp
    except (ImportError, OSError, RuntimeError):
        return None
    finally:
        ctypes.util.find_library = find
    rules = pyseccomp.SyscallFilter(defaction=pyseccomp.ALLOW)
    refuse = pyseccomp.ERRNO(NOT_PERMITTED)
    for call in DENIED.split():
        # not every processor has each of them
        with contextlib.suppress(ValueError, OSError, RuntimeError):
            rules.add_rule(refuse, call)
    # a pair of local sockets is allowed: event loops wake themselves with one
    rules.add_rule(refuse, "socketpair", pyseccomp.Arg(0, pyseccomp.NE, socket.AF_UNIX))
    # as on a Linux without clone3: the C library then uses clone, whose flags the filter can see
    rules.add_rule(pyseccomp.ERRNO(NOT_IMPLEMENTED), "clone3")
    # threads may be started, and nothing else
    rules.add_rule(refuse, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, CLONE_THREAD, 0))
    return rules


def mapped() -> int:
    """Bytes of address space that this process has mapped.

    If the system does not say, a number so large that a limit above it is none.
    """
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * mmap.PAGESIZE
    except OSError:
        return 2**62


def end_with_parent() -> None:
    """Have Linux kill this process when the thread that started it ends, however it ends."""
    if sys.platform == "linux":
        parent = os.getppid()
        call_libc("prctl", SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it has already ended; in a container, 1 is an ordinary parent
            os._exit(1)


def limit(kind: str, most: int) -> None:
    """Limit a resource of this process, such as "CPU" (seconds) or "FSIZE" (bytes of a file).

    At the limit of its address space, "AS" (bytes), Python raises MemoryError. Does nothing where
    the system lacks the limit, or does not let it be set.
    """
    # unavailable on Windows, where nothing is run, but `course release` reads the lessons' points
    import resource

    with contextlib.suppress(AttributeError, ValueError, OSError):  # macOS lacks some of them
        resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (most, most))


# ---------------------------------------------------------------- the warm server


# what answers use beyond the imports of the course's own functions
ANSWERS_USE = (
    "pandas",
    "scipy.stats",
    "sklearn.decomposition",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
    *(
        f"course_utils.{name}"
        for name in ("data", "models", "nearest", "plots", "pooling", "settings", "training")
    ),
)


def warm_up(cold: bool = False) -> None:
    """Import what lessons and answers import, and load the encoder, once for all children.

    cold: import only what every child needs.
    """
    import torch

    statements.shell().transform_cell("%time warm = 1")  # creates the shell, for all children
    torch.set_num_threads(1)
    # the real ones are hidden: they know the answers
    stand_ins = types.ModuleType("course_utils.exercises")
    stand_ins.__dict__.update(check=CHECKS, hint=CHECKS.note, solution=CHECKS.note)
    sys.modules[stand_ins.__name__] = stand_ins
    if not cold:
        from ...settings import setup

        warm.load(ANSWERS_USE)
        setup()


class Server:
    """Forks a child on request, and ends it on request; behind walls, with all that it started.

    One child runs at a time: each must be ended before the next is started.

    control: the connection to the grader.
    walls: whether children are isolated.
    seconds, memory: processor time, and bytes beyond what the server has mapped, of each child.
    """

    def __init__(self, control: socket.socket, walls: bool, seconds: int, memory: int) -> None:
        self.control, self.walls, self.seconds, self.memory = control, walls, seconds, memory
        self.filter = system_call_filter() if walls else None
        self.home = os.open("/proc/self/ns/pid", os.O_RDONLY) if walls else -1
        self.mapped = mapped()
        self.child: int | None = None
        self.ending: int | None = None  # a child that was killed, and whose memory is being freed

    def serve(self) -> None:
        """Answer requests until the connection is closed.

        A request is one byte, some with a descriptor; see the cases below. Replies are lines of
        JSON: one when the server is warm, and one to each request to end the child.
        """
        self.say({"ready": True, "filter": self.filter is not None})
        while True:
            request, lines, _, _ = socket.recv_fds(self.control, 1, 1)
            if not request:
                return
            match request:
                case b"s":  # start a child
                    self.start(lines[0])
                    os.close(lines[0])
                case b"r":  # read cells that many submissions contain
                    with open(lines[0], encoding="utf-8") as file:
                        statements.prepare(json.load(file))
                    gc.freeze()
                case b"e" | b"g":  # end the child, which may be gone
                    self.say(self.end(gone=request == b"g"))

    def say(self, message: dict) -> None:
        self.control.sendall(json.dumps(message).encode() + b"\n")

    def start(self, line: int) -> None:
        """Fork a child that talks on this descriptor."""
        self.child = fork_apart(self.home) if self.walls else os.fork()
        if self.child == 0:
            self.be_child(line)
        if self.ending:  # by now its memory has been freed
            os.waitpid(self.ending, 0)
            self.ending = None

    def be_child(self, line: int) -> NoReturn:
        """Become a child; never returns.

        The server's files are closed before any of the learner's input is read.
        """
        status = NOT_SHUT_IN
        try:
            os.setsid()  # else a signal to the child's own group would reach the server
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(0, 1)
            os.dup2(0, 2)
            kept = os.dup2(line, 3)
            os.closerange(kept + 1, MOST_FILES)
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=kept)
            if self.walls:
                shut_in()
            os.chdir(os.environ["TMPDIR"])
            sys.path.insert(0, "")  # a notebook may import a module that it wrote
            import torch

            # else each of the learner's threads recreates torch's pool, which sometimes fails after
            # a fork
            torch.set_num_threads(1)
            own = {"AS": self.mapped + self.memory, "CPU": self.seconds}
            for kind, most in {**own, **LIMITS}.items():
                limit(kind, most)
            if self.walls:
                give_up_rights()
                if self.filter is not None:
                    self.filter.load()
            gc.enable()
            status = 0
            serve_submission(connection)
        finally:
            os._exit(status)

    def end(self, gone: bool = False) -> dict:
        """Kill the child if it is still alive.

        Returns a dict that says how it ended:
        - alive: whether it had to be killed; the other values are then 0.
        - signal: the one that ended it, else 0.
        - status: its exit status, else 0.
        - seconds: the processor time that it used.

        gone: its connection is closed. The kernel does that first when a process ends, so the end
        may follow shortly, and is waited for.
        """
        # nothing of a submission was run
        if self.child is None:
            return {"alive": False, "signal": 0, "status": NOT_SHUT_IN, "seconds": 0}
        pid, self.child = self.child, None
        deadline = time.monotonic() + (1 if gone else 0)  # seconds
        while _is_alive(pid) and time.monotonic() < deadline:
            time.sleep(0.005)
        if _is_alive(pid):
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


def _is_alive(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


# Wait for a child, and end with its exit status or, if a signal ended it, with 128 plus the number
# of the signal, as shells and bubblewrap do.
def _exit_like(child: int) -> NoReturn:
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.exit(code if code >= 0 else 128 - code)


def settle() -> None:
    """Become the first process of a new PID namespace, in a new user namespace; root also becomes
    the user nobody.

    This returns in a child. The process that called it waits for the child, and exits with its
    status. Raises OSError if the machine does not allow this.

    Only a process with all capabilities in its own namespace can return to it after each
    `fork_apart`.
    """
    if os.getuid() == 0:  # the limit on processes does not apply to root
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        # so that children may write their user maps
        call_libc("prctl", SET_DUMPABLE, 1, 0, 0, 0)
    own_users(NEW_PROCESSES)
    end_with_parent()  # changing the user clears the parent-death signal that bubblewrap had set
    if child := os.fork():
        os.closerange(3, MOST_FILES)  # so that the grader sees when the child closes its connection
        _exit_like(child)
    end_with_parent()


def probe() -> NoReturn:
    """Isolate one process, as each submission will be.

    The exit status is 0 if this worked; else the last line on stderr says what this machine does
    not allow.
    """
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
    _exit_like(child)


def main() -> None:
    """Run the server process.

    Its arguments, which `sandbox.Sandbox` gives: the descriptor of the control connection, "walls"
    or "open", a submission's seconds and bytes, and perhaps "cold".
    """
    control, walls, seconds, memory, *cold = sys.argv[1:]
    if walls == "walls":
        settle()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=int(control))
    warm_up(cold == ["cold"])
    warm.set_aside()
    Server(connection, walls == "walls", int(seconds), int(memory)).serve()


if __name__ == "__main__":
    main()
