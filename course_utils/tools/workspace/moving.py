"""Take along what a learner wrote, when the course has moved cells of a lesson's core to a further part.

Cells are plain dictionaries, as in `merging`.
"""

import ast

from .merging import as_block, checksum, count, exercise_of, has_other_frame, identified, listed, merge

EARLIER_NOTE = "*Your text from the core, where this cell was before. You had written another one here, above.*\n\n"


def divide(mine, core, further, base):
    """Divide a learner's core as the course has divided the lesson.

    mine: the learner's cells of the core. core: the course's. further: the course's cells of each further part, by the
    file's name. base: as in `merge`.

    What the learner wrote goes where the course has the cell now, and the learner's own cells with the one above them.
    A changed cell that the course has nowhere any more stays. One that it has in both, word for word, stays and goes:
    both need it, such as the queries of the capstone.

    Returns the cells that stay, without the course's own that moved, and by the file's name those that go: (cell, id of
    the cell above it, whether it also stays).
    """
    base, here = base or {}, {cell["id"]: cell for cell in core}
    there = {name: {cell["id"]: cell for cell in cells} for name, cells in further.items()}
    homes = {one: name for name in reversed(there) for one in there[name]} | dict.fromkeys(here)
    course = {one: here[one] if name is None else there[name][one] for one, name in homes.items()}
    stay, go, home, above = [], {}, None, None
    for cell in identified(mine, course, base):
        one = cell["id"]
        is_learners = checksum(cell) not in (base.get(one), one in course and checksum(course[one]))
        if one in homes or one in base and is_learners:
            home = homes.get(one)
        if home is None:
            stay.append(cell)
        if is_learners:
            copies = [
                name for name in there if one in base and one in here and _is_same(there[name].get(one), here[one])
            ]
            for name in copies if home is None else [home]:
                go.setdefault(name, []).append((cell, above, home is None))
        above = one
    return stay, go


def _is_same(cell, other):
    return cell is not None and checksum(cell) == checksum(other)


def bring(there, new, cells, base):
    """Bring cells from `divide` into a further part that is up to date. Doing it twice changes nothing more.

    there: the learner's cells of the part. new: the course's. base: as in `divide`.

    Where the learner has already written in this part, that stays, and the text from the core stands below as a note.

    Returns the part's cells, and which cells were "moved", were "copied", or stand "beside", as lists by these words.
    """
    course, now = {cell["id"]: cell for cell in new}, {cell["id"]: checksum(cell) for cell in new}
    there, was = identified(there, course, now), dict(now)
    done = {"moved": [], "copied": [], "beside": []}
    for cell, above, is_copy in cells:
        name, places = cell["id"], {one["id"]: place for place, one in enumerate(there)}
        place = places.get(name, len(there))
        present = checksum(there[place]) if name in places else now.get(name)
        if name in places and present == checksum(cell):  # from an interrupted update
            continue
        if name not in course:
            there.insert(places.get(above, len(there)) + 1, cell)
        elif present == now[name]:
            there[place : place + 1] = [cell]
            is_frame = exercise_of(course[name]) is not None and not has_other_frame(cell, course[name])
            was[name] = (base or {}).get(name, now[name] if is_frame else None)
        else:
            note = _note(cell)
            if not is_copy and cell["source"].strip() and note["source"] not in [one["source"] for one in there]:
                there.insert(place + 1, note)
                done["beside"].append(cell)
            continue
        done["copied" if is_copy else "moved"].append(cell)
    return merge(there, new, was)[0], done


def _note(cell):
    """A learner's text as a note for the learner."""
    text = cell["source"] if cell["cell_type"] == "markdown" else as_block(cell)
    note = {"cell_type": "markdown", "id": f"{cell['id'][:50]}-yours", "metadata": {}, "source": EARLIER_NOTE + text}
    return note | ({"attachments": cell["attachments"]} if cell.get("attachments") else {})


def lacking(cells, there, core):
    """The names that answers among these cells use and the core defined, and that the further part does not define."""
    used = _names([cell for cell in cells if exercise_of(cell)])[0]
    return sorted(used & _names(core)[1] - _names(there)[1])


def _names(cells):
    """The names that code cells use, and those that they define; of cells that Python can read."""
    used, defined = set(), set()
    for cell in cells:
        try:
            nodes = list(ast.walk(ast.parse(cell["source"]))) if cell["cell_type"] == "code" else []
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in nodes:
            if isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else defined).add(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.alias)):
                defined.add((getattr(node, "asname", None) or node.name).partition(".")[0])
            elif isinstance(node, ast.arg):
                defined.add(node.arg)
    return used, defined


def moved_in_words(done, new, name, lacks):
    """What `bring` did to the further part with this file name, in one line. lacks: see `lacking`."""
    exercises = {cell["id"]: exercise_of(cell) for cell in new}
    said = {
        "moved": f"moved to {name}",
        "copied": f"copied to {name}, which has the same",
        "beside": f"moved to {name}, into a note below what you wrote there",
    }
    told = []
    for how, cells in done.items():
        answers = [exercises[cell["id"]] for cell in cells if exercises.get(cell["id"])]
        others = len(cells) - len(answers)
        what = [f"your answer{'s' if answers[1:] else ''} to {listed(answers)}"] if answers else []
        what += [f"{count(others, 'cell')} of yours"] if others else []
        told += [f"{listed(what)} {said[how]}"] if what else []
    if lacks:
        told.append(f"it does not define {listed(lacks)}, which you use")
    return "; ".join(told)
