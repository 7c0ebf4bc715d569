#include "debuginfo.h"

#include "methods.h"

#include <stdlib.h>
#include <string.h>

enum {
	NONE = 0xffffffff, // no node; and a column that is not known
	MAX_DEPTH = 255,   // of the inline calls that a record may hold
};

// A call is a node of the tree of inlined calls, the compiled method being node
// 0. What the compiler inlined twice at one call, as it does when it unrolls or
// peels a loop, is one node with several ranges.
struct call {
	struct method *method;
	uint32_t parent;
	int32_t bci; // of the call, in the parent's method
	uint32_t first_child, last_child, next_sibling;
	uint32_t first_range, last_range, range_count;
};

// A range is a list of one call's ranges, in order.
struct range {
	uint32_t start, end;
	uint32_t next;
};

struct line_record {
	uint32_t offset, file, line, column;
};

struct head {
	uint32_t file_count, file_list_size;
	uint32_t function_names_count, function_names_list_size;
	uint32_t function_count, inline_call_record_count, range_count, line_record_count;
};

#define AT(buffer, type, i) (&((type *)(void *)(buffer).bytes)[i])
#define COUNT(buffer, type) ((uint32_t)((buffer).len / sizeof(type)))

void debuginfo_begin(struct debuginfo *d)
{
	buffer_reset(&d->frames);
	buffer_reset(&d->places);
}

void debuginfo_frame(struct debuginfo *d, struct method *method, int32_t bci)
{
	struct frame *f = buffer_grow(&d->frames, sizeof *f);
	if (f)
		*f = (struct frame){method, bci};
}

void debuginfo_place(struct debuginfo *d, uint32_t end)
{
	uint32_t before = 0, places = COUNT(d->places, struct place);
	if (places) {
		struct place *last = AT(d->places, struct place, places - 1);
		before = last->first + last->count;
	}
	struct place *p = buffer_grow(&d->places, sizeof *p);
	if (p)
		*p = (struct place){end, before, COUNT(d->frames, struct frame) - before};
}

// The index kept in a method or file is that of this record if the list has the
// method or file there, and left over from another record if not.

static uint32_t file_index(struct debuginfo *d, struct file *file)
{
	uint32_t count = COUNT(d->files, struct file *);
	if (file->index < count && *AT(d->files, struct file *, file->index) == file)
		return file->index;
	file->index = count;
	buffer_add(&d->files, &file, sizeof file);
	return count;
}

static uint32_t function_index(struct debuginfo *d, struct method *method)
{
	uint32_t count = COUNT(d->functions, struct method *);
	if (method->index < count && *AT(d->functions, struct method *, method->index) == method)
		return method->index;
	method->index = count;
	buffer_add(&d->functions, &method, sizeof method);
	return count;
}

static uint32_t line_of(const struct method *method, int32_t bci)
{
	return line_at(method->lines, method->line_count, bci);
}

// child returns the node of a call, a new one if need be; NONE: out of memory.
static uint32_t child(struct debuginfo *d, uint32_t parent, int32_t bci, struct method *method)
{
	uint64_t key = hash_bytes(HASH_SEED, &parent, sizeof parent);
	key = hash_bytes(key, &bci, sizeof bci);
	key = hash_bytes(key, &method, sizeof method);
	// Values are numbers of nodes and never 0: 0 is the compiled method.
	for (size_t pos = 0;;) {
		uint32_t n = (uintptr_t)table_next(&d->calls_by_key, key, &pos);
		if (!n)
			break;
		const struct call *c = AT(d->calls, struct call, n);
		if (c->parent == parent && c->bci == bci && c->method == method)
			return n;
	}
	uint32_t n = COUNT(d->calls, struct call);
	struct call *c = buffer_grow(&d->calls, sizeof *c);
	if (!c || !table_add(&d->calls_by_key, key, (void *)(uintptr_t)n))
		return NONE;
	*c = (struct call){method, parent, bci, NONE, NONE, NONE, NONE, NONE, 0};
	struct call *p = AT(d->calls, struct call, parent);
	if (p->last_child == NONE)
		p->first_child = n;
	else
		AT(d->calls, struct call, p->last_child)->next_sibling = n;
	p->last_child = n;
	return n;
}

