"""What counts until the kernel ends, or until `setup` runs again. Nothing of it is recorded."""

# id of an exercise -> how many of its hints were shown; cleared by `setup`
hints_shown: dict[str, int] = {}
shows = {"solutions": True}  # whether `solution` shows answers; set by `setup`
