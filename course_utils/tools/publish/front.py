"""The first page of the book: a picture of what the course is about, and a card for each lesson."""

import base64
import io
import re
from pathlib import Path

from ..._support.notebooks import ROUTES
from ..workspace.overview import Overview
from ..workspace.overview import lessons as stated
from .figures import DRAWING, without_blank_lines

FOLDER = Path(__file__).parent
WIDTH = 640  # pixels of a card's picture: twice as many as it is wide


def _count(number, thing):
    return f"{number} {thing}{'s' * (number != 1)}"


def _art(name, notebook, folder):
    """The picture of a card as Markdown: the lesson's first drawing, else its first picture, else its number.

    A drawing stands in the page, without what is written for screen readers: the card's link says enough. A picture is
    written to the folder, as small as it is shown.
    """
    import PIL.Image

    outputs = [output for cell in notebook.cells if "mystnb" in cell.metadata for output in cell.outputs]
    shown = [output.data for output in outputs if "data" in output]
    for data in shown:
        if drawing := DRAWING.search(data.get("text/html", "")):
            return without_blank_lines(re.sub(r'\s+(role|aria-label)="[^"]*"', "", drawing[0]))
    for data in shown:
        picture = PIL.Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).convert("RGB")
        picture.thumbnail((WIDTH, WIDTH))
        picture.quantize(128).save(folder / f"{name}.png", optimize=True)
        return f"\n![]({name}.png)\n"
    return f'<div class="number">{name[:2]}</div>'


def title_page(lessons, folder, sources, extras=""):
    """The first page as Markdown: a picture, an introduction, and each lesson with its minutes and exercises.

    Pictures of the cards are written to the folder of the book's sources.
    """
    parts = ("templates/index.txt", "templates/card.txt", "book/hero.svg")
    page, card, hero = ((FOLDER / part).read_text(encoding="utf-8") for part in parts)
    cards, facts_of, titles = [], {}, {}
    for name, notebook in lessons.items():
        text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        title, minutes = re.search(r"^# (.+)$", text, re.MULTILINE), re.search(r"About (\d+) minutes", text)
        titles[name] = title[1] if title else name
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        exercises = sum(cell.metadata.get("nbgrader", {}).get("solution", False) for cell in code)
        facts = [f"{minutes[1]} minutes"] if minutes else []
        facts_of[name] = " · ".join(facts + ([_count(exercises, "exercise")] if exercises else []))
    cores = [name for name in lessons if "/" not in name]
    for name in cores:
        facts = facts_of[name] if name != "glossary" else "Each term in a sentence or two"
        further = [other for other in lessons if Path(other).name[:2] == name[:2] and other not in cores]
        if further:
            listed = "".join(f"<li>\n\n[{titles[one][3:]}]({one}.ipynb) · {facts_of[one]}\n\n</li>" for one in further)
            facts += f'\n\n<ul class="further" aria-label="Further parts">{listed}</ul>'
        art = _art(name, lessons[name], folder)
        cards.append(card.format(art=art, title=titles[name], name=name, facts=facts))
    hours = Overview(stated(sources), frozenset()).hours
    return page.format(
        hero=hero.strip(),
        count=len(set(cores) - {"glossary"}),
        numbers=", ".join(ROUTES["one day"]),
        **{route.split()[-1]: _count(number, "hour") for route, number in hours.items()},
        extras=extras,
        cards="\n\n".join(cards),
        names="\n".join([*cores, "literature"]),
    )
