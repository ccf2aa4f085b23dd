"""A learner's workspace: copies of the lessons, updates, progress."""
