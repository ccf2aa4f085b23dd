"""Cells that are skipped where COURSE_ENCODER names another encoder."""

import pytest

from course_utils import models, setup

CELL = "x = 1\nprint(\n    x\n)  # {}"


@pytest.fixture
def shell(monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell

    made = InteractiveShell.instance(user_ns={})
    yield made
    InteractiveShell.clear_instance()


@pytest.mark.parametrize(
    "said, kind, skipped",
    [
        ("packaged encoder only", "bert", "this cell is about the packaged encoder"),
        ("BERT only", "bert", None),
        ("BERT only", "roberta", "this cell is about BERT"),
        ("BERT only", "multilingual", "this cell is about BERT"),
        ("BERT's names", "multilingual", None),
        ("BERT's names", "roberta", None),
        ("BERT's names", "distilbert", "this cell is about BERT's parts"),
        ("BERT's names", "albert", "this cell is about BERT's parts"),
        ("BERT's names", "electra", "this cell is about BERT's parts"),
        ("WordPiece only", "bert", None),
        ("WordPiece only", "roberta", "this cell is about WordPiece"),
        ("for the packaged encoder only, or so", "distilbert", None),
    ],
)
def test_a_cell_says_that_it_is_skipped(said, kind, skipped, shell, monkeypatch, capsys):
    import transformers
    from tokenizers import Tokenizer
    from tokenizers.models import BPE, WordPiece

    name = {"roberta": "Roberta", "distilbert": "DistilBert", "albert": "Albert", "electra": "Electra"}.get(
        kind, "Bert"
    )
    config = getattr(transformers, f"{name}Config")(
        vocab_size=9, **({} if kind == "distilbert" else {"num_hidden_layers": 1})
    )
    model = getattr(transformers, f"{name}Model")(config)
    inside = Tokenizer(BPE() if kind == "roberta" else WordPiece())
    types = [] if kind == "multilingual" else ["token_type_ids"]
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inside, model_input_names=["input_ids", *types])
    monkeypatch.setattr(models, "load_encoder", lambda: (tokenizer, model))
    monkeypatch.setenv(models.ENV_VAR, "another")
    setup()
    setup()
    assert shell.run_cell(CELL.format(said)).success
    assert capsys.readouterr().out == (f"skipped: {skipped}\n" if skipped else "1\n")
    monkeypatch.setenv(models.ENV_VAR, "")
    setup()
    shell.run_cell(CELL.format(said))
    assert capsys.readouterr().out == "1\n", "with the packaged encoder, no cell is skipped"


def test_a_comment_inside_a_block_skips_nothing(shell, tiny, monkeypatch, capsys):
    monkeypatch.setenv(models.ENV_VAR, str(tiny))
    setup()
    shell.run_cell("if True:\n    print(2)  # packaged encoder only\n")
    assert capsys.readouterr().out == "2\n"
