#include "places.h"

#include "methods.h"

#include <stdlib.h>

#define AT(bytes, type, i) (&((type *)(void *)(bytes).at)[i])
#define COUNT(bytes, type) ((uint32_t)((bytes).len / sizeof(type)))

enum { MAX_CALLS = 256 }; // inlined into each other, in a record

// An open call is a method that was inlined at a byte code of the method around it.
struct open_call {
	const struct method *method;
	int32_t bci;
};

// A description is a function's while its places are added in the order of their code.
struct description {
	struct jitdump_debug *debug;
	struct method *outer;
	const struct file *file; // of the last line
	uint32_t file_number;
	struct open_call open[MAX_CALLS]; // outermost first
	uint32_t depth;
};

void places_begin(struct places *p)
{
	jitdump_bytes_reset(&p->frames);
	jitdump_bytes_reset(&p->places);
}

void places_frame(struct places *p, struct method *method, int32_t bci)
{
	struct frame *f = jitdump_bytes_grow(&p->frames, sizeof *f);
	if (f)
		*f = (struct frame){method, bci};
}

void places_end(struct places *p, uint32_t end)
{
	uint32_t before = 0, count = COUNT(p->places, struct place);
	if (count) {
		struct place *last = AT(p->places, struct place, count - 1);
		before = last->first + last->count;
	}
	struct place *place = jitdump_bytes_grow(&p->places, sizeof *place);
	if (place)
		*place = (struct place){end, before, COUNT(p->frames, struct frame) - before};
}

static uint32_t line_of(const struct method *method, int32_t bci)
{
	return line_at(method->lines, method->line_count, bci);
}

static uint32_t file_number(struct description *d, const struct file *file)
{
	if (d->file != file) {
		d->file = file;
		d->file_number = jitdump_debug_file(d->debug, file->path);
	}
	return d->file_number;
}

static void add_line(struct description *d, uint32_t offset, const struct file *file, uint32_t line)
{
	jitdump_debug_line(d->debug, offset, file_number(d, file), line, JITDUMP_NO_COLUMN);
}

static uint32_t add_function(struct description *d, const struct method *m)
{
	return jitdump_debug_function(d->debug, m->name, file_number(d, m->file), line_of(m, -1), JITDUMP_NO_COLUMN, m->flags);
}

// close_calls ends all calls from one on.
static void close_calls(struct description *d, uint32_t depth, uint32_t offset)
{
	for (; d->depth > depth; d->depth--)
		jitdump_debug_pop(d->debug, offset);
}

// add_place describes the code of a place, from start on. Calls that the place before had as well go
// on.
static void add_place(struct description *d, const struct frame *frames, uint32_t count, uint32_t start)
{
	if (count == 0) {
		close_calls(d, 0, start);
		add_line(d, start, d->outer->file, 0);
		return;
	}
	// Outermost first. That frame is the compiled method; another counts as inlined at the method's
	// entry.
	struct frame here = frames[count - 1];
	const struct method *caller = d->outer;
	uint32_t left = here.method == caller ? count - 1 : count, depth = 0;
	int32_t bci = here.method == caller ? here.bci : -1;
	for (; left > 0 && depth < MAX_CALLS; depth++) {
		here = frames[--left];
		if (depth < d->depth && (d->open[depth].method != here.method || d->open[depth].bci != bci))
			close_calls(d, depth, start);
		if (depth == d->depth) {
			jitdump_debug_push(d->debug, start, add_function(d, here.method), line_of(caller, bci), JITDUMP_NO_COLUMN, (uint32_t)bci);
			d->open[d->depth++] = (struct open_call){here.method, bci};
		}
		caller = here.method;
		bci = here.bci;
	}
	close_calls(d, depth, start);
	add_line(d, start, here.method->file, line_of(here.method, here.bci));
}

// by_end orders places by their ends, those with one end as they were added.
static int by_end(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->count > y->count) - (x->count < y->count);
}

struct jitdump_debug *places_describe(struct places *p, struct method *outer, uint32_t size)
{
	if (!p->debug)
		p->debug = jitdump_debug_new();
	if (!p->debug || p->frames.failed || p->places.failed)
		return NULL;
	struct description d = {.debug = p->debug, .outer = outer};
	jitdump_debug_begin(p->debug);
	add_function(&d, outer);
	uint32_t count = COUNT(p->places, struct place);
	struct place *places = count ? AT(p->places, struct place, 0) : NULL; // no pointer is computed from NULL
	for (uint32_t i = 1; i < count; i++) {
		if (places[i - 1].end > places[i].end) { // which HotSpot does not do
			qsort(places, count, sizeof *places, by_end);
			break;
		}
	}
	uint32_t start = 0, line = 0;
	for (uint32_t i = 0; i < count && start < size; i++) {
		uint32_t end = places[i].end < size ? places[i].end : size;
		if (end <= start)
			continue;
		const struct frame *frames = places[i].count ? AT(p->frames, struct frame, places[i].first) : NULL;
		add_place(&d, frames, places[i].count, start);
		start = end;
		line = 0;
		if (frames) {
			const struct frame *last = &frames[places[i].count - 1];
			line = line_of(outer, last->method == outer ? last->bci : -1);
		}
	}
	// After the last place are the way out of the method, for which C2 notes no place, and handlers
	// of exceptions and deoptimization. None of it is inlined code. Its line is the last one of the
	// method itself.
	if (start < size) {
		close_calls(&d, 0, start);
		add_line(&d, start, outer->file, line);
	}
	return p->debug;
}
