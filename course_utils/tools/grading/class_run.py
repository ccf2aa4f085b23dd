"""Mark a class: find new hand-ins, have them marked, and keep the results.

Each result is stored as it arrives (`store`), so that an interruption loses nothing. The tables and
pages in the results folder are made from these results and what the teacher gives, and are written
atomically.
"""

import os
import random
import secrets
import shutil
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..._support.files import file_sha256, write_whole
from .class_report import check_address, write_report
from .fleet import mark_here
from .handed_files import LeftOut
from .late import Terms, keep, read_lateness, with_kept
from .manual import MANUAL, read_manual
from .marking import assignment, marking_fingerprint
from .platforms import MOODLE, PLATFORMS, worksheet_numbers
from .records import records
from .reports import (
    FEEDBACK_ZIP,
    LEFT_OUT,
    RESEMBLANCE,
    lessons_of,
    table_or_nothing,
    write_feedback_zip,
    write_for_people,
)
from .results import NOT_MARKED, GradeError, LearnerRecord, Result, counted
from .rosters import read_roster
from .sandbox import isolation_problem
from .store import Entry, Store, opened
from .submissions import Gathered, HandIn, gather
from .texts import in_words

# in the results folder
RESULTS, SECRET = "results.jsonl", "page_names.secret"
UNPACKED = ".unpacked"
MOST_WORKERS = 8  # each takes about a gigabyte of memory


@dataclass(frozen=True)
class Options:
    """How a class is marked.

    lessons: those that count, such as ("05", "05-layer"); None for all that were handed in.
    roster: a CSV file.
    workers: marking processes at once; None for `default_workers`.
    only: learners to mark; the others' results stay.
    regrade: mark unchanged hand-ins again.
    isolated: False runs learners' code with your own rights.
    seconds, memory: the time and the bytes that one hand-in may use.
    seed: of the inputs; None draws one.
    beside: other folders that will be written to, which must not be among the submissions either.
    due, late, received: the deadline, the rule about late hand-ins, and the table of dates; see
    `late`.
    names: whether the class report names learners. book, decks: where its links lead.
    resemblance: also write which hand-ins share more than chance explains.
    feedback_zip: also write the learners' pages as this platform takes them back: its name.
    secret_pages: give the learners' pages names that nobody can guess, in this run and all later
    ones.
    """

    lessons: tuple[str, ...] | None = None
    roster: Path | None = None
    workers: int | None = None
    only: tuple[str, ...] = ()
    regrade: bool = False
    isolated: bool = True
    seconds: int = 120
    memory: int = 2 * 2**30
    seed: int | None = None
    beside: tuple[Path, ...] = ()
    due: str | None = None
    late: str | None = None
    received: Path | None = None
    names: bool = False
    book: str = ""
    decks: str = ""
    resemblance: bool = False
    feedback_zip: str | None = None
    secret_pages: bool = False


def grade(
    source: str | Path,
    out: str | Path,
    options: Options = Options(),
    progress: Callable = lambda results, total: results,
    warn: Callable[[str], None] = lambda sentence: None,
) -> list[LearnerRecord]:
    """Mark every hand-in in `source` and write the results to the folder `out`.

    Returns the learners' records: of all, also of those with a result from an earlier run.

    progress: is called with the iterable of results and their number; the class is marked while
    what it returns is iterated over, so it must yield each result.
    warn: is called with each sentence that the teacher should read.

    Raises GradeError, SandboxError or ValueError (a lesson that does not exist or has no exercises,
    an address that is none), each with a one-sentence message.
    """
    out = Path(out)
    # a tuple, since it is the key of a cache
    work = assignment(options.lessons and tuple(options.lessons))
    _refuse_impossible(options)
    roster = read_roster(options.roster) if options.roster else {}
    lessons = list(options.lessons or ())
    given = Terms(options.due, options.late, options.received)
    terms = with_kept(given, out, lessons)
    lateness = read_lateness(terms)
    # what a stored result depends on beside its file: with another of these, it is marked again
    limits = (options.seconds, options.memory, options.isolated)
    made_with = " ".join([marking_fingerprint(), *work["titles"], *map(str, limits)])
    with _os_errors_as_grade_errors(out), ExitStack() as resources:
        _make_folder(out, source, options.beside)
        if any(given):
            keep(terms, out, lessons)
        if lateness and not given.due:
            warn(
                f"An earlier run's deadline counts, {lateness.due:%Y-%m-%d %H:%M}; --due none "
                "removes it."
            )
        store = resources.enter_context(opened(out / RESULTS, anew=options.regrade))
        hand_ins = gather(source, resources.enter_context(_unpacking(out)), roster)
        downloads = {
            path: table_or_nothing(path) for path in (terms.received, options.roster) if path
        }
        # before anything is marked: a wrong file should not cost the time of a run
        _refuse_other_worksheets(downloads, hand_ins)
        _refuse_unknown(options.only, {hand_in.learner for hand_in in hand_ins} | set(roster))
        entries = _mark_new(hand_ins, store, made_with, work, options, progress)
        learners = records(
            hand_ins, entries, roster, work, options.lessons, _secret(out, options.secret_pages)
        )
        warnings = read_manual(out / MANUAL, learners)
        if lateness:
            warnings += lateness.write_to(learners)
        warnings += _write_results(
            out, learners, work, options, hand_ins.left_out, list(downloads.values())
        )
        for sentence in warnings:
            warn(sentence)
        return learners


