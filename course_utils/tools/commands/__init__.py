"""What the `course` command can be asked for. The work is done in the rooms beside this folder."""
