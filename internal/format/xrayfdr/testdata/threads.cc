// threads, exceptions, tail calls, events, arguments, small buffers
#include <cstdio>
#include <cstdint>
#include <cstring>
#include <thread>
#include <xray/xray_interface.h>
#include <xray/xray_log_interface.h>
#define INSTR [[clang::xray_always_instrument]] __attribute__((noinline))
volatile uint64_t sink;
INSTR void leaf(int n) { for (int i = 0; i < n; i++) sink += i; }
INSTR int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
[[clang::xray_always_instrument, clang::xray_log_args(1)]] __attribute__((noinline)) void witharg(uint64_t a) { sink += a; leaf(10); }
INSTR int tailme(int n) { sink += n; leaf(20); return (int)sink; }
INSTR int tailcaller(int n) { sink -= n; return tailme(n + 1); }
static char text[64];
// A leaf, so that the stack is as the runtime of LLVM 14 needs it for typed events.
volatile long size;
INSTR void typed() { __xray_typedevent(7, text, size); }
INSTR void withevent(int i) {
  char b[64];
  int l = snprintf(b, sizeof b, "event-%d", i);
  __xray_customevent(b, l);
  memcpy(text, b, l + 1); size = l + 1; typed();
  leaf(30);
}
INSTR void thrower(int i) { leaf(5); if (i & 1) throw i; }
INSTR void work(int rounds) {
  for (int i = 0; i < rounds; i++) {
    sink += fib(5);
    witharg(0x1000 + i);
    sink += tailcaller(i);
    withevent(i);
    try { thrower(i); } catch (int) { sink++; }
  }
}
int main(int argc, char **argv) {
  const char *opt = argc > 1 ? argv[1] : "func_duration_threshold_us=0";
  if (__xray_log_select_mode("xray-fdr") != XRAY_REGISTRATION_OK) return 1;
  if (__xray_log_init_mode("xray-fdr", opt) != XRAY_LOG_INITIALIZED) return 2;
  __xray_patch();
  std::thread t([] { work(40); });
  work(40);
  t.join();
  if (__xray_log_finalize() != XRAY_LOG_FINALIZED) return 3;
  if (__xray_log_flushLog() != XRAY_LOG_FLUSHED) return 4;
}
