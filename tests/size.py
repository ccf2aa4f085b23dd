"""How large the course is, room by room, and what changed: `python -m tests.size [COMMIT]`.

A report that `make test` ends with, and no limit. Code is counted in tokens of Python without
comments and docstrings, so neither a line break nor a docstring costs anything. Lessons have two
rows: the tokens of their code cells, and the words of their text. The change is the one since
COMMIT: by default the last tag or, without tags, a hundred commits back.
"""

import contextlib
import io
import subprocess
import sys
import tarfile
import tokenize
from collections import Counter
from pathlib import PurePosixPath

import nbformat

from .project import ROOT, checkout

FOLDERS = ("course_utils", "tests", "notebooks")
COMMITS_BACK = 100
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
# A docstring is a text that is a statement: it follows one of these.
BEFORE_A_STATEMENT = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}


def tokens(code):
    """How many tokens a Python program has, given as bytes, without comments and docstrings.

    Of one with an error, as a cell may have on purpose, those that stand before it.
    """
    count = 0
    before = tokenize.ENCODING
    with contextlib.suppress(SyntaxError, tokenize.TokenError):
        for token in tokenize.tokenize(io.BytesIO(code).readline):
            is_docstring = token.type == tokenize.STRING and before in BEFORE_A_STATEMENT
            if token.type not in LAYOUT and not is_docstring:
                count += 1
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                before = token.type
    return count


def room_of(path):
    """The row of a file: its folder in course_utils, or else that of all tests or notebooks."""
    top, *folders = path.parent.parts
    if top == "tests" or not folders:
        return "course_utils/*.py" if top == "course_utils" else top
    return f"{top}/{folders[0]}"


def sizes(files):
    """{row: size} of files, {path: content as bytes}."""
    size_of = Counter()
    for name, content in files.items():
        path = PurePosixPath(name)
        room = room_of(path)
        if path.suffix == ".py":
            size_of[room] += tokens(content)
        elif path.suffix == ".ipynb":
            for cell in nbformat.reads(content.decode("utf-8"), as_version=4).cells:
                if cell.cell_type == "code":
                    size_of[f"{room}, code"] += tokens(cell.source.encode())
                elif cell.cell_type == "markdown":
                    size_of[f"{room}, words"] += len(cell.source.split())
    return size_of


def git(*arguments):
    """What git prints, as bytes, and nothing where it fails: outside a checkout, say."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True).stdout


def default_commit():
    """The last tag, a hundred commits back, or "" where there is neither."""
    tag = git("describe", "--tags", "--abbrev=0")
    return (tag or git("rev-list", "-1", f"--skip={COMMITS_BACK}", "HEAD")).decode().strip()


def files_now():
    """The files of FOLDERS as they are in the checkout, {path: content}."""
    names = [name for name in checkout(ROOT) if name.startswith(FOLDERS)]
    return {name: (ROOT / name).read_bytes() for name in names}


def files_at(commit):
    """The files of FOLDERS at a commit, {path: content}. ValueError where git has none such."""
    archive = git("archive", "--format=tar", commit, "--", *FOLDERS)
    if not archive:
        raise ValueError(f"git has no commit {commit} with {', '.join(FOLDERS)}.")
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        members = [member for member in tar if member.isfile()]
        return {member.name: tar.extractfile(member).read() for member in members}


def report(commit=None):
    """The table: a line for each row, and the change since a commit where there is one."""
    commit = commit or default_commit()
    now = sizes(files_now())
    before = sizes(files_at(commit)) if commit else Counter()
    since = f"since {commit[:8]}" if commit else ""
    lines = [f"{'tokens; of lessons, words, too':32} {'size':>8} {since:>16}".rstrip()]
    for room in sorted(now.keys() | before.keys()):
        change = f"{now[room] - before[room]:+16,}" if commit else ""
        lines.append(f"{room:32} {now[room]:8,} {change}".rstrip())
    if not commit:
        lines.append("git knows no earlier commit to compare with.")
    return "\n".join(lines)


def main(arguments):
    """Print the report, or say why there is none; an exit status."""
    try:
        print(report(*arguments[:1]))
    except ValueError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
