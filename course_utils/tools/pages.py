"""Texts and pages that are made from templates in FOLDERS."""

from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from .._support.marks import code_marks

HERE = Path(__file__).parent
FOLDERS = [HERE / "templates", HERE / "publish" / "templates", HERE / "workspace"]
TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(FOLDERS, encoding="utf-8"),
    autoescape=lambda name: bool(name) and name.endswith((".html.j2", ".xml.j2")),
    trim_blocks=True,
    keep_trailing_newline=True,
    undefined=jinja2.StrictUndefined,
)


def marked(message: str) -> Markup:
    """A message as HTML, in which code and emphasis are marked: the filter `marked`.

    `code_marks` escapes the message, so the result is safe HTML.
    """
    return Markup(code_marks(message))


TEMPLATES.filters["marked"] = marked


def filled(template: str, **values: Any) -> str:
    """The text of a template with these values.

    template: its file's name in one of FOLDERS. In a template of HTML or XML, values are escaped,
    but for Markup. Raises jinja2.UndefinedError if the template needs a value that is missing.
    """
    return TEMPLATES.get_template(template).render(**values)
