"""Cells that are skipped or changed where COURSE_ENCODER names another encoder."""

import json

import pytest

from course_utils import models, setup
from course_utils._support import notebooks
from course_utils._support.hub_cache import PUBLIC_NAME

from .conftest import SIZES, random_model

PRINTS = "x = 1\nprint(\n    x\n)"
ANSWER = f"def f(x):\n    {notebooks.BEGIN}\n    return x\n    {notebooks.END}"


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """A function that writes the only lesson: the text and the tag of each of its code cells."""

    def write(*cells):
        written = [
            {
                "cell_type": "code",
                "source": text.splitlines(True),
                "metadata": {"tags": ["reveal", tag]} if tag else {},
            }
            for text, tag in cells
        ]
        text = {"cell_type": "markdown", "source": ["# 00"], "metadata": {"tags": ["needs-bert"]}}
        (tmp_path / "00_start.ipynb").write_text(json.dumps({"cells": [text, *written]}))

    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    notebooks.cells_with_needs.cache_clear()
    yield write
    notebooks.cells_with_needs.cache_clear()


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
def test_a_cell_says_that_it_is_skipped(tag, kind, skipped, shell, lesson, monkeypatch, capsys):
    import transformers
    from tokenizers import Tokenizer
    from tokenizers.models import BPE, WordPiece

    model = random_model("bert" if kind == "multilingual" else kind, vocab_size=9, **SIZES)
    inside = Tokenizer(BPE() if kind == "roberta" else WordPiece())
    types = [] if kind == "multilingual" else ["token_type_ids"]
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inside, model_input_names=["input_ids", *types]
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
    shell.run_cell(PRINTS)
    assert capsys.readouterr().out == "1\n", "with the packaged encoder, no cell is skipped"


@pytest.mark.parametrize(
    "source, sent, skipped",
    [
        (PRINTS, None, True),
        (PRINTS + "\ny = 3", None, False),
        (PRINTS + "\ny = 3", ["hide-input", "needs-packaged-encoder"], True),
        (PRINTS + "\ny = 3", ["hide-input", "needs-nothing"], False),
        ("y = 1  # needs-packaged-encoder, # packaged encoder only", None, False),
        ("y = 2", None, False),
        ("", None, False),
        (ANSWER, None, True),
        ("def f(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()", None, True),
        ("def f(x):\n    return x + 1", None, True),
        ("def g(x):\n    return x", None, False),
    ],
)
def test_a_cell_is_recognised_by_its_text_or_by_the_tags_that_jupyterlab_sends(
    source, sent, skipped, shell, lesson, tiny, monkeypatch
):
    # An answer is recognised by what stands above it.
    lesson((PRINTS, "needs-packaged-encoder"), ("y = 2", None), (ANSWER, "needs-packaged-encoder"))
    monkeypatch.setenv(models.ENV_VAR, str(tiny))
    setup()
    if sent is not None:
        shell.request = {"metadata": {"cellId": "a", "tags": sent}}
    assert ("skipped: this cell" in shell.transform_cell(source)) == skipped


def test_another_encoder_takes_the_place_of_a_lessons_checkpoint(
    shell, lesson, tiny, monkeypatch, capsys
):
    lesson()
    monkeypatch.setenv(models.ENV_VAR, str(tiny))
    setup()
    cell = f'checkpoint = "{PUBLIC_NAME}"\nname = checkpoint\nother = "checkpoint = 1"\n'
    assert shell.run_cell(cell).success
    assert shell.user_ns["name"] == str(tiny) and shell.user_ns["other"] == "checkpoint = 1"
    assert capsys.readouterr().out == f"checkpoint: {tiny} (COURSE_ENCODER)\n"
    monkeypatch.setenv(models.ENV_VAR, "")
    setup()
    assert shell.run_cell(cell).success
    assert shell.user_ns["name"] == PUBLIC_NAME and capsys.readouterr().out == ""
