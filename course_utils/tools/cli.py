"""The `course` command."""

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from .. import __version__
from .._support.notebooks import INSTALLED, KINDS, NOTEBOOKS, ROUTES, as_key, part_of, parts
from .publish import PublishError

MESSAGES = {
    "kept": "your version was kept; the course has a newer one. `{course} update{place}` merges its changes and keeps "
    "what you wrote; `{course} reset {number}{place}` saves your version and writes a fresh one.",
    "unreadable": (
        "this file is not a valid notebook and was left unchanged. `{course} reset {number}{place}` saves it and "
        "writes a fresh one."
    ),
}
FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)
ANY_PATH = click.Path(path_type=Path)
RELOAD = "If it is open in JupyterLab, choose File > Reload Notebook from Disk."


def _only_one(context, option, values):
    """The one value of an option; click would take the last of several without a word."""
    if len(values) > 1:
        raise click.UsageError(f"{option.opts[0]} can be given once: mark each assignment by itself.")
    return values[0] if values else None


@contextmanager
def in_one_sentence(*kinds):
    """Errors of these kinds end the command with their message."""
    try:
        yield
    except kinds as error:
        raise click.ClickException(str(error)) from None


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__)
def main():
    """Sentence embeddings, from the first token to a fine-tuned encoder."""
    for stream in (sys.stdout, sys.stderr):  # what a terminal cannot print is replaced
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace" if stream is sys.stderr else "replace")


@main.command()
def doctor():
    """Check this machine: Python, packages, kernel, encoder, disk, memory, hub."""
    from .doctor import main as examine

    sys.exit(examine())


@main.command()
@click.option("--model", help="A hub name or a folder. Default: the packaged encoder.")
@click.option(
    "--data",
    default="course",
    help='"course", "stsb" (from the model hub) or a file: sts-test.csv, or a table with sentence1, sentence2, score.',
)
@click.option("--repeats", default=1000, type=click.IntRange(min=1), help="Resamples for each interval.")
def benchmark(model, data, repeats):
    """Print how well similarities agree with human scores, for GloVe and every layer of an encoder."""
    from ..benchmark import SIMILAR, score_table, similarities
    from ..data import load_scored_pairs
    from ..models import EncoderError

    with in_one_sentence(EncoderError, ValueError, FileNotFoundError):
        pairs = load_scored_pairs(data)
        spaces = similarities(pairs, model)
        table = score_table(spaces, pairs["score"], repeats)
    click.echo(
        f"{len(pairs):,} pairs, {(pairs['score'] >= SIMILAR).mean():.0%} of them similar (score {SIMILAR} or more). "
        "In brackets: 95% bootstrap intervals over pairs.\n"
    )
    click.echo(table.to_string())


