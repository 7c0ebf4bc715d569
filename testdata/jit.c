// jit DIR SECONDS [fork]: a JIT compiler as small as can be. It writes a jitdump
// to DIR, and is busy in the function "before". With fork, a child takes that
// function along, adds "child" to the same dump, and the parent "after". JIT_CLOCK, JIT_UNIT and JIT_FLAGS
// in its environment are the clock of the dump's times, their unit in nanoseconds (0: they are all 0), and
// the flags of its header.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int dump;
static uint64_t loaded;
static char *code;

static uint64_t setting(const char *name, uint64_t otherwise) {
	const char *value = getenv(name);
	return value ? strtoull(value, 0, 0) : otherwise;
}

static uint64_t now(void) {
	struct timespec t;
	clock_gettime(setting("JIT_CLOCK", CLOCK_MONOTONIC), &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint64_t dumped(void) {
	uint64_t unit = setting("JIT_UNIT", 1);
	return unit ? now() / unit : 0;
}

typedef void function(int);

static function *load(const char *name, int at) {
	static const char spin[] = "\x89\xf9\xff\xc9\x75\xfc\xc3"; // mov %edi,%ecx; 1: dec %ecx; jnz 1b; ret
	struct {
		uint32_t type, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, addr, len, index;
		char rest[64];
	} r = {.time = dumped(), .pid = getpid(), .tid = getpid(), .len = 64, .index = loaded++};
	size_t n = strlen(name) + 1;
	memset(code + at, 0x90, 64);
	memcpy(code + at, spin, sizeof spin);
	r.vma = r.addr = (uint64_t)(code + at);
	r.size = 56 + n + 64;
	char buf[256];
	memcpy(buf, &r, 56);
	memcpy(buf + 56, name, n);
	memcpy(buf + 56 + n, code + at, 64);
	if (write(dump, buf, r.size) != (ssize_t)r.size) exit(1);
	return (function *)(code + at);
}

int main(int argc, char **argv) {
	char path[4096];
	int seconds = atoi(argv[2]);
	snprintf(path, sizeof path, "%s/jit-%d.dump", argv[1], getpid());
	dump = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0644);
	struct {
		uint32_t magic, version, size, machine, pad, pid;
		uint64_t time, flags;
	} h = {0x4A695444, 1, 40, 62, 0, getpid(), dumped(), setting("JIT_FLAGS", 0)};
	if (write(dump, &h, sizeof h) != sizeof h) return 1;
	mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0);
	code = mmap(0, 1 << 20, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	function *before = load("before", 0), *own = before;
	if (argc > 3) own = fork() ? load("after", 4096) : load("child", 4096);
	printf("%d\n", getpid());
	fflush(stdout);
	for (uint64_t end = now() + seconds * 1000000000ull; now() < end;) {
		before(100000);
		own(100000);
	}
}
