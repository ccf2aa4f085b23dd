"""What a class has learned: its answers to both forms of the inventory, side by side.

A platform's table has a row for each attempt. Moodle's and Canvas's reports of responses hold the
text of the option that a learner chose, so a question's column is found by these texts, wherever it
stands.
"""

import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ..._support.files import read_named
from ..._support.tables import csv_body
from ..pages import filled
from .inventory import Question, inventory

# Headings of columns that name a learner, as `_learners` compares them: without signs and in lower
# case, the best first. Some of them are Moodle's in German.
LEARNER_COLUMNS = (
    "idnumber", "sisuserid", "sisid", "studentid", "id", "username", "sisloginid", "loginid",
    "emailaddress", "email",
    "idnummer", "matrikelnummer", "anmeldename", "emailadresse",
)  # fmt: skip
# Of a column's answers, this share must be options of its question. It is not all of them, as a
# teacher may have changed the text of an option.
LEAST_SHARE = 0.8
REPEATS = 1000  # resamples of the learners for an interval
INTERVALS = {"from": 0.025, "to": 0.975}  # the ends of a 95% interval, as quantiles


@dataclass(frozen=True)
class Answers:
    """The answers to one form.

    right: 1 for a right answer, 0 for a wrong one or none; a row for each learner, a column for
    each idea.
    notices: sentences about what was left out.
    """

    right: pd.DataFrame
    notices: list[str]


# ---------------------------------------------------------------- reading


def read_both(before: str | Path, after: str | Path) -> tuple[Answers, Answers]:
    """The Answers in both tables, by the column that names most learners in both.

    before, after: paths of CSV files. Raises ValueError if one is no such table, if it has no
    answers to its form, or if no column names a learner in both; OSError.
    """
    first, second = _read_table(Path(before)), _read_table(Path(after))

    def learners_in_both(name: str) -> int:
        return len(set(_learners(first, name)) & set(_learners(second, name)) - {""})

    best = max(LEARNER_COLUMNS, key=learners_in_both)
    if not learners_in_both(best):
        raise ValueError(
            f"{before} and {after} have no column that names the same learners in both, such as ID "
            "number, SIS User ID, Username or Email address."
        )
    return (
        _answers_in(first, "before", best, Path(before)),
        _answers_in(second, "after", best, Path(after)),
    )


def _read_table(path: Path) -> pd.DataFrame:
    """The table in a CSV file, as strings; what is missing at the end of a row is empty.

    Raises ValueError, OSError.
    """
    try:
        text, _, separator = csv_body(read_named(path).decode("utf-8-sig"))
        return pd.read_csv(
            io.StringIO(text), sep=separator, dtype=str, keep_default_na=False, index_col=False
        )
    except ValueError as error:
        raise ValueError(
            f"{path} is not a table in CSV with a row of headings, in UTF-8: {error}."
        ) from None


def _learners(table: pd.DataFrame, name: str) -> pd.Series:
    """What a column of LEARNER_COLUMNS says in each row, in lower case; "" where it says nothing.

    Without such a column, a Series without rows.
    """
    headings = [re.sub(r"[\W_]+", "", heading).lower() for heading in table.columns]
    if name not in headings:
        return pd.Series(dtype=str)
    # Moodle writes a hyphen where it knows nothing
    return table.iloc[:, headings.index(name)].str.strip().str.lower().str.strip("-")


def _answers_in(table: pd.DataFrame, form: str, who: str, path: Path) -> Answers:
    """The Answers in a table to a form, "before" or "after", by the column `who`.

    Of several attempts, the first counts. path: of the table, for messages. Raises ValueError if
    there are no answers.
    """
    # indexed by what names a learner, without the rows that name none
    named = table.set_index(_learners(table, who)).drop(index="", errors="ignore")
    first_attempts = named[~named.index.duplicated()]
    right = _right_answers(first_attempts, form)
    if not right:
        raise ValueError(
            f"No column of {path} holds answers to the {form} form. Export the report of "
            "responses, with the texts that were chosen."
        )
    notices = []
    if len(named) < len(table):
        notices.append(
            f"{path.name}: {len(table) - len(named)} rows without {who!r} were left out."
        )
    if len(first_attempts) < len(named):
        notices.append(
            f"{path.name}: {len(named) - len(first_attempts)} later attempts of learners with "
            "several were left out."
        )
    if missing := inventory().keys() - right.keys():
        notices.append(f"{path.name}: no answers about {', '.join(sorted(missing))}.")
    return Answers(pd.DataFrame(right, dtype=float), notices)


