// A program for the step test: what LLVM compiles in different ways, in rounds, until the
// file that its argument names exists.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

NOINLINE int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

// Arguments on the stack.
NOINLINE long many(long a, long b, long c, long d, long e, long f, long g, long h, long i, double p, double q) {
  return a + b * 2 + c * 3 + d + e + f + g * (h ^ i) + (long)(p * q);
}

struct large {
  long v[12];
};
NOINLINE struct large by_value(struct large a, struct large b) {
  for (int i = 0; i < 12; i++) a.v[i] += b.v[11 - i];
  return a;
}

// More live values than there are registers.
NOINLINE long spilled(long n) {
  long a = n, b = n + 1, c = n + 2, d = n + 3, e = n + 4, f = n + 5, g = n + 6, h = n + 7, s = 0;
  for (int i = 0; i < 6; i++) {
    s += many(a, b, c, d, e, f, g, h, i, a * 0.5, b * 0.25);
    a += b & 3, b += a & 5, c ^= b, d += c & 7, e ^= d, f += e & 1, g ^= f, h += g & 3;
  }
  return a + b + c + d + e + f + g + h + s;
}

// A frame whose size is known only when it runs, and one that is aligned.
NOINLINE int variable(int n) {
  volatile char *p = (char *)__builtin_alloca(n + 16);
  for (int i = 0; i < n; i++) p[i] = i;
  return p[n / 2] + fib(3);
}
NOINLINE long aligned(long n) {
  alignas(64) volatile long a[8];
  for (int i = 0; i < 8; i++) a[i] = n + i;
  return a[n & 7] + fib(2);
}

NOINLINE void thrower(int n) {
  if (n == 0) throw 7L;
  thrower(n - 1);
  asm volatile("");
}
struct guard {
  int *n;
  ~guard() { (*n)++; }
};
NOINLINE long catcher(int n) {
  int cleaned = 0;
  try {
    guard g = {&cleaned};
    thrower(n);
  } catch (long v) {
    return v + cleaned;
  }
  return 0;
}

NOINLINE int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
NOINLINE int sorted(int k) {
  int a[16];
  for (int i = 0; i < 16; i++) a[i] = (i * 7919 + k) % 101;
  qsort(a, 16, sizeof a[0], compare);
  return a[3];
}

NOINLINE int choose(int k) {
  switch (k % 9) {
  case 0: return fib(2);
  case 1: return k + 1;
  case 2: return k * 3;
  case 3: return fib(4) + 2;
  case 4: return k ^ 5;
  case 5: return k << 2;
  case 6: return variable(8);
  default: return 9;
  }
}

struct shape {
  virtual int area(int k) { return k; }
  virtual ~shape() {}
};
struct square : shape {
  int w;
  square(int w) : w(w) {}
  int area(int k) override { return w * w + shape::area(k); }
};
NOINLINE int tail(int (*f)(int), int n) { return f(n); }

int main(int argc, char **argv) {
  long sum = 0;
  square q(3);
  shape plain, *volatile list[2] = {&q, &plain};
  for (int k = 0; argc > 1; k++) {
    struct large a, b;
    memset(&a, k, sizeof a), memset(&b, 1, sizeof b);
    sum += fib(8) + spilled(k) + variable(k & 63) + aligned(k) + sorted(k) + choose(k) + tail(choose, k);
    sum += by_value(a, b).v[3] + list[k & 1]->area(k);
    if (k % 8 == 0) sum += catcher(k & 3);
    if (k % 4096 == 0 && access(argv[1], F_OK) == 0) break;
  }
  return sum == 1;
}
