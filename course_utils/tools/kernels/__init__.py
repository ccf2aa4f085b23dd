"""Kernels that start at once: forked from a process that has imported everything and loaded the encoder. Linux only."""
