"""Submissions that attack the grader or are broken, as data. Those that are odd but honest stand in odd.py.

Most hostile ones answer lesson 04 with an attack in place of mean pooling, and the other exercises wrongly. A probe
tries things and
raises an error that says what it won: "won nothing" is what must arrive.
"""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

from course_utils.tools.grading.marking import assignment

from ..grader import points_of, solutions

# in the name or text of all that an attack leaves, and of all that it must not find
TOKEN = f"hostile-{secrets.token_hex(4)}"
REPOSITORY = Path(__file__).resolve().parents[2]
ID = "04-mean-pool"
NAMES = {one: name for one, (name, _) in assignment(("04",))["exercises"].items()}
RIGHT = solutions("04")
WRONG = {one: f"def {name}(*args):\n    return 'wrong'" for one, name in NAMES.items() if one != ID}
FULL = points_of("04")


@dataclass(frozen=True)
class Hostile:
    """One submission: `answer` stands in the cell of mean pooling, or `build` makes the whole notebook's bytes.

    status: those that the submission may get. said: what one of its messages or its reason holds. filter: it is the
    filter of system calls that stops it.
    """

    name: str
    what: str
    answer: str = ""
    build: Callable[[], bytes] | None = None
    status: tuple[str, ...] = ("ok",)
    said: str = ""
    filter: bool = False

    def notebook(self):
        return self.build() if self.build else hand_in(self.answer)


# ---------------------------------------------------------------- building


def code(source, grade_id=None, **more):
    """A code cell as nbformat 4 stores it."""
    return {
        "cell_type": "code",
        "metadata": {"nbgrader": {"grade_id": grade_id}} if grade_id else {},
        "source": source,
        "outputs": [],
        "execution_count": None,
        **more,
    }


def file(cells, **more):
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}).encode()


def lesson(answers):
    """The cells of lesson 04 that count: each answer, and the check below it."""
    return [
        cell
        for one, source in answers.items()
        for cell in (code(source, one), code(f'check("{one}", {NAMES[one]})', f"{one}-check"))
    ]


def hand_in(answer, **more):
    return file(lesson({ID: answer, **WRONG}), **more)


def right(before=(), after=(), **answers):
    """A notebook with right answers, some of them in other words, and cells before and after."""
    ids = {name: one for one, name in NAMES.items()}
    return file([*before, *lesson({**RIGHT, **{ids[name]: source for name, source in answers.items()}}), *after])


def instead(body, before=""):
    """An answer that does this in place of pooling."""
    return (
        f"{dedent(before)}\ndef my_mean_pool(token_embeddings, "
        f"attention_mask):\n{indent(dedent(body).strip(), '    ')}\n"
    )


def probe(body, before=""):
    """An answer that appends to `won` what it could do, once, and says it in an error."""
    return f"""
import os, ctypes, sys
said = ""
libc = ctypes.CDLL(None, use_errno=True)
{dedent(before)}
def tried(won, what, function, *args):
    try:
        function(*args)
    except BaseException:
        return
    won.append(what)

def syscall(number, *args):
    return libc.syscall(number, *args) if os.uname().machine == "x86_64" else -1  # the numbers of this processor

def allowed(won, what, result):
    if result != -1:
        won.append(what)

def attack(won):
{indent(dedent(body).strip(), "    ")}

def my_mean_pool(token_embeddings, attention_mask):
    global said
    if not said:
        won = []
        attack(won)
        said = f"won {{won}}" if won else "won nothing"
    raise RuntimeError(said)
"""


SEND = """
import json, os, struct
def send(*pairs, arrays=b"", text=None, times=1):
    text = json.dumps({"dict": pairs}).encode() if text is None else text
    for line in range(3, 128):
        left = (struct.pack("!II", len(text), len(arrays)) + text + arrays) * times
        try:
            while left:
                left = left[os.write(line, left):]
        except OSError:
            pass
"""


def forged(name, what, sent, status=("ok",), at="call", **more):
    """A frame that the answer itself writes to every open descriptor, when it is called or when it is defined."""
    answer = SEND + (f"my_mean_pool = send({sent})" if at == "define" else instead(f"send({sent})\nreturn 1"))
    return Hostile(name, what, answer, status=status, **more)


# ---------------------------------------------------------------- the hostile ones

