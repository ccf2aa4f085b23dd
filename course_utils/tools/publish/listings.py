"""Code and printed text of the book, line by line.

This decides how wide a listing is, and where a line that is too long goes on.
The stylesheet does the rest, for a page of any width (see "Listings" in book.css): a listing is set
smaller until its longest line fits, down to a readable size; then lines wrap, except the rows of a
table, which scrolls.
"""

import html
import re
import unicodedata

# a block of code as Sphinx writes it; groups: what opens it, its language, and what is inside
LISTING = re.compile(
    r'(<div class="[^"]*highlight-([\w-]+) notranslate"><div class="highlight">)<pre>(.*?)</pre>',
    re.DOTALL,
)
TAG = re.compile(r"<[^>]*>")
GAP = re.compile(r"(?<=\S) {2,}(?=\S)")  # between two columns
# of two letters at least, perhaps with punctuation behind it
WORD = re.compile(r"(?<!\S)[^\W\d_]{2,}[.,;:!?]*(?!\S)")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d.,/]*")
# after an opening bracket, a comma, = or a dot that is not a decimal point; not before a closing
# bracket or another such sign; and outside tags
BREAK = re.compile(r"([(\[{,]|=+|\.(?!\d))(?![)\]},.:=])(?=[^<>]*(?:<|$))")
# of listings, by language; others depend on their lines
KINDS = {"ipython3": "code", "python": "code", "ipythontb": "text"}
FURTHEST_COLUMN = 24  # of printed text: below one that begins further right there is no room
WRAP_INDENT = {"code": 4, "text": 2, "table": 2}  # further in than the line itself
MOST_INDENT = 20  # columns: deeper ones would leave no room


def set_listings(page: str) -> str:
    """A page of HTML with its listings set line by line.

    Each line becomes a <span class="line"> whose style --hang says where it goes on, and the <pre>
    gets its kind as its class (see `kind_of`) and its width, in columns, as --columns.
    """
    return LISTING.sub(_set_listing, page)


def _set_listing(match: re.Match[str]) -> str:
    start, language, inner = match.groups()
    # Pygments puts an empty span first
    html_lines = inner.removeprefix("<span></span>").splitlines()
    lines = [html.unescape(TAG.sub("", html_line)) for html_line in html_lines]
    kind = kind_of(language, lines)
    widest_row = max(map(width, table_rows(lines)), default=0)
    shown_lines = []
    columns = 0  # of the longest line that counts for the width
    for html_line, line in zip(html_lines, lines):
        # above or below the rows of a table: it does not count for the width, and wraps
        is_sentence = (
            kind == "table"
            and not column_starts(line)
            and (is_prose(line) or width(line) > widest_row)
        )
        css_class = "line"
        if set(line) == {"-"}:
            css_class = "line rule"
        elif is_sentence:
            css_class = "line sentence"
        else:
            columns = max(columns, width(line))
        content = breakable(html_line) if kind == "code" else html_line
        shown_lines.append(
            f'<span class="{css_class}" style="--hang:{hang(kind, line)}">{content}\n</span>'
        )
    return f'{start}<pre class="{kind}" style="--columns:{columns}">{"".join(shown_lines)}</pre>'


def width(text: str) -> int:
    """The columns that a line takes: two for a wide sign, none for a combining one."""
    signs = [sign for sign in text if not unicodedata.combining(sign)]
    return len(signs) + sum(unicodedata.east_asian_width(sign) in "WF" for sign in signs)


def column_starts(line: str) -> list[int]:
    """Where the columns of a line begin, without the first; [] for a line of one column."""
    return [gap.end() for gap in GAP.finditer(line)]


def is_prose(text: str) -> bool:
    """Whether a text is prose, which can go on below.

    At least half of it is words, three or more, and at most one is a number.
    """
    has_words = len(WORD.findall(text)) >= max(3, len(text.split()) / 2)
    return has_words and len(NUMBER.findall(text)) <= 1


def table_rows(lines: list[str]) -> list[str]:
    """The lines in columns whose last column is no prose."""
    return [line for line in lines if column_starts(line) and not is_prose(GAP.split(line)[-1])]


def kind_of(language: str, lines: list[str]) -> str:
    """What a listing is: "code", "text" or "table".

    language: as in KINDS. lines: the listing's text, without tags.

    In a table, half of the lines, and at least two, are rows (see `table_rows`), or one row has at
    least three numbers.
    """
    if language in KINDS:
        return KINDS[language]
    rows = table_rows(lines)
    lines_with_text = sum(bool(line.strip()) for line in lines)
    has_enough_rows = len(rows) >= max(2, lines_with_text / 2)
    has_three_numbers = any(len(NUMBER.findall(row)) >= 3 for row in rows)
    return "table" if has_enough_rows or has_three_numbers else "text"


def hang(kind: str, line: str) -> int:
    """How many columns the rest of a line that wraps stands in from the left.

    kind: of the listing, as `kind_of` returns it. line: its text, without tags.
    In printed text it stands below the last column that is not too far right, if there is one.
    """
    near_starts = [start for start in column_starts(line) if start <= FURTHEST_COLUMN]
    if kind == "text" and near_starts:
        return near_starts[-1]
    indent = len(line) - len(line.lstrip())
    return min(indent + WRAP_INDENT[kind], MOST_INDENT)


def breakable(html_line: str) -> str:
    """A line of code in HTML that can go on below after a dot, an opening bracket and the like.

    Its text stays the same: a <wbr> stands where it may break (see BREAK).
    """
    return BREAK.sub(r"\1<wbr>", html_line)
