r"""Notebooks that are odd but honest, as data: what is odd, and the points that each deserves.

test_odd_kernel.py proves the points with a real kernel, test_odd.py compares the grader with them. Most answer lesson
04 rightly, with mean pooling the odd one; those at the end deserve less.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from textwrap import indent

from ..grader import points_of
from .hostile import FULL, ID, NAMES, RIGHT, code, file, instead, lesson, right

REST = FULL - points_of(ID)  # without mean pooling
MEAN = RIGHT[ID].strip()
STUB = instead("# YOUR CODE HERE\nraise NotImplementedError()").strip()
NEEDS_DIM = MEAN.replace("dim=1", "dim=DIM")
NEEDS_WEIGHTS = MEAN.replace(
    "attention_mask.unsqueeze(-1).to(token_embeddings.dtype)", "weights(attention_mask, token_embeddings)"
)
WEIGHTS = "def weights(mask, like):\n    return mask.unsqueeze(-1).to(like.dtype)"


@dataclass(frozen=True)
class Odd:
    """A notebook: `build` returns its bytes, and it deserves `points`."""

    name: str
    what_is_odd: str
    build: Callable[[], bytes]
    points: int = FULL


# ---------------------------------------------------------------- building


def mean(source):
    """Mean pooling is answered by this cell."""
    return lambda: right(my_mean_pool=source)


def first(lines, answer=MEAN):
    """Right mean pooling that does this first."""
    return answer.replace("    weight =", "".join(f"    {line}\n" for line in lines.split("\n")) + "    weight =", 1)


def inside(lines):
    """Mean pooling does this first, each time it is called."""
    return mean(first(lines))


def body(line):
    """Mean pooling of `t` and `m` in these lines."""
    return mean("import torch\ndef my_mean_pool(t, m):\n" + indent(line, "    "))


def dim(*above, by="DIM"):
    """Mean pooling takes its dimension by a name, which the cells above it bind."""
    return lambda: right(map(code, above), my_mean_pool=NEEDS_DIM.replace("DIM", by))


def weights(*above, by="weights"):
    """Mean pooling calls a helper from the cells above it."""
    return lambda: right(map(code, above), my_mean_pool=NEEDS_WEIGHTS.replace("weights(", f"{by}("))


def beside(*above, below=()):
    """These cells stand beside the answers, which do not need them."""
    return lambda: right(map(code, above), map(code, below))


def cells(change):
    """A right notebook whose cells are what `change` returns, or what it makes of them in place."""

    def build():
        found = lesson(RIGHT)
        return file(change(found) or found)

    return build


def renamed(check):
    """Mean pooling is answered by `pool`, and checked by this cell."""
    return cells(lambda found: [code(MEAN.replace("my_mean_pool", "pool"), ID), code(check, f"{ID}-check"), *found[2:]])


def marked(**more):
    """Each cell has more metadata."""
    return cells(lambda found: [{**cell, "metadata": {**cell["metadata"], **more}} for cell in found])


def written(**more):
    """A right notebook with other things around its cells."""
    return lambda: file(lesson(RIGHT), **more)


def noted(mark):
    """Mean pooling with a character in a comment and in a string."""
    return inside(f"# one{mark}two\nnote = 'one{mark}two'")


def before_2015():
    found = [
        {"cell_type": "code", "input": source, "language": "python", "metadata": {}, "outputs": [], "collapsed": False}
        for source in RIGHT.values()
    ]
    title = {"cell_type": "heading", "level": 1, "source": "04 Pooling", "metadata": {}}
    return json.dumps(
        {
            "metadata": {"name": ""},
            "nbformat": 3,
            "nbformat_minor": 0,
            "worksheets": [{"cells": [title, *found], "metadata": {}}],
        }
    ).encode()


def picture(found):
    found[0]["outputs"] = [
        {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo" * 3_000_000}}
    ]


def text(source, kind="markdown", **more):
    return {"cell_type": kind, "metadata": {}, "source": source, **more}


# ---------------------------------------------------------------- the table

USUAL = [
    Odd("as it should be", "Nothing.", right),
    Odd("prints a lot", "A megabyte in each call.", inside("print('x' * 10**6, token_embeddings)")),
    Odd(
        "prints to nowhere",
        "Redirects its output.",
        inside(
            "import contextlib, os\nwith contextlib.redirect_stdout(open(os.devnull, 'w')):\n    "
            "print(token_embeddings)"
        ),
    ),
    Odd("warns", "A warning in each call.", inside("import warnings\nwarnings.warn('slow')")),
    Odd("a cache", "The answer remembers its results.", mean(f"import functools\n\n@functools.cache\n{MEAN}")),
    Odd(
        "recursion",
        "One sentence at a time.",
        mean("""
import torch
def my_mean_pool(t, m):
    if len(t) == 1:
        return t[0][m[0].bool()].mean(dim=0, keepdim=True)
    return torch.cat([my_mean_pool(t[:1], m[:1]), my_mean_pool(t[1:], m[1:])])"""),
    ),
    Odd(
        "a class",
        "An object that can be called.",
        mean("""
class Pool:
    def __init__(self, dim):
        self.dim = dim
    def __call__(self, t, m):
        return (t * m.unsqueeze(-1)).sum(self.dim) / m.sum(self.dim, keepdim=True)
