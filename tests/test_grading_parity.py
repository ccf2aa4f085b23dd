"""The grader and the instant check give the same verdict; what an answer sees in the sandbox."""

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

# any: grader and check both draw their inputs with it
SEED = 20
EACH_RUN = "04"  # the lesson tested in each run; the others nightly: each takes seconds
EXERCISES = assignment()["exercises"]  # {id: (name of its function, points)}


def hand_ins():
    """Two cases for each lesson: the first right answer to each exercise, and the first wrong one.

    Each has the lesson, {exercise: answer}, and whether the answers are right.
    """
    for lesson, module in ANSWERS.items():
        marks = [] if lesson == EACH_RUN else [pytest.mark.nightly]
        for kind in ("right", "wrong"):
            exercises = {name: first_answer(module, kind, name) for name in module.RIGHT}
            yield pytest.param(
                lesson, exercises, kind == "right", id=f"{lesson}-{kind}", marks=marks
            )


def first_answer(module, kind, exercise_id):
    """The first answer of a kind, "right" or "wrong", as an expression for the answers' file.

    Without a WRONG answer, the first that breaks a promise of the exercise.
    """
    if kind == "right":
        return f"RIGHT[{exercise_id!r}][0]"
    if exercise_id in module.WRONG:
        return f"WRONG[{exercise_id!r}][0][0]"
    assert module.PROMISES[exercise_id], f"{exercise_id} has no answer under WRONG or PROMISES"
    return f"PROMISES[{exercise_id!r}][0][1]"


def notebook_of(lesson, exercises):
    """The bytes of a notebook: the answers' file as one cell, then for each exercise a cell that
    gives the answer the function's name, and a cell that checks it.
    """
    sources = [Path(ANSWERS[lesson].__file__).read_text()]
    for exercise_id, answer in exercises.items():
        function = EXERCISES[exercise_id][0]
        sources += [f"{function} = {answer}", f'check("{exercise_id}", {function})']
    return nbformat.writes(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    ).encode()


@pytest.fixture(scope="module")
def sandbox(request):
    # a warm sandbox first imports what all lessons use: for the one lesson of each run, too much
    with ready_sandbox(cold=request.config.option.markexpr != "nightly") as sandbox:
        yield sandbox


def marked(sandbox, exercise_id, **answers):
    # the mark of this exercise in a hand-in with these answers, which are named as `hand_in` asks;
    # an exercise's id begins with the number of its lesson
    notebook = hand_in(exercise_id[:2], **answers).encode()
    return Marker(sandbox, (exercise_id[:2],), SEED).mark(notebook).exercises[exercise_id]


@cache
def marker_of(lesson, sandbox):
    # a marker of the lesson's core and further parts, whose keys begin with the lesson's number
    keys = tuple(key for key in assignment()["titles"] if key[:2] == lesson)
    marker = Marker(sandbox, keys, SEED)
    answers_file = Path(ANSWERS[lesson].__file__).read_text()
    sandbox.prepare([answers_file])
    # the answers' file counts as a cell of the lesson's own, not a learner's, so failures are not
    # retried; the answers have no texts to mark by hand
    marker.work = {
        **marker.work,
        "by_hand": {},
        "known": {cell_checksum(answers_file): answers_file},
    }
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
        report = examine(find(exercise_id), function, SEED, cases=cases_of(exercise_id, SEED))
        assert mark.status == report.status, exercise_id
        assert mark.messages == list(report.messages), exercise_id
        assert mark.of == EXERCISES[exercise_id][1] > 0
        assert mark.points == (mark.of if right else 0)
        assert mark.mistakes == list(report.mistakes)


@pytest.mark.parametrize(
    "body, status, mistakes",
    [
        ("return token_embeddings.mean(dim=1)", "failed", ["You average over all positions"]),
        ("raise NotImplementedError()", "not attempted", []),
    ],
    ids=["a known mistake", "a stub"],
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
    # the three tokens of "one" are [CLS], the word and [SEP]; the encoder has 384 dimensions. What
    # is returned is right for the exercise
    source = f'''from transformers import AutoModel, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("{PUBLIC_NAME}")
own = AutoModel.from_pretrained("{PUBLIC_NAME}")
def tokens_read(lengths):
    assert own(**tokenizer("one", return_tensors="pt")).last_hidden_state.shape == (1, 3, 384)
    n = len(lengths)
    return sum(lengths), (n - 1) * sum(lengths) - n * (n - 1) // 2'''
    mark = marked(sandbox, "09-tokens", tokens=source)
    assert mark.status == "passed", mark.messages


SEARCH_THAT_LOOKS_AROUND = """
def find(queries, texts, k):
    import course_utils, glob, os
    from course_utils.data import load_plot_queries
    folder = os.path.dirname(course_utils.__file__)
    held_out = glob.glob(folder + "/**/held_out*", recursive=True)
    queries_of_dev, judgements_of_dev = load_plot_queries()
    assert not held_out and queries_of_dev.empty and judgements_of_dev.empty
    query_vectors, text_vectors = course_utils.embed(queries), course_utils.embed(texts)
    return course_utils.search(query_vectors, text_vectors, k)[0].tolist()
"""


# nightly is enough: in each run, attacks look for them as well (grading/hostile/reading.md)
@pytest.mark.nightly
def test_the_sandbox_sees_no_judgements_of_held_out_queries(sandbox):
    mark = marked(sandbox, "14-search", search=SEARCH_THAT_LOOKS_AROUND)
    assert mark.status == "passed", mark
    assert "held-out queries the mean nDCG@10" in " ".join(mark.messages), mark


# raises only for the held-out queries, to which the one in its first line belongs
SEARCH_THAT_SHOWS_QUERIES = """
def find(queries, texts, k):
    if "bars that lie on their side" in queries:
        raise ValueError(queries)
    from course_utils import embed, search
    return search(embed(queries), embed(texts), k)[0].tolist()
"""


@pytest.mark.nightly
def test_the_page_shows_no_held_out_queries(sandbox):
    mark = marked(sandbox, "14-search", search=SEARCH_THAT_SHOWS_QUERIES)
    assert mark.status == "failed", mark
    assert not shows_a_query(mark.discreet), mark


def test_the_folder_of_a_linked_python_can_be_entered_by_all_users(tmp_path, monkeypatch):
    """As on Debian, where python3 is a link in /usr/bin.

    Bubblewrap makes missing parents of a link for root alone: a sandbox that root starts, whose
    server is another user, would find no library.
    """
    link = tmp_path / "python3"
    link.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(link))
    command = walls()
    made_before_the_link = " ".join(command[: command.index(str(link))])
    for folder in link.parents[:-1]:  # the last is /
        assert f"--perms 0755 --dir {folder} " in made_before_the_link
