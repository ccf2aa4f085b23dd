"""Names in texts: spellings of one name, and what a learner added to a lesson's file name."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import PurePosixPath

from ..._support.notebooks import parts
from .untrusted import for_messages

WITHOUT_STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"}
)
SUFFIXES = re.compile(r"(\.(ipynb|txt|json|zip))+$", re.IGNORECASE)
ACCENTS = re.compile("[\u0300-\u036f]")


def normalised(text: object) -> str:
    """A text without the differences between spellings of one name.

    These are case, accents, spaces and punctuation.
    """
    text = unicodedata.normalize("NFKD", str(text)).casefold().translate(WITHOUT_STROKES)
    text = ACCENTS.sub("", text)  # other marks are vowels, as in Hindi
    return "".join(letter for letter in text if unicodedata.category(letter)[0] in "LNM")


@cache
def lesson_names() -> list[str]:
    """The names of the lessons' files; longest first, as one may begin with another."""
    names = [path.stem for path in parts().values()]
    return sorted(names, key=lambda name: (-len(name), name))


def notebooks_named_in(text: str) -> list[str]:
    """The names of lessons in a text: "05_layer" in "05_layer-ada"."""
    return re.findall("|".join(lesson_names()), text)


@lru_cache(2**14)
def own_part(stem: str) -> str:
    """The part of a lesson's file name that a learner added: "ada" in "04_pooling-ada (2)"."""
    for lesson in lesson_names():
        stem = stem.replace(lesson, " ")
    stem = re.sub(r"\(\d+\)|[-_ ]copy\d*\b|\.ipynb\b", " ", stem, flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", stem).strip(" _-.")


def stem_of(name: str) -> str:
    """A file's name without its suffixes, even if repeated: "ada" for "ada.ipynb.txt"."""
    return SUFFIXES.sub("", name) if SUFFIXES.search(name) else PurePosixPath(name).stem


def in_words(names: Iterable[str]) -> str:
    """A list in a sentence, with a few of the names."""
    shown = [for_messages(name) for name in sorted(set(names))]
    if len(shown) > 5:
        shown[4:] = [f"{len(shown) - 4} others"]
    phrases = [", ".join(shown[:-1]), *shown[-1:]]
    return " and ".join(phrase for phrase in phrases if phrase)
