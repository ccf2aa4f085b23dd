"""The glossary: its entries, its anchors, and one link per entry, from the term's first use in
running prose.

Running prose is what a learner reads as sentences in the lessons: paragraphs, lists and table rows.
It excludes headings, code, table headers, other links, quizzes, recaps, questions from memory,
further reading, the map of lesson 00, answers marked by hand, and, in a lesson's first cell, the
aims and the sentences about time and earlier lessons.
"""

import re
from pathlib import Path

import mistune
import nbformat
import pytest
from bs4 import BeautifulSoup

from course_utils._support.notebooks import NOTEBOOKS, name_of, parts

from .sources import SOURCES

GLOSSARY = nbformat.read(NOTEBOOKS / "glossary.ipynb", as_version=4)
LESSONS = {f"{name_of(path)}.ipynb": SOURCES[key] for key, path in parts().items()}
TERMS = [cell for cell in GLOSSARY.cells if cell.id.startswith("term-")]
NAMES = [cell.source.splitlines()[0].removeprefix("## ") for cell in TERMS]
ENTRIES = dict(zip(NAMES, TERMS))
HTML = mistune.create_markdown(escape=False, plugins=["table"])

WORDS = {  # how the lessons phrase it, if not just the term with an ending
    "anisotropy": "anisotropic|anisotropy",
    "bm25": "BM25",
    "cls token": r"`\[CLS\]`|CLS",
    "contextual vector": "contextual (vector|model)s?",
    "cosine similarity": "cosines?( similarity)?",
    "fine-tuning": "fine-tun(e|es|ed|ing)",
    "frozen": "frozen|freezes?|freezing",
    "glove": "GloVe",
    "held-out": "held[ -]out",
    "masked language model": "masked language model(s|ling)?",
    "ndcg": "nDCG",
    "normalising": "normali[sz](e|es|ed|ing|ation)",
    "padding": "pad(s|ded|ding)?",
    "pca": "PCA|principal components?( analysis)?",
    "pooling": "pool(s|ed|ing|ings)?",
    "pretraining": "pre-?train(ed|ing)",
    "query": "query|queries",
    "reciprocal rank": "(mean )?reciprocal ranks?|MRR",
    "spearman correlation": "Spearman('s)?( correlations?)?|rank correlations?",
    "stratified sampling": "stratified|stratify",
    "truncation": "truncat(e|es|ed|ing|ion)",
    "vocabulary": "vocabulary|vocabularies",
}
# words of the glossary in their everyday sense
EVERYDAY = "a bit (below|lucky)|these losses|make up for the loss"


# a sentence ends before a capital letter, before code, or with the text: not in "0.5"
SENTENCE_END = r"[.?](?= [A-Z`]|$)"
# the last paragraph of an entry: where its term is used first, and perhaps related entries
WHERE_TO_GO = r"First in lesson \[\d\d\]\((?:further/)?\d\d_[a-z_]+\.ipynb\)\.( See also [^.]+\.)?"


def pattern(term):
    # a regular expression for all ways in which the lessons phrase a term
    words = WORDS.get(term, re.escape(term) + "(s|es)?")
    # no part of a longer word; before it no hyphen either, so that "cross-entropy" is no entropy
    return rf"(?<![\w-])({words})(?!\w)"


def is_prose(name, cell):
    # cells with metadata of nbgrader are those for answers that a person marks
    if cell.cell_type != "markdown" or "nbgrader" in cell.metadata:
        return False
    is_apart = cell.source.startswith(("## What you have seen", "## Further reading"))
    is_map = (name, cell.id) == ("00_start_here.ipynb", "map")
    return not (is_apart or is_map or cell.id.startswith(("quiz-", "recall")))


def running_prose(name, cell):
    """Pairs (text, anchor of the glossary that it links to, or "") of a cell."""
    page = BeautifulSoup(HTML(cell.source), "html.parser")
    if cell.source.startswith("# "):  # the first cell: skip the aims and everything below them
        for below in [page.ul, *page.ul.find_next_siblings()]:
            below.decompose()
    for part in page.select("h1, h2, h3, h4, pre, thead, details, a"):
        # links to the glossary stay
        if part.name != "a" or "glossary.ipynb#" not in part["href"]:
            part.decompose()
    for code in page("code"):
        code.string = "`[CLS]`" if code.text == "[CLS]" else " ... "
    pieces = []
    for text in page.find_all(string=True):
        link = text.find_parent("a")
        target = link["href"].partition("#")[2] if link else ""
        pieces.append((text.replace("\n", " "), target))
    return pieces


def dotted(words, text):
    """A text with dots, as many as letters, in the place of what a regular expression finds."""
    return re.sub(words, lambda match: "." * len(match[0]), text, flags=re.IGNORECASE)


