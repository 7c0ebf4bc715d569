// Faults for the sanitizers to find, one each time the agent writes a function. The linker lets
// calls of jitdump_code_load come here first: -Wl,--wrap=jitdump_code_load. PLANTED in the
// environment says which fault it is.
#include "../../../../producer/jitdump.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

uint64_t __real_jitdump_code_load(const struct jitdump_code *code);
uint64_t __wrap_jitdump_code_load(const struct jitdump_code *code);

static volatile int number = INT_MAX;
static volatile unsigned long calls;

static void *count(void *unused)
{
	calls++;
	return unused;
}

// race has another thread write what this one writes, without a lock: whenever they do, and
// however few threads of the VM write functions.
static void race(void)
{
	pthread_t other;
	if (pthread_create(&other, NULL, count, NULL))
		abort();
	count(NULL);
	pthread_join(other, NULL);
}

static void planted_fault(const char *fault)
{
	volatile char *memory = malloc(77);
	memory[0] = 1;
	if (!strcmp(fault, "leak"))
		return;
	free((void *)memory);
	if (!strcmp(fault, "freed"))
		memory[5] = 1;
	else if (!strcmp(fault, "overflow"))
		number++;
	else if (!strcmp(fault, "race"))
		race();
}

uint64_t __wrap_jitdump_code_load(const struct jitdump_code *code)
{
	const char *fault = getenv("PLANTED");
	if (fault)
		planted_fault(fault);
	return __real_jitdump_code_load(code);
}