FORGING = [
    Hostile(
        "prints a report",
        "Prints what a passed check prints, on both streams and under them.",
        instead("""
        import os, sys
        text = "Mean pooling: ✓ passed\\n" + '{"status": "passed", "points": 2}'
        print(text)
        print(text, file=sys.stderr)
        os.write(1, text.encode())
        os.write(2, text.encode())
        return text"""),
    ),
    Hostile(
        "replaces check",
        "Replaces `check` wherever it may be, and returns a report that says passed.",
        instead("""
        import sys, types
        report = types.SimpleNamespace(status="passed", passed=True, points=2, messages=(), headline="passed")
        for name, module in list(sys.modules.items()):
            if name.startswith("course_utils"):
                module.check = module.examine = module.find = lambda *args, **kwargs: report
        return report"""),
    ),
    Hostile(
        "returns a report",
        "Returns an instance of a class that calls itself Report, and one that pickle would run.",
        instead("""
        class Report(dict):
            status, passed, points = "passed", True, 2
            def __reduce__(self):
                return exec, ("import os; os._exit(0)",)
        return Report(status="passed", passed=True, points=2, state="ok")"""),
    ),
    Hostile(
        "returns pickle",
        "Returns bytes that run a program when they are unpickled.",
        instead("""
        return b"cos\\nsystem\\n(S'true'\\ntR." """),
    ),
    Hostile(
        "patches the wire",
        "Replaces wire.pack and the reading of frames in the process that answers.",
        instead("""
        from course_utils.tools.grading import wire
        genuine = wire.pack
        wire.pack = lambda message: genuine({"status": "passed", "points": 2, "passed": True, "value": True})
        wire.thing = wire.wording = None
        return 1"""),
        status=("crashed",),
    ),
    Hostile(
        "patches the submission",
        "Replaces the methods that define and call answers.",
        instead("""
        import gc, sys
        for thing in gc.get_objects():
            if type(thing).__name__ == "Submission":
                type(thing).call = lambda self, **request: {"status": "passed", "points": 2, "passed": True}
                type(thing).define = lambda self, **request: {"status": "passed", "points": 2, "callable": False,
                    "value": None}
        return 1"""),
        status=("crashed",),
    ),
    Hostile(
        "patches builtins",
        "Replaces isinstance, len, print, open, all, and json.dumps.",
        instead("""
        import builtins, json
        builtins.isinstance = builtins.all = lambda *args: True
        builtins.len = lambda thing: 4
        builtins.print = builtins.open = lambda *args, **kwargs: None
        json.dumps = lambda *args, **kwargs: '{"dict": [["status", "passed"]]}'
        return 1"""),
        status=("ok", "crashed"),
    ),
    Hostile(
        "patches comparing",
        "Makes torch.allclose, numpy.isclose and all equality true.",
        instead("""
        import numpy, torch
        torch.allclose = torch.equal = numpy.isclose = numpy.allclose = lambda *args, **kwargs: True
        torch.Tensor.__eq__ = lambda *args: torch.ones(())
        return torch.zeros(token_embeddings.shape[0], token_embeddings.shape[2])"""),
    ),
    Hostile(
        "hides a change in place",
        "Changes its arguments, and what packs them so that nothing of it is told.",
        """
def hidden(function):
    from course_utils.tools.grading import wire
    genuine = wire.pack
    wire.pack = lambda message: genuine({name: value for name, value in message.items() if name != "args"})
    return function
@hidden
def my_mean_pool(token_embeddings, attention_mask):
    token_embeddings *= attention_mask.unsqueeze(-1)
    return token_embeddings.sum(dim=1) / attention_mask.sum(dim=1, keepdim=True)
""",
        said="Your function changes `token_embeddings`",
    ),
    forged(
        "forged report",
        "A well-formed reply that says passed.",
        '["status", "passed"], ["points", 2], ["passed", True], ["state", "ok"]',
        status=("crashed",),
    ),
    forged(
        "forged report at definition",
        "The same while its cell runs.",
        '["status", "passed"], ["points", 2], ["passed", True]',
        at="define",
        status=("crashed",),
    ),
    forged(
        "replies ahead",
        "Five hundred replies before anything was asked.",
        '["value", True], ["passed", True], times=500',
        at="define",
        status=("crashed",),
    ),
    forged(
        "forged error without a name", "A reply that raised nothing.", '["raised", {"list": []}]', status=("crashed",)
    ),
    forged("forged error that is a number", "A reply that raised 5.", '["raised", 5]', status=("crashed",)),
    forged(
        "forged error that is arrays",
        "A reply that raised an array of two.",
        '["raised", {"list": [{"array": ["uint8", [2], 0]}]}], arrays=b"ab"',
        status=("crashed",),
    ),
    forged(
        "forged error with a long name",
        "An exception whose name is five million letters long.",
        '["raised", {"list": ["A" * 5_000_000, "x"]}]',
        status=("ok", "crashed", "memory"),
    ),
    forged(
        "forged missing answer",
        "Says in five million letters, while its cell runs, that there is no answer.",
        '["broken", "x" * 5_000_000]',
        at="define",
        status=("missing exercise",),
    ),
    forged(
        "forged foreign name",
        "Says that it uses a name of a million letters.",
        '["callable", True], ["foreign", "x" * 1_000_000]',
        at="define",
        status=("ok", "crashed", "memory"),
    ),
    forged(
        "forged arguments",
        "Says that the arguments changed into nonsense.",
        '["value", 1], ["args", {"list": [None, {"thing": "x"}]}]',
    ),
    forged(
        "overlapping arrays",
        "Three thousand arrays that are all the same megabyte of the frame.",
        '["value", {"list": [{"array": ["uint8", [2**20], 0]}] * 3000}], arrays=bytes(2**20)',
        status=("crashed",),
    ),
    forged(
        "arrays of no size",
        "An array of shape (0, 2**39, 2**39).",
        '["value", {"array": ["float32", [0, 2**39, 2**39], 0]}]',
        status=("crashed",),
    ),
    forged(
        "array beyond its bytes",
        "An array that is larger than what came.",
        '["value", {"array": ["float32", [2**30], 0]}]',
        status=("crashed",),
    ),
    forged(
        "hundreds of thousands of types",
        "A list of 300,000 things, each of a type of its own.",
        '["value", {"list": [{"thing": f"a{number}"} for number in range(300_000)]}]',
        status=("ok", "crashed"),
    ),
    forged(
        "numbers that collide",
        "A set of 300,000 whole numbers with one hash.",
        '["value", {"set": [number * (2**61 - 1) for number in range(300_000)]}]',
        status=("crashed",),
    ),
    forged(
        "sets that collide",
        "Two hundred sets of two thousand whole numbers with one hash.",
        '["value", {"list": [{"set": [number * (2**61 - 1) for number in range(1900)]}] * 200}]',
        status=("crashed", "timeout"),
    ),
    forged(
        "an expanded tensor, forged",
        "A number that poses as a tensor of any shape.",
        '["value", {"list": [{"tensor": ["float32", [1, 1], 0, [2**20, 8]]}] * 1000}], arrays=bytes(4)',
        status=("ok", "crashed"),
    ),
    forged(
        "numbers that collide at definition",
        "The same in place of a function.",
        '["value", {"set": [number * (2**61 - 1) for number in range(300_000)]}]',
        status=("crashed",),
        at="define",
    ),
    forged(
        "half a letter",
        "An error text with a lone surrogate, which no file can hold.",
        r"""text=b'{"dict": [["raised", {"list": ["\\ud800", "\\ud800"]}]]}'""",
        status=("ok", "crashed", "memory"),
    ),
    forged(
        "a reply of brackets",
        "A hundred thousand brackets in place of a reply.",
        'text=b"[" * 100_000',
        status=("crashed",),
    ),
    forged("a reply that is a list", "JSON, but no message.", 'text=b"[1, 2]"', status=("crashed",)),
    forged("garbage", "Bytes that are no frame.", "text=bytes(range(256))", status=("crashed",)),
    Hostile(
        "announces 4 GB",
        "A header that promises four gigabytes.",
        instead("""
        import os
        os.write(3, b"\\xff" * 8)
        return 1"""),
        status=("crashed",),
        said="too large",
    ),
    Hostile(
        "announces and stops",
        "A header that promises a megabyte, and then nothing.",
        instead("""
        import os, struct, time
        os.write(3, struct.pack("!II", 2**20, 0))
        time.sleep(60)"""),
        status=("timeout",),
    ),
    Hostile(
        "closes the line",
        "Closes its connection to the grader.",
        instead("""
        import os, time
        os.close(3)
        time.sleep(60)"""),
        status=("crashed",),
        said="closed its connection",
    ),
    Hostile(
        "closes the line as time runs out",
        "Closes its connection, with much memory, at the moment that its time ends.",
        instead(
            """
        import os, time
        time.sleep(SECONDS - 0.004)
        os.close(3)
        time.sleep(60)""",
            'ballast = b"x" * (400 * 2**20)',
        ).replace("SECONDS", "2"),
        status=("crashed", "timeout"),
    ),
    Hostile(
        "a recipe for a function",
        "Gives an object in place of the answer that makes the grader build a function of its own.",
        """
class Recipe:
    recipe = ("linear_maker", 1, 2)
my_mean_pool = Recipe()""",
    ),
    Hostile(
        "remembers inputs",
        "Returns what an earlier call was given.",
        instead(
            """
        seen.append(token_embeddings[:, 0])
        return seen[0]""",
            "seen = []",
        ),
    ),
    Hostile(
        "a lookalike name",
        "Right code under a name with a Cyrillic letter.",
        build=lambda: file([code(RIGHT[ID].replace("pool", "p\u043eol")), *lesson({ID: "", **WRONG})]),
        status=("missing exercise",),
    ),
]

