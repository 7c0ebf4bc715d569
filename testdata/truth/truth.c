// Functions of many shapes. Each spends its time on one line, which a comment marks: see
// internal/truth. Lines around a marked one are cold.
// clang -O2 -g -include other.c -emit-llvm -c truth.c; lli truth.bc [MILLISECONDS for each function [wait]]
// With wait, it says that it is ready and reads a character; after its work, it reads another one.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "other.h"

#define N 20000
#define ALONE __attribute__((noinline))
volatile int sink;

ALONE int declared(int n) {
  unsigned s = 1;
  sink++;
  for (int i = 0; i < n; i++) s = s * 31 + (i ^ s >> 3); // hot: declared
  sink--;
  return s;
}

ALONE static int internal(int n) {
  unsigned s = 2;
  sink++;
  while (n > 0) s = s * 33 + (n-- ^ s >> 3); // hot: internal
  sink--;
  return s;
}

ALONE int done(int n) {
  unsigned s = 3;
  sink++;
  do s = s * 35 + (n ^ s >> 3); while (--n > 0); // hot: done
  sink--;
  return s;
}

ALONE int recursive(int n) {
  if (n <= 0) return sink & 1;
  unsigned s = 4;
  sink++;
  for (int i = 0; i < 2000; i++) s = s * 37 + (i ^ s >> 3); // hot: recursive
  sink--;
  return s ^ (unsigned)recursive(n - 2000);
}

ALONE int callback(const void *a, const void *b) {
  unsigned s = *(const int *)a;
  sink++;
  for (int i = 0; i < 2000; i++) s = s * 39 + (i ^ s >> 3); // hot: callback
  sink += s & 1;
  return *(const int *)a - *(const int *)b;
}

ALONE int ordered(int n) {
  int kept[] = {3, 1, 2, 4, 6, 5};
  qsort(kept, 6, sizeof *kept, callback);
  return kept[0] + n;
}

ALONE int switched(int n) {
  unsigned s = 5;
  sink++;
  for (int i = 0; i < n; i++) switch (s & 3) { case 0: s += i | 1; break; case 1: s ^= 3 * i + 7; sink = 1; break; case 2: s -= 5; break; default: s = s * 7; sink = 0; } // hot: switched
  return s;
}

ALONE int jumped(int n) {
  unsigned s = 6;
  sink++;
again: s = s * 41 + (n ^ s >> 3); if (--n > 0) goto again; // hot: jumped
  sink--;
  return s;
}

ALONE double floats(int n) {
  double s = 0.5;
  sink++;
  for (int i = 0; i < n; i++) s = s * 0.999 + 0.25; // hot: floats
  sink--;
  return s;
}

ALONE long long wide(int n) {
  unsigned long long s = 7;
  sink++;
  for (int i = 0; i < n; i++) s = s * 43 + (i ^ s >> 3); // hot: wide
  sink--;
  return s;
}

struct point { int x, y; unsigned bits : 7; };

ALONE struct point by_value(struct point p, int n) {
  unsigned s = p.x;
  sink++;
  for (int i = 0; i < n; i++) s = s * 45 + (i ^ s >> 3); // hot: by_value
  p.bits = s;
  return p;
}

ALONE int bit_field(struct point *p, int n) {
  sink++;
  p->bits = n;
  for (int i = 0; i < n; i++) { p->bits = p->bits * 5 + (i & 3); sink = 0; } // hot: bit_field
  sink--;
  return p->bits;
}

ALONE int variadic(int n, ...) {
  va_list more;
  va_start(more, n);
  unsigned s = va_arg(more, int);
  va_end(more);
  for (int i = 0; i < n; i++) s = s * 47 + (i ^ s >> 3); // hot: variadic
  return s;
}

ALONE int many(int a, int b, int c, int d, int e, int f, int g, int n) {
  unsigned s = a + b + c + d;
  sink++;
  for (int i = 0; i < n; i++) s = s * 49 + (i ^ s >> 3); // hot: many
  sink--;
  return s + e + f + g;
}

