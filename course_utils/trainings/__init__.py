"""Long trainings and their stored results, which the lessons load."""
