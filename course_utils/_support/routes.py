"""Ways to run sentences through an encoder. `embedding.embed` chooses one.

A route has these members:
- `lengths`: the number of tokens of each sentence.
- `longest`: the most tokens that the encoder takes.
- `cut`: the indices of the sentences that were longer.
- `batches(places)`: lists of these sentence indices (by default all), the longest sentences first.
- `states(batch)`: yields (places, last hidden states, attention mask) of the batch, in one or
  several parts. places: indices of n sentences. The states are a tensor (n, tokens, hidden), the
  mask is an integer tensor (n, tokens), 1 for each token and 0 for padding.
- `threads`: how many batches may be computed at a time.
"""

import contextlib
import hashlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from .fast_bert import PACKED_TOKENS, packed_bert
from .tables import strings_of

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
# positions in one forward pass of transformers, with padding; more do not fit a laptop's cache
PADDED_TOKENS = 512
# tokens in a forward pass of fast_bert by one of several threads, each with a pass of its own;
# PACKED_TOKENS are for a pass that all threads compute together
QUEUED_TOKENS = 1024
MIN_TOKENS_TO_QUEUE = 4096  # for fewer, starting threads takes longer than it saves
MIN_TOKENS_TO_PACK = 512  # for fewer, prepacking the weights takes longer than it saves
STATES_VERSION = 1  # of the forward pass: another number where it computes other states
# (for each sentence its encoding or its ids, indices of the sentences that were cut, the most
# tokens that the encoder takes)
Tokens = tuple[list[Any], set[int], int]


