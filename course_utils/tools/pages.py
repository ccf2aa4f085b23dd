"""Texts and pages that are made from templates, which stand in folders of this package."""

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
    """A message as HTML, in which code and emphasis are marked: the filter `marked`."""
    return Markup(code_marks(message))


TEMPLATES.filters["marked"] = marked


def filled(template: str, **values: Any) -> str:
    """The text of a template with these values. Those in HTML and XML are escaped."""
    return TEMPLATES.get_template(template).render(**values)