READING = [
    Hostile(
        "walks the disk",
        "Looks for notebooks, exercises, tests and other people's files.",
        probe(f"""
        import course_utils, re, time
        course = os.path.dirname(course_utils.__file__)
        won += os.listdir(course + "/exercises") + sorted(set(os.listdir(course + "/tools/grading")) - {{"__init__.py",
            "sandbox_server.py", "program.py", "wire.py"}})
        for folder in [*sys.path, {str(REPOSITORY)!r}, {str(Path.home())!r}]:
            won += [f"{{folder}}/{{one}}" for one in ("notebooks", "tests/answers", ".git", "README.md", ".bashrc",
                ".ssh", ".config",
                                                      "course_utils/exercises/lesson_04.py")
                    if os.path.exists(f"{{folder}}/{{one}}")]
        wanted, end = re.compile(r"04_.*ipynb|lesson_\\d\\d.*|.*{TOKEN}.*"), time.monotonic() + 1
        for folder, folders, files in os.walk("/"):
            folders[:] = [one for one in folders if one not in ("usr", "site-packages") and time.monotonic() < end]
            won += [f"{{folder}}/{{one}}" for one in files if wanted.fullmatch(one)]"""),
        said="won nothing",
    ),
    Hostile(
        "looks about in system folders",
        "Lists what the whole machine shares beside Python.",
        probe("""
        def beside(folder, *known):
            won.extend(f"{folder}/{one}" for one in os.listdir(folder) if one not in known)
        tried([], "", beside, "/usr/share", "zoneinfo")
        tried([], "", beside, "/etc", "ld.so.cache", "alternatives")
        tried([], "", beside, "/usr/local", "bin", "lib", "lib64")
        for folder in ("/usr/local/share", "/usr/local/src", "/usr/src", "/usr/include", "/usr/sbin", "/opt", "/srv",
            "/mnt", "/media", "/boot", "/var", "/run"):
            tried([], "", beside, folder)"""),
        said="won nothing",
    ),
    Hostile(
        "reads the queries of the capstone",
        "Loads the queries and which text each wants, which is what a check goes by.",
        probe("""
        import course_utils
        from course_utils.data import load_queries
        won += load_queries()["row"].tolist() + [line for line in open(os.path.dirname(course_utils.__file__)
            + "/tables/review_queries.csv")][1:]"""),
        said="won nothing",
    ),
    Hostile(
        "imports the reference",
        "Imports the exercises past the stand-in.",
        probe("""
        import importlib, importlib.util, course_utils
        for name in [name for name in sys.modules if name.startswith("course_utils.exercises")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        for name in ("lesson_04", "framework"):
            tried(won, name, importlib.import_module, f"course_utils.exercises.{name}")
        for name in ("marking", "sandbox", "gradebook", "shard", "fleet", "copies", "submissions"):
            tried(won, name, importlib.import_module, f"course_utils.tools.grading.{name}")
        import course_utils.exercises
        won += [name for name in dir(course_utils.exercises) if not name.startswith("__")]"""),
        said="won nothing",
    ),
    Hostile(
        "reads /proc",
        "Reads memory, descriptors and environments of processes through /proc.",
        probe("""
        for path in ("1/mem", "self/mem", "self/environ", "1/environ", "self/maps", "1/root", "self/cwd", "2/cmdline",
            "mounts", "kcore",
                     "kallsyms"):
            tried(won, path, os.stat, f"/proc/{path}")
        for path in ("/proc", "/proc/self/fd", "/dev/fd"):
            tried(won, path, lambda: os.listdir(path)[0])"""),
        said="won nothing",
    ),
    Hostile(
        "searches memory",
        "Looks through all objects for references, checks, exercises and expected values.",
        probe("""
        import gc
        names = ("reference", "examine", "mean_pool_reference", "_pooling_cases", "_problem", "difference", "Exercise",
            "Marker", "Case",
                 "Mistake")
        for thing in gc.get_objects():
            if getattr(thing, "__name__", None) in names and type(thing).__name__ in ("function", "type"):
                won.append(repr(thing))
            elif type(thing).__name__ in names:
                won.append(type(thing).__name__)"""),
        said="won nothing",
    ),
    Hostile(
        "climbs frames",
        "Looks through the frames above it for anything but its own arguments.",
        probe("""
        frame = sys._getframe()
        while frame := frame.f_back:
            for name, value in frame.f_locals.items():
                if name in ("expected", "right", "exercise", "case", "cases", "seed", "reference", "outcomes",
                    "report", "control",
                            "theirs", "walls"):
                    if value is not None and not isinstance(value, bool):
                        won.append((name, str(value)[:40]))"""),
        status=("ok",),
    ),
    Hostile(
        "reads its surroundings",
        "Looks for anything of the user's in its environment, its names and its descriptors.",
        probe("""
        import socket
        won += [name for name in os.environ if name.startswith(("SSH", "CI", "GIT", "USER", "AWS", "HF_TOKEN",
            "OLDPWD", "LOGNAME",
                                                                "SUDO"))]
        if os.getuid() == 0 or socket.gethostname() != "sandbox" or os.getppid():
            won.append("who it is")
        import stat
        kinds = []  # the event loop has three descriptors, and the memory of the arguments one, which has no name
        for line in range(4, 4096):
            try:
                found = os.fstat(line)
            except OSError:
                continue
            kinds.append("socket" if stat.S_ISSOCK(found.st_mode) else "" if not stat.S_IFMT(found.st_mode)
                or not found.st_nlink else f"file {line}")
        won += [kind for kind in kinds if kind.startswith("file")] + ["sockets"] * (kinds.count("socket") > 2)"""),
        said="won nothing",
    ),
]

