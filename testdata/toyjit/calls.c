// Calls: those that are inlined, and real ones.
#include <string.h>

#include "lower.h"

enum { MAX_DEPTH = 4 };

// pure says whether an argument can as well be computed later, where it is used.
static bool pure(const struct site *s, const struct expr *e) {
	if (e->kind == E_CALL || (e->kind == E_VAR && s->function->vars[e->var].assigned)) return false;
	for (int i = 0; i < e->nargs; i++)
		if (!pure(s, e->args[i])) return false;
	return true;
}

bool can_inline(const struct code *c, const struct function *callee) {
	int same = 0;
	for (const struct site *s = c->site; s; s = s->parent) same += s->function == callee;
	// A function goes once into itself.
	return c->inlining && callee->inlined && same < 2 && c->site->depth + 1 < MAX_DEPTH;
}

struct site *new_site(struct code *c, const struct function *fn, struct pos call) {
	if (c->nsites == MAX_SITES) fail(c->program, call, "too many inlined calls");
	struct site *s = &c->sites[c->nsites++];
	*s = (struct site){.parent = c->site, .function = fn, .call = call, .depth = c->site ? c->site->depth + 1 : -1};
	s->begin = new_label(c), s->end = new_label(c);
	for (int i = 0; i < fn->nvars; i++) s->vars[i].slot = -1;
	return s;
}

void slots(struct code *c, struct site *s) {
	for (int i = 0; i < s->function->nvars; i++)
		if (s->vars[i].slot < 0 && !s->vars[i].lazy) s->vars[i].slot = c->nslots++;
}

void inline_call(struct code *c, const struct expr *e) {
	const struct function *fn = e->callee;
	struct site *caller = c->site;
	struct binding vars[MAX_ARGS] = {0};
	for (int i = 0; i < e->nargs; i++) {
		const struct expr *a = e->args[i];
		bool later = !fn->vars[i].assigned && pure(caller, a);
		if (later && a->kind == E_VAR) {
			vars[i] = caller->vars[a->var];
		} else if (later) {
			// Instructions of the caller come to lie among those of the callee.
			vars[i] = (struct binding){.lazy = a, .from = caller, .slot = -1};
		} else {
			value(c, a);
			c->pos = a->pos;
			vars[i].slot = c->nslots++;
			alu(c, STORE, RAX, slot(c, vars[i].slot));
		}
	}
	struct site *s = c->site = new_site(c, fn, e->pos);
	memcpy(s->vars, vars, sizeof vars);
	for (int i = fn->nparams; i < fn->nvars; i++) s->vars[i].slot = -1;
	slots(c, s);
	bind(c, s->begin);
	block(c, fn->body, true);
	bind(c, s->end);
	c->site = caller;
	c->pos = e->pos;
}

void real_call(struct code *c, const struct expr *e) {
	static const enum reg regs[] = {RDI, RSI, RDX, RCX, R8, R9};
	int at[MAX_ARGS];
	if (c->frame.shape == SHAPE_LEAF) fail(c->program, e->pos, "a call in a leaf function");
	for (int i = 0; i < e->nargs; i++) {
		value(c, e->args[i]);
		c->pos = e->pos;
		at[i] = keep(c);
	}
	c->pos = e->pos;
	for (int i = e->nargs; i-- > 0;) kept(c, at[i], regs[i]);
	call(c, e->callee);
}
