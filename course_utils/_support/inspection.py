"""What an answer is made of, found without importing torch."""

import dis
import inspect
from typing import Any

import numpy as np


def notebook_data(function: Any) -> str | None:
    """The name of an array, list or dict that a function reads from its notebook instead of its
    arguments, or None.

    Only the function's own bytecode is read. What a lambda or a function inside it reads is not
    found, so None does not prove that it reads nothing.
    """
    if not inspect.isfunction(function):
        return None
    names = [step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL"]
    data = {name: function.__globals__.get(name) for name in names}
    return next(
        (
            name
            for name, value in data.items()
            if isinstance(value, (list, dict)) or is_array(value)
        ),
        None,
    )


def is_array(value: object) -> bool:
    """Whether a value is a NumPy array or scalar, or a torch tensor.

    Tensors are recognised by class name, since importing torch is slow.
    """
    return isinstance(value, (np.ndarray, np.generic)) or type(value).__name__ in (
        "Tensor",
        "Parameter",
    )
