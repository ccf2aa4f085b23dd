"""Other formats of the lessons: the lecture deck, the book, question banks, cards, copies for
Colab.
"""

from pathlib import Path

import jinja2

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates", encoding="utf-8"),
    autoescape=lambda name: bool(name) and name.endswith(".xml.j2"),
    trim_blocks=True,
    undefined=jinja2.StrictUndefined,
)


class PublishError(RuntimeError):
    """Something cannot be published. The message is one sentence."""
