"""Would another draw turn what the lessons conclude? `python -m tests.verdicts [LESSON ...]`; part of `make nightly`.

verdicts.toml has a line for each conclusion: the words of the text (`says`), the code cell after which it is judged
(`cell`), and `claim`, an expression that must be true there. What is varied was chosen before the first run:

    half    names, "queries" or "texts, vectors": random halves, the same rows of all, for the seeds 0 to 9
    by      a column of the first of these tables: halves of its groups, so that what hangs together stays together
    swap    [cell, text, other, ...]: each other text in place of this one; with "{}" in it, the numbers 0 to 9
    also    cells that are run again in each variation, although they use nothing that varies

Only cells that the claim needs are run, and again only those that the variation reaches. A conclusion holds if it is
the same in nine of ten variations. One that does not is marked `open`, and the text must say so.
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

LIST = Path(os.environ.get("VERDICTS", Path(__file__).with_suffix(".toml")))  # VERDICTS: another list, to try one
SEEDS = range(10)
ENOUGH = 0.9  # the share of variations in which a conclusion must be the same
WORKERS = 2


@dataclass(frozen=True)
class Verdict:
    lesson: str
    says: str
    cell: str
    claim: str
    half: str = ""
    by: str = ""
    swap: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    open: bool = False

    @property
    def halved(self):
        """The names of which halves are drawn."""
        return [name.strip() for name in self.half.split(",")] if self.half else []

    @property
    def variations(self):
        """Each as (seed of a half or None, text in place of the swapped one or None)."""
        halves = [(seed, None) for seed in SEEDS if self.half]
        texts = [text.replace("{}", str(seed)) for text in self.swap[2:] for seed in SEEDS if "{}" in text or not seed]
        return halves + [(None, text) for text in texts]


def verdicts(lessons=()):
    """{lesson: its verdicts}, of all lessons or of these."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return {
        lesson: [Verdict(lesson, **{key: tuple(v) if isinstance(v, list) else v for key, v in row.items()}) for row in rows]
        for lesson, rows in listed.items()
        if not lessons or lesson in lessons
    }


@dataclass(frozen=True)
class Cell:
    id: str
    source: str

    @cached_property
    def tree(self):
        return ast.parse(self.source)

    @cached_property
    def binds(self):
        """The names that this cell defines or changes: by assignment, by an index or attribute, by a bare method call."""
        return _top_level_names(self.tree) | self.changes

    @cached_property
    def changes(self):
        """The names whose objects it may change in place."""
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
                found.add(_root(node))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                called = node.value.func
                if isinstance(called, ast.Attribute):
                    found.add(_root(called))
        return found - {None}

    @cached_property
    def uses(self):
        return {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}


def _root(node):
    """`a` for `a.b[0].c`, None if this begins with no name."""
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


class _TopLevelNames(ast.NodeVisitor):
    def __init__(self):
        self.names = set()

    def visit_FunctionDef(self, node):
        self.names.add(node.name)

    visit_ClassDef = visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        pass

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            self.names.add(node.id)

    def visit_alias(self, node):
        self.names.add((node.asname or node.name).partition(".")[0])


def _top_level_names(tree):
    visitor = _TopLevelNames()
    visitor.visit(tree)
    return visitor.names


def cells_of(lesson):
    """The code cells of a lesson."""
    notebook = nbformat.read(parts()[lesson], as_version=4)
    return [Cell(cell.id, cell.source) for cell in notebook.cells if cell.cell_type == "code"]


def needed(cells, names):
    """The places of the cells that must run so that these names have their values at the end of `cells`."""
    names, places = set(names), []
    for place in reversed(range(len(cells))):
        cell = cells[place]
        if cell.binds & names or place == 0:  # the first one calls setup()
            places.append(place)
            names |= cell.uses
    return places[::-1]


def reached(cells, places, start, names, also=()):
    """Those of `places` after `start` that use what changes, or bind what is changed in place there."""
    changed, chosen = set(names), set()
    while True:
        before = len(chosen)
        for place in places:
            cell = cells[place]
            if place in chosen or place == start:
                continue
            rebinds = any(cells[other].changes & _top_level_names(cell.tree) for other in chosen if other > place)
            if (place > start and cell.uses & changed) or rebinds or cell.id in also:
                chosen.add(place)
                changed |= cell.binds
        if len(chosen) == before:
            return sorted(chosen)


