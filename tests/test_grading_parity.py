"""The first answers of the check tests, right and wrong, get through the grader what the instant check says of them."""

import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest

from course_utils._support.hub_cache import PUBLIC_NAME
from course_utils.exercises import find, judging
from course_utils.exercises.judging import examine
from course_utils.tools.grading.marking import Marker, assignment, cases_of
from course_utils.tools.grading.reading import cell_checksum
from course_utils.tools.grading.sandbox import walls

from .answers import ANSWERS
from .grader import hand_in, ready_sandbox
from .test_held_out import shows_a_query

# a search that looks around in the process first, at {}
ITSELF = """
def find(queries, texts, k, known={{}}):
    {}
    from course_utils import embed, search
    new = [text for text in [*queries, *texts] if text not in known]
    known.update(zip(new, embed(new) if new else []))
    return search(*([known[text] for text in some] for some in (queries, texts)), k)[0].tolist()
"""
SEED = 20
EACH_RUN = "04"  # the other lessons nightly: each takes seconds
FUNCTIONS = assignment()["exercises"]


def hand_ins():
    """Two hand-ins of each lesson: the first right answer to each exercise, and the first wrong ones."""
    for lesson, module in ANSWERS.items():
        slow = [] if lesson == EACH_RUN else [pytest.mark.nightly]
        for kind in ("right", "wrong"):
            exercises = {name: first_answer(module, kind, name) for name in module.RIGHT}
            yield pytest.param(
                lesson, exercises, kind == "right", id=f"{lesson}-{kind}", marks=slow
            )


def first_answer(module, kind, exercise_id):
    """The expression, as text, that is this answer in the answers' file."""
    if kind == "right":
        return f"RIGHT[{exercise_id!r}][0]"
    if exercise_id in module.WRONG:
        return f"WRONG[{exercise_id!r}][0][0]"
    assert module.PROMISES[exercise_id], f"{exercise_id} has no answer under WRONG or PROMISES"
    return f"PROMISES[{exercise_id!r}][0][1]"


def notebook_of(lesson, exercises):
    """A notebook: the answers' file as one cell, then each answer under its exercise's name, followed by its check."""
    sources = [Path(ANSWERS[lesson].__file__).read_text()]
    for exercise_id, answer in exercises.items():
        function = FUNCTIONS[exercise_id][0]
        sources += [f"{function} = {answer}", f'check("{exercise_id}", {function})']
    return nbformat.writes(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    ).encode()


@pytest.fixture(scope="module")
def sandbox(request):
    # for one lesson, importing what all use takes longer
    many = request.config.option.markexpr == "nightly"
    with ready_sandbox(cold=not many) as sandbox:
        yield sandbox


def marked(sandbox, exercise_id, seed=SEED, **answers):
    # the mark of this exercise in a hand-in of its lesson with these answers
    notebook = hand_in(exercise_id[:2], **answers).encode()
    return Marker(sandbox, (exercise_id[:2],), seed).mark(notebook).exercises[exercise_id]


@cache
def marker_of(lesson, sandbox):
    keys = tuple(key for key in assignment()["titles"] if key[:2] == lesson)
    marker = Marker(sandbox, keys, SEED)
    own = Path(ANSWERS[lesson].__file__).read_text()
    sandbox.prepare([own])
    # the answers' file counts as a cell of the lesson's own, not a learner's, so failures are not
    # retried
    marker.work = {**marker.work, "by_hand": {}, "known": {cell_checksum(own): own}}
    return marker


@pytest.mark.parametrize("lesson, exercises, right", list(hand_ins()))
def test_the_grader_says_what_the_check_says(
    lesson, exercises, right, sandbox, one_thread, monkeypatch
):
    # the sandbox does not say which line raised
    monkeypatch.setattr(judging, "line_of", lambda error, answer: "")
    marks = marker_of(lesson, sandbox).mark(notebook_of(lesson, exercises)).exercises
    for exercise_id, answer in exercises.items():
        mark = marks[exercise_id]
        function = eval(answer, vars(ANSWERS[lesson]))
        cases = cases_of(exercise_id, SEED)
        report = examine(find(exercise_id), function, SEED, cases=cases)
        assert mark.status == report.status, exercise_id
        assert mark.messages == list(report.messages), exercise_id
        assert mark.of == FUNCTIONS[exercise_id][1] > 0
        assert mark.points == (mark.of if right else 0)
        assert mark.mistakes == list(report.mistakes)


@pytest.mark.parametrize(
    "body, status, mistakes",
    [
        ("return token_embeddings.mean(dim=1)", "failed", ["You average over all positions"]),
        ("raise NotImplementedError()", "not attempted", []),
    ],
)
def test_an_answer_under_a_cell_magic_is_judged_as_any_other(sandbox, body, status, mistakes):
    timed = f"%%time\ndef my_mean_pool(token_embeddings, attention_mask):\n    {body}"
    mark = marked(sandbox, "04-mean-pool", mean_pool=timed)
    assert mark.status == status
    assert mark.state == "ok"
    assert [text.partition(",")[0] for text in mark.mistakes] == mistakes


# in a cold sandbox, importing transformers takes the time that a submission has
@pytest.mark.nightly
def test_an_answer_can_load_the_encoder_by_its_public_name(sandbox):
    # right only if the encoder could be loaded: it counts the tokens of one word, which is one
    loads = f'''from transformers import AutoModel, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("{PUBLIC_NAME}")
own = AutoModel.from_pretrained("{PUBLIC_NAME}")
def tokens_read(lengths):
    n = len(lengths)
    tokens_of_a_word = own(**tokenizer("one", return_tensors="pt")).last_hidden_state.shape[1] - 2
    return sum(lengths), (n - tokens_of_a_word) * sum(lengths) - n * (n - 1) // 2'''
    mark = marked(sandbox, "09-tokens", tokens=loads)
    assert mark.status == "passed", mark.messages


LOOK_FOR_HELD_OUT = """\
import course_utils, glob, os
from course_utils.data import load_plot_queries
folder = os.path.dirname(course_utils.__file__)
held = glob.glob(folder + '/**/held_out*', recursive=True)
assert not held and not sum(map(len, load_plot_queries()))"""


@pytest.mark.nightly  # each time, attacks look for them: grading/hostile/reading.md
def test_the_sandbox_sees_no_judgements_and_the_page_no_queries(sandbox):
    look = LOOK_FOR_HELD_OUT.replace("\n", "\n    ")  # as lines of a function
    mark = marked(sandbox, "14-search", seed=1, search=ITSELF.format(look))
    assert mark.status == "passed", mark
    assert "held-out queries the mean nDCG@10" in " ".join(mark.messages), mark
    show = "if 'bars that lie on their side' in queries:\n        raise ValueError(queries)"
    mark = marked(sandbox, "14-search", seed=1, search=ITSELF.format(show))
    assert mark.status == "failed", mark
    assert not shows_a_query(mark.discreet), mark


def test_the_folder_of_a_linked_python_can_be_entered_by_all_users(tmp_path, monkeypatch):
    """As on Debian, where python3 is a link in /usr/bin. If not, a server that root started finds no library."""
    link = tmp_path / "python3"
    link.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(link))
    command = walls()
    made_before_the_link = " ".join(command[: command.index(str(link))])
    for folder in link.parents[:-1]:
        assert f"--perms 0755 --dir {folder} " in made_before_the_link
