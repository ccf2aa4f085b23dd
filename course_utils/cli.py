"""The `course` command."""

import os
import subprocess
import sys
from pathlib import Path

import click

from . import __version__

FRESH = "To get a fresh one, rename or delete yours and run this again."
MESSAGES = {
    "kept": f"your version stays; the course has another one by now. {FRESH}",
    "unreadable": f"this file is no notebook any more; it stays as it is. {FRESH}",
}
LAB_SETTINGS = Path(__file__).parent / "lab_settings"  # no pop-up that asks for news from the internet


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main():
    """Sentence embeddings, from the first token to a fine-tuned encoder."""


@main.command()
def doctor():
    """Check this machine: Python, packages, kernel, encoder, disk, memory, hub."""
    from .doctor import main as examine

    sys.exit(examine())


@main.command()
@click.option("--model", help="A hub name or a folder. Left out, the packaged encoder.")
@click.option("--data", default="course", show_default=True,
              help='"course", "stsb" (from the model hub) or a file: sts-test.csv, or a table with sentence1, sentence2, score.')
@click.option("--repeats", default=1000, show_default=True, type=click.IntRange(min=1), help="Resamples for each interval.")
def benchmark(model, data, repeats):
    """Print how well similarities follow people's scores: GloVe, and every layer of an encoder."""
    from .benchmark import SIMILAR, score_table, similarities
    from .data import load_scored_pairs
    from .models import EncoderError

    try:
        pairs = load_scored_pairs(data)
        found = similarities(pairs, model)
        table = score_table(found, pairs["score"], repeats)
    except (EncoderError, ValueError, FileNotFoundError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{len(pairs):,} pairs, {(pairs['score'] >= SIMILAR).mean():.0%} of them similar (score {SIMILAR} or more). "
               f"In brackets: 95% bootstrap intervals over pairs.\n")
    click.echo(table.to_string())


@main.command(context_settings={"ignore_unknown_options": True})
@click.option("--workspace", type=click.Path(path_type=Path), default=Path("workspace"), show_default=True,
              help="Folder for your copies of the lessons. What you changed there is never overwritten.")
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def lab(workspace, flags):
    """Write your copies of the lessons and open JupyterLab on the first one. Further FLAGS go to JupyterLab."""
    from .grading.copies import CopyError, write_workspace

    workspace = workspace.expanduser()
    try:
        report = write_workspace(workspace)
    except CopyError as error:
        raise click.ClickException(str(error)) from None
    for name, action in report:
        if action in MESSAGES:
            click.echo(f"{name}: {MESSAGES[action]}")
    written = sum(action in ("written", "renewed") for _, action in report)
    click.echo(f"Your lessons are in {workspace.resolve()}: {len(report)} lessons, {written} written now.")
    command = lab_command(workspace, flags)
    if os.name == "posix":
        os.execv(command[0], command)  # Ctrl-C then reaches JupyterLab and nobody else
    sys.exit(subprocess.call(command))


def lab_command(workspace, flags=()):
    """The command line that starts JupyterLab on the first lesson of a workspace."""
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={Path(workspace).resolve()}",
               "--LabApp.default_url=/lab/tree/00_start_here.ipynb", f"--LabApp.app_settings_dir={LAB_SETTINGS}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # in a container there is often no other user
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        command.append("--no-browser")  # Lab prints the address instead
    return [*command, *flags]


if __name__ == "__main__":
    main()
