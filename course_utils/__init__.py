"""Helpers for the lessons. Importing the package loads nothing heavy: names are imported on first use."""

from importlib import import_module

PROJECT = "sentence-embeddings-course"  # its name in pyproject.toml, where the version is, too
# the module that defines each name
HOME = {
    "setup": "settings",
    "load_encoder": "models",
    "load_masked_lm": "models",
    "load_glove": "models",
    "cls_pool": "pooling",
    "mean_pool": "pooling",
    "max_pool": "pooling",
    "normalise": "pooling",
    "embed": "embedding",
    "search": "nearest",
    "closest_pairs": "nearest",
    "load_reviews": "data",
    "load_senses": "data",
    "load_scored_pairs": "data",
    "load_triplets": "data",
    "load_queries": "data",
    "load_docstrings": "data",
    "load_doc_queries": "data",
    "load_doc_judgements": "data",
    "load_plot_queries": "data",
    "load_texts": "data",
    "check": "exercises",
    "hint": "exercises",
    "solution": "exercises",
    "progress": "tools.workspace.overview",
}
__all__ = sorted(HOME)  # noqa: PLE0605


def __getattr__(name):
    if name == "__version__":
        return _version()
    if name == "doctor":  # a module, which lesson 00 runs
        return import_module(f"{__name__}.tools.doctor")
    if name in HOME:
        return getattr(import_module(f"{__name__}.{HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__, "__version__"])


def _version():
    """The version in pyproject.toml: from the file in a checkout, else from what was installed."""
    import tomllib
    from importlib.metadata import version
    from pathlib import Path

    try:
        text = Path(__file__).resolve().parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8")
        project = tomllib.loads(text)["project"]
        if project["name"] == PROJECT:
            return project["version"]
    except (OSError, ValueError, KeyError):
        pass  # not a checkout
    return version(PROJECT)
