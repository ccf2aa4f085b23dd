"""Run the lessons with other encoders.

`python -m tests.encoders [FAMILY ...] [--lesson PATTERN] ...` makes a model with random weights of
each family in `build/encoders`, all but one of them small, and runs every lesson from top to bottom
with COURSE_ENCODER naming its folder. A cell fails if it raises without being tagged to do so, if it
writes to stderr (but CUT), or if a check refuses the lesson's own solution. What the lesson says only
about the packaged encoder prints "skipped" and is counted.
"""

import json
import os
import shutil
import sys
import tempfile

import click
import nbformat
import torch
import transformers
from nbclient import NotebookClient
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from tqdm import tqdm

from course_utils import load_encoder, load_reviews

from .execute import lessons
from .project import ROOT
from .sources import printed_by, tags

FOLDER = ROOT / "build" / "encoders"
# what a cell prints that needs the packaged encoder
SKIPPED = "skipped: this cell "
# a warning of embed, true where a tokenizer makes more pieces
CUT = "the rest of each was cut off"
# a search with random weights need not reach its target, of which a check says this
TARGET = "which was set with the packaged encoder"
PASSED = "✓ passed"
BERT_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA_TOKENS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def trained_pieces(pieces, trainer_class, pre_tokenizer, special_tokens, **options):
    """{"vocab": ..., and for BPE "merges": ...} of a tokenizer trained on 2000 reviews, which have
    capitals, accents and digits. Its 6000 pieces are a fifth of the packaged encoder's.

    pieces: an untrained model of `tokenizers`. options: of its trainer.
    """
    tokenizer = Tokenizer(pieces)
    tokenizer.pre_tokenizer = pre_tokenizer
    trainer = trainer_class(
        vocab_size=6000, special_tokens=special_tokens, show_progress=False, **options
    )
    tokenizer.train_from_iterator(load_reviews("imdb")["text"][:2000], trainer)
    return json.loads(tokenizer.to_str())["model"]


def with_model(tokenizer, kind, *, layers, hidden, heads, **settings):
    """The tokenizer, and a model of this kind and size for it."""
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=len(tokenizer),
        num_hidden_layers=layers,
        hidden_size=hidden,
        num_attention_heads=heads,
        intermediate_size=2 * hidden,
        **settings,
    )
    return tokenizer, getattr(transformers, f"{kind}Model")(config)


def bert():
    """As large as bert-base: 12 layers of 768, with the packaged encoder's vocabulary."""
    tokenizer = transformers.BertTokenizer(
        vocab=load_encoder("packaged")[0].get_vocab(), model_max_length=512
    )
    return with_model(tokenizer, "Bert", layers=12, hidden=768, heads=12)


def cased():
    """A BERT of 4 layers of 128 that keeps capitals and accents."""
    learned = trained_pieces(
        models.WordPiece(unk_token="[UNK]"),
        trainers.WordPieceTrainer,
        pre_tokenizers.BertPreTokenizer(),
        BERT_TOKENS,
    )
    tokenizer = transformers.BertTokenizer(
        vocab=learned["vocab"], do_lower_case=False, model_max_length=512
    )
    return with_model(tokenizer, "Bert", layers=4, hidden=128, heads=4)


def roberta():
    """Byte-level pieces, no segments, positions that start after the padding id.

    That id is 1, so that 512 tokens need 514 positions, as in MPNet.
    """
    learned = trained_pieces(
        models.BPE(),
        trainers.BpeTrainer,
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        ROBERTA_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer = transformers.RobertaTokenizer(
        vocab=learned["vocab"],
        merges=[tuple(pair) for pair in learned["merges"]],
        model_max_length=512,
    )
    return with_model(
        tokenizer,
        "Roberta",
        layers=3,
        hidden=96,
        heads=6,
        max_position_embeddings=514,
        type_vocab_size=1,
    )


def mpnet():
    """WordPiece with RoBERTa's special tokens, and positions relative to each other in every
    layer.
    """
    # MPNet's tokenizer calls the unknown piece [UNK], as BERT's does
    words = [
        piece
        for piece in load_encoder()[0].get_vocab()
        if piece not in BERT_TOKENS or piece == "[UNK]"
    ]
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *words, "<mask>"]
    tokenizer = transformers.MPNetTokenizer(
        vocab={piece: row for row, piece in enumerate(pieces)}, model_max_length=512
    )
    return with_model(
        tokenizer, "MPNet", layers=4, hidden=128, heads=4, max_position_embeddings=514
    )


