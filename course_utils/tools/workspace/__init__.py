"""A learner's workspace: copies of the lessons, updates, progress."""

from pathlib import Path
from typing import Any


def page(name: str, **values: Any) -> str:
    """A page made from a template in this folder; texts are escaped, and code in them is marked by
    the filter `marks`.
    """
    from jinja2 import Environment  # slow to import
    from markupsafe import Markup

    from ..._support.marks import code_marks

    def marks(message: str) -> Markup:
        return Markup(code_marks(message))

    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    pages = Environment(autoescape=True, trim_blocks=True)
    pages.filters["marks"] = marks
    return pages.from_string(text).render(**values)
