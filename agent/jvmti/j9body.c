#include "j9body.h"

#include "memory.h"

#include <stddef.h>
#include <string.h>

// A header is struct J9JITExceptionTable of OpenJ9's runtime/oti/j9nonbuilder.h,
// up to the fields that all its versions have. UDATA there is uintptr_t here, so
// that it fits both pointer sizes.
struct header {
	uintptr_t class_name, method_name, method_signature, constant_pool, ram_method;
	uintptr_t start_pc, end_warm_pc, start_cold_pc, end_pc, total_frame_size;
	int16_t slots, scalar_temp_slots, object_temp_slots;
	uint16_t prologue_pushes;
	int16_t temp_offset;
	uint16_t num_exception_ranges;
	int32_t size;
	uintptr_t flags, register_save_description, gc_stack_atlas, inlined_calls;
	uintptr_t body_info, next_method, prev_method, debug_slot1, debug_slot2, osr_info, runtime_assumption_list;
	int32_t hotness;
	uintptr_t code_cache_alloc, gpu_code, ri_data;
};

_Static_assert(sizeof(struct header) == (sizeof(void *) == 8 ? 216 : 116), "OpenJ9 up to 0.50");
_Static_assert(offsetof(struct header, size) == (sizeof(void *) == 8 ? 92 : 52), "J9JITExceptionTable.size");
_Static_assert(offsetof(struct header, ri_data) == (sizeof(void *) == 8 ? 208 : 112), "J9JITExceptionTable.riData");

enum {
	// Flags of runtime/oti/j9consts.h.
	STUB = 4,         // no body, only what a stack walk needs
	INCOMPLETE = 8,   // being filled in
	EXCEPTIONS_WIDE = 0x8000,
	EXCEPTIONS_HAVE_BYTECODES = 0x4000,
	// Since 0.51 and 0.53 the struct has one and two pointers more.
	MORE_FIELDS = 2,
	SITE = 2 * sizeof(void *), // TR_InlinedCallSite, padded
};

static struct header header_of(const struct j9body *b)
{
	struct header h;
	memcpy(&h, b->bytes.at, sizeof h);
	return h;
}

// describes tells whether h is metadata of the code.
static bool describes(const struct header *h, uintptr_t code, uint32_t size)
{
	if (h->size < (int32_t)sizeof *h || h->size > METADATA_MAX || h->flags & (STUB | INCOMPLETE))
		return false;
	// The JIT marks metadata of unloaded classes by having no constant pool.
	if (!h->constant_pool || h->start_pc > h->end_warm_pc)
		return false;
	if (h->start_pc == code)
		return h->end_warm_pc - code == size;
	return h->start_cold_pc && h->start_cold_pc == code && h->end_pc > code && h->end_pc - code == size;
}

static size_t exception_size(const struct header *h)
{
	size_t size = h->num_exception_ranges & EXCEPTIONS_WIDE ? 4 * 4 + sizeof(void *) : 4 * 2;
	return h->num_exception_ranges & EXCEPTIONS_HAVE_BYTECODES ? size + 4 : size;
}

static size_t exception_count(const struct header *h)
{
	return h->num_exception_ranges & ~(EXCEPTIONS_WIDE | EXCEPTIONS_HAVE_BYTECODES);
}

// header_size finds the struct's size: behind it are the exception ranges, and
// behind these the inlined sites or, without any, the stack atlas.
static uint16_t header_size(const struct j9body *b, const struct header *h)
{
	uintptr_t next = h->inlined_calls ? h->inlined_calls : h->gc_stack_atlas;
	uintptr_t ranges = exception_count(h) * exception_size(h);
	if (next < b->base || next - b->base > b->bytes.len || next - b->base < ranges)
		return 0;
	size_t size = next - b->base - ranges;
	for (size_t more = 0; more <= MORE_FIELDS; more++)
		if (size == sizeof *h + more * sizeof(void *))
			return size;
	return 0;
}

