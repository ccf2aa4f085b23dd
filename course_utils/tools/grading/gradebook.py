"""Mark a class: find new hand-ins, collect the points, and write the tables.

Each result is committed to a database as it arrives (`store`), so that an interruption loses nothing. Everything else
in the folder is derived from the database and written atomically.
"""

import csv
import hashlib
import io
import json
import os
import random
import re
import shutil
import unicodedata
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from ... import __version__
from ..._support.files import file_sha256, write_whole
from ...exercises import LESSONS
from ..workspace.copies import REPORT_STUB
from .fleet import NOT_MARKED, mark_here, mark_on_cluster
from .marking import STATES, assignment, marking_fingerprint
from .owners import normalised
from .reports import write_feedback, write_summary
from .sandbox import isolation_problem
from .store import Damaged, GradeError, Store
from .submissions import gather, read_roster, read_table
from .untrusted import for_cells, from_cells

STORE, RESULTS, MANUAL, GRADES, LEFT_OUT = "results.sqlite", "results.jsonl", "manual.csv", "grades.csv", "left_out.csv"
PART = re.compile(r"part-\d+-of-\d+\.sqlite")
READING = 60  # seconds that a part waits for others to finish reading the known results
MANUAL_COLUMNS = ("learner", "name", "cell", "points", "of", "comment", "page")


def grade(
    source,
    out,
    lessons=None,
    roster=None,
    workers=None,
    only=(),
    regrade=False,
    isolated=True,
    seconds=120,
    memory=2 * 2**30,
    seed=None,
    scheduler=None,
    part=(1, 1),
    beside=(),
    progress=lambda results, total: results,
):
    """Mark every hand-in in `source` and write the results to the folder `out`. Returns the learners' records.

    lessons: those that count, such as ("04", "05"); None for all that were handed in.
    roster: a CSV file.
    only: learners to mark; the others' results stay.
    regrade: mark unchanged hand-ins again.
    seed: of the inputs; None draws one.
    part: (k, n) marks each n-th hand-in and leaves the tables to a later call.
    beside: other folders that will be written to.
    progress: wraps the iterable of results.

    Raises GradeError, HandInError, SandboxError or ValueError (a lesson that does not exist), each with a one-sentence
    message.
    """
    out, work = Path(out), assignment(tuple(lessons or LESSONS))
    if isolated and scheduler is None and (reason := isolation_problem()):
        raise GradeError(
            f"Submissions are untrusted programs, and they cannot be isolated here: {reason}. To run them with your "
            "own rights anyway: --unsafe-no-isolation."
        )
    people = read_roster(roster) if roster else {}
    settings = {
        "lessons": list(work["titles"]),
        "seed": random.SystemRandom().randrange(10**9) if seed is None else seed,
        "isolated": isolated,
        "seconds": seconds,
        "memory": memory,
    }
    made_with = f"{marking_fingerprint()} {' '.join(settings['lessons'])} {seconds} {memory} {isolated}"
    for folder in (out, *map(Path, beside)):
        if _within(folder, source):
            raise GradeError(
                f"{folder} is the submissions folder, or is inside it: choose a results folder outside {source}."
            )
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GradeError(f"Cannot write to {out}: {error.strerror}.") from None
    with _machine(out), ExitStack() as held:
        store = held.enter_context(
            Store(out / (STORE if part[1] == 1 else f"part-{part[0]}-of-{part[1]}.sqlite"), anew=regrade)
        )
        known = {**_known_to_all(out, regrade), **store.entries} if part[1] > 1 else _with_parts(out, store, regrade)
        found = gather(source, held.enter_context(_unpacking(out, part)), people)
        _know(only, found, people)
        jobs = {}
        for key, one in enumerate(found):
            old = known.get((one.learner, one.file))
            if only and one.learner not in only:
                if one.path is not None and (old is None or old["made_with"] != made_with):
                    raise GradeError(
                        f"--only needs results for all other learners with the same settings, and {one.learner} has "
                        "none: mark the class once without --only."
                    )
                continue
            if (
                one.path is not None
                and (regrade or not _same(old, one, made_with, seed))
                and key % part[1] == part[0] - 1
            ):
                jobs[key] = one
        listed = [{"key": key, "name": one.file, "path": str(one.path)} for key, one in jobs.items()]
        results = (
            mark_on_cluster(listed, settings, scheduler)
            if scheduler and listed
            else mark_here(listed, settings, workers or default_workers())
        )
        held.enter_context(closing(results))  # whatever stops the run also ends its marking processes
        for key, result in progress(results, len(listed)):
            one = jobs[key]
            if one.path.exists() and file_sha256(one.path) != one.sha256:
                result = {**NOT_MARKED, "reason": "it changed while the class was being marked"}
            store.put(
                {
                    "learner": one.learner,
                    "name": one.name,
                    "file": one.file,
                    "sha256": one.sha256,
                    "made_with": made_with,
                    "result": result,
                }
            )
        if part[1] > 1:
            return []
        entries = {(one.learner, one.file): store.entries.get((one.learner, one.file)) for one in found}
        store.keep(entries)
        write_whole(out / RESULTS, "".join(json.dumps(entry) + "\n" for _, entry in sorted(entries.items()) if entry))
        learners = records(found, entries, people, work, lessons)
        read_manual(out / MANUAL, learners)
        write_tables(out, learners, work, isolated, getattr(found, "left_out", []))
        return learners


