"""`check`, `hint` and `solution` as a learner uses them."""

import random
import re
from fractions import Fraction

import nbformat
import numpy as np
import pytest
import torch
from nbclient import NotebookClient

from course_utils import check, exercises, hint, setup, solution
from course_utils.exercises import comparing, judging
from course_utils.pooling import mean_pool

# a variable that an answer uses though it should not; its shape fits no input of the check
mask_of_the_notebook = torch.ones(2, 17, 1)


# An error whose text cannot be had.
class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no")


# An answer that raises this error, whatever it is given.
def raising(error):
    def answer(*_):
        raise error

    return answer


def test_a_report_reads_well_as_text_and_as_html():
    report = check("04-mean-pool", lambda t, m: t.mean(dim=1), seed=3)
    assert not report.passed
    assert type(report.messages) is tuple
    assert "Mean pooling: ✗ not there yet" in str(report)
    assert report.messages[0] in str(report)
    assert "check('04-mean-pool', ..., seed=3)" in str(report)
    page = report._repr_html_()
    assert re.match("<div.*not there yet", page, re.DOTALL)
    assert "<script" not in page


def test_a_learners_text_cannot_become_html():
    page = check("04-mean-pool", raising(ValueError("<script>alert(1)</script>")))._repr_html_()
    assert {*re.findall("(?:<|&lt;)script(?:>|&gt;)", page)} == {"&lt;script&gt;"}


# t and m: the embeddings of the tokens, and the attention mask. `(right result, change)[0]` returns
# the right result, but also changes an input.
FAILED = {  # name: (answer, a regular expression that is in its first message)
    "a result": (
        mean_pool(torch.ones(2, 3, 4), torch.ones(2, 3)),
        r"the function itself.*Tensor of shape \(2, 4\)",
    ),
    "error": (
        lambda t, m: [][0],
        "^A batch without padding.*raised IndexError: list index out of range",
    ),
    "arguments": (lambda t: t, "TypeError.*positional argument"),
    "emptied input": (lambda t, m: (mean_pool(t, m), t.zero_())[0], "changes `token_embeddings`"),
    "last digits of an input": (
        lambda t, m: (mean_pool(t, m), t.add_(1e-6))[0],
        "changes `token_embeddings`",
    ),
    "no return": (lambda t, m: None, "no `return` with a value"),
    "torch's own, no stub": (lambda t, m: torch.softmax(m, dim=1), "NotImplementedError"),
    "data of the notebook": (
        lambda t, m: t * mask_of_the_notebook,
        "uses `mask_of_the_notebook` from the notebook",
    ),
    "mute": (raising(Mute()), "Mute"),
    "exit": (lambda t, m: exit(3), "SystemExit"),
    "interrupt": (raising(KeyboardInterrupt), "did not come back"),
}


@pytest.mark.parametrize("answer, words", FAILED.values(), ids=FAILED)
def test_what_went_wrong_is_told(answer, words):
    report = check("04-mean-pool", answer)
    assert report.status == "failed"
    assert re.search(words, report.messages[0])


def test_inputs_are_drawn_afresh_and_can_be_repeated():
    inputs = []

    def spy(token_embeddings, attention_mask):
        inputs.append(token_embeddings.clone())
        return token_embeddings.mean(1)

    report = check("04-mean-pool", spy)
    check("04-mean-pool", spy, report.seed)
    check("04-mean-pool", spy, report.seed + 1)
    # each of the three checks calls the function equally often
    calls = len(inputs) // 3
    # the second input of each check, the first with padding
    first, again, other = inputs[1], inputs[calls + 1], inputs[2 * calls + 1]
    assert torch.equal(first, again)
    assert first.shape != other.shape or not torch.equal(first, other)


@pytest.mark.parametrize(
    "wrong, near",
    [
        ("04-meanpool", "04-mean-pool"),
        ("4-max-pool", "04-max-pool"),
        ("00-rankez", "00-ranked"),  # a completion
        (["04-mean-pool"], "04-mean-pool"),
    ],
)
def test_an_unknown_id_names_the_nearest(wrong, near):
    with pytest.raises(ValueError, match=f"did you mean '{near}'"):
        check(wrong, mean_pool)


def test_hints_come_one_after_the_other_and_setup_starts_again():
    setup()
    first, _, third, fourth = (str(hint("04-mean-pool")) for _ in range(4))
    assert first.startswith("**Hint 1 of 3.**")
    assert third.startswith("**Hint 3 of 3.**")
    assert re.search("no more hints.*solution", fourth, re.DOTALL)
    setup()
    assert str(hint("04-mean-pool")) == first


def test_a_completion_has_its_own_words_for_no_attempt():
    stub = raising(NotImplementedError())
    assert check("00-one-with-all", stub).messages == check("00-one-with-all", None).messages
    assert "run this cell again" in check("00-one-with-all", stub).messages[0]
    assert "Write the function above" in check("00-nearest", ...).messages[0]


