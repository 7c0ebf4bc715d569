// What truth.c inlines from another file.
#pragma once
int square(int n);
int tail(int n);

static inline int mixed(int x) {
  unsigned t = x;
  if (t == 1) t++;
  for (int i = 0; i < 200; i++) t = t * 65 + (i ^ t >> 3); // hot: inlining > mixed
  return t;
}
