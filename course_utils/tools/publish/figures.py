"""The figures of the book: drawings and attention views, with numbers and captions, checked."""

import re
from xml.etree import ElementTree

from nbformat import NotebookNode

from . import PublishError

DRAWING = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
# a diagram as a lesson shows it; groups: its attributes data-..., and what is inside
DIAGRAM = re.compile(
    r'<figure ((?:data-\w+="[^"]*" )*)class="cu-(?:diagram|figure)"[^>]*>(.*?)</figure>', re.DOTALL
)
# the first sentence of five words at least, since "Line chart." says too little; else all
SENTENCE = re.compile(r"(?:\S+\s+){4,}?\S*[.?!](?=\s|$)|.+", re.DOTALL)
MARKDOWN_SIGN = re.compile(r"([\\`*_{}\[\]<>$|~#&])")


def without_blank_lines(drawing: str) -> str:
    """A drawing without its blank lines: in Markdown, the first one would end it."""
    return re.sub(r"\n\s*(?=\n)", "", drawing)


def number_figures(cells: list[NotebookNode], chapter: str) -> None:
    """Give each figure of a lesson a number, such as 5.3, and a caption, and fold its code.

    This changes the cells: their tags, their metadata `mystnb`, which MyST-NB reads, and the HTML
    of diagrams. chapter: the number before the dot.

    The caption is the cell's metadata `course.caption` or else the first sentence of the
    alternative text. Raises PublishError, with the cell's id, for a figure that cannot be drawn or
    has no alternative text.
    """
    number = 0
    for cell in cells:
        # a figure is the first output with data
        outputs = [output for output in cell.get("outputs", []) if "data" in output]
        shown = outputs[0].data.get("text/html", "") if outputs else ""
        if "<iframe" in shown or DIAGRAM.search(shown):
            number += 1
            _make_figure(cell, outputs[0], f"{chapter}.{number}")


def _make_figure(cell: NotebookNode, output: NotebookNode, number: str) -> None:
    """Fold a cell's code, and give its output a number, such as 5.3, and a caption.

    Raises PublishError, as `number_figures` does.
    """
    shown = output.data["text/html"]
    is_view = "<iframe" in shown  # an attention view, else a diagram
    if is_view:
        alt = output.metadata.get("image/png", {}).get("alt", "")
    else:
        alt = _alternative_text(cell.id, shown)
        output.data["text/html"] = _in_a_box(shown)
    if not alt:
        raise PublishError(f"the cell {cell.id} shows a picture that has no alt text")
    tags = cell.metadata.setdefault("tags", [])
    if "hide-input" not in tags and "remove-input" not in tags:
        tags.append("hide-input")
    caption = cell.metadata.get("course", {}).get("caption") or SENTENCE.findall(alt)[0]
    caption = MARKDOWN_SIGN.sub(r"\\\1", caption)
    figure = {
        "caption": f"**Figure {number}.** {caption}",
        "name": f"figure-{number.replace('.', '-')}",
        "classes": "view" if is_view else "diagram",
    }
    cell.metadata["mystnb"] = {"image": {"alt": alt}, "figure": figure}


def _alternative_text(cell_id: str, diagram: str) -> str | None:
    try:
        return ElementTree.fromstring(DRAWING.findall(diagram)[0]).get("aria-label")
    except (ElementTree.ParseError, IndexError) as error:
        raise PublishError(f"the picture of the cell {cell_id} cannot be drawn ({error})") from None


def _in_a_box(diagram: str) -> str:
    """A diagram in a <div> instead of its <figure>, since the book puts it into one of its own.

    The width of its drawing, in units of the viewBox, goes to the stylesheet as --wide.
    """
    width = re.search(r'viewBox="0 0 ([\d.]+)', diagram)
    style = f' style="--wide:{width[1]}"' if width else ""
    return DIAGRAM.sub(rf'<div \1class="cu-diagram"{style}>\2</div>', diagram)
