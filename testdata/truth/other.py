# What truth.py imports.


def square(n):
    s = 15
    for i in range(n): s = (s * 77 + i * i) & 0xffffff  # hot: square
    return s


def mixed(x):
    for i in range(200): x = (x * 79 + i) & 0xffffff  # hot: mixed
    return x


def inlining(n):
    s = 16
    for k in range(0, n, 200):
        s ^= mixed(s + k)
    return s
