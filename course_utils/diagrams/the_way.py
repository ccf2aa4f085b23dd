"""The map of the course: the way of a text to its vector and beyond, and where a lesson stands."""

from .canvas import SMALL, Canvas, Diagram

# stage: the left edge, and the lessons about it
STAGES = {
    "pieces": (4, ("01",)),
    "batch": (90, ("02",)),
    "encoder": (176, ("03", "05", "07")),
    "pooling": (262, ("04",)),
    "similarity": (348, ("06", "08")),
    "search": (434, ("12", "13")),
}
WIDE, TOP = 82, 40  # the width of a stage, and the top of its picture
WHOLE = {  # lessons about the whole way
    "09": "one library for it",
    "14": "your own project",
    "15": "today's encoders",
}
TRAINING = ("10", "11")
LESSONS = {"00", *WHOLE, *TRAINING}.union(*(lessons for _, lessons in STAGES.values()))


def the_way(here: str = "") -> Diagram:
    """The way from text to search in six stages; the stage of a lesson is in colour.

    here: the number of a lesson, one of LESSONS, such as "05". The whole map is in colour without
    one and for lesson 00; for lessons about the whole way, all stages are.
    """
    canvas = Canvas("00 the way", 188)
    for stage, (left, lessons) in STAGES.items():
        middle = left + WIDE / 2
        in_training = here in TRAINING and stage == "encoder"
        lit = here in ("", "00", *WHOLE, *lessons) or in_training
        DRAWINGS[stage](canvas, left, lit)
        canvas.text(middle, TOP + 78, stage, SMALL, bold=lit, quiet=not lit)
        step = 31 if here in lessons else 27  # a ring needs room
        first = middle - step * (len(lessons) - 1) / 2
        for place, lesson in enumerate(lessons):
            _number(canvas, first + step * place, TOP + 101, lesson, here)
    # to each stage but the first, from the edge of one picture to that of the next
    for left, _ in list(STAGES.values())[1:]:
        canvas.arrow((left - 9, TOP + 32), (left + 4, TOP + 32))
    # above the stages, side by side
    for x, (lesson, text) in zip((16, 184, 352), WHOLE.items(), strict=True):
        _number(canvas, x, 14, lesson, here)
        canvas.label(x + 18, 14, text, quiet=here != lesson)
    # a bracket over all stages
    canvas.path((8, 34), (8, 28), (512, 28), (512, 34), tip=False)
    _fine_tuning(canvas, here)
    return canvas.finish(_in_words(here))


def _fine_tuning(canvas: Canvas, here: str) -> None:
    """The way back from similarity to the encoder.

    It begins below the middle of the one, at 389, and ends below that of the other, at 217.
    """
    training = here in TRAINING
    kind = "loss" if here in ("", "00", *TRAINING) else "plain"
    canvas.path((389, 154), (389, 172), (354, 172), kind=kind, thick=training, tip=False)
    canvas.path((252, 172), (217, 172), (217, 154), kind=kind, thick=training)
    canvas.box(252, 161, 102, 22, "fine-tuning", kind, SMALL, bold=training)
    for lesson, x in zip(TRAINING, (412, 440)):
        _number(canvas, x, 172, lesson, here)


# The alternative text of the map.
def _in_words(here: str) -> str:
    stages = [f"{stage} ({', '.join(lessons)})" for stage, (_, lessons) in STAGES.items()]
    place = ""
    for stage, (_, lessons) in STAGES.items():
        if here in lessons:
            place = f" Lesson {here} is about the stage {stage}."
    if here in TRAINING:
        place = f" Lesson {here} is about fine-tuning."
    elif here in WHOLE:
        place = f" Lesson {here} is about the whole way: {WHOLE[here]}."
    return (
        f"The way of the course, with the numbers of the lessons: {', '.join(stages)}. Fine-tuning "
        f"leads back to the encoder ({', '.join(TRAINING)}). About the whole way: "
        f"{', '.join(f'{lesson} ({text})' for lesson, text in WHOLE.items())}.{place}"
    )


def _number(canvas: Canvas, x: float, y: float, lesson: str, here: str) -> None:
    """The number of a lesson around (x, y), in a ring if it is the lesson that is read."""
    if lesson == here:
        canvas.box(x - 13, y - 10, 26, 20, lesson, size=SMALL, bold=True, thick=True, round_by=10)
    else:
        canvas.text(x, y, lesson, SMALL, quiet=True)


# The small picture of each stage, WIDE x 64 units from its left edge and TOP on. It has the colours
# of what it shows, or is plain. Its numbers are places and sizes in units.


def _pieces(canvas: Canvas, left: float, lit: bool) -> None:
    kind = "token" if lit else "plain"
    for row, widths in enumerate(((30, 22), (18, 34), (26, 20))):
        x = left + 10
        for width in widths:
            canvas.box(x, TOP + 5 + 20 * row, width, 14, kind=kind, round_by=3)
            x += width + 4


def _batch(canvas: Canvas, left: float, lit: bool) -> None:
    for row, tokens in enumerate((4, 2, 3)):
        for column in range(4):
            padding = column >= tokens
            colour = "padding" if padding else "token"
            kind = colour if lit else "plain"
            x, y = left + 12 + 15 * column, TOP + 8 + 18 * row
            canvas.box(x, y, 13, 14, kind=kind, dashed=padding, round_by=2)


def _encoder(canvas: Canvas, left: float, lit: bool) -> None:
    for row, colour in enumerate(("layer", "head", "layer", "head")):
        kind = colour if lit else "plain"
        canvas.box(left + 12, TOP + 2 + 16 * row, 58, 12, kind=kind, round_by=3)


def _pooling(canvas: Canvas, left: float, lit: bool) -> None:
    for token in range(3):
        canvas.vector(left + 8 + 13 * token, TOP + 14, 4, "vector" if lit else "plain", 10, 36)
    canvas.arrow((left + 48, TOP + 32), (left + 60, TOP + 32))
    canvas.vector(left + 63, TOP + 10, 4, "sentence" if lit else "plain", 12, 44)


def _similarity(canvas: Canvas, left: float, lit: bool) -> None:
    kind = "sentence" if lit else "plain"
    for x, y in ((74, 46), (58, 8)):
        canvas.arrow((left + 16, TOP + 56), (left + x, TOP + y), kind=kind, thick=lit)


def _search(canvas: Canvas, left: float, lit: bool) -> None:
    kind = "sentence" if lit else "plain"
    for row, share in enumerate((1, 0.7, 0.4)):
        canvas.text(left + 16, TOP + 13 + 20 * row, row + 1, SMALL, quiet=True)
        canvas.box(left + 26, TOP + 6 + 20 * row, 48 * share, 14, kind=kind, round_by=3)


DRAWINGS = {
    "pieces": _pieces,
    "batch": _batch,
    "encoder": _encoder,
    "pooling": _pooling,
    "similarity": _similarity,
    "search": _search,
}
