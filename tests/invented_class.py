"""An invented class of 60, as records: PLANTED says how many make which mistake in two lessons."""

import random
from functools import cache

from course_utils.exercises import exercises_of, find
from course_utils.exercises.judging import examine
from course_utils.tools.grading.results import LearnerRecord, Mark

from .grader import solutions

# (exercise, mistake, how many learners make it); of one exercise, in the order of the learners who
# make them, from the weakest on
PLANTED = [
    ("04-mean-pool", "padding_averaged", 14),
    ("04-mean-pool", "padded_length", 5),
    ("04-mean-pool", "not_along_tokens", 2),
    ("04-max-pool", "padding_as_zero", 11),
    ("04-max-pool", "values_and_places", 1),
    ("04-normalise", "nan_for_zeros", 9),
    ("04-normalise", "columns_scaled", 3),
    ("04-baseline", "diagonal_in_mean", 17),
    ("04-baseline", "not_normalised", 4),
    ("05-attention-weights", "mask_unused", 8),
    ("05-attention-weights", "masked_after_softmax", 12),
    ("05-entropy", "nats", 10),
    ("05-entropy", "nan_for_zero", 7),
]
LEARNERS = 60


@cache
def _report(exercise_id, name):
    """The report on an answer that makes this mistake. Any seed would do."""
    exercise = find(exercise_id)
    (mistake,) = [mistake for mistake in exercise.mistakes if mistake.name == name]
    return examine(exercise, mistake.imitations[0], seed=7)


# The mark for what `planted_class` plans: the report on a wrong answer, or, without one, a status.
def _mark(exercise, planned):
    if isinstance(planned, str):
        points = exercise.points if planned == "passed" else 0
        return Mark(exercise.title, planned, points, exercise.points)
    return Mark(
        exercise.title,
        "failed",
        0,
        exercise.points,
        messages=planned.messages,
        discreet=planned.discreet,
        mistakes=planned.mistakes,
    )


def planted_class():
    """The records of a class, the same each time.

    Learners with low numbers make more of the mistakes. In each exercise, three learners attempt
    nothing; in those of lesson 05, the answers of two more are missing.
    """
    rng = random.Random(4)
    exercises = exercises_of(("04", "05"))
    records = [
        LearnerRecord(f"s{number:03}", f"s{number:03}.html", f"Person{number:03} Family{number:03}")
        for number in range(LEARNERS)
    ]
    answers = {**solutions("04"), **solutions("05")}
    for exercise_id, exercise in exercises.items():
        # an entry for each learner, from the weakest on: as `_mark` takes it
        plan = []
        for planted_in, name, count in PLANTED:
            if planted_in == exercise_id:
                plan += [_report(exercise_id, name)] * count
        plan += ["not attempted"] * 3 + ["missing"] * (2 if exercise.lesson == "05" else 0)
        plan += ["passed"] * (LEARNERS - len(plan))
        # mostly by number, scaled to 0 to 1: the noise has a standard deviation of 0.35
        order = sorted(range(LEARNERS), key=lambda number: number / LEARNERS + rng.gauss(0, 0.35))
        for number, planned in zip(order, plan, strict=True):
            records[number].texts[exercise_id] = (
                f"# written by Person{number:03}\n{answers[exercise_id]}"
            )
            records[number].exercises[exercise_id] = _mark(exercise, planned)
    for record in records:
        record.add_up()
    return records
