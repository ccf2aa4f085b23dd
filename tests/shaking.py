"""Arithmetic as on another processor: `disturb(seed)` changes results at random by a unit in their last place.

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

# What is disturbed: {the module or class in which a call looks the function up: functions' names}.
# Functions of libraries that are built on these are disturbed with them; test_shake.py lists what
# lessons call. First, sums of products, which stay exact where all arguments are whole numbers:
PRODUCTS = {
    "torch": "matmul mm bmm mv dot einsum addmm baddbmm cdist",
    "torch.Tensor": "matmul mm bmm mv dot __matmul__",
    "torch.nn.functional": "linear",
    "numpy": "dot inner vdot einsum matmul",
    "sklearn.metrics.pairwise": "safe_sparse_dot",
    "course_utils._support.fast_bert": "_attend",
    "course_utils.ranking": "max_sim",
}
# Then, functions that are disturbed whatever their arguments are:
OTHERS = {
    "torch": "softmax log_softmax cosine_similarity",
    "torch.Tensor": "softmax log_softmax",
    "torch.nn.functional": "softmax log_softmax cosine_similarity scaled_dot_product_attention embedding_bag",
    "numpy.linalg": "norm",
    "course_utils.benchmark": "glove_vectors",
}
NAME_IN_CELLS = "_shaken_product"  # of the function that stands in for `a @ b`
NUMPY_TYPES = {torch.float32: np.float32, torch.float64: np.float64}


class Noise:
    """Factors 1 - e, 1 and 1 + e at random, where e is the unit in the last place of 1.

    They come from a generator of their own, so that a lesson's random numbers stay the same.
    """

    # half that of the supply: a piece starts in the first half, so it has at least this length
    LENGTH = 1 << 20

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)
        signs = self.generator.integers(-1, 2, size=2 * self.LENGTH)  # -1, 0 or 1
        self.supply = {
            dtype: (1 + signs * np.finfo(dtype).eps).astype(dtype) for dtype in NUMPY_TYPES.values()
        }

    def factors(self, shape, dtype):
        """An array of factors: a piece of the supply from a random start, repeated if it is too short."""
        return np.resize(self.supply[dtype][self.generator.integers(self.LENGTH) :], shape)

    def moved(self, result):
        """A tensor, an array or a number with each entry multiplied by such a factor; anything else as it is."""
        if (
            isinstance(result, torch.Tensor)
            and result.dtype in NUMPY_TYPES
            and result.device.type == "cpu"
        ):
            return result * torch.from_numpy(self.factors(result.shape, NUMPY_TYPES[result.dtype]))
        if isinstance(result, (np.ndarray, np.floating)) and result.dtype.type in self.supply:
            return result * self.factors(result.shape, result.dtype.type)
        if isinstance(result, float):
            return result * self.factors((), np.float64).item()
        return result


def disturb(seed):
    """Disturb this process for good: functions of libraries, and `@` in IPython's cells."""
    noise = Noise(seed)
    for table, is_exact in ((PRODUCTS, True), (OTHERS, False)):
        for home, names in table.items():
            owner = torch.Tensor if home == "torch.Tensor" else importlib.import_module(home)
            for name in names.split():
                setattr(
                    owner,
                    name,
                    disturbed(getattr(owner, name), noise, exact_for_whole_numbers=is_exact),
                )
    disturb_laid_out_products(noise)
    # where every cell finds it, whatever the cell defines
    setattr(
        builtins, NAME_IN_CELLS, disturbed(operator.matmul, noise, exact_for_whole_numbers=True)
    )
    if shell := get_ipython():
        shell.ast_transformers.append(ProductsOfArrays())


def disturbed(function, noise, *, exact_for_whole_numbers):
    """The function with its result moved by `noise`.

    exact_for_whole_numbers: leave the result as it is where all positional arguments are whole.
    """

    @functools.wraps(function)
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        if exact_for_whole_numbers and all(are_whole(arg) for arg in args):
            return result
        return noise.moved(result)

    return call


def are_whole(numbers):
    """Whether an argument holds whole numbers only, or no numbers at all.

    What is neither a number, a tensor, an array nor a list counts as the latter: a text, say, but
    also a sparse matrix.
    """
    if isinstance(numbers, torch.Tensor):
        if not numbers.is_floating_point():
            return True
        if numbers.is_meta:  # it has no values
            return False
        return bool((numbers == numbers.round()).all())
    if isinstance(numbers, np.ndarray):
        return numbers.dtype.kind != "f" or bool((numbers == numbers.round()).all())
    if isinstance(numbers, (list, tuple)):
        return all(are_whole(entry) for entry in numbers)
    return not isinstance(numbers, (float, np.floating)) or numbers.is_integer()


def disturb_laid_out_products(noise):
    """The fast forward pass of `embed` calls oneDNN, whose products are made once per weight."""
    from course_utils._support import fast_bert

    lay_out = fast_bert._product
    # each call gives a function for one weight, which is then called for each batch
    fast_bert._product = lambda *args, **kwargs: disturbed(
        lay_out(*args, **kwargs), noise, exact_for_whole_numbers=False
    )


class ProductsOfArrays(ast.NodeTransformer):
    """In a cell, `a @ b` becomes a call: NumPy's operator cannot be replaced."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
        call = ast.Call(ast.Name(NAME_IN_CELLS, ast.Load()), [node.left, node.right], [])
        return ast.copy_location(call, node)
