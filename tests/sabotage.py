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
from pathlib import Path
from queue import Queue

from tqdm import tqdm

from .offline import block_network
from .project import ROOT, copy_checkout

LIST = Path(__file__).with_suffix(".toml")
COPIES = 2  # of the checkout, in which tests run side by side
SECONDS = 600  # for the tests of one breakage
PASSED, FAILED = 0, 1  # pytest's exit statuses


@dataclass(frozen=True)
class Breakage:
    """In `file`, `old` (which stands there once) becomes `new`; without `old`, `new` is the whole file."""

    room: str
    what: str
    file: str
    new: str
    tests: tuple[str, ...]
    old: str = ""

    # The text of the file with the change. ValueError unless `old` stands there once.
    def broken(self, text):
        if not self.old:
            return self.new
        if text.count(self.old) != 1:
            raise ValueError(
                f"{self.file} has {self.old!r} {text.count(self.old)} times, not once: renew {LIST.name}"
            )
        return text.replace(self.old, self.new)


def breakages(words=()):
    """The breakages of the list with all these words in their room, file or description."""
    rows = tomllib.loads(LIST.read_text())["breakage"]
    listed = [Breakage(**{**row, "tests": tuple(row["tests"])}) for row in rows]
    return [
        breakage
        for breakage in listed
        if all(word in f"{breakage.room} {breakage.file} {breakage.what}" for word in words)
    ]


class Copy:
    """A copy of the checkout, where files can be broken."""

    def __init__(self, folder):
        self.folder = folder
        copy_checkout(folder, ROOT)
        (folder / ".venv").symlink_to(ROOT / ".venv")
        # some tests ask git which files there are
        for command in (["init", "--quiet"], ["add", "--all"]):
            subprocess.run(["git", *command], cwd=folder, check=True)
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(folder),
            # stale bytecode would hide a change of the same size within the same second
            "PYTHONDONTWRITEBYTECODE": "1",
            "TQDM_DISABLE": "1",
            "OMP_NUM_THREADS": "1",
        }

    def run(self, tests, *flags):
        """pytest's exit status, and the end of what it prints; None, and why, after too long.

        tests: arguments of pytest; a "-m" among them counts instead of ours.
        """
        try:
            done = subprocess.run(
                [
                    *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs"),
                    *("-m", "not nightly", *flags, *tests),
                ],
                cwd=self.folder,
                env=self.environment,
                timeout=SECONDS,
                capture_output=True,
                text=True,
            )
        except subprocess.TimeoutExpired:
            return None, f"no end within {SECONDS} s"
        return done.returncode, (done.stdout + done.stderr)[-2000:]

    def outcome(self, breakage):
        """ "noticed", or a sentence that says why not."""
        status, printed = self.run(breakage.tests)
        if status != PASSED or " passed" not in printed:
            return f"its tests do not pass without it, or all are skipped:\n{printed}"
        path = self.folder / breakage.file
        before = path.read_bytes()
        path.write_text(breakage.broken(before.decode("utf-8")), encoding="utf-8")
        try:
            status, printed = self.run(breakage.tests, "-x")
        finally:
            path.write_bytes(before)
        return (
            "noticed"
            if status == FAILED
            else f"nobody noticed (status {status}):\n{printed[-300:]}"
        )


def tried(chosen, bar):
    """{breakage: its outcome}, with COPIES copies side by side; each moves the bar by one."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(COPIES) as pool:
        free = Queue()
        for number in range(COPIES):
            free.put(Copy(Path(folder, str(number))))

        def outcome(breakage):
            copy = free.get()
            try:
                return copy.outcome(breakage)
            finally:
                free.put(copy)
                bar.update()

        return dict(zip(chosen, pool.map(outcome, chosen)))


def main(words):
    if not (chosen := breakages(words)):
        return f"No breakage in {LIST.name} has the words: {' '.join(words)}"
    os.environ.setdefault("COURSE_COLD_SANDBOX", "1")
    block_network()
    with tqdm(total=len(chosen), unit="breakage") as bar:
        outcomes = tried(chosen, bar)
    for breakage, outcome in outcomes.items():
        print(f"{breakage.room:12} {breakage.what}: {outcome}")
    noticed = list(outcomes.values()).count("noticed")
    print(f"{noticed} of {len(chosen)} noticed")
    return 0 if noticed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
