"""The `course` commands, called in this process."""

from click.testing import CliRunner

from course_utils.tools.cli import main


def run(*words, keys=None):
    """What a command prints, and its exit status; `keys` are typed in. Its exceptions are raised here."""
    words = [str(word) for word in words]
    done = CliRunner().invoke(main, words, input=keys, catch_exceptions=False)
    return done.output, done.exit_code