def distilbert():
    """No segments, no pooler, and other names for the same parts."""
    tokenizer = transformers.BertTokenizer(
        vocab=load_encoder("packaged")[0].get_vocab(),
        model_max_length=512,
        model_input_names=["input_ids", "attention_mask"],
    )
    return tokenizer, transformers.DistilBertModel(
        transformers.DistilBertConfig(n_layers=2, dim=64, n_heads=2, hidden_dim=128)
    )


def multilingual():
    """A BERT with the tokenizer of XLM-RoBERTa, which cuts at blanks only: so are many multilingual
    encoders.
    """
    learned = trained_pieces(
        models.Unigram(),
        trainers.UnigramTrainer,
        pre_tokenizers.Metaspace(),
        ROBERTA_TOKENS,
        unk_token="<unk>",
    )
    tokenizer = transformers.XLMRobertaTokenizer(
        vocab=[tuple(piece) for piece in learned["vocab"]], model_max_length=512
    )
    return with_model(tokenizer, "Bert", layers=3, hidden=96, heads=6)


FAMILIES = {  # by name, functions that return (tokenizer, model)
    build.__name__: build for build in (bert, cased, roberta, mpnet, distilbert, multilingual)
}


def save_model(family):
    """Build the model of a family, save it with its tokenizer, and return the folder.

    The folder of an earlier run is deleted first.
    """
    folder = FOLDER / family
    shutil.rmtree(folder, ignore_errors=True)
    torch.manual_seed(0)
    for part in FAMILIES[family]():
        part.save_pretrained(folder)
    return folder


def complaint(cell, stored):
    """What is wrong with a cell that has just run, or None.

    stored: what it says with the packaged encoder.
    """
    for output in cell.outputs:
        if output.output_type == "error" and "raises-exception" not in tags(cell):
            return f"{output.ename}: {first_line(output.evalue)}"
        if output.output_type == "stream" and output.name == "stderr" and CUT not in output.text:
            return f"stderr: {first_line(output.text)}"
    printed = printed_by(cell)
    if printed.count(PASSED) < stored.count(PASSED) and TARGET not in printed:
        return " ".join(printed.split()) or "it printed nothing"
    return None


def first_line(text):
    """The first line of a text, without colours."""
    return click.unstyle(text).strip().partition("\n")[0]


def run(lesson, folder):
    """Run one lesson with the model in a folder, and write what it prints to FOLDER.

    Returns ([(cell id, complaint)], number of cells skipped). The lesson's own file stays as it is.
    """
    notebook = nbformat.read(lesson, as_version=4)
    stored = {cell.id: printed_by(cell) for cell in notebook.cells}
    environment = {
        **os.environ,
        "COURSE_ENCODER": str(folder),
        "TQDM_DISABLE": "1",
        "COURSE_VECTORS": "",
    }
    with tempfile.TemporaryDirectory(prefix="lesson-") as empty_folder:
        client = NotebookClient(
            notebook,
            timeout=1200,  # seconds, of one cell: `bert` is large
            allow_errors=True,
            resources={"metadata": {"path": empty_folder}},
            extra_arguments=["--log-level=ERROR"],
        )
        client.execute(env=environment)
    nbformat.write(notebook, FOLDER / f"{folder.name}-{lesson.name}")  # to read what it says
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    wrong = [(cell.id, fault) for cell in cells if (fault := complaint(cell, stored[cell.id]))]
    return wrong, sum(SKIPPED in printed_by(cell) for cell in cells)


@click.command()
@click.argument("families", nargs=-1, type=click.Choice(list(FAMILIES)))
@click.option("--lesson", "patterns", multiple=True, help="A part of lessons' names.")
def main(families, patterns):
    """Run the lessons with encoders of these families, by default of all."""
    failed = 0
    for family in families or FAMILIES:
        folder = save_model(family)
        bar = tqdm(lessons(patterns), unit="lesson", desc=family)
        for lesson in bar:
            wrong, skipped = run(lesson, folder)
            failed += len(wrong)
            bar.write(
                f"{'FAIL' if wrong else 'ok  '}  {family:10} {lesson.stem}: "
                f"{skipped} skipped, {len(wrong)} wrong"
            )
            for cell_id, fault in wrong:
                bar.write(f"      {cell_id}: {fault}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
