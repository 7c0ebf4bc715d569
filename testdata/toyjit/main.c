// toyjit [-d] [-f] [-n] DIR SECONDS SOURCE...: compiles sources of a toy language,
// writes a jitdump and the truth about it to DIR, calls every function with a few
// numbers, and then the program's function "run" for so long, at least once.
//
//	-d  also writes plain DEBUG_INFO records
//	-f  gives functions the frames that their sources ask for, not rbp to all
//	-n  inlines nothing
//
// It prints its pid and what run(1) returns.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../producer/jitdump.h"
#include "toy.h"

enum { TIER = 1, ALIGN = 64, MEMORY = 1 << 20 };

static struct program program;
static struct code codes[MAX_FUNCTIONS];

static void read_source(struct source *s, const char *path) {
	FILE *f = fopen(path, "re");
	s->name = path;
	s->text = malloc(1 << 20);
	if (!f || !s->text) {
		perror(path);
		exit(1);
	}
	s->size = fread(s->text, 1, (1 << 20) - 1, f);
	s->text[s->size] = 0;
	fclose(f);
}

int main(int argc, char **argv) {
	bool lines = false, frames = false, inlining = true;
	for (int o; (o = getopt(argc, argv, "dfn")) != -1;) {
		if (o == '?') return 2;
		lines |= o == 'd';
		frames |= o == 'f';
		inlining &= o != 'n';
	}
	argv += optind;
	if (argc - optind < 3 || argc - optind - 2 > MAX_FILES) {
		fputs("toyjit [-d] [-f] [-n] DIR SECONDS SOURCE...\n", stderr);
		return 2;
	}
	const char *dir = argv[0];
	double seconds = atof(argv[1]);
	for (argv += 2; *argv; argv++) {
		read_source(&program.files[program.nfiles], *argv);
		parse(&program, program.nfiles++);
	}
	resolve(&program);

	uint8_t *memory = mmap(0, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *at = memory;
	if (memory == MAP_FAILED) return 1;
	for (int i = 0; i < program.nfunctions; i++) {
		struct function *fn = &program.functions[i];
		lower(&program, fn, inlining, frames, &codes[i]);
		fn->address = at, fn->size = codes[i].size;
		at += (fn->size + ALIGN - 1) / ALIGN * ALIGN;
		if (at > memory + MEMORY) return 1;
	}
	for (int i = 0; i < program.nfunctions; i++) place(&codes[i], program.functions[i].address);
	if (mprotect(memory, MEMORY, PROT_READ | PROT_EXEC)) return 1;

	dump_open(dir, lines);
	truth_open(dir);
	for (int i = 0; i < program.nfiles; i++) jitdump_source(program.files[i].name, program.files[i].text, program.files[i].size);
	jitdump_tier(TIER, JITDUMP_GREEN, "Toy");
	long (*run)(long) = 0;
	for (int i = 0; i < program.nfunctions; i++) {
		const struct function *fn = &program.functions[i];
		dump_function(&program, &codes[i], fn->address, TIER);
		truth_function(&program, &codes[i]);
		if (!strcmp(fn->name, "run")) memcpy(&run, &fn->address, sizeof run);
	}
	truth_close();
	if (!run) return 1;
	// Functions that were inlined everywhere, and what is unlikely, run here.
	for (int i = 0; i < program.nfunctions; i++) {
		long (*fn)(long, long, long, long, long, long);
		memcpy(&fn, &program.functions[i].address, sizeof fn);
		for (long n = 0; n < 32; n++) fn(n, 2, 3, 4, 5, 6);
		fn(99, 2, 3, 4, 5, 6);
	}
	printf("%d %ld\n", getpid(), run(1));
	fflush(stdout);
	for (uint64_t end = now() + (uint64_t)(seconds * 1e9); now() < end;)
		for (long i = 0; i < 100; i++) run(i);
	jitdump_close();
	return 0;
}
