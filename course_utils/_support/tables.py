"""Read what `data.py` hands out, check what it is given, and write the tables of trainings."""

import os
import re
import unicodedata
from pathlib import Path

SIGNS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}  # what separates the columns of a table


def html_in(text):
    """What is HTML in a text, read as Markdown: not what stands in its code."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").parse(text)
    tokens = [one for token in tokens for one in (token, *(token.children or ()))]
    return "\n".join(one.content for one in tokens if one.type in ("html_block", "html_inline"))


def files_in(folder, endings):
    """What is in a folder and the folders inside it: (name, path, why it is not read, or "") for each, in order.

    A name is the path in the folder, with "/", in Unicode's form NFC; of a file of another kind it is the ending. What
    is hidden and of another kind is left out: nobody misses it.
    """
    todo = [folder]
    while todo:
        here = todo.pop()
        try:
            entries = sorted(here.iterdir())
        except OSError:
            yield _name_in(folder, here), here, "unreadable"
            continue
        todo += reversed([path for path in entries if path.is_dir() and not path.is_symlink()])
        for path in entries:
            readable, name = path.suffix.lower() in endings, _name_in(folder, path)
            if any(part.startswith(".") for part in path.relative_to(folder).parts):
                if path.suffix == ".icloud" and Path(path.stem).suffix.lower() in endings:
                    yield name, path, "not downloaded from iCloud"
                if readable and path.is_file():
                    yield name, path, "hidden"
            elif path.is_symlink() and not path.is_file():
                yield name, path, "linked folders" if path.is_dir() else "broken links"
            elif not path.is_dir() and not (readable and path.is_file()):
                yield path.suffix or path.name, path, "of another kind"
            elif path.is_file():
                yield name, path, "whose names are not in UTF-8" if "\ufffd" in name else ""


def _name_in(folder, path):
    name = path.relative_to(folder).as_posix()
    return unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "replace"))


def begun(text):
    """(text, lines above, sign) of a CSV file, without the line "sep=;" that spreadsheets write.

    sign: what separates the columns, as that line says, else the commonest of SIGNS in the header.
    """
    stated = re.match(r"\s*sep=(.)\r?\n", text)
    below = text[stated.end() :] if stated else text
    header = below.strip().partition("\n")[0]
    sign = stated[1] if stated else max(SIGNS, key=header.count)
    return below, text.count("\n") - below.count("\n"), sign


def strings_of(strings, name):
    """Strings as a list. name: what an error calls them. Raises TypeError for anything else."""
    if isinstance(strings, str):
        raise TypeError(f"{name} must be a list of strings; got one string")
    # a dictionary or a table would yield its keys or column names; a set has no order
    if isinstance(strings, (bytes, dict, set)) or getattr(strings, "ndim", 1) != 1:
        raise TypeError(f"{name} must be a list of strings; got {type(strings).__name__}")
    try:
        strings = list(strings)
    except TypeError:
        raise TypeError(f"{name} must be a list of strings; got {type(strings).__name__}") from None
    for place, string in enumerate(strings):
        if not isinstance(string, str):
            raise TypeError(f"{name}[{place}] must be a string; got {type(string).__name__}")
    return strings


def table_of_texts(table, columns, what):
    """A table of texts with these columns, without white space around them."""
    if isinstance(table, str):
        table = _table_in(table.removeprefix("\ufeff"), columns, what)
    if twice := [column for column in columns if [*table.columns].count(column) > 1]:
        raise ValueError(f"{what}: there is more than one column {', '.join(twice)}")
    if missing := [column for column in columns if column not in table.columns]:
        raise ValueError(f"{what}: there is no column {', '.join(missing)}; the columns must be {', '.join(columns)}")
    return table[list(columns)].map(_as_text)


def _table_in(text, columns, what):
    """The table in a text with a header line. Raises ValueError, with the line."""
    import csv
    import io

    import pandas as pd

    text, above, sign = begun(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, skipinitialspace=sign != "\t", strict=True)
    rows, start = [], 1 + above
    try:
        for row in reader:
            line, start = start, reader.line_num + 1 + above
            if not any(cell.strip() for cell in row):
                continue
            width = len(rows[0]) if rows else len(row)
            if not any(cell.strip() for cell in row[width:]):  # signs at the end of a line, as spreadsheets write
                row = row[:width]
            if len(row) != width:
                raise ValueError(
                    f"{what}, line {line}: there are {len(row)} values, and {width} columns. Put a text that "
                    f'contains {SIGNS.get(sign, sign)} in quotes: "..."'
                )
            rows.append(row)
    except csv.Error:
        raise ValueError(
            f'{what}, line {start}: a quotation mark is never closed, or text stands after it. Write two, "", for '
            "one inside a quoted text"
        ) from None
    if not rows:
        raise ValueError(f"{what}: the table is empty; its first line must be {','.join(columns)}")
    head, *rows = rows
    return pd.DataFrame(rows, columns=[name.strip() for name in head])


def _as_text(value):
    """A cell as text: nothing for a missing one; a whole number as it was written, which pandas may make 2.0."""
    import pandas as pd

    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def refuse_any(values, what, known=()):
    """Raise ValueError if there are values, with the nearest of the known ones."""
    import difflib

    if len(values):
        near = difflib.get_close_matches(values.iloc[0], known, n=1)
        raise ValueError(f"{what} {listed(values)}{f'; did you mean {near[0]}?' if near else ''}")


def joined(parts):
    """Words in a sentence: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def listed(values, most=5):
    """The first few of many names."""
    names = list(dict.fromkeys(map(str, values)))
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def documented(place):
    """(full name, docstring) of the public names of a module or class."""
    import inspect
    from pkgutil import resolve_name

    import numpy as np

    home = resolve_name(place)
    listed = getattr(home, "__all__", None)
    for name in listed or vars(home) | dict.fromkeys(dir(home)):
        one = None if name.startswith("_") else inspect.getattr_static(home, name, None)
        one = getattr(home, name) if one is not None else None
        if inspect.isclass(one) and issubclass(one, np.generic):
            continue  # number types: their texts differ from system to system
        if not (inspect.isroutine(one) or inspect.isclass(one) or isinstance(one, (np.ufunc, property))):
            continue
        if listed is None and inspect.ismodule(home) and not getattr(one, "__module__", "").startswith(place):
            continue  # imported from elsewhere
        yield f"{place}.{name}", inspect.getdoc(one) or ""


def write_table(rows, path):
    """Write rows as a CSV file, atomically: an existing file stays until the new one is complete."""
    import pandas as pd

    beside = path.with_suffix(".new")
    pd.DataFrame(rows).to_csv(beside, index=False)
    beside.replace(path)
