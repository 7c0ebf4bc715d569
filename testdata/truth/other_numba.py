# What truth_numba.py imports.
from numba import njit


@njit
def square(n):
    s = 14
    for i in range(n): s = (s * 65 + (i * i ^ s >> 3)) & 0xffffff  # hot: square
    return s


@njit
def mixed(x):
    for i in range(200): x = (x * 67 + (i ^ x >> 3)) & 0xffffff  # hot: mixed
    return x


@njit
def inlining(n):
    s = 15
    for k in range(0, n, 200):
        s ^= mixed(s + k)
    return s
