"""Long trainings whose results lessons load, and those results."""