def test_a_copy_that_is_graded_shows_no_solution():
    setup(solutions=False)
    hints = [*(hint("04-mean-pool") for _ in range(4)), hint("00-one-with-all")]
    text = "\n".join(map(str, [*hints, solution("04-mean-pool")]))
    assert re.findall(r"Hint 1|solution\(|def my_mean_pool", text) == ["Hint 1", "Hint 1"]
    setup()
    assert "def my_mean_pool" in str(solution("04-mean-pool"))


def test_the_marks_of_a_solution_are_not_shown():
    assert exercises.BEGIN not in str(solution("04-mean-pool"))


def test_a_solution_whose_source_is_missing_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="Install the course again"):
        exercises.written_solution(exercises.find("04-mean-pool"), tmp_path)


# (what is returned, what is right, a part of the sentence or None if they are equal)
DIFFERENCES = [
    # lists that are short enough to be shown, and ones that are not
    ([1, 2], [1, 2, 3], "returned [1, 2] where [1, 2, 3] is expected"),
    (list(range(99)), list(range(98)), "99 items where 98"),
    ([9] * 99, [9] * 98 + [8], "item 98 of what your function returned: 9 where 8"),
    (([1], None), ([1], [2]), "returned [[1], None] where [[1], [2]]"),
    (None, [1], "returned `None` where a list"),
    (
        [[9] * 99, [9] * 99],
        [[9] * 99, [9] * 98 + [8]],
        "item 98 of item 1 of what your function returned: 9 where",
    ),
    # kinds of values: a tuple is as good as a list, an array of one number as the number
    (None, None, None),
    ((1, 2), [1, 2], None),
    (1.0, 1, None),
    (torch.tensor(2.0), 2, None),
    ("a", ["a"], "a str where a list"),
    (torch.ones(2), torch.ones(2, dtype=torch.int64), None),
    (np.ones((2, 3)), torch.ones(2, 3), None),
    ([torch.ones(3), [1, 1, 1.000001]], torch.ones(2, 3), None),
    ([[1, 1], [1]], torch.ones(2, 2), "a list where the shape (2, 2)"),
    (torch.tensor([[1, 2], [3, 4]]), [(1, 2), (3, 4)], None),
    (np.array(["a", "b"]), ["a", "b"], None),
    (np.float32(0.1), 0.1, None),
    # A whole number must be exact; as a decimal, it may be off by rounding alone. Other decimals
    # may be off by 1e-5. Decimals are shown with four digits, or with as many as tell them apart.
    (100001, 100000, "returned 100001 where 100000"),
    (2.0, 2, None),
    (Fraction(1, 2), 0.5, None),
    (Fraction(1, 3), 0.5, "returned 0.3333 where 0.5"),
    (2.000001, 2, "returned 2.000001 where 2 is"),
    (torch.tensor([2.000001]), torch.tensor([2]), "off by"),
    (np.array([2.0000000001]), np.array([2]), None),
    (2.0000000001, 2, None),
    (0.82061, 0.82064, "returned 0.82061 where 0.82064"),
    (
        [torch.tensor(0.82061)],
        [0.82064],
        "item 0 of what your function returned: 0.82061 where 0.82064",
    ),
    ([1 / 3, 2.0], (2 / 3, np.float32(0.1)), "returned [0.3333, 2.0] where [0.6667, 0.1]"),
    (
        {"a": 1 / 3, "b": 123456},
        {"a": 2 / 3, "b": 123456},
        "{'a': 0.3333, 'b': 123456} where {'a': 0.6667, 'b'",
    ),
    (100001.0, 100000, "returned 100001 where 100000"),
    (123456.7, 22.0**4, "returned 123500 where 234256"),
    # arrays, and what is no finite number
    (torch.ones(2), torch.ones(3), "shape (2,)"),
    (torch.full((2,), float("nan")), torch.ones(2), "holds NaN"),
    (torch.ones(2), torch.full((2,), float("nan")), "holds no NaN"),
    (torch.ones(2).bfloat16(), torch.ones(2), None),
    (torch.full((2,), float("-inf")), torch.full((2,), float("-inf")), None),
    (torch.full((2,), float("inf")), torch.ones(2), "off by"),
    (torch.ones(2, 2), torch.tensor([[True, True], [False, True]]), "1 of 4 entries are wrong"),
    (1.00002, 1.0, "returned 1"),
    (float("nan"), 1.0, "returned nan"),
    (5.0, float("inf"), "returned 5 where inf"),
    (float("inf"), float("inf"), None),
    # dictionaries, and anything else
    ({"a": 1}, {"a": 1}, None),
    ({"a": np.float32(0.1)}, {"a": 0.1}, None),
    ({"a": 1}, {"a": 2}, "{'a': 1}"),
    (
        {n: n for n in range(99)},
        {n: max(n, 1) for n in range(99)},
        "under 0: your function returned 0 where 1",
    ),
    (object, 3, "a type where an int"),
]
STRICT = [  # asks for type and dtype
    (torch.ones(2), torch.ones(2), None),
    (torch.ones(2), torch.ones(2, dtype=torch.int64), "dtype"),
    (np.ones(2, dtype=np.float32), torch.ones(2), "an ndarray of shape (2,) where a Tensor"),
    ([1.0, 1.0], torch.ones(2), "a list where a Tensor"),
    (torch.ones(2), [1.0, 1.0], "a Tensor of shape (2,) where a list"),
    ((1, 2), [1, 2], None),
]


