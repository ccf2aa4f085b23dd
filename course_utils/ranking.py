"""Search by words, fused lists, chunks, late interaction, and measures of ranked lists. Derived in
lesson 12.

Lesson 14 cuts texts with a simpler form of `sections`.
"""

import re
import unicodedata
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import regex
from numpy.typing import ArrayLike

from ._support.tables import strings_of

FUSION = 60  # the constant of reciprocal rank fusion
# such as soft hyphens, joiners, marks of direction
INVISIBLE = regex.compile(r"\p{Default_Ignorable_Code_Point}")
WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*")
FRONT_MATTER = re.compile(  # YAML with keys at the top
    r"""(?:\#.*\n)*  # comments
    (?:
        [\w"'$.][^:\n]*:(?:[ \t].*)?\n  # a key, perhaps with its value
        (?:(?:[ \t\#-].*)?\n)*  # its indented, listed or commented lines
    )*""",
    re.VERBOSE,
)
# three letters of a script that puts no spaces between words
UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]{3}"
)


def words(text: str) -> list[str]:
    """The words of a text in lower case, as a list: runs of letters and digits, split at
    underscores, too.

    Spellings that look alike are one (Unicode's NFKC): "ﬁle" is "file", however an accent is
    encoded. Invisible characters such as soft hyphens are left out, and marks stay with their
    letters. In Chinese, Japanese, Thai and other scripts without spaces, a whole phrase is one
    word.
    """
    # U+200B, a space without width, is invisible, but parts words
    visible = INVISIBLE.sub("", unicodedata.normalize("NFKC", text).replace("\u200b", " "))
    # the small form of a Turkish dotted capital I is an i and a dot above, U+0307
    return WORD.findall(visible.lower().replace("i\u0307", "i"))


def bm25_parts(
    counts: np.ndarray,
    lengths: np.ndarray,
    mean_length: float,
    containing: np.ndarray | int,
    texts: int,
    k1: float = 1.5,
    b: float = 0.75,
) -> tuple[np.ndarray, np.ndarray]:
    """The two factors of a word's score in `bm25`: how rare it is, and how much its occurrences are
    worth, from 0 to 1.

    counts, lengths: how often it occurs in each of some texts, and how many words each has.
    mean_length: of all texts, in words. containing: how many of all `texts` (a number) have it.
    k1, b: as in `bm25`. Arrays may be of several words: see there.

    Returns (rarity, worth): as `containing`, and as `counts`.
    """
    rarity = np.log(1 + (texts - containing + 0.5) / (containing + 0.5))
    return rarity, counts / (counts + k1 * (1 - b + b * lengths / mean_length))


def bm25(
    queries: Iterable[str], texts: Iterable[str], k1: float = 1.5, b: float = 0.75
) -> np.ndarray:
    """How well the words of each text match those of each query: an array (queries, texts), 0 for
    no shared word.

    queries, texts: lists of strings. k1: how slowly further occurrences of a word lose in value, 0
    or more. b: how much length counts, from 0 to 1.

    BM25 as Robertson and Zaragoza (2009, section 3.4) have it, without the constant factor k1 + 1
    and with an inverse document frequency that is never negative, as in Lucene. Equal to bm25s with
    method="lucene".

    Warns of scripts without spaces (see `words`), where phrases are compared as a whole. Raises
    TypeError for what is no list of strings, ValueError for no texts or numbers out of range.
    """
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import CountVectorizer

    queries, texts = strings_of(queries, "queries"), strings_of(texts, "texts")
    if k1 < 0 or not 0 <= b <= 1:
        raise ValueError(f"k1 must be 0 or more and b between 0 and 1; got {k1} and {b}")
    if not len(texts):
        raise ValueError("there are no texts to search")
    unspaced = next(filter(None, map(UNSPACED.search, [*queries, *texts])), None)
    if unspaced:
        warnings.warn(
            f"{unspaced[0]!r}: some of this is in a script without spaces, where bm25 takes a "
            "whole phrase as one word. Put spaces between the words, or search by vectors",
            stacklevel=2,
        )
    if not any(words(text) for text in texts):
        return np.zeros((len(queries), len(texts)))
    counter = CountVectorizer(analyzer=words)
    counts = csr_array(counter.fit_transform(texts), dtype=np.float64)
    lengths = counts.sum(axis=1)
    containing = np.diff(counts.tocsc().indptr)  # of each word
    text_of = np.repeat(np.arange(len(texts)), np.diff(counts.indptr))  # of each entry in `counts`
    rarity, worth = bm25_parts(
        counts.data, lengths[text_of], lengths.mean(), containing, len(texts), k1, b
    )
    # from here on, `counts` holds scores
    counts.data = rarity[counts.indices] * worth
    return (csr_array(counter.transform(queries), dtype=np.float64) @ counts.T).toarray()


