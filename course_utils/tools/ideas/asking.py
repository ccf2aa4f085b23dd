"""Asking: `place`, `review` and `predictions` as a widget in JupyterLab, and as questions in a terminal.

A session holds things to ask, in order. It gives the next one as a sheet, a dictionary that both views show, and takes
the answer. Nothing is judged in the views.
"""

import functools
import json
import re
from datetime import UTC, datetime
from pathlib import Path

from markdown_it import MarkdownIt

from ..._support.notebooks import OPTION, as_key, cores, exercise_parts, parts
from ...diary.passed import passed
from ...diary.schedule import HARD, SURE, ScheduleProblem, read_schedule, record
from ...diary.workspace import current_workspace
from .inventory import UNPILOTED, inventory, question
from .route import BY_DOING, placing, route, route_by_doing

HERE = Path(__file__).parent
STYLES = ((HERE.parents[1] / "explore", "view.css"), (HERE, "asking.css"))
WIDGET = "application/vnd.jupyter.widget-view+json"
A_DAY = 12  # things asked in a review: five minutes
NEW_A_DAY = 8  # of them seen for the first time
RECALLED = ("I had all of it", "I had some of it", "I had it wrong, or nothing")
RECALL = re.compile(r"^\d\. \*\*(.+?)\*\*\n+<details><summary>Answer</summary>\n\n(.+?)\n\n</details>", re.M | re.S)


@functools.cache
def _markdown():
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _sheet(item, kind, ask, options=(), back="", about="", sure=True):
    """What a view shows. `options` and `ask` are Markdown; `back` is what is shown after somebody has recalled."""
    return {
        "item": item,
        "kind": kind,
        "ask": ask,
        "options": list(options),
        "back": back,
        "about": about,
        "sure": sure,
    }


class Session:
    """Things to ask in order. `left` are ids still to ask; `told` are (id, whether right, how sure) of the others."""

    feedback = True

    def __init__(self, items, folder=None):
        self.left, self.told, self.folder, self.of = list(items), [], folder, len(list(items))

    def sheet(self):
        """The next thing to ask, or None at the end."""
        return sheet_of(self.left[0]) if self.left else None

    def answer(self, option, sure=None):
        """Take an answer to the present sheet: the place of an option, and how sure (0 to 2) where that is asked.

        Returns the feedback in Markdown; "" in a session without. Raises ScheduleProblem and OSError from recording.
        """
        item = self.left[0]
        right, words = judged(item, option)
        if self.folder is not None:
            partly = sheet_of(item)["kind"] == "recall" and RECALLED[option] == RECALLED[1]
            record(self.folder, item, right, sure, HARD if partly else None)
        self.left.pop(0)
        self.told.append((item, right, sure))
        return words if self.feedback else ""

    def end(self):
        """What is said at the end, in Markdown."""
        return f"{sum(right for _, right, _ in self.told)} of {len(self.told)} right."


class Placing(Session):
    """`place`: no feedback, and a route at the end. A guess that was right does not count as known."""

    feedback = False

    def end(self):
        return _written(route({item.partition(".")[0] for item, right, sure in self.told if right and sure != 0}))


class Reviewing(Session):
    """`review`: what is due, and at the end the exercises to write again."""

    def __init__(self, items, folder, writing=(), waiting=0, notices=()):
        super().__init__(items, folder)
        self.writing, self.waiting, self.notices = list(writing), waiting, list(notices)

    def end(self):
        lines = list(self.notices)
        lines.append(super().end() if self.told else "Nothing is left to ask today.")
        if self.waiting:
            lines.append(f"{self.waiting} more can wait until tomorrow, or run this again.")
        for one in self.writing:
            lines.append(
                f"To write again, from an empty cell: {_exercise(one).title} (lesson {one[:2]}), then "
                f"`check({one!r}, your_function)`."
            )
        return "\n\n".join(lines)


def sheet_of(item):
    """The sheet of an item: a question of the inventory or of a lesson, a question to recall, a known mistake."""
    if item.partition(".")[2]:
        one = question(item)
        return _sheet(item, "choice", one.ask, [option.text for option in one.options], about=f"Lesson {item[:2]}")
    if "-quiz-" in item:
        ask, options = predictions_of(item.partition("-quiz-")[0])[item]
        return _sheet(item, "choice", ask, [text for text, _, _ in options], about=f"Lesson {item[:2]}, a prediction")
    if "-recall-" in item:
        ask, back = recalled_of(item[:2])[item]
        return _sheet(item, "recall", ask, RECALLED, back, f"Lesson {item[:2]}, from memory", sure=False)
    exercise, _, mistake = item.partition(" ")
    words = _mistake(exercise, mistake)
    ask = f"An answer to “{_exercise(exercise).title}” got this message:\n\n> {words.does}\n\nWhy is that wrong?"
    return _sheet(
        item, "recall", ask, RECALLED, words.because or words.does, f"Lesson {item[:2]}, a mistake you made", False
    )


