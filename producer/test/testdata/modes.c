// modes MODE DIR: writes a dump to DIR in one of the ways that the tests check. It prints what the
// header reports, and what the tests need to know.
#define _GNU_SOURCE
#include "jitdump.h"

#include <assert.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char code[64] = "\x55\x48\x89\xe5\x5d\xc3";
static struct jitdump_options options;

static void report(void *context, const char *message)
{
	assert(context == &options);
	printf("%s\n", message);
	fflush(stdout);
}

static uint64_t load(const char *name, size_t size, struct jitdump_debug *d)
{
	struct jitdump_code c = {.name = name, .address = code, .size = size, .debug = d};
	return jitdump_code_load(&c);
}

static void open_in(const char *dir)
{
	options.directory = dir, options.report = report, options.context = &options;
	int error = jitdump_open(&options);
	if (error)
		printf("open: %d\n", error);
}

// A tree of calls: outer has two calls of inner at different sites, one of them in two places with a
// call of leaf inside, and a call that leaves no code.
static void tree(struct jitdump_debug *d)
{
	jitdump_debug_begin(d);
	uint32_t a = jitdump_debug_file(d, "/src/a.toy"), unused = jitdump_debug_file(d, "/src/unused.toy"), b = jitdump_debug_file(d, "/src/b.toy");
	assert(jitdump_debug_file(d, "/src/a.toy") == a);
	jitdump_debug_function(d, "outer", a, 1, 0, JITDUMP_USER | JITDUMP_IN_TIER(2));
	uint32_t inner = jitdump_debug_function(d, "inner", b, 10, 4, JITDUMP_USER), leaf = jitdump_debug_function(d, "leaf", b, 20, JITDUMP_NO_COLUMN, 0);
	jitdump_debug_function(d, "nowhere", unused, 1, 0, 0);
	assert(jitdump_debug_function(d, "inner", b, 10, 4, JITDUMP_USER) == inner);
	jitdump_debug_line(d, 0, a, 2, 0);
	jitdump_debug_push(d, 4, inner, 3, 8, 1);
	jitdump_debug_line(d, 4, b, 11, 0);
	jitdump_debug_push(d, 8, leaf, 12, JITDUMP_NO_COLUMN, 1);
	jitdump_debug_line(d, 8, b, 21, JITDUMP_NO_COLUMN);
	jitdump_debug_pop(d, 12);
	jitdump_debug_line(d, 12, b, 11, 0);
	jitdump_debug_line(d, 14, b, 11, 0); // the same
	jitdump_debug_pop(d, 16);
	jitdump_debug_push(d, 16, inner, 3, 8, 1); // goes on
	jitdump_debug_pop(d, 20);
	jitdump_debug_line(d, 20, a, 4, 0);
	jitdump_debug_push(d, 24, inner, 5, 8, 2);
	jitdump_debug_line(d, 24, b, 11, 0);
	jitdump_debug_pop(d, 28);
	jitdump_debug_push(d, 28, leaf, 6, 0, 3); // of no code
	jitdump_debug_pop(d, 28);
	jitdump_debug_line(d, 28, a, 99, 0); // replaced
	jitdump_debug_line(d, 28, a, 6, 0);
	jitdump_debug_push(d, 40, inner, 3, 8, 1); // again
	jitdump_debug_push(d, 42, leaf, 12, JITDUMP_NO_COLUMN, 1); // open to the end
}

static void *thread(void *of)
{
	struct jitdump_debug *d = jitdump_debug_new();
	for (long i = 0; i < *(long *)of; i++) {
		tree(d);
		load("outer", sizeof code, d);
		pthread_testcancel();
	}
	jitdump_debug_free(d);
	return NULL;
}

