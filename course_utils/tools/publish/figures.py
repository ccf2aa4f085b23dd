"""The figures of the book: drawings and attention views get a number and a caption, and are
checked.
"""

import re
from xml.etree import ElementTree

from nbformat import NotebookNode

from . import PublishError

DRAWING = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
# the attributes data-..., and what is inside
DIAGRAM = re.compile(
    r'<figure ((?:data-\w+="[^"]*" )*)class="cu-(?:diagram|figure)"[^>]*>(.*?)</figure>', re.DOTALL
)
# the first sentence of five words at least, since "Line chart." says too little; else all
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
        if "<iframe" in page:
            kind, alt = "view", shown[0].metadata.get("image/png", {}).get("alt", "")
        else:
            kind, alt = "diagram", _alternative_text(cell.id, page)
            shown[0].data["text/html"] = _in_a_box(page)
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


def _alternative_text(cell_id: str, diagram: str) -> str | None:
    try:
        return ElementTree.fromstring(DRAWING.findall(diagram)[0]).get("aria-label")
    except (ElementTree.ParseError, IndexError) as error:
        raise PublishError(f"the picture of the cell {cell_id} cannot be drawn ({error})") from None


def _in_a_box(diagram: str) -> str:
    """A diagram without its own figure, since it stands in one of the book's.

    The stylesheet gets the width with which it is drawn.
    """
    width = re.search(r'viewBox="0 0 ([\d.]+)', diagram)
    style = f' style="--wide:{width[1]}"' if width else ""
    return DIAGRAM.sub(rf'<div \1class="cu-diagram"{style}>\2</div>', diagram)
