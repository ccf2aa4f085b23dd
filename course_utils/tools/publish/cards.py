"""Cards for spaced repetition with Anki: the terms of the glossary, and the known mistakes of the exercises.

A note's guid is made from the term's anchor, or from the exercise and the first sentence of the mistake, so a new
version of the course updates the cards that a learner has and keeps their schedule.
"""

import io
import re
import zipfile
from pathlib import Path

from markdown_it import MarkdownIt

from ..._support.notebooks import NOTEBOOKS
from ...exercises import all_exercises
from .book import read_lessons
from .question_banks import BREAK, MARK, ExportError, xhtml

# drawn once; Anki finds decks and note types of an earlier import by these
TERMS, MISTAKES, NOTE_TYPE = 1_734_209_511, 1_734_209_512, 1_734_209_513
FRONT = (
    '<p class="about">{{About}}</p>{{Front}}'
    "{{#More}}<details><summary>The exercise</summary>{{More}}</details>{{/More}}"
)


def term_cards(lessons):
    """The glossary as {anchor: (tag, about, front, back)}. lessons: notebooks by name, as `read_lessons` gives them."""
    text = BREAK.join(cell.source for notebook in lessons.values() for cell in notebook.cells)
    cards = {}
    for cell in lessons["glossary"].cells:
        if not cell.id.startswith("term-"):
            continue
        heading, *body, see = cell.source.strip().split(BREAK)
        term, anchor = heading.lstrip("# "), cell.id.removeprefix("term-")
        first = re.search(r"First in lesson \[(\d\d)\]", see)
        if first is None:
            raise ExportError(f"The entry {term!r} of the glossary does not say in which lesson it comes first.")
        # the heading is lower-case for the sake of links: BM25 is written as the lessons write it
        written = set(re.findall(rf"\[([^\]]+)\]\(glossary\.ipynb#{anchor}\)", text))
        term = next((name for name in sorted(written) if name.lower() == term and name != term.capitalize()), term)
        front = f"What does <strong>{xhtml(term, inline=True)}</strong> mean?"
        about = f"Sentence embeddings, lesson {first[1]}"
        cards[anchor] = f"lesson-{first[1]}", about, front, xhtml(BREAK.join(body))
    return cards


def mistake_cards(lessons):
    """The exercises' mistakes as {id: (tag, about, front, back, the exercise's text)}.

    Left out are mistakes whose words explain nothing, and those that their exercise names under `no_card`: about the
    form of an answer or the learner's progress, or with the same beginning or explanation as another.
    """
    texts = {}
    for notebook in lessons.values():
        for cell in notebook.cells:
            if line := re.search(r"^`(\d\d-[a-z0-9-]+)` · difficulty.*$", cell.source, re.MULTILINE):
                texts[line[1]] = xhtml(cell.source[line.end() :])
    marks = MarkdownIt("zero").enable(["backticks", "emphasis"])
    cards = {}
    for exercise in all_exercises().values():
        for mistake in exercise.mistakes:
            if not mistake.card:
                continue
            about = f"Exercise: {exercise.title} (lesson {exercise.lesson})"
            message = f"<blockquote>{marks.renderInline(mistake.does)}</blockquote>"
            front = f"An answer gets this message from the check:{message}Why is that wrong, or what is right?"
            card = (
                f"lesson-{exercise.lesson}",
                about,
                front,
                marks.renderInline(mistake.because),
                texts.get(exercise.id, ""),
            )
            cards[f"{exercise.id} {mistake.does}"] = card
    return cards


def deck(sources=NOTEBOOKS):
    """The Anki package as bytes, and the numbers of its term cards and mistake cards.

    Two calls differ only in times of writing, by which Anki sees what is newer. Raises BookError for a damaged lesson,
    ExportError for a glossary that cannot be read or if genanki is not installed.
    """
    try:
        import genanki
    except ImportError:
        raise ExportError("The cards need genanki, which is not installed here. Install the course again.") from None
    lessons = read_lessons(sources)
    if "glossary" not in lessons:
        raise ExportError(f"There is no glossary in {sources}. Install the course again.")
    fields = [{"name": name} for name in ("About", "Front", "Back", "More")]
    templates = [{"name": "Card", "qfmt": FRONT, "afmt": FRONT + "<hr id=answer>{{Back}}"}]
    css = (Path(__file__).parent / "templates" / "cards.css").read_text(encoding="utf-8")
    note_type = genanki.Model(NOTE_TYPE, "Sentence embeddings", fields, templates, css, sort_field_index=1)
    decks = []
    for number, name, cards in ((TERMS, "Terms", term_cards(lessons)), (MISTAKES, "Mistakes", mistake_cards(lessons))):
        decks.append(genanki.Deck(number, f"Sentence embeddings::{name}"))
        for key, (tag, about, front, back, *more) in cards.items():
            guid = genanki.guid_for("sentence-embeddings-course", name, key)
            fields = [about, front, back, *more, ""][:4]
            decks[-1].add_note(genanki.Note(note_type, fields, tags=[tag, name.lower()], guid=guid))
    package = io.BytesIO()
    genanki.Package(decks).write_to_file(package)
    with zipfile.ZipFile(package, "a") as archive:
        archive.comment = MARK.encode()
    return package.getvalue(), *(len(one.notes) for one in decks)