def judged(item, option):
    """(whether an option is right, what is said about it in Markdown)."""
    sheet = sheet_of(item)
    if sheet["kind"] == "recall":
        return option < 2, ""
    if "-quiz-" in item:
        texts = predictions_of(item.partition("-quiz-")[0])[item][1]
        right = next(at for at, (_, _, good) in enumerate(texts) if good)
        reasons = [why for _, why, _ in texts]
    else:
        one = question(item)
        right, reasons = one.right, [option.why for option in one.options]
    if option == right:
        return True, f"**Right.** {reasons[option]}"
    return False, f"**Not this one.** {reasons[option]}\n\nRight is: {sheet['options'][right]} {reasons[right]}"


def _mistake(exercise, name):
    return next(one for one in _exercise(exercise).mistakes if one.name == name)


def _exercise(exercise_id):
    from ...exercises import find  # which loads torch; `progress` does without

    return find(exercise_id)


@functools.cache
def predictions_of(key):
    """{id: (question, ((option, why, whether right), ...))} of a part's predictions, such as "02-quiz-one"."""
    found = {}
    for cell in json.loads(parts()[key].read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown" and cell["id"].startswith("quiz-"):
            text = "".join(cell["source"])
            options = [
                (text, why.partition(". ")[2], why.startswith("Right.")) for _, text, why in OPTION.findall(text)
            ]
            ask = text.partition("<details>")[0].replace("**Predict.**", "").strip()
            found[f"{key}-{cell['id']}"] = ask, tuple(options)
    return found


@functools.cache
def recalled_of(lesson):
    """{id: (question, answer)} of the questions to answer from memory at the end of a core."""
    cells = json.loads(cores()[lesson].read_text(encoding="utf-8"))["cells"]
    text = next("".join(cell["source"]) for cell in cells if cell["id"] == "recall")
    return {f"{lesson}-recall-{number}": one for number, one in enumerate(RECALL.findall(text), 1)}


# ---------------------------------------------------------------- what is due


def material(lesson):
    """The items of a core that are asked once it is finished: its questions to recall, and those of its ideas."""
    ideas = [one for one in inventory().values() if one.lesson == lesson]
    return [*recalled_of(lesson), *(one.after.id for one in ideas), *(one.before.id for one in ideas)]


def finished(folder):
    """The cores whose exercises are all passed."""
    done, of = passed(folder), exercise_parts()
    return [key for key in cores() if (own := {one for one in of if of[one] == key}) and own <= done]


def due_today(folder, now=None):
    """(items to ask, exercises to write again, the schedule), without limit. New items of finished cores come last."""
    schedule, exercises = read_schedule(folder), exercise_parts()
    due = [item for item in schedule.due(now) if _known(item)]
    new = [item for key in finished(folder) for item in material(key) if item not in schedule.cards]
    today = (now or datetime.now(UTC)).date()
    first = {}
    for one in schedule.answers:
        if one["item"] not in exercises:
            first.setdefault(one["item"], datetime.fromisoformat(one["at"]).date())
    room = max(0, NEW_A_DAY - sum(date == today for date in first.values()))
    writing = [item for item in due if item in exercises]
    return [item for item in due if item not in writing] + new[:room], writing, schedule


def calibration(schedule):
    """{how sure: (answers, right ones)} of the answers for which the learner said it; each time counts."""
    said = [one for one in schedule.answers if "sure" in one]
    groups = [[one["right"] for one in said if one["sure"] == step] for step in range(len(SURE))]
    return {name: (len(group), sum(group)) for name, group in zip(SURE, groups) if group}


def _known(item):
    """Whether the course still has this item: an update may have dropped a question or a mistake."""
    try:
        return item in exercise_parts() or bool(sheet_of(item))
    except (KeyError, ValueError, StopIteration):
        return False


# ---------------------------------------------------------------- what learners call


def place(by="questions"):
    """Find out where to begin: twenty questions in ten minutes, and a route at the end.

    by: "questions"; or "doing", for the route that follows from one exercise of each core, which you write from an
    empty cell and `check`.

    Returns what JupyterLab displays. Raises ValueError for another word.
    """
    if by not in ("questions", "doing"):
        raise ValueError(f'by must be "questions" or "doing", not {by!r}')
    return Asked(Placing([one.id for one in placing()])) if by == "questions" else Said(by_doing(current_workspace()))


def by_doing(folder):
    """What `place(by="doing")` says, in Markdown."""
    done = passed(folder) if folder else set()
    rows = [
        f"| {lesson} | {_exercise(one).title} | `{one}` | {'passed' if one in done else ''} |"
        for lesson, one in BY_DOING.items()
    ]
    return "\n".join(
        [
            "Open the lesson at its exercise, write the function from an empty cell and run its check; then run this "
            "again.\n",
            "| lesson | exercise | id | |\n|---|---|---|---|",
            *rows,
            f"\n{_written(route_by_doing(done))}",
        ]
    )


def review():
    """Ask what is due today: about five minutes. In a workspace; what is due is also in `progress()`.

    Returns what JupyterLab displays.
    """
    folder = current_workspace()
    if folder is None:
        return Said(
            "There is nothing to review here: a review needs a folder with your lessons, as `course lab` makes it."
        )
    try:
        return Asked(reviewing(folder))
    except ScheduleProblem as problem:
        return Said(str(problem))


def reviewing(folder, now=None):
    """The session of today. Raises ScheduleProblem, OSError."""
    items, writing, schedule = due_today(folder, now)
    notices = [schedule.notice] if schedule.notice else []
    if schedule.clock_is_behind(now):
        notices.append(
            f"The clock of this machine is behind your last answer ({schedule.latest:%Y-%m-%d %H:%M} UTC), so nothing "
            "before that counts as today."
        )
    return Reviewing(items[:A_DAY], folder, writing[:1], max(0, len(items) - A_DAY), notices)


def predictions(lesson):
    """Answer the predictions of a lesson, such as "02" or "02-windows", and say how sure you are.

    In a workspace the answers are recorded: `progress()` shows how often "sure" was right. Returns what JupyterLab
    displays. Raises ValueError for a part of the course without predictions.
    """
    key = as_key(str(lesson))
    if key not in parts() or not predictions_of(key):
        raise ValueError(f"lesson {lesson!r} has no predictions in this course")
    return Asked(Session(predictions_of(key), current_workspace()))


def _written(route):
    return "\n\n".join([f"**{route.sentence}**", "\n".join(f"- {one}" for one in route.reasons), UNPILOTED])


class Said:
    """A text in Markdown, which JupyterLab displays."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text.replace("**", "").replace("`", "")

    def _repr_html_(self):
        return _markdown().render(self.text)


class Asked:
    """A session, displayed as a widget where there is a kernel, as its first question elsewhere."""

    def __init__(self, session):
        self.session = session

    def __repr__(self):
        sheet = self.session.sheet()
        if sheet is None:
            return repr(Said(self.session.end()))
        options = "\n".join(f"  {letter}. {text}" for letter, text in zip("ABCD", sheet["options"]))
        return f"Question 1 of {self.session.of}. {sheet['ask']}\n{options}"

    def _repr_mimebundle_(self, include=None, exclude=None):
        state = shown(self.session)
        rows = "".join(f"<li>{text}</li>" for text in state.get("options", ()))
        page = state.get("end") or f'<p>Question 1 of {self.session.of}.</p>{state["ask"]}<ol type="A">{rows}</ol>'
        bundle = {"text/plain": repr(self), "text/html": page}
        return {**bundle, WIDGET: self.widget()._repr_mimebundle_()[0][WIDGET]}

    def widget(self):
        return _widget_class()(self.session)


def shown(session, last=""):
    """What the widget's view shows: the next sheet as HTML, or the end; and what is said about the last answer."""
    sheet, render = session.sheet(), _markdown()
    state = {"done": len(session.told), "of": session.of, "last": render.render(last), "sures": list(SURE)}
    if sheet is None:
        return {**state, "end": render.render(session.end())}
    back, ask = render.render(sheet["back"]), render.render(sheet["ask"])
    return {
        **state,
        **sheet,
        "ask": ask,
        "back": back,
        "options": [render.renderInline(one) for one in sheet["options"]],
    }


@functools.cache
def _widget_class():
    import anywidget
    import traitlets

    class Widget(anywidget.AnyWidget):
        _esm = HERE / "asking.js"
        _css = "".join((folder / name).read_text(encoding="utf-8") for folder, name in STYLES)
        shown = traitlets.Dict().tag(sync=True)
        given = traitlets.Dict().tag(sync=True)

        def __init__(self, session):
            super().__init__(shown=shown(session))
            self.session = session
            self.observe(self._answer, "given")

        def _answer(self, change):
            given = change["new"]
            if not self.session.left or given.get("item") != self.session.left[0]:
                return  # of another window, or a second click
            try:
                self.shown = shown(self.session, self.session.answer(given["option"], given.get("sure")))
            except (ScheduleProblem, OSError) as problem:
                self.shown = {**shown(self.session), "problem": f"This answer could not be recorded: {problem}"}

    return Widget


def in_terminal(session, read, say):
    """Ask a session in a terminal. read(prompt, choices): a choice; say(text): prints. Ends with the session's end."""
    while (sheet := session.sheet()) is not None:
        say(f"\n{len(session.told) + 1} of {session.of} · {sheet['about']}\n{_plain(sheet['ask'])}")
        if sheet["kind"] == "recall":
            read("Answer in your head, then press Enter", ())
            say(_plain(sheet["back"]))
        letters = "ABCD"[: len(sheet["options"])]
        for letter, text in zip(letters, sheet["options"]):
            say(f"  {letter}. {_plain(text)}")
        option = letters.index(read("Your answer", letters))
        sure = int(read("How sure? 1 a guess, 2 fairly sure, 3 sure", "123")) - 1 if sheet["sure"] else None
        if words := session.answer(option, sure):
            say(_plain(words))
    say(f"\n{_plain(session.end())}")


def _plain(markdown):
    return re.sub(r"\*\*|`|^> ", "", markdown, flags=re.MULTILINE)
