// What truth.c calls in another file: clang -include other.c truth.c
#include "other.h"

int square(int n) {
  unsigned s = 17;
  if (n < 0) return 0;
  for (int i = 0; i < n; i++) s = s * 67 + (i * i ^ s >> 3); // hot: square
  return s;
}

__attribute__((noinline)) static int tailed(int n, unsigned s) {
  // One line: the test for the end takes a fifth of the time.
  return n <= 0 ? (int)s : tailed(n - 1, s * 69 + (n ^ s >> 3)); // hot: tail > tailed, tailed
}

int tail(int n) {
  return tailed(n, 18);
}
