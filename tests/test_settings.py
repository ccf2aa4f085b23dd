"""Cells that are skipped or changed where the setting COURSE_ENCODER names another encoder."""

import json

import pytest
from tokenizers import Tokenizer
from tokenizers.models import BPE, WordPiece
from transformers import PreTrainedTokenizerFast

from course_utils import models, setup
from course_utils._support import notebooks
from course_utils._support.hub_cache import PUBLIC_NAME

from .conftest import SIZES, random_model

PRINTS = "x = 1\nprint(\n    x\n)"
ANSWER = f"def f(x):\n    {notebooks.BEGIN}\n    return x\n    {notebooks.END}"


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """A function that writes the only lesson; its arguments are (text, tag) of each code cell."""

    def write_lesson(*cells):
        code_cells = [
            {
                "cell_type": "code",
                "source": text.splitlines(True),
                "metadata": {"tags": ["reveal", tag]} if tag else {},
            }
            for text, tag in cells
        ]
        # what is not code is not skipped, whatever its tags are
        heading = {
            "cell_type": "markdown",
            "source": ["# 00"],
            "metadata": {"tags": ["needs-bert"]},
        }
        (tmp_path / "00_start.ipynb").write_text(json.dumps({"cells": [heading, *code_cells]}))

    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    notebooks.cells_with_needs.cache_clear()
    yield write_lesson
    notebooks.cells_with_needs.cache_clear()


# kind: of the other encoder. skipped: what the cell prints behind "skipped: ", None if it runs.
@pytest.mark.parametrize(
    "tag, kind, skipped",
    [
        ("needs-packaged-encoder", "bert", "this cell is about the packaged encoder"),
        ("needs-bert", "bert", None),
        ("needs-bert", "roberta", "this cell is about BERT"),
        ("needs-bert", "multilingual", "this cell is about BERT"),
        ("needs-bert-parts", "multilingual", None),
        ("needs-bert-parts", "roberta", None),
        ("needs-bert-parts", "distilbert", "this cell is about BERT's parts"),
        ("needs-bert-parts", "albert", "this cell is about BERT's parts"),
        ("needs-bert-parts", "electra", "this cell is about BERT's parts"),
        ("needs-wordpiece", "bert", None),
        ("needs-wordpiece", "roberta", "this cell is about WordPiece"),
        (None, "distilbert", None),
    ],
)
def test_a_cell_that_another_encoder_cannot_run_says_once_that_it_is_skipped(
    tag, kind, skipped, shell, lesson, monkeypatch, capsys
):
    # some multilingual encoders have BERT's model, and a tokenizer that knows no token types
    is_multilingual = kind == "multilingual"
    model = random_model("bert" if is_multilingual else kind, vocab_size=9, **SIZES)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(BPE() if kind == "roberta" else WordPiece()),
        model_input_names=["input_ids"] if is_multilingual else ["input_ids", "token_type_ids"],
    )
    monkeypatch.setattr(models, "load_encoder", lambda: (tokenizer, model))
    monkeypatch.setenv(models.ENV_VAR, "another")
    lesson(("y = 2", "needs-packaged-encoder"), (PRINTS, tag))
    setup()
    setup()  # a learner may run the first cell again, and a cell still says once that it is skipped
    assert shell.run_cell(f"\n{PRINTS}\n").success
    assert capsys.readouterr().out == (f"skipped: {skipped}\n" if skipped else "1\n")
    monkeypatch.setenv(models.ENV_VAR, "")
    setup()
    shell.run_cell(PRINTS)  # prints 1
    assert capsys.readouterr().out == "1\n", "with the packaged encoder, no cell is skipped"


@pytest.mark.parametrize(
    "source, sent_tags, is_skipped",  # of the lesson that the test writes
    [
        # the text of a cell to skip; the same with another line, which only its tags identify
        (PRINTS, None, True),
        (PRINTS + "\ny = 3", None, False),
        (PRINTS + "\ny = 3", ["hide-input", "needs-packaged-encoder"], True),
        (PRINTS + "\ny = 3", ["hide-input", "needs-nothing"], False),
        # two needs, of which this encoder meets the first
        (PRINTS + "\ny = 3", ["needs-wordpiece", "needs-packaged-encoder"], True),
        # the name of a tag in a comment, a cell without a tag, and an empty one
        ("y = 1  # needs-packaged-encoder, # packaged encoder only", None, False),
        ("y = 2", None, False),
        ("", None, False),
        # an exercise to skip: as it is in the source, as learners get it, and answered
        (ANSWER, None, True),
        ("def f(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()", None, True),
        ("def f(x):\n    return x + 1", None, True),
        # another function
        ("def g(x):\n    return x", None, False),
    ],
)
def test_a_cell_is_recognised_by_its_text_or_by_the_tags_that_jupyterlab_sends(
    source, sent_tags, is_skipped, shell, lesson, tiny, monkeypatch
):
    # An answer to an exercise is recognised by what stands above it: `def f(x):`.
    lesson((PRINTS, "needs-packaged-encoder"), ("y = 2", None), (ANSWER, "needs-packaged-encoder"))
    monkeypatch.setenv(models.ENV_VAR, str(tiny))
    setup()
    if sent_tags is not None:
        shell.request = {"metadata": {"cellId": "a", "tags": sent_tags}}
    assert ("skipped: this cell" in shell.transform_cell(source)) == is_skipped


def test_another_encoder_takes_the_place_of_a_lessons_checkpoint(
    shell, lesson, tiny, monkeypatch, capsys
):
    lesson()
    monkeypatch.setenv(models.ENV_VAR, str(tiny))
    setup()
    cell = f'checkpoint = "{PUBLIC_NAME}"\nname = checkpoint\nother = "checkpoint = 1"\n'
    assert shell.run_cell(cell).success
    assert shell.user_ns["name"] == str(tiny)
    assert shell.user_ns["other"] == "checkpoint = 1"
    assert capsys.readouterr().out == f"checkpoint: {tiny} (COURSE_ENCODER)\n"
    monkeypatch.setenv(models.ENV_VAR, "")
    setup()
    assert shell.run_cell(cell).success
    assert shell.user_ns["name"] == PUBLIC_NAME
    assert capsys.readouterr().out == ""