static void threads(long each)
{
	pthread_t t[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, thread, &each);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

static void wrong(struct jitdump_debug *d, int which)
{
	jitdump_debug_begin(d);
	uint32_t file = jitdump_debug_file(d, "a"), f = which ? jitdump_debug_function(d, "f", file, 1, 0, 0) : 0;
	switch (which) {
	case 1: jitdump_debug_pop(d, 4); break;
	case 2: jitdump_debug_line(d, 8, file, 1, 0), jitdump_debug_line(d, 4, file, 1, 0); break;
	case 3: jitdump_debug_line(d, 0, file + 1, 1, 0); break;
	case 4: jitdump_debug_push(d, 0, f + 1, 1, 0, 0); break;
	case 5:
		for (uint32_t i = 0; i < 257; i++)
			jitdump_debug_push(d, 0, f, 1, 0, 0);
		break;
	case 6: jitdump_debug_function(d, "g", file + 1, 1, 0, 0); break;
	case 7: jitdump_debug_line(d, sizeof code + 1, file, 1, 0); break;
	}
	load("wrong", sizeof code, d);
	printf("error: %s\n", jitdump_debug_error(d));
}

// Functions with rows of their own, in a section with bounds that the linker knows.
extern const char __start_measured[], __stop_measured[];
__attribute__((section("measured"), noinline, used)) static int known(int n)
{
	char *volatile on_stack = __builtin_alloca((size_t)n + 1);
	on_stack[0] = (char)n;
	return n > 0 ? known(n - 1) + on_stack[0] : 0;
}

__attribute__((section("measured"), noinline, used)) static int sum(const int *of, int n)
{
	return n ? of[0] + sum(of + 1, n - 1) : 0;
}

__attribute__((section("measured"), noinline, used)) static int leaf(int n) { return n + 1; }

// The .eh_frame of this program, which .eh_frame_hdr points at.
static int find_frames(struct dl_phdr_info *info, size_t size, void *to)
{
	struct jitdump_unwind *u = to;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_GNU_EH_FRAME)
			continue;
		const char *header = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), *end;
		int32_t to_frames;
		uint32_t length;
		memcpy(&to_frames, header + 4, 4);
		u->eh_frame = end = header + 4 + to_frames;
		for (memcpy(&length, end, 4); length; memcpy(&length, end, 4))
			end += 4 + length;
		u->eh_frame_size = (size_t)(end - (const char *)u->eh_frame);
	}
	return 1; // the program is the first
}

