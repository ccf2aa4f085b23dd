"""Do the tests notice what is broken? `python -m tests.sabotage [WORD ...]` (`make sabotage`); part of `make nightly`.

Each breakage in sabotage.toml is a small change to one file. It is made in a copy of the checkout, and the tests that
ought to notice it (those of `make test`; with `-m nightly`, nightly ones) are run there, first without the change: they
must pass, and with it at least one must fail. WORDs choose breakages by their room, file or description.
"""

import os
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from queue import Queue

from tqdm import tqdm

from .offline import block_network
from .project import ROOT, copy_checkout

LIST = Path(__file__).with_suffix(".toml")
COPIES = 2  # as many run side by side
SECONDS = 600  # for the tests of one breakage
PASSED, FAILED, NOTHING_RAN = 0, 1, 5  # pytest's exit statuses


class Stale(Exception):
    """A breakage that does not fit the files as they are."""


@dataclass(frozen=True)
class Breakage:
    """In `file`, `old` (which stands there once) becomes `new`; without `old`, `new` is the whole file."""

    room: str
    what: str
    file: str
    new: str
    tests: tuple[str, ...]
    old: str = ""

    def broken(self, text):
        if not self.old:
            return self.new
        if text.count(self.old) != 1:
            raise Stale(
                f"{self.file} has {self.old!r} {text.count(self.old)} times, not once: renew {LIST.name}"
            )
        return text.replace(self.old, self.new)


def breakages(words=()):
    """Those of the list that have all the words."""
    rows = tomllib.loads(LIST.read_text())["breakage"]
    listed = [Breakage(**{**row, "tests": tuple(row["tests"])}) for row in rows]

    def has_all_words(breakage):
        return all(word in f"{breakage.room} {breakage.file} {breakage.what}" for word in words)

    return list(filter(has_all_words, listed))


class Copy:
    """A copy of the checkout, where files can be broken."""

    def __init__(self, folder):
        self.folder = folder
        copy_checkout(folder, ROOT)
        (folder / ".venv").symlink_to(ROOT / ".venv")
        # some tests ask git which files there are
        for command in (["init", "--quiet"], ["add", "--all"]):
            subprocess.run(["git", *command], cwd=folder, check=True)

    @cached_property
    def environment(self):
        # stale bytecode would hide a change of the same size within the same second
        own = {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        return {**os.environ, **own, "TQDM_DISABLE": "1", "OMP_NUM_THREADS": "1"}

    def run(self, tests, *flags):
        """pytest's exit status, and the end of what it prints."""
        command = [sys.executable, "-m", "pytest", *"-q -p no:cacheprovider -rs -m".split()]
        how = {"cwd": self.folder, "env": self.environment, "timeout": SECONDS}
        try:
            done = subprocess.run(
                [*command, "not nightly", *flags, *tests], capture_output=True, text=True, **how
            )
        except subprocess.TimeoutExpired:
            return None, f"no end within {SECONDS} s"
        return done.returncode, (done.stdout + done.stderr)[-2000:]

    def notices(self, breakage):
        """Whether a test fails with the breakage, and pytest's last lines."""
        path = self.folder / breakage.file
        before = path.read_bytes()
        path.write_text(breakage.broken(before.decode("utf-8")), encoding="utf-8")
        try:
            status, printed = self.run(breakage.tests, "-x")
        finally:
            path.write_bytes(before)
        return status == FAILED, printed


def tried(chosen, bar):
    """{breakage: "noticed", or a sentence that says why not}, with COPIES copies side by side."""
    with tempfile.TemporaryDirectory() as room, ThreadPoolExecutor(COPIES) as pool:
        free = Queue()
        for number in range(COPIES):
            (folder := Path(room, str(number))).mkdir()
            free.put(Copy(folder))

        def call(method, *arguments):
            copy = free.get()
            try:
                return getattr(copy, method)(*arguments)
            finally:
                free.put(copy)
                bar.update()

        selections = list(dict.fromkeys(breakage.tests for breakage in chosen))
        without_breakage = dict(
            zip(selections, pool.map(lambda tests: call("run", tests), selections))
        )

        def outcome(breakage):
            status, printed = without_breakage[breakage.tests]
            if status != PASSED or " passed" not in printed:
                bar.update()
                return f"its tests do not pass without it, or all are skipped:\n{printed}"
            try:
                noticed, printed = call("notices", breakage)
            except Stale as error:
                return str(error)
            return "noticed" if noticed else f"nobody noticed:\n{printed[-300:]}"

        return dict(zip(chosen, pool.map(outcome, chosen)))


def main(words):
    if not (chosen := breakages(words)):
        return f"No breakage in {LIST.name} has the words: {' '.join(words)}"
    os.environ.setdefault("COURSE_COLD_SANDBOX", "1")
    block_network()
    with tqdm(total=len({breakage.tests for breakage in chosen}) + len(chosen), unit="run") as bar:
        outcomes = tried(chosen, bar)
    for breakage, outcome in outcomes.items():
        print(f"{breakage.room:12} {breakage.what}: {outcome}")
    noticed = list(outcomes.values()).count("noticed")
    print(f"{noticed} of {len(chosen)} noticed")
    return 0 if noticed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
