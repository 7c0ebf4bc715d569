// x86-64 instructions, as many as the toy needs. Each belongs to the call and the
// place in a source where the emitter is.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toy.h"

struct insn *raw(struct code *c, const char *bytes, int n) {
	if (c->n[c->section] == MAX_INSNS) {
		fputs("too many instructions\n", stderr);
		exit(1);
	}
	struct insn *i = &c->insns[c->section][c->n[c->section]++];
	*i = (struct insn){.length = (uint8_t)n, .site = c->site, .pos = c->pos};
	memcpy(i->bytes, bytes, (size_t)n);
	return i;
}

struct operand in(enum reg r) { return (struct operand){.reg = r, .base = NO_REG}; }

// slot says where a variable or temporary value is.
struct operand slot(const struct code *c, int slot) {
	static const enum reg saved[] = {RBX, R12, R13};
	switch (c->frame.shape) {
	case SHAPE_FP:
	case SHAPE_ENTER:
		return (struct operand){NO_REG, RBP, -8 * (slot + 1)};
	case SHAPE_ALIGN:
		return (struct operand){NO_REG, RBP, -8 * (slot + 2)};
	case SHAPE_LEAF:
		return (struct operand){NO_REG, RSP, -8 * (slot + 1)};
	case SHAPE_PUSH:
		if (slot < 3) return in(saved[slot]);
		slot -= 3;
		break;
	case SHAPE_SUB:
		break;
	}
	return (struct operand){NO_REG, RSP, c->depth + 8 * slot};
}

// modrm emits an instruction on a register and an operand, behind REX.W.
static void modrm(struct code *c, const char *op, int n, int reg, struct operand o) {
	char b[15];
	int at = 0, rm = o.reg != NO_REG ? (int)o.reg : (int)o.base;
	b[at++] = (char)(0x48 | (reg >> 3) << 2 | rm >> 3);
	memcpy(b + at, op, (size_t)n);
	at += n;
	int field = (reg & 7) << 3 | (rm & 7);
	if (o.reg != NO_REG) {
		b[at++] = (char)(0xc0 | field);
	} else {
		bool small = o.disp >= -128 && o.disp < 128;
		b[at++] = (char)((small ? 0x40 : 0x80) | field);
		if (o.base == RSP) b[at++] = 0x24;
		int32_t disp = o.disp;
		memcpy(b + at, &disp, 4);
		at += small ? 1 : 4;
	}
	raw(c, b, at);
}

void alu(struct code *c, enum alu op, enum reg r, struct operand o) {
	char b = (char)op;
	modrm(c, &b, 1, (int)r, o);
}

void alu_imm(struct code *c, enum alu op, enum reg r, int32_t v) {
	char b[7] = {(char)(0x48 | r >> 3), (char)0x81, (char)(0xc0 | (op & 0x38) | (r & 7))};
	memcpy(b + 3, &v, 4);
	raw(c, b, 7);
}

void mul(struct code *c, enum reg r, struct operand o) { modrm(c, "\x0f\xaf", 2, (int)r, o); }

void set_imm(struct code *c, enum reg r, long v) {
	char b[10] = {(char)(0x48 | r >> 3)};
	if (v == (int32_t)v) {
		b[1] = (char)0xc7, b[2] = (char)(0xc0 | (r & 7));
		memcpy(b + 3, &v, 4);
		raw(c, b, 7);
	} else {
		b[1] = (char)(0xb8 | (r & 7));
		memcpy(b + 2, &v, 8);
		raw(c, b, 10);
	}
}

static void short_form(struct code *c, int op, enum reg r) {
	char b[2] = {0x41, (char)(op | (r & 7))};
	raw(c, r >= R8 ? b : b + 1, r >= R8 ? 2 : 1);
}

void push(struct code *c, enum reg r) {
	short_form(c, 0x50, r);
	c->depth += 8;
}

void pop(struct code *c, enum reg r) {
	short_form(c, 0x58, r);
	c->depth -= 8;
}

void jump(struct code *c, int label) {
	struct insn *i = raw(c, "\xe9\0\0\0\0", 5);
	i->fix = FIX_LABEL, i->label = label;
}

void branch(struct code *c, enum condition cc, int label) {
	char b[6] = {0x0f, (char)(0x80 | cc)};
	struct insn *i = raw(c, b, 6);
	i->fix = FIX_LABEL, i->label = label;
}

void call(struct code *c, const struct function *callee) {
	struct insn *i = raw(c, "\xe8\0\0\0\0", 5);
	i->fix = FIX_CALL, i->callee = callee;
}
