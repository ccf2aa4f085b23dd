"""Several workers on one queue: results, errors and interrupts, and torch's threads."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch

from course_utils import embed, load_reviews
from course_utils._support import routes
from course_utils._support.workers import each


# The check is here, not in a test: whatever a test does, `each` must have restored the number.
@pytest.fixture(autouse=True)
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    after = torch.get_num_threads()
    torch.set_num_threads(before)
    assert after == 3, "the caller's number of threads"


def test_every_item_is_worked_on_once_by_threads_that_compute_alone():
    threads = []  # of each item: the thread's identifier, and how many torch has in it

    def square(item):
        threads.append((threading.get_ident(), torch.get_num_threads()))
        time.sleep(0.001 * (item % 3))  # so that no worker does all, and items end in another order
        return item * item

    assert sorted(each(square, range(50), 3)) == [item * item for item in range(50)]
    identifiers, numbers = map(set, zip(*threads))
    assert (len(identifiers), numbers) == (3, {1})


@pytest.mark.parametrize(
    "items, threads",
    [([], 3), ([7], 3), ([7, 8, 9], 1), ([7, 8], 0)],
    ids=["nothing", "one item", "one thread", "no thread"],
)
def test_little_work_is_done_by_the_caller(items, threads):
    results = each(lambda item: (item, threading.get_ident()), items, threads)
    assert list(results) == [(item, threading.get_ident()) for item in items]


# None: no error, and the caller stops asking
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError, None])
def test_an_error_comes_out_and_stops_the_others_as_does_a_caller_that_stops_asking(error):
    begun = []

    def work(item):
        begun.append(item)
        if error and item == 2:
            raise error("broken")
        time.sleep(0.01)

    results = each(work, range(1000), 2)
    if error is None:
        next(results)
        results.close()
    else:
        with pytest.raises(error, match="broken"):
            list(results)
    # a few, and room for a slow machine
    assert len(begun) < 20, "what was begun at that moment, of 1,000 items"


def test_the_vectors_do_not_depend_on_the_number_of_workers(monkeypatch):
    monkeypatch.setattr(routes, "MIN_TOKENS_TO_QUEUE", 0)
    monkeypatch.setattr(routes, "QUEUED_TOKENS", 300)  # several batches of these 694 tokens
    texts = load_reviews()["text"].sample(24, random_state=1).tolist()
    several = embed(texts)
    torch.set_num_threads(1)
    alone = embed(texts)
    torch.set_num_threads(3)  # as the fixture expects
    # batches of other texts round differently; the numbers of a vector are below 1
    assert np.abs(several - alone).max() <= 1e-6


# Interrupts a long embedding after a second. Prints whether it ended within 20 seconds, torch's
# number of threads afterwards, and how many vectors another embedding gives.
INTERRUPT_AN_EMBEDDING = """
import os, signal, threading, time
import torch
from course_utils import embed, load_reviews
torch.set_num_threads(2)
# a background job of a shell would ignore Ctrl+C
signal.signal(signal.SIGINT, signal.default_int_handler)
texts = load_reviews("imdb")["text"].tolist()[:4000]  # minutes, to the end
embed(texts[:5])
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    embed(texts)
except KeyboardInterrupt:
    print(time.monotonic() - start < 60, torch.get_num_threads(), len(embed(texts[:3])))
"""


@pytest.mark.nightly
def test_ctrl_c_ends_a_long_embedding_within_a_moment():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", INTERRUPT_AN_EMBEDDING],
        capture_output=True,
        text=True,
        env={**os.environ, "COURSE_ENCODER": ""},
    )
    assert done.stdout.split() == ["True", "2", "3"], done.stderr
