"""Lists of strings and tables as text: how they are read, whoever brings them."""

import re

SIGNS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}  # what separates the columns of a table


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
