# Functions of many shapes that Numba compiles. Each spends its time on one line, which a comment
# marks: see internal/truth.
# NUMBA_DEBUGINFO=1 python3 truth_numba.py [MILLISECONDS for each function [wait]]
# With wait, it says that it is ready and reads a line; after its work, it reads another one.
import sys
import time

import numpy
from numba import cfunc, guvectorize, int64, njit, vectorize
from numba.experimental import jitclass

import other_numba

N = 20000


@njit
def declared(n):
    s = 1
    for i in range(n): s = (s * 31 + (i ^ s >> 3)) & 0xffffff  # hot: declared
    return s


@njit
def whiled(n):
    s = 2
    while n > 0: n -= 1; s = (s * 33 + (n ^ s >> 3)) & 0xffffff  # hot: whiled
    return s


@njit
def floats(n):
    s = 0.5
    for i in range(n): s = s * 0.999 + 0.25  # hot: floats
    return s


@njit
def recursive(n):
    if n <= 0:
        return 0
    s = 3
    for i in range(2000): s = (s * 35 + (i ^ s >> 3)) & 0xffffff  # hot: recursive
    return s ^ recursive(n - 2000)


@njit
def arrays(a):
    s = 4
    for i in range(a.size): s = (s * 37 + (a[i] ^ s >> 3)) & 0xffffff  # hot: arrays
    return s


@njit
def pairs(p, n):
    s = p[0]
    for i in range(n): s = (s * 39 + (p[1] ^ i ^ s >> 3)) & 0xffffff  # hot: pairs
    return p[1], s


@njit
def caught(n):
    s = 5
    try:
        for i in range(n): s = (s * 41 + (i ^ s >> 3)) & 0xffffff  # hot: caught
        raise ValueError('thrown')
    except Exception:
        s += 1
    return s


@njit
def keywords(n, more=6):
    s = more
    for i in range(n): s = (s * 43 + (i ^ s >> 3)) & 0xffffff  # hot: keywords
    return s


@njit
def several(*more):
    s = more[0]
    for i in range(more[1]): s = (s * 45 + (i ^ s >> 3)) & 0xffffff  # hot: several
    return s


@njit(nogil=True, boundscheck=True)
def switched(n):
    s = 7
    for i in range(n): s = (s * 47 + i) & 0xffffff if s & 2 else (s ^ i + 9) + 5  # hot: switched
    return s


@njit(fastmath=True)
def strict(n):
    s = 8.5
    for i in range(n): s = (s + i) / 1.5  # hot: strict
    return s


@njit(parallel=False)
def nested(n):
    s = 9
    for i in range(100):
        for k in range(n // 100): s = (s * 49 + (k ^ s >> 3)) & 0xffffff  # hot: nested
    return s


def adder(k):
    @njit
    def closure(n):
        s = k
        for i in range(n): s = (s * 51 + (i ^ s >> 3)) & 0xffffff  # hot: closure
        return s
    return closure


class Outer:
    @staticmethod
    @njit
    def still(n):
        s = 10
        for i in range(n): s = (s * 53 + (i ^ s >> 3)) & 0xffffff  # hot: still
        return s


@jitclass([('x', int64)])
class Point:
    def __init__(self, x):
        self.x = x

    def method(self, n):
        s = self.x
        for i in range(n): s = (s * 55 + (i ^ s >> 3)) & 0xffffff  # hot: method
        self.x = s
        return s


@vectorize(['int64(int64)'])
def each(x):
    s = x
    for i in range(2000): s = (s * 57 + (i ^ s >> 3)) & 0xffffff  # hot: each
    return s


@guvectorize(['(int64[:], int64[:])'], '(n)->()')
def whole(a, out):
    s = 11
    for i in range(a.size): s = (s * 59 + (a[i] ^ s >> 3)) & 0xffffff  # hot: whole
    out[0] = s


@cfunc('int64(int64)')
def called_from_c(n):
    s = 12
    for i in range(n): s = (s * 61 + (i ^ s >> 3)) & 0xffffff  # hot: called_from_c
    return s


@njit
def drained(n):
    total = 0
    for s in generator(n):
        total ^= s
    return total


@njit
def generator(n):
    s = 13
    for i in range(n): s = (s * 63 + (i ^ s >> 3)) & 0xffffff  # hot: generator
    yield s


numbers = numpy.arange(N)
few = numpy.arange(10)
point = Point(1)
functions = [
    declared, whiled, floats, recursive, lambda n: arrays(numbers), lambda n: pairs((1, 2), n), caught, keywords,
    lambda n: several(1, n), switched, strict, nested, adder(3), Outer.still, point.method, lambda n: each(few),
    lambda n: whole(numbers), called_from_c.ctypes, drained, other_numba.square, other_numba.inlining,
]
for f in functions:
    f(N)
milliseconds = float(sys.argv[1]) if len(sys.argv) > 1 else 40
wait = len(sys.argv) > 2
if wait: print('ready', flush=True); sys.stdin.readline()
for f in functions:
    end = time.monotonic() + milliseconds / 1000
    while time.monotonic() < end:
        f(N)
print(len(functions), 'functions', flush=True)
if wait: sys.stdin.readline()
