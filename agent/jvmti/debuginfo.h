// From the places that a compiler noted to a DEBUG_INFO2 record.
#ifndef JITINJECT_DEBUGINFO_H
#define JITINJECT_DEBUGINFO_H

#include "buffer.h"
#include "table.h"

#include <stdbool.h>
#include <stdint.h>

struct method;

// A frame is a method and the byte code it is at, or -1 for its entry.
struct frame {
	struct method *method;
	int32_t bci;
};

// A place says which frames the code in front of end stands for, back to the
// previous place's end: frames[first] is the innermost, count of them in all, and
// the last is the compiled method itself. No frames: nothing is known of the code.
struct place {
	uint32_t end;
	uint32_t first, count;
};

// A debuginfo builds records, one at a time. Its memory is used again.
struct debuginfo {
	struct buffer frames; // struct frame
	struct buffer places; // struct place
	struct buffer record; // the result
	// The rest is debuginfo.c's own.
	struct table calls_by_key;
	struct buffer calls, ranges, functions, files, lines, inline_calls, used_ranges;
};

void debuginfo_begin(struct debuginfo *d);
void debuginfo_frame(struct debuginfo *d, struct method *method, int32_t bci);
// debuginfo_place makes a place of the frames added since the last one.
void debuginfo_place(struct debuginfo *d, uint32_t end);

// debuginfo_build puts the record's body into d->record. outer is the compiled
// method and size that of its code. false: out of memory.
bool debuginfo_build(struct debuginfo *d, struct method *outer, uint32_t size);

void debuginfo_free(struct debuginfo *d);

#endif
