"""Other formats of the lessons: the lecture deck, the book, question banks, cards, copies for
Colab.
"""


class PublishError(RuntimeError):
    """Something cannot be published. The message is one sentence."""
