"""Values as checks see them, without importing torch."""

import dis
import inspect

import numpy as np


def linear_maker(weight, rate):
    """A function that makes the same new model each time, a linear layer of these weights, with its optimiser.

    weight: (classes, width). Lesson 10 hands it to answers; `recipe` lets it be made again in the sandbox.
    """
    import torch

    def make():
        model = torch.nn.Linear(weight.shape[1], weight.shape[0])
        model.load_state_dict({"weight": weight.clone(), "bias": torch.zeros(weight.shape[0])})
        return model, torch.optim.SGD(model.parameters(), lr=rate)

    make.recipe = ("linear_maker", weight, rate)
    return make


def notebook_data(function):
    """The name of an array or list that a function takes from its notebook instead of from its arguments, or None."""
    if not inspect.isfunction(function):
        return None
    names = [step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL"]
    data = {name: function.__globals__.get(name) for name in names}
    return next((name for name, value in data.items() if isinstance(value, (list, dict)) or is_array(value)), None)


def is_array(value):
    """Whether a value is a NumPy array or number, or a torch tensor (told by its name, since importing torch takes
    long).
    """
    return isinstance(value, (np.ndarray, np.generic)) or type(value).__name__ in ("Tensor", "Parameter")