@main.command("embed")
@click.argument("texts", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--out", required=True, type=FOLDER, help="The folder of the shards.")
@click.option(
    "--scheduler", metavar="ADDRESS", help="Compute on the cluster of this Dask scheduler, such as tcp://10.0.0.1:8786."
)
@click.option("--shard", default=1000, type=click.IntRange(min=1), help="Texts in a shard.")
@click.option("--model", help="A hub name or a folder. Default: the packaged encoder.")
@click.option(
    "--known",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder of an earlier run: texts that it holds are not computed again.",
)
def embed_file(texts, out, scheduler, shard, model, known):
    """Embed a file of texts, one a line, into a folder of shards. An interrupted run goes on where it stopped."""
    from ..models import EncoderError
    from .corpus import CorpusError, embed_corpus, lines_of

    with in_one_sentence(CorpusError, EncoderError, ValueError, OSError):
        lines = lines_of(texts)
        new, old = embed_corpus(lines, out, scheduler, shard, model, known)
    click.echo(f"{len(lines):,} texts in {new + old} shards: {new} written, {old} found.")


def learners_workspace(command):
    """The --workspace option of commands that need an existing workspace."""
    return click.option(
        "--workspace",
        type=ANY_PATH,
        callback=lambda context, parameter, folder: _workspace(folder),
        help="Folder with your copies of the lessons. Default: the current folder, or `workspace` in it.",
    )(command)


def _workspace(folder):
    """The named workspace; by default the current folder if it is one, else `workspace` in it."""
    from ..diary.workspace import RECORD
    from .workspace.overview import NoWorkspace, existing

    with in_one_sentence(NoWorkspace):
        return existing(folder.expanduser() if folder else Path() if Path(RECORD).is_file() else Path("workspace"))


def _why_unchanged(name, action, workspace):
    """The message about a lesson that was left as it is."""
    place = "" if workspace == Path("workspace") or workspace == Path() else f' --workspace "{workspace}"'
    return f"{name}: {MESSAGES[action].format(course=_course(), number=part_of(name), place=place)}"


def _name_earlier_files(workspace):
    """Say where the further parts stand now, if files of theirs are where they were before."""
    from .workspace.copies import of_the_earlier_layout

    if names := of_the_earlier_layout(workspace):
        click.echo(
            f"{', '.join(names)}: left as {'it is' if len(names) == 1 else 'they are'}; further parts are in `further` "
            "now, under other names, and you can copy your answers there."
        )


def _course():
    """How this user calls the command: `make` does not put it on the PATH."""
    program = Path(sys.executable).with_name("course")
    if shutil.which("course") or not program.exists():
        return "course"
    return str(program.relative_to(Path.cwd()) if program.is_relative_to(Path.cwd()) else program)


@main.command()
@learners_workspace
@click.option("--html", "page", type=FILE, help="Also write the overview to this file, as an HTML page.")
def progress(workspace, page):
    """Show what you have passed, lesson by lesson, and what comes next."""
    from .._support.files import write_whole
    from .workspace.overview import PAGE_MARK, overview

    try:
        picture = overview(workspace)
    except OSError as error:
        raise click.ClickException(f"Cannot read {error.filename}: {error.strerror}.") from None
    try:
        repr(picture).encode(sys.stdout.encoding or "ascii")
        click.echo(repr(picture).replace("✓", click.style("✓", fg="green")))
    except UnicodeEncodeError:
        click.echo(picture.plain())
    if page is None:
        return
    try:
        if page.exists() and not page.read_bytes().startswith(PAGE_MARK.encode()):
            raise click.ClickException(f"{page} is not a progress page, so it was left unchanged. Choose another name.")
        write_whole(page, picture.page())
    except OSError as error:
        raise click.ClickException(f"Cannot write {page}: {error.strerror or error}.") from None
    click.echo(f"\nAs a page: {page}")


@main.command()
@click.option("--by-doing", is_flag=True, help="Judge by one exercise of each core instead, those you have passed.")
@click.option("--workspace", type=ANY_PATH, help="With --by-doing: the folder with your copies of the lessons.")
def place(by_doing, workspace):
    """Find out where to begin: twenty questions in ten minutes. In a notebook, place() asks the same."""
    from .ideas import asking

    if by_doing:
        click.echo(asking.plain(asking.by_doing(_workspace(workspace))))
    else:
        _ask(asking.Placing())


@main.command()
@learners_workspace
def review(workspace):
    """Ask what is due today, in about five minutes. In a notebook, review() asks the same.

    The schedule is FSRS. If you use the cards of `course cards` in Anki, choose one of the two.
    """
    from ..diary.schedule import ScheduleProblem
    from .ideas import asking

    with in_one_sentence(ScheduleProblem, OSError):
        _ask(asking.Reviewing(workspace))


def _ask(session):
    from .ideas.asking import in_terminal

    def read(prompt, choices):
        if not choices:
            return click.prompt(prompt, default="", show_default=False)
        return click.prompt(prompt, type=click.Choice(list(choices), case_sensitive=False)).upper()

    in_terminal(session, read, click.echo)


@main.command()
@click.argument("before", type=FILE)
@click.argument("after", type=FILE)
@click.option("--out", type=FILE, help="Also write the table to this file, as CSV.")
def gains(before, after, out):
    """What a class has learned: its answers to `course quiz --before` and `--after`, as its platform exports them."""
    from .._support.files import write_whole
    from .ideas.gains import GainsProblem, gains, in_words, read_both

    with in_one_sentence(GainsProblem, OSError):
        table, learners, notices = gains(*read_both(before, after))
        if out:
            write_whole(out, table.round(3).to_csv(index_label="idea"))
    click.echo("\n".join(in_words(table, learners, notices)))


@main.command()
@click.argument("lesson", metavar="NN", required=False)
@learners_workspace
@click.option("--forget", "forgotten", is_flag=True, help="Also forget which of its exercises you passed.")
def reset(lesson, workspace, forgotten):
    """Restore lesson NN, or a further part such as 05-layer, to the course's version.

    Yours is saved first, in the folder yours_saved beside it.
    """
    from ..diary.passed import forget, passed_in
    from .workspace.copies import CopyError, reset_lesson

    if lesson is None:
        raise click.UsageError("Which lesson? Name it as in: course reset 04")
    key = as_key(lesson)
    with in_one_sentence(CopyError):
        name, saved = reset_lesson(workspace, key)
    click.echo(f"{name} is restored to the course's version{f'; yours is saved as {saved}' if saved else ''}.")
    if saved:
        click.echo(RELOAD)
    if not forgotten and passed_in(workspace, key):
        click.echo("The exercises that you passed still count as passed; use --forget to clear them.")
    if forgotten:
        try:
            gone = forget(workspace, key)
        except OSError as error:
            raise click.ClickException(
                f"Cannot update the record of passed exercises: {error.strerror or error}."
            ) from None
        click.echo(f"Forgotten: {', '.join(sorted(gone)) or 'nothing, as none were passed'}.")


@main.command()
@learners_workspace
def update(workspace):
    """Update your lessons to the current course. Nothing that you wrote is lost."""
    from .workspace.copies import CopyError, update_workspace

    with in_one_sentence(CopyError):
        report = update_workspace(workspace)
    _name_earlier_files(workspace)
    for name, action, words in report:
        if action in MESSAGES:
            click.echo(_why_unchanged(name, action, workspace))
        elif action != "unchanged":
            words = words or {"written": "written", "renewed": "renewed; you had not edited it"}[action]
            click.echo(f"{name}: {words}")
    if any(action in ("renewed", "merged") for _, action, _ in report):
        click.echo(RELOAD.replace("it is", "one of these is"))
    elif all(action in ("unchanged", "unreadable") for _, action, _ in report):
        click.echo("Nothing has changed: your lessons are up to date.")


@main.command("lab", context_settings={"ignore_unknown_options": True})
@click.option(
    "--workspace",
    type=ANY_PATH,
    default=Path("workspace"),
    help="Folder for your copies of the lessons. Your changes there are never overwritten.",
)
@click.option(
    "--write-only",
    is_flag=True,
    help="Only write the copies; do not start JupyterLab. For a JupyterHub, which has its own.",
)
@click.option(
    "--live",
    metavar="NN",
    help="Also write a live copy of this lesson, such as 04, for typing its code in front of a class or before reading "
    "it, and open it beside that code.",
)
@click.option(
    "--route",
    type=click.Choice([name.split()[-1] for name in ROUTES]),
    help="Print the lessons of this route, and open the first one that is not finished.",
)
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def open_lab(workspace, write_only, live, route, flags):
    """Write your copies of the lessons and open JupyterLab on the first one. Further FLAGS go to JupyterLab."""
    from ..models import ENV_VAR
    from .workspace import lab
    from .workspace.copies import CopyError, write_workspace

    workspace = workspace.expanduser()
    if lab.keep_jupyter_files_out_of_home(workspace):
        click.echo(f"Your home folder cannot be written, so Jupyter keeps its files in {workspace / lab.LAB_FILES}.")
    page = _print_route(workspace, route) if route else lab.FIRST_PAGE
    page = _write_live(workspace, live) if live else page
    if not write_only and (server := lab.find_running_server(workspace, page)):
        click.echo(
            f"JupyterLab is already running on this workspace, on port {server['port']}: continue at "
            f"{server['address']}, or stop it (Ctrl-C twice in its terminal) and run this again."
        )
        return
    with in_one_sentence(CopyError):
        report = write_workspace(workspace)
    _name_earlier_files(workspace)
    for name, action in report:
        if action in MESSAGES:
            click.echo(_why_unchanged(name, action, workspace))
    lessons = {name: action for name, action in report if name[0].isdigit()}  # there is also a glossary
    written = sum(action in ("written", "renewed") for action in lessons.values())
    cores = sum(len(part_of(name)) == 2 for name in lessons)
    click.echo(
        f"Your lessons are in {workspace.resolve()}: {cores} lessons and {len(lessons) - cores} further parts, "
        f"{f'{written} of them newly written' if written else 'all already there'}."
    )
    if not route:
        click.echo("One day, all cores, or everything? --route day, course or everything shows the way.")
    lab.write_today(workspace)
    if write_only:
        return
    # so that Lab's terminals find `course`
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    if (encoder := os.environ.get(ENV_VAR)) and Path(encoder).expanduser().is_dir():
        os.environ[ENV_VAR] = str(Path(encoder).expanduser().resolve())  # kernels have other working folders
    lab.write_first_layout(workspace)
    command = lab.command_line(workspace, flags, page)
    if sys.platform == "linux":
        from .kernels.provisioner import start_warm

        start_warm()
    if os.name == "posix":
        os.execv(command[0], command)  # so that Ctrl-C reaches only JupyterLab
    sys.exit(subprocess.call(command))


def _print_route(workspace, route):
    """Print the lessons of a route. Returns JupyterLab's page of the first one that has an open exercise."""
    from .workspace.overview import overview

    picture = overview(workspace).on(next(name for name in ROUTES if name.split()[-1] == route))
    click.echo("\n".join(picture.plan()))
    lesson = picture.next[0] if picture.next else picture.lessons[0]
    return f"tree/{parts()[lesson.key].relative_to(NOTEBOOKS).as_posix()}"


def _write_live(workspace, key):
    """Write a live copy. Returns JupyterLab's page of it."""
    from .workspace import lab
    from .workspace.copies import CopyError
    from .workspace.live import write_live

    with in_one_sentence(CopyError):
        file, edited = write_live(workspace, key)
    click.echo(
        f"{file}: you have worked in it, so it was kept; rename or delete it, and run this again for a new one."
        if edited
        else f"The live copy is {file}, and the code to type is beside it in {file.with_suffix('.html').name}."
    )
    return lab.write_side_by_side(workspace, file)


@main.command()
@click.option(
    "--lessons", multiple=True, required=True, metavar="NN", help="Lessons and further parts: 05 05-layer, or 04,05."
)
@click.argument("more", nargs=-1, metavar="[NN]...")
@click.option("--out", type=FOLDER, required=True, help="Folder for the copies and manifest.json.")
@click.option(
    "--due",
    default="",
    show_default=False,
    help='The deadline to show to learners, such as "Friday, 4 December, 18:00".',
)
@click.option(
    "--without-solutions",
    is_flag=True,
    help="solution() shows no answers in these copies. They stay in the installed course, for who looks there.",
)
def release(lessons, more, out, due, without_solutions):
    """Write copies of lessons to give to a class, with points: course release --lessons 04 05 --out DIR."""
    from .grading.release import write_release
    from .workspace.copies import CopyError

    with in_one_sentence(CopyError):
        manifest = write_release(_numbers([*lessons, *more]), out, due, solutions=not without_solutions)
    click.echo(
        f"{len(manifest['lessons'])} {'lesson' if len(manifest['lessons']) == 1 else 'lessons'}, {manifest['of']} "
        f"points together, in {out}."
    )


def _numbers(texts):
    """("04,05", "06") as ("04", "05", "06")."""
    return tuple(sorted({number for text in texts for number in text.replace(",", " ").split()}))


class Part(click.ParamType):
    """K/N, such as 3/10."""

    name = "K/N"

    def convert(self, value, param, ctx):
        first, _, last = str(value).partition("/")
        if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
            self.fail(f"{value!r} is not of the form K/N, with K from 1 to N, such as 3/10")
        return int(first), int(last)


@main.command()
@click.argument("submissions", type=ANY_PATH)
@click.option("--out", type=FOLDER, required=True, help="Folder for all results; created if it does not exist.")
@click.option(
    "--lessons",
    multiple=True,
    metavar="NN,NN",
    help="The lessons and further parts that count, such as 05,05-layer. Default: all that anyone handed in.",
)
@click.option("--roster", type=ANY_PATH, help="A CSV file of the class with the columns id, name, email.")
@click.option(
    "--workers", type=click.IntRange(1, 256), help="Number of marking processes. Default: one per processor, at most 8."
)
@click.option(
    "--only",
    multiple=True,
    metavar="LEARNER",
    help="Mark only this learner and keep the others' results. Can be given several times.",
)
@click.option("--regrade", is_flag=True, help="Also mark again what has not changed.")
@click.option("--seconds", type=click.IntRange(5, 86400), default=120, help="Time limit for one notebook, in seconds.")
@click.option(
    "--memory",
    type=click.IntRange(256, 2**20),
    default=2048,
    help="Memory limit for one notebook in MB, in addition to what the course itself uses.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Draw the same inputs as an earlier run. Default: new inputs.")
@click.option(
    "--scheduler", metavar="ADDRESS", help="Mark on the cluster of this Dask scheduler, such as tcp://10.0.0.1:8786."
)
@click.option(
    "--part",
    type=Part(),
    default="1/1",
    help="Mark only every N-th hand-in, for job arrays. Afterwards, a run without --part writes the tables.",
)
@click.option(
    "--due",
    metavar="DATE",
    help='The deadline, such as "2026-12-04 18:00". Needs --received. Later runs keep it, until --due none.',
)
@click.option(
    "--late",
    metavar="RULE",
    help='What late days cost, such as "10% a day, at most 50%" or "none". Default: late hand-ins are only listed.',
)
@click.option(
    "--received",
    type=ANY_PATH,
    multiple=True,
    callback=_only_one,
    help="A CSV file of dates from the learning platform: learner, received, lesson.",
)
@click.option(
    "--resemblance",
    is_flag=True,
    help="Also write resemblance.html and .csv: which hand-ins share more code than chance explains. No mark changes.",
)
@click.option(
    "--nbgrader", "course", type=FOLDER, help="Also write points and hand-ins to this nbgrader course folder."
)
@click.option(
    "--feedback-zip",
    type=click.Choice(["moodle", "canvas"]),
    help="Also write the learners' pages to a zip, named as this platform takes them back.",
)
@click.option(
    "--secret-pages",
    is_flag=True,
    help="Give the learners' pages names that nobody can guess, now and in later runs, to publish the folder.",
)
@click.option("--names", is_flag=True, help="Say in class.html and class.csv who made which mistake.")
@click.option(
    "--book",
    default="",
    show_default=False,
    metavar="ADDRESS",
    help="Where the links of class.html find the book. Default: beside it, if it is there.",
)
@click.option(
    "--decks",
    default="",
    show_default=False,
    metavar="ADDRESS",
    help="Where the links of class.html find the decks. Default: beside it, if they are there.",
)
@click.option(
    "--unsafe-no-isolation",
    "unsafe",
    is_flag=True,
    help="Run learners' code with YOUR rights. Only for code that you would run yourself.",
)
def grade(submissions, out, lessons, part, memory, course, unsafe, **options):
    """Mark a class: SUBMISSIONS is a folder or a zip of notebooks, as a learning platform exports them."""
    if os.name != "posix":
        raise click.ClickException(
            "The grader needs Linux. On Windows, use WSL: Windows lacks what the grader needs to isolate submissions."
        )
    from .grading.class_run import Options, grade
    from .grading.manual import unclaimed
    from .grading.records import doubtful_owners
    from .grading.sandbox import SandboxError
    from .grading.store import GradeError
    from .grading.submissions import HandInError
    from .grading.tables import count_left_out

    if unsafe:
        click.echo(
            "Warning: learners' code runs with your own rights, and can read, change and send what you can.", err=True
        )
    try:
        with _signals_as_ctrl_c():
            how = Options(
                lessons=_numbers(lessons) or None,
                isolated=not unsafe,
                memory=memory * 2**20,
                part=part,
                beside=[course] if course else [],
                **options,
            )
            learners = grade(submissions, out, how, _bar, lambda sentence: click.echo(sentence, err=True))
        if course is not None and part[1] == 1:
            from .grading.nbgrader_course import export

            click.echo(f"nbgrader: {export(learners, course)} submissions written to {course}.")
    except (GradeError, SandboxError, HandInError, ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt as stop:
        with suppress(OSError):  # the terminal may be gone
            click.echo(f"Stopped. What was marked is kept in {out}; run the same command to continue.", err=True)
        sys.exit(128 + (stop.args[0] if stop.args else signal.SIGINT))
    if part[1] > 1:
        click.echo(f"Part {part[0]} of {part[1]} is marked. When all parts are, run the command without --part.")
        return
    try:
        _print_summary(learners, out, count_left_out(out), unclaimed(out, learners))
        if options["resemblance"]:
            click.echo(f"Resemblance: {out / 'resemblance.html'}")
        if name := options["feedback_zip"]:
            click.echo(f"For {name.title()}: {out / f'feedback_{name}.zip'}")
    except OSError as error:
        raise click.ClickException(
            f"All results are in {out}, but a summary cannot be printed: {error.strerror}."
        ) from None
    if lost := [learner.learner for learner in learners if learner.points is None]:
        click.echo(
            f"Not marked: {', '.join(lost[:20])}{f' and {len(lost) - 20} more' if len(lost) > 20 else ''}. They have "
            "no points yet; run the same command to try again.",
            err=True,
        )
        sys.exit(3)
    if doubt := doubtful_owners(learners):
        click.echo(doubt, err=True)
        sys.exit(4)


@contextmanager
def _signals_as_ctrl_c():
    """Treat SIGTERM and SIGHUP (a scheduler, a closed terminal) as Ctrl-C, so that the run cleans up."""

    def stop(number, _):
        raise KeyboardInterrupt(number)

    # `nohup` ignores SIGHUP
    mine = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_DFL]
    for number in mine:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, signal.SIG_DFL)


