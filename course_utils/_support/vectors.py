"""Check what `nearest.py` is given."""

import numpy as np
import torch


def unit_vectors(name, vectors):
    """The vectors as a float32 tensor (n, hidden), scaled to unit length."""
    vectors = torch.as_tensor(vectors) if isinstance(vectors, torch.Tensor) else np.asarray(vectors)
    numbers = vectors.dtype.kind in "iuf" if isinstance(vectors, np.ndarray) else not vectors.is_complex()
    if not numbers:
        raise TypeError(f"{name} must hold numbers; got {vectors.dtype}")
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise ValueError(
            f"{name} must have the shape (vectors, dimensions), with at least one of each; got {tuple(vectors.shape)}"
        )
    vectors = torch.as_tensor(vectors).detach().cpu()
    vectors = vectors.float() if vectors.dtype in (torch.float16, torch.bfloat16, torch.float32) else vectors.double()
    largest = vectors.abs().amax(dim=1, keepdim=True)
    for wrong, what in (
        (~torch.isfinite(largest), "holds NaN or infinity"),
        (largest == 0, "is a zero vector, which has no direction"),
    ):
        if wrong.any():
            raise ValueError(f"{name}[{int(wrong.nonzero()[0, 0])}] {what} ({int(wrong.sum())} such vectors in all)")
    vectors = (vectors / largest).float()  # first, so that squares neither overflow nor vanish
    return vectors / vectors.norm(dim=1, keepdim=True)


def check_k(k, most, why):
    """Raise TypeError or ValueError unless k is a whole number from 1 to `most`."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise TypeError(f"k must be a whole number; got {type(k).__name__}")
    if not 1 <= k <= most:
        raise ValueError(f"k must be between 1 and {most} ({why}); got {k}")
