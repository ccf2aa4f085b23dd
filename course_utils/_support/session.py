"""What one session remembers; `setup` clears it."""

hints_shown = {}  # id of an exercise -> how many of its hints were shown
