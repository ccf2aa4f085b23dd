"""Would another draw turn what the lessons conclude? `python -m tests.verdicts [LESSON ...]`; part of `make nightly`.

verdicts.toml has a line for each conclusion: words of the lesson's text (`says`), the code cell after which it is
judged (`cell`), and `claim`, an expression that must be true there. What is varied was chosen before the first run:

    half    names, "queries" or "texts, vectors": random halves, the same rows of all, for the seeds 0 to 9
    by      a column of the first of these: halves of its groups, so that what hangs together stays together
    swap    [cell, text, other, ...]: each other text in place of this one; with "{}" in it, the numbers 0 to 9; or the
            name of such a list in the table [swaps]
    also    cells that run again in each variation, although nothing in them varies

Only the cells that a claim needs are run, and again only those that a variation reaches. A conclusion holds if it is
the same in nine of ten variations. One that is not is marked `open`, and the text must say so. A line with `exact`
instead of a claim says why a sentence with a comparison is true by construction, or of the named example alone.
"""

import ast
import contextlib
import io
import os
import sys
import time
import tomllib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType

import nbformat
import numpy as np

from course_utils._support.notebooks import as_key, parts
from course_utils.tools.grading.statements import bound, changed, used

# $VERDICTS names another list, to try one
LIST = Path(os.environ.get("VERDICTS", Path(__file__).with_suffix(".toml")))
SEEDS = range(10)
ENOUGH = 0.9  # the share of variations in which a conclusion must be the same
WORKERS = 2  # lessons at a time; each holds an encoder and its vectors in memory


@dataclass(frozen=True)
class Verdict:
    """A conclusion of a lesson. The fields are the keys of verdicts.toml, explained at the top of this module."""

    lesson: str
    says: str
    cell: str = ""
    claim: str = ""
    half: str = ""
    by: str = ""
    swap: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    open: bool = False
    exact: str = ""

    @property
    def halved(self):
        """The names of which halves are drawn."""
        return tuple(name.strip() for name in self.half.split(",")) if self.half else ()

    @property
    def variations(self):
        """The seeds of halves (numbers), and the texts that stand in place of the swapped one."""
        variations = [*SEEDS] if self.half else []
        for text in self.swap[2:]:
            # a text without {} is the same for all seeds, and is taken once
            variations += dict.fromkeys(text.replace("{}", str(seed)) for seed in SEEDS)
        return variations


