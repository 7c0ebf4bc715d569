// Statements: the instructions of a function, and of what is inlined into it. An
// instruction belongs to the call whose code it is: c->site is that while it is made.
#include <string.h>

#include "lower.h"

static void condition(struct code *c, const struct stmt *st) {
	int then = new_label(c), end = new_label(c);
	if (st->unlikely && c->section == HOT) {
		test(c, st->expr, true, then);
		block(c, st->other, false);
		bind(c, end);
		c->section = COLD;
		bind(c, then);
		block(c, st->body, false);
		c->pos = st->pos;
		jump(c, end);
		c->section = HOT;
		return;
	}
	test(c, st->expr, false, then);
	block(c, st->body, false);
	c->pos = st->pos;
	if (st->other) jump(c, end);
	bind(c, then);
	block(c, st->other, false);
	bind(c, end);
}

static void leave(struct code *c, const struct stmt *st, bool last) {
	value(c, st->expr);
	c->pos = st->pos;
	if (!c->site->parent && c->frame.exits)
		epilogue(c);
	else if (!last)
		jump(c, c->site->end);
}

void block(struct code *c, const struct stmt *st, bool top) {
	for (; st; st = st->next) {
		switch (st->kind) {
		case S_LET:
		case S_ASSIGN:
			value(c, st->expr);
			c->pos = st->pos;
			alu(c, STORE, RAX, slot(c, c->site->vars[st->var].slot));
			break;
		case S_WHILE: {
			int again = new_label(c), end = new_label(c);
			bind(c, again);
			test(c, st->expr, false, end);
			block(c, st->body, false);
			c->pos = st->pos;
			jump(c, again);
			bind(c, end);
			break;
		}
		case S_IF:
			condition(c, st);
			break;
		case S_RETURN:
			leave(c, st, top && !st->next);
			break;
		case S_EXPR:
			value(c, st->expr);
		}
	}
}

void lower(const struct program *p, const struct function *fn, bool inlining, bool frames, struct code *c) {
	memset(c, 0, sizeof *c);
	c->program = p, c->function = fn, c->inlining = inlining;
	if (frames) c->frame = fn->frame;
	struct site *s = c->site = new_site(c, fn, fn->pos);
	slots(c, s);
	c->section = PROLOGUE;
	c->pos = fn->pos;
	bind(c, s->begin);
	prologue(c);
	c->section = HOT;
	block(c, fn->body, true);
	const struct stmt *last = fn->body;
	while (last && last->next) last = last->next;
	c->pos = fn->end;
	bool falls = !last || last->kind != S_RETURN;
	if (falls) set_imm(c, RAX, 0);
	bind(c, s->end);
	if (falls || !c->frame.exits) epilogue(c);
	layout(c);
}
