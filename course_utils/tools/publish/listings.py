"""Code and printed text of the book, line by line.

This decides how wide a listing is, and where a line that is too long goes on.
The stylesheet does the rest, for a page of any width (see "Listings" in book.css): a listing is set
smaller until its longest line fits, down to a readable size; then lines wrap, except the rows of a
table, which scrolls.
"""

import html
import re
import unicodedata

LISTING = re.compile(
    r'(<div class="[^"]*highlight-([\w-]+) notranslate"><div class="highlight">)<pre>(.*?)</pre>',
    re.DOTALL,
)
TAG = re.compile(r"<[^>]*>")
GAP = re.compile(r"(?<=\S) {2,}(?=\S)")  # between two columns
WORD = re.compile(r"(?<!\S)[^\W\d_]{2,}[.,;:!?]*(?!\S)")  # perhaps with punctuation behind it
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d.,/]*")
# after a dot, an opening bracket and the like, outside tags
BREAK = re.compile(r"([(\[{,]|=+|\.(?!\d))(?![)\]},.:=])(?=[^<>]*(?:<|$))")
# of listings, by language; others depend on their lines
KINDS = {"ipython3": "code", "python": "code", "ipythontb": "text"}


def set_listings(page: str) -> str:
    """A page of HTML with its listings set line by line."""
    return LISTING.sub(_listing, page)


def _listing(match: re.Match[str]) -> str:
    start, language, inner = match.groups()
    rows = inner.removeprefix("<span></span>").splitlines()
    lines = [html.unescape(TAG.sub("", row)) for row in rows]
    kind = kind_of(language, lines)
    widest_row = max(map(width, rows_in(lines)), default=0)
    shown, columns = [], 0
    for row, line in zip(rows, lines):
        css_class = "line"
        if set(line) == {"-"}:
            css_class = "line rule"
        elif kind == "table" and not starts(line) and (is_prose(line) or width(line) > widest_row):
            # above or below the rows; if it is too long, it goes on below
            css_class = "line sentence"
        else:
            columns = max(columns, width(line))
        if kind == "code":
            row = breakable(row)
        shown.append(f'<span class="{css_class}" style="--hang:{hang(kind, line)}">{row}\n</span>')
    return f'{start}<pre class="{kind}" style="--columns:{columns}">{"".join(shown)}</pre>'


def width(text: str) -> int:
    """The columns that a line takes."""
    signs = [sign for sign in text if not unicodedata.combining(sign)]
    return len(signs) + sum(unicodedata.east_asian_width(sign) in "WF" for sign in signs)


def starts(line: str) -> list[int]:
    """Where the columns of a line after the first begin."""
    return [gap.end() for gap in GAP.finditer(line)]


def is_prose(text: str) -> bool:
    """Whether a text is words, which can go on below, and not numbers."""
    has_words = len(WORD.findall(text)) >= max(3, len(text.split()) / 2)
    return has_words and len(NUMBER.findall(text)) <= 1


def rows_in(lines: list[str]) -> list[str]:
    """The lines in columns whose last column is no prose."""
    return [line for line in lines if starts(line) and not is_prose(line[starts(line)[-1] :])]


def kind_of(language: str, lines: list[str]) -> str:
    """What a listing is: "code", "text" or "table".

    In a table, half of the lines, and at least two, are rows, or one row has three numbers.
    """
    if language in KINDS:
        return KINDS[language]
    rows = rows_in(lines)
    not_blank = sum(bool(line.strip()) for line in lines)
    has_three_numbers = any(len(NUMBER.findall(row)) >= 3 for row in rows)
    return "table" if has_three_numbers or len(rows) >= max(2, not_blank / 2) else "text"


def hang(kind: str, line: str) -> int:
    """How many columns the rest of a line that wraps stands in from the left.

    In printed text it stands below the last column that begins within 24 characters, if there is
    one.
    """
    column_starts = [start for start in starts(line) if start <= 24]
    if kind == "text" and column_starts:
        return column_starts[-1]
    # further in than the line itself
    indent = len(line) - len(line.lstrip()) + (4 if kind == "code" else 2)
    return min(indent, 20)  # or deeply indented lines would have no room


def breakable(row: str) -> str:
    """A row of code in HTML that can go on below after a dot, an opening bracket and the like.

    Its text stays.
    """
    return BREAK.sub(r"\1<wbr>", row)
