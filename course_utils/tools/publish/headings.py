"""Headings of lessons and their anchors in the book."""

import re

HEADING = re.compile(r"^##+ (.+)$", re.MULTILINE)
TITLE = re.compile(r"^#{1,3} (.+)$", re.MULTILINE)


def jupyter_anchor(heading: str) -> str:
    """The anchor that JupyterLab gives a heading, so that links work in both."""
    return heading.replace(" ", "-")


def anchor_of(heading: str) -> str:
    """The anchor of a heading as it is written in a cell: with code, emphasis and links."""
    return jupyter_anchor(re.sub(r"[*`]|\[([^]]+)\]\([^)]*\)", r"\1", heading))