def _right_answers(table: pd.DataFrame, form: str) -> dict[str, pd.Series]:
    """{idea: for each learner, whether the answer is right}, in the inventory's order.

    A column belongs to an idea whose options are in it. Two ideas may share their options: then the
    one counts whose question is in the heading (Canvas) or in the column on the left (Moodle). If
    there is none, the idea counts that comes first in the inventory and has no column yet, since a
    platform keeps the order of the questions unless it is told to shuffle them.
    """
    questions: dict[str, Question] = {idea.id: getattr(idea, form) for idea in inventory().values()}
    options = {
        idea: [_normal(option.text) for option in question.options]
        for idea, question in questions.items()
    }
    right_answers = {}
    text_on_the_left = ""
    for column, heading in enumerate(table.columns):
        answers = table.iloc[:, column].map(_normal)
        heading_and_left = _normal(f"{heading} {text_on_the_left}")
        answered = answers[answers != ""]
        fitting = [
            idea
            for idea in questions
            if idea not in right_answers and answered.isin(options[idea]).mean() >= LEAST_SHARE
        ]
        with_its_text = [
            idea for idea in fitting if _normal(questions[idea].ask) in heading_and_left
        ]
        candidates = with_its_text or fitting
        if candidates:
            best = candidates[0]
            right_answers[best] = answers == options[best][questions[best].right]
        # for the next column; a question's text is in all rows, so the first, if any, is enough
        text_on_the_left = " ".join(answers[:1])
    return {idea: right_answers[idea] for idea in questions if idea in right_answers}


# a text without the differences that a platform makes: letters and digits, in lower case
def _normal(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.replace("`", "")).strip().lower()


# ---------------------------------------------------------------- what is computed


def measures(first: np.ndarray, second: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed about each idea from the answers before and after.

    first, second: 1 for a right answer, 0 for a wrong one, shape (learners, ideas).

    Returns arrays (ideas,). "before" and "after" are the shares right. "gain" is how much of what
    could be gained was gained, (after - before) / (1 - before) (Hake 1998, section I): nan where
    everybody was right before. "difficulty" is the share right in both forms together, and
    "discrimination" Pearson's correlation of an idea's answers, in both forms, with the number of
    right answers about all other ideas in the same form: nan where one of the two is constant.
    """
    total = np.concatenate([first, second])
    others = total.sum(axis=1, keepdims=True) - total
    before = first.mean(axis=0)
    after = second.mean(axis=0)
    # Pearson's correlation is written out, for all ideas at once
    item_deviation = total - total.mean(axis=0)
    rest_deviation = others - others.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        product_of_spreads = np.sqrt(
            (item_deviation**2).sum(axis=0) * (rest_deviation**2).sum(axis=0)
        )
        return {
            "before": before,
            "after": after,
            "gain": np.where(before < 1, (after - before) / (1 - before), np.nan),
            "difficulty": total.mean(axis=0),
            "discrimination": (item_deviation * rest_deviation).sum(axis=0) / product_of_spreads,
        }


def gains(before: Answers, after: Answers) -> tuple[pd.DataFrame, int, list[str]]:
    """(table with a row for each idea, number of learners, sentences about what was left out).

    Only learners and ideas in both tables count. The columns are the `measures` and, for all but
    "before" and "after", the ends of the 95% bootstrap interval over learners, such as "gain from"
    and "gain to". Resamples in which a measure is nan do not count for its interval. Raises
    ValueError if fewer than two learners, or no idea, are in both.
    """
    both = before.right.index.intersection(after.right.index)
    ideas = before.right.columns.intersection(after.right.columns)
    if len(both) < 2 or ideas.empty:
        raise ValueError(
            f"{len(both)} learners and {len(ideas)} ideas are in both tables; there must be two "
            "and one."
        )
    notices = [*before.notices, *after.notices]
    if in_one_table_only := len(before.right) + len(after.right) - 2 * len(both):
        notices.append(f"{in_one_table_only} learners are in one table only and were left out.")
    first = before.right.loc[both, ideas].to_numpy()
    second = after.right.loc[both, ideas].to_numpy()
    # which learners each resample has; the seed makes the same table each time
    draws = np.random.default_rng(0).integers(0, len(both), (REPEATS, len(both)))
    resamples = [measures(first[rows], second[rows]) for rows in draws]
    table = {}
    for name, values in measures(first, second).items():
        table[name] = values
        if name not in ("before", "after"):
            resampled = pd.DataFrame([resample[name] for resample in resamples])
            for end, level in INTERVALS.items():
                table[f"{name} {end}"] = resampled.quantile(level).to_numpy()
    return pd.DataFrame(table, index=ideas), len(both), notices


def in_words(table: pd.DataFrame, learners: int, notices: list[str]) -> str:
    """What a terminal shows of what `gains` returns: a table, and what follows from it."""
    shown = table[["before", "after"]].map("{:.2f}".format)
    for name, otherwise in (("gain", "nobody could"), ("discrimination", "none")):
        shown[name] = [_interval(row, name, otherwise) for _, row in table.iterrows()]
    # ~(x > 0) is also true of an unknown interval
    without_gain = table.index[~(table["gain to"] > 0) & (table["before"] < 1)]
    doubtful = table.index[table["discrimination to"] < 0]
    return filled(
        "gains.txt.j2",
        learners=learners,
        table=shown.to_string(),
        without=list(without_gain),
        doubtful=list(doubtful),
        notices=notices,
    )


# "0.50 [0.31, 0.68]": a measure and its interval; `otherwise` where there is none
def _interval(row: pd.Series, name: str, otherwise: str) -> str:
    if not np.isfinite(row[name]):
        return otherwise
    return f"{row[name]:.2f} [{row[f'{name} from']:.2f}, {row[f'{name} to']:.2f}]"
