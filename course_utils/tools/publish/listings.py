"""Code and printed text of the book, line by line: how wide a listing is, and where a line that is too long goes on.

The stylesheet does the rest, for a page of any width (see "Listings" in book.css): a listing is set smaller until its
longest line fits, down to a readable size; then lines wrap, except the rows of a table, which scrolls.
"""

import html
import re
import unicodedata

LISTING = re.compile(
    r'(<div class="[^"]*highlight-([\w-]+) notranslate"><div class="highlight">)<pre>(.*?)</pre>', re.DOTALL
)
TAG = re.compile(r"<[^>]*>")
GAP = re.compile(r"(?<=\S) {2,}(?=\S)")  # between two columns
WORD, NUMBER = re.compile(r"(?<!\S)[^\W\d_]{2,}[.,;:!?]*(?!\S)"), re.compile(r"(?<![\w.])[-+]?\d[\d.,/]*")
# after a dot, an opening bracket and the like, outside tags
BREAK = re.compile(r"([(\[{,]|=+|\.(?!\d))(?![)\]},.:=])(?=[^<>]*(?:<|$))")
KINDS = {"ipython3": "code", "python": "code", "ipythontb": "text"}  # others depend on their lines


def width(text):
    """The columns that a line takes."""
    return sum(1 + (unicodedata.east_asian_width(sign) in "WF") for sign in text if not unicodedata.combining(sign))


def starts(line):
    """Where the columns of a line after the first begin."""
    return [gap.end() for gap in GAP.finditer(line)]


def is_prose(text):
    """Whether a text is words, which can go on below, and not numbers."""
    words = len(WORD.findall(text))
    return words >= max(3, len(text.split()) / 2) and len(NUMBER.findall(text)) <= 1


def rows_in(lines):
    """The lines in columns whose last column is no prose."""
    return [line for line in lines if starts(line) and not is_prose(line[starts(line)[-1] :])]


def kind_of(language, lines):
    """ "code", "text" or "table": half of the lines, and at least two, are rows, or one row has three numbers."""
    if language in KINDS:
        return KINDS[language]
    rows = rows_in(lines)
    many = len(rows) >= max(2, sum(map(bool, map(str.strip, lines))) / 2)
    return "table" if many or any(len(NUMBER.findall(row)) >= 3 for row in rows) else "text"


def is_sentence(line, widest_row):
    """Whether a line of a table stands above or below its rows; if it is too long, it goes on below."""
    return not starts(line) and (is_prose(line) or width(line) > widest_row)


def hang(kind, line):
    """How many columns the rest of a line that wraps stands in from the left."""
    indent = len(line) - len(line.lstrip())
    narrow = [start for start in starts(line) if start <= 24]
    return narrow[-1] if kind == "text" and narrow else min(indent + (4 if kind == "code" else 2), 20)


def breakable(row):
    """A row of code in HTML that can go on below after a dot, an opening bracket and the like: the text stays."""
    return BREAK.sub(r"\1<wbr>", row)


def set_listings(page):
    """A page of HTML with its listings set line by line."""

    def mark(match):
        start, language, inner = match.groups()
        inner = inner.removeprefix("<span></span>")
        lines = [html.unescape(TAG.sub("", line)) for line in inner.splitlines()]
        kind = kind_of(language, lines)
        widest_row = max(map(width, rows_in(lines)), default=0)
        rows, columns = [], 0
        for row, line in zip(inner.splitlines(), lines):
            name = "line"
            if set(line) == {"-"}:
                name += " rule"
            elif kind == "table" and is_sentence(line, widest_row):
                name += " sentence"
            else:
                columns = max(columns, width(line))
            row = breakable(row) if kind == "code" else row
            rows.append(f'<span class="{name}" style="--hang:{hang(kind, line)}">{row}\n</span>')
        return f'{start}<pre class="{kind}" style="--columns:{columns}">{"".join(rows)}</pre>'

    return LISTING.sub(mark, page)
