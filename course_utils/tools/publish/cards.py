"""Cards for spaced repetition with Anki: the terms of the glossary, and the known mistakes of the
exercises.

A note's guid is made from the term's anchor, or from the exercise and the first sentence of the
mistake, so a new version of the course updates the cards that a learner has and keeps their
schedule.
"""

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

import genanki
from markdown_it import MarkdownIt
from nbformat import NotebookNode

from ..._support.notebooks import NOTEBOOKS
from ...exercises import all_exercises
from .book import read_lessons
from .question_banks import BREAK, MARK, xhtml

# These numbers and that of NOTE_TYPE mean nothing, but must stay: Anki finds the decks and note
# types of an earlier import by them.
DECKS = {"Terms": 1_734_209_511, "Mistakes": 1_734_209_512}
# Anki's template: {{NAME}} is a field, and {{#More}}...{{/More}} stands only where it is not empty
FRONT = (
    '<p class="about">{{About}}</p>{{Front}}'
    "{{#More}}<details><summary>The exercise</summary>{{More}}</details>{{/More}}"
)
# {anchor: how the lessons write the term}, where the glossary's heading is in lower case for links
SPELLINGS = {
    "bm25": "BM25",
    "cls-token": "[CLS] token",
    "glove": "GloVe",
    "ndcg": "nDCG",
    "pca": "PCA",
    "rag": "RAG",
    "spearman-correlation": "Spearman correlation",
    "tf-idf": "TF-IDF",
    "wordpiece": "WordPiece",
}
# the line below the heading of an exercise: its id and how difficult it is
EXERCISE = re.compile(r"^`(\d\d-[a-z0-9-]+)` · difficulty.*$", re.MULTILINE)
# the messages of `check` have only these marks
MESSAGE = MarkdownIt("zero").enable(["backticks", "emphasis"])


NOTE_TYPE = genanki.Model(
    1_734_209_513,
    "Sentence embeddings",
    fields=[{"name": name} for name in ("About", "Front", "Back", "More")],
    templates=[{"name": "Card", "qfmt": FRONT, "afmt": FRONT + "<hr id=answer>{{Back}}"}],
    css=(Path(__file__).parent / "templates" / "cards.css").read_text(encoding="utf-8"),
    sort_field_index=1,  # Front
)


def _note(
    kind: str, key: str, lesson: str, *, about: str, front: str, back: str, more: str = ""
) -> genanki.Note:
    """A note, which makes one card.

    kind: a key of DECKS. key: what the note is known by among those of its kind; it must stay.
    lesson: such as "02". about, front, back, more: its fields as XHTML; `more` is the exercise's
    text, "" if there is none.
    """
    guid = genanki.guid_for("sentence-embeddings-course", kind, key)
    tags = [f"lesson-{lesson}", kind.lower()]
    return genanki.Note(NOTE_TYPE, (about, front, back, more), tags=tags, guid=guid)


def term_cards(lessons: Mapping[str, NotebookNode]) -> list[genanki.Note]:
    """A card for each term of the glossary.

    lessons: notebooks by name, as `read_lessons` gives them, with the glossary. Raises PublishError
    for HTML that is not well-formed.
    """
    entries = [cell for cell in lessons["glossary"].cells if cell.id.startswith("term-")]
    notes = []
    for entry in entries:
        # an entry is a heading, paragraphs, and the link to the lesson where the term is first used
        heading, *meaning, origin = entry.source.strip().split(BREAK)
        anchor = entry.id.removeprefix("term-")
        (lesson,) = re.findall(r"First in lesson \[(\d\d)\]", origin)
        term = xhtml(SPELLINGS.get(anchor, heading.lstrip("# ")), inline=True)
        notes.append(
            _note(
                "Terms",
                anchor,
                lesson,
                about=f"Sentence embeddings, lesson {lesson}",
                front=f"What does <strong>{term}</strong> mean?",
                back=xhtml(BREAK.join(meaning)),
            )
        )
    return notes


def mistake_cards(lessons: Mapping[str, NotebookNode]) -> list[genanki.Note]:
    """A card for each mistake of the exercises whose `card` is true.

    lessons: as for `term_cards`. An exercise whose text is not in them has cards without it.
    """
    texts = {}  # XHTML by the id of the exercise
    for notebook in lessons.values():
        for cell in notebook.cells:
            if id_line := EXERCISE.search(cell.source):
                texts[id_line[1]] = xhtml(cell.source[id_line.end() :])
    notes = []
    for exercise in all_exercises().values():
        about = f"Exercise: {exercise.title} (lesson {exercise.lesson})"
        with_card = [mistake for mistake in exercise.mistakes if mistake.card]
        for mistake in with_card:
            front = (
                "An answer gets this message from the check:"
                f"<blockquote>{MESSAGE.renderInline(mistake.does)}</blockquote>"
                "Why is that wrong, or what is right?"
            )
            notes.append(
                _note(
                    "Mistakes",
                    f"{exercise.id} {mistake.does}",
                    exercise.lesson,
                    about=about,
                    front=front,
                    back=MESSAGE.renderInline(mistake.because),
                    more=texts.get(exercise.id, ""),
                )
            )
    return notes


def deck(sources: str | Path = NOTEBOOKS) -> tuple[bytes, int, int]:
    """(the Anki package as bytes, number of term cards, number of mistake cards).

    Two calls differ only in times of writing, by which Anki sees what is newer. Raises as
    `read_lessons`.
    """
    lessons = read_lessons(sources)
    notes = {"Terms": term_cards(lessons), "Mistakes": mistake_cards(lessons)}
    decks = []
    for name, number in DECKS.items():
        anki_deck = genanki.Deck(number, f"Sentence embeddings::{name}")
        anki_deck.notes = notes[name]
        decks.append(anki_deck)
    package = io.BytesIO()
    genanki.Package(decks).write_to_file(package)
    # a package is a zip; its comment tells files of the course from others
    with zipfile.ZipFile(package, "a") as archive:
        archive.comment = MARK.encode()
    return package.getvalue(), len(notes["Terms"]), len(notes["Mistakes"])
