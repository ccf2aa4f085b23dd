"""The map of the course: the way of a text to its vector and to what one does with it, and where a lesson stands."""

from .canvas import SMALL, Canvas

# stage: the left edge, and the lessons about it
STAGES = {
    "pieces": (4, ("01",)),
    "batch": (90, ("02",)),
    "encoder": (176, ("03", "05", "07")),
    "pooling": (262, ("04",)),
    "similarity": (348, ("06", "08")),
    "search": (434, ("12", "13")),
}
WIDE, TOP = 82, 40
WHOLE = {"09": "one library for it", "14": "your own project", "15": "today's encoders"}  # lessons about the whole way
TRAINING = ("10", "11")
LESSONS = {"00", *WHOLE, *TRAINING, *(lesson for _, lessons in STAGES.values() for lesson in lessons)}


def the_way(here=""):
    """The way from text to search in six stages, with the numbers of the lessons; its stage is in colour.

    here: the number of a lesson, such as "05"; without one, or for lesson 00, the whole map is in colour.
    """
    canvas = Canvas("00 the way", 188)
    everything = here in ("", "00", *WHOLE)
    for stage, (left, lessons) in STAGES.items():
        lit = everything or here in lessons or (here in TRAINING and stage == "encoder")
        _stage(canvas, stage, left, lit)
        canvas.text(left + WIDE / 2, TOP + 78, stage, SMALL, bold=lit, quiet=not lit)
        step = 31 if here in lessons else 27  # a ring needs room
        for at, lesson in enumerate(lessons):
            _number(canvas, left + WIDE / 2 + step * (at - (len(lessons) - 1) / 2), TOP + 101, lesson, here)
    for left, _ in list(STAGES.values())[1:]:
        canvas.arrow((left - 9, TOP + 32), (left + 4, TOP + 32))
    for place, (lesson, text) in zip((16, 184, 352), WHOLE.items()):
        _number(canvas, place, 14, lesson, here)
        canvas.label(place + 18, 14, text, quiet=here != lesson)
    canvas.bracket(8, 512, 34, below=False)
    training = here in TRAINING
    kind = "loss" if training or here in ("", "00") else "plain"
    canvas.path((389, 154), (389, 172), (354, 172), kind=kind, thick=training, tip=False)
    canvas.path((252, 172), (217, 172), (217, 154), kind=kind, thick=training)
    canvas.box(252, 161, 102, 22, "fine-tuning", kind, SMALL, bold=training)
    for lesson, x in zip(TRAINING, (412, 440)):
        _number(canvas, x, 172, lesson, here)
    return canvas.finish(_told(here))


def _told(here):
    lit = [stage for stage, (_, lessons) in STAGES.items() if here in lessons]
    place = ""
    if lit:
        place = f" Lesson {here} is about the stage {lit[0]}."
    elif here in TRAINING:
        place = f" Lesson {here} is about fine-tuning."
    elif here in WHOLE:
        place = f" Lesson {here} is about the whole way: {WHOLE[here]}."
    stages = ", ".join(f"{stage} (lesson {' and '.join(lessons)})" for stage, (_, lessons) in STAGES.items())
    return f"The way of the course: {stages}; fine-tuning leads back to the encoder (lessons 10 and 11).{place}"


def _number(canvas, x, y, lesson, here):
    """The number of a lesson, in a ring if one is there."""
    if lesson == here:
        canvas.box(x - 13, y - 10, 26, 20, lesson, size=SMALL, bold=True, thick=True, round_by=10)
    else:
        canvas.text(x, y, lesson, SMALL, quiet=True)


def _stage(canvas, stage, left, lit):
    """The small picture of a stage, in the colours of what it shows, or as plain lines."""

    def kind(name):
        return name if lit else "plain"

    if stage == "pieces":
        for row, widths in enumerate(((30, 22), (18, 34), (26, 20))):
            x = left + 10
            for width in widths:
                canvas.box(x, TOP + 5 + 20 * row, width, 14, kind=kind("token"), round_by=3)
                x += width + 4
    elif stage == "batch":
        for row, real in enumerate((4, 2, 3)):
            for at in range(4):
                here = kind("token" if at < real else "padding")
                canvas.box(left + 12 + 15 * at, TOP + 8 + 18 * row, 13, 14, kind=here, dashed=at >= real, round_by=2)
    elif stage == "encoder":
        for row in range(4):
            canvas.box(left + 12, TOP + 2 + 16 * row, 58, 12, kind=kind("head" if row % 2 else "layer"), round_by=3)
    elif stage == "pooling":
        for at in range(3):
            canvas.vector(left + 8 + 13 * at, TOP + 14, 4, kind("vector"), 10, 36)
        canvas.arrow((left + 48, TOP + 32), (left + 60, TOP + 32))
        canvas.vector(left + 63, TOP + 10, 4, kind("sentence"), 12, 44)
    elif stage == "similarity":
        start = (left + 16, TOP + 56)
        canvas.arrow(start, (left + 74, TOP + 46), kind=kind("sentence"), thick=lit)
        canvas.arrow(start, (left + 58, TOP + 8), kind=kind("sentence"), thick=lit)
    else:
        for row, share in enumerate((1, 0.7, 0.4)):
            canvas.text(left + 16, TOP + 13 + 20 * row, row + 1, SMALL, quiet=True)
            canvas.box(left + 26, TOP + 6 + 20 * row, 48 * share, 14, kind=kind("sentence"), round_by=3)