def first_uses():
    """{term: (file name, cell id, the anchor that the word links to, or "")} of the lessons.

    A short term inside a longer one does not count as used.
    """
    first = {}
    for name, notebook in LESSONS.items():
        for cell in notebook.cells:
            if not is_prose(name, cell):
                continue
            pieces = running_prose(name, cell)
            text = "".join(piece for piece, _ in pieces)
            # for each character of the text, the anchor that it links to, or ""
            targets = [target for piece, target in pieces for _ in piece]
            text = dotted(EVERYDAY, text)
            for term in sorted(NAMES, key=len, reverse=True):
                for match in re.finditer(pattern(term), text, re.IGNORECASE):
                    first.setdefault(term, (name, cell.id, targets[match.start()]))
                # a shorter term within it is not found again
                text = dotted(pattern(term), text)
    return first


def anchor(term):
    return term.replace(" ", "-")


FIRST = first_uses()
each_term = pytest.mark.parametrize("term", NAMES)


def test_is_a_notebook_like_a_lesson_with_its_own_title():
    nbformat.validate(GLOSSARY)
    assert GLOSSARY.metadata == SOURCES["00"].metadata
    assert GLOSSARY.cells[0].source.startswith("# Glossary\n")


def test_the_entries_are_text_and_come_last():
    assert all(cell.cell_type == "markdown" and not cell.metadata for cell in TERMS)
    assert GLOSSARY.cells[-len(TERMS) :] == TERMS


def test_terms_are_many_and_different_and_in_alphabetical_order():
    # enough for the terms of the lessons, and few enough to leaf through
    assert 45 <= len(NAMES) <= 70
    assert sorted(set(NAMES)) == NAMES


@each_term
def test_the_same_anchor_works_in_jupyterlab_on_github_and_in_the_book(term):
    # one level below the title: Sphinx rejects skipped levels
    assert ENTRIES[term].source.startswith(f"## {term}\n\n")
    assert re.fullmatch("[a-z0-9]+([ -][a-z0-9]+)*", term), (
        "JupyterLab keeps capitals and signs, the others do not"
    )
    assert ENTRIES[term].id == f"term-{anchor(term)}"


@each_term
def test_a_definition_is_one_short_paragraph(term):
    _, definition, _ = ENTRIES[term].source.split("\n\n")
    # so that it explains something, and is read in less than half a minute
    assert 8 <= len(definition.split()) <= 80
    assert 1 <= len(re.findall(SENTENCE_END, definition)) <= 4


@each_term
def test_an_entry_ends_with_where_to_go(term):
    assert re.fullmatch(WHERE_TO_GO, ENTRIES[term].source.split("\n\n")[-1])


@each_term
def test_an_entry_links_to_others_and_by_their_names(term):
    links = re.findall(r"\[([^\]]*)\]\(#([^)]*)\)", ENTRIES[term].source)  # (words, anchor)
    assert {target for _, target in links} <= {anchor(name) for name in NAMES} - {anchor(term)}
    assert all(anchor(words) == target for words, target in links)


@each_term
def test_a_term_is_linked_once_and_from_its_first_use(term):
    markdown_cells = [
        (name, cell)
        for name, notebook in LESSONS.items()
        for cell in notebook.cells
        if cell.cell_type == "markdown"
    ]
    # where each link to the term stands; a cell with two links comes twice
    links = [
        (name, cell.id)
        for name, cell in markdown_cells
        for _ in re.findall(rf"\]\((?:\.\./)?glossary\.ipynb#{anchor(term)}\)", cell.source)
    ]
    assert term in FIRST, "no lesson uses it in a sentence"
    name, cell_id, target = FIRST[term]
    assert links == [(name, cell_id)], f"its first use is in {name}, {cell_id}"
    assert target == anchor(term), f"in {name}, {cell_id} a later use is linked"


@each_term
def test_an_entry_names_the_lesson_of_the_first_use(term):
    name, _, _ = FIRST[term]
    # the name of a lesson's file begins with the lesson's number, in two digits
    assert f"First in lesson [{Path(name).name[:2]}]({name})." in ENTRIES[term].source


def test_links_cover_whole_words_and_stand_in_sentences():
    for name, notebook in LESSONS.items():
        for cell in notebook.cells:
            links = re.findall(r"glossary\.ipynb#", cell.source)
            if not links:
                continue
            assert is_prose(name, cell), f"{name}, {cell.id}"
            targets = [target for _, target in running_prose(name, cell) if target]
            assert len(set(targets)) == len(links), (
                f"{name}, {cell.id}: a link outside running prose"
            )
            # a letter stands right before a link, or right behind it
            assert not re.search(
                r"\w\[[^\]]*\]\((?:\.\./)?glossary|\((?:\.\./)?glossary\.ipynb#[a-z0-9-]+\)\w",
                cell.source,
            ), f"{name}, {cell.id}: half a word"