def verdicts():
    """{lesson: its verdicts} of the list."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    swaps = listed.pop("swaps", {})

    def verdict(lesson, row):
        if isinstance(row.get("swap"), str):
            row["swap"] = swaps[row["swap"]]
        lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
        return Verdict(lesson, **{**row, **lists})

    return {lesson: [verdict(lesson, row) for row in rows] for lesson, rows in listed.items()}


# ---------------------------------------------------------------- which cells need which


def names(find, cell):
    """The names that `find` (bound, used or changed) finds in the statements of a cell."""
    return {name for statement in ast.parse(cell.source).body for name in find(statement)}


class Cell:
    """A code cell, and the names that matter to others: those it looks up, binds, and changes in place."""

    def __init__(self, name, source):
        self.id = name
        self.source = source
        self.uses = names(used, self)
        self.binds = names(bound, self)
        self.changes = names(changed, self)


def needed(cells, wanted):
    """The places of the cells that must run for these names to have their values after the last of `cells`."""
    still_wanted, places = set(wanted), []
    for place, cell in reversed(list(enumerate(cells))):
        is_setup = place == 0  # which calls setup()
        if is_setup or (cell.binds | cell.changes) & still_wanted:
            places.append(place)
            still_wanted |= cell.uses
    return sorted(places)


def reached(cells, path, start, varied, also=()):
    """The places of `path` that run again if the values of the names `varied` change at the cell `start`.

    Those after it that use what has changed; those that `also` names; and those that bind what one of them changes in
    place, which otherwise would be changed twice.
    """
    changed_names, run_again = set(varied), set()
    # until a round adds no cell: one that binds what a later one changes stands before it
    while True:
        before = len(run_again)
        for place in path:
            if place == start:  # the caller has changed its names already
                continue
            cell = cells[place]
            uses_changed = place > start and cell.uses & changed_names
            is_changed_later = any(
                cells[later].changes & cell.binds for later in run_again if later > place
            )
            if uses_changed or is_changed_later or cell.id in also:
                run_again.add(place)
                changed_names |= cell.binds | cell.changes
        if len(run_again) == before:
            return run_again


# ---------------------------------------------------------------- halves


def is_table(values):
    """Whether a dict is a table {name: column} with rows to draw; of any other dict, items are drawn.

    It is one if its columns have the same length, other than their number. So a lesson must not halve a mapping from
    words to vectors, nor a square table: these would be taken for the other kind.
    """
    lengths = {len(column) if hasattr(column, "__len__") else 0 for column in values.values()}
    # one length: not none, and not that of the dict
    return len(lengths) == 1 and lengths.isdisjoint({0, len(values)})


def rows_of_half(values, by, seed):
    """The places of a random half of the rows, or of the rows of half of the groups in the column `by`."""
    draw = np.random.default_rng(seed)
    if by:
        groups = draw.permutation(values[by].unique())
        return np.flatnonzero(values[by].isin(groups[: len(groups) // 2]))
    has_columns = isinstance(values, dict) and is_table(values)
    number = len(next(iter(values.values())) if has_columns else values)
    return np.sort(draw.permutation(number)[: number // 2])


def half_of(values, rows):
    """These rows of a table or an array, or these items of a list or a dict."""
    if hasattr(values, "iloc"):
        return values.iloc[rows].reset_index(drop=True)
    if isinstance(values, dict) and is_table(values):
        return {name: half_of(column, rows) for name, column in values.items()}
    if isinstance(values, dict):
        items = list(values.items())
        return dict(items[row] for row in rows)
    if isinstance(values, (list, tuple)):
        return type(values)(values[row] for row in rows)
    return values[rows]


# ---------------------------------------------------------------- a lesson that is run


def remembering(embed):
    """`embed` that encodes a text once per pooling with an encoder of a name: halves of texts then cost nothing."""
    vectors_by_setting = {}

    def embed_once(sentences, pooling=None, normalize=True, model=None, precision="float32"):
        # an encoder that is passed in may change, so its vectors are not kept
        if not isinstance(model, str | None):
            return embed(sentences, pooling, normalize, model, precision)
        if isinstance(pooling, tuple):  # one pooling at a time
            return tuple(
                embed_once(sentences, one_pooling, normalize, model, precision)
                for one_pooling in pooling
            )
        known = vectors_by_setting.setdefault((pooling, normalize, model, precision), {})
        sentences = list(sentences)
        missing = [text for text in dict.fromkeys(sentences) if text not in known]
        if missing:  # only texts that are new for this setting
            known.update(zip(missing, embed(missing, pooling, normalize, model, precision)))
        return np.stack([known[text] for text in sentences])

    return embed_once


def run(source, namespace):
    """Run a cell's code; what it prints is thrown away."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(source, "<cell>", "exec"), namespace)


def take_over(values, namespace):
    """Put the names of a run, {name: value}, into another namespace.

    A function looks up what it uses where it was defined, so it would not see what varies. Those of the lesson are
    therefore copied, and the copies look it up in `namespace`.
    """
    for name, value in values.items():
        # defined in a cell, not imported
        if isinstance(value, FunctionType) and value.__globals__.get("__name__") == "__main__":
            copy = FunctionType(
                value.__code__, namespace, value.__name__, value.__defaults__, value.__closure__
            )
            copy.__kwdefaults__ = value.__kwdefaults__
            namespace[name] = copy
        else:
            namespace[name] = value


