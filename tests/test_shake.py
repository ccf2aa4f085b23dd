"""`make shake` disturbs what lessons compute with, and notices a lesson that hangs on the last place of a number."""

import json
import subprocess
import sys

import numpy as np
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from .shake import disturb_kernels

TEXTS = [
    "A cat sat on the mat.",
    "A dog slept beside it.",
    "Nothing happened for a very long time.",
]
QUERY, TABLE = np.random.default_rng(0).normal(size=(2, 8, 16)).astype("float32")


def encoder(attention):
    from transformers import AutoModel, AutoTokenizer

    from course_utils._support.downloads import packaged_encoder

    tokenizer = AutoTokenizer.from_pretrained(packaged_encoder())
    model = AutoModel.from_pretrained(packaged_encoder(), attn_implementation=attention)
    return model.eval(), tokenizer(TEXTS, padding=True, return_tensors="pt")


def last_states(attention):
    model, inputs = encoder(attention)
    return model(**inputs).last_hidden_state


def attentions():
    model, inputs = encoder("eager")
    return model(**inputs, output_attentions=True).attentions[0]


def sentence_transformer():
    from sentence_transformers import SentenceTransformer

    from course_utils._support.downloads import packaged_encoder

    return SentenceTransformer(str(packaged_encoder()))


def calls():
    """What lessons call, by a name: functions without arguments, which return numbers."""
    import torch
    from sentence_transformers import util
    from sklearn.metrics.pairwise import cosine_similarity

    from course_utils import closest_pairs, embed, search
    from course_utils.benchmark import glove_vectors
    from course_utils.embedding import hidden_states
    from course_utils.ranking import max_sim

    query, table = torch.from_numpy(QUERY), torch.from_numpy(TABLE)
    linear = torch.nn.Linear(16, 4)
    return {
        "Linear": lambda: linear(query),
        "tensor @ tensor": lambda: query @ table.T,
        "array @ array, in a cell": lambda: in_a_cell("QUERY @ TABLE.T"),
        "np.einsum": lambda: np.einsum("qd,td->qt", QUERY, TABLE),
        "EmbeddingBag": lambda: torch.nn.EmbeddingBag.from_pretrained(table)(
            torch.arange(8).reshape(4, 2)
        ),
        "softmax": lambda: query.softmax(dim=-1),
        "torch.cosine_similarity": lambda: torch.cosine_similarity(query, table),
        "util.cos_sim": lambda: util.cos_sim(QUERY, TABLE),
        "scikit-learn's cosine_similarity": lambda: cosine_similarity(QUERY, TABLE),
        "np.linalg.norm": lambda: np.linalg.norm(TABLE, axis=1),
        "glove_vectors": lambda: glove_vectors(TEXTS),
        "max_sim": lambda: np.array([max_sim(QUERY[:n], TABLE) for n in range(1, 9)]),
        "search": lambda: search(QUERY, TABLE, k=3)[1],
        "closest_pairs": lambda: closest_pairs(TABLE, k=9)[1],
        "embed": lambda: embed(TEXTS),
        "embed, with laid-out weights": lambda: embed([" ".join(TEXTS * n) for n in range(1, 9)]),
        "hidden_states": lambda: next(hidden_states(TEXTS))[1][-1],
        "transformers": lambda: last_states("sdpa"),
        "transformers, eager": lambda: last_states("eager"),
        "attentions": attentions,
        "SentenceTransformer.encode": lambda: sentence_transformer().encode(TEXTS),
        "SentenceTransformer.similarity": lambda: sentence_transformer().similarity(QUERY, TABLE),
    }


def in_a_cell(expression):
    from IPython import get_ipython

    return get_ipython().run_cell(expression).result


def try_calls():
    """Print, as JSON, how far apart two disturbed results of each call are, and whether whole numbers stay exact."""
    import torch
    from IPython.core.interactiveshell import InteractiveShell

    from .shaking import disturb

    InteractiveShell.instance().push({"QUERY": QUERY, "TABLE": TABLE})
    disturb(0)
    apart = {}
    with torch.no_grad():
        for name, call in calls().items():
            one, other = np.asarray(call()), np.asarray(call())
            apart[name] = float(np.abs(one - other).max())
        whole = torch.arange(12.0).view(3, 4)
        exact = bool((whole @ whole.T == whole.long() @ whole.long().T).all())
    print(json.dumps({"apart": apart, "whole numbers are exact": exact}))


@pytest.mark.nightly  # as the shaken run is
def test_each_call_of_the_lessons_is_disturbed_by_little():
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", __name__], capture_output=True, text=True, check=True
    )
    found = json.loads(ran.stdout.splitlines()[-1])
    assert {name: far for name, far in found["apart"].items() if not 0 < far < 1e-5} == {}
    assert found["whole numbers are exact"]


@pytest.mark.nightly
def test_a_kernel_is_disturbed_and_its_generators_are_not(tmp_path, monkeypatch):
    """The cell decides by the last place, as lesson 15 once did: two products of the same numbers."""
    monkeypatch.setenv("IPYTHONDIR", "")  # restored afterwards
    monkeypatch.setenv("COURSE_COLD_KERNELS", "1")  # the warm process has another environment
    disturb_kernels(tmp_path, seed=0)
    cell = new_code_cell(
        "import numpy as np\nnp.random.seed(0)\nrows = np.random.rand(4, 3)\n"
        "print((rows @ rows.T == rows @ rows.T).all(), rows[0, 0])"
    )
    NotebookClient(new_notebook(cells=[cell])).execute()
    assert cell.outputs[0].text == f"False {np.random.RandomState(0).rand()}\n"


if __name__ == "__main__":
    try_calls()
