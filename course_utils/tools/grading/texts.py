"""Texts from strangers: made safe for the place where they go, one function for each kind of place,
and names in them, in whatever spelling.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import PurePosixPath

from ..._support.notebooks import parts

LONGEST_ON_A_PAGE = 2000  # characters: about a screen of text
# characters of a path, or of an error about one, in messages and in the keys of stored results
LONGEST_PATH = 300
# of HIDDEN, what a page shows as it is; the last two shape letters in Persian and Indic scripts
KEPT = "\n\t\u200c\u200d"
# Unicode categories: control characters, text direction, lone surrogates, unusual line ends
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
HAS_DIGEST = re.compile(r".*~[0-9a-f]{8}", re.DOTALL)  # as `for_keys` writes it

# A formula begins with a sign at the start of a cell. Invisible characters may stand between them,
# or a quotation mark, which closes another one where semicolons separate cells. A quote before the
# sign guards a cell. One that already begins with '= gets one more, which is removed on reading.
INVISIBLE = (
    r"\s\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# with which a formula may begin: = + - @, then their full-width and small forms
SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"
# also the start of a line or of what follows a separator inside a text, see `for_cells`
START_OF_CELL = rf"((?:^|[;\t\n\r\u2028\u2029])[{INVISIBLE}\"]*)"
FORMULA = re.compile(rf"{START_OF_CELL}('*[{SIGNS}])")
GUARDED_FORMULA = re.compile(rf"{START_OF_CELL}'('*[{SIGNS}])")
# control characters but tabs and line ends, and lone surrogates, which no file can hold
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

# letters that NFKD does not take apart
WITHOUT_STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"}
)
# of notebooks, with those that a mail program or a browser may add
SUFFIXES = re.compile(r"(\.(ipynb|txt|json|zip))+$", re.IGNORECASE)
# the block of combining marks that NFKD takes off letters such as é
ACCENTS = re.compile("[\u0300-\u036f]")


def for_messages(text: object, most: int = 120) -> str:
    """A text for a sentence or a table, of at most `most` characters.

    What Unicode counts as a control (category C), such as line ends and changes of the writing
    direction, becomes a replacement character; space around the text is removed.
    """
    letters = [
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(sign)[0] == "C" else sign
        for sign in str(text)
    ]
    return "".join(letters).strip()[:most]


def for_keys(text: str, most: int = 120) -> str:
    """`for_messages`, but different for different texts.

    A text that is changed, or looks as if it had been, ends in "~" and a checksum of the original.
    """
    result = for_messages(text, most)
    if result == text and not HAS_DIGEST.fullmatch(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{for_messages(text, most - len('~' + digest)).strip()}~{digest}"


def for_files(text: object, most: int = 2000) -> str:
    """A text that any file can hold, of at most `most` characters.

    Lone surrogates become question marks; line ends and control characters stay.
    """
    return str(text)[:most].encode("utf-8", "replace").decode()


def for_pages(text: object, longest: int = LONGEST_ON_A_PAGE) -> str:
    """A text for a page; it is not escaped.

    Characters of the categories HIDDEN, such as those that change the direction, are shown as code
    points. Of a text longer than `longest` characters, the rest is left out, and a remark says how
    many characters those are.
    """
    text = str(text)
    left_off = f" … ({len(text) - longest:,} more characters)" if len(text) > longest else ""
    shown = []
    for sign in text[:longest].replace("\r\n", "\n"):
        is_hidden = sign not in KEPT and unicodedata.category(sign) in HIDDEN
        shown.append(f"⟨U+{ord(sign):04X}⟩" if is_hidden else sign)
    return "".join(shown) + left_off


def for_cells(value: object) -> object:
    """A cell that no spreadsheet takes for a formula and no terminal for a command.

    This holds whether the program separates cells at commas, semicolons or tabs. None becomes "",
    and other values that are no strings stay as they are.
    """
    if not isinstance(value, str):
        return "" if value is None else value
    return FORMULA.sub(r"\1'\2", CONTROLS.sub("\N{REPLACEMENT CHARACTER}", value))


def from_cells(value: str) -> str:
    """The text that `for_cells` guarded, but for the control characters that it replaced."""
    return GUARDED_FORMULA.sub(r"\1\2", value)


# ---------------------------------------------------------------- names


def normalised(text: object) -> str:
    """A text without the differences between spellings of one name, for comparing names.

    These are case, accents, spaces and punctuation: letters, numbers and combining marks are left.
    """
    text = unicodedata.normalize("NFKD", str(text)).casefold().translate(WITHOUT_STROKES)
    text = ACCENTS.sub("", text)  # other marks are vowels, as in Hindi
    return "".join(letter for letter in text if unicodedata.category(letter)[0] in "LNM")


@cache
def lesson_names() -> list[str]:
    """The names of the lessons' files; longest first, as one may begin with another."""
    return sorted((path.stem for path in parts().values()), key=lambda name: (-len(name), name))


def notebooks_named_in(text: str) -> list[str]:
    """The names of lessons in a text, in order: ["05_layer"] for "05_layer-ada"."""
    return re.findall("|".join(lesson_names()), text)


@lru_cache(2**14)  # the names of a large class
def own_part(stem: str) -> str:
    """The part of a file's name that a learner added to a lesson's: "ada" in "04_pooling-ada (2)".

    Marks of copies such as "(2)" are none of it. It is "" if nothing was added.
    """
    for lesson in lesson_names():
        stem = stem.replace(lesson, " ")
    stem = re.sub(r"\(\d+\)|[-_ ]copy\d*\b|\.ipynb\b", " ", stem, flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", stem).strip(" _-.")


def stem_of(name: str) -> str:
    """A file's name without its suffix: without all those of SUFFIXES ("ada" for "ada.ipynb.txt"),
    or without any other one.
    """
    return SUFFIXES.sub("", name) if SUFFIXES.search(name) else PurePosixPath(name).stem


def in_words(names: Iterable[str]) -> str:
    """Names as part of a sentence, sorted, each once: "a, b and c"; "" for none.

    Of more than five, the first four are named, and the others counted.
    """
    shown = [for_messages(name) for name in sorted(set(names))]
    if len(shown) > 5:
        shown[4:] = [f"{len(shown) - 4} others"]
    phrases = [", ".join(shown[:-1]), *shown[-1:]]
    return " and ".join(phrase for phrase in phrases if phrase)
