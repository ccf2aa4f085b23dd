"""Helpers for the lessons. Importing the package loads nothing heavy: names are imported on first
use.
"""

from __future__ import annotations  # `course doctor` imports this on any Python from 3.8 on

from importlib import import_module

PROJECT = "sentence-embeddings-course"  # its name in pyproject.toml, which has the version, too
# {module of this package: the public names that are imported from it}
NAMES = {
    "settings": "setup",
    "models": "load_encoder load_masked_lm load_glove",
    "pooling": "cls_pool mean_pool max_pool normalise",
    "embedding": "embed",
    "nearest": "search",
    "data": "load_reviews load_senses load_scored_pairs load_triplets load_queries load_docstrings "
    "load_doc_queries load_doc_judgements load_doc_questions load_plot_queries",
    "own_data": "load_texts doubtful_texts read_judged",
    "exercises": "check hint solution",
    "exercises.search_engine": "search_targets",
    "evaluation": "bootstrap",
    "training": "watch",
    "trainings.search": "load_window_vectors load_doc_runs",
    "tools.workspace.overview": "progress",
    "tools.workspace.live": "reveal",
    "tools.ideas.asking": "place review predictions",
}
# {public name: its module}
HOME = {name: module for module, names in NAMES.items() for name in names.split()}
__all__ = sorted(HOME)  # noqa: PLE0605 (that rule wants a literal list)


def __getattr__(name: str):  # noqa: ANN202 (of any type)
    if name == "__version__":
        return _version()
    if name in HOME:
        return getattr(import_module(f"{__name__}.{HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])


def _version() -> str:
    """The version in pyproject.toml: from the file in a checkout, else from what was installed."""
    import re
    from importlib.metadata import version
    from pathlib import Path

    path = Path(__file__).resolve().parents[1] / "pyproject.toml"
    # not by tomllib, which Python 3.11 brought
    stated = f'^\\[project\\]\nname = "{PROJECT}"\nversion = "(.+)"$'
    try:
        found = re.search(stated, path.read_text(encoding="utf-8"), re.MULTILINE)
    except (OSError, ValueError):
        found = None  # not a checkout
    return found[1] if found else version(PROJECT)
