"""What several commands take: kinds of arguments, and the workspace."""

from collections.abc import Callable, Iterable
from pathlib import Path

import click

# only EXISTING_FILE asks that the path exists; an option may create the others
FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)
EXISTING_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
ANY_PATH = click.Path(path_type=Path)


def only_one(
    context: click.Context, option: click.Parameter, values: tuple[Path, ...]
) -> Path | None:
    """The one value of --received, None if it was not given: a callback of an option that is
    `multiple`.

    Raises UsageError for several values, of which click would take the last without a word.
    """
    if len(values) > 1:
        raise click.UsageError(
            f"{option.opts[0]} can be given once: mark each assignment by itself."
        )
    return values[0] if values else None


def learners_workspace(command: Callable[..., None]) -> Callable[..., None]:
    """The --workspace option of commands that need an existing workspace: a decorator.

    The command gets the folder as `workspace`; it does not run if there is none (CopyError).
    """

    def find(context: click.Context, option: click.Parameter, folder: Path | None) -> Path:
        from ..workspace.copies import existing_workspace

        return existing_workspace(folder)

    return click.option(
        "--workspace",
        type=ANY_PATH,
        callback=find,
        help="Folder with your copies of the lessons. Default: the current folder, or `workspace` in it.",
    )(command)


def numbers(texts: Iterable[str]) -> tuple[str, ...]:
    """The numbers in some texts, sorted and each once: ("06", "04,05 04") as ("04", "05", "06").

    They are separated by commas or spaces, and need not exist.
    """
    return tuple(sorted(set(",".join(texts).replace(",", " ").split())))
