// The parser. All values are whole numbers of 64 bits.
//
//	program   { [ "inline" ] "fn" name "(" [ name { "," name } ] ")" [ "frame" shape { flag } ] block }
//	block     "{" { statement } "}"
//	statement "let" name "=" expr ";" | name "=" expr ";" | "return" expr ";" | expr ";"
//	          | "while" expr block | "if" [ "unlikely" ] expr block [ "else" block ]
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toy.h"

struct parser {
	struct program *p;
	struct lexer l;
	struct function *fn;
};

void fail(const struct program *p, struct pos pos, const char *format, ...) {
	fprintf(stderr, "%s:%d:%d: ", p->files[pos.file].name, pos.line, pos.column);
	va_list args;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static void *make(size_t size) {
	void *made = calloc(1, size);
	if (!made) abort();
	return made;
}

static void next(struct parser *s) { lex(s->p, &s->l); }
static bool is(const struct parser *s, const char *text) { return s->l.token != T_END && !strcmp(s->l.text, text); }

static bool accept(struct parser *s, const char *text) {
	if (!is(s, text)) return false;
	next(s);
	return true;
}

static void expect(struct parser *s, const char *text) {
	if (!accept(s, text)) fail(s->p, s->l.pos, "%s where %s should be", s->l.text, text);
}

static void name(struct parser *s, char to[32]) {
	if (s->l.token != T_NAME) fail(s->p, s->l.pos, "%s where a name should be", s->l.text);
	strcpy(to, s->l.text);
	next(s);
}

static int var(struct parser *s, const char *name, struct pos pos) {
	for (int i = 0; i < s->fn->nvars; i++)
		if (!strcmp(s->fn->vars[i].name, name)) return i;
	fail(s->p, pos, "%s is not declared", name);
}

static int declare(struct parser *s) {
	if (s->fn->nvars == MAX_VARS) fail(s->p, s->l.pos, "too many variables");
	name(s, s->fn->vars[s->fn->nvars].name);
	return s->fn->nvars++;
}

static struct expr *expr(struct parser *s, int strength);

static struct expr *primary(struct parser *s) {
	if (accept(s, "(")) {
		struct expr *e = expr(s, 0);
		expect(s, ")");
		return e;
	}
	struct expr *e = make(sizeof *e);
	e->pos = s->l.pos;
	if (s->l.token == T_NUMBER) {
		e->kind = E_NUMBER;
		e->number = s->l.number;
		next(s);
		return e;
	}
	name(s, e->op);
	if (!accept(s, "(")) {
		e->kind = E_VAR;
		e->var = var(s, e->op, e->pos);
		return e;
	}
	e->kind = E_CALL;
	while (!accept(s, ")")) {
		if (e->nargs == MAX_ARGS) fail(s->p, s->l.pos, "too many arguments");
		if (e->nargs) expect(s, ",");
		e->args[e->nargs++] = expr(s, 0);
	}
	return e;
}

static int strength(const struct parser *s) {
	static const char *const levels[] = {"== != < <= > >=", "| ^", "&", "+ -", "* / %"};
	if (s->l.token != T_OP) return 0;
	for (int i = 0; i < 5; i++)
		for (const char *at = levels[i]; at; at = strchr(at, ' ')) {
			at += *at == ' ';
			size_t n = strlen(s->l.text);
			if (!strncmp(at, s->l.text, n) && (at[n] == ' ' || !at[n])) return i + 1;
		}
	return 0;
}

static struct expr *expr(struct parser *s, int above) {
	struct expr *left = primary(s);
	for (int own; (own = strength(s)) > above;) {
		struct expr *e = make(sizeof *e);
		e->kind = E_BINARY;
		e->pos = s->l.pos;
		strcpy(e->op, s->l.text);
		next(s);
		e->args[0] = left;
		e->args[1] = expr(s, own);
		e->nargs = 2;
		left = e;
	}
	return left;
}

static struct stmt *block(struct parser *s);

static struct stmt *statement(struct parser *s) {
	struct stmt *st = make(sizeof *st);
	st->pos = s->l.pos;
	if (accept(s, "let")) {
		st->kind = S_LET;
		int v = declare(s);
		expect(s, "=");
		st->expr = expr(s, 0);
		st->var = v;
	} else if (accept(s, "return")) {
		st->kind = S_RETURN;
		st->expr = expr(s, 0);
	} else if (accept(s, "while")) {
		st->kind = S_WHILE;
		st->expr = expr(s, 0);
		st->body = block(s);
		return st;
	} else if (accept(s, "if")) {
		st->kind = S_IF;
		st->unlikely = accept(s, "unlikely");
		st->expr = expr(s, 0);
		st->body = block(s);
		if (accept(s, "else")) st->other = block(s);
		return st;
	} else {
		st->kind = S_EXPR;
		st->expr = expr(s, 0);
		if (st->expr->kind == E_VAR && accept(s, "=")) {
			st->kind = S_ASSIGN;
			st->var = st->expr->var;
			s->fn->vars[st->var].assigned = true;
			st->expr = expr(s, 0);
		}
	}
	expect(s, ";");
	return st;
}

static struct stmt *block(struct parser *s) {
	struct stmt *first = 0, **last = &first;
	expect(s, "{");
	while (!is(s, "}")) {
		*last = statement(s);
		last = &(*last)->next;
	}
	s->fn->end = s->l.pos;
	expect(s, "}");
	return first;
}

static struct frame frame(struct parser *s) {
	static const char *const shapes[] = {"fp", "enter", "sub", "push", "align", "leaf"};
	struct frame f = {0};
	if (!accept(s, "frame")) return f;
	for (f.shape = SHAPE_FP; !is(s, shapes[f.shape]);)
		if (++f.shape > SHAPE_LEAF) fail(s->p, s->l.pos, "%s is no shape of a frame", s->l.text);
	next(s);
	for (;;) {
		if (accept(s, "exits"))
			f.exits = true;
		else if (accept(s, "pushes"))
			f.pushes = true;
		else
			return f;
	}
}

void parse(struct program *p, int file) {
	struct parser s = {.p = p};
	lex_open(&s.l, &p->files[file], file);
	for (next(&s); s.l.token != T_END;) {
		if (p->nfunctions == MAX_FUNCTIONS) fail(p, s.l.pos, "too many functions");
		struct function *fn = s.fn = &p->functions[p->nfunctions++];
		fn->pos = s.l.pos;
		fn->inlined = accept(&s, "inline");
		expect(&s, "fn");
		name(&s, fn->name);
		expect(&s, "(");
		while (!accept(&s, ")")) {
			if (fn->nparams == MAX_ARGS) fail(p, s.l.pos, "too many parameters");
			if (fn->nparams) expect(&s, ",");
			declare(&s);
			fn->nparams++;
		}
		fn->frame = frame(&s);
		fn->body = block(&s);
	}
}

static void resolve_expr(struct program *p, struct expr *e) {
	for (int i = 0; i < e->nargs; i++) resolve_expr(p, e->args[i]);
	if (e->kind != E_CALL) return;
	for (int i = 0; i < p->nfunctions; i++)
		if (!strcmp(p->functions[i].name, e->op)) e->callee = &p->functions[i];
	if (!e->callee || e->callee->nparams != e->nargs) fail(p, e->pos, "there is no %s with %d parameters", e->op, e->nargs);
}

static void resolve_block(struct program *p, struct stmt *st) {
	for (; st; st = st->next) {
		resolve_expr(p, st->expr);
		resolve_block(p, st->body);
		resolve_block(p, st->other);
	}
}

// resolve finds the functions that are called, in whatever file they are.
void resolve(struct program *p) {
	for (int i = 0; i < p->nfunctions; i++) resolve_block(p, p->functions[i].body);
}
