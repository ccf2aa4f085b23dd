"""Arithmetic as on another processor: `disturb(seed)` moves results by one unit in their last place, at random.

A kernel calls it before the first cell of a lesson (tests/shake.py). Two results that are equal in exact arithmetic
then differ, as they may on a processor that adds up in another order. Products of whole numbers are exact, so
they stay; so do zeros, and bfloat16, whose last place is far larger than such differences.
"""

import ast
import builtins
import functools
import importlib
import operator

import numpy as np
import torch
from IPython import get_ipython

# Where functions are looked up when they are called. Those of libraries that are built on them are disturbed, too:
# test_shake.py lists what lessons call.
PRODUCTS = {
    "torch": "matmul mm bmm mv dot einsum addmm baddbmm cdist",
    "torch.Tensor": "matmul mm bmm mv dot __matmul__",
    "torch.nn.functional": "linear",
    "numpy": "dot inner vdot einsum matmul",
    "sklearn.metrics.pairwise": "safe_sparse_dot",
    "course_utils._support.fast_bert": "_attend",
    "course_utils.ranking": "max_sim",
}
OTHERS = {
    "torch": "softmax log_softmax cosine_similarity",
    "torch.Tensor": "softmax log_softmax",
    "torch.nn.functional": "softmax log_softmax cosine_similarity scaled_dot_product_attention",
    "course_utils.benchmark": "row_cosines",
}
NAME_IN_CELLS = "_shaken_product"


def disturb(seed):
    """Disturb this process. Its generators stay as they are: the noise comes from one of its own."""
    noise = np.random.default_rng(seed)
    for table, exact in ((PRODUCTS, True), (OTHERS, False)):
        for home, names in table.items():
            owner = torch.Tensor if home == "torch.Tensor" else importlib.import_module(home)
            for name in names.split():
                setattr(owner, name, disturbed(getattr(owner, name), noise, exact))
    disturb_laid_out_products(noise)
    setattr(builtins, NAME_IN_CELLS, disturbed(operator.matmul, noise, True))
    if shell := get_ipython():
        shell.ast_transformers.append(ProductsOfArrays())


def disturbed(function, noise, exact_for_whole_numbers):
    """The function, its result moved."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        if exact_for_whole_numbers and all(are_whole(arg) for arg in args):
            return result
        return moved(result, noise)

    return call


def are_whole(numbers):
    """Whether an argument holds whole numbers only, or is none that holds numbers."""
    if isinstance(numbers, torch.Tensor):
        return not numbers.is_floating_point() or bool((numbers == numbers.round()).all())
    if isinstance(numbers, np.ndarray):
        return numbers.dtype.kind != "f" or bool((numbers == numbers.round()).all())
    return not isinstance(numbers, (list, tuple)) or all(are_whole(entry) for entry in numbers)


def moved(result, noise):
    """A tensor, an array or a number, each entry of it moved up or down by a unit in the last place, or not at all."""
    if isinstance(result, torch.Tensor):
        if result.dtype not in (torch.float32, torch.float64):
            return result
        ways = torch.from_numpy(noise.integers(-1, 2, size=tuple(result.shape), dtype=np.int8))
        before = result.detach()
        after = torch.nextafter(before, before + ways * before.abs())
        return result + torch.where(before.isfinite(), after - before, 0)  # a sum, so that gradients pass
    if isinstance(result, (np.ndarray, np.floating)) and result.dtype in (np.float32, np.float64):
        ways = noise.integers(-1, 2, size=result.shape).astype(result.dtype)
        with np.errstate(invalid="ignore"):
            return np.nextafter(result, result + ways * np.abs(result))
    if isinstance(result, float):
        return float(moved(np.float64(result), noise))
    return result


def disturb_laid_out_products(noise):
    """The fast forward pass of `embed` calls oneDNN, whose products are made once per weight."""
    from course_utils._support import fast_bert

    lay_out = fast_bert._product

    @functools.wraps(lay_out)
    def product(*args, **kwargs):
        return disturbed(lay_out(*args, **kwargs), noise, False)

    fast_bert._product = product


class ProductsOfArrays(ast.NodeTransformer):
    """In a cell, `a @ b` becomes a call: NumPy's operator cannot be replaced."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
        call = ast.Call(ast.Name(NAME_IN_CELLS, ast.Load()), [node.left, node.right], [])
        return ast.copy_location(call, node)
