# Functions of many shapes. Each spends its time on one line, which a comment marks: see
# internal/truth. CPython's dump has names only, of the callers on the stack.
# python3 -X perf_jit truth.py [MILLISECONDS for each function [wait]]
# With wait, it says that it is ready and reads a line; after its work, it reads another one.
import asyncio
import functools
import sys
import time

import other

N = 4000


def declared(n):
    s = 1
    for i in range(n): s = (s * 31 + i) & 0xffffff  # hot: declared
    return s


lambda_ = lambda n: functools.reduce(lambda s, i: (s * 33 + i) & 0xffffff, range(n), 2)  # hot: <lambda>


class Point:
    def __init__(self, n=1):
        s = 3
        for i in range(n): s = (s * 35 + i) & 0xffffff  # hot: Point.__init__
        self.x = s

    def method(self, n):
        s = self.x
        for i in range(n): s = (s * 37 + i) & 0xffffff  # hot: Point.method
        return s

    @property
    def read(self):
        s = self.x
        for i in range(N): s = (s * 39 + i) & 0xffffff  # hot: read
        return s

    @read.setter
    def read(self, n):
        s = 4
        for i in range(n): s = (s * 41 + i) & 0xffffff
        self.x = s

    @staticmethod
    def still(n):
        s = 5
        for i in range(n): s = (s * 43 + i) & 0xffffff  # hot: still
        return s

    @classmethod
    def of_class(cls, n):
        s = 6
        for i in range(n): s = (s * 45 + i) & 0xffffff  # hot: of_class
        return s

    def __add__(self, n):
        s = self.x
        for i in range(n): s = (s * 47 + i) & 0xffffff  # hot: __add__
        return s

    def __call__(self, n):
        s = self.x
        for i in range(n): s = (s * 49 + i) & 0xffffff  # hot: __call__
        return s


class Heir(Point):
    def inherited(self, n):
        s = super().method(1)
        for i in range(n): s = (s * 51 + i) & 0xffffff  # hot: inherited
        return s


def adder(k):
    def closure(n):
        nonlocal k
        for i in range(n): k = (k * 53 + i) & 0xffffff  # hot: closure
        return k
    return closure


def generator(n):
    s = 7
    for i in range(n): s = (s * 55 + i) & 0xffffff  # hot: generator
    yield s


def drained(n):
    for s in generator(n):
        pass
    return s


async def asynchronous(n):
    s = 8
    await asyncio.sleep(0)
    for i in range(n): s = (s * 57 + i) & 0xffffff  # hot: asynchronous
    return s


def awaited(n):
    return asyncio.run(asynchronous(n))


def caught(n):
    s = 9
    try:
        for i in range(n): s = (s * 59 + i) & 0xffffff  # hot: caught
        raise ValueError('thrown')
    except ValueError:
        s += 1
    finally:
        s -= 1
    return s


def recursive(n):
    if n <= 0: return 0
    s = 10
    for i in range(400): s = (s * 61 + i) & 0xffffff  # hot: recursive
    return s ^ recursive(n - 400)


def decorator(f):
    @functools.wraps(f)
    def wrapper(*args):
        s = 11
        for i in range(N): s = (s * 63 + i) & 0xffffff  # hot: wrapper
        return f(*args) + s
    return wrapper


@decorator
def decorated(n):
    return n


def callback(x):
    s = x
    for i in range(400): s = (s * 65 + i) & 0xffffff  # hot: callback
    return s


def higher_order(n):
    return sum(map(callback, range(n // 400)))


def key(x):
    s = x
    for i in range(1000): s = (s * 67 + i) & 0xffffff  # hot: key
    return s


def ordered(n):
    return sorted([3, 1, 2, 4], key=key)[0]


def one_line(n): return [s for s in [12] for i in range(n) for s in [(s * 69 + i) & 0xffffff]][-1]  # hot: one_line


def with_context(n):
    s = 13
    with open('/dev/null') as f:
        for i in range(n): s = (s * 71 + i) & 0xffffff  # hot: with_context
    return s


def floats(n):
    s = 0.5
    for i in range(n): s = s * 0.999 + 0.25  # hot: floats
    return s


def whiled(n):
    s = 14
    while n: n -= 1; s = (s * 73 + n) & 0xffffff  # hot: whiled
    return s


def keywords(*more, n=0, **rest):
    s = len(more) + len(rest)
    for i in range(n): s = (s * 75 + i) & 0xffffff  # hot: keywords
    return s


point, heir = Point(), Heir()
functions = [
    declared, lambda_, Point, point.method, lambda n: point.read, Point.still, Point.of_class, lambda n: point + n, point,
    heir.inherited, adder(3), drained, awaited, caught, recursive, decorated, higher_order, ordered, one_line, with_context,
    floats, whiled, lambda n: keywords(1, 2, n=n, more=3), other.square, other.inlining,
]
milliseconds = float(sys.argv[1]) if len(sys.argv) > 1 else 40
wait = len(sys.argv) > 2
if wait: print('ready', flush=True); sys.stdin.readline()
for f in functions:
    end = time.monotonic() + milliseconds / 1000
    while time.monotonic() < end:
        f(N)
print(len(functions), 'functions', flush=True)
if wait: sys.stdin.readline()
