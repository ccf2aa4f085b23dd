"""What a class has learned: the answers to both forms of the inventory, as platforms export them, side by side.

A platform's table has a row for each attempt. What a learner chose may stand there as the option's text (Moodle's and
Canvas's report of responses), so columns are told apart by these texts, wherever they stand and in whichever order.
"""

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..._support.tables import begun
from .inventory import inventory

WHO = (  # columns that name a learner, without signs, the best first; some of Moodle's in German
    "idnumber", "sisuserid", "sisid", "studentid", "id", "username", "sisloginid", "loginid", "emailaddress", "email",
    "idnummer", "matrikelnummer", "anmeldename", "emailadresse",
)  # fmt: skip
LARGEST = 2**26  # bytes
ENOUGH = 0.8  # of a column's cells must be options of its question
REPEATS = 1000


class GainsProblem(ValueError):
    """The tables cannot be compared. The message is one sentence."""


@dataclass(frozen=True)
class Answers:
    """One form's table. `right`: learners x ideas, 1 or 0; `ideas`: their ids; `learners`: what names them, in order.

    `notices`: sentences about what was left out.
    """

    learners: tuple[str, ...]
    ideas: tuple[str, ...]
    right: np.ndarray
    notices: tuple[str, ...]


def read_both(before, after):
    """The Answers in both tables, by the column that names most learners in both. Raises GainsProblem, OSError."""
    keys = []
    for path in (before, after):
        header, rows, _ = _table(path)
        keys.append({name: {_key(row[at]) for row in rows} - {""} for name, at in _naming(header).items()})
    shared = [name for name in WHO if name in keys[0] and name in keys[1]]
    best = max(shared, key=lambda name: len(keys[0][name] & keys[1][name]), default=None)
    return read_answers(before, "before", best), read_answers(after, "after", best)


def read_answers(path, form, who=None):
    """The Answers in a platform's table of responses.

    form: "before" or "after". who: the column that names the learners, one of WHO; if omitted, the one that is filled
    for most of them.

    Raises GainsProblem, OSError.
    """
    path, (header, rows, dropped) = Path(path), _table(path)
    naming = _naming(header)
    if not naming:
        raise GainsProblem(
            f"{path} has no column that names the learners, such as ID number, SIS User ID, Username or Email address."
        )
    who = who or max(naming, key=lambda name: len({_key(row[naming[name]]) for row in rows} - {""}))
    at = naming[who]
    named = [row for row in rows if _key(row[at])]
    columns = _columns_of(header, named, form)
    if not columns:
        raise GainsProblem(
            f"No column of {path} holds answers to the {form} form. Export the report of responses, with the texts "
            "that were chosen."
        )
    first = {}
    for row in named:
        first.setdefault(_key(row[at]), row)
    notices = []
    if dropped:
        notices.append(f"{path.name}: {dropped} rows with another number of columns than the headings were left out.")
    if len(named) < len(rows):
        notices.append(f"{path.name}: {len(rows) - len(named)} rows without {header[at].strip()!r} were left out.")
    if len(first) < len(named):
        notices.append(f"{path.name}: {len(named) - len(first)} later attempts of learners with several were left out.")
    if missing := [name for name in inventory() if name not in columns]:
        notices.append(f"{path.name}: no answers about {', '.join(missing)}.")
    right = np.array([[_same(row[at], option) for at, option in columns.values()] for row in first.values()], float)
    return Answers(tuple(first), tuple(columns), right, tuple(notices))


def _table(path):
    """(header, rows, how many are left out) of a CSV file: those of another length, such as a total, are.

    Empty cells at the end of a row do not count.
    """
    path = Path(path)
    if path.stat().st_size > LARGEST:
        raise GainsProblem(f"{path} is larger than a table of answers can be.")
    try:
        text = path.read_bytes().decode("utf-8-sig")
        text, _, sign = begun(text)
        read = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
        header, *rows = [row for row in read if any(map(str.strip, row))]
    except csv.Error as error:
        raise GainsProblem(f"{path} cannot be read: {error}, as if a quotation mark were never closed.") from None
    except (UnicodeDecodeError, ValueError, IndexError):
        raise GainsProblem(f"{path} is not a table in CSV with a row of headings, in UTF-8.") from None
    width = len(header)
    rows = [row[:width] if not any(map(str.strip, row[width:])) else row for row in rows]
    whole = [row for row in rows if len(row) == width]
    return header, whole, len(rows) - len(whole)


def _naming(header):
    """{a name in WHO: the place of its column}, the best first."""
    names = [re.sub(r"[\W_]+", "", name).lower() for name in header]
    return {name: names.index(name) for name in WHO if name in names}


def _key(cell):
    return cell.strip().lower().strip("-")


def _columns_of(header, rows, form):
    """{idea: (the place of its column, the text of its right option)}.

    Two ideas may share their options, so a question's own text decides, where it is in the heading (Canvas) or in the
    column "Question 3" (Moodle); else the options, and the one that comes first in the inventory, since a platform
    keeps the order of the questions unless it is told to shuffle them.
    """
    texts = {idea.id: getattr(idea, form) for idea in inventory().values()}
    options = {idea: {_normal(option.text) for option in one.options} for idea, one in texts.items()}
    found = {}
    for at, name in enumerate(header):
        cells = [_normal(row[at]) for row in rows if row[at].strip() not in ("", "-")]
        about = [name, *(row[header.index(other)] for row in rows[:1] for other in _question_columns(header, name))]
        fitting = [
            idea
            for idea in texts
            if idea not in found and cells and np.mean([cell in options[idea] for cell in cells]) >= ENOUGH
        ]
        named = [idea for idea in fitting if any(_normal(texts[idea].ask) in _normal(text) for text in about)]
        for idea in (named or fitting)[:1]:
            found[idea] = at, texts[idea].options[texts[idea].right].text
    return {idea: found[idea] for idea in texts if idea in found}


