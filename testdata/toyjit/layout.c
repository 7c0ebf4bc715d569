// Where instructions go: the prologue, the body, and behind it what is unlikely.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toy.h"

struct insn *next_insn(const struct code *c, struct insn *i) {
	int section = 0, at = 0;
	if (i) {
		section = (int)((i - c->insns[0]) / MAX_INSNS);
		at = (int)(i - c->insns[section]) + 1;
	}
	for (; section < SECTIONS; section++, at = 0)
		if (at < c->n[section]) return (struct insn *)&c->insns[section][at];
	return 0;
}

void layout(struct code *c) {
	c->size = 0;
	for (struct insn *i = 0; (i = next_insn(c, i));) {
		i->offset = c->size;
		c->size += i->length;
	}
}

int new_label(struct code *c) {
	if (c->nlabels == MAX_LABELS) {
		fputs("too many labels\n", stderr);
		exit(1);
	}
	return c->nlabels++;
}

void bind(struct code *c, int label) { c->labels[label] = (struct label){c->section, c->n[c->section]}; }

uint32_t label_offset(const struct code *c, int label) {
	struct label l = c->labels[label];
	for (int s = (int)l.section; s < SECTIONS; s++, l.at = 0)
		if (l.at < c->n[s]) return c->insns[s][l.at].offset;
	return c->size;
}

// place writes the code to where it runs. All functions have their addresses.
void place(const struct code *c, uint8_t *to) {
	int32_t frame = 8 * (c->nslots - (c->frame.shape == SHAPE_PUSH ? 3 : 0));
	if (frame < 8) frame = 8;
	if (c->frame.shape == SHAPE_LEAF && frame > 128) {
		fprintf(stderr, "%s: the red zone has no room for %d bytes\n", c->function->name, frame);
		exit(1);
	}
	for (struct insn *i = 0; (i = next_insn(c, i));) {
		uint8_t *at = to + i->offset, *end = at + i->length;
		int32_t value = 0;
		memcpy(at, i->bytes, i->length);
		switch (i->fix) {
		case FIX_NONE:
			continue;
		case FIX_LABEL:
			value = (int32_t)(label_offset(c, i->label) - (i->offset + i->length));
			break;
		case FIX_CALL:
			value = (int32_t)(i->callee->address - end);
			break;
		case FIX_FRAME32:
			value = frame;
			break;
		case FIX_FRAME16:
			memcpy(at + 1, &frame, 2);
			continue;
		}
		memcpy(end - 4, &value, 4);
	}
}
