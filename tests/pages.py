"""What the tests of the grader's pages share: a parser that is strict, attacks on it, and an invented class."""

import random
import re
from html.parser import HTMLParser

import pytest

from course_utils.tools.grading.results import LearnerRecord, Mark

MARK_STATUSES = ("passed", "failed", "not attempted", "missing")
VOID = {"meta", "img", "br"}
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


def mark(status="passed", points=2, of=2, **more):
    more = {"title": "Mean pooling", "messages": ["hidden 0.125"], "seed": 987654321, **more}
    return Mark(status=status, points=points if status == "passed" else 0, of=of, **more)


def learner(one="ada", **more):
    wrong = mark("failed", discreet=["Short lists: your function returned a `list`."])
    record = {
        "name": one.title(),
        "page": f"{one}.html",
        "points": 2,
        "of": 4,
        "files": ["04_pooling.ipynb"],
    }
    exercises = {"04-mean-pool": mark(), "06-cosine": wrong}
    return LearnerRecord(**{"learner": one, "exercises": exercises, **record, **more})


FORGOT = "You forget the `mask`."


def invented(count, seed=3):
    """A class in which every case occurs."""
    rng = random.Random(seed)
    learners = []
    for number in range(count):
        exercises = {}
        for one in ("04-mean-pool", "04-max-pool", "06-cosine"):
            status, kind = rng.choice(MARK_STATUSES), rng.randrange(3)
            lists = [
                "Short lists: it gave 1.",
                "Short lists: it gave 2.",
                f"Long lists: it gave {number}.",
            ]
            discreet = [[FORGOT], lists, ["Stopped: your function did not come back."]][kind]
            mistakes = [FORGOT] if kind == 0 and status == "failed" else []
            exercises[one] = mark(status, mistakes=mistakes, discreet=discreet)
        if rng.random() < 0.1:
            del exercises["06-cosine"]
        more = {"status": rng.choice(["ok", "ok", "timeout", "crashed"]), "of": 6}
        more["points"] = sum(each.points for each in exercises.values())
        more["notes"] = ["the same file as bob"] if number % 7 == 0 else []
        learners.append(learner(f"learner{number}", exercises=exercises, **more))
    return learners


class Page(HTMLParser):
    """A page parsed with the standard library: its tags, its visible text, its tables by id."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.source, self.tags, self.attributes, self.open, self.texts, self.tables = (
            source,
            [],
            [],
            [],
            [],
            {},
        )
        self.table = None
        self.feed(source)
        self.close()
        assert self.open == [], "tags were left open"
        self.text = re.sub(r"\s+", " ", "".join(self.texts))

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.table = self.tables.setdefault(dict(attributes)["id"], [])
        elif tag == "tr":
            self.table.append([])
        elif tag in ("td", "th"):
            self.table[-1].append("")

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)
        if "td" in self.open or "th" in self.open:
            self.table[-1][-1] += data

    def handle_comment(self, data):
        pytest.fail("a page has a comment")

    def rows(self, table):
        """A table's rows without its header."""
        return [
            [re.sub(r"\s+", " ", cell).strip() for cell in row] for row in self.tables[table][1:]
        ]