ALONE int variable_frame(int n) {
  volatile char room[(n & 63) + 1];
  memset((char *)room, 0, sizeof room);
  unsigned s = 8;
  for (int i = 0; i < n; i++) s = s * 51 + (room[0] ^ i ^ s >> 3); // hot: variable_frame
  return s + room[0];
}

ALONE int arrays(int n) {
  static unsigned char bytes[4096];
  unsigned s = 9;
  bytes[0] = n;
  for (int i = 0; i < n; i++) s += bytes[(s + i) & 4095] + (s >> 3); // hot: arrays
  return s;
}

ALONE int nested(int n) { unsigned s = 10; for (int i = 0; i < 100; i++) for (int k = 0; k < n / 100; k++) s = s * 53 + (k ^ s >> 3); return s; } // hot: nested

ALONE int caught(int n) {
  jmp_buf back;
  volatile unsigned kept = 0;
  if (setjmp(back)) return kept;
  unsigned s = 11;
  for (int i = 0; i < n; i++) s = s * 55 + (i ^ s >> 3); // hot: caught
  kept = s;
  longjmp(back, 1);
}

ALONE int pointed(const int *p, int n) {
  unsigned s = 12;
  sink++;
  for (const int *end = p + 1; n > 0; n--) s = s * 57 + (p[end - p - 1] ^ s >> 3 ^ sink); // hot: pointed
  sink--;
  return s;
}

ALONE static int table_a(int n) {
  unsigned s = 13;
  sink++;
  for (int i = 0; i < n; i++) s = s * 59 + (i ^ s >> 3); // hot: table_a
  sink--;
  return s;
}
static int (*volatile table[])(int) = {table_a, internal};

ALONE int through_table(int n) {
  return table[0](n);
}

ALONE int computed(int n) {
  unsigned s = 14;
  int i = 0;
  void *labels[] = {&&even, &&odd};
  sink++;
even: s = s * 61 + i; goto *labels[++i & 1]; odd: s ^= s >> 3; if (++i < n) goto *labels[i & 1]; // hot: computed
  sink--;
  return s;
}

ALONE int inlining(int n) {
  unsigned s = 15;
  for (int k = 0; k < n; k += 200)
    s ^= mixed(s + k);
  return s;
}

static inline int local(int x) {
  unsigned t = x;
  if (t == 1) t++;
  for (int i = 0; i < 200; i++) t = t * 63 + (i ^ t >> 3); // hot: inlining_local > local
  return t;
}

ALONE int inlining_local(int n) {
  unsigned s = 16;
  for (int k = 0; k < n; k += 200)
    s ^= local(s + k);
  return s;
}

static int by_value_of(int n) { return by_value((struct point){1, 2, 3}, n).bits; }
static int bits_of(int n) { struct point p = {1, 2, 3}; return bit_field(&p, n); }
static int variadic_of(int n) { return variadic(n, 1, 2); }
static int many_of(int n) { return many(1, 2, 3, 4, 5, 6, 7, n); }
static int floats_of(int n) { return floats(n); }
static int wide_of(int n) { return wide(n); }
static int pointed_of(int n) { int x = 3; return pointed(&x, n); }

int main(int argc, char **argv) {
  int (*functions[])(int) = {
    declared, internal, done, recursive, ordered, switched, jumped, floats_of, wide_of, by_value_of, bits_of, variadic_of, many_of,
    variable_frame, arrays, nested, caught, pointed_of, through_table, computed, inlining, inlining_local, square, tail,
  };
  int count = sizeof functions / sizeof *functions;
  long milliseconds = argc > 1 ? atol(argv[1]) : 40;
  if (argc > 2) puts("ready"), fflush(stdout), getchar();
  for (int i = 0; i < count; i++) {
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
      sink ^= functions[i](N);
      clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < milliseconds);
  }
  printf("%d functions\n", count);
  fflush(stdout);
  if (argc > 2) getchar();
}