WRITING = [
    Hostile(
        "writes about",
        "Writes into the repository, packages, its own code, the home and all system folders.",
        probe(f"""
        import course_utils, torch
        course = os.path.dirname(course_utils.__file__)
        folders = {[str(REPOSITORY), str(REPOSITORY / "tests"), str(REPOSITORY / "notebooks"), str(Path.home())]!r} + [
            "/", "/usr", "/usr/bin", "/etc", "/dev", "/dev/shm", "/dev/pts", "/proc", "/sys", "/var/tmp", "/run",
            "/root", "/home",
            os.path.dirname(torch.__file__), course, course + "/exercises", course + "/tools/grading"]
        for folder in folders:
            path = f"{{folder}}/{TOKEN}"
            tried(won, path, os.mkdir, path)
            tried(won, path, os.symlink, "/etc/passwd", path)
            tried(won, path, open, path, "w")
            tried(won, folder, os.chmod, folder, 0o777)
        for device in ("null", "zero", "full", "random", "urandom", "ptmx", "pts/ptmx", "tty"):
            tried(won, device, os.utime, f"/dev/{{device}}")"""),
        said="won nothing",
    ),
    Hostile(
        "changes files",
        "Appends to, replaces, renames and deletes its own code and that of packages.",
        probe(f"""
        import course_utils, course_utils.pooling, json, torch
        from course_utils.tools.grading import sandbox_server as inside, wire
        for path in (inside.__file__, wire.__file__, course_utils.pooling.__file__, course_utils.__file__,
            torch.__file__, json.__file__,
                     sys.executable):
            tried(won, path, lambda: open(path, "a").write("# {TOKEN}"))
            tried(won, path, os.truncate, path, 0)
            tried(won, path, os.unlink, path)
            tried(won, path, os.rename, path, path + "{TOKEN}")
            tried(won, path, os.link, path, "/tmp/link")
            tried(won, path, os.utime, path)
            tried(won, path, os.chmod, path, 0o666)"""),
        said="won nothing",
    ),
    Hostile(
        "writes to /tmp",
        "Leaves files, links to files of the host, and folders in its /tmp.",
        instead(f"""
        import os
        for number, target in enumerate(("/etc/passwd", "/tmp/{TOKEN}-secret", "{REPOSITORY}/README.md",
            "/proc/1/root", "..")):
            os.symlink(target, f"/tmp/{TOKEN}-{{number}}-{{os.urandom(4).hex()}}")
        with open(f"/tmp/{TOKEN}-{{os.urandom(4).hex()}}", "w") as file:
            file.write("{TOKEN}")
        return [name for name in os.listdir("/tmp") if os.path.exists("/tmp/" + name) and os.path.islink("/tmp/"
            + name)]"""),
    ),
    Hostile(
        "fills /tmp with one file",
        "Writes zeros until the disk is full.",
        instead("""
        with open("/tmp/large", "wb") as file:
            while True:
                file.write(bytes(2**20))"""),
        said="OSError",
    ),
    Hostile(
        "fills /tmp with many files",
        "Makes a million files.",
        instead("""
        import os
        for number in range(10**6):
            os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
        return 1"""),
        said="OSError",
    ),
]

NETWORK = [
    Hostile(
        "the network",
        "Connects to an address, to this machine, to a name server, and listens.",
        probe("""
        import socket
        for address in (("1.1.1.1", 80), ("127.0.0.1", 22), ("::1", 22), ("169.254.169.254", 80)):
            tried(won, address, lambda: socket.create_connection(address, 0.3))
        tried(won, "name", socket.getaddrinfo, "example.com", 80)
        tried(won, "datagram", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("1.1.1.1", 53)))
        tried(won, "raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
        tried(won, "packet", lambda: socket.socket(17, socket.SOCK_RAW, 3))
        tried(won, "address", lambda: __import__("urllib.request").request.urlopen("http://1.1.1.1", timeout=0.3))"""),
        said="won nothing",
    ),
    Hostile(
        "sockets of any kind",
        "Opens sockets: abstract and named unix, netlink, vsock, and pairs.",
        probe("""
        import socket
        for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16, 17, 29, 38, 40):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
                tried(won, (family, kind), socket.socket, family, kind)
        tried(won, "abstract", lambda: socket.socket(socket.AF_UNIX).connect("\\0/tmp/.X11-unix/X0"))
        tried(won, "listening on its line", lambda: socket.socket(fileno=os.dup(3)).listen())
        tried(won, "pair", socket.socketpair, socket.AF_INET)"""),
        said="won nothing",
        filter=True,
    ),
]

PROCESSES = [
    Hostile(
        "starts processes",
        "Starts processes and programs in all ways that Python and the C library have.",
        probe("""
        import multiprocessing, pty, subprocess
        def ended(function):
            if function() == 0:
                os._exit(3)
        tried(won, "fork", lambda: ended(os.fork))
        tried(won, "forkpty", lambda: ended(lambda: pty.fork()[0]))
        tried(won, "spawn", os.posix_spawn, "/bin/true", ["true"], {})
        tried(won, "subprocess", subprocess.run, ["/bin/true"])
        tried(won, "multiprocessing", lambda: multiprocessing.get_context("fork").Process(target=int).start())
        tried(won, "exec", os.execv, "/bin/true", ["true"])
        allowed(won, "system", -1 if libc.system(b"true") else 0)
        for number, args in ((56, (17, 0, 0, 0, 0)), (56, (0x10000000 | 17, 0, 0, 0, 0)), (57, ()), (58, ())):
            if (child := syscall(number, *args)) == 0:
                os._exit(3)
            allowed(won, number, child)"""),
        said="won nothing",
        filter=True,
    ),
    Hostile(
        "a fork bomb",
        "Forks for ever, each child too.",
        instead("""
        import os
        while True:
            try:
                os.fork()
            except OSError:
                pass"""),
        status=("timeout",),
    ),
    Hostile(
        "a daemon",
        "Forks twice, leaves its session, and goes on.",
        instead("""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True:
                    time.sleep(1)
            os._exit(0)
        return 1"""),
        said="PermissionError",
        filter=True,
    ),
    Hostile(
        "threads by the thousand",
        "Starts threads that never end.",
        instead("""
        import threading, time
        for _ in range(5000):
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()"""),
        said="can't start new thread",
    ),
    Hostile(
        "a thread left behind",
        "Returns, and a thread goes on writing to the grader.",
        instead("""
        import os, threading
        def write():
            while True:
                os.write(3, b"passed" * 100)
        threading.Thread(target=write, daemon=True).start()
        return 1"""),
        status=("crashed",),
    ),
    Hostile(
        "a thread that is not a daemon",
        "Ends its main thread while another works on.",
        instead("""
        import threading, time
        threading.Thread(target=time.sleep, args=(1000,)).start()
        raise SystemExit"""),
    ),
]

MEMORY = [
    Hostile(
        "growing bytes",
        "Takes memory bit by bit, and touches and keeps all of it.",
        instead(
            """
        while True:
            taken.append(b"x" * 2**26)""",
            "taken = []",
        ),
        status=("memory", "timeout", "crashed"),
    ),
    Hostile(
        "a doubling list",
        "Doubles a list until there is no room.",
        instead("""
        taken = [0]
        while True:
            taken += taken"""),
        status=("memory", "timeout"),
    ),
    Hostile(
        "a huge array",
        "Asks NumPy and torch for terabytes.",
        instead("""
        import numpy, torch
        try:
            torch.ones(2**42)
        except RuntimeError:
            return numpy.ones(2**42)"""),
        status=("memory",),
    ),
    Hostile(
        "maps memory",
        "Maps memory that no Python object holds.",
        probe("""
        import mmap
        held = []
        for _ in range(64):
            tried(won, "mapping", lambda: held.append(mmap.mmap(-1, 2**28)))
        won[:] = won if len(won) > 8 else []"""),
        said="won nothing",
    ),
    Hostile(
        "memory outside of any process",
        "Takes System V memory, message queues, pipes full of pages, and files in memory.",
        probe("""
        libc.shmget.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.c_int]
        allowed(won, "shmget", libc.shmget(0, 2**20, 0o1600))
        allowed(won, "msgget", libc.msgget(0, 0o1600))
        allowed(won, "semget", libc.semget(0, 1, 0o1600))
        allowed(won, "memfd", libc.memfd_create(b"x", 0))
        allowed(won, "queue", libc.mq_open(b"/x", 0o102, 0o600, None))
        reading, writing = os.pipe()
        page = ctypes.create_string_buffer(4096)
        allowed(won, "vmsplice", libc.vmsplice(writing, (ctypes.c_size_t * 2)(ctypes.addressof(page), 4096), 1, 0))
        from multiprocessing.shared_memory import SharedMemory
        tried(won, "shared memory", lambda: SharedMemory(create=True, size=2**20))"""),
        said="won nothing",
        filter=True,
    ),
    Hostile(
        "its own limits",
        "Raises the limits that were set for it.",
        probe("""
        import resource
        for name in ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CORE"):
            limit = getattr(resource, name)
            if -1 in resource.getrlimit(limit):
                won.append(f"no {name}")
            tried(won, name, resource.setrlimit, limit, (2**40, 2**40))
        tried(won, "priority", os.nice, -5)
        tried(won, "priority of others", os.setpriority, os.PRIO_PROCESS, os.getppid() or 1, -5)"""),
        said="won nothing",
    ),
]

