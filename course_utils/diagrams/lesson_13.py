"""The diagram of lesson 13: a number in eight bits."""

from .canvas import SMALL, Canvas, Diagram

STEPS = 255  # between the 256 whole numbers of a byte


def eight_bits(low: float, high: float, value: float, step: float) -> Diagram:
    """One dimension's range, cut into 255 steps, and the whole number that a value becomes.

    low, high: the ends of the range. value: a number in it. step: the length of a step, which is
    (high - low) / 255. Raises ValueError for a value so near an end of the range (about
    a fifth of it) that the words below it would leave the drawing.
    """
    place = int((value - low) // step)
    middle = place + 0.5  # of the value's step, in steps
    # 128 less, since a signed byte holds -128 to 127
    stored = f"{place} - 128 = {place - 128}"
    left, right, line = 40, 480, 80  # the ends of the line of numbers, and its height
    name_y, number_y = 26, 48  # heights of the texts above the line
    canvas = Canvas("13 eight bits", 200)
    canvas.arrow((left, line), (right, line), tip=False)
    for mark in range(0, STEPS + 1, 15):  # 15 divides STEPS, so both ends have a mark
        x = left + (right - left) * mark / STEPS
        canvas.arrow((x, line - 6), (x, line + 6), tip=False)
    for x, number, name, code in ((left, low, "low", -128), (right, high, "high", 127)):
        canvas.text(x, name_y, name, SMALL, quiet=True)
        canvas.text(x, number_y, f"{number:.4f}", SMALL, mono=True)
        canvas.text(x, 112, code, SMALL, mono=True, bold=True)
    x = left + (right - left) * middle / STEPS
    with canvas.step():
        canvas.circle(x, line, 7, "vector", look="dot")
        canvas.text(x, number_y, f"{value:.4f}", SMALL, mono=True, kind="vector")
        canvas.text(x, name_y, f"value, {place} steps above low", SMALL, kind="vector")
    with canvas.step():
        canvas.arrow((x, 90), (x, 118), kind="sentence")
        canvas.box(x - 92, 120, 184, 30, f"stored: {stored}", "sentence", SMALL, bold=True)
    with canvas.step():
        back = low + middle * step
        canvas.text(x, 168, f"decoded: {back:.4f}, the middle of its step", SMALL)
        canvas.text(x, 190, f"a step is {step:.5f} long", SMALL, quiet=True)
    return canvas.finish(
        f"The range of one dimension, from {low:.4f} to {high:.4f}, is cut into {STEPS} steps of "
        f"{step:.5f}. The value {value:.4f} lies {place} whole steps above the lowest, so it is "
        f"stored as {stored}, in one byte. Decoded, it is the middle of its "
        f"step, {back:.4f}."
    )