// cover says that code from start to end is of the call. Places come in order:
// what joins the call's last range makes that longer. So a call's range that
// goes on over several places lies in one range of its caller, which went on, too.
static bool cover(struct debuginfo *d, uint32_t n, uint32_t start, uint32_t end)
{
	struct call *c = AT(d->calls, struct call, n);
	if (c->last_range != NONE) {
		struct range *last = AT(d->ranges, struct range, c->last_range);
		if (last->end == start) {
			last->end = end;
			return true;
		}
	}
	uint32_t i = COUNT(d->ranges, struct range);
	struct range *r = buffer_grow(&d->ranges, sizeof *r);
	if (!r)
		return false;
	*r = (struct range){start, end, NONE};
	if (c->last_range == NONE)
		c->first_range = i;
	else
		AT(d->ranges, struct range, c->last_range)->next = i;
	c->last_range = i;
	c->range_count++;
	return true;
}

static void add_line(struct debuginfo *d, uint32_t offset, struct file *file, uint32_t line)
{
	struct line_record r = {offset, file_index(d, file), line, NONE};
	uint32_t count = COUNT(d->lines, struct line_record);
	if (count) {
		const struct line_record *last = AT(d->lines, struct line_record, count - 1);
		if (last->file == r.file && last->line == r.line)
			return;
	}
	buffer_add(&d->lines, &r, sizeof r);
}

// add_place puts the code from start to end into the tree and the lines.
static bool add_place(struct debuginfo *d, struct method *outer, const struct place *p, uint32_t start, uint32_t end)
{
	if (p->count == 0) {
		add_line(d, start, outer->file, 0);
		return true;
	}
	const struct frame *frames = AT(d->frames, struct frame, p->first);
	struct frame here = frames[p->count - 1];
	uint32_t node = 0;
	// Outermost first. That frame is the compiled method; should it be another,
	// it counts as inlined at the method's entry.
	uint32_t left = here.method == outer ? p->count - 1 : p->count;
	int32_t call = here.method == outer ? here.bci : -1;
	for (uint32_t depth = 0; left > 0 && depth <= MAX_DEPTH; depth++) {
		here = frames[--left];
		node = child(d, node, call, here.method);
		if (node == NONE || !cover(d, node, start, end))
			return false;
		call = here.bci;
	}
	add_line(d, start, here.method->file, line_of(here.method, here.bci));
	return true;
}

// outer_line returns the line of the compiled method itself at a place.
static uint32_t outer_line(const struct debuginfo *d, const struct method *outer, const struct place *p)
{
	if (p->count == 0)
		return 0;
	const struct frame *last = AT(d->frames, struct frame, p->first + p->count - 1);
	return line_of(outer, last->method == outer ? last->bci : -1);
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

static bool build_tree(struct debuginfo *d, struct method *outer, uint32_t size)
{
	uint32_t count = COUNT(d->places, struct place);
	struct place *places = count ? AT(d->places, struct place, 0) : NULL; // no pointer is computed from NULL
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
		if (!add_place(d, outer, &places[i], start, end))
			return false;
		start = end;
		line = outer_line(d, outer, &places[i]);
	}
	// Behind the last place are the way out of the method, which C2 notes no place
	// for, and handlers of exceptions and deoptimization. None of it is inlined
	// code; the line is where the method itself was last.
	if (start < size)
		add_line(d, start, outer->file, line);
	return true;
}