TIME = [
    Hostile(
        "an endless loop",
        "Swallows every exception and ignores every signal.",
        instead("""
        import signal
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass"""),
        status=("timeout",),
    ),
    Hostile(
        "an endless loop in C",
        "Raises a number to a power that takes for ever, where no signal is heard.",
        instead("""
        return len(str(3 ** (10**9)))"""),
        status=("timeout", "memory"),
    ),
    Hostile(
        "a regular expression",
        "Matches a pattern that takes for ever.",
        instead("""
        import re
        return re.fullmatch("(a+)+b", "a" * 60)"""),
        status=("timeout",),
    ),
    Hostile(
        "an endless loop above",
        "What the answer needs never comes: its cell loops for ever.",
        """
found = 0
while found < 1:
    found *= 2
def my_mean_pool(token_embeddings, attention_mask):
    return found""",
        status=("timeout",),
    ),
    Hostile("sleeps", "Sleeps for ever.", instead("import time\ntime.sleep(10**6)"), status=("timeout",)),
    Hostile(
        "uses its processor time up",
        "Lowers its own limit and computes on, deaf to SIGXCPU.",
        instead("""
        import resource, signal
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
        while True:
            pass"""),
        status=("timeout", "crashed"),
    ),
    Hostile(
        "an error that loops",
        "Raises an exception whose text never ends.",
        instead(
            """
        raise Endless""",
            """
        class Endless(Exception):
            def __str__(self):
                while True:
                    pass""",
        ),
        status=("timeout",),
    ),
    Hostile(
        "a list that never ends",
        "Returns a list whose iteration never ends.",
        instead(
            "return Endless([1])",
            """
        import itertools
        class Endless(list):
            def __len__(self):
                return 2
            def __iter__(self):
                return itertools.repeat(None)""",
        ),
        status=("timeout", "memory"),
    ),
]

ENDS = [
    Hostile(
        "os._exit",
        "Ends its process as if all were well.",
        instead("import os\nos._exit(0)"),
        status=("crashed",),
        said="exit status 0",
    ),
    Hostile("os.abort", "Aborts.", instead("import os\nos.abort()"), status=("crashed",)),
    Hostile(
        "a bad pointer",
        "Reads address 0.",
        instead("import ctypes\nctypes.string_at(0)"),
        status=("crashed",),
        said="signal 11",
    ),
    Hostile(
        "no end to recursion",
        "Takes the limit off and recurses until the stack is full.",
        instead("""
        import sys
        class Deep:
            def __getattr__(self, name):
                return getattr(self, name)
        sys.setrecursionlimit(10**9)
        return Deep().x"""),
        status=("crashed", "ok", "memory"),
    ),
    Hostile("sys.exit", "Leaves.", instead("import sys\nsys.exit(0)"), said="SystemExit"),
    Hostile(
        "sys.exit above",
        "Leaves while its cell runs.",
        "import sys\nmy_mean_pool = sys.exit(0)",
        status=("missing exercise",),
        said="SystemExit",
    ),
    Hostile(
        "KeyboardInterrupt",
        "Pretends that somebody interrupted.",
        instead("raise KeyboardInterrupt"),
        status=("timeout",),
    ),
    Hostile("GeneratorExit", "Raises what is no Exception.", instead("raise GeneratorExit('x')"), said="GeneratorExit"),
    Hostile(
        "its own BaseException",
        "Raises a BaseException whose class lies about its name.",
        instead(
            "raise Passed",
            """
        class Passed(BaseException):
            __name__ = __qualname__ = "passed"
            __class__ = property(lambda self: int)""",
        ),
        said="Passed",
    ),
    Hostile(
        "an error that raises",
        "Raises an exception whose text, name and arguments raise.",
        instead(
            "raise Trap",
            """
        class Trap(Exception):
            def __str__(self):
                raise SystemExit
            __repr__ = __str__
            args = property(__str__)""",
        ),
        said="Trap",
    ),
    Hostile("not implemented", "Raises what a stub raises.", instead("raise NotImplementedError")),
    Hostile(
        "signals",
        "Sends every signal to itself, its parent, the first process, its group and everybody.",
        probe("""
        import signal, threading
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV,
            signal.SIGALRM,
                       signal.SIGUSR1):
            for target in (0, 1, -1, os.getppid(), -os.getpgrp(), *range(2, 300)):
                try:
                    os.kill(target, number)
                except OSError:
                    pass
        tried(won, "priority of its group", lambda: os.setpriority(os.PRIO_PGRP, 0, 0))
        won.clear()"""),
        said="won nothing",
    ),
]

