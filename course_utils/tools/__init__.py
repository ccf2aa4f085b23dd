"""The `course` command and its implementation. Lessons never import this package."""