def _same(old, one, made_with, seed):
    """Whether an old result is still valid."""
    return (
        old is not None
        and old["sha256"] == one.sha256
        and old["made_with"] == made_with
        and old["result"]["status"] != NOT_MARKED["status"]
        and (seed is None or all(mark["seed"] == seed for mark in old["result"]["exercises"].values()))
    )


def _within(folder, source):
    """Whether a folder is this source or inside it, by whatever path."""
    folder, source = Path(folder).resolve(), Path(source)
    return source.is_dir() and any(one.exists() and one.samefile(source) for one in (folder, *folder.parents))


@contextmanager
def _machine(out):
    """Turn faults of the machine, such as a full disk, into one sentence. They never count as marks."""
    try:
        yield
    except OSError as error:
        where = error.filename2 or error.filename or out
        raise GradeError(
            f"Stopped at {os.fsdecode(where)}: {error.strerror or error}; once that is fixed, run the same command to "
            "continue."
        ) from None


def _known_to_all(out, regrade):
    """The results that a part need not mark again."""
    if not (out / STORE).exists():
        return {}
    try:
        with Store(out / STORE, patience=READING) as store:
            return store.entries
    except Damaged:
        if not regrade:
            raise
        return {}


def _with_parts(out, store, regrade):
    """Move the results of the parts into the store, and remove their files. Returns all known results.

    Raises GradeError while a part is being written.
    """
    with ExitStack() as held:
        parts = [
            held.enter_context(Store(path, anew=regrade)) for path in sorted(out.iterdir()) if PART.fullmatch(path.name)
        ]
        if parts:
            store.put(*(entry for part in parts for entry in part.entries.values()))
        for part in parts:
            part.remove()
    return store.entries


@contextmanager
def _unpacking(out, part):
    """A folder for unpacked archives, removed afterwards.

    It first removes what a killed run of this part left; a run without --part removes what all parts left.
    """
    mine = out / f".unpacked-{part[0]}-of-{part[1]}"
    for path in {mine, *(out.glob(".unpacked-*") if part[1] == 1 else ())}:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    mine.mkdir(mode=0o700)
    try:
        yield mine
    finally:
        shutil.rmtree(mine, ignore_errors=True)


def default_workers():
    """The number of processors, at most eight: each worker takes about a gigabyte of memory."""
    return max(1, min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1))


def _know(only, found, people):
    names = {one.learner for one in found} | set(people)
    for wanted in only:
        if wanted not in names:
            near = [name for name in sorted(names) if normalised(wanted) in normalised(name)][:3]
            raise GradeError(
                f"--only {wanted}: there is no such learner{'; similar: ' + ', '.join(near) if near else ''}."
            )