def truth(claim, namespace):
    """Whether a claim is true, or the error that it raises."""
    try:
        return bool(eval(claim, namespace))
    except Exception as error:  # a claim may compute anything
        return error


class Lesson:
    """The code cells of a lesson, run as far as its verdicts need them."""

    def __init__(self, key, listed):
        notebook = nbformat.read(parts()[key], as_version=4)
        self.cells = [
            Cell(cell.id, cell.source) for cell in notebook.cells if cell.cell_type == "code"
        ]
        self.place_of = {cell.id: place for place, cell in enumerate(self.cells)}
        self.names_after = {}  # {place of a cell: the names and their values after it}
        self.listed = [verdict for verdict in listed if not verdict.exact]

    def places_needed(self, *judged):
        """The places of the cells that these verdicts need, in order."""
        places = set()
        for verdict in judged:
            end = self.place_of[verdict.cell]
            wanted = Cell("", verdict.claim).uses | set(verdict.halved) | self.cells[end].uses
            places |= {*needed(self.cells[: end + 1], wanted), end}
        return sorted(places)

    def start(self, verdict, variation):
        """The place of the cell that a variation changes."""
        if isinstance(variation, str):  # a text replaces another, a number is the seed of a half
            return self.place_of[verdict.swap[0]]
        path = self.places_needed(verdict)
        return max(place for place in path if self.cells[place].binds & set(verdict.halved))

    def run_all(self):
        # Runs only the cells that a verdict needs, and fills `names_after`; raises errors of cells.
        namespace = {"__name__": "__main__"}
        for place in self.places_needed(*self.listed):
            run(self.cells[place].source, namespace)
            self.names_after[place] = dict(namespace)

    def varied_alike(self):
        """Lists of verdicts for which the same is varied, so that one run of the cells serves all of a list."""
        lists = {}
        for verdict in self.listed:
            # the seed does not matter: the same cell binds what is halved
            start = self.start(verdict, SEEDS[0]) if verdict.half else None
            key = (verdict.half, verdict.by, verdict.swap, verdict.also, start)
            lists.setdefault(key, []).append(verdict)
        return list(lists.values())

    def outcomes(self, alike, variation):
        """{verdict: whether its claim is true, or the error} in a variation: the seed of a half, or the other text."""
        outcomes = {}
        try:
            for place, namespace in self._run_again(alike, variation):
                for verdict in alike:
                    if self.place_of[verdict.cell] == place:
                        outcomes[verdict] = truth(verdict.claim, namespace)
        except Exception as error:  # of any cell; verdicts on cells above it keep their outcome
            outcomes = dict.fromkeys(alike, error) | outcomes
        return outcomes

    def _start_from_swap(self, verdict, text):
        """(names after the swapped cell, run with this text; which of them vary)."""
        place = self.place_of[verdict.swap[0]]
        cell = self.cells[place]
        # the last cell above it that was run
        last_run = max(earlier for earlier in self.names_after if earlier < place)
        namespace = {}
        take_over(self.names_after[last_run], namespace)
        run(cell.source.replace(verdict.swap[1], text), namespace)
        return namespace, cell.binds | cell.changes

    def _start_from_half(self, verdict, seed):
        """(names after the cell that binds what is halved, with halves; which of them vary)."""
        namespace = {}
        take_over(self.names_after[self.start(verdict, seed)], namespace)
        rows = rows_of_half(namespace[verdict.halved[0]], verdict.by, seed)
        for name in verdict.halved:
            namespace[name] = half_of(namespace[name], rows)
        return namespace, verdict.halved

    def _run_again(self, alike, variation):
        """Run the cells that the variation reaches; yield (place, names) after each of the path.

        The names are one dict, which the next step changes: look at them before it.
        """
        first = alike[0]
        start_from = self._start_from_swap if isinstance(variation, str) else self._start_from_half
        namespace, varied = start_from(first, variation)
        path, start = self.places_needed(*alike), self.start(first, variation)
        again = reached(self.cells, path, start, varied, first.also)
        for place in path:
            if place in again:
                run(self.cells[place].source, namespace)
            elif place > start:
                values = self.names_after[place]
                # not all that it binds is there: Python deletes the name of `except ... as`
                kept = self.cells[place].binds & values.keys()
                take_over({name: values[name] for name in kept}, namespace)
            yield place, namespace


