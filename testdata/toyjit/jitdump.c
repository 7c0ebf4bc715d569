// The dump: jit-PID.dump with a record for each source and function.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "toy.h"

enum { LOAD_RECORD = 0, DEBUG_INFO = 2, CLOSE = 3, DEBUG_INFO2 = 827346259, TIER = 827346260, EMBEDDED_SOURCE_FILE = 827346261 };

uint64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// begin and end put a record around what is added between them.
static size_t begin(struct bytes *b, uint32_t id) {
	size_t at = b->n;
	put32(b, id);
	put32(b, 0);
	put64(b, now());
	return at;
}

static void end(struct bytes *b, size_t at) {
	uint32_t size = (uint32_t)(b->n - at);
	memcpy(b->at + at + 4, &size, 4);
}

static void flush(struct dump *d, struct bytes *b) {
	if (write(d->fd, b->at, b->n) != (ssize_t)b->n) {
		perror("the dump");
		exit(1);
	}
	free(b->at);
}

void dump_open(struct dump *d, const char *dir) {
	char path[4096];
	snprintf(path, sizeof path, "%s/jit-%d.dump", dir, getpid());
	d->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (d->fd < 0) {
		perror(path);
		exit(1);
	}
	struct bytes b = {0};
	const uint32_t head[] = {0x4A695444, 1, 40, 62, 0, (uint32_t)getpid()};
	put(&b, head, sizeof head);
	put64(&b, now());
	put64(&b, 0);
	flush(d, &b);
	// By this mapping perf learns of the dump.
	if (mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, d->fd, 0) == MAP_FAILED) {
		perror("the marker");
		exit(1);
	}
}

void dump_source(struct dump *d, const struct source *s) {
	struct bytes b = {0};
	size_t at = begin(&b, EMBEDDED_SOURCE_FILE);
	put64(&b, s->size);
	put(&b, s->name, strlen(s->name) + 1);
	put(&b, s->text, s->size);
	pad(&b, at, 8);
	end(&b, at);
	flush(d, &b);
}

void dump_tier(struct dump *d, int tier, int color, const char *name) {
	struct bytes b = {0};
	size_t at = begin(&b, TIER);
	put32(&b, (uint32_t)tier);
	put32(&b, (uint32_t)color);
	put(&b, name, strlen(name) + 1);
	pad(&b, at, 4);
	end(&b, at);
	flush(d, &b);
}

void dump_function(struct dump *d, const struct program *p, const struct code *c, const uint8_t *address, int tier) {
	struct bytes b = {0};
	if (d->lines) {
		size_t at = begin(&b, DEBUG_INFO);
		debug_info(&b, p, c, address);
		end(&b, at);
	}
	size_t at = begin(&b, DEBUG_INFO2);
	debug_info2(&b, p, c, tier);
	end(&b, at);
	at = begin(&b, LOAD_RECORD);
	put32(&b, (uint32_t)getpid());
	put32(&b, (uint32_t)gettid());
	put64(&b, (uintptr_t)address);
	put64(&b, (uintptr_t)address);
	put64(&b, c->size);
	put64(&b, d->loaded++);
	put(&b, c->function->name, strlen(c->function->name) + 1);
	put(&b, address, c->size);
	end(&b, at);
	flush(d, &b); // at once, so that nothing comes between
}

void dump_close(struct dump *d) {
	struct bytes b = {0};
	end(&b, begin(&b, CLOSE));
	flush(d, &b);
	close(d->fd);
}
