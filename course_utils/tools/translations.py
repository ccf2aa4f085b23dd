"""Translated lessons: a gettext catalogue per lesson and language, `notebooks/translations/LANGUAGE/LESSON.po`.

A Markdown cell is cut into pieces by their places in its source: paragraphs, headings, items, rows of tables, summaries
of folded parts. A piece that the catalogue holds is replaced there, and nothing else is touched. A piece that the
author has changed since is not in the catalogue, so readers get the original. Code is shared by all languages.
"""

import io
import re
from collections import Counter
from functools import cache
from pathlib import Path

from .._support.fast_nbformat import nbformat
from .._support.files import write_whole
from .._support.notebooks import NOTEBOOKS

SOURCE = "en"
FOLDER = "translations"  # beside the lessons
SHARED = "Code, outputs, checks and hints are in English in all languages."
PARTLY = "Translated: {done} of {all} paragraphs; the others are in English."
NOTES = "course_utils/tools/translations.py"  # where translators find the two sentences above
# what a translation has as its original has it: code, formulas, addresses, tags, placeholders
KEPT = re.compile(
    r"(?P<ticks>`+).+?(?P=ticks)|\$\$.+?\$\$|\$[^$\s][^$]*\$|\]\([^)\s]*\)|</?[A-Za-z][^<>]*>|https?://\S+|\{\w+\}",
    re.DOTALL,
)
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
MARKS = {"**": "marks of bold text", "|": "bars in a row of a table", "![": "pictures"}
FOLDING = r"(?:\s*</?(?:details|summary)\b[^<>]*>)*\s*"  # not part of a piece
LINE = re.compile(r'(#.*|((msgctxt|msgid|msgstr) *)?"([^"\\]|\\.)*")?')  # of a catalogue
WORDS = re.compile(r"[^\W\d_]{2,}")
HEADER = (
    'msgid ""\nmsgstr ""\n"Language: {}\\n"\n"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n'
    '"Content-Transfer-Encoding: 8bit\\n"\n\n'
)


class TranslationError(RuntimeError):
    """A translation cannot be read or written. The message is one sentence."""


def languages(sources=NOTEBOOKS):
    """The codes of all languages with a catalogue, such as ["de"]; not that of the lessons themselves."""
    return sorted({path.parent.name for path in (Path(sources) / FOLDER).glob("*/*.po")})


def check_language(language, sources=NOTEBOOKS):
    """Raise TranslationError, naming the languages there are, for any other."""
    if language not in (SOURCE, *languages(sources)):
        there = ", ".join((f"{SOURCE} (the original)", *languages(sources)))
        raise TranslationError(f"There are no lessons in the language {language!r}; there are: {there}.")


def catalogue_of(stem, language, sources=NOTEBOOKS):
    """The path of a lesson's catalogue, whether it exists or not."""
    return Path(sources) / FOLDER / language / f"{stem}.po"


def pieces(source):
    """The places (start, end) in a cell's Markdown of all pieces that have words, in order."""
    lines, starts, found, in_table = source.split("\n"), [0], [], False
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for token in _markdown().parse(source):
        in_table = in_table if token.type not in ("table_open", "table_close") else token.type == "table_open"
        if token.type == "html_block":
            start, end = starts[token.map[0]], min(starts[token.map[1]], len(source))
            start += re.match(FOLDING, source[start:end]).end()
            end = start + re.search(f"{FOLDING}$", source[start:end]).start()
        elif token.type == "tr_open":
            line = lines[token.map[0]]
            start = starts[token.map[0]] + len(line) - len(line.lstrip())
            end = starts[token.map[0]] + len(line.rstrip())
        elif token.type == "inline" and not in_table and token.content:
            first, *more = token.content.split("\n")
            at = token.map[0]
            start = starts[at] + lines[at].rindex(first)
            end = start + len(first)
            if more:
                end = starts[at + len(more)] + lines[at + len(more)].rindex(more[-1]) + len(more[-1])
        else:
            continue
        if WORDS.search(KEPT.sub(" ", source[start:end])):
            found.append((start, end))
    return found


@cache
def _markdown():
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")


def one_line(text):
    """A text with single spaces, as catalogues hold it: breaking a paragraph's lines anew changes no message."""
    return " ".join(text.split())


