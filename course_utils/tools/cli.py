"""The `course` command."""

import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TextIO

import click

from .. import __version__
from .._support.files import Notice
from .._support.installation import INSTALLED
from .commands import authors, learners, teachers


class Course(click.Group):
    """Commands whose errors are one sentence, if the course or the system says what is wrong."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with notices_as_sentences():
                return super().invoke(ctx)
        except BrokenPipeError:  # nobody reads on, as after `| head`; click ends without a word
            raise
        except (ValueError, RuntimeError, OSError) as error:
            # A RuntimeError of a library is a fault in the course, which needs its traceback; click's
            # own, with which it ends a program, are RuntimeErrors, too.
            if isinstance(error, RuntimeError) and not type(error).__module__.startswith(
                "course_utils."
            ):
                raise
            raise click.ClickException(in_a_sentence(error)) from None


@contextmanager
def notices_as_sentences() -> Generator[None]:
    """Print each Notice to the error stream, once and without the place in the code."""
    printed = set()
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_notice(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not issubclass(category, Notice):
                show(message, category, filename, lineno, file, line)
            elif str(message) not in printed:
                printed.add(str(message))
                click.echo(message, err=True)

        warnings.simplefilter("always", Notice)
        warnings.showwarning = show_notice
        yield


def in_a_sentence(error: Exception) -> str:
    """The message of an error. For one of the operating system it is "file: reason." without the
    system's number of the error.
    """
    if isinstance(error, OSError) and error.strerror:
        return ": ".join(str(part) for part in (error.filename, error.strerror) if part) + "."
    return str(error)


@click.group(
    cls=Course, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(__version__)
def main() -> None:
    """Sentence embeddings, from the first token to a fine-tuned encoder."""
    # signs that the encoding of a terminal lacks are replaced; a stream that is not a file may have
    # no `reconfigure`
    for stream, instead in ((sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=instead)


# the commands of authors need a clone, where lessons are written
for module in (learners, teachers) if INSTALLED else (learners, teachers, authors):
    for command in vars(module).values():
        if isinstance(command, click.Command):
            main.add_command(command)


if __name__ == "__main__":
    main()
