"""Pool one vector per token into one vector per sentence. Derived in lesson 04."""

import torch


def _real_tokens(token_embeddings: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
    """Check both arguments and return the mask as booleans, shape (batch, tokens).

    Raises TypeError and ValueError as `cls_pool` does.
    """
    for name, value in (("token_embeddings", token_embeddings), ("attention_mask", attention_mask)):
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"{name} must be a torch.Tensor; got {type(value).__name__}")
    if not token_embeddings.is_floating_point():
        raise TypeError(
            f"token_embeddings must hold floating-point numbers; got {token_embeddings.dtype}"
        )
    if token_embeddings.ndim != 3:
        raise ValueError(
            "token_embeddings must have the shape (batch, tokens, hidden); got "
            f"{tuple(token_embeddings.shape)}"
        )
    if attention_mask.shape != token_embeddings.shape[:2]:
        raise ValueError(
            f"attention_mask must have the shape {tuple(token_embeddings.shape[:2])}, one number "
            f"per token; got {tuple(attention_mask.shape)}"
        )
    real = attention_mask.bool()
    if not torch.equal(real.to(attention_mask.dtype), attention_mask):
        other = attention_mask[(attention_mask != 0) & (attention_mask != 1)][0].item()
        raise ValueError(f"attention_mask must hold only 0 and 1; got {other}")
    if not real.any(dim=1).all():
        rows = (~real.any(dim=1)).nonzero().flatten().tolist()
        raise ValueError(
            f"attention_mask is 0 everywhere in row {rows[0]}: there is nothing to pool"
        )
    return real


def cls_pool(token_embeddings: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
    """The vector of the first real token, which BERT's tokenizer makes [CLS].

    token_embeddings: tensor (batch, tokens, hidden).
    attention_mask: tensor (batch, tokens) of 1 (real) and 0 (padding).

    Returns a tensor (batch, hidden). Raises TypeError for arguments of the wrong type, ValueError
    for a wrong shape or a mask that holds other values than 0 and 1 or is all zero in a row.
    """
    first = _real_tokens(token_embeddings, attention_mask).int().argmax(dim=1)
    return token_embeddings[torch.arange(len(first), device=first.device), first]


def mean_pool(token_embeddings: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
    """The mean over real tokens (Reimers & Gurevych 2019, section 3, "MEAN"). Arguments and errors
    as in `cls_pool`.

    Half-precision input is summed in float32 and returned in its own precision.
    """
    real = _real_tokens(token_embeddings, attention_mask).unsqueeze(-1)
    wide = torch.promote_types(token_embeddings.dtype, torch.float32)
    total = token_embeddings.masked_fill(~real, 0).sum(dim=1, dtype=wide)  # 0 * NaN would be NaN
    return (total / real.sum(dim=1)).to(token_embeddings.dtype)


def max_pool(token_embeddings: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
    """The largest value of each dimension over real tokens (Reimers & Gurevych 2019, section 3,
    "MAX").

    Arguments and errors as in `cls_pool`.
    """
    padding = ~_real_tokens(token_embeddings, attention_mask)
    return token_embeddings.masked_fill(padding.unsqueeze(-1), float("-inf")).amax(dim=1)


def normalise(vectors: torch.Tensor) -> torch.Tensor:
    """Scale each vector to length 1. A zero vector stays zero.

    vectors: tensor (..., hidden).

    Returns a tensor of the same shape. Lengths below 1e-12 count as 1e-12, as in
    `torch.nn.functional.normalize`; in float16 the limit is its smallest normal number.
    Raises TypeError unless `vectors` is a floating-point tensor.
    """
    if not isinstance(vectors, torch.Tensor) or not vectors.is_floating_point():
        raise TypeError(
            "vectors must be a torch.Tensor of floating-point numbers; got "
            f"{vectors.dtype if isinstance(vectors, torch.Tensor) else type(vectors).__name__}"
        )
    shortest = max(1e-12, torch.finfo(vectors.dtype).tiny)
    return vectors / vectors.norm(dim=-1, keepdim=True).clamp(min=shortest)


POOLINGS = {"cls": cls_pool, "mean": mean_pool, "max": max_pool}
