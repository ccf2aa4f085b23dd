"""Would another draw turn what the lessons conclude? `python -m tests.verdicts [LESSON ...]`; part of `make nightly`.

verdicts.toml has a line for each conclusion: words of the lesson's text (`says`), the code cell after which it is
judged (`cell`), and `claim`, an expression that must be true there. What is varied was chosen before the first run:

    half    names, "queries" or "texts, vectors": random halves, the same rows of all, for the seeds 0 to 9
    by      a column of the first of these: halves of its groups, so that what hangs together stays together
    swap    [cell, text, other, ...]: each other text in place of this one; with "{}" in it, the numbers 0 to 9
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
from functools import cached_property
from pathlib import Path

import nbformat
import numpy as np

from course_utils._support.notebooks import as_key, parts

# another list of verdicts, to try one
LIST = Path(os.environ.get("VERDICTS", Path(__file__).with_suffix(".toml")))
SEEDS = range(10)
ENOUGH = 0.9  # the share of variations in which a conclusion must be the same
WORKERS = 2


@dataclass(frozen=True)
class Verdict:
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
        return {name.strip(): None for name in self.half.split(",")} if self.half else {}

    @property
    def variations(self):
        """The seeds of halves (numbers), and the texts that stand in place of the swapped one."""
        texts = [
            [text.replace("{}", str(seed)) for seed in SEEDS] if "{}" in text else [text] for text in self.swap[2:]
        ]
        return [*(SEEDS if self.half else ()), *(text for several in texts for text in several)]


def verdicts():
    """{lesson: its verdicts} of the list."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))

    def verdict(lesson, row):
        lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
        return Verdict(lesson, **{**row, **lists})

    return {lesson: [verdict(lesson, row) for row in rows] for lesson, rows in listed.items()}


# ---------------------------------------------------------------- which cells need which


INNER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)  # what they bind stays in them


def _bound(node):
    """The names that code binds at its top level."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.alias):
        return {(node.asname or node.name).partition(".")[0]}
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return {node.id}
    if isinstance(node, INNER):
        return set()
    return set().union(*map(_bound, ast.iter_child_nodes(node)))


def _root(node):
    """The name that `a.b[0].c()` begins with; None if it begins otherwise."""
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


@dataclass(frozen=True)
class Cell:
    """A code cell, and the names that matter to others."""

    id: str
    source: str

    @cached_property
    def tree(self):
        return ast.parse(self.source)

    @cached_property
    def uses(self):
        nodes = list(ast.walk(self.tree))
        added_to = {_root(node.target) for node in nodes if isinstance(node, ast.AugAssign)}
        return added_to | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}

    @cached_property
    def binds(self):
        return _bound(self.tree)

    @cached_property
    def changes(self):
        """Names of what it may change in place: by `a[0] = 1`, `a.b = 1`, or a call that stands alone, `a.sort()`."""
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
                found.add(_root(node))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                found.add(_root(node.value.func) if isinstance(node.value.func, ast.Attribute) else None)
        return found - {None}


def needed(cells, names):
    """The places of the cells that must run for these names to have their values after the last of `cells`."""
    names, places = set(names), []
    for place, cell in reversed([*enumerate(cells)]):
        if (cell.binds | cell.changes) & names or place == 0:  # the first one calls setup()
            places.append(place)
            names |= cell.uses
    return places[::-1]


def reached(cells, path, start, names, also=()):
    """The places of `path` that run again if these names change at the cell `start`.

    Those after it that use what has changed; those that `also` names; and those that bind what one of them changes in
    place, which otherwise would be changed twice.
    """
    changed, chosen = set(names), set()
    while True:
        before = len(chosen)
        for place in path:
            cell = cells[place]
            later = (cells[other] for other in chosen if other > place)
            is_reached = place > start and cell.uses & changed
            if place != start and (is_reached or cell.id in also or any(other.changes & cell.binds for other in later)):
                chosen.add(place)
                changed |= cell.binds | cell.changes
        if len(chosen) == before:
            return chosen


# ---------------------------------------------------------------- halves


def number_of_rows(values):
    """Of a dict with columns of equal length, that length; else the length."""
    if isinstance(values, dict):
        lengths = {len(column) if hasattr(column, "__len__") else 0 for column in values.values()}
        if len(lengths) == 1 and lengths != {0}:
            return lengths.pop()
    return len(values)


def rows_of_half(values, by, seed):
    """The places of a random half of the rows, or of the rows of half of the groups in the column `by`."""
    draw = np.random.default_rng(seed)
    if by:
        groups = draw.permutation(values[by].unique())
        return np.flatnonzero(values[by].isin(groups[: len(groups) // 2]))
    number = number_of_rows(values)
    return np.sort(draw.permutation(number)[: number // 2])


def half_of(values, rows):
    """These rows of a list, a table, an array, or of each column of a dict."""
    if hasattr(values, "iloc"):
        return values.iloc[rows].reset_index(drop=True)
    if isinstance(values, dict):
        if number_of_rows(values) != len(values):
            return {name: half_of(column, rows) for name, column in values.items()}
        items = list(values.items())
        return dict(items[row] for row in rows)
    if isinstance(values, (list, tuple)):
        return type(values)(values[row] for row in rows)
    return values[rows]


# ---------------------------------------------------------------- a lesson that is run


def remembering(embed):
    """`embed` that encodes a text once per pooling with the packaged encoder: halves of texts then cost nothing."""
    known = {}

    def embed_once(sentences, pooling=None, normalize=True, model=None, precision="float32"):
        if model is not None:
            return embed(sentences, pooling, normalize, model, precision)
        texts = known.setdefault((pooling, normalize, precision), {})
        sentences = list(sentences)
        if missing := [text for text in dict.fromkeys(sentences) if text not in texts]:
            vectors = embed(missing, pooling, normalize, None, precision)
            texts.update(zip(missing, zip(*vectors) if isinstance(pooling, tuple) else vectors))
        if isinstance(pooling, tuple):
            return tuple(np.stack(column) for column in zip(*(texts[text] for text in sentences)))
        return np.stack([texts[text] for text in sentences])

    return embed_once


def run(source, namespace):
    """Run a cell's code; what it prints is thrown away."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(source, "<cell>", "exec"), namespace)