def _print_summary(learners, out, left_out, unclaimed):
    """Print the outcome of marking a class."""
    states = Counter(learner.status for learner in learners)
    click.echo(
        f"{len(learners)} learners: " + ", ".join(f"{number} {state}" for state, number in states.most_common()) + "."
    )
    click.echo(f"Grades: {out / 'grades.csv'}\nSummary: {out / 'summary.html'}\nFeedback: {out / 'feedback'}")
    click.echo(f"For the next lecture: {out / 'class.html'}")
    if left_out:
        click.echo(
            f"Left out: {left_out} {'file that belongs' if left_out == 1 else 'files that belong'} to no learner; see "
            f"{out / 'left_out.csv'}.",
            err=True,
        )
    if unclaimed:
        click.echo(
            f"manual.csv: lines of {', '.join(unclaimed[:5])} belong to no learner of this run and are not counted.",
            err=True,
        )
    if any(learner.waiting for learner in learners):
        click.echo(f"To mark by hand: fill in the points in {out / 'manual.csv'} and run this again.")


def _bar(results, total):
    """Wrap results in a progress bar with the time left."""
    from tqdm import tqdm

    hidden = sys.stderr is None or (None if os.environ.get("TQDM_DISABLE") else not total)  # a scheduler may close it
    return tqdm(results, total=total, desc="Marking", unit="notebook", mininterval=0.5, disable=hidden)


