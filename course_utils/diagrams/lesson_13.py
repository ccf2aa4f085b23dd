"""The diagrams of lesson 13: bytes to scale, fewer numbers, fewer bits, a second look, and a walk over a graph."""

from math import dist

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
        canvas.text(x, 48, f"{number:.4f}", SMALL, mono=True)
        canvas.text(x, 112, code, SMALL, mono=True, bold=True)
    x = left + (right - left) * (place + 0.5) / 255
    with canvas.step():
        canvas.circle(x, 80, 7, "vector", look="dot")
        canvas.text(x, 48, f"{value:.4f}", SMALL, mono=True, kind="vector")
        canvas.text(x, 26, f"value, {place} steps above low", SMALL, kind="vector")
    with canvas.step():
        canvas.arrow((x, 90), (x, 118), kind="sentence")
        canvas.box(x - 92, 120, 184, 30, f"stored: {place} - 128 = {place - 128}", "sentence", size=SMALL, bold=True)
    with canvas.step():
        back = low + (place + 0.5) * step
        canvas.text(x, 168, f"decoded: {back:.4f}, the middle of its step", SMALL)
        canvas.text(x, 190, f"a step is {step:.5f} long", SMALL, quiet=True)
    return canvas.finish(
        f"The range of one dimension, from {low:.4f} to {high:.4f}, is cut into 255 steps of {step:.5f}. The value "
        f"{value:.4f} lies {place} whole steps above the lowest, so it is stored as {place} - 128 = {place - 128}, in "
        f"one byte. Decoded, it is the middle of its step, {back:.4f}."
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
        canvas.arrow((98, 66), (172, 66), "by bits")
        stage(180, 150, 4, f"{candidates} candidates", f"{long:,} bytes each\non a disk, perhaps", "sentence")
    with canvas.step():
        canvas.arrow((338, 66), (402, 66), "cosine")
        stage(410, 96, 2, f"best {k}", "the answer", "sentence")
    read, whole = (n * short + candidates * long) / 1000, n * long / 1000
    with canvas.step():
        canvas.text(260, 214, f"read: {read:,.0f} kB instead of {whole:,.0f} kB", bold=True)
    return canvas.finish(
        f"A search in two stages. First the binary vectors of all {n:,} texts, {short} bytes each, are compared by "
        f"Hamming distance. The {candidates} nearest are candidates: only their whole vectors, {long:,} bytes each, "
        f"are read and compared by cosine, and the best {k} of them are the answer. Read in all: {read:,.0f} kB, "
        f"instead of {whole:,.0f} kB for all whole vectors."
    )


def memory_to_scale(counts, each, laptop=16e9):
    """The memory of collections of some sizes as bars, true to scale, beside that of a laptop.

    counts: numbers of texts, rising. each: bytes of a vector. laptop: bytes.
    """
    canvas = Canvas("13 memory to scale", 68 + 58 * len(counts))
    unit = 504 / (counts[-1] * each)
    bottom = 34 + 58 * len(counts)
    canvas.arrow((8 + unit * laptop, bottom), (8 + unit * laptop, 8), tip=False, dashed=True)
    canvas.label(14 + unit * laptop, 14, f"a laptop: {laptop / 1e9:.0f} GB", quiet=True)
    for row, count in canvas.steps(enumerate(counts)):
        y, size = 32 + 58 * row, count * each
        fits = ("fits", "sentence") if size <= laptop else ("does not fit", "loss")
        canvas.box(8, y + 24, unit * size, 24, kind=fits[1], round_by=0)
        said = f"{count:,} texts: {size / 1e9:,.1f} GB, {fits[0]}"
        canvas.label(max(14 + unit * laptop, 16), y + 12, said, bold=True, kind=fits[1])
    canvas.label(8, bottom + 18, f"{each:,.0f} bytes a text; the bars are true to scale", quiet=True)
    told = ", ".join(f"{count:,} texts {count * each / 1e9:,.1f} GB" for count in counts)
    return canvas.finish(
        f"Bars, true to scale, for the memory of collections of {each:,.0f} bytes a text: {told}. A dashed line marks "
        f"the {laptop / 1e9:.0f} GB of a laptop."
    )


def bytes_to_scale(sizes):
    """Vectors of different sizes as bars, true to scale, and how many of the smallest fit into the largest.

    sizes: {what is stored: bytes}, from large to small.
    """
    largest, smallest = max(sizes.values()), min(sizes.values())
    canvas = Canvas("13 bytes to scale", 64 * len(sizes) + 40)
    for row, (name, size) in canvas.steps(enumerate(sizes.items())):
        y = 4 + 64 * row
        canvas.label(4, y + 10, f"{name}: {size:,} bytes", bold=True)
        canvas.box(4, y + 22, 512 * size / largest, 30, kind="sentence", round_by=0)
    with canvas.step():
        times = largest // smallest
        for at in range(1, times):
            x = 4 + 512 * at / times
            canvas.arrow((x, 26), (x, 56), kind="sentence", tip=False)
        canvas.text(260, 64 * len(sizes) + 22, f"{times} of the smallest fit into the largest", bold=True)
    told = ", ".join(f"{name} {size:,} bytes" for name, size in sizes.items())
    return canvas.finish(f"Bars, true to scale: {told}. {times} of the smallest fit into the largest.")


def walk_down(points, layers, paths, target, nearest):
    """A walk over a graph of two layers, one beside the other: the few points of the upper one, then all of the lower.

    What the walk compares is lit, and counted. Of each layer, the part around the walk is drawn.

    points: (n, 2) numbers. layers: two graphs, {place: places that it is linked to}, the sparse one first. paths: the
    places visited in each. target: the point that is searched for, and `nearest` the place nearest to it.
    """
    top, deep = 26, 220
    canvas = Canvas("13 walk down", deep + 102)
    lit = [{other for one in path for other in (one, *graph[one])} for graph, path in zip(layers, paths)]
    floors = []  # left end and width of each layer, and what it spans from left to right and from bottom to top
    for left, wide, seen in zip((2, 216), (200, 302), lit):
        spans = [(min(axis), max(axis)) for axis in zip(*(points[one] for one in seen), target)]
        floors.append((left, wide, spans))

    def at(point, left, wide, spans):
        # one scale for both axes: what is nearer must look nearer
        scale = min((room - 30) / (most - least) for room, (least, most) in zip((wide, deep), spans))
        across, up = (scale * (value - (least + most) / 2) for value, (least, most) in zip(point, spans))
        return float(left + wide / 2 + across), float(top + deep / 2 - up)

    for graph, floor, name in zip(layers, floors, ("upper graph", "lower graph")):
        left, wide, _ = floor
        canvas.box(left, top, wide, deep, round_by=4)
        places = {one: at(points[one], *floor) for one in graph}
        inside = {one for one, (x, y) in places.items() if left < x - 6 and x + 6 < left + wide and top < y - 6
                  and y + 6 < top + deep}  # fmt: skip
        part = "" if len(inside) == len(graph) else f", {len(inside)} are drawn"
        canvas.label(left, 12, f"{name}: {len(graph)} points{part}", bold=True)
        for one in sorted(inside):
            for other in sorted(inside.intersection(graph[one])):
                if one < other or one not in graph[other]:
                    canvas.arrow(places[one], places[other], tip=False, kind="padding")
        for one in sorted(inside):
            canvas.circle(*places[one], 3, "padding", look="dot")
        canvas.circle(*at(target, *floor), 7, "loss", look="ring", thick=True)
    for number, (path, floor) in enumerate(zip(paths, floors)):
        with canvas.step():
            for one in sorted(lit[number]):
                canvas.circle(*at(points[one], *floor), 4, "vector", look="dot")
            for one, other in zip(path, path[1:]):
                start, end = at(points[one], *floor), at(points[other], *floor)
                canvas.arrow(start, end, kind="sentence", thick=True, tip=dist(start, end) > 18)  # else all tip
            canvas.circle(*at(points[path[0]], *floor), 6, "sentence", look="dot")
    shown = {"searched for": "loss", "the walk starts here": "sentence", "compared on the way": "vector"}
    for x, (name, kind) in zip((2, 126, 312), shown.items()):
        canvas.circle(x + 8, top + deep + 16, 6, kind, look="ring" if kind == "loss" else "dot", thick=kind == "loss")
        canvas.label(x + 22, top + deep + 16, name, kind=kind)
    with canvas.step():
        compared, found = len(lit[0] | lit[1]), "the nearest" if paths[1][-1] == nearest else "not the nearest"
        canvas.text(
            260, top + deep + 54, f"found: {found}, with {compared} of {len(points)} points compared", bold=True
        )
    steps = [" to ".join(map(str, path)) for path in paths]
    end = "the nearest of all" if paths[1][-1] == nearest else f"not the nearest, which is {nearest}"
    return canvas.finish(
        f"Two graphs of the same points, side by side: the upper has only {len(layers[0])} of them, with long links, "
        f"the lower all {len(layers[1])}, with short ones; the part around the walk is drawn. "
        f"The walk in the upper visits the places {steps[0]}, where "
        f"no neighbour is nearer to what is searched for. It goes on in the lower, and visits {steps[1]}: {end}. "
        f"Compared on the way, and lit: {compared} of {len(points)}."
    )