KERNEL = [
    Hostile(
        "looks into processes",
        "Asks the kernel for the memory of others: ptrace, process_vm_readv, pidfd, kcmp.",
        probe("""
        for number, args in ((101, (16, 1, 0, 0)), (101, (0, 0, 0, 0)), (310, (1, 0, 0, 0, 0, 0)), (434, (1, 0)), (434,
            (2, 0)),
                             (312, (1, 2, 0, 0, 0)), (424, (4, 9, 0, 0)), (438, (4, 0, 0)), (440, (4, 0, 0, 0, 0))):
            allowed(won, number, syscall(number, *args))
        import socket
        line = socket.socket(fileno=os.dup(3))
        try:
            who = line.getsockopt(socket.SOL_SOCKET, 77)  # a descriptor of the process at the other end
            allowed(won, "signal to the grader", syscall(424, who, 9, 0, 0))
            allowed(won, "descriptor of the grader", syscall(438, who, 0, 0))
        except OSError:
            pass"""),
        said="won nothing",
        filter=True,
    ),
    Hostile(
        "new namespaces",
        "Asks for namespaces, mounts, another root and rights.",
        probe("""
        for flags in (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x02000000, 0x10020000):
            allowed(won, ("unshare", flags), libc.unshare(flags))
        for name, args in (("mount", (b"none", b"/tmp", b"tmpfs", 0, None)), ("mount", (b"none", b"/proc", b"proc", 0,
            None)),
                           ("umount2", (b"/proc", 2)), ("umount2", (b"/tmp", 2)), ("chroot", (b"/tmp",)), ("setns", (3,
                               0)),
                           ("pivot_root", (b"/tmp", b"/tmp")), ("setuid", (0,)), ("setresuid", (0, 0,
                               0)), ("sethostname", (b"x", 1)),
                           ("reboot", (0x01234567,)), ("swapon", (b"/tmp/x", 0))):
            allowed(won, (name, args), syscall(155, *args) if name == "pivot_root" else getattr(libc, name)(*args))
        header, all_rights = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[2**32 - 1] * 6)
        allowed(won, "capset", libc.capset(header, all_rights))"""),
        said="won nothing",
        filter=True,
    ),
    Hostile(
        "rare calls",
        "Asks for what programs seldom need: keys, BPF, io_uring, userfaultfd, performance counters, devices.",
        probe("""
        for number, args in ((248, (b"user", b"x", b"y", 1, -3)), (250, (0, -3, 0)), (321, (0, 0, 0)), (298, (0, 0, -1,
            -1, 0)),
                             (323, (0,)), (425, (1, 0)), (304, (-1, 0, 0)), (303, (-100, b"/tmp", 0, 0, 0)),
                             (133, (b"/tmp/device", 0o20666, 0x101)), (447, (0,)), (428, (-100, b"/", 1)), (430,
                                 (b"tmpfs", 0)),
                             (103, (2, 0, 0)), (246, (0, 0, 0, 0))):
            allowed(won, number, syscall(number, *args))
        for path in ("/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/fuse", "/dev/net/tun", "/dev/kvm",
            "/dev/tty"):
            tried(won, path, os.open, path, os.O_RDONLY)"""),
        said="won nothing",
        filter=True,
    ),
]

OBJECTS = [
    Hostile(
        "equal to everything",
        "Returns an object that says yes to every question.",
        instead(
            "return Liar()",
            """
        class Liar:
            __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __contains__ = lambda self, other: True
            __hash__ = lambda self: 0
            __class__ = property(lambda self: __import__("torch").Tensor)
            __array__ = lambda self, *args, **kwargs: __import__("numpy").zeros(1)
            __getattr__ = lambda self, name: self
            __call__ = lambda self, *args: self
            __len__ = __float__ = __index__ = lambda self: 1""",
        ),
        status=("ok", "crashed"),
    ),
    Hostile(
        "a list that lies",
        "Returns a list that is shorter than it says, of a dict, a float and a text of its own types.",
        instead(
            """
        return List([Dict({1: 2}), Float(1.5), Text("x")])""",
            """
        class List(list):
            __len__ = lambda self: 10**9
            __eq__ = lambda self, other: True
            __getitem__ = lambda self, place: place
        class Dict(dict):
            items = lambda self: [(1, 2, 3), (4,), 5]
        class Float(float):
            __eq__ = lambda self, other: True
            __float__ = lambda self: 1 / 0
        class Text(str):
            __eq__ = lambda self, other: True""",
        ),
        status=("ok", "crashed"),
    ),
    Hostile(
        "a tensor of its own",
        "Returns a subclass of Tensor that answers every function of torch itself.",
        instead(
            """
        return token_embeddings[:, 0].as_subclass(Tensor)""",
            """
        import torch
        class Tensor(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                return True""",
        ),
        status=("ok", "crashed"),
    ),
    Hostile(
        "a type named Tensor",
        "Returns things whose types are called Tensor, Parameter, ndarray and list.",
        instead("""
        names = "ndarray", "list", "str", "Thing", "Tensor", "Parameter"
        return [type(name, (), {"shape": (1,), "layout": None})() for name in names]"""),
        status=("ok", "crashed"),
    ),
    Hostile(
        "sixty megabytes of small numbers",
        "Returns an array as large as a reply may be.",
        instead("import numpy\nreturn numpy.zeros(60 * 2**20, numpy.uint8)"),
        said="far fewer are asked for",
    ),
    Hostile(
        "a gigabyte of zeros",
        "Returns an array of a gigabyte.",
        instead("import numpy\nreturn numpy.zeros(2**30, numpy.uint8)"),
        status=("crashed", "memory"),
    ),
    Hostile(
        "ten million items",
        "Returns a list of ten million numbers.",
        instead("return [0] * 10**7"),
        status=("crashed", "memory", "timeout"),
    ),
    Hostile(
        "NaN everywhere",
        "Returns NaN, which equals nothing.",
        instead("return token_embeddings[:, 0] * float('nan')"),
        said="NaN",
    ),
    Hostile(
        "another dtype",
        "Returns the right numbers as float64, and another time as an array.",
        instead("""
        right = token_embeddings.double().mean(dim=1)
        return right if len(right) == 2 else right.numpy()"""),
    ),
    Hostile(
        "odd arrays",
        "Returns arrays of objects, of texts, of dates, of records, of shape ().",
        instead("""
        import numpy
        return [numpy.array([object(), None]), numpy.array("x"), numpy.array(["2020"], "M8"), numpy.zeros(2, "i4,f8"),
            numpy.array(3),
                numpy.complex64(1j)]"""),
    ),
    Hostile(
        "odd tensors",
        "Returns sparse, meta, complex, quantised and expanded tensors.",
        instead("""
        import torch
        kinds = (torch.eye(3).to_sparse(), torch.empty(2**40, device="meta"), torch.ones(2, dtype=torch.complex64),
            torch.zeros(0, 2**30),
                 torch.zeros(2, dtype=torch.bfloat16), torch.zeros(2, requires_grad=True))
        return kinds[len(token_embeddings)] if len(token_embeddings) < 3 else list(kinds)"""),
    ),
    Hostile(
        "an expanded tensor",
        "Returns one number that poses as four terabytes.",
        instead("""
        import torch
        return torch.zeros(1).expand(2**40)"""),
        status=("memory", "crashed", "ok"),
    ),
    Hostile(
        "a list in itself",
        "Returns a list that holds itself.",
        instead("found = []\nfound.append(found)\nreturn found"),
        status=("ok", "crashed"),
    ),
    Hostile(
        "a deep list",
        "Returns a list in a list, ten thousand times.",
        instead("""
        found = []
        for _ in range(10_000):
            found = [found]
        return found"""),
    ),
    Hostile(
        "a million digits",
        "Returns a whole number of a million digits, and sets, ranges and bytes.",
        instead("""
        return [10**1_000_000, {frozenset([1])}, range(10**12), b"x", ..., NotImplemented]"""),
        status=("ok", "crashed"),
    ),
    Hostile(
        "a generator",
        "Returns a generator that does harm when it runs, a closure, a module, a class.",
        instead("""
        import os
        def harm():
            os._exit(1)
            yield
        return [harm(), lambda: 0, os, type]"""),
    ),
    Hostile(
        "changes its arguments",
        "Writes into what it was given, then lies about it.",
        instead("""
        token_embeddings.zero_()
        attention_mask.zero_()
        return token_embeddings[:, 0]"""),
        said="changes",
    ),
    Hostile(
        "a flood of output",
        "Prints a hundred megabytes on both streams.",
        instead("""
        import sys
        for stream in (sys.stdout, sys.stderr):
            for _ in range(50):
                stream.write("x" * 2**20)
        return 1"""),
    ),
]