# ---------------------------------------------------------------- who has what


def records(found, entries, people, work, lessons=None):
    """One record per learner, with every exercise of the lessons that count. `reports` describes its form."""
    wanted = list(
        lessons or sorted({lesson for entry in entries.values() if entry for lesson in entry["result"]["lessons"]})
    )
    expected = {one: most for one, (_, most) in work["exercises"].items() if one[:2] in wanted}
    by_hand = {one: most for one, most in work["by_hand"].items() if one[:2] in wanted}
    owners = {}
    for one in found:
        if one.sha256:
            owners.setdefault(one.sha256, set()).add(one.learner)
    learners = []
    for key in sorted({one.learner for one in found} | set(people)):
        mine = sorted((one for one in found if one.learner == key), key=lambda one: (one.modified, one.file))
        name = people[key].name if key in people else next((one.name for one in mine if one.name), "")
        platform = next((one.platform for one in mine if one.platform), "")
        notes = ["not on the roster"] if people and key not in people else []
        marks, texts, read, latest, unreadable, not_marked = {}, {}, {}, {}, [], []
        for one in mine:  # the latest last
            result = (
                entries[one.learner, one.file]["result"]
                if entries.get((one.learner, one.file))
                else {
                    "status": "unreadable",
                    "reason": one.problem or "it was not marked",
                    "lessons": [],
                    "exercises": {},
                    "texts": {},
                    "problems": [],
                }
            )
            if result["status"] == "unreadable":
                unreadable.append(f"{one.file}: {result['reason']}")
                continue
            if result["status"] == NOT_MARKED["status"]:  # it may belong to any lesson without a later hand-in
                not_marked.append(f"{one.file}: {result['reason']}")
                marks = {
                    exercise: _no_mark(
                        exercise, most, NOT_MARKED["status"], NOT_MARKED["status"], result["reason"], None
                    )
                    for exercise, most in expected.items()
                }
                continue
            read[one.file] = result
            answered = {exercise: mark for exercise, mark in result["exercises"].items() if mark["status"] != "missing"}
            again = sorted({exercise[:2] for exercise in answered if exercise[:2] in latest})
            if again:
                notes.append(f"lesson {', '.join(again)} was handed in more than once; the latest counts: {one.file}")
            latest.update({exercise[:2]: one.file for exercise in answered or result["exercises"]})
            marks.update(
                {
                    exercise: mark
                    for exercise, mark in result["exercises"].items()
                    # a copied cell is not a hand-in of its lesson
                    if exercise in expected and (exercise in answered or exercise not in marks)
                }
            )
            texts.update({cell: text for cell, text in result["texts"].items() if cell in by_hand or cell in expected})
            twins = sorted(owners[one.sha256] - {key})
            if twins and any(mark["status"] in ("passed", "failed") for mark in result["exercises"].values()):
                notes.append(
                    "the same file as "
                    f"{', '.join(twins[:5])}{f' and {len(twins) - 5} others' if len(twins) > 5 else ''}"
                )
        files = [file for file in read if file in latest.values()]
        problems = [problem for file in files for problem in read[file]["problems"]]
        states = [(mark["state"], f"{exercise}: {mark['reason']}") for exercise, mark in marks.items()] or [
            ("ok", "")
        ] * bool(read)
        handed_in = {exercise[:2] for exercise in marks}
        for exercise, most in expected.items():
            if exercise not in marks:
                reason = (
                    "it is not in the notebook"
                    if exercise[:2] in handed_in
                    else (f"lesson {exercise[:2]} was not handed in")
                )
                marks[exercise] = _no_mark(exercise, most, "missing", "missing exercise", reason, 0)
        notes += [f"unreadable: {text}" for text in unreadable] if states else []
        status, reason = _standing(mine, states, unreadable, marks)
        if not_marked and (not marks or any(mark["points"] is None for mark in marks.values())):
            status, reason = NOT_MARKED["status"], "; ".join(not_marked)
        else:
            notes += [f"not marked: {text}" for text in not_marked]
        learners.append(
            {
                "learner": key,
                "name": name,
                "email": people[key].email if key in people else "",
                "platform": platform,
                "listed": key in people,
                "page": page_name(key),
                "status": status,
                "reason": reason,
                "notes": list(dict.fromkeys(notes)),
                "exercises": {one: marks[one] for one in expected},
                "problems": problems,
                "files": files,
                "texts": texts,
                "by_hand": {
                    one: {
                        "points": None,
                        "of": most,
                        "comment": "",
                        "text": _written(texts.get(one, "")),
                        "rubric": work["rubrics"].get(one, {}),
                    }
                    for one, most in by_hand.items()
                },
            }
        )
        _add_up(learners[-1])
    return learners