my_mean_pool = Pool(1)"""),
    ),
    Odd(
        "a lambda", "No def.", mean("my_mean_pool = lambda t, m: (t * m.unsqueeze(-1)).sum(1) / m.sum(1, keepdim=True)")
    ),
    Odd(
        "a long chain of choices",
        "250 branches.",
        inside(
            "x = 0\nif x == 1:\n    x = 1\n" + "".join(f"elif x == {number}:\n    x = 2\n" for number in range(2, 250))
        ),
    ),
    Odd("work on a copy", "Clones its argument.", inside("token_embeddings = token_embeddings.clone()")),
]

CHARACTERS = [
    *(
        Odd(f"U+{ord(mark):04X} in text", f"{what}, in a comment and in a string.", noted(mark))
        for mark, what in {
            "\u2028": "A line separator",
            "\u2029": "A paragraph separator",
            "\x0b": "A vertical tab",
            "\x0c": "A form feed",
            "\x1c": "A file separator",
            "\x1d": "A group separator",
            "\x1e": "A record separator",
            "\x85": "A next line",
            "\xa0": "A space that does not break",
            "\u200b": "A space of no width",
            "\u202e": "A mark that reverses the direction of writing",
            "\ufeff": "A byte order mark",
            "\x7f": "A delete",
            "\x1b": "An escape",
            "\U0001f642": "An emoji",
            "\u0301": "A combining accent",
        }.items()
    ),
    Odd(
        "U+2028 between lines",
        "A comment of several lines as a word processor separates them.",
        dim("# the dimension\u2028# of tokens\nDIM = 1"),
    ),
    Odd("a form feed between functions", "As Emacs separates pages.", dim("x = 0\n\x0c\nDIM = 1")),
    Odd("a form feed before a def", "As Emacs separates pages.", mean(f"\x0c{MEAN}")),
    Odd(
        "U+0085 ends a string's line",
        "A string of three quotes holds it.",
        dim('TEXT = """one\x85two"""\nDIM = len(TEXT) // 7'),
    ),
    Odd(
        "lines are counted", "str.splitlines on a text with U+2028.", dim("DIM = len('one\u2028two'.splitlines()) - 1")
    ),
    Odd("letters of full width", "A name that Python normalises.", mean(MEAN.replace("pool", "p\uff4fol"))),
    Odd("letters with accents", "Names in another language.", dim("dimensión = 1", by="dimensión")),
    Odd(
        "an accent in two forms",
        "A name is written composed in one cell, decomposed in another.",
        dim("dim\u00e9 = 1", by="dime\u0301"),
    ),
    Odd("Greek names", "Letters that are no ASCII.", dim("λ = 1", by="λ")),
    Odd("a byte order mark", "Some Windows editor saved the file.", lambda: b"\xef\xbb\xbf" + right()),
    Odd("tabs and line ends of Windows", "Both at once.", mean(MEAN.replace("    ", "\t").replace("\n", "\r\n"))),
    Odd("line ends of old Macs", "CR alone.", mean(MEAN.replace("\n", "\r"))),
    Odd("line ends of all kinds", "LF, CR LF and CR in one cell.", dim("a = 0\nb = 1\r\nc = a\rDIM = b\n")),
    Odd("line ends of Windows after a magic", "CR LF below %%time.", dim("%%time\r\nDIM = 1\r\n")),
    Odd(
        "line ends of Windows in a string",
        "A string of three quotes over CR LF.",
        dim('TEXT = """one\r\ntwo"""\r\nDIM = TEXT.count("\\n")'),
    ),
    Odd("tabs and spaces", "One function with tabs, one with spaces.", weights(WEIGHTS.replace("    ", "\t"))),
    Odd(
        "spaces at the ends of lines",
        "On every line, also on empty ones.",
        mean(MEAN.replace("\n", "   \n   \n") + "   "),
    ),
    Odd("lines as a list", "As Jupyter itself stores a source.", mean(f"\n{MEAN}\n".splitlines(keepends=True))),
    Odd("letters as a list", "A source of pieces that are no lines.", mean(list(MEAN))),
    Odd("an empty list", "A cell whose source is [].", beside([], "")),
    Odd("a list of one text", "The whole source is its only piece.", mean([MEAN])),
    Odd("a NUL in a Markdown cell", "A character that no text should hold.", lambda: right([text("# 04\0 Pooling")])),
    Odd("a very long line", "A comment of a hundred thousand letters.", inside("# " + "x" * 100_000)),
    Odd(
        "a very long list",
        "A constant of twenty thousand numbers on one line.",
        dim(f"NUMBERS = {[1] * 20_000}", by="NUMBERS[-1]"),
    ),
    Odd("backslashes", "Lines are continued.", mean(MEAN.replace(" * weight)", " \\\n        * weight)"))),
    Odd(
        "a magic's mark in a string",
        "A string of three quotes holds lines that look like magics.",
        dim('TEXT = """\n%time 5\n!ls\n?\n"""\nDIM = 1'),
    ),
    Odd("a per cent sign begins a line", "A long expression is broken before %.", dim("DIM = (7\n% 2)")),
    Odd(
        "a question mark ends a comment",
        "A comment that looks like a request for help.",
        mean(f"{MEAN}  # why sum twice?"),
    ),
]

READ = [
    Odd("indented evenly", "A whole cell stands four columns to the right.", mean(indent(MEAN, "    "))),
    Odd("indented evenly below a blank line", "The same, after an empty line.", mean("\n" + indent(MEAN, "  "))),
    Odd("a helper indented evenly", "A cell that was pasted out of a function.", weights(indent(WEIGHTS, "        "))),
    Odd("prompts of Python", "Pasted with >>> and ....", mean(">>> " + MEAN.replace("\n", "\n... "))),
    Odd("prompts of Python in a helper", "Pasted with >>> from a page.", dim(">>> DIM = 1")),
    Odd("prompts of IPython", "Pasted with In [1]: and ...:.", mean("In [1]: " + MEAN.replace("\n", "\n   ...: "))),
    Odd("prompts of IPython in a helper", "Pasted with In [12]:.", dim("In [12]: DIM = 1")),
    Odd(
        "await",
        "A cell waits for a coroutine.",
        dim("import asyncio\nasync def find():\n    await asyncio.sleep(0)\n    return 1", "DIM = await find()"),
    ),
    Odd("await in the answer's cell", "Above the def.", mean(f"import asyncio\nawait asyncio.sleep(0)\n{MEAN}")),
    Odd(
        "await for several",
        "asyncio.gather.",
        dim("import asyncio\nasync def give(x):\n    return x", "_, DIM = await asyncio.gather(give(0), give(1))"),
    ),
    Odd(
        "async for",
        "At the top level.",
        dim("async def numbers():\n    yield 0\n    yield 1", "async for DIM in numbers():\n    pass"),
    ),
    Odd(
        "async with",
        "At the top level.",
        dim(
            "import contextlib\n@contextlib.asynccontextmanager\nasync def opened():\n    yield 1",
            "async with opened() as DIM:\n    pass",
        ),
    ),
    Odd(
        "a comprehension that waits",
        "At the top level.",
        dim("async def numbers():\n    yield 1", "DIM = [n async for n in numbers()][0]"),
    ),
    Odd(
        "a task of another cell",
        "Started in one cell, awaited in the next.",
        dim(
            "import asyncio\nasync def find():\n    return 1\ntask = asyncio.ensure_future(find())", "DIM = await task"
        ),
    ),
    Odd(
        "a coroutine by hand",
        "The answer drives an async helper itself.",
        weights(
            "async def later(mask, like):\n    return mask.unsqueeze(-1).to(like.dtype)",
            "def weights(*args):\n    try:\n        later(*args).send(None)\n    except StopIteration as end:\n     "
            "   return end.value",
        ),
    ),
    Odd(
        "asyncio.run in a thread",
        "As one does it where a loop runs already.",
        weights(
            "import asyncio\nfrom concurrent.futures import ThreadPoolExecutor\nasync def later(mask, like):\n    "
            "return mask.unsqueeze(-1).to(like.dtype)",
            "def weights(*args):\n    with ThreadPoolExecutor(1) as pool:\n        return pool.submit(asyncio.run, "
            "later(*args)).result()",
        ),
    ),
    Odd("the last value", "_ is what the cell above showed.", dim("0 + 1", "DIM = _")),
    Odd("an earlier output", "Out[1].", dim("0 + 1", "print('something else')", "DIM = Out[1]")),
    Odd("an earlier input", "exec(In[1]).", dim("dim = 1", "exec(In[1].replace('dim', 'DIM'))")),
    Odd("display without an import", "Jupyter gives the name.", inside("display(token_embeddings.shape)")),
    Odd("a semicolon at the end", "Hides an output.", dim("DIM = 1;")),
    Odd("a semicolon after the answer", "The last line of its cell is hidden.", mean(f"{MEAN}\nmy_mean_pool;")),
    Odd(
        "help",
        "?, ??, before and after.",
        beside(
            "import torch",
            "torch.Tensor.norm?",
            "??torch.Tensor.amax",
            "?torch",
            below=["my_mean_pool??", "torch.*max*?"],
        ),
    ),
    Odd("an assignment and a question", "A cell of help in a cell of code.", dim("DIM = 1\nDIM?")),
]

MAGICS = [
    Odd(
        "magics beside it",
        "The usual ones.",
        lambda: right(
            [code("%matplotlib inline\n%load_ext autoreload\n!true\nfiles = !ls")],
            my_mean_pool=f"%config InlineBackend.figure_format = 'retina'\n{MEAN}\n!echo done\nmy_mean_pool?",
        ),
    ),
    Odd(
        "timed",
        "%%time above one answer, %%capture above another.",
        lambda: right(my_mean_pool=f"%%time\n{MEAN}", my_normalise="\n%%capture out\n" + RIGHT["04-normalise"]),
    ),
    Odd("%time before a name", "%time DIM = 1.", dim("%time DIM = 1")),
    Odd("%time after a name", "DIM = %time 1.", dim("DIM = %time 0 + 1")),
    Odd("%%time above a name", "A cell is timed.", dim("%%time\nDIM = 1")),
    Odd("%time within a cell", "One line of several.", dim("a = 1\n%time b = a\nDIM = b")),
    Odd("%%capture", "A cell's output is caught.", dim("%%capture\nprint('loud')\nDIM = 1")),
    Odd(
        "%%capture and its text", "The caught output is used.", dim("%%capture out\nprint(1)", "DIM = int(out.stdout)")
    ),
    Odd("%%prun", "A cell is profiled.", dim("%%prun\nDIM = 1")),
    Odd("%prun", "A line is profiled.", dim("%prun -q DIM = 1")),
    Odd(
        "%timeit beside it",
        "One answer is measured.",
        beside(below=["import torch\nx = torch.ones(2, 2)", "%timeit -n2 -r1 my_normalise(x)"]),
    ),
    Odd(
        "%%timeit beside it",
        "A cell is measured, which binds nothing.",
        beside("import torch", "%%timeit -n2 -r1 x = torch.ones(2)\nx.norm()"),
    ),
    Odd("two cell magics", "%%capture above %%time.", dim("%%capture\n%%time\nDIM = 1")),
    Odd(
        "%%writefile and import",
        "A helper in a file.",
        weights(f"%%writefile helpers.py\n{WEIGHTS}", "import helpers", by="helpers.weights"),
    ),
    Odd(
        "%%writefile and from",
        "A name of a file.",
        weights(f"%%writefile helpers.py\n{WEIGHTS}", "from helpers import weights"),
    ),
    Odd(
        "%%writefile and import in the answer",
        "The answer's cell imports it.",
        lambda: right(
            [code(f"%%writefile helpers.py\n{WEIGHTS}")], my_mean_pool=f"from helpers import weights\n{NEEDS_WEIGHTS}"
        ),
    ),
    Odd(
        "%%writefile -a",
        "A file in two parts.",
        dim("%%writefile settings.py\nDIM = 0\n", "%%writefile -a settings.py\nDIM = 1\n", "from settings import *"),
    ),
    Odd(
        "%%file",
        "The old name of %%writefile.",
        dim("%%file settings.py\nDIM = 1", "import settings", by="settings.DIM"),
    ),
    Odd("%%writefile and %run", "A file is run.", weights(f"%%writefile helpers.py\n{WEIGHTS}", "%run helpers.py")),
    Odd(
        "%run -i",
        "A file is run with the notebook's names.",
        dim("%%writefile more.py\nDIM = START + 1", "START = 0", "%run -i more.py"),
    ),
    Odd("what %load leaves", "The magic as a comment, the file below.", weights(f"# %load helpers.py\n{WEIGHTS}")),
    Odd(
        "a file imported twice",
        "Written again, then reloaded.",
        dim(
            "%%writefile settings.py\nDIM = 0",
            "import settings",
            "%%writefile settings.py\nDIM = 1  # tokens",
            "import importlib\nimportlib.reload(settings)",
            by="settings.DIM",
        ),
    ),
    Odd("%autoreload", "Both of its lines.", dim("%load_ext autoreload\n%autoreload 2", "DIM = 1")),
    Odd(
        "%matplotlib and a plot",
        "A picture between the answers.",
        dim(
            "%matplotlib inline\nimport matplotlib.pyplot as plt",
            "fig, ax = plt.subplots()\nax.plot([0, 1]);\nDIM = len(fig.axes)",
        ),
    ),
    Odd("%pylab", "As it was done long ago.", dim("%pylab inline", "DIM = int(ones(1)[0])")),
    Odd("%env", "An environment variable.", dim("%env DIM=1", "import os\nDIM = int(os.environ['DIM'])")),
    Odd(
        "%cd",
        "Another working folder.",
        weights(
            "%mkdir sub",
            "%cd sub",
            f"%%writefile other_helpers.py\n{WEIGHTS}",
            "%cd ..",
            "import sys\nsys.path.append('sub')\nfrom other_helpers import weights",
        ),
    ),
    Odd(
        "a name from %pwd",
        "The working folder.",
        dim("folder = %pwd", "import os\nDIM = int(os.path.samefile(folder, '.'))"),
    ),
    Odd(
        "settings of IPython",
        "%precision, %xmode, %config.",
        beside("%precision 3\n%xmode Plain\n%config InlineBackend.figure_format = 'svg'\n%pprint"),
    ),
    Odd("%who and %history", "A look at what is there.", beside("x = 1\n%who\n%whos", "%history\n%lsmagic")),
    Odd("%pip", "A package that is there is installed.", beside("%pip install torch")),
    Odd("shell lines", "!ls, files = !ls, !!ls.", beside("!ls", "files = !ls\nprint(files)", "!!ls")),
    Odd("%%bash", "A cell of the shell beside it.", beside("%%bash\nls\nexit 1", "%%sh\ntrue")),
    Odd(
        "%%html and others",
        "Cells that show something.",
        beside("%%html\n<b>04</b>", "%%markdown\n# 04", "%%javascript\nlet x = 1", "%%latex\n$x$", "%%svg\n<svg/>"),
    ),
    Odd("automagic", "Magics without their sign.", beside("pwd", "matplotlib inline", "ls", "who")),
    Odd("automagic time", "A name is bound by a magic without its sign.", dim("time DIM = 1")),
    Odd("a magic in a function", "A line of the answer is timed.", mean(MEAN.replace("weight = ", "weight = %time "))),
    Odd(
        "a magic in an if",
        "Only where there is something to show.",
        dim("if True:\n    %matplotlib inline\n    DIM = 1"),
    ),
    Odd("a magic in a loop", "A timed loop.", dim("for number in range(2):\n    %time DIM = number")),
    Odd(
        "a magic in a helper",
        "A helper that the answer calls.",
        weights(WEIGHTS.replace("    return", "    %precision 3\n    return")),
    ),
    Odd("a shell line in a function", "The answer calls the shell for nothing.", inside("!true")),
    Odd(
        "an unknown magic",
        "From an extension that is not there.",
        beside("%load_ext nowhere_to_be_found", "%nowhere x", "%%nowhere\nx"),
    ),
    Odd(
        "a magic of one's own",
        "Registered in a cell.",
        dim(
            "from IPython.core.magic import register_line_magic\n@register_line_magic\ndef dim(line):\n    return "
            "int(line)",
            "DIM = %dim 1",
        ),
    ),
    Odd(
        "a cell magic of one's own",
        "It runs its cell with the notebook's names.",
        weights(
            "from IPython.core.magic import register_cell_magic\n@register_cell_magic\ndef plain(line, cell):\n"
            "    exec(cell, globals())",
            f"%%plain\n{WEIGHTS}",
        ),
    ),
    Odd("a magic by its function", "run_line_magic.", dim("get_ipython().run_line_magic('time', 'DIM = 1')")),
    Odd("a cell by its function", "run_cell.", dim("get_ipython().run_cell('DIM = 1');")),
    Odd("the notebook's names by the shell", "get_ipython().user_ns.", dim("get_ipython().user_ns['DIM'] = 1")),
    Odd("names pushed by the shell", "get_ipython().push.", dim("get_ipython().push({'DIM': 1})")),
    Odd(
        "a timed check",
        "%time before a check.",
        cells(lambda found: found[1].update(source=f'%time check("{ID}", my_mean_pool)')),
    ),
    Odd("%reset at the top", "A clean start.", beside("%reset -f\nfrom course_utils import check")),
    Odd("%reset at the end", "All is passed by then.", beside(below=["%reset -f"])),
    Odd(
        "%xdel and del",
        "A name goes and comes back.",
        dim("DIM = 0", "%xdel DIM", "DIM = 1", "x = 1\n%reset_selective -f ^x$"),
    ),
]

EFFECTS = [
    Odd(
        "a function called for its effect",
        "fill(table).",
        dim("table = {}\ndef fill(where):\n    where['dim'] = 1", "fill(table)", by="table['dim']"),
    ),
    Odd(
        "a function that fills what is there",
        "fill() takes nothing.",
        dim("table = {}\ndef fill():\n    table['dim'] = 1", "fill()", by="table['dim']"),
    ),
    Odd(
        "constants changed on the way",
        "settings['dim'] = 1 stands alone.",
        dim("settings = {}\nsettings['dim'] = 1", by="settings['dim']"),
    ),
    Odd("global", "A function sets a global.", dim("def choose():\n    global DIM\n    DIM = 1", "choose()")),
    Odd(
        "global in an answer",
        "One answer leaves a note for another.",
        lambda: right(
            [code("calls = 0")],
            my_mean_pool=first("global calls\ncalls += 1"),
            my_normalise=f"assert calls\n{RIGHT['04-normalise']}",
        ),
    ),
    Odd("globals()", "A name as a string.", dim("globals()['DIM'] = 1")),
    Odd("globals().update", "Several at once.", dim("globals().update(DIM=1, OTHER=2)")),
    Odd(
        "locals() and vars()",
        "At the top level they are the globals.",
        dim("locals()['START'] = 1", "vars()['DIM'] = START"),
    ),
    Odd("__main__", "import __main__.", dim("import __main__\n__main__.DIM = 1")),
    Odd(
        "the module of this name", "sys.modules[__name__].", dim("import sys\nsetattr(sys.modules[__name__], 'DIM', 1)")
    ),
    Odd("if this is the main program", "if __name__ == '__main__'.", dim("if __name__ == '__main__':\n    DIM = 1")),
    Odd(
        "main()",
        "A program's usual shape.",
        dim("def main():\n    global DIM\n    DIM = 1\n\nif __name__ == '__main__':\n    main()"),
    ),
    Odd("builtins", "A name for everybody.", dim("import builtins\nbuiltins.DIM = 1")),
    Odd("exec", "Code in a string.", dim("exec('DIM = 1')")),
    Odd("exec of an answer", "The answer is in a string.", mean(f'exec("""\n{MEAN}\n""")')),
    Odd(
        "setattr on a class",
        "After it was defined.",
        dim("class Settings:\n    pass", "setattr(Settings, 'dim', 1)", by="Settings.dim"),
    ),
    Odd(
        "a class attribute set later",
        "Settings.dim = 1.",
        dim("class Settings:\n    dim = 0", "Settings.dim = 1", by="Settings.dim"),
    ),
    Odd(
        "setattr on a module",
        "A constant is parked in math.",
        dim("import math\nsetattr(math, 'dim', 1)", by="math.dim"),
    ),
    Odd(
        "a patched library",
        "torch.Tensor gets a method.",
        weights(
            "import torch\ntorch.Tensor.as_weight = lambda mask, like: mask.unsqueeze(-1).to(like.dtype)",
            by="torch.Tensor.as_weight",
        ),
    ),
    Odd(
        "a helper patched later",
        "A wrong helper is replaced in its class.",
        weights(
            "class Tools:\n    @staticmethod\n    def weights(mask, like):\n        return mask",
            f"{WEIGHTS}\nTools.weights = staticmethod(weights)",
            by="Tools.weights",
        ),
    ),
    Odd(
        "a default changed later",
        "function.__defaults__.",
        dim("def which(dim=0):\n    return dim", "which.__defaults__ = (1,)", by="which()"),
    ),
    Odd(
        "an attribute of a function",
        "which.dim = 1.",
        dim("def which():\n    return which.dim", "which.dim = 1", by="which()"),
    ),
    Odd("match", "A name bound by a pattern.", dim("match {'dim': 1}:\n    case {'dim': DIM}:\n        pass")),
    Odd(
        "match with a star",
        "A name bound by a pattern of a list.",
        dim("match [0, 5, 1]:\n    case [_, *_, DIM]:\n        pass"),
    ),
    Odd("with", "A name bound by with.", dim("import contextlib\nwith contextlib.nullcontext(1) as DIM:\n    pass")),
    Odd("walrus", "A name bound by :=.", dim("print(DIM := 1)")),
    Odd("walrus in a comprehension", "It binds in the cell.", dim("sums = [DIM := number for number in (0, 1)]")),
    Odd("for", "A name that a loop leaves.", dim("for DIM in range(2):\n    pass")),
    Odd(
        "for with two names",
        "The second is needed.",
        dim("for name, DIM in {'batch': 0, 'tokens': 1}.items():\n    print(name)"),
    ),
    Odd("while", "A loop counts up.", dim("DIM = 0\nwhile DIM < 1:\n    DIM += 1")),
    Odd(
        "except",
        "A name bound where an error is caught.",
        dim("try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    DIM = len(error.args)"),
    ),
    Odd("finally", "A name bound at last.", dim("try:\n    x = 0\nfinally:\n    DIM = 1")),
    Odd(
        "an error in a try", "A cell that fails half way leaves what it did.", dim("DIM = 1\nraise ValueError('later')")
    ),
    Odd("a choice", "if, else.", dim("import sys\nif sys.version_info > (3,):\n    DIM = 1\nelse:\n    DIM = 0")),
    Odd("del and again", "A name goes and comes back.", dim("DIM = 0", "del DIM", "DIM = 1")),
    Odd("tuple unpacking", "Names in a pattern, with a star.", dim("(*_, (zero, DIM)) = 5, (0, 1)")),
    Odd(
        "unpacking into a dict",
        "A target that is no name.",
        dim("table = {}\ntable['batch'], table['dim'] = 0, 1", by="table['dim']"),
    ),
    Odd("added up in several cells", "DIM += 1.", dim("DIM = 0", "DIM += 1")),
    Odd("an annotation first", "DIM: int, and later its value.", dim("DIM: int", "DIM: int = 1")),
    Odd(
        "a list that grows",
        "append in a loop.",
        dim("dims = []\nfor number in range(2):\n    dims.append(number)", by="dims[-1]"),
    ),
    Odd("a list that is sorted", "list.sort.", dim("order = [2, 1]", "order.sort()", by="order[0]")),
    Odd(
        "an iterator moved on",
        "next() in a cell of its own.",
        dim("numbers = iter([0, 1])", "next(numbers)", "DIM = next(numbers)"),
    ),
    Odd(
        "a generator that is sent to",
        "send.",
        dim(
            "def keep():\n    while True:\n        got = yield\n        table.append(got)\ntable = []\nkeeper = keep()",
            "next(keeper)",
            "keeper.send(1)",
            by="table[0]",
        ),
    ),
    Odd(
        "operator",
        "operator.setitem and attrgetter.",
        dim(
            "import operator\ntable = {}",
            "operator.setitem(table, 'dim', 1)",
            "DIM = operator.itemgetter('dim')(table)",
        ),
    ),
    Odd(
        "functools.partial for its effect",
        "A call without a word of its own.",
        dim(
            "from functools import partial\ntable = {}\nset_dim = partial(table.update, dim=1)",
            "set_dim()",
            by="table['dim']",
        ),
    ),
    Odd(
        "map for its effect",
        "list(map(...)).",
        dim("table = {}\nlist(map(table.update, [{'dim': 0}, {'dim': 1}]))", by="table['dim']"),
    ),
    Odd(
        "a registry",
        "Decorators fill a table.",
        weights(
            "TOOLS = {}\ndef tool(function):\n    TOOLS[function.__name__] = function\n    return function",
            f"@tool\n{WEIGHTS}",
            "del weights",
            by="TOOLS['weights']",
        ),
    ),
    Odd(
        "a registry of classes",
        "__init_subclass__.",
        dim(
            "class Base:\n    known = []\n    def __init_subclass__(cls):\n        Base.known.append(cls)",
            "class Tokens(Base):\n    dim = 1",
            by="Base.known[0].dim",
        ),
    ),
    Odd(
        "singledispatch",
        "The right kind is registered in another cell.",
        weights(
            "import functools, torch\n@functools.singledispatch\ndef weights(mask, like):\n    raise TypeError(mask)",
            "@weights.register\ndef _(mask: torch.Tensor, like):\n    return mask.unsqueeze(-1).to(like.dtype)",
        ),
    ),
    Odd(
        "a decorator of another cell",
        "It counts the calls.",
        lambda: right(
            [
                code("import functools\nCALLS = []"),
                code(
                    "def counted(function):\n    @functools.wraps(function)\n    def "
                    "call(*args):\n        CALLS.append(1)\n"
                    "        return function(*args)\n    return call"
                ),
            ],
            my_mean_pool=f"@counted\n{MEAN}",
        ),
    ),
    Odd(
        "nonlocal",
        "A closure counts.",
        weights(
            "def make():\n    calls = 0\n    def weights(mask, like):\n        nonlocal calls\n        calls += 1\n"
            "        return mask.unsqueeze(-1).to(like.dtype)\n"
            "    return weights",
            "weights = make()",
        ),
    ),
    Odd(
        "a property",
        "It is computed when asked.",
        dim(
            "class Settings:\n    @property\n    def dim(self):\n        return 1",
            "settings = Settings()",
            by="settings.dim",
        ),
    ),
    Odd(
        "an array changed in place",
        "numbers[0] = 1.",
        dim("import numpy as np\nnumbers = np.zeros(2, int)", "numbers[0] = 1", by="int(numbers[0])"),
    ),
    Odd(
        "a tensor changed in place",
        "fill_.",
        dim("import torch\nwhich = torch.zeros(1, dtype=int)", "which.fill_(1)", by="which.item()"),
    ),
    Odd(
        "weights set by init",
        "torch.nn.init.",
        dim("import torch\nw = torch.zeros(1)", "torch.nn.init.ones_(w);", by="int(w)"),
    ),
    Odd(
        "a thread fills a table",
        "Started and joined in a cell.",
        dim(
            "import threading\ntable = {}",
            "thread = threading.Thread(target=table.update, kwargs={'dim': 1})\nthread.start()",
            "thread.join()",
            by="table['dim']",
        ),
    ),
    Odd(
        "default dtype and back",
        "torch.set_default_dtype.",
        dim(
            "import torch\ntorch.set_default_dtype(torch.float64)",
            "x = torch.ones(1)\ntorch.set_default_dtype(torch.float32)",
            "DIM = int(x)",
        ),
    ),
    Odd(
        "no gradients",
        "torch.no_grad around a def.",
        mean("import torch\nwith torch.no_grad():\n" + indent(MEAN, "    ")),
    ),
    Odd(
        "no gradients as a decorator",
        "@torch.inference_mode().",
        mean(f"import torch\n@torch.inference_mode()\n{MEAN}"),
    ),
    Odd(
        "gradients off",
        "torch.set_grad_enabled.",
        beside(
            "import torch\ntorch.set_grad_enabled(False)\ntorch.set_printoptions(precision=2)\ntorch.set_num_threads(2)"
        ),
    ),
    Odd(
        "settings of NumPy",
        "seterr and printoptions.",
        beside("import numpy as np\nnp.seterr(all='raise')\nnp.set_printoptions(precision=2)"),
    ),
    Odd(
        "warnings are errors",
        "warnings.filterwarnings('error').",
        beside("import warnings\nwarnings.filterwarnings('error')"),
    ),
    Odd(
        "random numbers",
        "Seeds of all three generators.",
        dim(
            "import random, numpy, torch\nrandom.seed(0)\nnumpy.random.seed(0)\ntorch.manual_seed(0)",
            "DIM = random.randint(1, 1)",
        ),
    ),
    Odd(
        "logging",
        "At the lowest level, in a call too.",
        lambda: right(
            [code("import logging\nlogging.basicConfig(level=logging.DEBUG)\nlog = logging.getLogger('pool')")],
            my_mean_pool=first("log.debug('shape %s', token_embeddings.shape)"),
        ),
    ),
    Odd(
        "print replaced",
        "print = a function that does nothing.",
        lambda: right([code("print = lambda *args, **kwargs: None")], my_mean_pool=first("print('x')")),
    ),
    Odd(
        "print replaced for all",
        "builtins.print.",
        beside("import builtins\nloud = builtins.print\nbuiltins.print = lambda *args, **kwargs: loud('!', *args)"),
    ),
    Odd(
        "stdout replaced",
        "sys.stdout is caught and not given back.",
        beside("import io, sys\nsys.stdout = io.StringIO()\nprint('x')"),
    ),
    Odd(
        "a name of Python's taken",
        "list, sum and max are other things.",
        beside("list = [1]\nsum = 5\nmax = min = len = id = None", below=["del list, sum, max, min, len, id"]),
    ),
    Odd(
        "a module's name taken",
        "torch is a number below.",
        lambda: right([code("import torch")], [code("torch = 5")], my_mean_pool=first("torch.ones(1)")),
    ),
]

FILES = [
    Odd(
        "a file of one's own",
        "Written in one cell, read in another.",
        dim("with open('dim.txt', 'w') as f:\n    f.write('1')", "with open('dim.txt') as f:\n    DIM = int(f.read())"),
    ),
    Odd(
        "a file that is read in each call",
        "The answer opens it.",
        dim("from pathlib import Path\nPath('dim.txt').write_text('1')", by="int(Path('dim.txt').read_text())"),
    ),
    Odd(
        "JSON",
        "A round trip.",
        dim(
            "import json\njson.dump({'dim': 1}, open('s.json', 'w'))",
            "settings = json.load(open('s.json'))",
            by="settings['dim']",
        ),
    ),
    Odd(
        "pickle",
        "A round trip of a class from the notebook.",
        dim(
            "import pickle\nclass Settings:\n    dim = 0\nsettings = Settings()\nsettings.dim = 1",
            "with open('s.pkl', 'wb') as f:\n    pickle.dump(settings, f)",
            "with open('s.pkl', 'rb') as f:\n    found = pickle.load(f)",
            by="found.dim",
        ),
    ),
    Odd(
        "pickle of a helper",
        "It is found again by its name.",
        weights(f"import pickle\n{WEIGHTS}", "same = pickle.loads(pickle.dumps(weights))", by="same"),
    ),
    Odd(
        "np.save",
        "A round trip.",
        dim("import numpy as np\nnp.save('dim.npy', np.array([1]))", "DIM = int(np.load('dim.npy')[0])"),
    ),
    Odd(
        "torch.save",
        "A round trip.",
        dim("import torch\ntorch.save(torch.tensor(1), 'dim.pt')", "DIM = torch.load('dim.pt').item()"),
    ),
    Odd(
        "a table in a file",
        "pandas writes and reads CSV.",
        dim(
            "import pandas as pd\npd.DataFrame({'dim': [1]}).to_csv('t.csv')", "DIM = int(pd.read_csv('t.csv').dim[0])"
        ),
    ),
    Odd(
        "SQLite",
        "A database in the working folder.",
        dim(
            "import sqlite3\ndb = sqlite3.connect('s.db')\ndb.execute('create table s (dim)')",
            "db.execute('insert into s values (1)')\ndb.commit()",
            "DIM = db.execute('select dim from s').fetchone()[0]",
        ),
    ),
    Odd(
        "a temporary folder",
        "tempfile.",
        dim(
            "import os, tempfile\nfolder = tempfile.mkdtemp()",
            "open(os.path.join(folder, 'dim'), 'w').write('1')",
            "DIM = int(open(os.path.join(folder, 'dim')).read())",
        ),
    ),
    Odd(
        "a module in a folder",
        "makedirs, then sys.path.insert.",
        weights(
            "import os, sys\nos.makedirs('lib', exist_ok=True)",
            f"open('lib/tools_04.py', 'w').write('''{WEIGHTS}''')",
            "sys.path.insert(0, 'lib')\nimport tools_04",
            by="tools_04.weights",
        ),
    ),
    Odd(
        "the working folder on the path",
        "sys.path.append('.').",
        weights(
            "import sys\nsys.path.append('.')",
            f"with open('mine.py', 'w') as f:\n    f.write('''{WEIGHTS}''')",
            "from mine import weights",
        ),
    ),
    Odd(
        "a module out of nothing",
        "types.ModuleType in sys.modules.",
        dim(
            "import sys, types\nmine = types.ModuleType('mine')\nmine.dim = 1\nsys.modules['mine'] = mine",
            "from mine import dim",
            by="dim",
        ),
    ),
    Odd(
        "another working folder",
        "os.chdir, and back.",
        dim("import os\nhere = os.getcwd()\nos.mkdir('sub')\nos.chdir('sub')", "os.chdir(here)\nDIM = 1"),
    ),
    Odd(
        "an environment variable", "os.environ.", dim("import os\nos.environ['DIM'] = '1'", by="int(os.environ['DIM'])")
    ),
    Odd(
        "a file that is not there",
        "The answer does without it.",
        dim("try:\n    DIM = int(open('mine.txt').read())\nexcept OSError:\n    DIM = 1"),
    ),
    Odd(
        "a module that is not there",
        "The notebook does without it.",
        weights(f"try:\n    from my_own_tools import weights\nexcept ImportError:\n{indent(WEIGHTS, '    ')}"),
    ),
    Odd(
        "the source of a function",
        "inspect.getsource, run again.",
        weights(WEIGHTS, "import inspect\nexec(inspect.getsource(weights).replace('weights', 'again'))", by="again"),
    ),
]

LIBRARIES = [
    Odd(
        "aliases from another cell",
        "import as, from import *.",
        lambda: right(
            [code("import torch as pt, torch.nn.functional as F\nfrom functools import *")],
            my_normalise="def my_normalise(vectors):\n    return F.normalize(pt.as_tensor(vectors), dim=1)",
        ),
    ),
    Odd(
        "ThreadPoolExecutor",
        "A thread for each row.",
        mean("""