// add_calls writes the calls below a node, depth first. It calls itself as
// deep as the tree is, MAX_DEPTH at most.
static void add_calls(struct debuginfo *d, uint32_t parent, uint32_t depth)
{
	const struct method *caller = AT(d->calls, struct call, parent)->method;
	for (uint32_t n = AT(d->calls, struct call, parent)->first_child; n != NONE;
	     n = AT(d->calls, struct call, n)->next_sibling) {
		const struct call *c = AT(d->calls, struct call, n);
		buffer_u32(&d->inline_calls, depth);
		buffer_u32(&d->inline_calls, c->range_count);
		buffer_u32(&d->inline_calls, function_index(d, c->method));
		buffer_u32(&d->inline_calls, line_of(caller, c->bci));
		buffer_u32(&d->inline_calls, NONE);
		for (uint32_t i = c->first_range; i != NONE; i = AT(d->ranges, struct range, i)->next) {
			const struct range *r = AT(d->ranges, struct range, i);
			buffer_u32(&d->used_ranges, r->start);
			buffer_u32(&d->used_ranges, r->end - r->start);
		}
		add_calls(d, n, depth + 1);
	}
}

// add_functions writes the functions and, in front of them, the lists of
// files and names that they index. Function i has name i.
static void add_functions(struct debuginfo *d, struct buffer *record, struct head *head)
{
	uint32_t count = COUNT(d->functions, struct method *);
	for (uint32_t i = 0; i < count; i++)
		file_index(d, (*AT(d->functions, struct method *, i))->file);

	size_t from = record->len;
	head->file_count = COUNT(d->files, struct file *);
	for (uint32_t i = 0; i < head->file_count; i++)
		buffer_string(record, (*AT(d->files, struct file *, i))->path);
	buffer_pad(record, from, 4);
	head->file_list_size = record->len - from;

	from = record->len;
	head->function_names_count = head->function_count = count;
	for (uint32_t i = 0; i < count; i++)
		buffer_string(record, (*AT(d->functions, struct method *, i))->name);
	buffer_pad(record, from, 4);
	head->function_names_list_size = record->len - from;

	for (uint32_t i = 0; i < count; i++) {
		const struct method *m = *AT(d->functions, struct method *, i);
		buffer_u32(record, i);
		buffer_u32(record, m->file->index);
		buffer_u32(record, line_of(m, -1));
		buffer_u32(record, NONE);
		buffer_u32(record, m->flags);
	}
}

static void reset(struct debuginfo *d)
{
	table_clear(&d->calls_by_key);
	struct buffer *all[] = {&d->record, &d->calls, &d->ranges, &d->functions,
	                        &d->files, &d->lines, &d->inline_calls, &d->used_ranges};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		buffer_reset(all[i]);
}

bool debuginfo_build(struct debuginfo *d, struct method *outer, uint32_t size)
{
	reset(d);
	if (d->frames.failed || d->places.failed)
		return false;
	struct call root = {outer, NONE, 0, NONE, NONE, NONE, NONE, NONE, 0};
	buffer_add(&d->calls, &root, sizeof root);
	function_index(d, outer); // the first one
	file_index(d, outer->file);
	if (d->calls.failed || !build_tree(d, outer, size))
		return false;
	add_calls(d, 0, 0);

	struct head head = {0};
	buffer_add(&d->record, &head, sizeof head);
	add_functions(d, &d->record, &head);
	head.inline_call_record_count = d->inline_calls.len / (5 * sizeof(uint32_t));
	head.range_count = d->used_ranges.len / (2 * sizeof(uint32_t));
	head.line_record_count = COUNT(d->lines, struct line_record);
	buffer_add(&d->record, d->inline_calls.bytes, d->inline_calls.len);
	buffer_add(&d->record, d->used_ranges.bytes, d->used_ranges.len);
	buffer_add(&d->record, d->lines.bytes, d->lines.len);
	buffer_pad(&d->record, 0, 8);
	if (d->record.failed || d->functions.failed || d->files.failed || d->lines.failed ||
	    d->inline_calls.failed || d->used_ranges.failed)
		return false;
	memcpy(d->record.bytes, &head, sizeof head);
	return true;
}

void debuginfo_free(struct debuginfo *d)
{
	struct buffer *all[] = {&d->frames, &d->places, &d->record, &d->calls, &d->ranges, &d->functions,
	                        &d->files, &d->lines, &d->inline_calls, &d->used_ranges};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		buffer_free(all[i]);
	table_free(&d->calls_by_key);
}