def page_name(key):
    """The name of a learner's page. No two keys share one.

    It depends on the key alone, so it does not change when others hand in.
    """
    if len(key) <= 60 and PLAIN.fullmatch(key) and not HASHED.search(key):
        return f"{key}.html"
    spelled = "".join(
        letter for letter in unicodedata.normalize("NFKD", key) if not unicodedata.combining(letter)
    ).lower()
    slug = re.sub(r"[^a-z0-9]+", "-", spelled)[:49].strip("-")
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{slug if re.search('[a-z]', slug) else 'learner'}-{digest}.html"


PLAIN, HASHED = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*"), re.compile(r"-[0-9a-f]{10}$")


def _no_mark(exercise, most, status, state, reason, points):
    """The placeholder where there is no mark."""
    return {
        "title": _title(exercise),
        "status": status,
        "points": points,
        "of": most,
        "state": state,
        "reason": reason,
        "messages": [],
        "discreet": [],
        "mistake": "",
        "seed": None,
    }


def _written(text):
    """What a learner wrote into a hand-marked cell; empty if it is still the stub."""
    return "" if text.strip() in ("", REPORT_STUB) else text


def _title(exercise_id):
    from ...exercises import find

    return find(exercise_id).title


def _standing(mine, states, unreadable, marks):
    """A learner's status, and its reason."""
    if not mine:
        return "nothing handed in", "this learner handed nothing in"
    if not states:
        return "unreadable", "; ".join(unreadable)
    status = next(state for state in STATES if state in {state for state, _ in states} or state == "ok")
    reason = "; ".join(reason for state, reason in states if state == status != "ok")
    missing = [f"{one}: {mark['reason']}" for one, mark in marks.items() if mark["state"] == "missing exercise"]
    return (
        ("missing exercise", "; ".join(missing))
        if status in ("ok", "missing exercise") and missing
        else (status, reason)
    )


def _add_up(learner):
    """Compute the sums. Points are None while something is unmarked: that is not the same as 0 points."""
    hand = learner["by_hand"].values()
    learner["points"] = None
    if learner["status"] != NOT_MARKED["status"]:
        points = sum(mark["points"] for mark in learner["exercises"].values()) + sum(
            cell["points"] or 0 for cell in hand
        )
        learner["points"] = int(points) if points == int(points) else points
    learner["of"] = sum(mark["of"] for mark in learner["exercises"].values()) + sum(cell["of"] for cell in hand)
    learner["waiting"] = sum(cell["of"] for cell in hand if cell["points"] is None and cell["text"])


# ---------------------------------------------------------------- tables


