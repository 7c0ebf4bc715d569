// The jitdump file.
#ifndef JITINJECT_DUMP_H
#define JITINJECT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

enum {
	JIT_CODE_LOAD = 0,
	JIT_CODE_CLOSE = 3,
	JIT_CODE_DEBUG_INFO2 = 827346259,
	JITINJECT_OPENJ9_METADATA = 827346262,
};

// dump_open creates jit-PID.dump in dir and maps it, which is how perf learns of
// it. When that is not possible it says why, and returns false.
bool dump_open(const char *dir);

// dump_is_open is false before dump_open, after dump_close and after an error
// of writing.
bool dump_is_open(void);

// dump_function writes a function, and in front of it, if body is not empty, the
// record with this id and body that describes it. Any thread may call it.
void dump_function(const char *name, const void *code, size_t size, uint32_t id, const struct buffer *body);

// dump_close writes the last record. Later calls of dump_function do nothing.
void dump_close(void);

#endif
