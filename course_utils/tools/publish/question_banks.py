"""The questions of the lessons for a learning platform: Moodle XML, or a QTI 2.1 content package.

A question is a cell `quiz-...`. Platforms have no cells above and below, so each question brings
the text that stands before it in its lesson, and says where its pictures and outputs are. Its
identifier is made from lesson and cell id, so it stays when a cell is moved or edited. The bytes
depend on the lessons alone.
"""

import io
import zipfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from markdown_it import MarkdownIt
from nbformat import NotebookNode

from ..._support.files import write_whole
from ..._support.notebooks import NOTEBOOKS, lesson_named, name_of, part_of
from ..ideas.inventory import Option, inventory, read_prediction
from ..pages import filled
from . import PublishError
from .book import read_lessons
from .headings import TITLE
from .mathematics import with_mathml

READER = MarkdownIt("commonmark", {"html": True, "xhtmlOut": True}).enable("table")
# at the end of each export, so that nothing else is overwritten
MARK = "made by the course command"
MATHML = "http://www.w3.org/1998/Math/MathML"
# tags that Markdown makes and that QTI has too (QTI 2.1, Assessment Item Information Model,
# "Content Model")
KEPT = set(
    "blockquote code div em li ol p pre span strong sub sup table tbody td th thead tr ul".split()
)
BREAK = "\n\n"  # between paragraphs
ORIGIN = "From lesson {}, section “{}”. Cells, pictures and outputs that are mentioned stand there."
# Cells that a question needs to be understood, where that is not the text directly above it; ()
# where it needs none.
CONTEXT = {
    "00-quiz-careless": ("surprise-intro", "checks-intro"),
    "02-quiz-one": ("calls-intro",),
    "06-quiz-centring": ("centring-intro", "centring-question"),
    "10-quiz-overtake": ("curve-intro",),
    "13-quiz-index": ("graph-intro",),
    **dict.fromkeys("05-quiz-patch 09-quiz-tokens 12-quiz-hybrid 14-quiz-look".split(), ()),
}


@dataclass(frozen=True)
class Question:
    """One question.

    id: made from lesson and cell, or from the inventory's id.
    lesson: such as "04".
    context, text: XHTML, `text` without blocks; titles are plain text.
    options: their texts are XHTML, too; their letters follow from their order.
    """

    id: str
    lesson: str
    lesson_title: str
    title: str
    context: str
    text: str
    options: tuple[Option, ...]


def xhtml(markdown: str, inline: bool = False) -> str:
    """A piece of Markdown as well-formed XHTML that works outside the course.

    Formulas become MathML. Links within the course become their text, and pictures their
    description. Raises PublishError for HTML that is not well-formed.
    """
    source = with_mathml(markdown)
    html = READER.renderInline(source) if inline else READER.render(source)
    try:
        return _content(ElementTree.fromstring(f"<div>{html}</div>")).strip()
    except ElementTree.ParseError as error:
        raise PublishError(
            f"A text has HTML that cannot be exported ({error}): {markdown[:80]!r}."
        ) from None


def _content(node: ElementTree.Element, *, in_math: bool = False) -> str:
    """The inside of an element as XHTML; `_markup` and this call each other, level by level."""
    inside = [_markup(child, in_math=in_math) + escape(child.tail or "") for child in node]
    return escape(node.text or "") + "".join(inside)


def _markup(node: ElementTree.Element, *, in_math: bool) -> str:
    """An element as XHTML: kept, replaced by its text, or with the attributes that work outside the
    course.
    """
    in_math = in_math or node.tag == "math"
    content = _content(node, in_math=in_math)
    if in_math:
        attributes = {"xmlns": MATHML, **node.attrib} if node.tag == "math" else node.attrib
    elif node.tag == "img":
        return escape(f"[{node.get('alt', '')}]")
    elif node.tag in ("br", "hr"):
        return f"<{node.tag}/>"
    elif node.tag == "a" and node.get("href", "").startswith("http"):
        attributes = {"href": node.get("href", "")}
    elif node.tag in KEPT:
        attributes = {}
    else:
        return content
    written = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<{node.tag}{written}>{content}</{node.tag}>"


def _plain(markdown: str) -> str:
    return "".join(ElementTree.fromstring(f"<p>{xhtml(markdown, inline=True)}</p>").itertext())


def questions(numbers: Iterable[str] = (), sources: str | Path = NOTEBOOKS) -> list[Question]:
    """The questions of some lessons, such as ("04", "05"), or of all, in reading order.

    Raises PublishError for a named lesson without questions, for a question that cannot be read,
    and as `read_lessons` does; ValueError for an unknown or a damaged lesson; OSError.
    """
    chosen = [name_of(lesson_named(number, sources)) for number in numbers]
    bank = []
    for name, notebook in read_lessons(sources).items():
        if chosen and name not in chosen:
            continue
        indices = [index for index, cell in enumerate(notebook.cells) if _is_quiz(cell)]
        lesson = Path(name).name[:2]
        if chosen and not indices:
            raise PublishError(f"Lesson {part_of(name)} has no questions.")
        bank += [_question(lesson, notebook.cells, index) for index in indices]
    return bank