def read_manual(path, learners):
    """Read the points that a person gave, and rewrite the file with a line for each hand-marked cell.

    A cell with a rubric has a line for each row of it ("14-report: Result"), and has points as soon as all its lines
    have some. Lines of other learners stay. Raises GradeError, naming the line, for points that are not a number from 0
    to the maximum, for two lines about one cell or row, and for points of a whole cell that has a rubric.
    """
    cells, whole = {}, {}
    for learner in learners:
        for one, cell in learner["by_hand"].items():
            for row, most in cell.get("rubric", {}).items():
                part = {"points": None, "of": most, "comment": ""}
                cells[learner["learner"], f"{one}: {row}"] = (learner, part)
                whole.setdefault((learner["learner"], one), (cell, {}))[1][row] = part
            if not cell.get("rubric"):
                cells[learner["learner"], one] = (learner, cell)
    if path.exists() and not path.is_file():
        raise GradeError(f"{path} is not a file: move it away, and run the same command to write a new one.")
    try:
        rows = read_table(path) if path.exists() else []
    except (UnicodeDecodeError, csv.Error) as error:
        raise GradeError(f"{path} cannot be read as CSV in UTF-8 ({error}). Nothing was changed.") from None
    kept, columns = {}, list(MANUAL_COLUMNS)
    rows = [
        {
            from_cells(column) if isinstance(column, str) else column: from_cells(value)
            if isinstance(value, str)
            else value
            for column, value in row.items()
        }
        for row in rows
    ]
    for number, row in enumerate(rows, 2):
        if not {"learner", "cell", "points"} <= set(row):
            raise GradeError(f"{path} needs the columns {', '.join(MANUAL_COLUMNS)}. Nothing was changed.")
        if None in row:
            raise GradeError(
                f"{path}, line {number}: there are more values than columns; quote any text that contains a comma. "
                "Nothing was changed."
            )
        key = (row["learner"] or "", row["cell"] or "")
        if key in kept:
            raise GradeError(f"{path}, line {number}: {key[0]} has a second line for {key[1]}. Nothing was changed.")
        kept[key] = row
        columns += [column for column in row if column not in columns]
        if key in whole and (row["points"] or "").strip():
            raise GradeError(
                f"{path}, line {number}: {key[1]} is marked by the rows of its rubric now, {key[1]}: "
                f"{', '.join(whole[key][1])}; move the points there and empty them here. Nothing was changed."
            )
        if key not in cells or not (text := (row["points"] or "").strip()):
            continue
        learner, cell = cells[key]
        try:
            points = float(text.replace(",", "."))
        except ValueError:
            points = -1.0
        if not 0 <= points <= cell["of"]:
            raise GradeError(
                f"{path}, line {number}: points must be a number from 0 to {cell['of']}, got {text!r}. Nothing was "
                "changed."
            )
        cell.update(points=int(points) if points == int(points) else points, comment=row.get("comment") or "")
    for cell, rows in whole.values():
        if all(part["points"] is not None for part in rows.values()):
            cell["points"] = sum(part["points"] for part in rows.values())
        cell["comment"] = "\n".join(
            f"{row}: {part['points']} of {part['of']}{'. ' if part['comment'] else ''}{part['comment']}"
            for row, part in rows.items()
            if part["points"] is not None
        )
    for learner in learners:
        _add_up(learner)
    for (key, one), (learner, cell) in cells.items():
        old = kept.get((key, one), {})
        kept[key, one] = {
            **old,
            "learner": key,
            "name": learner["name"],
            "cell": one,
            "points": old.get("points") or "",
            "of": cell["of"],
            "comment": old.get("comment") or "",
            "page": f"feedback/{learner['page']}",
        }
    if kept:
        _write_table(
            path,
            columns,
            [[row.get(column) or "" for column in columns] for _, row in sorted(kept.items())],
            mark="\ufeff",
        )


def left_out(out):
    """How many files of the last run belong to no learner."""
    path = Path(out) / LEFT_OUT
    return len(read_table(path)) if path.exists() else 0


def unclaimed(out, learners):
    """The lines of manual.csv that have points but belong to no learner of this run."""
    path, known = Path(out) / MANUAL, {learner["learner"] for learner in learners}
    return [
        from_cells(row["learner"])
        for row in (read_table(path) if path.exists() else [])
        if from_cells(row["points"]) and from_cells(row["learner"]) not in known
    ]


