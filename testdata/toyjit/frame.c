// Prologues and epilogues. Whatever the shape, the number of slots is known only
// when the body is made: layout puts it in.
#include "toy.h"

void prologue(struct code *c) {
	static const enum reg args[] = {RDI, RSI, RDX, RCX, R8, R9};
	switch (c->frame.shape) {
	case SHAPE_FP:
		push(c, RBP);
		alu(c, STORE, RSP, in(RBP));
		raw(c, "\x48\x81\xec\0\0\0\0", 7)->fix = FIX_FRAME32;
		break;
	case SHAPE_ENTER:
		raw(c, "\xc8\0\0\0", 4)->fix = FIX_FRAME16;
		break;
	case SHAPE_PUSH:
		push(c, RBX);
		push(c, R12);
		push(c, R13);
		// fall through
	case SHAPE_SUB:
		raw(c, "\x48\x81\xec\0\0\0\0", 7)->fix = FIX_FRAME32;
		break;
	case SHAPE_ALIGN:
		push(c, RBP);
		alu(c, STORE, RSP, in(RBP));
		push(c, RBX);
		alu(c, STORE, RDI, in(RBX));
		raw(c, "\x48\x81\xec\0\0\0\0", 7)->fix = FIX_FRAME32;
		raw(c, "\x48\x83\xe4\xe0", 4);
		break;
	case SHAPE_LEAF:
		break;
	}
	c->depth = 0; // counts what the body pushes
	for (int i = 0; i < c->function->nparams; i++) alu(c, STORE, args[i], slot(c, i));
}

void epilogue(struct code *c) {
	int depth = c->depth;
	switch (c->frame.shape) {
	case SHAPE_ALIGN:
		alu(c, LOAD, RBX, (struct operand){NO_REG, RBP, -8});
		// fall through
	case SHAPE_FP:
	case SHAPE_ENTER:
		raw(c, "\xc9", 1);
		break;
	case SHAPE_SUB:
	case SHAPE_PUSH:
		raw(c, "\x48\x81\xc4\0\0\0\0", 7)->fix = FIX_FRAME32;
		if (c->frame.shape == SHAPE_SUB) break;
		pop(c, R13);
		pop(c, R12);
		pop(c, RBX);
		break;
	case SHAPE_LEAF:
		break;
	}
	raw(c, "\xc3", 1);
	c->depth = depth;
}