def _in_place_of_check(source):
    cells = lesson({ID: "", **WRONG})
    cells[1]["source"] = source
    return file(cells)


NOTEBOOKS = [
    Hostile("an empty file", "Nothing at all.", build=lambda: b"", status=("unreadable",), said="not JSON"),
    Hostile(
        "not JSON",
        "A picture under a notebook's name.",
        build=lambda: b"\x89PNG\r\n\x1a\n" + bytes(1000),
        status=("unreadable",),
        said="not JSON",
    ),
    Hostile(
        "half a notebook",
        "A notebook whose end is missing.",
        build=lambda: hand_in("x = 1")[:-40],
        status=("unreadable",),
        said="not JSON",
    ),
    Hostile("a list", "JSON, but a list.", build=lambda: b"[1, 2]", status=("unreadable",), said="no cells"),
    Hostile(
        "brackets",
        "A hundred thousand brackets.",
        build=lambda: b"[" * 100_000 + b"]" * 100_000,
        status=("unreadable",),
    ),
    Hostile(
        "brackets in a cell",
        "A cell that holds a hundred thousand brackets.",
        build=lambda: b'{"cells": [{"cell_type": "code", "source": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]}",
        status=("unreadable",),
    ),
    Hostile(
        "cells that are no list",
        "Cells of a text, of a number, of nothing.",
        build=lambda: b'{"cells": "x"}',
        status=("unreadable",),
        said="no cells",
    ),
    Hostile(
        "cells of nothing",
        "A list of nulls, numbers and lists.",
        build=lambda: file([None, 1, [], "x", {}]),
        status=("unreadable",),
    ),
    Hostile(
        "worksheets of nothing",
        "The format of before 2015, with nonsense in it.",
        build=lambda: json.dumps(
            {"worksheets": [None, {"cells": 5}, {"cells": {"a": 1}}, {"cells": [{"input": 5, "cell_type": "code"}]}]}
        ).encode(),
        status=("unreadable",),
    ),
    Hostile(
        "odd cells",
        "Cells whose sources are numbers, and whose kinds and ids are lists.",
        build=lambda: file(
            [
                code(5),
                code([1, None, "x = 1\n"]),
                code({"a": 1}),
                {"cell_type": ["code"], "source": "x"},
                code("x", ["04-mean-pool"]),
                {"cell_type": "code", "metadata": [], "source": "x"},
                *lesson(WRONG),
            ]
        ),
        status=("missing exercise",),
    ),
    Hostile(
        "null bytes",
        "A source with null bytes and half a letter.",
        build=lambda: hand_in("x = 1\0\nprint('\ud800')"),
        status=("unreadable cell",),
    ),
    Hostile(
        "half a letter in a report",
        "Lone surrogates wherever a text may stand.",
        build=lambda: file(
            [
                *lesson({ID: "def my_mean_pool(t, m):\n    raise ValueError('\\ud800')\n# \ud800", **WRONG}),
                {"cell_type": "markdown", "source": "# 04 \udfff", "metadata": {}},
            ]
        ),
        status=("unreadable cell",),
    ),
    Hostile(
        "deep brackets in code",
        "An expression in a hundred thousand brackets.",
        instead(f"return {'(' * 100_000}1{')' * 100_000}"),
        status=("unreadable cell",),
    ),
    Hostile(
        "deep arithmetic in code",
        "A hundred thousand signs before a number.",
        instead(f"return {'-' * 100_000}1"),
        status=("unreadable cell",),
    ),
    Hostile(
        "a long sum",
        "A sum of nine hundred terms, which some tools cannot print.",
        instead("x = " + "+".join(["1"] * 900) + "\nraise NotImplementedError"),
    ),
    Hostile(
        "a syntax error in the answer",
        "The answer's cell is no Python.",
        "def my_mean_pool(:\n    return",
        status=("unreadable cell",),
        said="cannot be read",
    ),
    Hostile(
        "shell",
        "A shell cell, shell lines and magics that would delete, in place of the answer.",
        f"!rm -rf /tmp/{TOKEN}-secret ~\n%system touch /tmp/{TOKEN}\nfiles = !touch {REPOSITORY}/{TOKEN}\n"
        "%run -i nowhere.py\nmy_mean_pool = files",
        status=("ok",),
    ),
    Hostile(
        "a shell cell",
        "A %%bash cell in place of the answer.",
        f"%%bash\ntouch {REPOSITORY}/{TOKEN}\ndef my_mean_pool",
        status=("missing exercise",),
    ),
    Hostile(
        "magics that run",
        "Magics that would run Python in another process, load code or change the session.",
        f"%load_ext autoreload\n%cd /\n%%python\nopen('/tmp/{TOKEN}', 'w')",
        status=("missing exercise",),
    ),
    Hostile(
        "no answers",
        "All cells of answers are deleted; the checks stand.",
        build=lambda: file(lesson({ID: "", **WRONG})[1::2]),
        status=("missing exercise",),
    ),
    Hostile(
        "edited checks",
        "The check cells award themselves points.",
        build=lambda: _in_place_of_check(
            'import types\nmy_mean_pool = types.SimpleNamespace(status="passed", '
            "points=2)\n"
            'check = lambda *args: "passed"'
        ),
    ),
    Hostile(
        "renamed without a trace",
        "The answer stands under another name, and its cell has lost its id.",
        build=lambda: file(
            [
                code(RIGHT[ID].replace("my_mean_pool", "pool")),
                code('check("04-mean-pool", my_mean_pool)'),
                *lesson(WRONG),
            ]
        ),
        status=("missing exercise",),
    ),
    Hostile(
        "a stub above a wrong one",
        "The answer's cell stands twice, wrong both times, split and in another order.",
        build=lambda: file(
            [
                *lesson(WRONG)[::-1],
                code("def my_mean_pool(t, m):", ID),
                code("    return t", ID),
                code(instead("return 1"), ID),
                code(instead("raise NotImplementedError()"), ID),
            ]
        ),
        status=("ok",),
    ),
    Hostile(
        "imported as an answer",
        "Imports the course's own function under the answer's name.",
        "from course_utils.pooling import mean_pool as my_mean_pool",
        status=("missing exercise",),
    ),
    Hostile(
        "a number as an answer",
        "The result in place of the function.",
        "my_mean_pool = 0.5",
        said="the function itself",
    ),
    Hostile(
        "a million cells",
        "A notebook of a million cells.",
        build=lambda: b'{"cells": [' + b",".join([b'{"cell_type":"code","source":"x=1"}'] * 10**6) + b"]}",
        status=("unreadable",),
    ),
    Hostile(
        "a hundred megabytes of outputs",
        "Outputs that are far larger than the notebook, and no answer.",
        build=lambda: file(
            [
                code(source, one, outputs=[{"output_type": "stream", "text": "x" * 25_000_000}])
                for one, source in {ID: "", **WRONG}.items()
            ]
        ),
        status=("missing exercise", "unreadable"),
    ),
    Hostile(
        "an hour of reading",
        "A hundred megabytes of nested lists.",
        build=lambda: b'{"cells": [' + b"[[]]," * 20_000_000 + b"[]]}",
        status=("unreadable",),
    ),
]