def _question_columns(header, name):
    number = re.fullmatch(r"response (\d+)", name.strip().lower())
    return [other for other in header if number and other.strip().lower() == f"question {number[1]}"]


def _normal(text):
    return re.sub(r"[\W_]+", " ", text.replace("`", "")).strip().lower()


def _same(cell, option):
    return _normal(cell) == _normal(option)


# ---------------------------------------------------------------- what is computed


def normalised_gain(before, after):
    """How much of what could be gained was gained: (after - before) / (1 - before) (Hake 1998, section I).

    before, after: 0 or 1 for each learner, shape (..., n); the shares of right answers are their means.

    Returns an array (...); nan where everybody was right before.
    """
    first, second = np.mean(before, axis=-1), np.mean(after, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(first < 1, (second - first) / (1 - first), np.nan)


def discrimination(item, rest):
    """Pearson's correlation of an item with the mean of all others; nan where one of the two is constant.

    item, rest: shape (..., n).
    """
    item, rest = (np.asarray(x, float) - np.mean(x, axis=-1, keepdims=True) for x in (item, rest))
    with np.errstate(divide="ignore", invalid="ignore"):
        return (item * rest).sum(-1) / np.sqrt((item**2).sum(-1) * (rest**2).sum(-1))


def gains(before, after):
    """A table with a row for each idea, and sentences about what was left out. before, after: Answers.

    Columns: the shares right before and after, the gain with its 95% interval over learners, difficulty (share right in
    both forms together) and discrimination with theirs. Raises GainsProblem if fewer than two learners took both.
    """
    import pandas as pd

    both = [who for who in before.learners if who in set(after.learners)]
    ideas = [idea for idea in before.ideas if idea in set(after.ideas)]
    if len(both) < 2 or not ideas:
        raise GainsProblem(
            f"{len(both)} learners and {len(ideas)} ideas are in both tables; there must be two and one."
        )
    first, second = (_of(one, both, ideas) for one in (before, after))
    notices = [*before.notices, *after.notices]
    if left := len(before.learners) + len(after.learners) - 2 * len(both):
        notices.append(f"{left} learners are in one table only and were left out.")
    rows = {}
    for at, idea in enumerate(ideas):
        one, two = first[:, at], second[:, at]
        total = np.concatenate([first, second]).T
        rest = np.delete(total, at, axis=0).mean(0) if len(ideas) > 1 else np.zeros(total.shape[1])
        rows[idea] = {
            "before": one.mean(),
            "after": two.mean(),
            **_with_interval("gain", normalised_gain, one, two),
            **_with_interval("difficulty", lambda x: np.mean(x, axis=-1), total[at]),
            **_with_interval("discrimination", discrimination, total[at], rest),
        }
    return pd.DataFrame.from_dict(rows, orient="index"), len(both), notices


def _of(answers, learners, ideas):
    places = [answers.learners.index(who) for who in learners]
    return answers.right[places][:, [answers.ideas.index(idea) for idea in ideas]]


def _with_interval(name, statistic, *columns):
    """The statistic and its bootstrap interval; resamples for which it does not exist do not count."""
    value, n = float(statistic(*columns)), len(columns[0])
    rows = np.random.default_rng(0).integers(0, n, (REPEATS, n))
    found = statistic(*(column[rows] for column in columns))
    found = found[np.isfinite(found)]
    low, high = np.quantile(found, [0.025, 0.975]) if np.isfinite(value) and len(found) else (np.nan, np.nan)
    return {name: value, f"{name} from": low, f"{name} to": high}


def told(table, learners, notices):
    """The table in words, without names of learners: lines for a terminal."""
    lines = [f"{learners} learners answered both forms. Intervals: 95%, over learners.", ""]
    lines.append(f"{'idea':24} {'before':>6} {'after':>6}   {'gain':>20}   {'discrimination':>20}")
    for idea, row in table.iterrows():
        lines.append(
            f"{idea:24} {row['before']:6.2f} {row['after']:6.2f}   {_interval(row, 'gain'):>20}   "
            f"{_interval(row, 'discrimination'):>20}"
        )
    nobody = [idea for idea, row in table.iterrows() if not row["gain to"] > 0 and row["before"] < 1]
    lines += ["", "Gained: of what was not known before, the share that is known afterwards (Hake 1998)."]
    lines.append(f"Ideas without a gain: {', '.join(nobody) or 'none'}.")
    doubtful = [idea for idea, row in table.iterrows() if row["discrimination to"] < 0]
    if doubtful:
        lines.append(f"Good learners are more often wrong about: {', '.join(doubtful)}. Read these questions again.")
    return lines + list(notices)


def _interval(row, name):
    if not np.isfinite(row[name]):
        return "nobody could" if name == "gain" else "none"
    return f"{row[name]:.2f} [{row[f'{name} from']:.2f}, {row[f'{name} to']:.2f}]"
