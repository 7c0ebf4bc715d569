// A JIT compiler in 60 lines: it makes sum, with cube inlined into it, and runs it for two seconds.
//
//	cc -I.. -pthread -o cube cube.c
//	perf record -k mono --call-graph dwarf ./cube && jitinject && perf report -i perf.jit.data
#define _GNU_SOURCE
#define JITDUMP_IMPLEMENTATION
#include "jitdump.h"

// The program that it compiles, cube.toy:
//
//	1  cube(x) = x * x * x
//	2
//	3  sum(n) =
//	4    s = 0
//	5    repeat n: s = s + cube(n)
//	6    s
static uint8_t *memory;
static uint32_t used;

static void emit(const char *bytes, uint32_t n)
{
	memcpy(memory + used, bytes, n);
	used += n;
}

static void report(void *context, const char *message)
{
	(void)context;
	fprintf(stderr, "cube: %s\n", message);
}

int main(void)
{
	struct jitdump_options options = {.report = report};
	jitdump_open(&options);
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	struct jitdump_debug *d = jitdump_debug_new();
	uint32_t file = jitdump_debug_file(d, "cube.toy");
	jitdump_debug_function(d, "sum", file, 3, 0, JITDUMP_USER);
	uint32_t cube = jitdump_debug_function(d, "cube", file, 1, 0, JITDUMP_USER);
	jitdump_debug_line(d, used, file, 4, 2);
	emit("\x55\x48\x89\xe5\x31\xc0", 6); // push rbp; mov rbp, rsp; xor eax, eax
	uint32_t loop = used;
	jitdump_debug_push(d, used, cube, 5, 18, 1);
	jitdump_debug_line(d, used, file, 1, 10);
	emit("\x48\x89\xfa\x48\x0f\xaf\xd7\x48\x0f\xaf\xd7", 11); // mov rdx, rdi; imul rdx, rdi; imul rdx, rdi
	jitdump_debug_pop(d, used);
	jitdump_debug_line(d, used, file, 5, 16);
	emit("\x48\x01\xd0\x48\xff\xcf\x75", 7); // add rax, rdx; dec rdi; jnz
	memory[used] = (uint8_t)(loop - used - 1);
	used++;
	jitdump_debug_line(d, used, file, 6, 2);
	emit("\x5d\xc3", 2); // pop rbp; ret
	mprotect(memory, 4096, PROT_READ | PROT_EXEC);

	struct jitdump_code code = {.name = "sum", .address = memory, .size = used, .debug = d};
	jitdump_code_load(&code);
	jitdump_debug_free(d);

	long (*sum)(long), result = 0;
	memcpy(&sum, &memory, sizeof sum);
	for (time_t end = time(NULL) + 2; time(NULL) < end;)
		result += sum(1000000);
	printf("%ld\n", result);
	jitdump_close();
	return 0;
}