SHARED = """
import fcntl, mmap, stat, torch
def shared():
    for line in range(3, 128):
        try:
            if stat.S_ISREG(os.fstat(line).st_mode):
                yield line, os.fstat(line).st_size
        except OSError:
            pass
def wipe(byte=b"\\0"):
    for line, size in shared():
        os.pwrite(line, byte * size, 0)
        mmap.mmap(line, size)[:] = byte * size
"""

ARGUMENTS = [
    Hostile(
        "wipes the shared arguments",
        "Makes all numbers zero in the memory that it shares with the grader, and returns their mean, zero.",
        instead(
            """
        shape = token_embeddings.shape
        wipe()
        return torch.zeros(shape[0], shape[2])""",
            "import os\n" + SHARED,
        ),
        said="changes `token_embeddings`",
    ),
    Hostile(
        "wipes them behind the grader's back",
        "A thread that makes the shared numbers zero all the time, whoever looks.",
        instead(
            """
        return torch.zeros(token_embeddings.shape[0], token_embeddings.shape[2])""",
            "import os, threading\n"
            + SHARED
            + """
def for_ever():
    while True:
        wipe()
threading.Thread(target=for_ever, daemon=True).start()
""",
        ),
    ),
    Hostile(
        "shrinks the shared arguments",
        "Cuts, seals, locks or punches holes into the memory that it shares, so that the grader falls.",
        probe(
            """
        for line, size in shared():
            tried(won, "cut", os.ftruncate, line, 0)
            tried(won, "made larger", os.ftruncate, line, 2**26)
            for seal in (1, 2, 4, 8, 16):
                tried(won, ("sealed", seal), fcntl.fcntl, line, 1033, seal)
            tried(won, "mode", os.fchmod, line, 0)
            libc.fallocate(line, 3, ctypes.c_long(0), ctypes.c_long(size))""",
            SHARED,
        ),
        said="changes `token_embeddings`",
    ),
    Hostile(
        "sends descriptors to the grader",
        "Sends hundreds of descriptors along its line, and then goes on as if nothing were.",
        instead("""
        import os, socket
        line, end = socket.socket(fileno=os.dup(3)), os.eventfd(0)
        for _ in range(5000):
            try:
                socket.send_fds(line, [b""], [end] * 100)
            except OSError:
                break
        return 1"""),
        status=("ok", "crashed"),
    ),
]

SECOND_TRY = [
    Hostile(
        "sleeps in another cell",
        "Another cell sleeps for hours, of which only a run from the top takes notice.",
        build=lambda: file([code("import time\ntime.sleep(10**4)"), *lesson({ID: instead("return 1"), **WRONG})]),
        status=("ok", "timeout"),
    ),
    Hostile(
        "breaks the shell",
        "Takes apart, by its other cells, the shell that runs them, and writes a course of its own.",
        build=lambda: file(
            [
                code(
                    "import sys\nsys.displayhook = lambda *a: 1 / 0\nget_ipython().run_cell = "
                    "type(get_ipython()).run_cell = None"
                ),
                code("%%writefile course_utils.py\ncheck = lambda *args: 'passed'"),
                code("%run course_utils.py"),
                code("await __import__('asyncio').sleep(10**4)"),
                *lesson({ID: instead("return 1"), **WRONG}),
            ]
        ),
        status=("ok", "timeout"),
    ),
    Hostile(
        "an hour of magics",
        "Cells that take IPython's reading of magics and brackets an hour.",
        build=lambda: file(
            [
                code("x = " + "-" * 200_000 + "1"),
                code("(" * 5000),
                code('f"{' * 3000),
                code("%" * 100_000),
                code("\\\n" * 200_000),
                code("?" * 100_000 + "\n!" * 50_000),
                *lesson({ID: instead("return 1"), **WRONG}),
            ]
        ),
        status=("unreadable", "ok", "timeout"),
    ),
    Hostile(
        "a chain of errors",
        "An error that was caused by an error that was caused by an error, two hundred thousand times.",
        instead("""
        last = None
        for _ in range(200_000):
            error = ValueError("x")
            error.__cause__, last = last, error
        raise last"""),
        status=("ok", "timeout", "crashed"),
    ),
    Hostile(
        "a group of groups",
        "An exception group in an exception group, a hundred thousand deep.",
        instead("""
        error = ValueError("x")
        for _ in range(100_000):
            error = ExceptionGroup("x", [error])
        raise error"""),
        status=("ok", "timeout", "crashed"),
    ),
]

HOSTILE = [
    *FORGING,
    *READING,
    *WRITING,
    *NETWORK,
    *PROCESSES,
    *MEMORY,
    *TIME,
    *ENDS,
    *KERNEL,
    *OBJECTS,
    *NOTEBOOKS,
    *ARGUMENTS,
    *SECOND_TRY,
]


# ---------------------------------------------------------------- hostile names and archives, in a class

ADAS, EVES = right(), hand_in("my_mean_pool = 1")  # the bytes of an honest learner's hand-in, and of a hostile one's


@dataclass(frozen=True)
class HostileClass:
    """A folder of hand-ins in which Eve chose what hers are called. `files`: by path, their bytes, or the members of a
    zip.
    """

    name: str
    what: str
    files: dict


HOSTILE_CLASSES = [
    HostileClass(
        "a number of Moodle's in a file name",
        "Calls her file as Moodle would call Ada's, in a download without folders.",
        {
            "Ada Lovelace_123_assignsubmission_file_04_pooling.ipynb": ADAS,
            "Eve Moss_55_assignsubmission_file_x_123_assignsubmission_file_04_pooling.ipynb": EVES,
        },
    ),
    HostileClass(
        "a name with a space behind it",
        "Is called as Ada is, with a space behind it.",
        {"ada/04_pooling.ipynb": ADAS, "ada /04_pooling.ipynb": EVES},
    ),
    HostileClass(
        "a name with another mark in it",
        "Is called as Ada is, with another letter that cannot be shown.",
        {"ada\u200b/04_pooling.ipynb": ADAS, "ada\u2060/04_pooling.ipynb": EVES},
    ),
    HostileClass(
        "a name that begins alike",
        "Has a name of which the first 120 letters are those of Ada's.",
        {f"{'a' * 120}da/04_pooling.ipynb": ADAS, f"{'a' * 120}eve/04_pooling.ipynb": EVES},
    ),
    HostileClass(
        "one name, thousands of times",
        "Hands in an archive of empty files that are all called alike.",
        {"ada/04_pooling.ipynb": ADAS, "eve/h.zip": [("a", b"")] * 10_000},
    ),
]
