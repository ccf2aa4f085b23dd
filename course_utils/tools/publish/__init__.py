"""Other formats of the lessons: the lecture deck and the book."""
