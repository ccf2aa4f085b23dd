"""The figures of the book: drawings and attention views get a number and a caption, and are
checked.
"""

import re
from xml.etree import ElementTree

from nbformat import NotebookNode

from . import PublishError

DRAWING = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
DIAGRAM = re.compile(
    r'<figure ((?:data-\w+="[^"]*" )*)class="cu-(?:diagram|figure)"[^>]*>(.*?)</figure>', re.DOTALL
)
# of five words at least: "Line chart." says too little
SENTENCE = re.compile(r"(?:\S+\s+){4,}?\S*[.?!](?=\s|$)|.+", re.DOTALL)
MEANS_SOMETHING = re.compile(r"([\\`*_{}\[\]<>$|~#&])")  # to Markdown


def without_blank_lines(drawing: str) -> str:
    """A drawing that can stand in Markdown, where a blank line would end it."""
    return re.sub(r"\n\s*(?=\n)", "", drawing)


def number_figures(cells: list[NotebookNode], chapter: str) -> None:
    """Give each figure of a lesson its number, such as 5.3, and its caption, and fold the code that
    draws it.

    The caption is the cell's metadata `course.caption` or else the first sentence of the
    alternative text. Raises PublishError, with the cell's id, for a figure that cannot be drawn or
    has no alternative text.
    """
    number = 0
    for cell in cells:
        shown = [output for output in cell.get("outputs", []) if "data" in output]
        page = shown[0].data.get("text/html", "") if shown else ""
        if "<iframe" not in page and not DIAGRAM.search(page):
            continue
        number += 1
        output, kind = shown[0], "view"
        alt = output.metadata.get("image/png", {}).get("alt", "")
        if "<iframe" not in page:
            kind, alt = "diagram", _alternative_text(cell.id, page)
            output.data["text/html"] = _in_a_box(page)
        if not alt:
            raise PublishError(f"the cell {cell.id} shows a picture that has no alt text")
        tags = cell.metadata.setdefault("tags", [])
        if "hide-input" not in tags and "remove-input" not in tags:
            tags.append("hide-input")
        caption = cell.metadata.get("course", {}).get("caption") or SENTENCE.findall(alt)[0]
        caption = MEANS_SOMETHING.sub(r"\\\1", caption)
        figure = {
            "caption": f"**Figure {chapter}.{number}.** {caption}",
            "name": f"figure-{chapter}-{number}",
            "classes": kind,
        }
        cell.metadata["mystnb"] = {"image": {"alt": alt}, "figure": figure}


def _alternative_text(name, diagram):
    try:
        return ElementTree.fromstring(DRAWING.findall(diagram)[0]).get("aria-label")
    except (ElementTree.ParseError, IndexError) as error:
        raise PublishError(f"the picture of the cell {name} cannot be drawn ({error})") from None


def _in_a_box(diagram):
    """A diagram without its own figure: it stands in the book's, which is told how wide it is
    drawn.
    """
    wide = re.search(r'viewBox="0 0 ([\d.]+)', diagram)
    style = f' style="--wide:{wide[1]}"' if wide else ""
    return DIAGRAM.sub(rf'<div \1class="cu-diagram"{style}>\2</div>', diagram)
