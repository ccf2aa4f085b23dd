"""The `course` command and what is behind it. Lessons never import this."""
