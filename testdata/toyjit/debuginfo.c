// The records DEBUG_INFO2 and DEBUG_INFO of a function. docs/formats/jitdump-extensions.md
// says what is in them.
#include <stdlib.h>
#include <string.h>

#include "toy.h"

void put(struct bytes *b, const void *from, size_t n) {
	if (b->n + n > b->room) {
		b->room = 2 * b->room + n;
		b->at = realloc(b->at, b->room);
		if (!b->at) abort();
	}
	memcpy(b->at + b->n, from, n);
	b->n += n;
}

void put32(struct bytes *b, uint32_t v) { put(b, &v, sizeof v); }
void put64(struct bytes *b, uint64_t v) { put(b, &v, sizeof v); }

void pad(struct bytes *b, size_t from, size_t to) {
	while ((b->n - from) % to) put(b, "", 1);
}

// What one function refers to, numbered in the order in which it comes up.
struct lists {
	int files[MAX_FILES], nfiles;
	const struct function *functions[MAX_SITES];
	int nfunctions;
};

static uint32_t file(struct lists *l, int file) {
	int i = 0;
	while (i < l->nfiles && l->files[i] != file) i++;
	if (i == l->nfiles) l->files[l->nfiles++] = file;
	return (uint32_t)i;
}

static uint32_t function(struct lists *l, const struct function *fn) {
	int i = 0;
	while (i < l->nfunctions && l->functions[i] != fn) i++;
	if (i == l->nfunctions) l->functions[l->nfunctions++] = fn;
	return (uint32_t)i;
}

static bool inside(const struct site *s, const struct site *of) {
	while (s && s != of) s = s->parent;
	return s;
}

// ranges adds where a call and what is inlined into it have instructions.
static uint32_t ranges(struct bytes *b, const struct code *c, const struct site *s) {
	uint32_t n = 0, start = 0;
	bool in = false;
	for (const struct insn *i = 0;; ) {
		i = next_insn(c, (struct insn *)i);
		bool now = i && inside(i->site, s);
		uint32_t at = i ? i->offset : c->size;
		if (now && !in) start = at;
		if (in && !now) {
			put32(b, start);
			put32(b, at - start);
			n++;
		}
		in = now;
		if (!i) break;
	}
	if (!n) { // a call of nothing: where it would be
		put32(b, label_offset(c, s->begin));
		put32(b, 0);
		n++;
	}
	return n;
}

static bool same_line(struct pos a, struct pos b) { return a.file == b.file && a.line == b.line && a.column == b.column; }

static uint32_t lines(struct bytes *b, const struct code *c, struct lists *l) {
	uint32_t n = 0;
	struct pos last = {-1, 0, 0};
	for (const struct insn *i = 0; (i = next_insn(c, (struct insn *)i));) {
		if (same_line(i->pos, last)) continue;
		last = i->pos;
		put32(b, i->offset);
		put32(b, file(l, last.file));
		put32(b, (uint32_t)last.line);
		put32(b, (uint32_t)last.column);
		n++;
	}
	return n;
}

void debug_info2(struct bytes *out, const struct program *p, const struct code *c, int tier) {
	struct lists l = {0};
	struct bytes files = {0}, names = {0}, functions = {0}, calls = {0}, rs = {0}, ls = {0};
	uint32_t nranges = 0;
	for (int i = 0; i < c->nsites; i++) {
		const struct site *s = &c->sites[i];
		uint32_t fn = function(&l, s->function);
		if (!s->parent) continue; // the outer function is no call
		uint32_t n = ranges(&rs, c, s);
		put32(&calls, (uint32_t)s->depth);
		put32(&calls, n);
		put32(&calls, fn);
		put32(&calls, (uint32_t)s->call.line);
		put32(&calls, (uint32_t)s->call.column);
		nranges += n;
	}
	uint32_t nlines = lines(&ls, c, &l);
	// Names are in another order than functions, so that no reader takes the index
	// of one for that of the other.
	for (int i = 0; i < l.nfunctions; i++) {
		const struct function *fn = l.functions[i], *named = l.functions[l.nfunctions - 1 - i];
		put(&names, named->name, strlen(named->name) + 1);
		put32(&functions, (uint32_t)(l.nfunctions - 1 - i));
		put32(&functions, file(&l, fn->pos.file));
		put32(&functions, (uint32_t)fn->pos.line);
		put32(&functions, (uint32_t)fn->pos.column);
		put32(&functions, 1 | (i ? 0 : (uint32_t)tier << 24));
	}
	for (int i = 0; i < l.nfiles; i++) {
		const char *name = p->files[l.files[i]].name;
		put(&files, name, strlen(name) + 1);
	}
	pad(&files, 0, 4);
	pad(&names, 0, 4);
	size_t from = out->n;
	const uint32_t head[] = {(uint32_t)l.nfiles, (uint32_t)files.n, (uint32_t)l.nfunctions, (uint32_t)names.n,
		(uint32_t)l.nfunctions, (uint32_t)c->nsites - 1, nranges, nlines};
	put(out, head, sizeof head);
	struct bytes *const lists[] = {&files, &names, &functions, &calls, &rs, &ls};
	for (int i = 0; i < 6; i++) {
		if (lists[i]->n) put(out, lists[i]->at, lists[i]->n);
		free(lists[i]->at);
	}
	pad(out, from, 8);
}

void debug_info(struct bytes *out, const struct program *p, const struct code *c, const uint8_t *address) {
	struct pos last = {-1, 0, 0};
	uint64_t n = 0;
	put64(out, (uintptr_t)address);
	size_t count = out->n;
	put64(out, 0);
	for (const struct insn *i = 0; (i = next_insn(c, (struct insn *)i));) {
		if (same_line(i->pos, last)) continue;
		last = i->pos;
		put64(out, (uintptr_t)address + i->offset);
		put32(out, (uint32_t)last.line);
		put32(out, (uint32_t)last.column);
		const char *name = p->files[last.file].name;
		put(out, name, strlen(name) + 1);
		n++;
	}
	memcpy(out->at + count, &n, sizeof n);
}
