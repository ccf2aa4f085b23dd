"""What the tests of the grader's pages share: a strict parser, texts that attack, an invented class."""

import random
import re
from html.parser import HTMLParser

import pytest
from bs4 import BeautifulSoup

from course_utils.tools.grading.results import LearnerRecord, Mark

FORGOT, SAME_FILE = "You forget the `mask`.", "the same file as bob"
MARK_STATUSES = ("passed", "failed", "not attempted", "missing")
VOID = {"meta", "img", "br"}  # tags that have no end tag
ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "</title></p></article>",
    "{{ 7 * 7 }}{% raw %}",
    "<!-- ",
    "&lt;b&gt;",
    "javascript:alert(1)",
    "`<b>x</b>`",
]
# control characters, signs that turn the direction of a text, the end of a line, a byte order mark,
# half a character, a tag
INVISIBLE = [
    "\0",
    "\x1b",
    "\x7f",
    "\x85",
    "\u202e",
    "\u2066",
    "\u200f",
    "\u2028",
    "\ufeff",
    "\ud800",
    "\U000e0041",
]


def mark(status="passed", points=2, of=2, **fields):
    """A mark with this status, and without points unless it is passed.

    Its message and its seed must not be shown on the pages, so they are easy to find there.
    """
    usual = {"title": "Mean pooling", "messages": ["hidden 0.125"], "seed": 987654321}
    return Mark(
        status=status, points=points if status == "passed" else 0, of=of, **{**usual, **fields}
    )


def learner(key="ada", **fields):
    """The record of a learner with one exercise passed and one failed, but for the given fields."""
    wrong = mark("failed", discreet=["Short lists: your function returned a `list`."])
    usual = {
        "learner": key,
        "name": key.title(),
        "page": f"{key}.html",
        "points": 2,
        "of": 4,
        "files": ["04_pooling.ipynb"],
        "exercises": {"04-mean-pool": mark(), "06-cosine": wrong},
    }
    return LearnerRecord(**{**usual, **fields})


def invented(count, seed=3):
    """The records of so many learners, drawn at random: a large class has every case."""
    rng, learners = random.Random(seed), []
    for number in range(count):
        wrong_lists = [
            "Short lists: it gave 1.",
            "Short lists: it gave 2.",
            f"Long lists: it gave {number}.",
        ]
        exercises = {}
        for exercise_id in ("04-mean-pool", "04-max-pool", "06-cosine"):
            status = rng.choice(MARK_STATUSES)
            discreet = rng.choice(
                [[FORGOT], wrong_lists, ["Stopped: your function did not come back."]]
            )
            # only this mistake has been recognised
            mistakes = [FORGOT] if status == "failed" and discreet == [FORGOT] else []
            exercises[exercise_id] = mark(status, mistakes=mistakes, discreet=discreet)
        if rng.random() < 0.1:  # a tenth of the class has no mark for this exercise
            del exercises["06-cosine"]
        learners.append(
            learner(
                f"learner{number}",
                exercises=exercises,
                status=rng.choice(["ok", "ok", "timeout", "crashed"]),
                points=sum(mark.points for mark in exercises.values()),
                of=6,  # three exercises of 2 points
                notes={0: [SAME_FILE], 1: ["handed in late"]}.get(number % 7, []),
            )
        )
    return learners


class Page(HTMLParser):
    """A page; the test fails if its tags are not closed in their order, or it has a comment, or a
    tag the same attribute twice.

    `soup` is the parsed page, `tags` [(name, {attribute: value})], `attributes` all pairs of an
    attribute and its value, and `text` its text with single spaces.
    """

    def __init__(self, source):
        super().__init__()
        self.source = source
        self.open = []
        self.feed(source)
        self.close()
        assert self.open == [], "tags were left open"
        self.soup = BeautifulSoup(source, "html.parser", multi_valued_attributes=None)
        self.tags = [(element.name, element.attrs) for element in self.soup.find_all(True)]
        self.attributes = [pair for _, attributes in self.tags for pair in attributes.items()]
        self.text = re.sub(r"\s+", " ", self.soup.text)

    def handle_starttag(self, tag, attributes):
        assert len(dict(attributes)) == len(attributes), f"<{tag}> has an attribute twice"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_comment(self, data):
        pytest.fail("a page has a comment")

    def rows(self, table):
        """The texts of the cells of each row, but for the header's, of the table with this id."""
        _, *rows = self.soup.find("table", id=table)("tr")
        return [[" ".join(cell.text.split()) for cell in row(["td", "th"])] for row in rows]
