// What the dump is told: sources, the tier, functions with their lines and inlined calls.
#define _GNU_SOURCE
#define JITDUMP_IMPLEMENTATION
#include "../../producer/jitdump.h"

#include "toy.h"

enum { MAX_OPEN = 8 };

uint64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void report(void *context, const char *message) {
	(void)context;
	fprintf(stderr, "toyjit: %s\n", message);
	exit(1);
}

void dump_open(const char *dir, bool lines) {
	jitdump_open(&(struct jitdump_options){.directory = dir, .flags = lines ? 0 : JITDUMP_NO_PLAIN_LINES, .report = report});
}

static uint32_t file(struct jitdump_debug *d, const struct program *p, int file) {
	return jitdump_debug_file(d, p->files[file].name);
}

static uint32_t function(struct jitdump_debug *d, const struct program *p, const struct function *fn, uint32_t flags) {
	return jitdump_debug_function(d, fn->name, file(d, p, fn->pos.file), (uint32_t)fn->pos.line, (uint32_t)fn->pos.column, flags);
}

// go_to ends the inlined calls that an instruction is not in, and begins those that it is in.
static uint32_t go_to(struct jitdump_debug *d, const struct program *p, const struct code *c, const struct site **open, uint32_t depth, const struct insn *i) {
	const struct site *path[MAX_OPEN];
	uint32_t n = 0, same = 0;
	for (const struct site *s = i->site; s->parent; s = s->parent) n++;
	const struct site *s = i->site;
	for (uint32_t at = n; at-- > 0; s = s->parent) path[at] = s;
	while (same < n && same < depth && open[same] == path[same]) same++;
	while (depth > same) jitdump_debug_pop(d, i->offset), depth--;
	for (; depth < n; depth++) {
		s = open[depth] = path[depth];
		uint32_t callee = s->function == c->function ? 0 : function(d, p, s->function, JITDUMP_USER); // 0: itself
		jitdump_debug_push(d, i->offset, callee, (uint32_t)s->call.line, (uint32_t)s->call.column, (uintptr_t)s);
	}
	return n;
}

void dump_function(const struct program *p, const struct code *c, const uint8_t *address, int tier) {
	const struct site *open[MAX_OPEN];
	uint32_t depth = 0;
	struct jitdump_debug *d = jitdump_debug_new();
	function(d, p, c->function, JITDUMP_USER | JITDUMP_IN_TIER(tier));
	for (const struct insn *i = 0; (i = next_insn(c, (struct insn *)i));) {
		depth = go_to(d, p, c, open, depth, i);
		jitdump_debug_line(d, i->offset, file(d, p, i->pos.file), (uint32_t)i->pos.line, (uint32_t)i->pos.column);
	}
	jitdump_code_load(&(struct jitdump_code){.name = c->function->name, .address = address, .size = c->size, .debug = d});
	jitdump_debug_free(d);
}