def write_tables(out, learners, work, isolated, left_out=()):
    """Write grades.csv, the tables for Moodle and Canvas, the feedback pages and the summary.

    Points that are None become empty cells.

    left_out: files that belong to no learner, with .file and .why.
    """
    lessons = sorted({one[:2] for learner in learners for one in (*learner["exercises"], *learner["by_hand"])})
    exercises = [one for one in work["exercises"] if one[:2] in lessons]
    by_hand = [one for one in work["by_hand"] if one[:2] in lessons]
    _write_table(
        out / GRADES,
        [
            "learner",
            "name",
            "page",
            *exercises,
            *by_hand,
            "total",
            "of",
            "to mark by hand",
            "status",
            "reason",
            "notes",
        ],
        [
            [
                learner["learner"],
                learner["name"],
                f"feedback/{learner['page']}",
                *(learner["exercises"][one]["points"] for one in exercises),
                *(learner["by_hand"][one]["points"] for one in by_hand),
                learner["points"],
                learner["of"],
                learner["waiting"],
                learner["status"],
                learner["reason"][:500],
                "; ".join(learner["notes"])[:500],
            ]
            for learner in learners
        ],
    )
    number = {learner["learner"]: learner["platform"].partition(" ")[2] for learner in learners}
    on = {learner["learner"]: learner["platform"].partition(" ")[0] for learner in learners}
    _write_table(
        out / "moodle.csv",
        ["Identifier", "Full name", "Email address", "Grade", "Maximum Grade", "Feedback comments"],
        [
            [
                f"Participant {number[one['learner']]}" if on[one["learner"]] == "moodle" else "",
                one["name"] or one["learner"],
                one["email"],
                one["points"],
                one["of"],
                in_a_sentence(one),
            ]
            for one in learners
        ],
    )
    title = f"Lessons {', '.join(lessons)}" if len(lessons) > 1 else "".join(work["titles"][one] for one in lessons)
    most = learners[0]["of"] if learners else 0
    _write_table(
        out / "canvas.csv",
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title],
        [
            ["Points Possible", "", "", "", "", most],
            *(
                [
                    one["name"] or one["learner"],
                    number[one["learner"]] if on[one["learner"]] == "canvas" else "",
                    "",
                    one["learner"] if one["listed"] or not one["platform"] else "",
                    "",
                    one["points"],
                ]
                for one in learners
            ),
        ],
    )
    if left_out:
        _write_table(out / LEFT_OUT, ["file", "why"], [[one.file, one.why] for one in left_out])
    else:
        (out / LEFT_OUT).unlink(missing_ok=True)
    folder = out / "feedback"
    folder.mkdir(exist_ok=True)
    write_feedback(folder, learners, work["titles"])
    for page in {path.name for path in folder.glob("*.html")} - {learner["page"] for learner in learners}:
        (folder / page).unlink()
    write_summary(
        out / "summary.html",
        learners,
        work["titles"],
        {
            "lessons": lessons,
            "version": __version__,
            "isolated": isolated,
            "left_out": [(one.file, one.why) for one in left_out],
            "by_hand_waiting": sum(
                cell["points"] is None and bool(cell["text"])
                for learner in learners
                for cell in learner["by_hand"].values()
            ),
        },
    )


def in_a_sentence(learner):
    """A learner's result as text for a comment field."""
    if learner["points"] is None:
        return "Not marked yet: the grader's marking process failed, which is not the learner's fault."
    open_ones = [one for one, mark in learner["exercises"].items() if mark["status"] != "passed"]
    text = f"{learner['points']} of {learner['of']} points."
    text += f" Not yet passed: {', '.join(open_ones)}." if open_ones else ""
    return text + (f" {learner['waiting']} points are still to be marked by hand." if learner["waiting"] else "")


def _write_table(path, header, rows, mark=""):
    """Write a CSV file. mark: its first characters; spreadsheets read a file with a byte order mark as UTF-8."""
    write_whole(path, mark + "".join(map(_line, [header, *rows])))


def _line(row):
    text = io.StringIO()
    # so that it quotes both line ends
    csv.writer(text, lineterminator="\r\n").writerow([for_cells(value) for value in row])
    return text.getvalue()[:-2] + "\n"
