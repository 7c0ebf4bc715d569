// Writes the dump that docs/producers.md shows: a function with one line.
#define _GNU_SOURCE
#define JITDUMP_IMPLEMENTATION
#include "jitdump.h"

int main(void)
{
	struct jitdump_options options = {0};
	if (jitdump_open(&options))
		return 1;
	struct jitdump_debug *d = jitdump_debug_new();
	uint32_t file = jitdump_debug_file(d, "answer.toy");
	jitdump_debug_function(d, "answer", file, 1, 0, JITDUMP_USER);
	jitdump_debug_line(d, 0, file, 2, 4);
	struct jitdump_code code = {.name = "answer", .address = (void *)0x7f0000001000, .bytes = "\xb8\x2a\0\0\0\xc3", .size = 6, .debug = d};
	jitdump_code_load(&code);
	jitdump_debug_free(d);
	jitdump_close();
	return 0;
}
