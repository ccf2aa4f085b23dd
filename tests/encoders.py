"""Run the lessons with other encoders: `python -m tests.encoders [FAMILY ...] [--lesson PATTERN ...]`.

One small model with random weights of each family is made in `build/encoders`, and every lesson runs from top to bottom
with COURSE_ENCODER naming its folder. A cell fails if it raises without being tagged to do so, or if a check refuses
the lesson's own solution. What the lesson says only about the packaged encoder prints "skipped" and is counted.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from tqdm import tqdm

from .execute import lessons

FOLDER = Path(__file__).resolve().parents[1] / "build" / "encoders"
SKIPPED = "skipped: this cell "
CUT = "the rest of each was cut off"  # a warning of embed, true where a tokenizer makes more pieces
# that a search with random weights need not reach
TARGET = "which was set with the packaged encoder"
PASSED = "✓ passed"
PIECES = 6000  # of the vocabularies trained here


def texts():
    """Sentences with capitals, accents, digits and punctuation, to train vocabularies on."""
    from course_utils import load_reviews

    return list(load_reviews("imdb")["text"][:2000])


def packaged_vocabulary():
    from course_utils import load_encoder

    return dict(load_encoder()[0].get_vocab())


def trained(model, trainer, **parts):
    """The vocabulary (and, for BPE, merges) of a tokenizer trained on `texts`."""
    import json

    from tokenizers import Tokenizer

    tokenizer = Tokenizer(model)
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    tokenizer.train_from_iterator(texts(), trainer)
    return json.loads(tokenizer.to_str())["model"]


def bert():
    """As large as bert-base: 12 layers of 768, with the packaged encoder's vocabulary."""
    from transformers import BertConfig, BertModel, BertTokenizer

    return BertTokenizer(vocab=packaged_vocabulary(), model_max_length=512), BertModel(BertConfig())


def cased():
    """A BERT of 4 layers of 128 that keeps capitals and accents."""
    from tokenizers import models, pre_tokenizers, trainers
    from transformers import BertConfig, BertModel, BertTokenizer

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=PIECES, special_tokens=special, show_progress=False
    )
    model = trained(
        models.WordPiece(unk_token="[UNK]"),
        trainer,
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
    )
    tokenizer = BertTokenizer(vocab=model["vocab"], do_lower_case=False, model_max_length=512)
    return tokenizer, BertModel(BertConfig(vocab_size=len(tokenizer), **sizes(4, 128, 4)))


def roberta():
    """Byte-level pieces, no segments, positions that start after the padding id."""
    from tokenizers import models, pre_tokenizers, trainers
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=PIECES, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    model = trained(
        models.BPE(), trainer, pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False)
    )
    tokenizer = RobertaTokenizer(
        vocab=model["vocab"], merges=[tuple(pair) for pair in model["merges"]], model_max_length=512
    )
    config = RobertaConfig(
        vocab_size=len(tokenizer), max_position_embeddings=514, type_vocab_size=1, **sizes(3, 96, 6)
    )
    return tokenizer, RobertaModel(config)


def mpnet():
    """WordPiece with RoBERTa's special tokens, and positions relative to each other in every layer."""
    from transformers import MPNetConfig, MPNetModel, MPNetTokenizer

    names = {"[CLS]": "<s>", "[PAD]": "<pad>", "[SEP]": "</s>", "[MASK]": "<mask>"}
    first = ["<s>", "<pad>", "</s>", "<unk>"]
    words = [piece for piece in packaged_vocabulary() if piece not in names]
    vocabulary = {piece: row for row, piece in enumerate([*first, *words, "<mask>"])}
    tokenizer = MPNetTokenizer(vocab=vocabulary, model_max_length=512)
    config = MPNetConfig(
        vocab_size=len(vocabulary), max_position_embeddings=514, **sizes(4, 128, 4)
    )
    return tokenizer, MPNetModel(config)


def distilbert():
    """No segments, no pooler, and other names for the same parts."""
    from transformers import BertTokenizer, DistilBertConfig, DistilBertModel

    tokenizer = BertTokenizer(
        vocab=packaged_vocabulary(),
        model_max_length=512,
        model_input_names=["input_ids", "attention_mask"],
    )
    return tokenizer, DistilBertModel(
        DistilBertConfig(n_layers=2, dim=64, n_heads=2, hidden_dim=128)
    )


