"""Inspect values for checks, without importing torch."""

import dis
import inspect

import numpy as np


def linear_maker(weight, rate):
    """A function that makes the same new linear model, with these weights, and its optimiser on each call.

    weight: (classes, width).

    Lesson 10 passes it to answers; `recipe` lets the sandbox recreate it.
    """
    import torch

    def make():
        model = torch.nn.Linear(weight.shape[1], weight.shape[0])
        model.load_state_dict({"weight": weight.clone(), "bias": torch.zeros(weight.shape[0])})
        return model, torch.optim.SGD(model.parameters(), lr=rate)

    make.recipe = ("linear_maker", weight, rate)
    return make


def layer_maker(query, key, value):
    """A function that stands in for a layer of an encoder: one head of attention, the residual connection, a norm.

    query, key, value: (hidden, hidden). The function takes hidden states (batch, tokens, hidden) and returns the next.

    Lesson 05 passes such functions to answers; `recipe` lets the sandbox recreate them.
    """

    def layer(states):
        scores = (states @ query) @ (states @ key).transpose(-1, -2) / states.shape[-1] ** 0.5
        attended = states + scores.softmax(dim=-1) @ (states @ value)
        return attended / attended.std(dim=-1, keepdim=True)

    layer.recipe = ("layer_maker", query, key, value)
    return layer


def notebook_data(function):
    """The name of an array or list that a function reads from its notebook instead of its arguments, or None."""
    if not inspect.isfunction(function):
        return None
    names = [step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL"]
    data = {name: function.__globals__.get(name) for name in names}
    return next((name for name, value in data.items() if isinstance(value, (list, dict)) or is_array(value)), None)


def is_array(value):
    """Whether a value is a NumPy array or number, or a torch tensor.

    Tensors are recognised by class name, since importing torch is slow.
    """
    return isinstance(value, (np.ndarray, np.generic)) or type(value).__name__ in ("Tensor", "Parameter")