def _refuse_impossible(options: Options) -> None:
    """Raise GradeError if hand-ins cannot be isolated, ValueError for an address that is none."""
    if options.isolated and (reason := isolation_problem()):
        raise GradeError(
            f"Submissions are untrusted programs, and they cannot be isolated here: {reason}. To "
            "run them with your own rights anyway: --unsafe-no-isolation."
        )
    for address in (options.book, options.decks):
        check_address(address)


def _mark_new(
    hand_ins: Gathered,
    store: Store,
    made_with: str,
    work: Mapping[str, dict],
    options: Options,
    progress: Callable,
) -> dict[tuple[str, str], Entry | None]:
    """Have the hand-ins marked that have no valid result, and store each result as it arrives.

    What is stored about other files is dropped. Returns what is stored about each hand-in, by
    learner and file; None if it was not marked. Raises GradeError (see `_jobs`) and SandboxError.
    """
    jobs = _jobs(hand_ins, store.entries, made_with, options)
    settings = {  # of a marking process, see `fleet`
        "lessons": list(work["titles"]),
        # that nobody can foresee, and short enough to be typed after --seed
        "seed": random.SystemRandom().randrange(10**9) if options.seed is None else options.seed,
        "isolated": options.isolated,
        "seconds": options.seconds,
        "memory": options.memory,
    }
    # whatever stops the run also ends its marking processes
    with closing(
        mark_here(_latest_first(jobs), settings, options.workers or default_workers())
    ) as results:
        for key, result in progress(results, len(jobs)):
            store.put(_entry(jobs[key], made_with, result))
    entries = {
        (hand_in.learner, hand_in.file): store.entries.get((hand_in.learner, hand_in.file))
        for hand_in in hand_ins
    }
    store.keep(entries)
    return entries


def _write_results(
    out: Path,
    learners: list[LearnerRecord],
    work: Mapping[str, dict],
    options: Options,
    left_out: Sequence[LeftOut],
    downloads: Sequence[list[dict[str, str]]],
) -> list[str]:
    """Write the tables and the pages, from the records. Returns warnings.

    left_out, downloads: see `write_for_people`.
    """
    write_for_people(out, learners, work, options.isolated, left_out, downloads)
    titles = [work["titles"][lesson] for lesson in lessons_of(learners)]
    write_report(out, learners, titles, names=options.names, book=options.book, decks=options.decks)
    warnings = _write_extras(out, learners, options)
    if left_out:
        warnings.append(
            f"Left out, of no learner: {counted(len(left_out), 'file')}; see {out / LEFT_OUT}."
        )
    return warnings


def _write_extras(out: Path, learners: list[LearnerRecord], options: Options) -> list[str]:
    """Write what only some options ask for, and delete what an earlier run wrote for them.

    Returns warnings.
    """
    zips = [FEEDBACK_ZIP.format(platform.name) for platform in PLATFORMS]
    for name in (*RESEMBLANCE, *zips):
        (out / name).unlink(missing_ok=True)
    if options.resemblance:
        from .resemblance import write_resemblance  # reads all lessons, which takes seconds

        write_resemblance(out, learners)
    platform = options.feedback_zip
    if platform and not write_feedback_zip(out, learners, platform):
        return [
            f"No hand-in has a number of {platform.title()}, so "
            f"{FEEDBACK_ZIP.format(platform)} is empty."
        ]
    return []


def default_workers() -> int:
    """The number of processors that this process may use, at most MOST_WORKERS."""
    processors = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count()  # macOS does not say which ones this process may use
    )
    return min(MOST_WORKERS, processors or 1)


def _refuse_other_worksheets(
    downloads: Mapping[Path | str, list[dict[str, str]]], hand_ins: Gathered
) -> None:
    """Raise GradeError for a worksheet with none of the numbers of these hand-ins.

    Moodle numbers learners anew for each assignment.

    downloads: the rows of each table, by its path. A table without such numbers is no worksheet.
    """
    numbers = {hand_in.number for hand_in in hand_ins if hand_in.platform == MOODLE.name}
    for path, rows in downloads.items():
        worksheet = worksheet_numbers(rows)
        if numbers and worksheet and not numbers & worksheet:
            raise GradeError(
                f"{path} is the worksheet of another assignment: it has none of the numbers of "
                f"these hand-ins, such as {min(numbers)}."
            )


