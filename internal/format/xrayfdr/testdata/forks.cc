// A program that forks two processes, one after the other. Each logs calls of its own.
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#define LOGGED [[clang::xray_always_instrument]] __attribute__((noinline))

LOGGED void parent_only() { asm volatile(""); }
LOGGED void child_only() { asm volatile(""); }
LOGGED void before() { asm volatile(""); }

int main() {
  for (int i = 0; i < 10; i++)
    before();
  for (int child = 0; child < 2; child++) {
    if (fork() == 0) {
      for (int i = 0; i < 20; i++)
        child_only();
      exit(0);
    }
    wait(nullptr);
    for (int i = 0; i < 3; i++)
      parent_only();
  }
  parent_only();
}