def multilingual():
    """A BERT with the tokenizer of XLM-RoBERTa, which cuts at blanks only: so are many multilingual encoders."""
    from tokenizers import models, pre_tokenizers, trainers
    from transformers import BertConfig, BertModel, XLMRobertaTokenizer

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=PIECES, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    model = trained(models.Unigram(), trainer, pre_tokenizer=pre_tokenizers.Metaspace())
    tokenizer = XLMRobertaTokenizer(
        vocab=[tuple(piece) for piece in model["vocab"]], model_max_length=512
    )
    return tokenizer, BertModel(BertConfig(vocab_size=len(tokenizer), **sizes(3, 96, 6)))


FAMILIES = {
    function.__name__: function
    for function in (bert, cased, roberta, mpnet, distilbert, multilingual)
}


def sizes(layers, hidden, heads):
    return {
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "intermediate_size": 2 * hidden,
    }


def made(family):
    """The folder of a family's model, made now unless it is there."""
    import torch

    folder = FOLDER / family
    if not (folder / "config.json").is_file():
        torch.manual_seed(0)
        unfinished = FOLDER / f".{family}"
        shutil.rmtree(unfinished, ignore_errors=True)
        tokenizer, model = FAMILIES[family]()
        tokenizer.save_pretrained(unfinished)
        model.save_pretrained(unfinished)
        unfinished.replace(folder)
    return folder


def plain(text):
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def said(cell):
    """What a cell printed or showed as text."""
    return "\n".join(
        output.get("text") or "".join(output.get("data", {}).get("text/plain", ""))
        for output in cell.outputs
    )


def complaint(cell, stored):
    """What is wrong with a cell that has just run, or None. `stored`: what it says with the packaged encoder."""
    for output in cell.outputs:
        if output.output_type == "error" and "raises-exception" not in cell.metadata.get(
            "tags", []
        ):
            return f"{output.ename}: {plain(output.evalue).strip().splitlines()[0] if output.evalue else ''}"
        if output.output_type == "stream" and output.name == "stderr" and CUT not in output.text:
            return f"stderr: {plain(output.text).strip().splitlines()[0]}"
    if PASSED in stored and PASSED not in said(cell) and TARGET not in said(cell):
        return " ".join(said(cell).split())
    return None


def run(lesson, folder, timeout=1200):
    """Run one lesson with a model. Returns ([(cell id, complaint)], number of cells skipped)."""
    notebook = nbformat.read(lesson, as_version=4)
    before = [said(cell) if cell.cell_type == "code" else "" for cell in notebook.cells]
    environment = {**os.environ, "COURSE_ENCODER": str(folder), "TQDM_DISABLE": "1"}
    with tempfile.TemporaryDirectory(prefix="lesson-") as place:
        client = NotebookClient(
            notebook,
            timeout=timeout,
            allow_errors=True,
            record_timing=False,
            resources={"metadata": {"path": place}},
        )
        client.extra_arguments = ["--log-level=ERROR"]
        client.execute(env=environment)
    cells = [
        (cell, stored)
        for cell, stored in zip(notebook.cells, before, strict=True)
        if cell.cell_type == "code"
    ]
    wrong = [(cell.id, what) for cell, stored in cells if (what := complaint(cell, stored))]
    nbformat.write(notebook, FOLDER / f"{folder.name}-{lesson.name}")  # to read what it says
    return wrong, sum(SKIPPED in said(cell) for cell, _ in cells)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("family", nargs="*", default=list(FAMILIES), help=", ".join(FAMILIES))
    parser.add_argument("--lesson", nargs="*", default=(), help="parts of lessons' names")
    asked = parser.parse_args(arguments)
    FOLDER.mkdir(parents=True, exist_ok=True)
    failed = 0
    for family in asked.family:
        folder = made(family)
        for lesson in (bar := tqdm(lessons(asked.lesson), unit="lesson", desc=family)):
            wrong, skipped = run(lesson, folder)
            failed += len(wrong)
            bar.write(
                f"{'FAIL' if wrong else 'ok  '}  {family:10} {lesson.stem}: {skipped} skipped, {len(wrong)} wrong"
            )
            for cell, what in wrong:
                bar.write(f"      {cell}: {what}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
