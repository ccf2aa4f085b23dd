"""What each explorer shows first. The texts are the course's own.

A start has all arguments of the explorer's function (see `ANSWERS` in `compute.py`). Words, tokens
([CLS] included), heads and hidden states are counted from 0, the layer of "one head" from 1.
"""

STARTS = {
    "tokens": {"text": "The puppy yawned at the mopwhistle.", "word": 5},
    "merges": {
        "corpus": "thing 116\ninteresting 103\nwatching 97\nknow 68\nlow 60\nfeeling 48\nstars 24\nfunniest 12",
        "steps": 3,
    },
    "padding": {
        "texts": (
            "No.\nI love Paris.\nThe soup was cold, and nobody said a word about it.\nWhy not?\n"
            "He waited until the last train had left the station, and then he walked home in the rain.\nIt works."
        ),
        "batch": 3,
        "ordered": False,
        "length": 0,
    },
    "layers": {
        "word": "bank",
        "texts": (
            "We had a picnic on the bank of the river.\nReeds grow along the muddy bank of the stream.\n"
            "The boat was tied to a tree on the bank.\nOtters dug a hole in the steep bank.\n\n"
            "The bank raised its interest rates again.\nShe works for a bank in the city.\n"
            "The bank refused him a loan.\nHe put his savings in the bank."
        ),
    },
    "pooling": {
        "one": "A man is playing a guitar on the stage.",
        "other": "Someone makes music in front of an audience.",
        "mask": True,
        "pads": 0,
    },
    "one head": {"text": "The puppy that chased the cat was tired.", "layer": 2, "head": 8, "token": 0},
    "silence": {
        "text": "The puppy sleeps by the warm stove.",
        "others": (
            "A young dog is napping near the fire.\nThe puppy barks at the warm stove.\nThe court rejected the appeal."
        ),
        "off": [],
    },
    "masks": {"text": "The director made a boring movie with a good cast.", "masked": [10]},
    "threshold": {"cut": 3.0, "at": 0.6},
    "losses": {
        "kind": "triplet", "anchor": [0.0, 0.6], "positive": [0.7, 0.2],
        "negatives": [[-0.7, -0.05], [1.6, 1.4], [-1.4, -1.2]], "margin": 0.5, "scale": 20,
    },
    "search": {
        "query": "five people wrote the screenplay and none of them looked it over", "layer": 6, "pooling": "mean",
    },
    "hybrid": {
        "query": "d50", "off": [], "k1": 1.5, "b": 0.75, "fusion": "sum", "weight": 0.5, "page": None,
    },
}  # fmt: skip