int main(int argc, char **argv)
{
	assert(argc == 3);
	const char *mode = argv[1];
	struct jitdump_debug *d = jitdump_debug_new();
	assert(!jitdump_is_open() && load("before", 8, NULL) == JITDUMP_NOT_WRITTEN);
	if (!strcmp(mode, "plain-lines-off"))
		options.flags = JITDUMP_NO_PLAIN_LINES;
	if (!strncmp(mode, "buffer", 6))
		options.buffer = 4096;
	if (!strcmp(mode, "no-children"))
		options.flags = JITDUMP_NO_CHILDREN;
	if (!strcmp(mode, "stdin"))
		close(0), close(1);
	if (strstr(mode, "full"))
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){10000, 10000});
	if (!strcmp(mode, "rows-machine"))
		options.machine = 243;
	open_in(argv[2]);
	jitdump_tier(2, JITDUMP_RED, "Optimizer");
	if (!strcmp(mode, "tree") || !strcmp(mode, "plain-lines-off") || !strcmp(mode, "stdin")) {
		jitdump_source("/src/b.toy", "text\n", 5);
		tree(d);
		assert(load("outer", sizeof code, d) == 0);
		jitdump_code_move(0, code, code + 8, sizeof code);
		assert(load("empty", 0, NULL) == JITDUMP_NOT_WRITTEN);
	} else if (!strcmp(mode, "twice")) {
		load("f", sizeof code, NULL);
		open_in(argv[2]);
	} else if (!strcmp(mode, "again")) {
		load("f", sizeof code, NULL);
		jitdump_close();
		load("nothing", sizeof code, NULL);
		open_in(argv[2]); // the old one is still mapped
	} else if (!strcmp(mode, "wrong")) {
		for (int i = 0; i < 8; i++)
			wrong(d, i);
	} else if (!strcmp(mode, "threads")) {
		threads(2000);
	} else if (!strcmp(mode, "million")) {
		threads(125000);
	} else if (!strcmp(mode, "buffer")) {
		threads(500);
	} else if (!strcmp(mode, "buffer-bound")) {
		struct stat st;
		struct jitdump_code c = {.name = "long", .address = code, .bytes = calloc(1, 10000), .size = 10000};
		jitdump_flush();
		assert(!fstat(jitdump_fd, &st));
		off_t all = st.st_size;
		for (int i = 0; i < 1000; i++) {
			load("f", sizeof code, NULL);
			all += 16 + 40 + 2 + (off_t)sizeof code;
			assert(!fstat(jitdump_fd, &st) && st.st_size <= all && all - st.st_size <= 4096);
		}
		assert(all > st.st_size); // or nothing is held back
		jitdump_code_load(&c);    // more than the buffer
		all += 16 + 40 + 5 + 10000;
		assert(!fstat(jitdump_fd, &st) && st.st_size == all);
		free((void *)c.bytes);
	} else if (!strcmp(mode, "buffer-killed")) {
		for (int i = 0; i < 100; i++)
			load("f", sizeof code, NULL);
		jitdump_flush();
		load("lost", sizeof code, NULL);
		raise(SIGKILL);
	} else if (!strcmp(mode, "fork") || !strcmp(mode, "no-children")) {
		load("parent", sizeof code, NULL);
		fflush(stdout);
		if (chdir("/")) // the directory may be relative
			return 1;
		pid_t child = fork();
		if (child == 0) {
			jitdump_code_move(0, code, code + 8, 8); // the parent's
			load("child", sizeof code, NULL);
			jitdump_code_move(1, code, code + 8, sizeof code);
			jitdump_close();
			_exit(0);
		}
		waitpid(child, NULL, 0);
		printf("child: %d\n", child);
		load("parent later", sizeof code, NULL);
	} else if (!strcmp(mode, "full") || !strcmp(mode, "buffer-full")) {
		for (int i = 0; i < 1000; i++)
			load("f", sizeof code, NULL);
		printf("open: %d\n", jitdump_is_open());
	} else if (!strcmp(mode, "gone")) {
		char *memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(memory, 4096);
		struct jitdump_code c = {.name = "gone", .address = memory, .size = 100};
		load("f", sizeof code, NULL);
		assert(jitdump_code_load(&c) == JITDUMP_NOT_WRITTEN);
		load("g", sizeof code, NULL);
	} else if (!strncmp(mode, "frames", 6)) {
		struct jitdump_unwind u = {0};
		dl_iterate_phdr(find_frames, &u);
		struct jitdump_code c = {.name = "measured", .address = __start_measured, .size = (size_t)(__stop_measured - __start_measured), .unwind = &u};
		if (!strcmp(mode, "frames-cut"))
			u.eh_frame_size -= 5;
		if (!strcmp(mode, "frames-other"))
			c.address = code, c.size = sizeof code;
		jitdump_code_load(&c);
	} else if (!strncmp(mode, "rows", 4)) {
		// push rbp; mov rbp, rsp; pop rbp; ret
		const struct jitdump_saved rbp = {6, -16}, odd = {3, -3}, none = {99, -16};
		struct jitdump_row rows[] = {{0, 7, 8, 0, NULL}, {1, 7, 16, 1, &rbp}, {4, 6, 16, 1, &rbp}, {5, 7, 8, 0, NULL}};
		struct jitdump_unwind u = {.rows = rows, .row_count = 4};
		struct jitdump_code c = {.name = "measured", .address = code, .size = 6, .unwind = &u};
		if (!strcmp(mode, "rows-order"))
			rows[2].offset = 0;
		if (!strcmp(mode, "rows-odd"))
			rows[0].saved_count = 1, rows[0].saved = &odd;
		if (!strcmp(mode, "rows-cfa"))
			rows[3].cfa_register = 99;
		if (!strcmp(mode, "rows-saved"))
			rows[3].saved_count = 1, rows[3].saved = &none;
		jitdump_code_load(&c);
	} else if (!strcmp(mode, "closed")) {
		load("f", sizeof code, NULL);
		char name[] = "precious-XXXXXX";
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
		for (int fd = mkstemp(name); fd < 1023; fd = dup(fd)) // all descriptors are another file's
			assert(fd > 0);
		load("lost", sizeof code, NULL);
		struct stat st;
		assert(!stat(name, &st) && st.st_size == 0 && !unlink(name));
		printf("open: %d\n", jitdump_is_open());
	} else if (!strcmp(mode, "cancelled")) {
		pthread_t t;
		long forever = 1L << 40;
		for (int i = 0; i < 20; i++) {
			pthread_create(&t, NULL, thread, &forever);
			usleep(500);
			pthread_cancel(t);
			pthread_join(t, NULL);
		}
		load("last", sizeof code, NULL);
	} else if (!strcmp(mode, "raw-fork")) {
		load("parent", sizeof code, NULL);
		pid_t child = (pid_t)syscall(SYS_fork);
		if (child == 0) {
			load("child", sizeof code, NULL);
			_exit(jitdump_is_open());
		}
		int status;
		waitpid(child, &status, 0);
		assert(status == 0);
		load("later", sizeof code, NULL);
	} else if (!strcmp(mode, "extra")) {
		struct jitdump_code c = {.name = "f", .address = code, .size = 8, .extra_id = 4711, .extra = "12345678", .extra_size = 8};
		jitdump_code_load(&c);
	}
	jitdump_debug_free(d);
	jitdump_close();
	return 0;
}