bool j9body_copy(struct j9body *b, const void *compile_info, const void *code, uint32_t size)
{
	struct header h, after;
	b->base = (uintptr_t)compile_info;
	if (!compile_info || !size || !memory_copy(&h, b->base, sizeof h) || !describes(&h, (uintptr_t)code, size))
		return false;
	jitdump_bytes_reset(&b->bytes);
	void *bytes = jitdump_bytes_grow(&b->bytes, h.size);
	if (!bytes || !memory_copy(bytes, b->base, h.size))
		return false;
	// The copy is of one piece if what it began with is there before and after.
	// Links to neighbours change while the body stays what it is.
	struct header copied = header_of(b);
	if (!memory_copy(&after, b->base, sizeof after))
		return false;
	h.next_method = h.prev_method = h.runtime_assumption_list = 0;
	copied.next_method = copied.prev_method = copied.runtime_assumption_list = 0;
	after.next_method = after.prev_method = after.runtime_assumption_list = 0;
	if (memcmp(&h, &copied, offsetof(struct header, hotness)) || memcmp(&h, &after, offsetof(struct header, hotness)))
		return false;
	b->header_size = header_size(b, &h);
	b->method = h.ram_method;
	b->class_name = h.class_name;
	b->method_name = h.method_name;
	b->signature = h.method_signature;
	return true;
}

// add appends a J9Method*. All ones, on some machines an odd number, are what
// the VM puts there when the class is unloaded; small numbers are indexes that
// code of other VMs (AOT, JITServer) has in place of pointers.
static void add(struct jitdump_bytes *methods, uintptr_t method)
{
	if (method >= 0x10000 && method % sizeof(void *) == 0)
		jitdump_bytes_add(methods, &method, sizeof method);
}

static uintptr_t word_at(const struct j9body *b, size_t offset)
{
	uintptr_t word;
	memcpy(&word, b->bytes.at + offset, sizeof word);
	return word;
}

static void add_sites(const struct j9body *b, const struct header *h, struct jitdump_bytes *methods)
{
	// The stack atlas begins with two pointers and numberOfMaps; then comes
	// numberOfMapBytes, the size of the mask of monitors behind each site.
	uintptr_t atlas = h->gc_stack_atlas - b->base, from = h->inlined_calls - b->base;
	size_t at = 2 * sizeof(void *) + 2;
	uint16_t mask;
	if (!h->inlined_calls || from > atlas || atlas > b->bytes.len || b->bytes.len - atlas < at + sizeof mask)
		return;
	memcpy(&mask, b->bytes.at + atlas + at, sizeof mask);
	for (; atlas - from >= SITE; from += SITE + mask) {
		add(methods, word_at(b, from));
		if (atlas - from < (size_t)SITE + mask)
			break;
	}
}

static void add_handlers(const struct j9body *b, const struct header *h, struct jitdump_bytes *methods)
{
	if (!(h->num_exception_ranges & EXCEPTIONS_WIDE) || !b->header_size)
		return;
	size_t size = exception_size(h), at = b->header_size + 4 * 4;
	for (size_t i = 0; i < exception_count(h); i++, at += size)
		if (at + sizeof(uintptr_t) <= b->bytes.len)
			add(methods, word_at(b, at));
}

void j9body_methods(const struct j9body *b, struct jitdump_bytes *methods)
{
	struct header h = header_of(b);
	add(methods, h.ram_method);
	add_sites(b, &h, methods);
	add_handlers(b, &h, methods);
}

// is_utf8 tells modified UTF-8 from other bytes: no NUL, sequences of up to three.
static bool is_utf8(const unsigned char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t more = s[i] < 0x80 ? 0 : (s[i] & 0xe0) == 0xc0 ? 1 : (s[i] & 0xf0) == 0xe0 ? 2 : 3;
		if (!s[i] || more == 3 || more >= n - i)
			return false;
		for (i++; more > 0; more--, i++)
			if ((s[i] & 0xc0) != 0x80)
				return false;
	}
	return n > 0;
}

bool j9body_name(struct jitdump_bytes *text, uintptr_t utf8)
{
	// A J9UTF8 is a length and that many bytes.
	uint16_t n;
	if (!utf8 || !memory_copy(&n, utf8, sizeof n))
		return false;
	char *bytes = jitdump_bytes_grow(text, n + 1u);
	if (!bytes || !memory_copy(bytes, utf8 + sizeof n, n) || !is_utf8((unsigned char *)bytes, n))
		return false;
	bytes[n] = 0;
	return true;
}

void j9body_free(struct j9body *b)
{
	jitdump_bytes_free(&b->bytes);
}
