#include "buffer.h"

#include <stdlib.h>
#include <string.h>

void buffer_reset(struct buffer *b)
{
	b->len = 0;
	b->failed = false;
}

void buffer_free(struct buffer *b)
{
	free(b->bytes);
	memset(b, 0, sizeof *b);
}

void *buffer_grow(struct buffer *b, size_t n)
{
	if (b->failed)
		return NULL;
	if (n > b->cap - b->len) {
		size_t cap = b->cap ? b->cap : 256;
		while (cap - b->len < n && cap <= SIZE_MAX / 2)
			cap *= 2;
		char *bytes = cap - b->len < n ? NULL : realloc(b->bytes, cap);
		if (!bytes) {
			b->failed = true;
			b->len = 0;
			return NULL;
		}
		b->bytes = bytes;
		b->cap = cap;
	}
	void *at = b->bytes + b->len;
	b->len += n;
	return at;
}

void buffer_add(struct buffer *b, const void *bytes, size_t n)
{
	void *at = buffer_grow(b, n);
	if (at && n)
		memcpy(at, bytes, n);
}

void buffer_u32(struct buffer *b, uint32_t v)
{
	buffer_add(b, &v, sizeof v);
}

void buffer_u64(struct buffer *b, uint64_t v)
{
	buffer_add(b, &v, sizeof v);
}

void buffer_string(struct buffer *b, const char *s)
{
	buffer_add(b, s, strlen(s) + 1);
}

void buffer_pad(struct buffer *b, size_t from, size_t align)
{
	static const char zeros[16];
	if (!b->failed)
		buffer_add(b, zeros, -(b->len - from) & (align - 1));
}
