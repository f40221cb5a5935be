"""The numba kernels: plain loops over plain arrays. They import numpy and jit.py alone."""
