"""What runs inside the sandbox: a warm server that forks one child for each submission, and that child.

Nothing here judges, and nothing here knows what is right. The server imports what answers use, loads the encoder, and
then only forks. A child shuts itself in (`shut_in`), reads the notebook, and runs what an answer needs of it. Everything that a
child says may be a lie, since a learner's code can change the child; so whoever listens believes only values.
"""

import __future__
import ast
import builtins
import ctypes
import dis
import gc
import json
import os
import re
import signal
import socket
import sys
import time
import types

try:
    import resource
except ImportError:  # Windows, where nothing is run, but `course release` reads the lessons' points
    resource = None

from . import wire

NEW_USER, NEW_MOUNTS, NEW_PROCESSES, NEW_IPC, NEW_NETWORK = 0x10000000, 0x00020000, 0x20000000, 0x08000000, 0x40000000
PRIVATE_RECURSIVE, READ_ONLY, NO_SUID, NO_DEVICES, NO_PROGRAMS = 0x44000, 1, 2, 4, 8
SCRATCH = "/scratch"  # the one folder where a submission may write
NOT_SHUT_IN = 77  # the exit status of a child that could not be
LOOKUPS = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")
BODY_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")  # what stands below these is Python


class Broken(Exception):
    """An answer cannot be had from this notebook. One sentence says why."""


# ---------------------------------------------------------------- reading a notebook

def read_notebook(data):
    """The cells of a notebook: dicts with kind, source and grade_id. Raises Broken if the bytes are no notebook."""
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Broken("this file is no notebook: it is not JSON") from None
    if isinstance(notebook, dict) and isinstance(notebook.get("worksheets"), list):  # before 2015
        sheets = [sheet for sheet in notebook["worksheets"] if isinstance(sheet, dict)]
        found = [cell for sheet in sheets for cell in sheet.get("cells") or []]
    else:
        found = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(found, list):
        raise Broken("this file is no notebook: it has no cells")
    return [{"kind": cell.get("cell_type"), "source": _text(cell.get("source", cell.get("input", ""))), "grade_id": _grade_id(cell)}
            for cell in found if isinstance(cell, dict)]


def _text(source):
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def _grade_id(cell):
    for key in ("metadata", "nbgrader"):
        cell = cell.get(key)
        if not isinstance(cell, dict):
            return None
    return cell.get("grade_id")


def statements(cells):
    """What can be run of the code cells: (number of the cell, statement) in order, and a sentence per cell that cannot."""
    found, problems = [], {}
    Future.flags = 0
    for number, cell in enumerate(cells):
        if cell["kind"] != "code":
            continue
        try:
            parsed = ast.parse(_plain_python(cell["source"])).body
            for statement in parsed:
                Future.note(statement)
                _compiled(statement)  # some errors show only here
            found += [(number, statement) for statement in parsed]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = f", line {error.lineno}" if getattr(error, "lineno", None) else ""
            problems[number] = f"cell {number + 1}{line}: {type(error).__name__}: {getattr(error, 'msg', error)}"[:300]
    return found, problems


def _plain_python(source):
    """A cell's text without magics and shell lines; IPython says what those are."""
    lines = source.splitlines()
    while lines and (not lines[0].strip() or lines[0].split()[0] in BODY_MAGICS):
        lines = lines[1:]
    if lines and lines[0].startswith("%%"):
        return ""
    if not any(sign in source for sign in "%!?"):
        return "\n".join(lines)
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell("\n".join(lines))


# ---------------------------------------------------------------- what an answer needs of it