class PackedRoute:
    """`fast_bert` over sentences without padding, several batches at a time.

    tokens: from `packaged_tokens` or `tokens_of`.
    weights: by their names in a BertModel.
    config: its configuration.
    precision: a name in PRECISIONS.
    """

    def __init__(
        self, tokens: Tokens, weights: Mapping[str, torch.Tensor], config: Any, precision: str
    ):
        rows, self.cut, self.longest = tokens
        # `tokens_of` gives dictionaries, `packaged_tokens` only the ids
        self.ids = [row["input_ids"] if isinstance(row, dict) else row for row in rows]
        self.lengths = [len(row) for row in self.ids]
        self.weights, self.config, self.precision = weights, config, precision
        total = sum(self.lengths)
        self.threads = torch.get_num_threads() if total >= MIN_TOKENS_TO_QUEUE else 1
        self.forward = packed_bert(
            weights,
            config.num_attention_heads,
            config.layer_norm_eps,
            PRECISIONS[precision],
            lay_out=total >= MIN_TOKENS_TO_PACK,
        )

    def digest(self) -> str:
        """A digest of what all its states depend on: weights, configuration, versions."""
        sizes = (self.config.num_attention_heads, self.config.layer_norm_eps, self.precision)
        versions = (torch.__version__, STATES_VERSION)
        digest = hashlib.blake2b(repr((sizes, versions)).encode(), digest_size=32)
        for name in sorted(self.weights):
            weight = self.weights[name].detach().cpu().contiguous()
            digest.update(f"{name} {weight.dtype} {tuple(weight.shape)}".encode())
            digest.update(weight.flatten().view(torch.uint8).numpy().data)
        return digest.hexdigest()

    def sentence_digests(self) -> list[bytes]:
        """For each sentence, a digest of its tokens."""
        return [
            hashlib.blake2b(np.asarray(ids).astype("<i8").data, digest_size=16).digest()
            for ids in self.ids
        ]

    def batches(self, places: Iterable[int] | None = None) -> list[list[int]]:
        budget = QUEUED_TOKENS if self.threads > 1 else PACKED_TOKENS
        return list(by_length(self.lengths, budget, places))

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
    tokenizer, encoder: of transformers; every call runs the encoder in evaluation mode.
    precision: a name in PRECISIONS.
    """

    threads = 1

    def __init__(self, tokens: Tokens, tokenizer: Any, encoder: Any, precision: str = "float32"):
        self.rows, self.cut, self.longest = tokens
        self.lengths = [len(row["input_ids"]) for row in self.rows]
        self.tokenizer, self.encoder = tokenizer, encoder
        self.in_bfloat16 = precision == "bfloat16"

    def batches(self, places: Iterable[int] | None = None) -> list[list[int]]:
        return list(by_length(self.lengths, PADDED_TOKENS, places))

    def states(self, batch: list[int]) -> Iterator[tuple[list[int], torch.Tensor, torch.Tensor]]:
        outputs, mask = self._run(batch)
        yield batch, outputs.last_hidden_state, mask

    def hidden_states(self, batch: list[int]) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
        """(hidden states of every layer, the embedding layer first; attention mask).

        Each is a tensor (sentences, tokens, hidden), and the mask is (sentences, tokens).
        """
        outputs, mask = self._run(batch, output_hidden_states=True)
        return outputs.hidden_states, mask

    def _run(self, batch: list[int], **settings: Any) -> tuple[Any, torch.Tensor]:
        inputs = self.tokenizer.pad(
            [self.rows[place] for place in batch], padding_side="right", return_tensors="pt"
        ).to(self.encoder.device)
        autocast = torch.autocast(
            self.encoder.device.type, torch.bfloat16, enabled=self.in_bfloat16
        )
        with evaluating(self.encoder), autocast:
            return self.encoder(**inputs, **settings), inputs["attention_mask"]


@contextlib.contextmanager
def evaluating(model: torch.nn.Module) -> Generator[None]:
    """Put a model into evaluation mode, then back into the mode it was in, since it is shared.

    All of its modules return to the mode of the whole model, even if some had another.
    """
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


def tokens_of(sentences: list[str], tokenizer: Any, longest: int) -> Tokens:
    """(encodings by transformers, truncated on the right to `longest`; indices of those cut;
    `longest`). An encoding is a dictionary from names, such as "input_ids", to lists.

    tokenizer: of transformers; its truncation_side is changed during the call, and restored.
    Raises ValueError for a sentence without tokens.
    """
    side = tokenizer.truncation_side
    tokenizer.truncation_side = "right"  # it is shared and may have been modified
    try:
        encoded = tokenizer(
            sentences, truncation=True, max_length=longest, return_overflowing_tokens=True
        )
    finally:
        tokenizer.truncation_side = side
    # for each encoded row, the index of its sentence
    sentence_of_row = encoded.pop("overflow_to_sample_mapping")
    # later rows of a sentence hold the overflow
    first_rows = np.unique(sentence_of_row, return_index=True)[1]
    rows = [{name: values[row] for name, values in encoded.items()} for row in first_rows]
    for row, sentence in zip(rows, sentences):
        if not row["input_ids"]:
            raise ValueError(
                f"{sentence!r} has no tokens for this model, so it has no vector. Leave it out"
            )
    return rows, set(np.delete(sentence_of_row, first_rows).tolist()), longest


def packaged_tokens(sentences: list[str], tokenizer: Any) -> Tokens:
    """As `tokens_of`, but for the tokenizer of `fast_bert.packaged_weights`, and with only the ids
    of each sentence. Its own truncation states the length, and [CLS] and [SEP] are always there.
    """
    encoded = tokenizer.encode_batch(sentences)
    cut = {place for place, encoding in enumerate(encoded) if encoding.overflowing}
    return [encoding.ids for encoding in encoded], cut, tokenizer.truncation["max_length"]


def by_length(
    lengths: Sequence[int], budget: int, places: Iterable[int] | None = None
) -> Iterator[list[int]]:
    """Yield lists of indices, longest sentences first, so that a batch has similar lengths and
    little padding.

    lengths: of all sentences, in tokens.
    budget: the most tokens of a batch if each sentence is padded to the longest, whether or not the
    route pads. A longer sentence is a batch of its own.
    places: the indices; by default all.

    For no sentences, it yields one empty batch.
    """
    batch, longest = [], 0
    places = range(len(lengths)) if places is None else places
    for place in sorted(places, key=lengths.__getitem__, reverse=True):
        longest = longest or lengths[place]
        if batch and longest * (len(batch) + 1) > budget:
            yield batch
            batch, longest = [], lengths[place]
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