@main.command()
@click.argument("lesson")
@click.option("--out", type=FOLDER, default=Path("."), help="Folder for the deck; created if it does not exist.")
@click.option("--pdf", is_flag=True, help="Also print each deck to a PDF, with Chromium.")
@click.option(
    "--book",
    default=None,
    show_default=False,
    metavar="ADDRESS",
    help="Where the book is, for links from the pictures of explorers. Default: build/book, or beside the decks.",
)
def slides(lesson, out, pdf, book):
    """Write the lecture deck of a LESSON, such as 05, or of "all": one self-contained HTML file for each.

    Press S for the speaker's notes.
    """
    from .publish.slides import book_seen_from, lectures, write_deck, write_pdf

    problem, found = "", book_seen_from(out) if book is None else book
    with in_one_sentence(PublishError):
        for number in lectures() if lesson == "all" else [lesson]:
            target = write_deck(number, out, book=found)
            click.echo(f"{target} ({target.stat().st_size / 1e6:.1f} MB)")
            if pdf and not problem and not (problem := write_pdf(target)):
                click.echo(f"{target.with_suffix('.pdf')}")
    click.echo("Open a deck in a browser; S opens the notes, ? lists all keys.")
    if found is None:
        click.echo("There is no book here, so no slide links to it; `course book` writes one.")
    if problem:
        raise click.ClickException(problem)


