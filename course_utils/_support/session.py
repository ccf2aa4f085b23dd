"""State of one session, cleared by `setup`."""

hints_shown = {}  # exercise id -> how many of its hints were shown
