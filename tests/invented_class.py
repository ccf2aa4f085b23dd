"""An invented class of 60, as records: who makes which mistake in lessons 04 and 05 is planted by a list."""

import random
from functools import cache

from course_utils.exercises import exercises_of, find
from course_utils.exercises.judging import examine
from course_utils.tools.grading.results import LearnerRecord, Mark

from .grader import solutions

# (exercise, mistake, how many learners make it)
PLANTED = [
    *(
        ("04-mean-pool", "padding_averaged", 14),
        ("04-mean-pool", "padded_length", 5),
        ("04-mean-pool", "not_along_tokens", 2),
    ),
    *(("04-max-pool", "padding_as_zero", 11), ("04-max-pool", "values_and_places", 1)),
    *(("04-normalise", "nan_for_zeros", 9), ("04-normalise", "columns_scaled", 3)),
    *(("04-baseline", "diagonal_in_mean", 17), ("04-baseline", "not_normalised", 4)),
    *(
        ("05-attention-weights", "mask_unused", 8),
        ("05-attention-weights", "masked_after_softmax", 12),
    ),
    *(("05-entropy", "nats", 10), ("05-entropy", "nan_for_zero", 7)),
]


def planted_class(planted=PLANTED, learners=60, seed=4):
    """The records of a class. Weak learners make more of the mistakes; some do not attempt or hand in an exercise."""
    rng, exercises = random.Random(seed), exercises_of(("04", "05"))
    found = [
        LearnerRecord(f"s{n:03}", f"s{n:03}.html", f"Person{n:03} Family{n:03}")
        for n in range(learners)
    ]
    texts = {**solutions("04"), **solutions("05")}
    for one, exercise in exercises.items():
        reports = [
            _report(one, name) for of, name, count in planted if of == one for _ in range(count)
        ]
        # the strongest come last
        order = sorted(range(learners), key=lambda n: n / learners + rng.gauss(0, 0.35))
        reports += ["not attempted"] * 3 + ["missing"] * 2 * (one[:2] == "05")
        reports += ["passed"] * (learners - len(reports))
        for n, report in zip(order, reports, strict=True):
            failed = not isinstance(report, str)
            status = "failed" if failed else report
            told = {key: getattr(report, key, ()) for key in ("messages", "discreet", "mistakes")}
            points = exercise.points * (status == "passed")
            found[n].exercises[one] = Mark(
                exercise.title, status, points, exercise.points, **(told if failed else {})
            )
            found[n].texts[one] = f"# written by Person{n:03}\n{texts[one]}"
    for record in found:
        record.add_up()
    return found


@cache
def _report(exercise_id, name):
    """What an answer with this mistake is told."""
    exercise = find(exercise_id)
    (mistake,) = (one for one in exercise.mistakes if one.name == name)
    return examine(exercise, mistake.imitations[0], seed=7)