def reciprocal_rank_fusion(
    *rankings: Iterable[Iterable[int]], c: float = FUSION
) -> list[list[int]]:
    """The places in several rankings, fused by their ranks alone: the sum of 1 / (c + rank).

    rankings: for each query a list of places, the best first, of any length.
    c: 60 in Cormack, Clarke and Büttcher (2009, section 2); the larger, the less the first places
    count.

    Returns for each query a list of all its places, by descending sum. Those with equal sums keep
    the order in which the rankings have them, the first ranking first. Raises ValueError for
    unequal numbers of queries.
    """
    fused = []
    for lists in zip(*rankings, strict=True):
        sums = reciprocal_sums(lists, c)
        fused.append(sorted(sums, key=lambda place: -sums[place]))
    return fused


def reciprocal_sums(lists: Iterable[Iterable[int]], c: float = FUSION) -> dict[int, float]:
    """{place: the sum of 1 / (c + its rank)} over several lists of places, the best first."""
    sums: dict[int, float] = {}
    for places in lists:
        for rank, place in enumerate(places, start=1):
            sums[int(place)] = sums.get(int(place), 0) + 1 / (c + rank)
    return sums


def chunks(text: str, size: int = 128, step: int | None = None) -> list[str]:
    """Windows of `size` words, one every `step` words (`size` if omitted), as a list of strings.

    The last one ends with the text and may be shorter. A text of at most `size` words is one
    window, an empty text is one empty window: each text has at least one. Words are separated by
    white space, which becomes one blank.

    Raises ValueError for a size below 1 or a step that is not between 1 and `size` (words would be
    left out).
    """
    step = size if step is None else step
    if size < 1 or not 1 <= step <= size:
        raise ValueError(
            f"size must be 1 or more and step between 1 and size; got {size} and {step}"
        )
    all_words = text.split()
    # the last start is the first whose window reaches the end
    starts = range(0, max(1, len(all_words) - size + step), step)
    return [" ".join(all_words[start : start + size]) for start in starts]


def sections(markdown: str, size: int = 128, name: str = "") -> list[str]:
    """Markdown, cut at its headings: windows of `size` words, each below its path of headings, as a
    list of strings.

    markdown: a text. Its headings are those of CommonMark, with # or underlined, but not in code, a
    list or a quotation. name: the beginning of each path, such as the path of the file.

    Each piece is the path ("notes.md > Disk > When it is full"), a line break, and a window of the
    text between this heading and the next one. The words of the path do not count for `size`; a
    heading that repeats one above it is not repeated there. A heading without a text is a piece by
    itself, or, if a deeper heading follows, only part of the paths below it. Front matter (YAML
    between two lines ---, at the very beginning) is left out, except that its title is part of each
    path. Each text has at least one piece, which may be empty.

    Raises ValueError for a size below 1.
    """
    from markdown_it import MarkdownIt

    lines = re.sub(r"\r\n?", "\n", markdown.removeprefix("\ufeff")).split("\n")
    title, lines = _front_matter(lines)
    # Parsing the text inside blocks ("inline") would take long, and headings are taken as typed.
    tokens = MarkdownIt("commonmark").disable("inline").parse("\n".join(lines))
    headings = []  # (level, its first line, the line below it, text) of each
    for token, inline in zip(tokens, tokens[1:]):  # a heading's text is the token after its start
        if token.type == "heading_open" and token.level == 0 and token.map:
            # the level of "h2" is 2
            headings.append((int(token.tag[1:]), *token.map, " ".join(inline.content.split())))
    # start: the first line below the heading before. path: (level, text) of each heading above,
    # after the name and the title
    pieces, start, path = [], 0, [(0, name), (0, title)]
    # the end of the text is like one more heading, of the highest level
    for level, heading_line, line_below, heading in [*headings, (0, len(lines), 0, "")]:
        windows = chunks("\n".join(lines[start:heading_line]), size)
        titles = " > ".join(dict.fromkeys(text for _, text in path if text))
        # a heading with a deeper one right below it is part of the path alone
        if windows != [""] or level <= path[-1][0]:
            pieces += ["\n".join(filter(None, (titles, window))) for window in windows]
        path = [(above, text) for above, text in path if above < level] + [(level, heading)]
        start = line_below
    return [piece for piece in pieces if piece] or [""]


