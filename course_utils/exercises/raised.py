"""What an answer raised: the line of its own code, and the usual errors in plain words."""

import linecache
import re
import traceback

from .comparing import text_of

# Each row: kinds of errors, a pattern, and what such an error means, for learners. The kinds are a
# regular expression for the whole name of the error's class, and the pattern is one that some part
# of its text must match; named groups of the pattern fill the braces of the meaning. The first row
# that fits is shown, so more special ones stand before others of their kind.
PLAIN = (
    (
        "RuntimeError|ValueError|IndexError",
        "must match the size|cannot be multiplied|not aligned|broadcast|tensor size|size mismatch"
        "|in its core|1D tensors expected|(same|equal) (length|size)|shape mismatch"
        "|must match except|not match (the shape|indexed)",
        (
            "The shapes do not line up: print `.shape` of both sides. Perhaps it takes `@` instead "
            "of `*`, another dimension, a transpose (`.T`), `unsqueeze` or `keepdim=True`."
        ),
    ),
    (
        "ValueError|RuntimeError|TypeError",
        "too many dimensions|expected sequence|infer dtype|inhomogeneous"
        "|expected Tensor as element|not a sequence",
        "An array is made of numbers only, in lists of the same length; `torch.stack` joins "
        "tensors.",
    ),
    (
        "TypeError|AttributeError",
        "NoneType",
        "Something is `None` here: a value of an argument, a name never set, or what a function "
        "returned.",
    ),
    (
        "IndexError",
        "Dimension out of range",
        "There is no such dimension: the first is 0, the last -1.",
    ),
    (
        "IndexError|TypeError",
        "indices must be|only integer|valid indices|used as indices",
        "An index must be a whole number (for arrays also several, or booleans), and here it is "
        "something else.",
    ),
    (
        "IndexError",
        "out of (range|bounds)",
        "It looks beyond the end: n items stand at 0 to n - 1.",
    ),
    (
        "KeyError",
        "(?P<key>.*)",
        "The dictionary has no key `{key}`: ask first with `in`, or use `.get`.",
    ),
    (
        "RuntimeError",
        "infer output dtype|floating point",
        "Make whole numbers and booleans decimals first: `.float()`.",
    ),
    (
        "TypeError",
        "(not|be) (an )?iterable",
        "It is one thing, not several, so no loop can go through it.",
    ),
    (
        "RuntimeError|TypeError",
        "(a|two) bool tensors?|boolean (subtract|negative)",
        "Booleans cannot be subtracted, nor have a minus: use `mask == 0`, or `mask.long()`.",
    ),
    (
        "RuntimeError|TypeError",
        r"boolean masks|boolean tensor|BoolTensor|must be bool|dtype to be bool|to dtype\('bool'\)",
        "True and false are needed here, and not 1 and 0: say `mask == 0`, for example.",
    ),
    (
        "TypeError",
        "not callable",
        "Something that is no function is called: is an operator missing before `(`?",
    ),
    ("TypeError", "not subscriptable", "It is one thing, not several, so it has no `[...]`."),
    (
        "TypeError",
        "unhashable",
        "Lists and sets cannot be keys or members of a set: use a tuple or a `frozenset`.",
    ),
    (
        "TypeError",
        "unsupported operand|concatenate|not supported between|must be",
        "The kinds do not go together here.",
    ),
    (
        "TypeError",
        "argument",
        "A function is called with arguments that it does not take, or with too few.",
    ),
    (
        "AttributeError",
        "'(?P<kind>[^']+)' object has no attribute '(?P<name>[^']+)'",
        "A {kind} has no `.{name}`.",
    ),
    (
        "NameError|UnboundLocalError",
        "'(?P<name>[^']+)'",
        "`{name}` has no value here: is it spelled and imported?",
    ),
    (
        "ZeroDivisionError",
        "",  # any text
        "It divides by 0: is this number right, and if so, what is asked for then?",
    ),
    (
        "ValueError",
        "math domain",
        "The logarithm of 0, or the square root of a negative number, is taken.",
    ),
    (
        "ValueError",
        "empty|zero-size",
        "There is nothing to choose from: treat an empty input first.",
    ),
    (
        "ValueError|RuntimeError",
        "ambiguous",
        "Several truth values are used as one: say `.all()` or `.any()`, or join with `&`.",
    ),
    (
        "ValueError|RuntimeError",
        "to (a )?Scalar|one element",
        "Several numbers stand where one is needed.",
    ),
)


def line_of(error: BaseException, answer: object) -> str:
    """The innermost line that raised of those in the answer's own file, which is its cell's.

    Returns "" if it is unknown, as in the grader, where `answer` stands for a function of another
    process and has no code.
    """
    file = getattr(getattr(answer, "__code__", None), "co_filename", "")
    numbers = [
        number
        for frame, number in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == file
    ]
    return linecache.getline(file, numbers[-1]).strip() if numbers else ""


def in_plain_words(error: BaseException) -> str:
    """What an error means, in a sentence or two from `PLAIN`, or "" if no row fits."""
    for kinds, pattern, meaning in PLAIN:
        match = re.search(pattern, text_of(error))
        if match and re.fullmatch(kinds, type(error).__name__):
            return meaning.format(**match.groupdict())
    return ""
