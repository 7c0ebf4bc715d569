// JITINJECT_OPENJ9_METADATA, the record that carries OpenJ9's metadata: its bytes
// are in docs/formats/jitdump-extensions.md.
#ifndef JITINJECT_J9RECORD_H
#define JITINJECT_J9RECORD_H

#include "../../producer/jitdump.h"
#include "table.h"

#include <stdbool.h>
#include <stdint.h>

enum { JITINJECT_OPENJ9_METADATA = 827346262 }; // the record's id

struct j9body;
struct method;

// A j9record builds records, one at a time. Its memory is used again.
struct j9record {
	struct jitdump_bytes record; // the result
	// The rest is j9record.c's own.
	struct jitdump_bytes methods, lines, strings;
	struct table by_method, by_string;
	uint32_t method_count;
};

void j9record_begin(struct j9record *r);

// j9record_has tells whether the record has the method, a J9Method*, already.
bool j9record_has(const struct j9record *r, uintptr_t j9method);

// j9record_method adds what the VM knows of a method that the metadata names.
// One of which it knows nothing is left out.
void j9record_method(struct j9record *r, uintptr_t j9method, const struct method *m);

// j9record_end puts the body into r->record. false: out of memory, or too large.
bool j9record_end(struct j9record *r, const struct j9body *b, const void *code);

void j9record_free(struct j9record *r);

#endif
