// How statements (lower.c), expressions (expr.c) and calls (calls.c) use each other.
#ifndef LOWER_H
#define LOWER_H
#include "toy.h"

void block(struct code *, const struct stmt *, bool top); // top: all of a function

// keep saves rax for later, kept brings it back.
int keep(struct code *);
void kept(struct code *, int at, enum reg to);
void value(struct code *, const struct expr *); // into rax
void test(struct code *, const struct expr *, bool wanted, int label); // branches if it is as wanted

bool can_inline(const struct code *, const struct function *callee);
void inline_call(struct code *, const struct expr *);
void real_call(struct code *, const struct expr *);
struct site *new_site(struct code *, const struct function *, struct pos call);
void slots(struct code *, struct site *); // for variables that have no place yet
#endif
