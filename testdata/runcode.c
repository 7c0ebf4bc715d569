#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static char stack[1 << 16];
static void *thread[64];

// call runs code as OpenJ9 does: on a stack that is not the thread's, and with rbp at
// what the VM knows of the thread.
static void call(void (*code)(void))
{
	__asm__ volatile("mov %%rsp, %%r12; mov %%rbp, %%r13; mov %1, %%rsp; mov %2, %%rbp; call *%0; mov %%r12, %%rsp; mov %%r13, %%rbp"
		: : "r"(code), "r"(stack + sizeof stack - 64), "r"(thread)
		: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "cc", "memory");
}

// runcode SECONDS ADDRESS FILE...: puts each file's code to its address, and
// calls one after the other until it has had that much time of a processor.
int main(int argc, char **argv)
{
	int n = (argc - 2) / 2;
	void (**code)(void) = calloc(n, sizeof *code);
	for (int i = 0; i < n; i++) {
		unsigned long at = strtoul(argv[2 + 2 * i], NULL, 0), page = at & ~0xffffUL;
		if (mmap((void *)page, 0x20000, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED) {
			perror("mmap");
			return 1;
		}
		int fd = open(argv[3 + 2 * i], O_RDONLY);
		if (fd < 0 || read(fd, (void *)at, 0x10000) <= 0) {
			perror(argv[3 + 2 * i]);
			return 1;
		}
		close(fd);
		code[i] = (void (*)(void))at;
	}
	for (clock_t end = clock() + atoi(argv[1]) * CLOCKS_PER_SEC; clock() < end;)
		for (int i = 0; i < n; i++)
			call(code[i]);
	return 0;
}