@main.command()
@click.option(
    "--out", type=ANY_PATH, default=Path("build/book"), help="Folder for the book. An older book there is replaced."
)
def book(out):
    """Write all lessons as a book: a static site and, with Chromium, a PDF."""
    from .publish.book import write_book

    with in_one_sentence(PublishError):
        page = write_book(out, say=click.echo)
    click.echo(f"The book is ready. Open {page}")


@main.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(["moodle", "qti"]),
    required=True,
    help="moodle: Moodle XML. qti: an IMS content package of QTI 2.1 items.",
)
@click.option(
    "--lesson", "lessons", multiple=True, metavar="NN", help="Can be given several times. Default: all lessons."
)
@click.option(
    "--out", type=FILE, required=True, help="The file to write. An earlier export there is replaced, and nothing else."
)
@click.option(
    "--before/--after",
    "first",
    default=None,
    help="The concept inventory instead, in one of its two forms: for before the course, or for after it.",
)
def quiz(form, lessons, out, first):
    """Write the questions of the lessons as a question bank for a learning platform."""
    from .publish import question_banks

    with in_one_sentence(PublishError):
        if first is None:
            bank = question_banks.questions(_numbers(lessons))
        else:
            bank = question_banks.of_inventory("before" if first else "after", _numbers(lessons))
        replaced = question_banks.write_export(out, getattr(question_banks, form)(bank))
    click.echo(f"{len(bank)} questions in {out}.{' An earlier export was replaced.' if replaced else ''}")


