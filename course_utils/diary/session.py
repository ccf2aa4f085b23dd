"""What counts until the kernel ends, or until `setup` runs again. Nothing of it is recorded."""

hints_shown: dict[str, int] = {}  # id of an exercise -> how many of its hints were shown; cleared by `setup`
shows = {"solutions": True}  # whether `solution` shows answers; set by `setup`