def of_inventory(form: str, numbers: Collection[str] = ()) -> list[Question]:
    """One form of the concept inventory, "before" or "after", of some lessons such as ("04",), by
    their two digits, or of all.

    Raises PublishError for a lesson without ideas.
    """
    ideas = [idea for idea in inventory().values() if not numbers or idea.lesson in numbers]
    if missing := set(numbers) - {idea.lesson for idea in ideas}:
        raise PublishError(f"The inventory has no questions about lesson {min(missing)}.")
    bank = []
    for idea in ideas:
        question = getattr(idea, form)  # `form` is the name of its attribute, too
        bank.append(
            Question(
                id=f"i{question.id}",
                lesson=idea.lesson,
                lesson_title=f"Ideas, {form}",
                title=idea.id,
                context="",
                text=xhtml(question.ask, inline=True),
                options=tuple(map(_exported, question.options)),
            )
        )
    return bank


def _is_quiz(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and cell.id.startswith("quiz-")


def _question(lesson: str, cells: list[NotebookNode], index: int) -> Question:
    cell = cells[index]
    ask, options = read_prediction(cell.source)
    right = sum(option.right for option in options)
    if len(options) != cell.source.count("<details>") or right != 1:
        raise PublishError(
            f"The cell {cell.id} of lesson {lesson} is not a question with one right option."
        )
    cells_above = [
        above for above in cells[:index] if above.cell_type == "markdown" and not _is_quiz(above)
    ]
    text_above = "\n".join(above.source for above in cells_above)
    headings = [_plain(title) for title in TITLE.findall(text_above)]
    lesson_title = headings[0]
    section = headings[-1]
    # by default the cell above
    needed = CONTEXT.get(f"{lesson}-{cell.id}", (cells_above[-1].id,))
    context = [_introduction_in(above) for above in cells_above if above.id in needed]
    *introduction, text = ask.split(BREAK)  # the last paragraph asks
    origin = escape(ORIGIN.format(lesson_title, section))
    return Question(
        id=f"q{lesson}-{cell.id}",
        lesson=lesson,
        lesson_title=lesson_title,
        title=section,
        context=f"<p><em>{origin}</em></p>\n{xhtml(BREAK.join([*context, *introduction]))}",
        text=xhtml(text, inline=True),
        options=tuple(map(_exported, options)),
    )


def _exported(option: Option) -> Option:
    """An option in XHTML, whose explanation says first whether it is right."""
    return Option(
        xhtml(option.text, inline=True),
        xhtml(f"{'Right' if option.right else 'No'}. {option.why}"),
        option.right,
    )


def _introduction_in(cell: NotebookNode) -> str:
    """What a cell says ahead of a question: all below its last heading, but no question of its own.

    Of a cell that reads results, the last paragraph is enough.
    """
    paragraphs = [
        paragraph
        for paragraph in TITLE.split(cell.source)[-1].strip().split(BREAK)
        if not paragraph.startswith("**Predict.**")
    ]
    return BREAK.join(paragraphs[-1:] if cell.id.endswith("-read") else paragraphs)


def moodle(bank: list[Question]) -> bytes:
    """Questions as Moodle XML in UTF-8, in one category per lesson."""
    return filled("moodle.xml.j2", bank=bank, mark=MARK).encode()


def qti(bank: list[Question]) -> bytes:
    """Questions as an IMS content package of QTI 2.1 items: the bytes of a zip file, in which each
    question is a file items/ID.xml.
    """
    items = {
        f"items/{question.id}.xml": filled("qti_item.xml.j2", question=question)
        for question in bank
    }
    files = {"imsmanifest.xml": filled("qti_manifest.xml.j2", bank=bank), **items}
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as archive:
        for name, text in files.items():
            # the same bytes whenever and wherever it is written: dated 1980, made on Unix (3)
            entry = zipfile.ZipInfo(name)
            entry.create_system = 3
            archive.writestr(entry, text.encode())
        archive.comment = MARK.encode()
    return package.getvalue()


def write_export(path: Path, content: bytes) -> None:
    """Write an export to a new file or over an earlier export; its folder is made.

    content: what `moodle` or `qti` returns, which ends with MARK. Raises PublishError if something
    else stands there, OSError if it cannot be written.
    """
    # 100 bytes: room for MARK, and for what follows it
    if path.exists() and not (path.is_file() and MARK.encode() in path.read_bytes()[-100:]):
        raise PublishError(
            f"{path} is not an earlier export, so it was left unchanged. Choose another name."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