import torch
from concurrent.futures import ThreadPoolExecutor
def my_mean_pool(t, m):
    with ThreadPoolExecutor() as pool:
        return torch.stack(list(pool.map(lambda row, keep: row[keep.bool()].mean(dim=0), t, m)))"""),
    ),
    Odd(
        "a pool of another cell",
        "The threads are older than the answer.",
        lambda: right(
            [
                code(
                    "import torch\nfrom concurrent.futures import ThreadPoolExecutor\npool = "
                    "ThreadPoolExecutor(2)\nprint(list(pool.map(str, range(4))))"
                )
            ],
            my_mean_pool="def my_mean_pool(t, m):\n    return torch.stack(list(pool.map(lambda row, keep: "
            "row[keep.bool()].mean(dim=0), t, m)))",
        ),
    ),
    Odd(
        "futures",
        "submit and as_completed.",
        mean("""
import torch
from concurrent.futures import ThreadPoolExecutor, as_completed
def my_mean_pool(t, m):
    with ThreadPoolExecutor(4) as pool:
        work = {pool.submit(lambda row, keep: row[keep.bool()].mean(dim=0), *pair): place for place,
            pair in enumerate(zip(t, m))}
        found = {work[one]: one.result() for one in as_completed(work)}
    return torch.stack([found[place] for place in sorted(found)])"""),
    ),
    Odd(
        "threads with a lock",
        "threading.Thread.",
        mean("""
