// From the places that a compiler noted to lines and inlined calls.
#ifndef JITINJECT_PLACES_H
#define JITINJECT_PLACES_H

#include "../../producer/jitdump.h"

#include <stdbool.h>
#include <stdint.h>

struct method;

// A frame is a method and its byte code index, or -1 for its entry.
struct frame {
	struct method *method;
	int32_t bci;
};

// A place has the frames that the code before end comes from, back to the previous place's end:
// frames[first] is the innermost of count, and the last is the compiled method itself. Without
// frames, the code's source is unknown.
struct place {
	uint32_t end;
	uint32_t first, count;
};

// Places are those of one function at a time. Their memory is used again.
struct places {
	struct jitdump_bytes frames; // struct frame
	struct jitdump_bytes places; // struct place
	struct jitdump_debug *debug; // the result, NULL before the first one
};

void places_begin(struct places *p);
void places_frame(struct places *p, struct method *method, int32_t bci);
// places_end makes a place of the frames added since the last one.
void places_end(struct places *p, uint32_t end);

// places_describe returns the record of a function with code of size bytes; outer is its method. The
// record holds until the next call. It returns NULL without memory.
struct jitdump_debug *places_describe(struct places *p, struct method *outer, uint32_t size);

#endif
