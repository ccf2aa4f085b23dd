"""Code and printed text of the book, line by line: how wide a listing is, and where a line that is too long goes on.

The stylesheet does the rest, for a page of any width (see "Listings" in book.css): a listing is set smaller until its
longest line fits, down to a readable size; then lines wrap, except in a table, which scrolls.
"""

import html
import re
import unicodedata

LISTING = re.compile(
    r'(<div class="[^"]*highlight-([\w-]+) notranslate"><div class="highlight">)<pre>(.*?)</pre>', re.DOTALL
)
TAG = re.compile(r"<[^>]*>")
GAP = re.compile(r"(?<=\S) {2,}(?=\S)")  # between two columns
CODE = ("ipython3", "python")


def width(text):
    """The columns that a line takes."""
    return sum(1 + (unicodedata.east_asian_width(sign) in "WF") for sign in text if not unicodedata.combining(sign))


def last_column(line):
    """Where the last column of a line begins: 0 if it has only one."""
    gaps = [gap.end() for gap in GAP.finditer(line)]
    return gaps[-1] if gaps else 0


def kind_of(language, lines):
    """ "code", "text" or "table": text in columns, unless its long lines end in words, which can go on below."""
    if language in CODE:
        return "code"
    written = [line for line in lines if line.strip()]
    if sum(bool(GAP.search(line.strip())) for line in written) < max(2, len(written) / 2):
        return "text"
    ends = [line[last_column(line) :] for line in written if width(line) > 0.8 * max(map(width, written))]
    return "text" if all(len(re.findall(r"[^\W\d]{2,}", end)) >= 3 for end in ends) else "table"


def hang(kind, line):
    """How many columns the rest of a line that wraps stands in from the left."""
    indent = len(line) - len(line.lstrip())
    column = last_column(line)
    return column if kind == "text" and 0 < column <= 24 else min(indent + (4 if kind == "code" else 2), 20)


def set_listings(page):
    """A page of HTML with its listings set line by line."""

    def mark(match):
        start, language, inner = match.groups()
        inner = inner.removeprefix("<span></span>")
        lines = [html.unescape(TAG.sub("", line)) for line in inner.splitlines()]
        kind = kind_of(language, lines)
        rows = "".join(
            f'<span class="line" style="--hang:{hang(kind, line)}">{row}\n</span>'
            for row, line in zip(inner.splitlines(), lines)
        )
        columns = max([width(line) for line in lines], default=0)
        return f'{start}<pre class="{kind}" style="--columns:{columns}">{rows}</pre>'

    return LISTING.sub(mark, page)