@main.command()
@click.option(
    "--out",
    type=FILE,
    required=True,
    help="The file to write, such as cards.apkg. An earlier export there is replaced, and nothing else.",
)
def cards(out):
    """Write cards for Anki: the terms of the glossary, and the known mistakes of the exercises."""
    from .publish import cards as anki
    from .publish.question_banks import write_export

    with in_one_sentence(PublishError):
        content, terms, mistakes = anki.deck()
        replaced = write_export(out, content)
    click.echo(
        f"{terms} terms and {mistakes} mistakes in {out}.{' An earlier export was replaced.' if replaced else ''}"
    )


def _in_a_clone():
    if INSTALLED:
        raise click.ClickException("Lessons are written in a clone of the repository; this course is installed.")


@main.command()
@click.option("--out", type=FOLDER, required=True, help="Folder for the copies and for what pip shall install there.")
def colab(out):
    """For releases: write learner's copies for Google Colab, each with a first cell that installs the course."""
    from .publish.elsewhere import write_colab

    _in_a_clone()
    with in_one_sentence(PublishError, OSError):
        written = write_colab(out)
    click.echo(f"{len(written)} files written to {out}.")


@main.command()
def links():
    """For authors: renew the badge and the links to Colab, Binder and a codespace in the READMEs."""
    from .publish.elsewhere import write_links

    _in_a_clone()
    with in_one_sentence(PublishError, OSError):
        changed = write_links()
    for path in changed:
        click.echo(f"{_short(path)}: renewed.")
    if not changed:
        click.echo("Badge and links are up to date.")


