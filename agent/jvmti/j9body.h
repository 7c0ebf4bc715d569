// The metadata that OpenJ9's JIT keeps of a compiled body.
#ifndef JITINJECT_J9BODY_H
#define JITINJECT_J9BODY_H

#include "../../producer/jitdump.h"

#include <stdbool.h>
#include <stdint.h>

// A j9body is a copy of one body's metadata: a struct J9JITExceptionTable and
// what follows it, as OpenJ9's J9JITExceptionTable.md describes it.
struct j9body {
	struct jitdump_bytes bytes;
	uintptr_t base;       // where the original lies
	uint16_t header_size; // of the struct; 0: not known
	uintptr_t method;     // J9Method* of the body's own method
	// J9UTF8*: names for when the VM does not know the method any more.
	uintptr_t class_name, method_name, signature;
};

// METADATA_MAX is more than any body has: the JIT's data caches are smaller.
enum { METADATA_MAX = 16 << 20 };

// j9body_copy copies the metadata that compile_info points to, if that is what
// it is: a finished body, with code that begins at code and has size bytes. OpenJ9
// tells of a body's warm and cold part in two events with the same compile_info.
//
// An event comes later than its compilation, and the body may be gone, and its
// memory be something else. Nothing is read but by memory_copy, and metadata that
// changes while it is copied is refused.
bool j9body_copy(struct j9body *b, const void *compile_info, const void *code, uint32_t size);

// j9body_methods appends the J9Method* (uintptr_t) of all methods that the
// metadata names: the body's own, inlined ones, those of exception handlers. Values
// that cannot be pointers to methods are left out, duplicates are not.
void j9body_methods(const struct j9body *b, struct jitdump_bytes *methods);

// j9body_name appends one of the body's three names and a NUL, in the VM's
// modified UTF-8. false: there is no such string there.
bool j9body_name(struct jitdump_bytes *text, uintptr_t utf8);

void j9body_free(struct j9body *b);

#endif