def _bound(statement):
    """Names that a statement binds at the top level."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    names, left = set(), [statement]
    while left:
        node = left.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
            names |= _bound(node)
            continue
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        if not isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            left += ast.iter_child_nodes(node)
    return names


def _changed(statement):
    """Names whose values a statement, or one within it, changes without binding them: x[0] = 1, x.y = 1, x.append(1)."""
    names, left = set(), [statement]
    while left:
        node = left.pop()
        targets = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets = [node.target]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            targets = [node.value.func]
        elif isinstance(node, (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.ExceptHandler)):
            left += [part for part in ast.iter_child_nodes(node) if isinstance(part, (ast.stmt, ast.ExceptHandler))]
        for target in targets:
            while isinstance(target, (ast.Attribute, ast.Subscript, ast.Starred)):
                target = target.value
                if isinstance(target, ast.Name):
                    names.add(target.id)
    return names


def _used(statement):
    """Names that a statement, and the functions in it, look up in the notebook; not their own variables."""
    names, left = set(), [_compiled(statement)]
    while left:
        code = left.pop()
        names |= {step.argval for step in dis.get_instructions(code) if step.opname in LOOKUPS}
        left += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return names


def _compiled(statement):
    return compile(ast.Module([statement], []), "<notebook>", "exec", flags=Future.flags, dont_inherit=True)


class Future:
    """What `from __future__ import ...` switched on in this notebook. It holds for all cells below, though each statement is compiled alone."""

    flags = 0

    @classmethod
    def note(cls, statement):
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                cls.flags |= getattr(getattr(__future__, alias.name, None), "compiler_flag", 0)


def _is_stub(statement):
    """Whether a function does nothing but `raise NotImplementedError()`."""
    if not isinstance(statement, ast.FunctionDef):
        return False
    body = [part for part in statement.body if not isinstance(part, (ast.Expr, ast.Pass))]
    if [type(part) for part in body] != [ast.Raise]:
        return False
    error = body[0].exc.func if isinstance(body[0].exc, ast.Call) else body[0].exc
    return isinstance(error, ast.Name) and error.id == "NotImplementedError"


def program(found, name, kinds=(ast.stmt,)):
    """The statements that must run, in order, for `name` to be what it is in the notebook. Raises Broken if it is nowhere.

    The last definition of these kinds counts that is not the stub; an import is no answer. Of the names that it uses, the
    definitions that stand before it (or in its cell), as when one runs the notebook from the top; if there are none, any.
    """
    binding = [_bound(statement) for _, statement in found]
    places = [place for place, names in enumerate(binding)
              if name in names and isinstance(found[place][1], kinds) and not isinstance(found[place][1], (ast.Import, ast.ImportFrom))]
    if not places and kinds != (ast.stmt,):
        return program(found, name)
    if not places:
        raise Broken(f"`{name}` is not defined anywhere in this notebook")
    answer = next((place for place in reversed(places) if not _is_stub(found[place][1])), places[-1])
    wanted, open_names, seen = {answer}, [(name, answer) for name in _used(found[answer][1])], set()
    while open_names:
        needed, user = open_names.pop()
        if needed in seen or (needed == name and user == answer and isinstance(found[answer][1], ast.FunctionDef)):
            continue
        seen.add(needed)
        places = [place for place, names in enumerate(binding) if needed in names and place != answer]
        if needed == name:
            places = [place for place in places if place < answer]
        before = [place for place in places if found[place][0] <= found[answer][0]]
        places = before or ([] if hasattr(builtins, needed) else places)
        if places and not isinstance(found[places[-1]][1], (ast.Import, ast.ImportFrom)):
            places += [place for place, (cell, statement) in enumerate(found) if needed in _changed(statement) and place != answer and
                       cell <= max(found[answer][0], found[places[-1]][0])]
        for place in places:
            if place not in wanted:
                wanted.add(place)
                open_names += [(other, place) for other in _used(found[place][1])]
    wanted |= {place for place, (cell, statement) in enumerate(found)  # my_function.cache = {}
               if name in _changed(statement) and isinstance(statement, (ast.Assign, ast.AnnAssign)) and answer < place and cell <= found[answer][0] + 1}
    stars = {place for place, (_, statement) in enumerate(found) if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"}
    return [found[place][1] for place in sorted(wanted | stars)]


def answer_name(cells, found, exercise_id, name):
    """The name under which an exercise is answered: the given one; else what `check` is called with; else the one function of its cell."""
    if any(name in _bound(statement) for _, statement in found if not isinstance(statement, (ast.Import, ast.ImportFrom))):
        return name
    for node in (node for _, statement in found for node in ast.walk(statement)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check" and len(node.args) > 1 and \
                isinstance(node.args[0], ast.Constant) and node.args[0].value == exercise_id and isinstance(node.args[1], ast.Name):
            return node.args[1].id
    own = [statement.name for number, statement in found if cells[number]["grade_id"] == exercise_id and isinstance(statement, ast.FunctionDef)]
    return own[0] if len(own) == 1 else name


# ---------------------------------------------------------------- one submission

class Submission:
    """One notebook in its process: answers requests until the line is closed."""

    def __init__(self):
        self.cells, self.found, self.problems, self.answers = [], [], {}, {}

    def open(self, exercises, by_hand):
        """Says which exercises the notebook has, what stands in its answers' cells, and what does not parse."""
        self.found, self.problems = statements(self.cells)
        grade_ids = {cell["grade_id"] for cell in self.cells if isinstance(cell["grade_id"], str)}
        text = "\n".join(cell["source"] for cell in self.cells if cell["kind"] == "code")
        present = [one for one in exercises if one in grade_ids or f"{one}-check" in grade_ids or f'check("{one}"' in text or f"check('{one}'" in text]
        titles = [match[1] for cell in self.cells if cell["kind"] in ("markdown", "heading") and (match := re.match(r"#?\s*(\d\d) ", cell["source"]))]
        return {"present": present, "titles": titles[:3], "problems": list(self.problems.values())[:20],
                "texts": {one: "\n\n".join(cell["source"] for cell in self.cells if cell["grade_id"] == one)[:50_000]
                          for one in [*exercises, *by_hand] if one in grade_ids}}

    def define(self, exercise_id, name):
        """Run what an answer needs. Says whether it is a function; another value is sent as it is."""
        name = answer_name(self.cells, self.found, exercise_id, name)
        try:
            answer = self.run(program(self.found, name), name)
            if not callable(answer):  # rank = rank(scores), below the answer
                answer = self.run(program(self.found, name, (ast.FunctionDef,)), name)
        except Broken as missing:
            own = [problem for number, problem in self.problems.items()
                   if self.cells[number]["grade_id"] == exercise_id or f"def {name}" in self.cells[number]["source"]]
            raise Broken(f"its cell cannot be read ({own[-1]})" if own else str(missing)) from None
        self.answers[exercise_id] = answer
        return {"callable": True, "foreign": wire.notebook_data(answer)} if callable(answer) else {"value": answer}

    def run(self, body, name):
        """Run statements in a space of their own. Returns what `name` is then."""
        space = {"__name__": "__main__", "__builtins__": builtins, "display": lambda *args, **kwargs: None}
        for statement in body:
            try:
                exec(_compiled(statement), space)
            except Exception as error:  # what fails here is missing below, and may not be needed
                space.setdefault("__problems__", []).append(": ".join(wire.wording(error)))
        if name not in space:
            raise Broken(f"running its cell failed ({space.get('__problems__', ['no reason given'])[-1][:300]})")
        return space[name]

    def call(self, exercise_id, args):
        """Call an answer. Sends back what it returned or raised, and the arguments if they are no longer what they were."""
        values = [None if callable(arg) else arg for arg in args]  # a function stays what it is
        before = wire.pack({"args": values})
        try:
            reply = {"value": self.answers[exercise_id](*args)}
        except BaseException as error:
            reply = {"raised": wire.wording(error)}
        return reply if wire.pack({"args": values}) == before else {**reply, "args": values}


