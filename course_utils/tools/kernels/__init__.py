"""Fast-starting kernels, forked from a process that has imported everything and loaded the encoder.

Linux only.
"""
