// A program whose calls are known: how often which function is called in each thread, with
// recursion, tail calls, arguments, events and exceptions. It prints the counts.
//
//   calls ROUNDS SPIN EVERY    two threads make ROUNDS rounds each; SPIN loops stand for work;
//                              every EVERYth round throws an exception, none if that is 0
//
// Every function does its share of loops before, between and after what it calls, so that
// samples fall into all of them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <xray/xray_interface.h>

#define TRACED [[clang::xray_always_instrument]] __attribute__((noinline))

static int spin = 1000, every = 2;
static thread_local volatile uint64_t sink;

__attribute__((always_inline)) static inline void work(int n) {
  for (int i = 0; i < n; i++) sink = sink + i;
}

TRACED void leaf() { work(spin); }
TRACED void branch() { work(spin); leaf(); work(spin); leaf(); work(spin); }
// Newer compilers would make a loop of one of the two calls.
TRACED __attribute__((disable_tail_calls)) int fib(int n) { work(spin / 8); return n < 2 ? n : fib(n - 1) + fib(n - 2); }
[[clang::xray_always_instrument, clang::xray_log_args(1)]] __attribute__((noinline)) void argued(uint64_t a) { sink = sink + a; work(spin); leaf(); work(spin); }
TRACED int landing(int n) { work(2 * spin); return (int)sink + n; }
TRACED int jumper(int n) { work(2 * spin); [[clang::musttail]] return landing(n + 1); }
TRACED void telling(int i) {
  work(spin);
#ifndef SILENT
  char text[32];
  int n = snprintf(text, sizeof text, "round %d", i);
  __xray_customevent(text, n);
#endif
  work(spin);
}

// catcher catches what thrower throws: no record says then that thrower and carrier ended.
TRACED void thrower(int i) { work(spin); if (every && i % every == every - 1) throw i; work(spin); }
TRACED void carrier(int i) { work(spin); thrower(i); work(spin); }
TRACED void catcher(int i) { work(spin); try { carrier(i); } catch (int) { } work(spin); }

TRACED void round_of(int i) {
  work(spin);
  branch();
  sink = sink + fib(6);
  argued(0x1000 + i);
  sink = sink + jumper(i);
  telling(i);
  catcher(i);
  work(spin);
}

TRACED void rounds(int n) { for (int i = 0; i < n; i++) round_of(i); }

[[clang::xray_never_instrument]] static void thread_main(int n) {
  rounds(n);
  printf("thread %ld\n", (long)syscall(SYS_gettid));
}

[[clang::xray_never_instrument]] int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 10;
  spin = argc > 2 ? atoi(argv[2]) : 1000;
  every = argc > 3 ? atoi(argv[3]) : 2;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  unsigned lo = 0, hi = 0;
#ifdef __x86_64__
  __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
#endif
  printf("process %d\nclock %ld.%09ld %llu\n", getpid(), t.tv_sec, t.tv_nsec, (unsigned long long)hi << 32 | lo);
  std::thread other([n] { thread_main(n); });
  thread_main(n);
  other.join();
  const char *names[] = {"rounds", "round_of", "branch", "leaf", "fib", "argued", "jumper", "landing", "telling", "catcher", "carrier", "thrower"};
  const int each[] = {0, 1, 1, 3, 25, 1, 1, 1, 1, 1, 1, 1};
  for (int i = 0; i < 12; i++) printf("calls %s %d\n", names[i], 2 * (each[i] ? n * each[i] : 1));
  printf("thrown %d\n", every ? 2 * (n / every) : 0);
  return 0;
}
