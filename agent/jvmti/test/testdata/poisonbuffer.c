// buffer.c, with the memory between a buffer's length and its capacity forbidden: AddressSanitizer
// ends a program that reads or writes there. It replaces buffer.c.
#include <sanitizer/asan_interface.h>

#define buffer_reset plain_reset
#define buffer_free plain_free
#define buffer_grow plain_grow
#define buffer_add plain_add
#define buffer_u32 plain_u32
#define buffer_u64 plain_u64
#define buffer_string plain_string
#define buffer_pad plain_pad
#include "buffer.c"
#undef buffer_reset
#undef buffer_free
#undef buffer_grow
#undef buffer_add
#undef buffer_u32
#undef buffer_u64
#undef buffer_string
#undef buffer_pad

void buffer_reset(struct buffer *b);
void buffer_free(struct buffer *b);
void *buffer_grow(struct buffer *b, size_t n);
void buffer_add(struct buffer *b, const void *bytes, size_t n);
void buffer_u32(struct buffer *b, uint32_t v);
void buffer_u64(struct buffer *b, uint64_t v);
void buffer_string(struct buffer *b, const char *s);
void buffer_pad(struct buffer *b, size_t from, size_t align);

static void allow(struct buffer *b)
{
	if (b->bytes)
		ASAN_UNPOISON_MEMORY_REGION(b->bytes, b->cap);
}

static void forbid(struct buffer *b)
{
	if (b->bytes)
		ASAN_POISON_MEMORY_REGION(b->bytes + b->len, b->cap - b->len);
}

void buffer_reset(struct buffer *b)
{
	plain_reset(b);
	forbid(b);
}

void buffer_free(struct buffer *b)
{
	allow(b);
	plain_free(b);
}

void *buffer_grow(struct buffer *b, size_t n)
{
	allow(b);
	void *at = plain_grow(b, n);
	forbid(b);
	return at;
}

void buffer_add(struct buffer *b, const void *bytes, size_t n)
{
	allow(b);
	plain_add(b, bytes, n);
	forbid(b);
}

void buffer_u32(struct buffer *b, uint32_t v)
{
	allow(b);
	plain_u32(b, v);
	forbid(b);
}

void buffer_u64(struct buffer *b, uint64_t v)
{
	allow(b);
	plain_u64(b, v);
	forbid(b);
}

void buffer_string(struct buffer *b, const char *s)
{
	allow(b);
	plain_string(b, s);
	forbid(b);
}

void buffer_pad(struct buffer *b, size_t from, size_t align)
{
	allow(b);
	plain_pad(b, from, align);
	forbid(b);
}