def _front_matter(lines: list[str]) -> tuple[str, list[str]]:
    """(title, the lines below) of a text that may begin with front matter.

    A title that is not valid YAML, such as one with a colon, is taken literally, as is usual.
    """
    import yaml

    # the number of the first rule below line 0, or 0 if there is none
    end = next(
        (row for row, line in enumerate(lines) if row and line.rstrip() in ("---", "...")), 0
    )
    front = "".join(f"{line}\n" for line in lines[1:end])
    if not end or lines[0].rstrip() != "---" or not FRONT_MATTER.fullmatch(front):
        return "", lines  # text, perhaps between two rules
    title = ""
    # the title and the lines that belong to it
    if stated := re.search(r"^title:(.*)\n(?:[ \t#-].*\n|\n)*", front, re.MULTILINE):
        try:
            title = yaml.load(stated[0], Loader=yaml.BaseLoader)["title"]
        except yaml.YAMLError:
            title = stated[1].strip(" \t\"'")
    return " ".join(title.split()) if isinstance(title, str) else "", lines[end + 1 :]


def best_of_each(scores: ArrayLike, owners: ArrayLike) -> np.ndarray:
    """Scores of chunks (queries, chunks) -> scores of texts (queries, texts): each text has that of
    its best chunk.

    owners: for each chunk the place of its text, counted from 0 without gaps.

    Raises ValueError if a text has no chunk, or if there are no chunks.
    """
    owners = np.asarray(owners)
    if set(owners.tolist()) != set(range(owners.max() + 1)):
        raise ValueError("some text has no chunk: owners must hold every place from 0 on")
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(owners.max() + 1))
    return np.maximum.reduceat(np.asarray(scores)[:, order], starts, axis=1)


def max_sim(query_tokens: ArrayLike, text_tokens: ArrayLike) -> float:
    """Late interaction: each token of the query finds the most similar token of the text, and these
    cosines are added.

    query_tokens, text_tokens: unit vectors, (n, hidden) and (m, hidden), without padding; at least
    one token in the text (else ValueError).

    Returns a number (Khattab and Zaharia 2020, equation 3). Equal to
    sentence_transformers.util.maxsim.
    """
    return float((np.asarray(query_tokens) @ np.asarray(text_tokens).T).max(axis=1).sum())


def _checked(
    found: Sequence[Iterable[Any]], judged: Sequence[Any]
) -> Iterator[tuple[list[Any], Any]]:
    """Yield (the list of places, what is judged relevant) of each query.

    Raises ValueError as `reciprocal_ranks` does.
    """
    if len(found) != len(judged):
        raise ValueError(f"there are {len(found)} lists of results for {len(judged)} queries")
    for number, (results, relevant) in enumerate(zip(found, judged)):
        places = list(results)
        if not len(relevant):
            raise ValueError(
                f"query {number} has no relevant text, so no list is better than another: measure "
                "the others, and see by its scores whether such a query is turned away"
            )
        if len(set(places)) < len(places):
            raise ValueError(f"the list of query {number} holds a text twice")
        yield places, relevant


def reciprocal_ranks(
    found: Sequence[Iterable[Any]], relevant: Sequence[Collection[Any]], k: int = 10
) -> np.ndarray:
    """For each query, 1 / the rank of the first relevant text among the first k, or 0: an array
    (queries,).

    found: a list of places for each query, the best first. relevant: a collection of places for
    each query.

    Their mean is the mean reciprocal rank (Voorhees 1999, section 1). Raises ValueError for a query
    without a relevant text, a list that holds a text twice, or unequal numbers of queries.
    """
    values = []
    for places, right in _checked(found, relevant):
        ranks = (rank for rank, place in enumerate(places[:k], start=1) if place in right)
        values.append(1 / next(ranks, np.inf))  # 0 if there is none
    return np.array(values)


def recalls(
    found: Sequence[Iterable[Any]], relevant: Sequence[Collection[Any]], k: int = 10
) -> np.ndarray:
    """For each query, the share of its relevant texts that are among the first k. Arguments and
    errors as in `reciprocal_ranks`.
    """
    pairs = [(set(places[:k]), set(right)) for places, right in _checked(found, relevant)]
    return np.array([len(first & right) / len(right) for first, right in pairs])


def ndcgs(
    found: Sequence[Iterable[Any]], grades: Sequence[Mapping[Any, float]], k: int = 10
) -> np.ndarray:
    """For each query, the normalised discounted cumulative gain of the first k results: an array
    (queries,).

    found: a list of places for each query, the best first. grades: for each query a dict
    {place: grade above 0}; places that it lacks have grade 0.

    The grades, divided by log2(1 + rank) and added, over the sum of the best possible order
    (Järvelin and Kekäläinen 2002, section 3). Equal to sklearn.metrics.ndcg_score where no scores
    are equal. Errors as in `reciprocal_ranks`.
    """

    def gain(values: Iterable[float]) -> float:
        return sum(value / np.log2(1 + rank) for rank, value in enumerate(values, start=1))

    values = []
    for places, graded in _checked(found, grades):
        best = sorted(graded.values(), reverse=True)[:k]
        values.append(gain(graded.get(place, 0) for place in places[:k]) / gain(best))
    return np.array(values)
