"""Code and emphasis in messages, as HTML."""

import html
import re

# *one* or *two words*, and no product
EMPHASIS = re.compile(r"(?<![\w*])\*([a-z]+(?: [a-z]+)?)\*(?![\w*])")


def code_marks(message: str) -> str:
    """A message as HTML: code stands between backticks, emphasis between asterisks."""
    parts = re.split(r"`([^`]+)`", html.escape(message))
    parts[0::2] = [EMPHASIS.sub(r"<em>\1</em>", text) for text in parts[0::2]]
    parts[1::2] = [f"<code>{code}</code>" for code in parts[1::2]]
    return "".join(parts)
