"""The figures of the book: pictures, diagrams and attention views get a number and a caption, and are checked."""

import base64
import io
import re
from xml.etree import ElementTree

DRAWING = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
DIAGRAM = re.compile(r'<figure ((?:data-\w+="[^"]*" )*)class="cu-(?:diagram|figure)"[^>]*>(.*?)</figure>', re.DOTALL)
SENTENCE = re.compile(r"(?:\S+\s+){4,}?\S*[.?!](?=\s|$)|.+", re.DOTALL)  # of five words; "Line chart." says too little


def figure_in(cell):
    """The output of a cell that is a figure: ("png", "diagram" or "view", output), or (None, None)."""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "<iframe" in data.get("text/html", ""):
            return "view", output
        if DIAGRAM.search(data.get("text/html", "")):
            return "diagram", output
        if "image/png" in data:
            return "png", output
    return None, None


def without_blank_lines(drawing):
    """A drawing that can stand in Markdown, where a blank line would end it."""
    return re.sub(r"\n\s*(?=\n)", "", drawing)


def number_figures(cells, chapter):
    """Give each figure of a lesson its number, such as 5.3, and its caption, and fold the code that draws it.

    The caption is the cell's metadata `course.caption` or else the first sentence of the alternative text.
    Raises ValueError, with the cell's id, for a figure that cannot be drawn or has no alternative text.
    """
    number = 0
    for cell in cells:
        kind, output = figure_in(cell)
        if not kind:
            continue
        if sum("data" in other for other in cell.outputs) > 1:
            raise ValueError(f"the cell {cell.id} shows a picture and something else, and each needs a cell of its own")
        alt, number = _alternative(cell.id, kind, output), number + 1
        tags = cell.metadata.setdefault("tags", [])
        if not {"hide-input", "remove-input"} & {*tags}:
            tags.append("hide-input")
        caption = cell.metadata.get("course", {}).get("caption") or SENTENCE.match(alt)[0]
        caption = re.sub(r"([\\`*_{}\[\]<>$|~#&])", r"\\\1", caption)
        cell.metadata["mystnb"] = {
            "image": {"alt": alt},
            "figure": {"caption": f"**Figure {chapter}.{number}.** {caption}", "name": f"figure-{chapter}-{number}",
                       "classes": kind},
        }  # fmt: skip
        if kind == "diagram":  # it stands in the book's own figure, which is told how wide it is drawn
            wide = re.search(r'viewBox="0 0 ([\d.]+)', output.data["text/html"])
            style = f' style="--wide:{wide[1]}"' if wide else ""
            as_box = rf'<div \1class="cu-diagram"{style}>\2</div>'
            output.data["text/html"] = DIAGRAM.sub(as_box, output.data["text/html"])


def _alternative(name, kind, output):
    """The alternative text of a figure that can be drawn."""
    import PIL.Image

    alt = output.metadata.get("image/png", {}).get("alt", "")
    try:
        if "image/png" in output.data:
            PIL.Image.open(io.BytesIO(base64.b64decode(output.data["image/png"]))).verify()
        if kind == "diagram":
            alt = ElementTree.fromstring(DRAWING.search(output.data["text/html"])[0]).get("aria-label", "")
    # Pillow's own error for what is no picture is an OSError
    except (OSError, SyntaxError, ValueError, TypeError) as error:
        raise ValueError(f"the picture of the cell {name} cannot be drawn ({type(error).__name__})") from None
    if not alt:
        raise ValueError(f"the cell {name} shows a picture that has no alt text")
    return alt
