"""What learners know: the concept inventory, where to begin, what is due for review, and what a
class has gained.
"""
