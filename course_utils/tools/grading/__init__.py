"""The grader: `course grade` and `course release`."""