def judged(key):
    """([(verdict, the variations that turn it, what went wrong or "")], seconds) of a lesson.

    It prepares its process for this lesson: plots are not shown, `embed` remembers vectors, and
    paths are relative to the lesson. So `main` gives each lesson a process of its own.
    """
    # `main`'s process needs neither
    import matplotlib

    import course_utils.embedding

    began = time.monotonic()
    matplotlib.use("agg")
    course_utils.embedding.embed = remembering(course_utils.embedding.embed)
    os.chdir(parts()[key].parent)
    lesson = Lesson(key, verdicts()[key])
    lesson.run_all()
    turned = {verdict: [] for verdict in lesson.listed}
    wrong = {}

    for verdict in lesson.listed:
        after_its_cell = lesson.names_after[lesson.place_of[verdict.cell]]
        outcome = truth(verdict.claim, dict(after_its_cell))
        if isinstance(outcome, Exception):
            wrong[verdict] = f"in the lesson itself: {type(outcome).__name__}: {outcome}"
        elif not outcome:
            wrong[verdict] = "It is not true in the lesson itself."
    for alike in lesson.varied_alike():
        for variation in alike[0].variations:
            for verdict, outcome in lesson.outcomes(alike, variation).items():
                if isinstance(outcome, Exception):  # neither the same nor turned
                    wrong.setdefault(verdict, f"{variation}: {type(outcome).__name__}: {outcome}")
                elif not outcome:
                    turned[verdict].append(variation)
    results = [(verdict, turned[verdict], wrong.get(verdict, "")) for verdict in lesson.listed]
    return results, time.monotonic() - began


def outcome_of(verdict, turned, wrong):
    """The word that stands for how a verdict came out, a key of what `main` counts."""
    if wrong:
        return "WRONG"
    if verdict.open:
        return "open"
    tried = len(verdict.variations)
    return "holds" if tried - len(turned) >= ENOUGH * tried else "TURNS"


def report(verdict, turned, wrong):
    """Print how a verdict came out, and return the word for it (see `outcome_of`)."""
    outcome = outcome_of(verdict, turned, wrong)
    tried = len(verdict.variations)
    print(f"  {outcome:5} {tried - len(turned):2} of {tried:2}: {verdict.says} {wrong}".rstrip())
    if turned:
        # below the words of the verdict
        print(f"{'':18}turned by {', '.join(map(str, turned))}", flush=True)
    return outcome


# `lessons` are numbers as "4" or keys as "04"; none means all. Returns what `sys.exit` takes: 1 if
# a conclusion turns or could not be judged, a sentence about lessons that the list lacks, else 0.
def main(lessons):
    chosen = [as_key(lesson) for lesson in lessons] or list(verdicts())
    if unknown := set(chosen) - verdicts().keys():
        return f"{LIST.name} has no lesson {', '.join(sorted(unknown))}"
    counts = dict.fromkeys(("holds", "open", "TURNS", "WRONG"), 0)
    with ProcessPoolExecutor(WORKERS, max_tasks_per_child=1) as pool:
        for key, (results, seconds) in zip(chosen, pool.map(judged, chosen)):
            print(f"{key}, {seconds:.0f} s")
            for verdict, turned, wrong in results:
                counts[report(verdict, turned, wrong)] += 1
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["TURNS"] or counts["WRONG"] else 0


if __name__ == "__main__":
    # for the processes of the lessons
    os.environ.update(TQDM_DISABLE="1", OMP_NUM_THREADS="1", COURSE_VECTORS="")
    sys.exit(main(sys.argv[1:]))