def _secret(out: Path, wanted: bool) -> bytes | None:
    """The secret that the pages' names are made with, None for plain names.

    It is kept in the results folder, so that the names stay: a later run finds it, `wanted` or not.
    """
    path = out / SECRET
    if wanted and not path.exists():
        write_whole(path, secrets.token_hex(32) + "\n")  # 256 bits, for HMAC-SHA256
    return path.read_bytes() if path.exists() else None


# ---------------------------------------------------------------- before anything is marked


def _make_folder(out: Path, source: str | Path, beside: Collection[str | Path]) -> None:
    """Create the results folder.

    Raises GradeError if it, or a folder of `beside`, is the submissions folder or inside it: the
    results would be taken for hand-ins.
    """
    submissions = Path(source).resolve()
    for folder in (out, *map(Path, beside)):
        if submissions.is_dir() and folder.resolve().is_relative_to(submissions):
            raise GradeError(
                f"{folder} is the submissions folder, or is inside it: choose a results folder "
                f"outside {source}."
            )
    out.mkdir(parents=True, exist_ok=True)


@contextmanager
def _os_errors_as_grade_errors(out: Path) -> Generator[None]:
    """Turn faults of the machine, such as a full disk, into one sentence.

    They never count as marks.
    """
    try:
        yield
    except OSError as error:
        where = error.filename2 or error.filename or out
        raise GradeError(
            f"Stopped at {os.fsdecode(where)}: {error.strerror or error}; once that is fixed, run "
            "the same command to continue."
        ) from None


@contextmanager
def _unpacking(out: Path) -> Generator[Path]:
    """Create a folder for unpacked archives, and remove it afterwards.

    What a killed run left under this name is removed first; of a link, only the link.
    """
    folder = out / UNPACKED
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
    else:
        folder.unlink(missing_ok=True)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---------------------------------------------------------------- what is to be marked


def _refuse_unknown(only: Collection[str], names: set[str]) -> None:
    """Raise GradeError if --only names somebody who is not of this class."""
    if unknown := set(only) - names:
        raise GradeError(f"--only: there is no such learner as {in_words(unknown)}.")


def _is_valid(entry: Entry | None, hand_in: HandIn, made_with: str, seed: int | None) -> bool:
    """Whether a stored result is still that of a hand-in, so that it need not be marked again.

    seed: the one asked for, with which all its marks must have been made; None for any.
    """
    return (
        entry is not None
        and entry.sha256 == hand_in.sha256
        and entry.made_with == made_with
        and entry.result.status != NOT_MARKED
        and (seed is None or all(mark.seed == seed for mark in entry.result.exercises.values()))
    )


def _jobs(
    hand_ins: Gathered, entries: Mapping[tuple[str, str], Entry], made_with: str, options: Options
) -> dict[int, HandIn]:
    """The hand-ins to mark, by their place in `hand_ins`.

    Raises GradeError if --only leaves a hand-in of another learner without a result of these
    settings.
    """
    jobs = {}
    for place, hand_in in enumerate(hand_ins):
        entry = entries.get((hand_in.learner, hand_in.file))
        if hand_in.path is None:
            continue
        if options.only and hand_in.learner not in options.only:
            if entry is None or entry.made_with != made_with:
                raise GradeError(
                    "--only needs results for all other learners with the same settings, and "
                    f"{hand_in.learner} has none: mark the class once without --only."
                )
        elif options.regrade or not _is_valid(entry, hand_in, made_with, options.seed):
            jobs[place] = hand_in
    return jobs


def _latest_first(jobs: Mapping[int, HandIn]) -> list[dict[str, object]]:
    """These jobs for `fleet.mark_here`, a learner's latest first.

    If a learner's time runs out, it does so on the hand-ins that count least.
    """
    ordered = sorted(
        jobs, key=lambda key: (jobs[key].learner, -jobs[key].turn, -jobs[key].modified)
    )
    return [
        {
            "key": key,
            "name": jobs[key].file,
            "path": str(jobs[key].path),
            "learner": jobs[key].learner,
        }
        for key in ordered
    ]


def _entry(hand_in: HandIn, made_with: str, result: Result) -> Entry:
    """What is stored about a hand-in: its result, or NOT_MARKED if its file changed meanwhile."""
    # these could be the marks of the old content or of the new
    if hand_in.path and hand_in.path.exists() and file_sha256(hand_in.path) != hand_in.sha256:
        result = Result(NOT_MARKED, "it changed while the class was being marked")
    return Entry(hand_in.learner, hand_in.name, hand_in.file, hand_in.sha256, made_with, result)
