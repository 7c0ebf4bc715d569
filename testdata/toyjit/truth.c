// truth-PID.txt says where every instruction comes from: what a profiler should
// show, told by the emitter and not by way of the records. A line is
//
//	function TAB offset TAB length { TAB name TAB file TAB line TAB column }
//
// with the innermost function first; columns count from 0.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "toy.h"

static FILE *out;

void truth_open(const char *dir) {
	char path[4096];
	snprintf(path, sizeof path, "%s/truth-%d.txt", dir, getpid());
	out = fopen(path, "we");
	if (!out) {
		perror(path);
		exit(1);
	}
}

void truth_function(const struct program *p, const struct code *c) {
	for (const struct insn *i = 0; (i = next_insn(c, (struct insn *)i));) {
		fprintf(out, "%s\t%u\t%u", c->function->name, i->offset, i->length);
		struct pos at = i->pos;
		for (const struct site *s = i->site; s; at = s->call, s = s->parent)
			fprintf(out, "\t%s\t%s\t%d\t%d", s->function->name, p->files[at.file].name, at.line, at.column);
		fputc('\n', out);
	}
}

void truth_close(void) {
	if (fclose(out)) {
		perror("truth");
		exit(1);
	}
}
