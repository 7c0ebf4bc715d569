// Tokens of the toy language: names, numbers, operators, and # comments.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "toy.h"

void lex_open(struct lexer *l, const struct source *source, int file) {
	*l = (struct lexer){.source = source, .at = source->text, .line_start = source->text, .pos = {file, 1, 0}};
}

static void skip(struct lexer *l) {
	for (;; l->at++) {
		if (*l->at == '#') l->at += strcspn(l->at, "\n");
		if (*l->at == '\n') {
			l->pos.line++;
			l->line_start = l->at + 1;
		} else if (!isspace((unsigned char)*l->at)) {
			return;
		}
	}
}

void lex(const struct program *p, struct lexer *l) {
	skip(l);
	const char *start = l->at;
	l->pos.column = (int)(start - l->line_start);
	if (!*start) {
		l->token = T_END;
		strcpy(l->text, "the end");
		return;
	}
	if (isalpha((unsigned char)*start)) {
		l->token = T_NAME;
		while (isalnum((unsigned char)*l->at) || *l->at == '_') l->at++;
	} else if (isdigit((unsigned char)*start)) {
		l->token = T_NUMBER;
		char *end;
		l->number = strtol(start, &end, 0);
		l->at = end;
	} else {
		l->token = T_OP;
		bool two = strchr("<>=!", start[0]) && start[1] == '=';
		l->at += two ? 2 : 1;
	}
	size_t n = (size_t)(l->at - start);
	if (n >= sizeof l->text) fail(p, l->pos, "a token of %zu bytes", n);
	memcpy(l->text, start, n);
	l->text[n] = 0;
}