class Lesson:
    """The code cells of a lesson, run as far as its verdicts need them."""

    def __init__(self, key, listed):
        notebook = nbformat.read(parts()[key], as_version=4)
        self.cells = [Cell(cell.id, cell.source) for cell in notebook.cells if cell.cell_type == "code"]
        self.at = {cell.id: place for place, cell in enumerate(self.cells)}
        self.after = {}  # place of a cell: the names after it
        self.listed = [verdict for verdict in listed if not verdict.exact]

    def path(self, verdict):
        """The places of the cells that a verdict needs, in order."""
        end = self.at[verdict.cell]
        claim = Cell("", verdict.claim)
        above = needed(self.cells[: end + 1], claim.uses | set(verdict.halved) | self.cells[end].uses)
        return sorted({*above, end})

    def start(self, verdict, variation):
        """The place of the cell that a variation changes."""
        if isinstance(variation, str):
            return self.at[verdict.swap[0]]
        binding = [place for place in self.path(verdict) if self.cells[place].binds & set(verdict.halved)]
        return max(binding)

    def run(self):
        namespace = {"__name__": "__main__"}
        for place in sorted({place for verdict in self.listed for place in self.path(verdict)}):
            run(self.cells[place].source, namespace)
            self.after[place] = dict(namespace)

    def holds(self, verdict):
        """Whether the claim is true in the lesson itself."""
        return bool(eval(verdict.claim, dict(self.after[self.at[verdict.cell]])))

    def holds_in(self, verdict, variation):
        """Whether it is true in a variation: the seed of a half, or a text in place of the swapped one."""
        path, start = self.path(verdict), self.start(verdict, variation)
        changed = self.cells[start]
        if isinstance(variation, str):
            namespace = dict(self.after[max(place for place in self.after if place < start)])
            run(changed.source.replace(verdict.swap[1], variation), namespace)
            names = changed.binds | changed.changes
        else:
            namespace, names = dict(self.after[start]), verdict.halved
            rows = rows_of_half(namespace[next(iter(names))], verdict.by, variation)
            namespace |= {name: half_of(namespace[name], rows) for name in names}
        again = reached(self.cells, path, start, names, verdict.also)
        for place in path:
            if place in again:
                run(self.cells[place].source, namespace)
            elif place > start:
                namespace |= {name: self.after[place][name] for name in self.cells[place].binds}
        return bool(eval(verdict.claim, namespace))


def judged(key):
    """[(verdict, the variations that turn it, seconds, what went wrong)] of a lesson."""
    import matplotlib

    import course_utils.embedding

    matplotlib.use("agg")
    course_utils.embedding.embed = remembering(course_utils.embedding.embed)
    os.chdir(parts()[key].parent)
    lesson, found = Lesson(key, verdicts()[key]), []
    lesson.run()
    for verdict in lesson.listed:
        began, turned = time.monotonic(), []
        wrong = "" if lesson.holds(verdict) else "It is not true in the lesson itself."
        for variation in verdict.variations:
            try:
                if not lesson.holds_in(verdict, variation):
                    turned.append(variation)
            except Exception as error:  # of any cell
                wrong = wrong or f"{variation}: {type(error).__name__}: {error}"
        found.append((verdict, turned, time.monotonic() - began, wrong))
    return found


def main(lessons):
    os.environ.update(TQDM_DISABLE="1", OMP_NUM_THREADS="1")
    chosen = [as_key(lesson) for lesson in lessons] or list(verdicts())
    outcomes = []
    with ProcessPoolExecutor(WORKERS, max_tasks_per_child=1) as pool:
        for key, results in zip(chosen, pool.map(judged, chosen)):
            for verdict, turned, seconds, wrong in results:
                every = len(verdict.variations)
                same = every - len(turned)
                holds = same >= ENOUGH * every
                outcomes.append("WRONG" if wrong else "open" if verdict.open else "holds" if holds else "TURNS")
                print(f"{key:13} {outcomes[-1]:5} {same:2} of {every:2}, {seconds:4.0f} s: {verdict.says} {wrong}")
                if turned:
                    print(f"{'':19} turned by {', '.join(map(str, turned))}", flush=True)
    counts = {outcome: outcomes.count(outcome) for outcome in ("holds", "open", "TURNS", "WRONG")}
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["TURNS"] or counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
