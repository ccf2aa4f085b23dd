"""What of a notebook an answer needs: an honest learner's code means in the grader what it means in the notebook."""

import pytest

from course_utils.grading.inside import Broken, Submission


def answer(*cells, ids=None, name="f"):
    """The function f of a notebook of these cells, as the grader finds it."""
    submission = Submission()
    submission.cells = [{"kind": "code", "source": source, "grade_id": (ids or {}).get(number)} for number, source in enumerate(cells)]
    submission.open(["00-f"], [])
    told = submission.define("00-f", name)
    assert told["callable"]
    return submission.answers["00-f"]


@pytest.mark.parametrize("cells, given, right", [
    (["def f(x): return x + 1"], 1, 2),
    (["def g(x): return x * 2", "def f(x): return g(x)"], 2, 4),
    (["def f(x): return g(x)", "def g(x): return x * 3"], 2, 6),
    (["import math as m\nfrom statistics import mean", "def f(x): return m.floor(mean(x))"], [1, 2.5], 1),
    (["table = {}\nfor n, letter in enumerate('abc'):\n    table[letter] = n", "def f(x): return table[x]"], "c", 2),
    (["words = []\nwith open('/dev/null') as file:\n    words.append('a')", "words.append('b')", "def f(x): return words + x"], ["c"], ["a", "b", "c"]),
    (["try:\n    import nowhere as lib\nexcept ImportError:\n    import math as lib", "def f(x): return lib.sqrt(x)"], 4, 2.0),
    (["if True:\n    def g(x): return x\nelse:\n    def g(x): return -x", "def f(x): return g(x)"], 4, 4),
    (["def f(x): return sum(x)", "sum = 0", "max, len = 1, 2"], [1, 2], 3),
    (["def f(x): return sorted(x)", "f = f([2, 1])"], [2, 1], [1, 2]),
    (["from __future__ import annotations", "def f(x: Tensor) -> Unknown: return x"], 1, 1),
    (["def f(x):\n    display(x)\n    return x"], 1, 1),
    (["def f(x):\n    f.calls += 1\n    return f.calls\nf.calls = 0"], 1, 1),
    (["class Box:\n    def __init__(self, x): self.x = x", "Box.more = 5", "def f(x): return Box(x).x + Box.more"], 1, 6),
    (["from functools import cache\n@cache\ndef g(x): return x", "@cache\ndef f(x): return g(x) + 1"], 1, 2),
    (["f = lambda x: x ** 2"], 3, 9),
    (["from math import *", "def f(x): return floor(sqrt(x))"], 10, 3),
    (["def f(x): return 0", "def f(x): return x", "def f(x):\n    raise NotImplementedError()"], 7, 7),
    (["def helper(x): return x + 1", "def f(x): return helper(x)", "def helper(x): return x + 100"], 1, 2),
    (["%%time\ndef f(x): return x", "%matplotlib inline\n!ls", "%%bash\nrm x"], 5, 5),
    (["n: int = 3\nn += 1", "def f(x):\n    global n\n    n = n + x\n    return n"], 1, 5),
    (["a, *b = [1, 2, 3]", "def f(x):\n    match x:\n        case 1: return b\n        case _: return (y := a)"], 1, [2, 3]),
    (["from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 1", "def f(x): return P(x).x"], 8, 8),
    (["while True:\n    pass", "1 / 0", "def f(x): return x", "print(f(nowhere))"], 1, 1),
    (["def f(x):\n    return x\nf(1", "def f(x): return x + 5"], 1, 6),
])
def test_code_means_what_it_means_in_the_notebook(cells, given, right):
    assert answer(*cells)(given) == right


def test_an_answer_is_found_by_its_check_or_its_cell():
    assert answer("def mine(x): return x", "check('00-f', mine)")(1) == 1
    assert answer("def other(x): return 0", "def mine(x): return x", ids={1: "00-f"})(1) == 1


@pytest.mark.parametrize("cells, words", [
    (["x = 1"], "`f` is not defined anywhere"),
    (["from math import floor as f"], "is not defined anywhere"),
    (["def f(x:\n    return"], "cell 1, line 1: SyntaxError"),
    (["f = nowhere(1)"], "running its cell failed (NameError"),
])
def test_what_cannot_be_had_is_told(cells, words):
    with pytest.raises(Broken) as told:
        answer(*cells)
    assert words in str(told.value)
