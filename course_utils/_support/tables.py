"""Read what `data.py` hands out, check what it is given, and write the tables of trainings."""


def html_in(text):
    """What is HTML in a text, read as Markdown: not what stands in its code."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").parse(text)
    tokens = [one for token in tokens for one in (token, *(token.children or ()))]
    return "\n".join(one.content for one in tokens if one.type in ("html_block", "html_inline"))


def table_of_texts(table, columns, what):
    """A table of texts with these columns, without white space around them."""
    import csv

    import pandas as pd

    if isinstance(table, str):
        head, *rows = csv.reader(table.strip().splitlines(), skipinitialspace=True)
        for number, row in enumerate(rows, start=2):
            if len(row) != len(head):
                raise ValueError(
                    f"{what}, line {number}: there are {len(row)} values, and {len(head)} columns. Put a text that "
                    'contains a comma in quotes: "..."'
                )
        table = pd.DataFrame(rows, columns=[name.strip() for name in head])
    if missing := [column for column in columns if column not in table.columns]:
        raise ValueError(f"{what}: there is no column {', '.join(missing)}; the columns must be {', '.join(columns)}")
    return table[list(columns)].astype(str).apply(lambda column: column.str.strip())


def refuse_any(values, what, known=()):
    """Raise ValueError if there are values, with the nearest of the known ones."""
    import difflib

    if len(values):
        near = difflib.get_close_matches(values.iloc[0], known, n=1)
        raise ValueError(f"{what} {listed(values)}{f'; did you mean {near[0]}?' if near else ''}")


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