def serve_submission(line):
    """The child's loop: a request in, a reply out."""
    submission = Submission()
    while True:
        try:
            header = _received(line, wire.HEADER.size)
        except EOFError:
            return
        text, arrays = wire.HEADER.unpack(header)
        text = bytes(_received(line, text))
        arrays = _received(line, arrays)
        try:
            if text == b"notebook":
                submission.cells = read_notebook(arrays)
                reply = {"cells": len(submission.cells)}
            else:
                request = wire.unpack(text, arrays, recipes=True)
                reply = getattr(submission, request.pop("do"))(**request)
        except Broken as problem:
            reply = {"broken": str(problem)}
        except MemoryError:
            reply = {"raised": ["MemoryError", ""]}
        except Exception as error:  # Python itself gives up on some code
            reply = {"broken": f"Python cannot read it ({type(error).__name__})"}
        try:
            reply = wire.pack(reply)
        except RecursionError:
            reply = wire.pack({"value": wire.thing("list")})
        line.sendall(reply)


def _received(line, size):
    data = bytearray()
    while len(data) < size:
        part = line.recv(min(size - len(data), 2**20))
        if not part:
            raise EOFError
        data += part
    return data


# ---------------------------------------------------------------- the walls

def _libc(name, *args):
    if ctypes.CDLL(None, use_errno=True)[name](*args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def own_users(new=0):
    """A new user namespace for this process, in which it keeps its name and has all rights, and other new namespaces."""
    user, group = os.getuid(), os.getgid()
    _libc("unshare", NEW_USER | new)
    for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{file}", "w") as handle:
            handle.write(text)


def fork_apart(home):
    """Fork; the child is the first process of a new process namespace: when it ends, the kernel ends all others there.

    home: a descriptor of this process's own namespace, to which its next child belongs again.
    """
    _libc("unshare", NEW_PROCESSES)
    child = os.fork()
    if child:
        _libc("setns", home, NEW_PROCESSES)
    return child


def shut_in():
    """Namespaces of its own for this process: users, mounts, IPC, network; and empty folders of its own over what can be written."""
    own_users(NEW_MOUNTS | NEW_IPC | NEW_NETWORK)
    _libc("mount", b"none", b"/", None, ctypes.c_ulong(PRIVATE_RECURSIVE), None)
    try:  # mount_setattr, of all mounts: not even the times and modes of device files can be changed
        _libc("syscall", 442, -100, b"/", 0x8000, (ctypes.c_uint64 * 4)(READ_ONLY), ctypes.c_size_t(32))
    except OSError:
        pass  # before Linux 5.12
    tame = NO_SUID | NO_DEVICES | NO_PROGRAMS
    _libc("mount", b"tmpfs", b"/proc", b"tmpfs", ctypes.c_ulong(tame | READ_ONLY), b"size=4k,mode=555")
    _libc("mount", b"tmpfs", SCRATCH.encode(), b"tmpfs", ctypes.c_ulong(tame), b"size=64m,nr_inodes=4096,mode=700")


def give_up_rights():
    """No capabilities, and none to be had by running a program."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3 of the call, this process
    _libc("capset", header, (ctypes.c_uint32 * 6)())
    _libc("prctl", 38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS


def system_call_filter():
    """What a learner's code may not ask of the kernel: new programs, processes, namespaces, sockets, and looking into others.

    None where libseccomp is missing: then the namespaces and limits stand alone.
    """
    try:
        import pyseccomp
    except (ImportError, OSError, RuntimeError):
        return None
    rules = pyseccomp.SyscallFilter(defaction=pyseccomp.ALLOW)
    refuse = pyseccomp.ERRNO(1)
    for call in ("execve", "execveat", "fork", "vfork", "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "ptrace",
                 "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "unshare", "setns",
                 "mount", "umount2", "move_mount", "fsmount", "fsopen", "fsconfig", "fspick", "open_tree", "mount_setattr", "pivot_root", "chroot",
                 "bpf", "perf_event_open", "io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "keyctl", "add_key",
                 "request_key", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "open_by_handle_at",
                 "name_to_handle_at", "kcmp", "personality", "quotactl", "acct", "swapon", "swapoff", "reboot", "sethostname", "setdomainname",
                 "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "vhangup", "syslog", "memfd_create", "memfd_secret", "shmget",
                 "shmat", "msgget", "semget", "mq_open", "vmsplice", "mknod", "mknodat"):
        try:
            rules.add_rule(refuse, call)
        except (ValueError, OSError, RuntimeError):  # not a call of this processor
            continue
    rules.add_rule(pyseccomp.ERRNO(38), "clone3")  # "not implemented": the C library then uses clone, which shows its flags
    thread = 0x00010000
    rules.add_rule(refuse, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, thread, 0))
    return rules


def mapped():
    """Bytes of address space that this process has, or None where the system does not say."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return None


def limit(seconds, memory, mapped):
    """Limits on processor time (seconds), memory beyond what is mapped (bytes), file size, processes, open files."""
    for what, most in (("RLIMIT_CPU", seconds), ("RLIMIT_AS", mapped + memory if mapped else None), ("RLIMIT_FSIZE", 64 * 2**20),
                       ("RLIMIT_NPROC", 32), ("RLIMIT_NOFILE", 128), ("RLIMIT_CORE", 0), ("RLIMIT_MEMLOCK", 0), ("RLIMIT_MSGQUEUE", 0)):
        if most is not None and hasattr(resource, what):
            try:
                resource.setrlimit(getattr(resource, what), (most, most))
            except (ValueError, OSError):  # macOS does not know all of them
                continue


# ---------------------------------------------------------------- the warm server

def warm_up():
    """Import what lessons and answers import, and load the encoder, so that children find all of it ready."""
    import matplotlib

    matplotlib.use("agg")
    import numpy, pandas, scipy.stats, sklearn.decomposition, sklearn.feature_extraction.text, sklearn.linear_model, torch, transformers  # noqa: E401,F401
    from IPython.core import inputtransformer2  # noqa: F401

    torch.set_num_threads(1)
    stand_ins = types.ModuleType("course_utils.exercises")  # the real ones know what is right, and are not in here
    stand_ins.check = stand_ins.hint = stand_ins.solution = lambda *args, **kwargs: None
    stand_ins.forget_hints = lambda: None
    sys.modules[stand_ins.__name__] = stand_ins
    import course_utils
    from course_utils import data, embedding, models, nearest, plots, pooling, settings, training  # noqa: F401

    models.load_encoder()
    embedding.embed(["The first sentence lays the weights out."])
    course_utils.setup()


class Server:
    """Forks a child for each request on the control line; ends it, with all that it started, when told to."""

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
            elif request in (b"e", b"g"):
                self.say(self.end(gone=request == b"g"))

    def say(self, message):
        self.control.sendall(json.dumps(message).encode() + b"\n")

    def start(self, line):
        self.child = fork_apart(self.home) if self.walls else os.fork()
        if self.child == 0:
            self.be_child(line)
        if self.ending:  # by now its memory is given back
            os.waitpid(self.ending, 0)
            self.ending = None

    def be_child(self, line):
        """Never returns. Everything of the server's is closed before anything of the learner's is read."""
        status = NOT_SHUT_IN
        try:
            os.setsid()  # else a signal to its own group would reach the server
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
        """Kill the child if it still lives. How it ended: signal, exit status, seconds of processor time.

        gone: its line is closed, as the kernel does first when a process ends, so the rest may follow in a moment.
        """
        if self.child is None:
            return {"alive": False, "signal": 0, "status": NOT_SHUT_IN, "seconds": 0}
        pid, self.child = self.child, None
        patience = time.monotonic() + gone
        while (alive := os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None) and time.monotonic() < patience:
            time.sleep(0.005)
        if alive:
            os.kill(pid, signal.SIGKILL)
            self.ending = pid
            return {"alive": True, "signal": 0, "status": 0, "seconds": 0}
        _, status, used = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        return {"alive": False, "signal": max(0, -code), "status": max(0, code), "seconds": used.ru_utime + used.ru_stime}


def leave_root():
    """Root becomes nobody: the limit on processes does not hold for root."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        _libc("prctl", 4, 1, 0, 0, 0)  # PR_SET_DUMPABLE, so that children may write their maps of users


def settle():
    """Become nobody, in namespaces of users and processes that belong to this process, and the first process there.

    Only who has all rights in the namespace that it lives in may come back to it after each `fork_apart`.
    """
    leave_root()
    own_users(NEW_PROCESSES)
    if child := os.fork():
        os.closerange(3, 4096)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def probe():
    """Shut a process in once, as each submission will be. An OSError says what this machine does not allow."""
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
    control, walls, seconds, memory = int(sys.argv[1]), sys.argv[2] == "walls", int(sys.argv[3]), int(sys.argv[4])
    if walls:
        settle()
    control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=control)
    warm_up()
    gc.collect()
    gc.freeze()
    gc.disable()  # a collection in a child would copy pages that all children share
    Server(control, walls, seconds, memory).serve()


if __name__ == "__main__":
    main()
