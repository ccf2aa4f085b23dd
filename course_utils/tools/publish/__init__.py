"""Other views of the lessons: the lecture deck and the book."""
