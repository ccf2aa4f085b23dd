"""`make shake` disturbs arithmetic, and a lesson that depends on a number's last place fails."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from IPython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from sentence_transformers import SentenceTransformer, util
from sklearn.metrics.pairwise import cosine_similarity
from transformers import AutoModel, AutoTokenizer

from course_utils import benchmark, embed, ranking, search
from course_utils._support.downloads import packaged_encoder
from course_utils.embedding import hidden_states

from .shake import disturb_kernels
from .shaking import disturb

TEXTS = [
    "A cat sat on the mat.",
    "A dog slept beside it.",
    "Nothing happened for a very long time.",
]
QUERY, TABLE = np.random.default_rng(0).normal(size=(2, 8, 16)).astype("float32")


def calls():
    """What lessons call, by a name: functions without arguments, which return numbers."""
    query, table = torch.from_numpy(QUERY), torch.from_numpy(TABLE)
    linear = torch.nn.Linear(16, 4)
    folder = str(packaged_encoder())
    tokens = AutoTokenizer.from_pretrained(folder)(TEXTS, padding=True, return_tensors="pt")
    sdpa, eager = (
        AutoModel.from_pretrained(folder, attn_implementation=kind).eval()
        for kind in ("sdpa", "eager")
    )
    library = SentenceTransformer(folder)
    return {
        "Linear": lambda: linear(query),
        "tensor @ tensor": lambda: query @ table.T,
        "array @ array, in a cell": lambda: get_ipython().run_cell("QUERY @ TABLE.T").result,
        "np.einsum": lambda: np.einsum("qd,td->qt", QUERY, TABLE),
        "EmbeddingBag": lambda: torch.nn.EmbeddingBag.from_pretrained(table)(
            torch.arange(8).reshape(4, 2)
        ),
        "softmax": lambda: query.softmax(dim=-1),
        "torch.cosine_similarity": lambda: torch.cosine_similarity(query, table),
        "util.cos_sim": lambda: util.cos_sim(QUERY, TABLE),
        "scikit-learn's cosine_similarity": lambda: cosine_similarity(QUERY, TABLE),
        "np.linalg.norm": lambda: np.linalg.norm(TABLE, axis=1),
        "glove_vectors": lambda: benchmark.glove_vectors(TEXTS),
        "max_sim": lambda: np.array([ranking.max_sim(QUERY[:n], TABLE) for n in range(1, 9)]),
        "search": lambda: search(QUERY, TABLE, k=3)[1],
        "embed": lambda: embed(TEXTS),
        # more than MIN_TOKENS_TO_PACK = 512 tokens
        "embed, with laid-out weights": lambda: embed([" ".join(TEXTS * n) for n in range(1, 9)]),
        "hidden_states": lambda: next(hidden_states(TEXTS))[1][-1],
        "transformers": lambda: sdpa(**tokens).last_hidden_state,
        "transformers, eager": lambda: eager(**tokens).last_hidden_state,
        "attentions": lambda: eager(**tokens, output_attentions=True).attentions[0],
        "SentenceTransformer.encode": lambda: library.encode(TEXTS),
        "SentenceTransformer.similarity": lambda: library.similarity(QUERY, TABLE),
    }


def try_calls():
    """Disturb this process, and print one line of JSON, an object with two keys.

    "distances": for each call, how far apart two of its disturbed results are at most.
    "whole numbers are exact": whether a product of whole numbers stays exact.
    """
    InteractiveShell.instance().push({"QUERY": QUERY, "TABLE": TABLE})
    disturb(0)
    distances = {}
    with torch.no_grad():
        for name, call in calls().items():
            first, second = np.asarray(call()), np.asarray(call())
            distances[name] = float(np.abs(first - second).max())
        whole_numbers = torch.arange(12.0).view(3, 4)
        is_exact = torch.equal(
            whole_numbers @ whole_numbers.T, (whole_numbers.long() @ whole_numbers.long().T).float()
        )
    print(json.dumps({"distances": distances, "whole numbers are exact": is_exact}))


@pytest.mark.nightly  # as the shaken run is
def test_each_call_of_the_lessons_is_disturbed_by_little():
    # this module as a program runs `try_calls`: in another process, since nothing undoes `disturb`
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", __name__], capture_output=True, text=True, check=True
    )
    report = json.loads(ran.stdout.splitlines()[-1])
    # 0: not disturbed. A unit in the last place of a float32 near 1 is 1.2e-7; 1e-5 leaves room for
    # larger numbers, and for the layers of an encoder, in which such errors add up.
    assert {
        name: distance for name, distance in report["distances"].items() if not 0 < distance < 1e-5
    } == {}
    assert report["whole numbers are exact"]


@pytest.mark.nightly
def test_a_kernel_is_disturbed_and_its_generators_are_not(tmp_path, monkeypatch):
    # The cell compares two products of the same numbers, as lesson 15 once did. Disturbed, they
    # differ in the last place; NumPy's random numbers are those of an undisturbed process.
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
