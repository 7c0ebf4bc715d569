// Expressions: their values end in rax.
#include <string.h>

#include "lower.h"

int keep(struct code *c) {
	if (c->frame.pushes) {
		push(c, RAX);
		return -1;
	}
	alu(c, STORE, RAX, slot(c, c->nslots));
	return c->nslots++;
}

void kept(struct code *c, int at, enum reg to) {
	if (at < 0)
		pop(c, to);
	else
		alu(c, LOAD, to, slot(c, at));
}

static int comparison(const char *op) {
	static const struct {
		const char *op;
		enum condition cc;
	} all[] = {{"==", CC_E}, {"!=", CC_NE}, {"<", CC_L}, {">=", CC_GE}, {"<=", CC_LE}, {">", CC_G}};
	for (int i = 0; i < 6; i++)
		if (!strcmp(all[i].op, op)) return (int)all[i].cc;
	return -1;
}

// operands computes those of a binary operator: rax and what it returns.
static struct operand operands(struct code *c, const struct expr *e) {
	const struct expr *right = e->args[1];
	value(c, e->args[0]);
	c->pos = e->pos;
	if (right->kind == E_VAR && !c->site->vars[right->var].lazy) return slot(c, c->site->vars[right->var].slot);
	if (right->kind == E_NUMBER) {
		c->pos = right->pos;
		set_imm(c, RCX, right->number);
		c->pos = e->pos;
		return in(RCX);
	}
	int left = keep(c);
	value(c, right);
	c->pos = e->pos;
	alu(c, LOAD, RCX, in(RAX));
	kept(c, left, RAX);
	return in(RCX);
}

static void binary(struct code *c, const struct expr *e) {
	static const struct {
		char op;
		enum alu alu;
	} simple[] = {{'+', ADD}, {'-', SUB}, {'&', AND}, {'|', OR}, {'^', XOR}};
	const struct expr *right = e->args[1];
	int cc = comparison(e->op);
	for (int i = 0; cc < 0 && i < 5; i++) {
		if (simple[i].op != e->op[0]) continue;
		if (right->kind == E_NUMBER && right->number == (int32_t)right->number) {
			value(c, e->args[0]);
			c->pos = e->pos;
			alu_imm(c, simple[i].alu, RAX, (int32_t)right->number);
		} else {
			struct operand o = operands(c, e);
			alu(c, simple[i].alu, RAX, o);
		}
		return;
	}
	struct operand o = operands(c, e);
	if (cc >= 0) {
		alu(c, CMP, RAX, o);
		char set[3] = {0x0f, (char)(0x90 | cc), (char)0xc0};
		raw(c, set, 3);                 // setcc al
		raw(c, "\x0f\xb6\xc0", 3); // movzx eax, al
	} else if (e->op[0] == '*') {
		mul(c, RAX, o);
	} else {
		if (o.reg != RCX) alu(c, LOAD, RCX, o);
		raw(c, "\x48\x99", 2);     // cqo
		raw(c, "\x48\xf7\xf9", 3); // idiv rcx
		if (e->op[0] == '%') alu(c, LOAD, RAX, in(RDX));
	}
}

// value computes an expression into rax.
void value(struct code *c, const struct expr *e) {
	c->pos = e->pos;
	switch (e->kind) {
	case E_NUMBER:
		set_imm(c, RAX, e->number);
		break;
	case E_VAR: {
		struct site *s = c->site;
		struct binding b = s->vars[e->var];
		if (b.lazy) {
			c->site = b.from;
			value(c, b.lazy);
			c->site = s;
			c->pos = e->pos;
		} else {
			alu(c, LOAD, RAX, slot(c, b.slot));
		}
		break;
	}
	case E_BINARY:
		binary(c, e);
		break;
	case E_CALL:
		if (can_inline(c, e->callee))
			inline_call(c, e);
		else
			real_call(c, e);
	}
}

// test branches to label if an expression is as wanted.
void test(struct code *c, const struct expr *e, bool wanted, int label) {
	int cc = e->kind == E_BINARY ? comparison(e->op) : -1;
	if (cc >= 0) {
		struct operand o = operands(c, e);
		alu(c, CMP, RAX, o);
	} else {
		value(c, e);
		raw(c, "\x48\x85\xc0", 3); // test rax, rax
		cc = CC_NE;
	}
	branch(c, (enum condition)(wanted ? cc : cc ^ 1), label);
}