@main.command("new-exercise")
@click.argument("lesson", metavar="NN")
@click.argument("name")
@click.option("--title", help="Default: made from the name.")
def new_exercise(lesson, name, title):
    """For authors: write the skeleton of exercise NAME, such as weighted-pool, into lesson NN."""
    from . import authoring

    _in_a_clone()
    with in_one_sentence(ValueError, OSError):
        path, code, words, answers = authoring.new_exercise(lesson, name, title)
    click.echo(
        f"Written: text, answer and check in {_short(path)}; cases and mistakes in {_short(code)}; title, hints and "
        f"messages in {_short(words)}; right and wrong answers in {_short(answers)}."
    )
    click.echo(
        "All of it stands at the end of each file: move the three cells to where they belong, and the rest into the "
        "order of the lesson."
    )
    click.echo(
        f"Fill in everything marked TODO, then: make lesson L={lesson}. PROMISES are required: for each promise of the "
        "text an answer that breaks only this, or a mistake whose `breaks` has its words."
    )


@main.command("new-lesson")
@click.argument("number", metavar="NN")
@click.argument("title")
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default="full",
    help=". ".join(f"{kind}: {meaning}" for kind, meaning in KINDS.items()) + ".",
)
def new_lesson(number, title, kind):
    """For authors: write the skeleton of lesson NN."""
    from . import authoring

    _in_a_clone()
    with in_one_sentence(ValueError, OSError):
        path = authoring.new_lesson(number, title, kind)
    click.echo(f"Written: {_short(path)}, a row in the table of README.md, and tests/claims/{number}.toml.")
    click.echo("\n".join([*authoring.needed_by(number, kind), f"Then: make lesson L={number}."]))


@main.command("new-lecture")
@click.argument("number")
def new_lecture(number):
    """For authors: write the skeleton of the lecture of lesson NN, or of a further part."""
    from . import authoring

    _in_a_clone()
    with in_one_sentence(ValueError, OSError):
        path = authoring.new_lecture(as_key(number))
    click.echo(f"Written: {_short(path)}. Then: course slides {number}.")


def _short(path):
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


if __name__ == "__main__":
    main()
