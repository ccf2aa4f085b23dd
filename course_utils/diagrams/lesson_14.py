"""The diagram of lesson 14: what queries may be used for."""

from .canvas import Diagram
from .kinds import flow


def way_of_the_numbers(development: int, held_out: int) -> Diagram:
    """What development queries and held-out queries may be used for. Both are counts."""
    return flow(
        [
            [
                (f"development:\n{development} queries", "token"),
                "as often as you like",
                ("look, decide,\nchange", "plain"),
            ],
            [None, None, ""],
            [None, None, ("all decisions\nwritten down", "plain thick")],
            [None, None, ""],
            [
                (f"held out:\n{held_out} queries", "sentence"),
                ("once", "sentence thick"),
                ("the number\nin the report", "sentence"),
            ],
        ],
        "Queries to look at, and queries for one look at the end.",
    )
