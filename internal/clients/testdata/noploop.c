// A JIT compiler for perf's own tests: it compiles a function noploop, which calls spin, and is busy
// in both for a second, or for as many as its argument says. It does not ask for the time meanwhile:
// perf inject --aslr makes other names of the vDSO's functions.
#define _GNU_SOURCE
#define JITDUMP_IMPLEMENTATION
#include <jitdump.h>
#include <signal.h>
#include <stdlib.h>

static char *memory;
static volatile sig_atomic_t stopped;

static void stop(int signal) { stopped = signal; }

// compile writes a function of the code at an offset in the memory.
static void *compile(const char *name, size_t at, const char *bytes, size_t size)
{
	struct jitdump_debug *d = jitdump_debug_new();
	uint32_t file = jitdump_debug_file(d, "noploop.toy");
	jitdump_debug_function(d, name, file, 1, 0, JITDUMP_USER);
	jitdump_debug_line(d, 0, file, 2, 0);
	memcpy(memory + at, bytes, size);
	struct jitdump_code code = {.name = name, .address = memory + at, .size = size, .debug = d};
	jitdump_code_load(&code);
	jitdump_debug_free(d);
	return memory + at;
}

int main(int argc, char **argv)
{
	// push rbp; mov rbp, rsp; call spin; mov ecx, edi; 1: dec ecx; jnz 1b; pop rbp; ret
	static const char noploop[] = "\x55\x48\x89\xe5\xe8\x37\0\0\0\x89\xf9\xff\xc9\x75\xfc\x5d\xc3";
	// push rbp; mov rbp, rsp; mov ecx, edi; 1: dec ecx; jnz 1b; pop rbp; ret
	static const char spin[] = "\x55\x48\x89\xe5\x89\xf9\xff\xc9\x75\xfc\x5d\xc3";
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct jitdump_options options = {0};
	if (memory == MAP_FAILED || jitdump_open(&options))
		return 1;
	void (*loop)(int) = compile("noploop", 0, noploop, sizeof noploop - 1);
	compile("spin", 64, spin, sizeof spin - 1);
	signal(SIGALRM, stop);
	alarm(argc > 1 ? atoi(argv[1]) : 1);
	while (!stopped)
		loop(1000000);
	jitdump_close();
	return 0;
}
