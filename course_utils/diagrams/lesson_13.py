"""The diagrams of lesson 13: fewer numbers, fewer bits, a second look, and a walk over a graph."""

from .canvas import SMALL, Canvas


def nested_lengths(lengths, dimensions):
    """One vector, and its first numbers as shorter vectors with a loss each: Matryoshka. Lengths from long to short."""
    canvas = Canvas("13 nested lengths", 46 + 46 * len(lengths), gap=4)
    for x, title in ((8, "numbers"), (284, "bytes"), (392, "in training")):
        canvas.label(x, 16, title, quiet=True)
    for row, length in canvas.steps(enumerate(lengths)):
        y, wide = 34 + 46 * row, 224 * length / dimensions
        canvas.vector(8, y, max(1, round(16 * length / dimensions)), "sentence", wide, 26, across=True)
        canvas.label(8 + wide + 8, y + 13, length, mono=True, bold=True)
        canvas.label(284, y + 13, f"{4 * length:,}", mono=True)
        name = f"loss of the {length}" if row else "loss of all"
        canvas.box_from((346, y + 13), 392, y, 112, 26, name, "loss", SMALL)
    canvas.text(260, 34 + 46 * len(lengths), "the training lowers the sum of these losses", SMALL, quiet=True)
    told = ", ".join(f"{length} numbers ({4 * length:,} bytes)" for length in lengths)
    return canvas.finish(
        f"A vector and its shorter beginnings, one inside the other: {told}. In Matryoshka training each of them has a "
        "loss, and their sum is lowered, so that the first numbers alone already place a text well."
    )


def eight_bits(low, high, value, step):
    """One dimension's range, cut into 255 steps, and the whole number that a value becomes."""
    place = int((value - low) // step)
    canvas = Canvas("13 eight bits", 200)
    left, right = 40, 480
    canvas.arrow((left, 80), (right, 80), tip=False)
    for at in range(0, 256, 15):
        x = left + (right - left) * at / 255
        canvas.arrow((x, 74), (x, 86), tip=False)
    for x, number, name, code in ((left, low, "low", -128), (right, high, "high", 127)):
        canvas.text(x, 26, name, SMALL, quiet=True)
        canvas.text(x, 48, f"{number:.3f}", SMALL, mono=True)
        canvas.text(x, 112, code, SMALL, mono=True, bold=True)
    x = left + (right - left) * (place + 0.5) / 255
    with canvas.step():
        canvas.circle(x, 80, 7, "vector", look="dot")
        canvas.text(x, 48, f"{value:.3f}", SMALL, mono=True, kind="vector")
        canvas.text(x, 26, "value", SMALL, quiet=True)
    with canvas.step():
        canvas.arrow((x, 90), (x, 118), kind="sentence")
        canvas.box(x - 92, 120, 184, 30, f"{place} steps - 128 = {place - 128}", "sentence", size=SMALL)
    with canvas.step():
        back = low + (place + 0.5) * step
        canvas.text(x, 168, f"decoded: {back:.3f}, the middle of its step", SMALL)
        canvas.text(x, 190, f"a step is {step:.4f} wide", SMALL, quiet=True)
    return canvas.finish(
        f"The range of one dimension, from {low:.3f} to {high:.3f}, is cut into 255 steps of {step:.4f}. The value "
        f"{value:.3f} lies {place} whole steps above the lowest, so it is stored as {place} - 128 = {place - 128}, in "
        f"one byte. Decoded, it is the middle of its step, {back:.3f}."
    )


def second_look(n, short, candidates, long, k):
    """A coarse search over all, and a second look at few: how many vectors each reads, of how many bytes."""
    canvas = Canvas("13 second look", 226)

    def stage(x, width, rows, title, below, kind):
        for row in range(rows):
            canvas.box(x, 40 + 14 * row, width, 10, kind=kind, round_by=2)
        canvas.text(x + width / 2, 18, title, SMALL, bold=True)
        canvas.text(x + width / 2, 176, below, SMALL, quiet=True)

    stage(30, 60, 8, f"all {n:,}", f"{short} bytes each\nin memory", "vector")
    with canvas.step():
        canvas.arrow((98, 66), (172, 66), "Hamming")
        stage(180, 150, 4, f"{candidates} candidates", f"{long:,} bytes each\non a disk, perhaps", "sentence")
    with canvas.step():
        canvas.arrow((338, 66), (402, 66), "cosine")
        stage(410, 96, 2, f"best {k}", "the answer", "sentence")
    with canvas.step():
        read = (n * short + candidates * long) / 1000
        canvas.text(260, 214, f"read: {n:,} x {short} + {candidates} x {long:,} bytes = {read:,.0f} kB", SMALL)
    return canvas.finish(
        f"A search in two stages. First the binary vectors of all {n:,} texts, {short} bytes each, are compared by "
        f"Hamming distance. The {candidates} nearest are candidates: only their whole vectors, {long:,} bytes each, "
        f"are read and compared by cosine, and the best {k} of them are the answer. Read in all: {read:,.0f} kB."
    )


def walk_down(points, layers, paths, target, nearest):
    """A walk over a graph of two layers: the few points above, then all below.

    points: (n, 2) numbers. layers: two graphs, {place: places that it is linked to}, the sparse one first. paths: the
    places visited in each. target: the point that is searched for, and `nearest` the place nearest to it.
    """
    canvas = Canvas("13 walk down", 258)
    spans = [(min(axis), max(axis) - min(axis)) for axis in zip(*points, target)]

    def at(point, left, width):
        x, y = ((value - least) / wide for value, (least, wide) in zip(point, spans))
        return float(left + width * x), float(226 - 188 * y)

    places = (14, 146), (186, 320)  # left and width: all points need more room than a few
    for number, (graph, path, place) in enumerate(zip(layers, paths, places)):
        name = f"above: {len(graph)} points" if number == 0 else f"below: all {len(graph)}"
        canvas.text(place[0] + place[1] / 2, 14, name, SMALL, bold=True)
        for one, others in graph.items():
            for other in others:
                if one < other or one not in graph[other]:
                    canvas.arrow(at(points[one], *place), at(points[other], *place), tip=False)
        for one in graph:
            canvas.circle(*at(points[one], *place), 3, "vector", look="dot")
        x, y = at(target, *place)
        canvas.circle(x, y, 6, "loss", thick=True)
        with canvas.step():
            for one, other in zip(path, path[1:]):
                canvas.arrow(at(points[one], *place), at(points[other], *place), kind="sentence", thick=True, tip=False)
                canvas.circle(*at(points[other], *place), 4, "sentence", look="dot")
            canvas.circle(*at(points[path[0]], *place), 6, "sentence", look="ring", thick=True)
            canvas.circle(*at(points[path[-1]], *place), 6, "sentence", look="dot")
    caption = "orange: what is searched for; green: the walk, from its ring to its large dot"
    canvas.text(260, 248, caption, SMALL, quiet=True)
    steps = [" to ".join(map(str, path)) for path in paths]
    end = "the nearest of all" if paths[1][-1] == nearest else f"not the nearest, which is {nearest}"
    return canvas.finish(
        f"Two graphs of the same points: above only {len(layers[0])} of them, with long links, below all "
        f"{len(layers[1])}, with short ones. The walk above visits the places {steps[0]}, where no neighbour is "
        f"nearer to what is searched for. There it goes down, and visits {steps[1]}: {end}."
    )
