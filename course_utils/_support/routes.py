"""Ways to run sentences through an encoder. `embedding.embed` chooses one.

A route has these members:
- `lengths`: the number of tokens of each sentence.
- `longest`: the most tokens that the encoder takes.
- `cut`: the indices of the sentences that were longer.
- `batches()`: lists of sentence indices, the longest sentences first.
- `states(batch)`: yields (places, last hidden states, attention mask).
- `threads`: how many batches may be computed at a time.
"""

import contextlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from .fast_bert import PACKED_TOKENS, packed_bert
from .tables import strings_of

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
# positions in one forward pass of transformers, with padding; more do not fit a laptop's cache
PADDED_TOKENS = 512
QUEUED_TOKENS = 1024  # the same, per thread
MIN_TOKENS_TO_QUEUE = 4096  # for fewer, starting threads takes longer than it saves
MIN_TOKENS_TO_PACK = 512  # for fewer, prepacking the weights takes longer than it saves
# (encodings or ids, indices of the sentences that were cut, the most tokens of a sentence)
Tokens = tuple[list[Any], set[int], int]


class PackedRoute:
    """`fast_bert` over sentences without padding, several batches at a time.

    tokens: from `packaged_tokens` or `tokens_of`.
    weights: by their names in a BertModel.
    config: its configuration.
    """

    def __init__(
        self, tokens: Tokens, weights: Mapping[str, torch.Tensor], config: Any, precision: str
    ):
        rows, self.cut, self.longest = tokens
        self.ids = [row["input_ids"] if isinstance(row, dict) else row for row in rows]
        self.lengths = [len(row) for row in self.ids]
        total = sum(self.lengths)
        self.threads = torch.get_num_threads() if total >= MIN_TOKENS_TO_QUEUE else 1
        self.forward = packed_bert(
            weights,
            config.num_attention_heads,
            config.layer_norm_eps,
            PRECISIONS[precision],
            lay_out=total >= MIN_TOKENS_TO_PACK,
        )

    def batches(self) -> list[list[int]]:
        return list(by_length(self.lengths, QUEUED_TOKENS if self.threads > 1 else PACKED_TOKENS))

    def states(self, batch: list[int]) -> Iterator[tuple[list[int], torch.Tensor, torch.Tensor]]:
        for start, states in self.forward([self.ids[place] for place in batch]):
            yield (
                batch[start : start + len(states)],
                states,
                torch.ones(states.shape[:2], dtype=torch.int64),
            )


class TransformersRoute:
    """transformers' own forward pass over padded batches, one at a time. `hidden_states` returns
    all layers.

    tokens: from `tokens_of`.
    """

    threads = 1

    def __init__(self, tokens: Tokens, tokenizer: Any, encoder: Any, precision: str = "float32"):
        self.rows, self.cut, self.longest = tokens
        self.lengths = [len(row["input_ids"]) for row in self.rows]
        self.tokenizer, self.encoder, self.half = tokenizer, encoder, precision == "bfloat16"

    def batches(self) -> list[list[int]]:
        return list(by_length(self.lengths, PADDED_TOKENS))

    def states(self, batch: list[int]) -> Iterator[tuple[list[int], torch.Tensor, torch.Tensor]]:
        outputs, mask = self._run(batch)
        yield batch, outputs.last_hidden_state, mask

    def hidden_states(self, batch: list[int]) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
        """(hidden states of every layer, attention mask)."""
        outputs, mask = self._run(batch, output_hidden_states=True)
        return outputs.hidden_states, mask

    def _run(self, batch: list[int], **settings: Any) -> tuple[Any, torch.Tensor]:
        rows = [self.rows[place] for place in batch]
        inputs = self.tokenizer.pad(rows, padding_side="right", return_tensors="pt").to(
            self.encoder.device
        )
        half = torch.autocast(self.encoder.device.type, torch.bfloat16, enabled=self.half)
        with evaluating(self.encoder), half:
            return self.encoder(**inputs, **settings), inputs["attention_mask"]


@contextlib.contextmanager
def evaluating(model: torch.nn.Module) -> Generator[None]:
    """Put a model into evaluation mode, and back if it was in training: it is shared."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


def tokens_of(sentences: list[str], tokenizer: Any, longest: int) -> Tokens:
    """(encodings by transformers, truncated on the right to `longest`; indices of those cut;
    `longest`).
    """
    side = tokenizer.truncation_side
    tokenizer.truncation_side = "right"  # it is shared and may have been modified
    try:
        encoded = tokenizer(
            sentences, truncation=True, max_length=longest, return_overflowing_tokens=True
        )
    finally:
        tokenizer.truncation_side = side
    owner = encoded.pop("overflow_to_sample_mapping")
    first = np.unique(owner, return_index=True)[1]  # later rows of a sentence hold the overflow
    rows = [{name: values[row] for name, values in encoded.items()} for row in first]
    for row, sentence in zip(rows, sentences):
        if not row["input_ids"]:
            raise ValueError(
                f"{sentence!r} has no tokens for this model, so it has no vector. Leave it out"
            )
    return rows, set(np.delete(owner, first).tolist()), longest


def packaged_tokens(sentences: list[str], tokenizer: Any) -> Tokens:
    """As `tokens_of`, but for the tokenizer of `fast_bert.packaged_weights`, and with only the ids
    of each row.
    """
    encoded = tokenizer.encode_batch(sentences)
    cut = {place for place, encoding in enumerate(encoded) if encoding.overflowing}
    return [encoding.ids for encoding in encoded], cut, tokenizer.truncation["max_length"]


def by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield lists of indices, longest sentences first, so that a batch has similar lengths and
    little padding.
    """
    batch, widest = [], 0
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        widest = widest or lengths[place]
        if batch and widest * (len(batch) + 1) > budget:
            yield batch
            batch, widest = [], lengths[place]
        batch.append(place)
    yield batch


def checked_sentences(sentences: Iterable[str]) -> list[str]:
    """The sentences as a list. Raises TypeError and ValueError as `embed` says."""
    if isinstance(sentences, str):
        raise TypeError(
            "sentences must be a list of strings; got one string. Write embed([sentence])"
        )
    sentences = strings_of(sentences, "sentences")
    for position, sentence in enumerate(sentences):
        try:
            sentence.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"sentences[{position}] holds half a character (a lone surrogate) at position "
                f"{error.start}; it was read in a wrong encoding"
            ) from None
    if not sentences:
        raise ValueError("sentences is empty: there is nothing to embed")
    return sentences
