#include "j9record.h"

#include "j9body.h"
#include "methods.h"

#include <string.h>

enum {
	MAGIC = 0x4a394d44, // "J9MD"
	VERSION = 1,
	// Readers believe no more.
	METHODS_LIMIT = 1 << 16,
	STRING_MAX = (1 << 16) - 1, // bytes, as in class files
	RECORD_MAX = 256 << 20,
};

struct head {
	uint32_t magic, version;
	uint64_t code_addr, base;
	uint32_t metadata_size;
	uint16_t pointer_size, header_size;
	uint32_t method_count, line_count, strings_size, reserved;
};

_Static_assert(sizeof(struct head) == 48, "no holes");

void j9record_begin(struct j9record *r)
{
	struct jitdump_bytes *all[] = {&r->record, &r->methods, &r->lines, &r->strings};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		jitdump_bytes_reset(all[i]);
	table_clear(&r->by_method);
	table_clear(&r->by_string);
	r->method_count = 0;
	jitdump_bytes_add(&r->strings, "", sizeof "");
}

// string_at returns the offset of a string, which is there once.
static uint32_t string_at(struct j9record *r, const char *s)
{
	if (!*s || r->strings.failed)
		return 0;
	uint64_t key = hash_bytes(HASH_SEED, s, strlen(s));
	uint32_t at;
	// Values are offsets, and never 0: that is the empty string's.
	for (size_t pos = 0; (at = (uintptr_t)table_next(&r->by_string, key, &pos));)
		if (!strcmp(r->strings.at + at, s))
			return at;
	at = r->strings.len;
	jitdump_bytes_add(&r->strings, s, strlen(s) + 1);
	table_add(&r->by_string, key, (void *)(uintptr_t)at); // or it is there twice
	return r->strings.failed ? 0 : at;
}

// add_lines appends a method's table and returns its length. What is no line of
// a byte code goes; of several for one byte code, the last counts.
static uint32_t add_lines(struct j9record *r, const struct method *m)
{
	uint32_t count = 0;
	for (size_t i = 0; i < m->line_count; i++) {
		const struct line *l = &m->lines[i];
		if (l->bci < 0 || l->bci > UINT32_MAX || (i + 1 < m->line_count && m->lines[i + 1].bci == l->bci))
			continue;
		jitdump_bytes_u32(&r->lines, l->bci);
		jitdump_bytes_u32(&r->lines, l->line);
		count++;
	}
	return count;
}

bool j9record_has(const struct j9record *r, uintptr_t j9method)
{
	size_t pos = 0;
	return table_next(&r->by_method, j9method, &pos);
}

void j9record_method(struct j9record *r, uintptr_t j9method, const struct method *m)
{
	if (!m->parts || r->method_count >= METHODS_LIMIT || j9record_has(r, j9method))
		return;
	const char *klass = m->parts, *name = klass + strlen(klass) + 1, *descriptor = name + strlen(name) + 1;
	if (strlen(klass) > STRING_MAX || strlen(name) > STRING_MAX || strlen(descriptor) > STRING_MAX ||
	    strlen(m->file->path) > STRING_MAX || !table_add(&r->by_method, j9method, r))
		return;
	jitdump_bytes_u64(&r->methods, j9method);
	jitdump_bytes_u32(&r->methods, string_at(r, klass));
	jitdump_bytes_u32(&r->methods, string_at(r, name));
	jitdump_bytes_u32(&r->methods, string_at(r, descriptor));
	jitdump_bytes_u32(&r->methods, string_at(r, m->file->path));
	jitdump_bytes_u32(&r->methods, m->flags);
	jitdump_bytes_u32(&r->methods, add_lines(r, m));
	r->method_count++;
}

bool j9record_end(struct j9record *r, const struct j9body *b, const void *code)
{
	jitdump_bytes_pad(&r->strings, 0, 4);
	if (r->methods.failed || r->lines.failed || r->strings.failed ||
	    (uint64_t)r->methods.len + r->lines.len + r->strings.len + b->bytes.len > RECORD_MAX)
		return false;
	struct head head = {
		.magic = MAGIC,
		.version = VERSION,
		.code_addr = (uintptr_t)code,
		.base = b->base,
		.metadata_size = b->bytes.len,
		.pointer_size = sizeof(void *),
		.header_size = b->header_size,
		.method_count = r->method_count,
		.line_count = r->lines.len / (2 * sizeof(uint32_t)),
		.strings_size = r->strings.len,
	};
	jitdump_bytes_add(&r->record, &head, sizeof head);
	jitdump_bytes_add(&r->record, r->methods.at, r->methods.len);
	jitdump_bytes_add(&r->record, r->lines.at, r->lines.len);
	jitdump_bytes_add(&r->record, b->bytes.at, b->bytes.len);
	jitdump_bytes_pad(&r->record, 0, 8);
	jitdump_bytes_add(&r->record, r->strings.at, r->strings.len);
	jitdump_bytes_pad(&r->record, 0, 8);
	return !r->record.failed;
}

void j9record_free(struct j9record *r)
{
	struct jitdump_bytes *all[] = {&r->record, &r->methods, &r->lines, &r->strings};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		jitdump_bytes_free(all[i]);
	table_free(&r->by_method);
	table_free(&r->by_string);
}
