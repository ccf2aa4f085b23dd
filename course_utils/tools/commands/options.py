"""What several commands take: kinds of arguments, and the workspace."""

from collections.abc import Callable, Iterable
from pathlib import Path

import click

FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)
EXISTING_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
ANY_PATH = click.Path(path_type=Path)


def only_one(
    context: click.Context, option: click.Parameter, values: tuple[Path, ...]
) -> Path | None:
    """The one value of an option; click would take the last of several without a word."""
    if len(values) > 1:
        raise click.UsageError(
            f"{option.opts[0]} can be given once: mark each assignment by itself."
        )
    return values[0] if values else None


def learners_workspace(command: Callable[..., None]) -> Callable[..., None]:
    """The --workspace option of commands that need an existing workspace."""

    def find(context: click.Context, option: click.Parameter, folder: Path | None) -> Path:
        from ..workspace.copies import existing

        return existing(folder)

    return click.option(
        "--workspace",
        type=ANY_PATH,
        callback=find,
        help="Folder with your copies of the lessons. Default: the current folder, or `workspace` in it.",
    )(command)


def numbers(texts: Iterable[str]) -> tuple[str, ...]:
    """("04,05", "06") as ("04", "05", "06")."""
    return tuple(sorted(set(",".join(texts).replace(",", " ").split())))
