// A growing array of bytes, or of anything of one size.
#ifndef JITINJECT_BUFFER_H
#define JITINJECT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A buffer keeps its memory when it is reset. When memory runs out it becomes
// failed, and stays empty until reset: writers look at the end, not at each step.
struct buffer {
	char *bytes;
	size_t len, cap;
	bool failed;
};

void buffer_reset(struct buffer *b);
void buffer_free(struct buffer *b);

// buffer_grow appends n bytes for the caller to fill, NULL when failed. The
// pointer is good until the next call.
void *buffer_grow(struct buffer *b, size_t n);
void buffer_add(struct buffer *b, const void *bytes, size_t n);
void buffer_u32(struct buffer *b, uint32_t v);
void buffer_u64(struct buffer *b, uint64_t v);
// buffer_string appends the string and its NUL.
void buffer_string(struct buffer *b, const char *s);
// buffer_pad appends zero bytes up to a multiple of align, counted from offset from.
void buffer_pad(struct buffer *b, size_t from, size_t align);

#endif
