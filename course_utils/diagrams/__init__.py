"""The diagrams of the lessons: one file per lesson, one function per diagram, one visual language (`canvas.py`)."""