def translatable(notebook):
    """The cells whose text is translated: the Markdown that learners read, without what they write."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    cells = [cell for cell in cells if "instructor" not in cell.metadata.get("tags", [])]
    return [cell for cell in cells if not cell.metadata.get("nbgrader", {}).get("solution")]


def translate(notebook, translations):
    """Translate a notebook in place. Returns how many pieces were translated, and how many there are.

    translations: {original on one line: translation}, as `read_translations` returns.
    """
    done = total = 0
    for cell in translatable(notebook):
        source, text, end = cell.source, "", 0
        for start, after in pieces(source):
            new = translations.get(one_line(source[start:after]))
            text += source[end:start] + (source[start:after] if new is None else new)
            done, total, end = done + (new is not None), total + 1, after
        cell.source = text + source[end:]
    return done, total


def read_translations(stem, language, sources=NOTEBOOKS):
    """{original: translation} of a lesson, both on one line; without empty and fuzzy ones. Empty without a catalogue.

    Raises TranslationError for a damaged catalogue.
    """
    path = catalogue_of(stem, language, sources)
    if language == SOURCE or not path.is_file():
        return {}
    return {message.id: one_line(message.string) for message in _messages(_read(path)) if _usable(message)}


def into_language(notebook, stem, language, sources=NOTEBOOKS):
    """Translate a lesson in place. Where anything is translated, the first cell then says what is not."""
    translations = read_translations(stem, language, sources)
    done, total = translate(notebook, translations) if translations else (0, 0)
    if done:
        notes = [SHARED] if done == total else [PARTLY, SHARED]
        words = " ".join(translations.get(note, note) for note in notes).format(done=done, all=total)
        translatable(notebook)[0].source += f"\n\n*{words}*"


def update_catalogue(lesson, language, sources=NOTEBOOKS):
    """Bring a lesson's catalogue up to date, or begin it. Returns a Counter, see `state`.

    New pieces are empty; changed ones get the old translation marked fuzzy, which is not used until a translator has
    looked; the translations of vanished ones stay at the end as obsolete.

    lesson: the path of its notebook. Raises TranslationError for an unknown language or a damaged catalogue.
    """
    from babel.core import Locale, UnknownLocaleError
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import write_po

    try:
        Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        raise TranslationError(f"{language!r} is not the code of a language, such as de or pt_BR.") from None
    path, template = catalogue_of(lesson.stem, language, sources), Catalog(language)
    for note in (SHARED, PARTLY):
        template.add(note, locations=[(NOTES, None)])
    for cell in translatable(nbformat.read(lesson, as_version=4)):
        for start, end in pieces(cell.source):
            template.add(one_line(cell.source[start:end]), locations=[(f"{lesson.name}:{cell.id}", None)])
    catalogue = _read(path) if path.is_file() else Catalog(language)
    for text in [text for text in catalogue.obsolete if text in template]:  # it has come back
        catalogue.add(text, catalogue.obsolete.pop(text).string)
    catalogue.update(template)
    for message in catalogue:
        message.flags.intersection_update({"fuzzy"})  # Babel takes a percentage for a format
    written = io.BytesIO()
    write_po(written, catalogue, width=120, omit_header=True, include_previous=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, HEADER.format(language) + written.getvalue().decode().rstrip("\n") + "\n")
    return state(lesson, language, sources)


def state(lesson, language, sources=NOTEBOOKS):
    """How far a translation is: a Counter with the pieces of the lesson as it is now ("all"), those "translated", and
    in its catalogue the messages that are "empty", "fuzzy" and "obsolete"."""
    path = catalogue_of(lesson.stem, language, sources)
    catalogue = _read(path) if path.is_file() else None
    done, total = translate(nbformat.read(lesson, as_version=4), read_translations(lesson.stem, language, sources))
    messages = _messages(catalogue) if catalogue else []
    empty, fuzzy = sum(not message.string for message in messages), sum(message.fuzzy for message in messages)
    obsolete = len(catalogue.obsolete) if catalogue else 0
    return Counter(translated=done, all=total, empty=empty, fuzzy=fuzzy, obsolete=obsolete)


def problems(stem, language, sources=NOTEBOOKS):
    """What is wrong in a catalogue, a sentence each, with the beginning of the translation."""
    pairs = [(one.id, one.string) for one in _messages(_read(catalogue_of(stem, language, sources))) if _usable(one)]
    return [f"{there[:60]!r}: {problem}" for here, there in pairs for problem in differences(here, there)]


def differences(original, translation):
    """What a translation must share with its original and does not, a sentence each."""
    texts = (original, translation)
    kept = [Counter(match[0] for match in KEPT.finditer(text)) for text in texts]
    numbers = [Counter(NUMBER.findall(KEPT.sub(" ", text))) for text in texts]
    losses = []
    for what, (before, after) in {"code, formulas, links or tags": kept, "numbers": numbers}.items():
        if before != after:
            missing, added = sorted((before - after).elements()), sorted((after - before).elements())
            losses.append(f"other {what}: without {missing}, with {added}")
    for mark, what in MARKS.items():
        if (mark != "|" or original.startswith("|")) and original.count(mark) != translation.count(mark):
            losses.append(f"another number of {what}")
    return losses


def _read(path):
    """A catalogue from a file. Raises TranslationError for one that is damaged."""
    from babel.messages.pofile import PoFileError, read_po

    advice = f"Correct it, or fetch it again, for example with: git checkout {path}"
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
        for number, line in enumerate(lines, 1):
            if not LINE.fullmatch(line.strip()):  # Babel would cut the last letter of a text that is not closed
                raise TranslationError(f"The catalogue {path} is damaged in line {number}. {advice}")
        return read_po(lines, abort_invalid=True)
    except UnicodeDecodeError:
        raise TranslationError(f"The catalogue {path} is not in UTF-8. {advice}") from None
    except PoFileError as error:
        raise TranslationError(f"The catalogue {path} is damaged in line {error.lineno + 1}. {advice}") from None


def _messages(catalogue):
    return [message for message in catalogue if message.id]


def _usable(message):
    return isinstance(message.id, str) and bool(message.string) and not message.fuzzy