@pytest.mark.parametrize(
    "got, right, words, strict",
    [*((*row, False) for row in DIFFERENCES), *((*row, True) for row in STRICT)],
)
def test_the_difference_from_what_is_right_has_its_sentence(got, right, words, strict):
    sentence = comparing.difference(got, right, strict=strict)
    assert (sentence is None) if words is None else (words in sentence)


@pytest.mark.parametrize("entries", [["a", "b"], [None, "b"], [True, False], [np.nan, 1.0]])
def test_an_array_of_any_kind_has_changed_only_if_an_entry_has(entries):
    array = np.array(entries)
    assert [comparing.unchanged(now, array) for now in (array.copy(), array[::-1])] == [True, False]


def test_setup_puts_all_random_generators_at_the_same_start():
    def draw():
        setup()
        return random.random(), np.random.rand(), torch.rand(1).item()

    assert draw() == draw()


def test_a_list_that_is_used_again_in_each_call_is_judged_as_it_was():
    kept = []  # one list, which all calls fill and return

    def truncate(ids, max_length):
        kept.clear()
        kept.extend(ids if len(ids) <= max_length else ids[: max_length - 1] + ids[-1:])
        return kept

    assert check("02-truncate", truncate).passed


@pytest.mark.skipif(
    not hasattr(judging.signal, "setitimer"), reason="Windows cannot interrupt a loop"
)
def test_a_loop_without_end_is_stopped_and_told(monkeypatch):
    monkeypatch.setattr(judging, "SECONDS", 0.3)  # so that the test need not wait long

    # it also catches whatever `Exception` would stop it
    def forever(word, pieces):
        while True:
            try:
                pass
            except Exception:
                pass

    report = check("01-wordpiece", forever)
    assert report.status == "failed"
    assert "Does its loop ever end" in report.messages[0]


# Whoever prints, compares or hashes it, or asks for its shape, gets an error.
class Hostile:
    def __repr__(self):
        raise RuntimeError("no")

    __eq__ = __repr__
    __hash__ = None

    @property
    def shape(self):
        raise RuntimeError("no")


# It has the attributes of a tensor, and nothing in them.
class Shapeless:
    shape = dtype = None


@pytest.mark.parametrize(
    "exercise_id", ["00-nearest", "01-merge", "04-mean-pool", "02-pad-row", "05-one-head"]
)
@pytest.mark.parametrize("thing", [
    Hostile(), Hostile, [Hostile()], Shapeless(), torch.Tensor, np, 10**400, np.str_("a"), torch.tensor(1j),
    torch.ones(2, 6).to_sparse(), torch.ones(2, device="meta"), (i for i in [1]), range(10**7), ValueError,
], ids=lambda thing: type(thing).__name__)  # fmt: skip
def test_odd_things_fail_and_never_break_the_check(exercise_id, thing):
    report = check(exercise_id, lambda *_: thing)
    assert report.status == "failed"
    assert all([report.messages, str(report), report._repr_html_()])


IN_A_CELL = {  # name: (source of the cell, what its outputs show: see OUTPUTS)
    "the last line": ('check("00-nearest", right)', ["passed"]),
    "in the middle": ('check("00-nearest", right)\nprint("after")', ["passed", "after"]),
    "two": (
        'check("00-nearest", None)\nprint("between")\ncheck("00-nearest", right)',
        ["not attempted", "between", "passed"],
    ),
    "in a loop": (
        'for answer in (None, right):\n    check("00-nearest", answer)',
        ["not attempted", "passed"],
    ),
    "assigned": ('report = check("00-nearest", right)', ["passed"]),
    "assigned, then named": ('report = check("00-nearest", right)\nreport', ["passed"]),
    "named in a later cell": ("report", ["passed"]),
    "in a function": ('def ask():\n    return check("00-nearest", right)\n\nask()', ["passed"]),
    "before an error": ('check("00-nearest", right)\n1 / 0', ["passed", "ZeroDivisionError"]),
    "with a semicolon behind": ('check("00-nearest", right)\nNone;', ["passed"]),
}
# a report's state, a printed word, or an error
OUTPUTS = "passed|not attempted|after|between|ZeroDivisionError"


def test_in_a_notebook_each_check_is_shown_once_where_it_stands(tmp_path):
    sources = [
        "from course_utils import check\n"
        "from course_utils.exercises import find\n"
        'right = find("00-nearest").reference',
        *(source for source, _ in IN_A_CELL.values()),
    ]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in sources]
    )
    NotebookClient(
        notebook, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()

    shown = {
        name: [re.search(OUTPUTS, str(output))[0] for output in cell.outputs]
        for name, cell in zip(IN_A_CELL, notebook.cells[1:], strict=True)
    }
    assert shown == {name: expected for name, (_, expected) in IN_A_CELL.items()}
    assert notebook.cells[1].outputs[0].output_type == "execute_result", (
        "as the lessons' stored outputs are"
    )