def run(source, namespace):
    """Run a cell's code without showing what it prints. An error stands where a lesson shows one, so it is let pass."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(source, "<cell>", "exec"), namespace)  # noqa: S102


def length_of(values):
    """How many rows there are: of a dict, in its first column if its values are columns of equal length."""
    if not isinstance(values, dict):
        return len(values)
    lengths = {len(column) if hasattr(column, "__len__") else 0 for column in values.values()}
    return lengths.pop() if len(lengths) == 1 and lengths != {0} else len(values)


def half_of(values, rows):
    """These rows of a list, a table, an array, of each column in a dict, or of the entries of a dict."""
    if hasattr(values, "iloc"):
        return values.iloc[rows].reset_index(drop=True)
    if isinstance(values, dict):
        if length_of(values) != len(values):
            return {name: half_of(column, rows) for name, column in values.items()}
        items = list(values.items())
        return dict(items[row] for row in rows)
    if isinstance(values, (list, tuple)):
        return type(values)(values[row] for row in rows)
    return values[rows]


def rows_of_half(values, by, seed):
    """The places of a random half of the values, or of the rows of half of the groups in the column `by`."""
    draw = np.random.default_rng(seed)
    if not by:
        return np.sort(draw.permutation(length_of(values))[: length_of(values) // 2])
    groups = values[by].unique()
    chosen = draw.permutation(groups)[: len(groups) // 2]
    return np.flatnonzero(values[by].isin(chosen))


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


class Lesson:
    """A lesson whose cells can be run again with something varied."""

    def __init__(self, key, listed):
        self.cells = cells_of(key)
        self.at = {cell.id: place for place, cell in enumerate(self.cells)}
        self.namespace = {"__name__": "__main__"}
        self.states = {}  # place of a cell: the namespace after it
        ends = {self.at[verdict.cell] for verdict in listed}
        wanted = {place for verdict in listed for place in self.path(verdict)}
        for place in sorted(wanted | ends):
            run(self.cells[place].source, self.namespace)
            self.states[place] = dict(self.namespace)

    def path(self, verdict):
        """The places of the cells that a verdict needs."""
        claim = Cell("", verdict.claim)
        end = self.at[verdict.cell]
        return needed([*self.cells[: end + 1]], claim.uses | set(verdict.halved) | self.cells[end].uses) + [end]

    def start(self, verdict):
        """The place of the cell that is varied: the swapped one, or the last that binds a halved name."""
        if verdict.swap and not verdict.half:
            return self.at[verdict.swap[0]]
        end = self.at[verdict.cell]
        return max(place for place in range(end + 1) if self.cells[place].binds & set(verdict.halved))

    def holds(self, verdict):
        return bool(eval(verdict.claim, dict(self.states[self.at[verdict.cell]])))  # noqa: S307

    def varied(self, verdict, seed, text):
        """Whether the claim is true in a variation."""
        path = sorted(set(self.path(verdict)))
        if text is not None:
            start = self.at[verdict.swap[0]]
            cell = self.cells[start]
            if cell.source.count(verdict.swap[1]) < 1:
                raise ValueError(f"{cell.id} does not hold {verdict.swap[1]!r}")
            before = max((place for place in self.states if place < start), default=None)
            namespace = dict(self.states[before]) if before is not None else {"__name__": "__main__"}
            run(cell.source.replace(verdict.swap[1], text), namespace)
            changed = cell.binds
        else:
            start = max(place for place in range(self.at[verdict.cell] + 1) if self.cells[place].binds & set(verdict.halved))
            namespace = dict(self.states[start])
            first = namespace[verdict.halved[0]]
            rows = rows_of_half(first, verdict.by, seed)
            namespace |= {name: half_of(namespace[name], rows) for name in verdict.halved}
            changed = set(verdict.halved)
        chosen = reached(self.cells, path, start, changed, verdict.also)
        # what stands before the varied cell and is changed by later ones starts afresh
        for place in path:
            if place in chosen:
                run(self.cells[place].source, namespace)
            elif place > start and place in self.states:
                kept = self.states[place]
                namespace |= {name: kept[name] for name in self.cells[place].binds if name in kept}
        return bool(eval(verdict.claim, namespace))  # noqa: S307


def judged(lesson):
    """[(verdict, the variations that turn it, seconds, first error)] of a lesson."""
    os.environ["TQDM_DISABLE"] = "1"
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    import course_utils.embedding

    course_utils.embedding.embed = remembering(course_utils.embedding.embed)
    os.chdir(parts()[lesson].parent)
    listed = verdicts()[lesson]
    taught, found = Lesson(lesson, listed), []
    for verdict in listed:
        began, turned = time.monotonic(), []
        error = "" if taught.holds(verdict) else "It is not true in the lesson itself."
        for seed, text in verdict.variations:
            name = f"half {seed}" if text is None else text
            try:
                if not taught.varied(verdict, seed, text):
                    turned.append(name)
            except Exception as problem:
                error = error or f"{name}: {type(problem).__name__}: {problem}"
            plt.close("all")
        found.append((verdict, turned, time.monotonic() - began, error))
    return found


def main(lessons):
    chosen = [as_key(lesson) for lesson in lessons] or list(verdicts())
    failed, every, opened = 0, 0, 0
    with ProcessPoolExecutor(WORKERS, max_tasks_per_child=1) as pool:
        for lesson, results in zip(chosen, pool.map(judged, chosen)):
            for verdict, turned, seconds, error in results:
                of = len(verdict.variations)
                same = of - len(turned)
                holds = not error and (verdict.open or same >= ENOUGH * of)
                failed += not holds
                every += 1
                opened += verdict.open
                mark = "open" if verdict.open else "holds" if holds else "TURNS"
                print(f"{lesson:13} {mark:5} {same:2} of {of:2}, {seconds:4.0f} s: {verdict.says}. {error}", flush=True)
                if turned:
                    print(f"{'':15}turned by: {'; '.join(turned)}", flush=True)
    print(f"{every - failed} of {every} verdicts hold or are open ({opened} open)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
