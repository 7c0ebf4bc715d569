// cost DIR: prints the nanoseconds that a function costs: when off, without and with lines, and of
// an fwrite of as many bytes.
#define _GNU_SOURCE
#include "jitdump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FUNCTIONS = 200000, SIZE = 400, LINES = 20 };

static char code[SIZE];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void describe(struct jitdump_debug *d)
{
	jitdump_debug_begin(d);
	uint32_t file = jitdump_debug_file(d, "/src/program/module.toy");
	jitdump_debug_function(d, "module.function", file, 1, 0, JITDUMP_USER);
	uint32_t inner = jitdump_debug_function(d, "module.inner", file, 100, 0, JITDUMP_USER);
	for (uint32_t i = 0; i < LINES; i++) {
		if (i == LINES / 2)
			jitdump_debug_push(d, i * SIZE / LINES, inner, i, 4, 1);
		jitdump_debug_line(d, i * SIZE / LINES, file, 1 + i, 4);
	}
	jitdump_debug_pop(d, SIZE);
}

static void measure(const char *what, int lines)
{
	struct jitdump_debug *d = jitdump_debug_new();
	double start = now();
	for (int i = 0; i < FUNCTIONS; i++) {
		if (!jitdump_is_open())
			continue;
		struct jitdump_code c = {.name = "module.function", .address = code, .size = SIZE, .debug = lines ? d : NULL};
		if (lines)
			describe(d);
		jitdump_code_load(&c);
	}
	printf("%s %.1f\n", what, (now() - start) / FUNCTIONS);
	jitdump_debug_free(d);
}

static void plain(const char *what, const char *dir, size_t size, int flush)
{
	char path[4096], *bytes = calloc(1, size);
	snprintf(path, sizeof path, "%s/plain", dir);
	FILE *f = fopen(path, "w");
	double start = now();
	for (int i = 0; i < FUNCTIONS; i++) {
		fwrite(bytes, 1, size, f);
		if (flush)
			fflush(f);
	}
	printf("%s %.1f\n", what, (now() - start) / FUNCTIONS);
	fclose(f);
	unlink(path);
	free(bytes);
}

static void dump(const char *what, const char *dir, int lines, uint32_t flags, size_t buffer)
{
	struct jitdump_options options = {.directory = dir, .flags = flags, .buffer = buffer};
	if (!fork()) { // which has no dump mapped
		if (jitdump_open(&options))
			exit(1);
		measure(what, lines);
		jitdump_close();
		exit(0);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : ".";
	setvbuf(stdout, NULL, _IONBF, 0);
	measure("off", 1);
	dump("code", dir, 0, 0, 0);
	dump("code,held", dir, 0, 0, 1 << 20);
	dump("lines", dir, 1, 0, 0);
	dump("lines,only-inlined", dir, 1, JITDUMP_NO_PLAIN_LINES, 0);
	dump("lines,held", dir, 1, 0, 1 << 20);
	plain("fwrite-472", dir, 472, 0);
	plain("fwrite-472,flushed", dir, 472, 1);
	plain("fwrite-968", dir, 968, 0);
	plain("fwrite-968,flushed", dir, 968, 1);
	plain("fwrite-1800", dir, 1800, 0);
	plain("fwrite-1800,flushed", dir, 1800, 1);
	return 0;
}
