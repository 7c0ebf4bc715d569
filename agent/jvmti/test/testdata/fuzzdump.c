// jitdump.h without a file: functions go to fuzzagent.c, with the bodies of their records. It replaces
// dump.c. Memory between the length of bytes and their capacity is forbidden for the agent:
// AddressSanitizer ends a program that reads or writes there.
#define _GNU_SOURCE
#include "fuzzdump.h"

#include <sanitizer/asan_interface.h>

#define jitdump_open real_open
#define jitdump_close real_close
#define jitdump_code_load real_code_load
#define jitdump_bytes_reset plain_reset
#define jitdump_bytes_free plain_free
#define jitdump_bytes_grow plain_grow
#define jitdump_bytes_add plain_add
#define jitdump_bytes_u32 plain_u32
#define jitdump_bytes_u64 plain_u64
#define jitdump_bytes_pad plain_pad
#define JITDUMP_IMPLEMENTATION
#include "../../../../producer/jitdump.h"
#undef jitdump_open
#undef jitdump_close
#undef jitdump_code_load
#undef jitdump_bytes_reset
#undef jitdump_bytes_free
#undef jitdump_bytes_grow
#undef jitdump_bytes_add
#undef jitdump_bytes_u32
#undef jitdump_bytes_u64
#undef jitdump_bytes_pad

int jitdump_open(const struct jitdump_options *options);
void jitdump_close(void);
uint64_t jitdump_code_load(const struct jitdump_code *code);
void jitdump_bytes_reset(struct jitdump_bytes *b);
void jitdump_bytes_free(struct jitdump_bytes *b);
void *jitdump_bytes_grow(struct jitdump_bytes *b, size_t n);
void jitdump_bytes_add(struct jitdump_bytes *b, const void *bytes, size_t n);
void jitdump_bytes_u32(struct jitdump_bytes *b, uint32_t v);
void jitdump_bytes_u64(struct jitdump_bytes *b, uint64_t v);
void jitdump_bytes_pad(struct jitdump_bytes *b, size_t from, size_t align);

int jitdump_open(const struct jitdump_options *options)
{
	jitdump_fd = 1;
	return options->directory[0] == 0;
}

void jitdump_close(void)
{
}

uint64_t jitdump_code_load(const struct jitdump_code *code)
{
	if (code->debug && jitdump__build(code->debug, (uint32_t)code->size))
		fuzz_written(code->name, JITDUMP__DEBUG_INFO2, code->debug->record.at, code->debug->record.len);
	else
		fuzz_written(code->name, code->extra_size ? code->extra_id : 0, code->extra, code->extra_size);
	return 0;
}

static void allow(struct jitdump_bytes *b)
{
	if (b->at)
		ASAN_UNPOISON_MEMORY_REGION(b->at, b->cap);
}

static void forbid(struct jitdump_bytes *b)
{
	if (b->at)
		ASAN_POISON_MEMORY_REGION(b->at + b->len, b->cap - b->len);
}

void jitdump_bytes_reset(struct jitdump_bytes *b)
{
	plain_reset(b);
	forbid(b);
}

void jitdump_bytes_free(struct jitdump_bytes *b)
{
	allow(b);
	plain_free(b);
}

void *jitdump_bytes_grow(struct jitdump_bytes *b, size_t n)
{
	allow(b);
	void *at = plain_grow(b, n);
	forbid(b);
	return at;
}

void jitdump_bytes_add(struct jitdump_bytes *b, const void *bytes, size_t n)
{
	allow(b);
	plain_add(b, bytes, n);
	forbid(b);
}

void jitdump_bytes_u32(struct jitdump_bytes *b, uint32_t v)
{
	allow(b);
	plain_u32(b, v);
	forbid(b);
}

void jitdump_bytes_u64(struct jitdump_bytes *b, uint64_t v)
{
	allow(b);
	plain_u64(b, v);
	forbid(b);
}

void jitdump_bytes_pad(struct jitdump_bytes *b, size_t from, size_t align)
{
	allow(b);
	plain_pad(b, from, align);
	forbid(b);
}
