"""Internals of the helpers, not used directly by the lessons."""