import threading, torch
lock = threading.Lock()
def my_mean_pool(t, m):
    found = {}
    def pool(place):
        vector = t[place][m[place].bool()].mean(dim=0)
        with lock:
            found[place] = vector
    threads = [threading.Thread(target=pool, args=[place]) for place in range(len(t))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return torch.stack([found[place] for place in range(len(t))])"""),
    ),
    Odd(
        "a worker of another cell",
        "A thread waits at a queue.",
        lambda: right(
            [
                code(
                    "import queue, threading\nwork, done = queue.Queue(), queue.Queue()\ndef worker():\n    while "
                    "True:\n  "
                    "      t, m = work.get()\n"
                    "        done.put((t * m.unsqueeze(-1)).sum(1) / m.sum(1, "
                    "keepdim=True))\nthreading.Thread(target=worker, daemon=True).start()"
                )
            ],
            my_mean_pool="def my_mean_pool(t, m):\n    work.put((t, m))\n    return done.get()",
        ),
    ),
    Odd(
        "a lock of another cell",
        "Taken in each call.",
        lambda: right([code("import threading\nlock = threading.RLock()")], my_mean_pool=first("with lock:\n    pass")),
    ),
    Odd(
        "joblib",
        "Parallel with threads.",
        mean("""
import torch
from joblib import Parallel, delayed
def my_mean_pool(t, m):
    return torch.stack(Parallel(n_jobs=2, prefer="threads")(delayed(lambda row,
        keep: row[keep.bool()].mean(dim=0))(*pair) for pair in zip(t, m)))"""),
    ),
    Odd(
        "NumPy",
        "There and back.",
        mean("""
import numpy as np, torch
def my_mean_pool(t, m):
    t, m = t.numpy(), m.numpy().astype(np.float32)[..., None]
    return torch.from_numpy((t * m).sum(1) / m.sum(1))"""),
    ),
    Odd(
        "pandas",
        "A table for each sentence.",
        mean("""
import pandas as pd, torch
def my_mean_pool(t, m):
    return torch.stack([torch.tensor(pd.DataFrame(row.numpy())[keep.bool().numpy()].mean().to_numpy(), dtype=t.dtype)
        for row, keep in zip(t, m)])"""),
    ),
    Odd(
        "SciPy",
        "scipy.spatial for the baseline.",
        lambda: right(
            baseline="from scipy.spatial.distance import pdist\ndef baseline(vectors):\n    return float((1 - "
            "pdist(vectors.numpy(), 'cosine')).mean())"
        ),
    ),
    Odd(
        "scikit-learn",
        "Its cosine_similarity, for the baseline.",
        lambda: right(
            baseline="import numpy as np\nfrom sklearn.metrics.pairwise import cosine_similarity\ndef "
            "baseline(vectors):\n"
            "    table = cosine_similarity(vectors.numpy())\n"
            "    return float(table[~np.eye(len(table), dtype=bool)].mean())"
        ),
    ),
    Odd(
        "einsum", "torch.einsum.", body("return torch.einsum('bth,bt->bh', t, m.to(t.dtype)) / m.sum(1, keepdim=True)")
    ),
    Odd(
        "matrix products",
        "torch.bmm.",
        body("return torch.bmm(m.to(t.dtype).unsqueeze(1), t).squeeze(1) / m.sum(1, keepdim=True)"),
    ),
    Odd(
        "vmap",
        "torch.vmap over the batch.",
        body("m = m.to(t.dtype)\nreturn torch.vmap(lambda row, keep: keep @ row / keep.sum())(t, m)"),
    ),
    Odd(
        "split by length",
        "split and mean.",
        body("return torch.stack([x.mean(0) for x in t[m.bool()].split(m.sum(1).tolist())])"),
    ),
    Odd(
        "loops alone",
        "Numbers one by one.",
        body(
            "rows = []\nfor row, keep in zip(t.tolist(), m.tolist()):\n    real = [v for v, k in zip(row, keep) if k]\n"
            "    rows.append([sum(column) / len(real) for column in zip(*real)])\nreturn torch.tensor(rows)"
        ),
    ),
    Odd("NaN on the way", "nanmean.", body("return t.masked_fill(m.unsqueeze(-1) == 0, float('nan')).nanmean(dim=1)")),
    Odd(
        "nn.Module",
        "The answer is a module.",
        mean("""
import torch
class Pool(torch.nn.Module):
    def forward(self, t, m):
        return (t * m.unsqueeze(-1)).sum(1) / m.sum(1, keepdim=True)
my_mean_pool = Pool().eval()"""),
    ),
    Odd(
        "a module's method",
        "The answer is bound.",
        mean("""
class Pool:
    def pool(self, t, m):
        return (t * m.unsqueeze(-1)).sum(1) / m.sum(1, keepdim=True)
my_mean_pool = Pool().pool"""),
    ),
    Odd(
        "a static method",
        "The answer lives in a class.",
        mean("""
class Pool:
    @staticmethod
    def pool(t, m):
        return (t * m.unsqueeze(-1)).sum(1) / m.sum(1, keepdim=True)
my_mean_pool = Pool.pool"""),
    ),
    Odd(
        "partial",
        "The answer is a partial.",
        mean(
            "from functools import partial\ndef pool(dim, t, m):\n"
            "    return (t * m.unsqueeze(-1)).sum(dim) / m.sum(dim, keepdim=True)\nmy_mean_pool = partial(pool, 1)"
        ),
    ),
    Odd(
        "composed of operators",
        "operator and reduce.",
        body(
            "import operator\nfrom functools import reduce\nreturn reduce(operator.add, (t * "
            "m.unsqueeze(-1)).unbind(1)) / m.sum(1, keepdim=True)"
        ),
    ),
    Odd(
        "a generator",
        "Rows are yielded.",
        lambda: right(
            [code("def rows(t, m):\n    for row, keep in zip(t, m):\n        yield row[keep.bool()].mean(0)")],
            my_mean_pool="import torch\ndef my_mean_pool(t, m):\n    return torch.stack([*rows(t, m)])",
        ),
    ),
    Odd(
        "lru_cache on a helper",
        "And a call that fills it.",
        dim(
            "import functools\n@functools.lru_cache\ndef which(name):\n    return {'tokens': 1}[name]",
            "which('tokens')",
            by="which('tokens')",
        ),
    ),
    Odd(
        "a dataclass",
        "Settings with a default.",
        dim(
            "from dataclasses import dataclass, field\n@dataclass\nclass Settings:\n    dims: list[int] = "
            "field(default_factory=lambda: [0, 1])",
            "settings = Settings()",
            by="settings.dims[1]",
        ),
    ),
    Odd(
        "an enum and a NamedTuple",
        "Settings with names.",
        dim(
            "import enum\nfrom typing import NamedTuple\nclass Dim(enum.IntEnum):\n    BATCH = 0\n    TOKENS = 1\n"
            "class Settings(NamedTuple):\n    dim: Dim = Dim.TOKENS",
            by="Settings().dim",
        ),
    ),
    Odd(
        "annotations of the future",
        "from __future__ import annotations, with names that do not exist.",
        mean(
            "from __future__ import annotations\n"
            + MEAN.replace("attention_mask):", "attention_mask: Nowhere) -> torch.Tensor | None:", 1)
        ),
    ),
    Odd(
        "annotations of the future in another cell",
        "They hold for the cells below too.",
        lambda: right(
            [code("from __future__ import annotations")],
            my_mean_pool=MEAN.replace("attention_mask):", "attention_mask: Nowhere):", 1),
        ),
    ),
    Odd(
        "type hints",
        "PEP 604, Callable, TypeVar.",
        lambda: right(
            [
                code(
                    "from collections.abc import Callable\nfrom typing import TypeVar\nimport torch\n"
                    "T = TypeVar('T', bound=torch.Tensor)\nPooling = Callable[[T, T], T] | None"
                )
            ],
            my_mean_pool=MEAN.replace(
                "token_embeddings, attention_mask):",
                "token_embeddings: torch.Tensor, attention_mask: torch.Tensor | None = None) -> T:",
                1,
            ),
        ),
    ),
    Odd(
        "match in an answer",
        "By the shape.",
        body(
            "match tuple(t.shape), m.dtype:\n    case (batch, tokens, hidden), torch.bool:\n        m = m.long()\n    "
            "case _:\n        pass\n"
            "return (t * m.unsqueeze(-1)).sum(1) / (n := m.sum(1, keepdim=True))"
        ),
    ),
    Odd(
        "default arguments",
        "Helpers as defaults.",
        lambda: right(
            [code(WEIGHTS)],
            my_mean_pool=NEEDS_WEIGHTS.replace("attention_mask):", "attention_mask, weights=weights):", 1),
        ),
    ),
    Odd(
        "any arguments",
        "*args.",
        mean(
            "def my_mean_pool(*args, **kwargs):\n    t, m = args\n    return (t * m.unsqueeze(-1)).sum(1) / m.sum(1, "
            "keepdim=True)"
        ),
    ),
    Odd(
        "one answer uses another",
        "The baseline calls my_normalise.",
        lambda: right(
            baseline="def baseline(vectors):\n    unit = my_normalise(vectors)\n    n = len(unit)\n"
            "    return ((unit.sum(dim=0) ** 2).sum().item() - n) / (n * (n - 1))"
        ),
    ),
    Odd(
        "the course's helper",
        "The baseline calls the course's normalise.",
        lambda: right(
            [code("from course_utils import normalise")],
            baseline="def baseline(vectors):\n    unit = normalise(vectors)\n    n = len(unit)\n"
            "    return (unit @ unit.T).fill_diagonal_(0).sum().item() / (n * (n - 1))",
        ),
    ),
    Odd(
        "tqdm",
        "A bar in each call.",
        body(
            "from tqdm.auto import tqdm\nreturn torch.stack([row[keep.bool()].mean(0) for row, keep in "
            "tqdm(list(zip(t, m)))])"
        ),
    ),
    Odd("widgets", "A slider beside it.", beside("import ipywidgets\nipywidgets.interact(lambda x: x, x=3)")),
    Odd(
        "tests of one's own",
        "assert, doctest, unittest.",
        beside(
            below=[
                "import torch\nassert my_normalise(torch.ones(1, 4)).tolist() == [[0.5] * 4]",
                "import doctest\ndoctest.testmod()",
                "import unittest\nclass Tests(unittest.TestCase):\n    def test(self):\n        "
                "self.assertTrue(callable(baseline))\n"
                "unittest.main(argv=[''], exit=False)",
            ]
        ),
    ),
]

TROUBLE = [
    Odd(
        "an endless loop beside it",
        "And a sleep without end.",
        beside("while True:\n    pass", below=["import time\ntime.sleep(10**6)"]),
    ),
    Odd("a syntax error beside it", "In two cells.", beside("def unfinished(:", below=["print 'old'"])),
    Odd("an error beside it", "Three kinds.", beside("1 / 0", "undefined_name", below=["raise SystemExit"])),
    Odd(
        "an error on purpose",
        "The lesson's own: shapes that do not fit.",
        beside("import torch\ntorch.ones(2, 17, 384) * torch.ones(2, 17)"),
    ),
    Odd("an error below the answer", "In its cell, after the def.", mean(f"{MEAN}\n\nmy_mean_pool(hidden, mask)")),
    Odd("a check in the answer's cell", "Below the def, printed.", mean(f'{MEAN}\nprint(check("{ID}", my_mean_pool))')),
    Odd("input() beside it", "Nobody answers.", beside("name = input('Your name? ')")),
    Odd(
        "two seconds of work",
        "A cell that the answer needs takes its time.",
        dim("import time\ntime.sleep(2)\nDIM = 1"),
    ),
    Odd("three seconds of sleep beside it", "In a cell that nothing needs.", beside("import time\ntime.sleep(3)")),
    Odd(
        "an endless thread",
        "It works on while the answers are checked.",
        beside(
            "import threading, time\ndef tick():\n    while True:\n        "
            "time.sleep(0.01)\nthreading.Thread(target=tick, daemon=True).start()"
        ),
    ),
    Odd("SystemExit above", "raise SystemExit in a cell that nothing needs.", beside("raise SystemExit('enough')")),
    Odd("sys.exit() after a name", "The name is bound by then.", dim("import sys\nDIM = 1\nsys.exit()")),
    Odd("quit() above", "The kernel is started again before anything matters.", beside("quit()")),
    Odd("exit() at the end", "All is passed by then.", beside(below=["exit()"])),
    Odd("exit() that keeps the kernel", "exit(keep_kernel=True).", dim("DIM = 1", "exit(keep_kernel=True)")),
    Odd("an interrupt", "raise KeyboardInterrupt beside it.", beside("raise KeyboardInterrupt")),
    Odd(
        "much memory for a moment", "A hundred megabytes beside it.", beside("big = bytearray(100 * 2**20)", "del big")
    ),
    Odd(
        "a recursion without end beside it",
        "It is caught.",
        beside("def f():\n    f()\ntry:\n    f()\nexcept RecursionError:\n    pass"),
    ),
    Odd(
        "a signal handler",
        "It is never called.",
        beside("import signal\nsignal.signal(signal.SIGUSR1, lambda *_: None)"),
    ),
]

PLACES = [
    Odd(
        "in another cell",
        "The answer stands above its own cell.",
        lambda: right([code(MEAN)], my_mean_pool="# see above"),
    ),
    Odd(
        "all in the last cell",
        "Below the checks.",
        lambda: file([*lesson(dict.fromkeys(NAMES, ""))[1::2], code("\n".join(RIGHT.values()))]),
    ),
    Odd(
        "all in the first cell",
        "The cells of answers are empty.",
        lambda: file([code("\n".join(RIGHT.values())), *lesson(dict.fromkeys(NAMES, ""))]),
    ),
    Odd(
        "all in one cell with an id",
        "The cell of mean pooling holds everything.",
        lambda: file(lesson({**dict.fromkeys(NAMES, ""), ID: "\n".join(RIGHT.values())})),
    ),
    Odd(
        "a helper before",
        "And a constant.",
        lambda: right([code(WEIGHTS), code("DIM = 1")], my_mean_pool=NEEDS_WEIGHTS.replace("dim=1", "dim=DIM")),
    ),
    Odd(
        "a helper after",
        "Below the checks.",
        lambda: right(after=[code(WEIGHTS), code("DIM = 1")], my_mean_pool=NEEDS_WEIGHTS.replace("dim=1", "dim=DIM")),
    ),
    Odd(
        "a helper of a helper",
        "In three cells, the last first.",
        weights(
            "def weights(mask, like):\n    return column(mask).to(like.dtype)",
            "def column(mask):\n    return mask.unsqueeze(LAST)",
            "LAST = -1",
        ),
    ),
    Odd(
        "a helper in another answer's cell",
        "Below, in that of the baseline.",
        lambda: right(my_mean_pool=NEEDS_WEIGHTS, baseline=f"{WEIGHTS}\n{RIGHT['04-baseline']}"),
    ),
    Odd("a stub left below", "The lesson's own cell, again.", lambda: right(after=[code(STUB)])),
    Odd("a stub left above", "In the same cell.", mean(f"{STUB}\n\n{MEAN}")),
    Odd(
        "a first try above",
        "With the cell's id.",
        lambda: right([code("def my_mean_pool(t, m):\n    return t.mean(1)", ID)]),
    ),
    Odd(
        "a first try commented out",
        "In the same cell.",
        mean("# def my_mean_pool(t, m):\n#     return t.mean(1)\n" + MEAN),
    ),
    Odd("the answer twice", "Its cell was copied.", lambda: right([code(MEAN, ID)])),
    Odd("the answer twice with its check", "Both cells were copied.", lambda: right(lesson({ID: MEAN}))),
    Odd("in reverse order", "The last exercise first.", lambda: file(lesson(dict(reversed(RIGHT.items()))))),
    Odd("answers, then checks", "All checks at the end.", lambda: file([*lesson(RIGHT)[::2], *lesson(RIGHT)[1::2]])),
    Odd(
        "checks, then answers",
        "As cells were moved; the learner ran them in another order.",
        lambda: file([*lesson(RIGHT)[1::2], *lesson(RIGHT)[::2]]),
    ),
    Odd("no checks", "Their cells were deleted.", lambda: file(lesson(RIGHT)[::2])),
    Odd("a renamed function", "The check's cell was changed to match.", renamed(f'check("{ID}", pool)')),
    Odd(
        "another name in the check's cell",
        "my_mean_pool = pool stands there.",
        renamed(f'my_mean_pool = pool\ncheck("{ID}", my_mean_pool)'),
    ),
    Odd(
        "a name for a name",
        "my_mean_pool = pool in the answer's cell.",
        mean(MEAN.replace("my_mean_pool", "pool") + "\nmy_mean_pool = pool"),
    ),
    Odd(
        "in a choice",
        "The def stands in an if.",
        mean("if True:\n" + indent(MEAN, "    ") + "\nelse:\n    my_mean_pool = None"),
    ),
    Odd(
        "in a loop",
        "One def for each dimension, the last one stays.",
        mean("for DIM in (0, 1):\n" + indent(NEEDS_DIM, "    ")),
    ),
    Odd(
        "in a try", "The def stands in a try.", mean("try:\n" + indent(MEAN, "    ") + "\nexcept Exception:\n    pass")
    ),
    Odd(
        "made by a function",
        "A factory.",
        mean(
            "def make(dim):\n    def pool(t, m):\n        return (t * m.unsqueeze(-1)).sum(dim) / m.sum(dim, "
            "keepdim=True)\n"
            "    return pool\nmy_mean_pool = make(dim=1)"
        ),
    ),
    Odd(
        "a def behind global",
        "A function defines the answer.",
        mean("def define():\n    global my_mean_pool\n" + indent(MEAN, "    ") + "\ndefine()"),
    ),
    Odd(
        "split over two cells",
        "A constant of its own cell stands with the same id.",
        lambda: right([code("DIM = 1", ID)], my_mean_pool=NEEDS_DIM),
    ),
    Odd(
        "a constant used again",
        "The check passed; later its name means something else.",
        lambda: right([code("DIM = 1")], [code("DIM = 'tokens'")], my_mean_pool=NEEDS_DIM),
    ),
    Odd(
        "an experiment below",
        "The check passed; later the same name is a wrong version, on purpose.",
        lambda: right(after=[code("def my_mean_pool(t, m):\n    return t.mean(1)")]),
    ),
    Odd(
        "deleted below",
        "The check passed; later the names are deleted.",
        beside(below=[f"del {', '.join(NAMES.values())}"]),
    ),
    Odd(
        "the answer calls its first version",
        "Wrapped below itself.",
        mean(f"{MEAN}\nplain = my_mean_pool\ndef my_mean_pool(t, m):\n    return plain(t, m.bool())"),
    ),
]

FORMATS = [
    Odd("the format of before 2015", "nbformat 3, with worksheets.", before_2015),
    Odd("nbformat 4.0", "Cells have no ids.", written(nbformat_minor=0)),
    Odd("a format of the future", "nbformat 4.9.", written(nbformat_minor=9)),
    Odd(
        "no version",
        "nbformat_minor is missing.",
        lambda: json.dumps({"cells": lesson(RIGHT), "metadata": {}, "nbformat": 4}).encode(),
    ),
    Odd(
        "cells without ids",
        "Nothing but the sources.",
        lambda: file([text("# 04 Pooling"), *map(code, RIGHT.values())]),
    ),
    Odd(
        "ids of cells",
        "Each cell has one, as nbformat 4.5 wants it.",
        cells(lambda found: [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(found)]),
    ),
    Odd(
        "one id for all cells",
        "They were copied by a tool.",
        cells(lambda found: [{**cell, "id": "same"} for cell in found]),
    ),
    Odd("metadata lost", "No cell has any.", cells(lambda found: [{**cell, "metadata": {}} for cell in found])),
    Odd(
        "metadata of checks lost",
        "Only answers have it.",
        cells(lambda found: [{**cell, "metadata": {}} if number % 2 else cell for number, cell in enumerate(found)]),
    ),
    Odd(
        "no metadata at all",
        "The key is missing.",
        cells(lambda found: [{key: value for key, value in cell.items() if key != "metadata"} for cell in found]),
    ),
    Odd(
        "odd metadata",
        "Keys of other tools, lists and null.",
        marked(tags=["x", None], deepnote={"a": []}, collapsed=None, **{"": 1}),
    ),
    Odd(
        "an id that went to another cell",
        "A Markdown cell has the answer's, too.",
        lambda: right([text("See below.", metadata={"nbgrader": {"grade_id": ID}})]),
    ),
    Odd(
        "Colab",
        "Its kernelspec, ids and form.",
        lambda: file(
            [
                {**cell, "metadata": {**cell["metadata"], "id": "aB3", "cellView": "form", "outputId": "x"}}
                for cell in lesson(RIGHT)
            ],
            nbformat_minor=0,
            metadata={
                "colab": {"provenance": [], "name": "04.ipynb"},
                "kernelspec": {"name": "python3", "display_name": "Python 3"},
                "accelerator": "GPU",
            },
        ),
    ),
    Odd(
        "Colab's form",
        "#@title and #@param.",
        dim("#@title Settings { display-mode: 'form' }\nDIM = 1 #@param {type:'integer'}"),
    ),
    Odd(
        "VS Code",
        "Its kernelspec and language ids.",
        lambda: file(
            [{**cell, "metadata": {**cell["metadata"], "vscode": {"languageId": "python"}}} for cell in lesson(RIGHT)],
            metadata={
                "kernelspec": {"name": "base", "display_name": "base (Python 3.12.1)", "language": "python"},
                "orig_nbformat": 4,
                "vscode": {"interpreter": {"hash": "0"}},
            },
        ),
    ),
    Odd("VS Code's marks of cells", "# %% in a cell.", mean(f"# %% [markdown]\n# Pooling\n# %%\n{MEAN}")),
    Odd(
        "Kaggle",
        "Its metadata and its first cell.",
        lambda: file(
            [
                code("import os\nfor folder, _, files in os.walk('/kaggle/input'):\n    print(folder, files)"),
                *lesson(RIGHT),
            ],
            metadata={
                "kaggle": {"accelerator": "none", "isGpuEnabled": False},
                "kernelspec": {"name": "python3"},
                "papermill": {"duration": 1.5},
            },
        ),
    ),
    Odd(
        "another kernel's name",
        "An environment of the learner's.",
        written(
            metadata={
                "kernelspec": {"name": "my-env", "display_name": "Mine"},
                "language_info": {"name": "python", "version": "3.8"},
            }
        ),
    ),
    Odd("30 MB of outputs", "A picture.", cells(picture)),
    Odd(
        "outputs of all kinds",
        "Errors, updates, unknown ones.",
        cells(
            lambda found: found[0].update(
                outputs=[
                    {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["\x1b[0;31m"]},
                    {"output_type": "stream", "name": "stdout", "text": ["a", "b"]},
                    {"output_type": "something_new"},
                    {
                        "output_type": "execute_result",
                        "data": {"application/json": [1, None]},
                        "metadata": {},
                        "execution_count": 3,
                    },
                ]
            )
        ),
    ),
    Odd(
        "attachments",
        "A picture in a Markdown cell.",
        lambda: right([text("![](attachment:a.png)", attachments={"a.png": {"image/png": "iVBORw0KGgo="}})]),
    ),
    Odd(
        "raw cells",
        "With text, and with code that is not run.",
        lambda: right(
            [
                text("---\ntitle: 04\n---", "raw"),
                text("def my_mean_pool(t, m):\n    return t", "raw", metadata={"format": "text/x-python"}),
            ]
        ),
    ),
    Odd(
        "unknown kinds of cells",
        "From another program.",
        lambda: right([text("select 1", "sql"), text("Title", "heading", level=1), text({"a": 1}, "widget")]),
    ),
    Odd(
        "a cell without a source",
        "The key is missing.",
        cells(
            lambda found: [
                {"cell_type": "code", "metadata": {}, "outputs": []},
                {"cell_type": "markdown", "metadata": {}},
                *found,
            ]
        ),
    ),
    Odd(
        "counts of runs",
        "Out of order, missing, a text.",
        cells(
            lambda found: [
                {**cell, "execution_count": count} for cell, count in zip(found, cycle((99, 1, None, "x", 5, 5, 2, 1)))
            ]
        ),
    ),
    Odd(
        "escaped letters", "Every letter of the sources is \\u....", lambda: right().replace(b"weight", b"\\u0077eight")
    ),
    Odd("indented JSON", "A megabyte of spaces.", lambda: json.dumps(json.loads(right()), indent=2000).encode()),
    Odd("a final line end and spaces", "After the JSON.", lambda: b"\n\n" + right() + b"\r\n \t\n"),
    Odd(
        "keys in another order",
        "As a tool sorts them.",
        lambda: json.dumps(json.loads(right()), sort_keys=True).encode(),
    ),
    Odd(
        "locked cells",
        "Cells that cannot be edited or deleted.",
        marked(editable=False, deletable=False, trusted=True, jupyter={"source_hidden": True}),
    ),
]

LESS = [
    Odd("one answer missing", "Mean pooling is still a stub.", mean(STUB), REST),
    Odd(
        "nothing done",
        "All stubs.",
        lambda: file(
            lesson({one: f"def {name}(*args):\n    raise NotImplementedError()" for one, name in NAMES.items()})
        ),
        0,
    ),
    Odd(
        "rows of zeros forgotten",
        "my_normalise divides by 0.",
        lambda: right(
            my_normalise="def my_normalise(vectors):\n    return vectors / vectors.norm(dim=1, keepdim=True)"
        ),
        FULL - points_of("04-normalise"),
    ),
    Odd(
        "a star that hides float",
        "from torch import * replaces Python's float, which max pooling calls.",
        beside("from torch import *"),
        FULL - points_of("04-max-pool"),
    ),
    Odd(
        "a byte order mark in a cell",
        "Pasted from a file of Windows; to Python it is no space.",
        mean(f"\ufeff{MEAN}"),
        REST,
    ),
    Odd(
        "scikit-learn's normalize",
        "It leaves very short rows as they are.",
        lambda: right(
            my_normalise="import torch\nfrom sklearn.preprocessing import normalize\ndef my_normalise(vectors):\n"
            "    return torch.from_numpy(normalize(vectors.numpy()))"
        ),
        FULL - points_of("04-normalise"),
    ),
    Odd("padding forgotten", "The plain mean.", mean("def my_mean_pool(t, m):\n    return t.mean(dim=1)"), REST),
    Odd("the first two alone", "The others were deleted.", lambda: file(lesson(RIGHT)[:4]), points_of(*[*RIGHT][:2])),
    Odd(
        "in a Markdown cell",
        "The answer's cell was changed into text.",
        cells(lambda found: found[0].update(cell_type="markdown")),
        REST,
    ),
    Odd(
        "in a raw cell",
        "The answer's cell was changed into a raw one.",
        cells(lambda found: found[0].update(cell_type="raw")),
        REST,
    ),
    Odd("commented out", "The answer is a comment.", mean("# " + MEAN.replace("\n", "\n# ")), REST),
    Odd("in a string", "The answer is a string.", mean(f'"""\n{MEAN}\n"""'), REST),
    Odd("in a file only", "%%writefile, and never imported.", mean(f"%%writefile answer.py\n{MEAN}"), REST),
    Odd("in a function only", "The def is never reached.", mean("def define():\n" + indent(MEAN, "    ")), REST),
    Odd("in a class only", "A method, without a name outside.", mean("class Answers:\n" + indent(MEAN, "    ")), REST),
    Odd("a bracket forgotten", "The answer's cell is no Python.", mean(MEAN.replace("(dim=1)", "(dim=1", 1)), REST),
    Odd(
        "a helper that was never handed in",
        "It was in a file on the learner's computer.",
        mean(f"from my_own_tools import weights\n{NEEDS_WEIGHTS}"),
        REST,
    ),
    Odd("a helper that was deleted", "It lives on only in the learner's kernel.", mean(NEEDS_WEIGHTS), REST),
    Odd("a name bound in %%timeit", "It does not last.", dim("%%timeit -n1 -r1\nDIM = 1"), REST),
    Odd("a name bound in a comprehension", "It does not last.", dim("print([DIM for DIM in (0, 1)])"), REST),
    Odd(
        "a name bound by except",
        "Python deletes it.",
        dim("try:\n    1 / 0\nexcept ZeroDivisionError as DIM:\n    pass"),
        REST,
    ),
    Odd(
        "a global of another module",
        "A file's own global is not the notebook's.",
        dim("%%writefile other.py\ndef choose():\n    global DIM\n    DIM = 1", "import other\nother.choose()"),
        REST,
    ),
    Odd("returns an array", "Not a tensor.", mean(MEAN.replace("return ", "return (") + ").numpy()"), REST),
    Odd(
        "double precision",
        "The result is float64.",
        mean(MEAN.replace("weight = ", "weight = 1.0 * ").replace(".to(token_embeddings.dtype)", ".double()")),
        REST,
    ),
    Odd("prints in place of returning", "None comes back.", mean(MEAN.replace("return ", "print(") + ")"), REST),
    Odd(
        "changes what it was given",
        "In place.",
        mean("def my_mean_pool(t, m):\n    t *= m.unsqueeze(-1)\n    return t.sum(1) / m.sum(1, keepdim=True)"),
        REST,
    ),
    Odd(
        "data of the notebook",
        "The answer uses other vectors than it is given.",
        lambda: right(
            [code("import torch\nhidden = torch.ones(3, 5, 8)")],
            my_mean_pool="def my_mean_pool(t, m):\n    return hidden.mean(dim=1)",
        ),
        REST,
    ),
    Odd(
        "two wrong, two right",
        "Max over padding, and the diagonal counted.",
        lambda: right(
            my_max_pool="def my_max_pool(t, m):\n    return t.amax(dim=1)",
            baseline="def baseline(vectors):\n"
            "    u = vectors / vectors.norm(dim=1, keepdim=True)\n    return (u @ u.T).mean().item()",
        ),
        FULL - points_of("04-max-pool", "04-baseline"),
    ),
]

ODD = [*USUAL, *CHARACTERS, *READ, *MAGICS, *EFFECTS, *FILES, *LIBRARIES, *TROUBLE, *PLACES, *FORMATS, *LESS]
