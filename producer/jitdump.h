/*
 * jitdump.h: tells perf and jitinject which code a JIT compiler has made.
 *
 * One file of the program has the functions:
 *
 *     #define JITDUMP_IMPLEMENTATION
 *     #include "jitdump.h"
 *
 * All others include it without the macro. It needs Linux, C99 or C++11, and libc (-pthread).
 *
 *     struct jitdump_options options = {0};
 *     jitdump_open(&options);                      // once, before the first function
 *     ...
 *     if (jitdump_is_open()) {                     // one load and one branch
 *         struct jitdump_code code = {0};
 *         code.name = "square", code.address = memory, code.size = 42;
 *         jitdump_code_load(&code);                // before the code runs
 *     }
 *     ...
 *     jitdump_close();
 *
 * The user then runs: perf record -k mono -g PROGRAM, jitinject, perf report -i perf.jit.data.
 *
 * Threads. All functions but jitdump_open and jitdump_close may be called by any number of threads.
 * One mutex orders the records. A struct jitdump_debug belongs to one thread at a time.
 *
 * Signals. No function but jitdump_is_open may be called in a signal handler.
 *
 * Forks. A child writes a dump of its own in the same directory, from its first record on. It inherits
 * the functions that its parent has described, but cannot move them: it describes them again. After
 * vfork, call nothing before exec. A child that was made without the handlers of fork (_Fork, clone)
 * writes nothing. A program after exec replaces the dump if it writes one: the pid is the same.
 *
 * Errors are reported to options.report: of wrong lines, wrong unwind rows and unreadable code, only
 * those of the first function. After an error of writing, the dump ends
 * at its last whole record, nothing more is written, and the program goes on. So it does if the
 * program closes the dump's descriptor. A limit of file sizes (ulimit -f) must be set before
 * jitdump_open: later ones send SIGXFSZ.
 *
 * Numbers are in the byte order of the machine. The records are specified in
 * jitdump-specification.txt of Linux and in docs/formats/jitdump-extensions.txt of jitinject.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef JITDUMP_H
#define JITDUMP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The linkage of all functions. Those of two libraries in a process must not be taken for each other,
   so they are hidden. */
#ifndef JITDUMP_API
#define JITDUMP_API extern __attribute__((visibility("hidden")))
#endif

#define JITDUMP_VERSION 1

/* An unknown column, and the number of a function that was not written. */
#define JITDUMP_NO_COLUMN UINT32_C(0xffffffff)
#define JITDUMP_NOT_WRITTEN UINT64_C(0xffffffffffffffff)

/* Flags of struct jitdump_options. */
enum {
	/* Writes lines only with inlined calls, for jitinject and samply. perf inject then shows none. */
	JITDUMP_NO_PLAIN_LINES = 1,
	/* Forked children write no dump. */
	JITDUMP_NO_CHILDREN = 2
};

/* How to open the dump. All fields may be zero. */
struct jitdump_options {
	/* Directory of the dump, jit-PID.dump. NULL: the environment's JITDUMPDIR, or else the current
	   directory. It must not be mounted noexec. */
	const char *directory;
	/* ELF machine (e_machine) of the code. 0: that of this program. */
	uint32_t machine;
	uint32_t flags;
	/* Bytes that may be held back before they are written. With 0, each function is written at once,
	   and a killed process loses none. */
	size_t buffer;
	/* Gets errors, one line without a newline each. A lock is held: it must not call functions of this
	   header, fork, or throw. */
	void (*report)(void *context, const char *message);
	void *context;
};

/*
 * jitdump_open creates the dump and maps it, which is how perf learns of it. A dump of an earlier
 * process with the same pid is replaced; links are never followed. It returns 0, or an errno value:
 * then the dump is not open. EBUSY: this process has a dump already, perhaps of another library.
 */
JITDUMP_API int jitdump_open(const struct jitdump_options *options);

/* jitdump_flush writes what was held back. */
JITDUMP_API void jitdump_flush(void);

/* jitdump_close ends the dump. Later calls write nothing. */
JITDUMP_API void jitdump_close(void);

/* For jitdump_is_open only. 0: closed; -1: a child has not written yet. */
JITDUMP_API int jitdump_fd;

/* jitdump_is_open reports whether functions are written: false before jitdump_open, after
   jitdump_close, and after an error of writing. */
static inline int jitdump_is_open(void) { return __atomic_load_n(&jitdump_fd, __ATOMIC_RELAXED) != 0; }

/*
 * Lines and inlined calls of a function. They are recorded while code is emitted, at offsets in the
 * code that do not decrease:
 *
 *     jitdump_debug_begin(d);
 *     file = jitdump_debug_file(d, "/src/poly.toy");
 *     poly = jitdump_debug_function(d, "poly", file, 1, 0, JITDUMP_USER);     // the first is the outer one
 *     square = jitdump_debug_function(d, "square", file, 8, 0, JITDUMP_USER);
 *     jitdump_debug_line(d, 0, file, 2, 4);
 *     jitdump_debug_push(d, 4, square, 3, 8, 1);                              // square is inlined from 4 on
 *     jitdump_debug_line(d, 4, file, 9, 4);
 *     jitdump_debug_pop(d, 9);                                                // up to 9
 *     jitdump_debug_line(d, 9, file, 3, 18);
 *
 * Lines count from 1; 0 is no line. Columns count from 0. All names are copied.
 */
struct jitdump_debug;

/* Flags of functions: it comes from the user's program, and the tier of the outer one. */
#define JITDUMP_USER UINT32_C(1)
#define JITDUMP_IN_TIER(tier) ((uint32_t)(tier) << 24)

/* jitdump_debug_new returns an empty record, or NULL without memory. It keeps its memory for use
   again until jitdump_debug_free. */
JITDUMP_API struct jitdump_debug *jitdump_debug_new(void);
JITDUMP_API void jitdump_debug_free(struct jitdump_debug *d);

/* jitdump_debug_begin empties the record for the next function. */
JITDUMP_API void jitdump_debug_begin(struct jitdump_debug *d);

/* jitdump_debug_file returns the number of a source file, the same for the same name. Absolute names
   are best. */
JITDUMP_API uint32_t jitdump_debug_file(struct jitdump_debug *d, const char *name);

/* jitdump_debug_function returns the number of a source function, which begins at a line of a file.
   Function 0, the first, is the one that the code is of. */
JITDUMP_API uint32_t jitdump_debug_function(struct jitdump_debug *d, const char *name, uint32_t file, uint32_t line, uint32_t column, uint32_t flags);

/* jitdump_debug_line records the source of the code from an offset up to the next call's. Call it after
   each push and pop, too: these do not change the line. */
JITDUMP_API void jitdump_debug_line(struct jitdump_debug *d, uint32_t offset, uint32_t file, uint32_t line, uint32_t column);

/*
 * jitdump_debug_push records that from an offset on, code is of a function that was inlined into the
 * one around it, which calls it at a line of its own file. jitdump_debug_pop ends the innermost call.
 * Code of a call may be in several places: push it again. Pushes with the same function and site in
 * the same call are one call; the site is a number of your choice, such as a byte code index.
 */
JITDUMP_API void jitdump_debug_push(struct jitdump_debug *d, uint32_t offset, uint32_t function, uint32_t line, uint32_t column, uint64_t site);
JITDUMP_API void jitdump_debug_pop(struct jitdump_debug *d, uint32_t offset);

/* jitdump_debug_error returns the first error since jitdump_debug_begin, or NULL. jitdump_code_load
   reports it, and writes the function without lines. */
JITDUMP_API const char *jitdump_debug_error(const struct jitdump_debug *d);

/* A register that was saved: at CFA + cfa_offset. reg is its DWARF number. */
struct jitdump_saved {
	uint32_t reg;
	int32_t cfa_offset;
};

/*
 * A row says how to unwind from code at an offset, up to the next row's. The CFA (canonical frame
 * address) is cfa_register + cfa_offset: the caller's stack pointer. saved has all registers that the
 * function has saved there, without the return address of x86. Other registers have the caller's values.
 */
struct jitdump_row {
	uint32_t offset;
	uint32_t cfa_register; /* DWARF number */
	int32_t cfa_offset;
	uint32_t saved_count;
	const struct jitdump_saved *saved;
};

/* Tables for stacks of perf record --call-graph dwarf: rows in the order of their offsets (x86 and
   arm64), or else .eh_frame as it lies in memory: its entries that begin in the code are used. Code
   with frame pointers needs none. perf inject maps the tables right after the code: leave about 128
   bytes between functions, or it takes names from what lies there. jitinject needs no room. */
struct jitdump_unwind {
	const struct jitdump_row *rows;
	size_t row_count;
	const void *eh_frame;
	size_t eh_frame_size;
};

/* A function to be written. */
struct jitdump_code {
	const char *name;             /* as reports show it, not NULL; mangled names are demangled */
	const void *address;          /* where it runs */
	const void *bytes;            /* the code, if it is not at address yet; or NULL */
	size_t size;                  /* of the code in bytes; 0: nothing is written */
	struct jitdump_debug *debug;         /* or NULL */
	const struct jitdump_unwind *unwind; /* or NULL */
	/* A record of your own before the function: its id and body. extra_size 0: none. */
	uint32_t extra_id;
	const void *extra;
	size_t extra_size;
};

/*
 * jitdump_code_load writes a function, with one system call. Call it when the code is in its place
 * and before it runs; again if the code was patched. It returns a number for jitdump_code_move, or
 * JITDUMP_NOT_WRITTEN. Memory of the code that is gone costs this function only, if options.buffer
 * is 0.
 */
JITDUMP_API uint64_t jitdump_code_load(const struct jitdump_code *code);

/* jitdump_code_move records that a function with that number has moved. */
JITDUMP_API void jitdump_code_move(uint64_t number, const void *from, const void *to, size_t size);

/* Colors of tiers. */
enum {
	JITDUMP_GREY, JITDUMP_TRANSPARENT, JITDUMP_PURPLE, JITDUMP_GREEN, JITDUMP_ORANGE, JITDUMP_YELLOW, JITDUMP_LIGHT_BLUE,
	JITDUMP_BLUE, JITDUMP_BROWN, JITDUMP_MAGENTA, JITDUMP_RED, JITDUMP_LIGHT_RED, JITDUMP_DARK_GREY
};

/* jitdump_tier names a tier of the compiler, 1 to 255, before the first function in it. */
JITDUMP_API void jitdump_tier(uint32_t tier, uint32_t color, const char *name);

/* jitdump_source writes the text of a source file, before the first function with lines of it. Use it
   for sources that are in no file, and for listings of byte code. */
JITDUMP_API void jitdump_source(const char *name, const void *text, size_t size);

/*
 * Bytes of a record of your own: a growing array. Without memory it becomes failed, and stays empty
 * until it is reset: look at the end, not at each step. Begin with all fields zero.
 */
struct jitdump_bytes {
	char *at;
	size_t len, cap;
	int failed;
};

/* jitdump_bytes_reset empties it and keeps its memory; jitdump_bytes_free frees that. */
JITDUMP_API void jitdump_bytes_reset(struct jitdump_bytes *b);
JITDUMP_API void jitdump_bytes_free(struct jitdump_bytes *b);
/* jitdump_bytes_grow adds n bytes for the caller to fill, and returns them, or NULL without memory. */
JITDUMP_API void *jitdump_bytes_grow(struct jitdump_bytes *b, size_t n);
JITDUMP_API void jitdump_bytes_add(struct jitdump_bytes *b, const void *from, size_t n);
JITDUMP_API void jitdump_bytes_u32(struct jitdump_bytes *b, uint32_t v);
JITDUMP_API void jitdump_bytes_u64(struct jitdump_bytes *b, uint64_t v);
/* jitdump_bytes_pad adds zeros up to a multiple of align, a power of two up to 8, of the bytes from an
   offset on. */
JITDUMP_API void jitdump_bytes_pad(struct jitdump_bytes *b, size_t from, size_t align);

#ifdef __cplusplus
}
#endif
#endif /* JITDUMP_H */

/* ------------------------------------------------------------------------------------------------ */
#if defined(JITDUMP_IMPLEMENTATION) && !defined(JITDUMP_IMPLEMENTED)
#define JITDUMP_IMPLEMENTED

#ifndef __linux__
#error "jitdump.h: perf is Linux's: include it there only"
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#if !defined(O_NOFOLLOW) || !defined(O_CLOEXEC) || !defined(CLOCK_MONOTONIC) || !defined(MAP_ANONYMOUS)
#error "jitdump.h: define _GNU_SOURCE before the first #include of the file with JITDUMP_IMPLEMENTATION"
#endif

/* Memory of records, in the way of realloc and free. */
#ifndef JITDUMP_REALLOC
#define JITDUMP_REALLOC realloc
#define JITDUMP_FREE free
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef __cplusplus
/* glibc declares it only for some feature macros. */
extern long syscall(long number, ...);
#endif

/* The machine that this file is compiled for. */
#if defined(__x86_64__)
#define JITDUMP_MACHINE 62
#elif defined(__i386__)
#define JITDUMP_MACHINE 3
#elif defined(__aarch64__)
#define JITDUMP_MACHINE 183
#elif defined(__arm__)
#define JITDUMP_MACHINE 40
#elif defined(__riscv)
#define JITDUMP_MACHINE 243
#elif defined(__powerpc64__)
#define JITDUMP_MACHINE 21
#elif defined(__powerpc__)
#define JITDUMP_MACHINE 20
#elif defined(__s390__)
#define JITDUMP_MACHINE 22
#elif defined(__loongarch__)
#define JITDUMP_MACHINE 258
#elif defined(__mips__)
#define JITDUMP_MACHINE 8
#elif defined(__sparc__) && defined(__arch64__)
#define JITDUMP_MACHINE 43
#else
#define JITDUMP_MACHINE 0
#endif

/* Records. */
enum {
	JITDUMP__LOAD = 0,
	JITDUMP__MOVE = 1,
	JITDUMP__DEBUG_INFO = 2,
	JITDUMP__CLOSE = 3,
	JITDUMP__UNWINDING = 4,
	JITDUMP__DEBUG_INFO2 = 827346259,
	JITDUMP__TIER = 827346260,
	JITDUMP__SOURCE = 827346261
};

/* ---- Bytes: a growing array ---- */

void jitdump_bytes_reset(struct jitdump_bytes *b) { b->len = 0, b->failed = 0; }

void *jitdump_bytes_grow(struct jitdump_bytes *b, size_t n)
{
	void *to;
	if (b->failed)
		return NULL;
	if (n > b->cap - b->len) {
		size_t cap = b->cap ? b->cap : 256;
		char *at;
		while (cap - b->len < n && cap <= SIZE_MAX / 2)
			cap *= 2;
		at = cap - b->len < n ? NULL : (char *)JITDUMP_REALLOC(b->at, cap);
		if (!at) {
			b->failed = 1, b->len = 0;
			return NULL;
		}
		b->at = at, b->cap = cap;
	}
	to = b->at + b->len;
	b->len += n;
	return to;
}

void jitdump_bytes_add(struct jitdump_bytes *b, const void *from, size_t n)
{
	void *to = n ? jitdump_bytes_grow(b, n) : NULL;
	if (to)
		memcpy(to, from, n);
}

void jitdump_bytes_u32(struct jitdump_bytes *b, uint32_t v) { jitdump_bytes_add(b, &v, sizeof v); }
void jitdump_bytes_u64(struct jitdump_bytes *b, uint64_t v) { jitdump_bytes_add(b, &v, sizeof v); }

void jitdump_bytes_pad(struct jitdump_bytes *b, size_t from, size_t align)
{
	static const char zeros[8] = {0};
	if (!b->failed)
		jitdump_bytes_add(b, zeros, (size_t)(0 - (b->len - from)) & (align - 1));
}

void jitdump_bytes_free(struct jitdump_bytes *b)
{
	JITDUMP_FREE(b->at);
	memset(b, 0, sizeof *b);
}

/* ---- The dump ---- */

struct jitdump__prefix {
	uint32_t id, size;
	uint64_t timestamp;
};

struct jitdump__load {
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
};

struct jitdump__move {
	uint32_t pid, tid;
	uint64_t vma, old_code_addr, new_code_addr, code_size, code_index;
};

/* The lock covers all fields. jitdump_fd is written under it, too. */
static struct {
	pthread_mutex_t lock;
	off_t end; /* of the last whole record in the file */
	uint64_t index, first; /* of the next function; of the first one in the file */
	pid_t pid;             /* of the process that may write */
	dev_t device;          /* of the file, as is inode */
	ino_t inode;
	int limited; /* there is a limit of file sizes */
	uint32_t machine, flags;
	size_t most; /* bytes to hold back */
	void (*report)(void *, const char *);
	void *context;
	int forks; /* handlers of forks are set */
	int bad_debug, bad_unwind, bad_code; /* was reported */
	struct jitdump_bytes held, plain, tables;
	char directory[PATH_MAX], path[PATH_MAX + 32];
} jitdump__dump = {PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, {NULL, 0, 0, 0}, {NULL, 0, 0, 0}, {NULL, 0, 0, 0}, "", ""};

int jitdump_fd;

static uint64_t jitdump__now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static size_t jitdump__text(char *to, size_t size, size_t at, const char *text)
{
	while (*text && at + 1 < size)
		to[at++] = *text++;
	to[at] = 0;
	return at;
}

static void jitdump__report(const char *what, const char *name, int error, const char *then)
{
	char text[PATH_MAX + 256], digits[16];
	size_t at, n = sizeof digits - 1;
	if (!jitdump__dump.report)
		return;
	at = jitdump__text(text, sizeof text, 0, what);
	at = jitdump__text(text, sizeof text, at, name);
	if (error) {
		at = jitdump__text(text, sizeof text, at, ": ");
		/* strerror is not for several threads. */
		switch (error) {
		case ENOSPC: at = jitdump__text(text, sizeof text, at, "no space left on device"); break;
		case EACCES: at = jitdump__text(text, sizeof text, at, "permission denied"); break;
		case EPERM: at = jitdump__text(text, sizeof text, at, "operation not permitted"); break;
		case ENOENT: at = jitdump__text(text, sizeof text, at, "no such file or directory"); break;
		case EDQUOT: at = jitdump__text(text, sizeof text, at, "disk quota exceeded"); break;
		case EFBIG: at = jitdump__text(text, sizeof text, at, "file too large"); break;
		case EIO: at = jitdump__text(text, sizeof text, at, "input/output error"); break;
		case EROFS: at = jitdump__text(text, sizeof text, at, "read-only file system"); break;
		case EBUSY: at = jitdump__text(text, sizeof text, at, "this process has it open already"); break;
		default:
			digits[n] = 0;
			while (error > 0)
				digits[--n] = (char)('0' + error % 10), error /= 10;
			at = jitdump__text(text, sizeof text, at, "error ");
			at = jitdump__text(text, sizeof text, at, digits + n);
		}
	}
	jitdump__text(text, sizeof text, at, then);
	jitdump__dump.report(jitdump__dump.context, text);
}

/* Reports what is left out of a function, and why. */
static void jitdump__report_function(const char *what, const char *function, const char *why)
{
	char text[512];
	size_t at;
	if (!jitdump__dump.report)
		return;
	at = jitdump__text(text, sizeof text, 0, what);
	at = jitdump__text(text, sizeof text / 2, at, function);
	at = jitdump__text(text, sizeof text, at, ": ");
	jitdump__text(text, sizeof text, at, why);
	jitdump__dump.report(jitdump__dump.context, text);
}

static void jitdump__set_fd(int fd) { __atomic_store_n(&jitdump_fd, fd, __ATOMIC_RELEASE); }

/* Takes the lock. No thread is cancelled while it has it. */
static void jitdump__lock(int *cancel)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel);
	pthread_mutex_lock(&jitdump__dump.lock);
}

static void jitdump__unlock(int cancel)
{
	pthread_mutex_unlock(&jitdump__dump.lock);
	pthread_setcancelstate(cancel, &cancel);
}

/* Reports whether the descriptor is still the dump's. Programs that become daemons close all. */
static int jitdump__is_ours(void)
{
	struct stat st;
	return !fstat(jitdump_fd, &st) && st.st_dev == jitdump__dump.device && st.st_ino == jitdump__dump.inode;
}

/* Writes like pwritev. A limit of file sizes is an error, and no signal. */
static ssize_t jitdump__pwritev(const struct iovec *parts, int count, off_t at)
{
	sigset_t limit, old, pending;
	struct timespec now = {0, 0};
	ssize_t n;
	int error, was_pending;
	if (!jitdump__dump.limited)
		return pwritev(jitdump_fd, parts, count, at);
	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &limit, &old);
	n = pwritev(jitdump_fd, parts, count, at);
	error = errno;
	if (n < 0 && error == EFBIG && !was_pending)
		sigtimedwait(&limit, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = error;
	return n;
}

/* Writes all parts, or nothing: after an error, the file is cut back to its last whole record. */
static int jitdump__write(struct iovec *parts, int count)
{
	off_t at = jitdump__dump.end;
	int error, i;
	if (!jitdump__is_ours()) {
		jitdump__report("the program has closed the descriptor of ", jitdump__dump.path, 0, "; the jitdump ends here, and the program goes on");
		jitdump__set_fd(0);
		return 0;
	}
	for (;;) {
		ssize_t n;
		while (count > 0 && parts->iov_len == 0)
			parts++, count--;
		if (count == 0) {
			jitdump__dump.end = at;
			return 1;
		}
		n = jitdump__pwritev(parts, count, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += n;
		/* A full device takes what fits, and the next call fails. */
		for (i = 0; i < count && n > 0; i++) {
			size_t part = (size_t)n < parts[i].iov_len ? (size_t)n : parts[i].iov_len;
			parts[i].iov_base = (char *)parts[i].iov_base + part;
			parts[i].iov_len -= part;
			n -= (ssize_t)part;
		}
	}
	error = errno;
	if (!ftruncate(jitdump_fd, jitdump__dump.end)) {
		if (error == EFAULT) { /* the memory of one function is gone, or cannot be read */
			if (!jitdump__dump.bad_code++)
				jitdump__report("the code of a function cannot be read; it is left out of ", jitdump__dump.path, 0, "");
			return 0;
		}
		jitdump__report("cannot write ", jitdump__dump.path, error, "; the jitdump ends here, and the program goes on");
	} else {
		jitdump__report("cannot write ", jitdump__dump.path, error, "; the jitdump ends in the middle of a record, and the program goes on");
	}
	close(jitdump_fd);
	jitdump__set_fd(0);
	return 0;
}

/* Writes the held bytes. */
static int jitdump__flush(void)
{
	struct iovec part;
	part.iov_base = jitdump__dump.held.at, part.iov_len = jitdump__dump.held.len;
	jitdump__dump.held.len = 0;
	return jitdump__write(&part, 1);
}

/* Writes or holds back whole records. */
static int jitdump__put(struct iovec *parts, int count)
{
	struct jitdump_bytes *held = &jitdump__dump.held;
	size_t total = 0;
	int i;
	if (!jitdump__dump.most)
		return jitdump__write(parts, count);
	for (i = 0; i < count; i++)
		total += parts[i].iov_len;
	if (held->len + total > jitdump__dump.most && held->len && !jitdump__flush())
		return 0;
	if (total > jitdump__dump.most)
		return jitdump__write(parts, count);
	for (i = 0; i < count; i++)
		jitdump_bytes_add(held, parts[i].iov_base, parts[i].iov_len); /* it has memory for most */
	return 1;
}

/* Finds a dump that this process maps: of a library with a copy of this file, or another producer. */
static int jitdump__is_mapped(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];
	size_t n = strlen(name);
	int found = 0;
	if (!maps)
		return 0;
	while (!found && fgets(line, sizeof line, maps)) {
		size_t len = strcspn(line, "\n");
		found = len > n && line[len - n - 1] == '/' && !memcmp(line + len - n, name, n);
	}
	fclose(maps);
	return found;
}

/* Makes the file's name from the directory and the process. */
static int jitdump__make_path(const char **name)
{
	char digits[16];
	size_t n = sizeof digits - 1, at;
	long pid = (long)getpid();
	digits[n] = 0;
	do
		digits[--n] = (char)('0' + pid % 10), pid /= 10;
	while (pid > 0);
	at = jitdump__text(jitdump__dump.path, sizeof jitdump__dump.path, 0, jitdump__dump.directory);
	at = jitdump__text(jitdump__dump.path, sizeof jitdump__dump.path, at, "/");
	*name = jitdump__dump.path + at;
	at = jitdump__text(jitdump__dump.path, sizeof jitdump__dump.path, at, "jit-");
	at = jitdump__text(jitdump__dump.path, sizeof jitdump__dump.path, at, digits + n);
	at = jitdump__text(jitdump__dump.path, sizeof jitdump__dump.path, at, ".dump");
	return at < PATH_MAX ? 0 : ENAMETOOLONG;
}

/* Creates the file and maps it. It returns 0 or an errno value. */
static int jitdump__create(void)
{
	struct {
		uint32_t magic, version, size, machine, pad, pid;
		uint64_t timestamp, flags;
	} head;
	struct iovec part;
	struct stat st;
	struct rlimit limit;
	const char *name;
	long page = sysconf(_SC_PAGESIZE);
	int fd, high, error = jitdump__make_path(&name);
	jitdump__set_fd(0);
	if (error) {
		jitdump__report("cannot create ", jitdump__dump.path, error, "; no jitdump is written");
		return error;
	}
	/* The dump of a dead process with this pid, or a trap in a directory that others may write to, is
	   removed. The code may hold secrets: only the user may read it. */
	if (unlink(jitdump__dump.path) && errno != ENOENT)
		fd = -1;
	else
		fd = open(jitdump__dump.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	/* Low descriptors may be taken for standard streams, or for others that programs close. */
	if (fd >= 0 && ((high = fcntl(fd, F_DUPFD_CLOEXEC, 200)) >= 0 || (high = fcntl(fd, F_DUPFD_CLOEXEC, 3)) >= 0)) {
		close(fd);
		fd = high;
	}
	if (fd < 3 || fstat(fd, &st)) {
		error = errno;
		if (fd >= 0)
			close(fd);
		jitdump__report("cannot create ", jitdump__dump.path, error, "; no jitdump is written");
		return error;
	}
	memset(&head, 0, sizeof head);
	head.magic = 0x4A695444; /* "JiTD" */
	head.version = 1;        /* perf refuses others */
	head.size = sizeof head;
	head.machine = jitdump__dump.machine;
	head.pid = (uint32_t)getpid();
	head.timestamp = jitdump__now();
	part.iov_base = &head, part.iov_len = sizeof head;
	jitdump__dump.end = 0;
	jitdump__dump.held.len = 0;
	jitdump__dump.first = jitdump__dump.index;
	jitdump__dump.pid = getpid();
	jitdump__dump.device = st.st_dev, jitdump__dump.inode = st.st_ino;
	jitdump__dump.limited = !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY;
	jitdump__set_fd(fd);
	if (!jitdump__write(&part, 1)) {
		unlink(jitdump__dump.path);
		return ENOSPC;
	}
	/* perf records mappings of executable memory. It stays: a perf that attaches later finds it. */
	if (mmap(NULL, (size_t)page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
		error = errno;
		jitdump__set_fd(0);
		close(fd);
		unlink(jitdump__dump.path);
		jitdump__report("cannot map ", jitdump__dump.path, error,
			error == EPERM || error == EACCES ? "; no jitdump is written: choose a directory that is not mounted noexec" : "; no jitdump is written: perf could not find it");
		return error;
	}
	return 0;
}

static void jitdump__before_fork(void) { pthread_mutex_lock(&jitdump__dump.lock); }
static void jitdump__in_parent(void) { pthread_mutex_unlock(&jitdump__dump.lock); }

/* The child has the parent's descriptor and held bytes: they are the parent's. It gets a file when it
   writes: most children only call exec. */
static void jitdump__in_child(void)
{
	if (jitdump_fd > 0 && jitdump__is_ours())
		close(jitdump_fd);
	if (jitdump_fd)
		jitdump__set_fd(jitdump__dump.flags & JITDUMP_NO_CHILDREN ? 0 : -1);
	jitdump__dump.pid = getpid();
	pthread_mutex_unlock(&jitdump__dump.lock);
}

/* Takes the lock if records can be written, and reports whether they can. */
static int jitdump__begin(int *cancel)
{
	if (!jitdump_is_open())
		return 0;
	if (jitdump__dump.pid != getpid()) {
		jitdump__set_fd(0); /* a child that the handlers do not know: a lost thread may have the lock */
		return 0;
	}
	jitdump__lock(cancel);
	if (jitdump_fd > 0 || (jitdump_fd < 0 && !jitdump__create()))
		return 1;
	jitdump__unlock(*cancel);
	return 0;
}

/* Sets the directory, as an absolute path: a child may have another current directory. */
static int jitdump__set_directory(const char *directory)
{
	char *to = jitdump__dump.directory;
	size_t size = sizeof jitdump__dump.directory, at = 0;
	if (*directory != '/') {
		if (!getcwd(to, size))
			return errno;
		at = strlen(to);
	}
	if (at + 1 + strlen(directory) >= size)
		return ENAMETOOLONG;
	if (at > 0)
		at = jitdump__text(to, size, at, "/");
	jitdump__text(to, size, at, directory);
	return 0;
}

int jitdump_open(const struct jitdump_options *options)
{
	const char *directory = options->directory ? options->directory : getenv("JITDUMPDIR"), *name = "";
	int error = 0, cancel;
	if (!directory || !*directory)
		directory = ".";
	jitdump__lock(&cancel);
	if (jitdump_fd) {
		jitdump__unlock(cancel);
		return EBUSY;
	}
	jitdump__dump.machine = options->machine ? options->machine : JITDUMP_MACHINE;
	jitdump__dump.flags = options->flags;
	jitdump__dump.most = options->buffer;
	jitdump__dump.report = options->report;
	jitdump__dump.context = options->context;
	jitdump__dump.bad_debug = jitdump__dump.bad_unwind = jitdump__dump.bad_code = 0;
	error = jitdump__set_directory(directory);
	if (!error)
		error = jitdump__make_path(&name);
	jitdump_bytes_free(&jitdump__dump.held);
	if (!error && options->buffer && !jitdump_bytes_grow(&jitdump__dump.held, options->buffer))
		error = ENOMEM;
	jitdump_bytes_reset(&jitdump__dump.held);
	if (error)
		jitdump__report("cannot create ", jitdump__dump.path, error, "; no jitdump is written");
	else if (jitdump__is_mapped(name))
		jitdump__report("cannot create ", jitdump__dump.path, error = EBUSY, "; no second jitdump is written");
	else
		error = jitdump__create();
	if (!error && !jitdump__dump.forks)
		jitdump__dump.forks = !pthread_atfork(jitdump__before_fork, jitdump__in_parent, jitdump__in_child);
	jitdump__unlock(cancel);
	return error;
}

void jitdump_flush(void)
{
	int cancel;
	if (!jitdump__begin(&cancel))
		return;
	if (jitdump__dump.held.len)
		jitdump__flush();
	jitdump__unlock(cancel);
}

void jitdump_close(void)
{
	struct jitdump__prefix p;
	struct iovec part;
	int cancel;
	if (!jitdump_is_open() || jitdump__dump.pid != getpid())
		return;
	jitdump__lock(&cancel);
	if (jitdump_fd > 0) {
		p.id = JITDUMP__CLOSE, p.size = sizeof p, p.timestamp = jitdump__now();
		part.iov_base = &p, part.iov_len = sizeof p;
		if (jitdump__put(&part, 1) && jitdump__dump.held.len)
			jitdump__flush();
	}
	if (jitdump_fd > 0)
		close(jitdump_fd);
	jitdump__set_fd(0);
	jitdump_bytes_free(&jitdump__dump.held);
	jitdump_bytes_free(&jitdump__dump.plain);
	jitdump_bytes_free(&jitdump__dump.tables);
	jitdump__unlock(cancel);
}

/* ---- Lines and inlined calls ---- */

/* No node, range or number. */
#define JITDUMP__NONE UINT32_C(0xffffffff)

/* How deep calls may be: the depth of the innermost is at most 255. */
enum { JITDUMP__MAX_CALLS = 256 };

struct jitdump__file {
	uint32_t name;   /* offset in names */
	uint32_t number; /* in the record, or NONE */
};

struct jitdump__function {
	uint32_t name, file, line, column, flags;
	uint32_t number; /* in the record, or NONE */
};

/* A node of the tree of calls. Node 0 is the outer function. */
struct jitdump__call {
	uint32_t parent, function, line, column;
	uint64_t site;
	uint32_t first_child, last_child, next_sibling;
	uint32_t first_range, last_range, range_count;
};

struct jitdump__range {
	uint32_t start, end, next;
};

struct jitdump__line {
	uint32_t offset, file, line, column;
};

/* A set of numbers of things, by a hash of the thing. */
struct jitdump__slot {
	uint32_t hash, number; /* NONE: free */
};

struct jitdump__set {
	struct jitdump__slot *slots;
	uint32_t cap, count; /* cap is a power of two, or 0 */
};

struct jitdump_debug {
	const char *error;
	struct jitdump_bytes names, files, functions, calls, ranges, lines;
	struct jitdump__set files_by_name, functions_by_name, calls_by_key;
	uint32_t stack[JITDUMP__MAX_CALLS + 1], starts[JITDUMP__MAX_CALLS + 1]; /* the open calls */
	uint32_t depth; /* number of open calls */
	uint32_t last;  /* offset of the last event */
	/* The result. */
	struct jitdump_bytes record, inline_calls, used_ranges;
	uint32_t file_count, function_count;
	struct jitdump_bytes used_files, used_functions; /* by their numbers in the record */
};

#define JITDUMP__AT(bytes, type, i) ((type *)(void *)(bytes).at + (i))
#define JITDUMP__COUNT(bytes, type) ((uint32_t)((bytes).len / sizeof(type)))

static uint32_t jitdump__hash(uint32_t hash, const void *of, size_t n)
{
	const unsigned char *p = (const unsigned char *)of;
	while (n--)
		hash = (hash ^ *p++) * 16777619u; /* FNV-1a */
	return hash;
}

#define JITDUMP__SEED UINT32_C(2166136261)

static void jitdump__clear_set(struct jitdump__set *s)
{
	if (s->cap > 4096 && s->count < s->cap / 32) { /* one function was large: others do not pay for it */
		JITDUMP_FREE(s->slots);
		memset(s, 0, sizeof *s);
	}
	if (s->count)
		memset(s->slots, 0xff, s->cap * sizeof *s->slots);
	s->count = 0;
}

/* Returns the next number with a hash, or NONE. *pos is the hash at first. */
static uint32_t jitdump__next(const struct jitdump__set *s, uint32_t hash, uint32_t *pos)
{
	while (s->cap) {
		const struct jitdump__slot *slot = &s->slots[*pos & (s->cap - 1)];
		if (slot->number == JITDUMP__NONE)
			break;
		++*pos;
		if (slot->hash == hash)
			return slot->number;
	}
	return JITDUMP__NONE;
}

/* Adds a number. It returns 0 without memory. */
static int jitdump__put_set(struct jitdump__set *s, uint32_t hash, uint32_t number)
{
	uint32_t pos;
	if (s->count >= s->cap / 2) {
		struct jitdump__set old = *s;
		uint32_t i;
		s->cap = old.cap ? 2 * old.cap : 64, s->count = 0;
		s->slots = (struct jitdump__slot *)JITDUMP_REALLOC(NULL, s->cap * sizeof *s->slots);
		if (!s->slots) {
			*s = old;
			return 0;
		}
		memset(s->slots, 0xff, s->cap * sizeof *s->slots);
		for (i = 0; i < old.cap; i++)
			if (old.slots[i].number != JITDUMP__NONE)
				jitdump__put_set(s, old.slots[i].hash, old.slots[i].number);
		JITDUMP_FREE(old.slots);
	}
	for (pos = hash; s->slots[pos & (s->cap - 1)].number != JITDUMP__NONE; pos++)
		;
	s->slots[pos & (s->cap - 1)].hash = hash;
	s->slots[pos & (s->cap - 1)].number = number;
	s->count++;
	return 1;
}

struct jitdump_debug *jitdump_debug_new(void)
{
	struct jitdump_debug *d = (struct jitdump_debug *)JITDUMP_REALLOC(NULL, sizeof *d);
	if (d) {
		memset(d, 0, sizeof *d);
		jitdump_debug_begin(d);
	}
	return d;
}

void jitdump_debug_free(struct jitdump_debug *d)
{
	struct jitdump_bytes *all[11];
	size_t i;
	if (!d)
		return;
	all[0] = &d->names, all[1] = &d->files, all[2] = &d->functions, all[3] = &d->calls, all[4] = &d->ranges, all[5] = &d->lines;
	all[6] = &d->record, all[7] = &d->inline_calls, all[8] = &d->used_ranges, all[9] = &d->used_files, all[10] = &d->used_functions;
	for (i = 0; i < sizeof all / sizeof *all; i++)
		jitdump_bytes_free(all[i]);
	JITDUMP_FREE(d->files_by_name.slots);
	JITDUMP_FREE(d->functions_by_name.slots);
	JITDUMP_FREE(d->calls_by_key.slots);
	JITDUMP_FREE(d);
}

static void jitdump__wrong(struct jitdump_debug *d, const char *error)
{
	if (!d->error)
		d->error = error;
}

static const char jitdump__no_memory[] = "out of memory";

void jitdump_debug_begin(struct jitdump_debug *d)
{
	struct jitdump__call *root;
	d->error = NULL;
	jitdump_bytes_reset(&d->names), jitdump_bytes_reset(&d->files), jitdump_bytes_reset(&d->functions);
	jitdump_bytes_reset(&d->calls), jitdump_bytes_reset(&d->ranges), jitdump_bytes_reset(&d->lines);
	jitdump__clear_set(&d->files_by_name), jitdump__clear_set(&d->functions_by_name), jitdump__clear_set(&d->calls_by_key);
	d->depth = d->last = 0;
	d->stack[0] = d->starts[0] = 0;
	root = (struct jitdump__call *)jitdump_bytes_grow(&d->calls, sizeof *root);
	if (!root) {
		jitdump__wrong(d, jitdump__no_memory);
		return;
	}
	memset(root, 0, sizeof *root);
	root->parent = root->first_child = root->last_child = root->next_sibling = root->first_range = root->last_range = JITDUMP__NONE;
}

/* Copies a name, and returns its offset in names. */
static uint32_t jitdump__copy(struct jitdump_debug *d, const char *name, size_t n)
{
	size_t at = d->names.len;
	char *to = n > UINT32_MAX - 2 - at ? NULL : (char *)jitdump_bytes_grow(&d->names, n + 1);
	if (!to) {
		jitdump__wrong(d, jitdump__no_memory);
		return 0;
	}
	memcpy(to, name, n);
	to[n] = 0;
	return (uint32_t)at;
}

uint32_t jitdump_debug_file(struct jitdump_debug *d, const char *name)
{
	size_t n = strlen(name);
	uint32_t hash = jitdump__hash(JITDUMP__SEED, name, n), pos = hash, i;
	struct jitdump__file *f;
	while (!d->error && (i = jitdump__next(&d->files_by_name, hash, &pos)) != JITDUMP__NONE)
		if (!strcmp(d->names.at + JITDUMP__AT(d->files, struct jitdump__file, i)->name, name))
			return i;
	i = JITDUMP__COUNT(d->files, struct jitdump__file);
	f = (struct jitdump__file *)jitdump_bytes_grow(&d->files, sizeof *f);
	if (!f || !jitdump__put_set(&d->files_by_name, hash, i)) {
		jitdump__wrong(d, jitdump__no_memory);
		return 0;
	}
	f->name = jitdump__copy(d, name, n);
	f->number = JITDUMP__NONE;
	return i;
}

uint32_t jitdump_debug_function(struct jitdump_debug *d, const char *name, uint32_t file, uint32_t line, uint32_t column, uint32_t flags)
{
	size_t n = strlen(name);
	uint32_t hash = jitdump__hash(JITDUMP__SEED, name, n), pos = hash, i;
	struct jitdump__function *f;
	if (file >= JITDUMP__COUNT(d->files, struct jitdump__file)) {
		jitdump__wrong(d, "a function has a file that jitdump_debug_file did not return");
		return 0;
	}
	while (!d->error && (i = jitdump__next(&d->functions_by_name, hash, &pos)) != JITDUMP__NONE) {
		f = JITDUMP__AT(d->functions, struct jitdump__function, i);
		if (f->file == file && f->line == line && f->column == column && f->flags == flags && !strcmp(d->names.at + f->name, name))
			return i;
	}
	i = JITDUMP__COUNT(d->functions, struct jitdump__function);
	f = (struct jitdump__function *)jitdump_bytes_grow(&d->functions, sizeof *f);
	if (!f || !jitdump__put_set(&d->functions_by_name, hash, i)) {
		jitdump__wrong(d, jitdump__no_memory);
		return 0;
	}
	f->name = jitdump__copy(d, name, n);
	f->file = file, f->line = line, f->column = column, f->flags = flags, f->number = JITDUMP__NONE;
	return i;
}

static int jitdump__forward(struct jitdump_debug *d, uint32_t offset)
{
	if (offset < d->last)
		jitdump__wrong(d, "an offset is below the one before");
	d->last = offset;
	return !d->error;
}

void jitdump_debug_line(struct jitdump_debug *d, uint32_t offset, uint32_t file, uint32_t line, uint32_t column)
{
	uint32_t n = JITDUMP__COUNT(d->lines, struct jitdump__line);
	struct jitdump__line *l;
	if (!jitdump__forward(d, offset))
		return;
	if (file >= JITDUMP__COUNT(d->files, struct jitdump__file)) {
		jitdump__wrong(d, "a line has a file that jitdump_debug_file did not return");
		return;
	}
	if (n) {
		l = JITDUMP__AT(d->lines, struct jitdump__line, n - 1);
		if (l->offset == offset) { /* of no code: replaced */
			d->lines.len -= sizeof *l;
			n--;
		}
	}
	if (n) {
		l = JITDUMP__AT(d->lines, struct jitdump__line, n - 1);
		if (l->file == file && l->line == line && l->column == column)
			return;
	}
	l = (struct jitdump__line *)jitdump_bytes_grow(&d->lines, sizeof *l);
	if (!l) {
		jitdump__wrong(d, jitdump__no_memory);
		return;
	}
	l->offset = offset, l->file = file, l->line = line, l->column = column;
}

void jitdump_debug_push(struct jitdump_debug *d, uint32_t offset, uint32_t function, uint32_t line, uint32_t column, uint64_t site)
{
	uint32_t parent = d->stack[d->depth], hash, pos, n;
	struct jitdump__call *c;
	if (!jitdump__forward(d, offset))
		return;
	if (function >= JITDUMP__COUNT(d->functions, struct jitdump__function)) {
		jitdump__wrong(d, "a call has a function that jitdump_debug_function did not return");
		return;
	}
	if (d->depth == JITDUMP__MAX_CALLS) {
		jitdump__wrong(d, "inlined calls are more than 256 deep");
		return;
	}
	hash = jitdump__hash(JITDUMP__SEED, &parent, sizeof parent);
	hash = jitdump__hash(hash, &function, sizeof function);
	hash = jitdump__hash(hash, &site, sizeof site);
	for (pos = hash; (n = jitdump__next(&d->calls_by_key, hash, &pos)) != JITDUMP__NONE;) {
		c = JITDUMP__AT(d->calls, struct jitdump__call, n);
		if (c->parent == parent && c->function == function && c->site == site)
			break;
	}
	if (n == JITDUMP__NONE) {
		struct jitdump__call *p;
		n = JITDUMP__COUNT(d->calls, struct jitdump__call);
		c = (struct jitdump__call *)jitdump_bytes_grow(&d->calls, sizeof *c);
		if (!c || !jitdump__put_set(&d->calls_by_key, hash, n)) {
			jitdump__wrong(d, jitdump__no_memory);
			return;
		}
		memset(c, 0, sizeof *c);
		c->parent = parent, c->function = function, c->line = line, c->column = column, c->site = site;
		c->first_child = c->last_child = c->next_sibling = c->first_range = c->last_range = JITDUMP__NONE;
		p = JITDUMP__AT(d->calls, struct jitdump__call, parent);
		if (p->last_child == JITDUMP__NONE)
			p->first_child = n;
		else
			JITDUMP__AT(d->calls, struct jitdump__call, p->last_child)->next_sibling = n;
		p->last_child = n;
	}
	d->stack[++d->depth] = n;
	d->starts[d->depth] = offset;
}

/* Adds [start, end) to the code of a call. Code of a call that goes on where its last range ends makes
   that longer: so does that of the calls around it, and ranges stay inside one range of their callers. */
static void jitdump__cover(struct jitdump_debug *d, uint32_t call, uint32_t start, uint32_t end)
{
	struct jitdump__call *c = JITDUMP__AT(d->calls, struct jitdump__call, call);
	struct jitdump__range *r;
	uint32_t i = JITDUMP__COUNT(d->ranges, struct jitdump__range);
	if (start >= end)
		return;
	if (c->last_range != JITDUMP__NONE) {
		r = JITDUMP__AT(d->ranges, struct jitdump__range, c->last_range);
		if (r->end == start) {
			r->end = end;
			return;
		}
	}
	r = (struct jitdump__range *)jitdump_bytes_grow(&d->ranges, sizeof *r);
	if (!r) {
		jitdump__wrong(d, jitdump__no_memory);
		return;
	}
	r->start = start, r->end = end, r->next = JITDUMP__NONE;
	if (c->last_range == JITDUMP__NONE)
		c->first_range = i;
	else
		JITDUMP__AT(d->ranges, struct jitdump__range, c->last_range)->next = i;
	c->last_range = i;
	c->range_count++;
}

void jitdump_debug_pop(struct jitdump_debug *d, uint32_t offset)
{
	if (!jitdump__forward(d, offset))
		return;
	if (d->depth == 0) {
		jitdump__wrong(d, "jitdump_debug_pop without a call");
		return;
	}
	jitdump__cover(d, d->stack[d->depth], d->starts[d->depth], offset);
	d->depth--;
}

const char *jitdump_debug_error(const struct jitdump_debug *d) { return d->error; }

static uint32_t jitdump__file_number(struct jitdump_debug *d, uint32_t file)
{
	struct jitdump__file *f = JITDUMP__AT(d->files, struct jitdump__file, file);
	if (f->number == JITDUMP__NONE) {
		f->number = d->file_count++;
		jitdump_bytes_u32(&d->used_files, file);
	}
	return f->number;
}

static uint32_t jitdump__function_number(struct jitdump_debug *d, uint32_t function)
{
	struct jitdump__function *f = JITDUMP__AT(d->functions, struct jitdump__function, function);
	if (f->number == JITDUMP__NONE) {
		f->number = d->function_count++;
		jitdump_bytes_u32(&d->used_functions, function);
	}
	return f->number;
}

/* Writes the calls below a node, depth first. It calls itself as deep as the tree is. */
static void jitdump__add_calls(struct jitdump_debug *d, uint32_t parent, uint32_t depth, uint32_t size)
{
	uint32_t n = JITDUMP__AT(d->calls, struct jitdump__call, parent)->first_child, i;
	for (; n != JITDUMP__NONE; n = JITDUMP__AT(d->calls, struct jitdump__call, n)->next_sibling) {
		const struct jitdump__call *c = JITDUMP__AT(d->calls, struct jitdump__call, n);
		uint32_t count = 0;
		for (i = c->first_range; i != JITDUMP__NONE; i = JITDUMP__AT(d->ranges, struct jitdump__range, i)->next) {
			const struct jitdump__range *r = JITDUMP__AT(d->ranges, struct jitdump__range, i);
			uint32_t end = r->end < size ? r->end : size;
			if (r->start >= end)
				break; /* after the code */
			jitdump_bytes_u32(&d->used_ranges, r->start);
			jitdump_bytes_u32(&d->used_ranges, end - r->start);
			count++;
		}
		if (count == 0)
			continue; /* no code is left of it, nor of calls in it */
		jitdump_bytes_u32(&d->inline_calls, depth);
		jitdump_bytes_u32(&d->inline_calls, count);
		jitdump_bytes_u32(&d->inline_calls, jitdump__function_number(d, c->function));
		jitdump_bytes_u32(&d->inline_calls, c->line);
		jitdump_bytes_u32(&d->inline_calls, c->column);
		jitdump__add_calls(d, n, depth + 1, size);
	}
}

/* Builds the body of a DEBUG_INFO2 record in d->record. size is that of the code. It returns 0 after an
   error. */
static int jitdump__build(struct jitdump_debug *d, uint32_t size)
{
	uint32_t head[8], i, count;
	size_t from;
	if (d->last > size)
		jitdump__wrong(d, "an offset is after the end of the code");
	for (; d->depth > 0 && !d->error; d->depth--)
		jitdump__cover(d, d->stack[d->depth], d->starts[d->depth], size);
	if (!d->error && d->functions.len == 0)
		jitdump__wrong(d, "jitdump_debug_function was not called for the function");
	if (d->error)
		return 0;
	jitdump_bytes_reset(&d->record), jitdump_bytes_reset(&d->inline_calls), jitdump_bytes_reset(&d->used_ranges);
	jitdump_bytes_reset(&d->used_files), jitdump_bytes_reset(&d->used_functions);
	d->file_count = d->function_count = 0;
	count = JITDUMP__COUNT(d->files, struct jitdump__file);
	for (i = 0; i < count; i++)
		JITDUMP__AT(d->files, struct jitdump__file, i)->number = JITDUMP__NONE;
	count = JITDUMP__COUNT(d->functions, struct jitdump__function);
	for (i = 0; i < count; i++)
		JITDUMP__AT(d->functions, struct jitdump__function, i)->number = JITDUMP__NONE;

	/* Only what the code uses gets a number. */
	jitdump__function_number(d, 0);
	jitdump__file_number(d, JITDUMP__AT(d->functions, struct jitdump__function, 0)->file);
	jitdump__add_calls(d, 0, 0, size);
	count = JITDUMP__COUNT(d->lines, struct jitdump__line);
	while (count > 0 && JITDUMP__AT(d->lines, struct jitdump__line, count - 1)->offset >= size)
		count--;
	for (i = 0; i < count; i++)
		jitdump__file_number(d, JITDUMP__AT(d->lines, struct jitdump__line, i)->file);
	d->lines.len = count * sizeof(struct jitdump__line);
	if (d->used_functions.failed)
		goto failed;
	for (i = 0; i < d->function_count; i++)
		jitdump__file_number(d, JITDUMP__AT(d->functions, struct jitdump__function, *JITDUMP__AT(d->used_functions, uint32_t, i))->file);
	if (d->used_files.failed)
		goto failed;

	memset(head, 0, sizeof head);
	jitdump_bytes_add(&d->record, head, sizeof head);
	from = d->record.len;
	for (i = 0; i < d->file_count; i++) {
		const char *name = d->names.at + JITDUMP__AT(d->files, struct jitdump__file, *JITDUMP__AT(d->used_files, uint32_t, i))->name;
		jitdump_bytes_add(&d->record, name, strlen(name) + 1);
	}
	jitdump_bytes_pad(&d->record, from, 4);
	head[0] = d->file_count, head[1] = (uint32_t)(d->record.len - from);
	from = d->record.len;
	for (i = 0; i < d->function_count; i++) {
		const char *name = d->names.at + JITDUMP__AT(d->functions, struct jitdump__function, *JITDUMP__AT(d->used_functions, uint32_t, i))->name;
		jitdump_bytes_add(&d->record, name, strlen(name) + 1);
	}
	jitdump_bytes_pad(&d->record, from, 4);
	head[2] = head[4] = d->function_count, head[3] = (uint32_t)(d->record.len - from);
	for (i = 0; i < d->function_count; i++) {
		const struct jitdump__function *f = JITDUMP__AT(d->functions, struct jitdump__function, *JITDUMP__AT(d->used_functions, uint32_t, i));
		jitdump_bytes_u32(&d->record, i); /* function i has name i */
		jitdump_bytes_u32(&d->record, JITDUMP__AT(d->files, struct jitdump__file, f->file)->number);
		jitdump_bytes_u32(&d->record, f->line);
		jitdump_bytes_u32(&d->record, f->column);
		jitdump_bytes_u32(&d->record, f->flags);
	}
	head[5] = (uint32_t)(d->inline_calls.len / (5 * sizeof(uint32_t)));
	head[6] = (uint32_t)(d->used_ranges.len / (2 * sizeof(uint32_t)));
	head[7] = count;
	jitdump_bytes_add(&d->record, d->inline_calls.at, d->inline_calls.len);
	jitdump_bytes_add(&d->record, d->used_ranges.at, d->used_ranges.len);
	for (i = 0; i < count; i++) {
		const struct jitdump__line *l = JITDUMP__AT(d->lines, struct jitdump__line, i);
		jitdump_bytes_u32(&d->record, l->offset);
		jitdump_bytes_u32(&d->record, JITDUMP__AT(d->files, struct jitdump__file, l->file)->number);
		jitdump_bytes_u32(&d->record, l->line);
		jitdump_bytes_u32(&d->record, l->column);
	}
	jitdump_bytes_pad(&d->record, 0, 8);
	if (d->record.failed || d->inline_calls.failed || d->used_ranges.failed)
		goto failed;
	memcpy(d->record.at, head, sizeof head);
	return 1;
failed:
	jitdump__wrong(d, jitdump__no_memory);
	return 0;
}

/* Builds the body of a DEBUG_INFO record: the lines that perf inject reads. Its columns count from 1.
   perf inject ends its table at the last entry, so that is after the code. */
static void jitdump__build_plain(struct jitdump_bytes *b, const struct jitdump_debug *d, uint64_t address, uint64_t size)
{
	uint32_t count = JITDUMP__COUNT(d->lines, struct jitdump__line), i;
	jitdump_bytes_reset(b);
	jitdump_bytes_u64(b, address);
	jitdump_bytes_u64(b, count ? (uint64_t)count + 1 : 0);
	for (i = 0; count && i <= count; i++) {
		const struct jitdump__line *l = JITDUMP__AT(d->lines, struct jitdump__line, i < count ? i : count - 1);
		const char *name = d->names.at + JITDUMP__AT(d->files, struct jitdump__file, l->file)->name;
		jitdump_bytes_u64(b, address + (i < count ? l->offset : size));
		jitdump_bytes_u32(b, l->line);
		jitdump_bytes_u32(b, l->column + 1); /* 0 if unknown */
		jitdump_bytes_add(b, name, strlen(name) + 1);
	}
	jitdump_bytes_pad(b, 0, 8);
}

/* ---- Unwind tables ---- */

static void jitdump__uleb(struct jitdump_bytes *b, uint64_t v)
{
	unsigned char byte;
	do {
		byte = v & 0x7f, v >>= 7;
		if (v)
			byte |= 0x80;
		jitdump_bytes_add(b, &byte, 1);
	} while (v);
}

static void jitdump__byte(struct jitdump_bytes *b, unsigned v)
{
	unsigned char byte = (unsigned char)v;
	jitdump_bytes_add(b, &byte, 1);
}

/* DW_CFA codes, from DWARF 5 section 7.24. */
enum {
	JITDUMP__ADVANCE_LOC4 = 0x04,
	JITDUMP__OFFSET_EXTENDED = 0x05,
	JITDUMP__SAME_VALUE = 0x08,
	JITDUMP__DEF_CFA = 0x0c,
	JITDUMP__OFFSET = 0x80
};

/* Fills in the length of an entry of .eh_frame and pads it with DW_CFA_nop. */
static void jitdump__end_entry(struct jitdump_bytes *b, size_t at)
{
	uint32_t length;
	jitdump_bytes_pad(b, at, 8);
	if (b->failed)
		return;
	length = (uint32_t)(b->len - at - 4);
	memcpy(b->at + at, &length, 4);
}

/* Adds a CIE. It returns the factor of saved offsets, or 0 if rows of the machine are not known. */
static int jitdump__add_cie(struct jitdump_bytes *b, uint32_t machine)
{
	int factor = machine == 62 || machine == 183 ? -8 : machine == 3 ? -4 : 0;
	if (!factor)
		return 0;
	jitdump_bytes_u32(b, 0); /* the length */
	jitdump_bytes_u32(b, 0); /* a CIE */
	jitdump_bytes_add(b, "\1zR", 4);
	jitdump__uleb(b, 1);                                             /* code offsets are in bytes */
	jitdump__byte(b, (unsigned)factor & 0x7f);                       /* saved ones are in words */
	jitdump__uleb(b, machine == 62 ? 16 : machine == 3 ? 8 : 30);    /* the return address */
	jitdump__uleb(b, 1);
	jitdump__byte(b, 0x1b);                                          /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
	if (machine == 62 || machine == 3) {
		/* At the entry, the return address is on top of the stack. */
		jitdump__byte(b, JITDUMP__DEF_CFA);
		jitdump__uleb(b, machine == 62 ? 7 : 4);
		jitdump__uleb(b, (uint64_t)-factor);
		jitdump__byte(b, JITDUMP__OFFSET | (machine == 62 ? 16 : 8));
		jitdump__uleb(b, 1);
	} else {
		jitdump__byte(b, JITDUMP__DEF_CFA);
		jitdump__uleb(b, 31);
		jitdump__uleb(b, 0);
	}
	jitdump__end_entry(b, 0);
	return factor;
}

static const struct jitdump_saved *jitdump__find_saved(const struct jitdump_row *row, uint32_t reg)
{
	uint32_t i;
	for (i = 0; row && i < row->saved_count; i++)
		if (row->saved[i].reg == reg)
			return &row->saved[i];
	return NULL;
}

/* Tells whether a machine has the registers of a row: by DWARF number, the general ones for the CFA and
   any that programs save. */
static int jitdump__has_registers(uint32_t machine, const struct jitdump_row *row)
{
	uint32_t general = machine == 62 ? 16 : machine == 3 ? 8 : 32, i;
	uint32_t all = machine == 62 ? 67 : machine == 3 ? 49 : 96;
	if (row->cfa_register >= general)
		return 0;
	for (i = 0; i < row->saved_count; i++)
		if (row->saved[i].reg >= all)
			return 0;
	return 1;
}

/* Adds the difference between two rows. before is NULL for the first one. It returns 0 for offsets that
   tables cannot have. */
static int jitdump__add_row(struct jitdump_bytes *b, const struct jitdump_row *row, const struct jitdump_row *before, int factor)
{
	uint32_t i;
	if (row->cfa_offset < 0)
		return 0;
	if (!before || before->cfa_register != row->cfa_register || before->cfa_offset != row->cfa_offset) {
		jitdump__byte(b, JITDUMP__DEF_CFA);
		jitdump__uleb(b, row->cfa_register);
		jitdump__uleb(b, (uint64_t)row->cfa_offset);
	}
	for (i = 0; i < row->saved_count; i++) {
		const struct jitdump_saved *s = &row->saved[i], *old = jitdump__find_saved(before, s->reg);
		if (s->cfa_offset % factor || s->cfa_offset > 0)
			return 0;
		if (old && old->cfa_offset == s->cfa_offset)
			continue;
		jitdump__byte(b, JITDUMP__OFFSET_EXTENDED);
		jitdump__uleb(b, s->reg);
		jitdump__uleb(b, (uint64_t)(s->cfa_offset / factor));
	}
	for (i = 0; before && i < before->saved_count; i++)
		if (!jitdump__find_saved(row, before->saved[i].reg)) {
			jitdump__byte(b, JITDUMP__SAME_VALUE);
			jitdump__uleb(b, before->saved[i].reg);
		}
	return 1;
}

/* Builds .eh_frame from rows. text is where it lies, relative to the code. */
static const char *jitdump__from_rows(struct jitdump_bytes *b, const struct jitdump_unwind *u, size_t text, uint64_t size)
{
	size_t i, fde;
	int factor = jitdump__add_cie(b, jitdump__dump.machine);
	if (!factor)
		return "rows are for x86 and arm64: send .eh_frame";
	fde = b->len;
	jitdump_bytes_u32(b, 0);                                      /* the length */
	jitdump_bytes_u32(b, (uint32_t)(fde + 4));                    /* back to the CIE */
	jitdump_bytes_u32(b, (uint32_t)(0 - (text + fde + 8)));       /* the code begins that far before here */
	jitdump_bytes_u32(b, (uint32_t)size);
	jitdump__uleb(b, 0);
	for (i = 0; i < u->row_count; i++) {
		const struct jitdump_row *row = &u->rows[i], *before = i ? row - 1 : NULL;
		uint32_t from = before ? before->offset : 0;
		if (row->offset < from || row->offset >= size)
			return "rows are not in order, or after the code";
		if (!jitdump__has_registers(jitdump__dump.machine, row))
			return "a row has a register that the machine does not have";
		if (row->offset > from) {
			jitdump__byte(b, JITDUMP__ADVANCE_LOC4);
			jitdump_bytes_u32(b, row->offset - from);
		}
		if (!jitdump__add_row(b, row, before, factor))
			return "offsets of a row are not multiples of a word, or have the wrong sign";
	}
	jitdump__end_entry(b, fde);
	return NULL;
}

static uint32_t jitdump__read32(const char *at)
{
	uint32_t v;
	memcpy(&v, at, 4);
	return v;
}

static uint64_t jitdump__read_uleb(const char **at, const char *end)
{
	uint64_t v = 0;
	unsigned shift = 0;
	while (*at < end) {
		unsigned char byte = (unsigned char)*(*at)++;
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80))
			break;
	}
	return v;
}

/* Finds the encoding of addresses in a CIE: its place, or NULL if the CIE has none that is known. */
static const char *jitdump__encoding_of(const char *cie, const char *end)
{
	const char *at = cie + 9, *augmentation = at;
	if (cie + 10 > end || (cie[8] != 1 && cie[8] != 3))
		return NULL;
	while (at < end && *at)
		at++;
	if (at >= end || *augmentation != 'z')
		return NULL;
	at++;
	jitdump__read_uleb(&at, end);
	jitdump__read_uleb(&at, end); /* signed: as many bytes */
	jitdump__read_uleb(&at, end); /* the return address: one byte below 128 */
	jitdump__read_uleb(&at, end); /* length of the data for the letters */
	for (augmentation++; *augmentation && at < end; augmentation++) {
		switch (*augmentation) {
		case 'R':
			return at;
		case 'L':
			at++;
			break;
		case 'P': {
			unsigned size = (unsigned char)*at & 0x07;
			at += 1 + (size == 3 ? 4 : size == 2 ? 2 : size == 4 ? 8 : sizeof(void *));
			break;
		}
		case 'S':
		case 'B':
			break;
		default:
			return NULL;
		}
	}
	return NULL;
}

/* An entry of .eh_frame, an FDE: the offset of its code, and its own. */
struct jitdump__fde {
	uint64_t code, at;
};

/* Adds an FDE to a list in the order of the code. */
static void jitdump__index_fde(struct jitdump_bytes *index, uint64_t code, uint64_t at)
{
	uint32_t i = JITDUMP__COUNT(*index, struct jitdump__fde);
	struct jitdump__fde *all = (struct jitdump__fde *)jitdump_bytes_grow(index, sizeof *all);
	if (!all)
		return;
	all = (struct jitdump__fde *)(void *)index->at;
	for (; i > 0 && all[i - 1].code > code; i--)
		all[i] = all[i - 1];
	all[i].code = code, all[i].at = at;
}

/* Copies from a .eh_frame in memory the entries about the code, and points them at where the code is
   in the object: text is the place of the copy, relative to the code. */
static const char *jitdump__from_frames(struct jitdump_bytes *b, struct jitdump_bytes *index, const struct jitdump_unwind *u, size_t text, const struct jitdump_code *code)
{
	const char *unknown = NULL;
	const char *begin = (const char *)u->eh_frame, *end = begin + u->eh_frame_size, *entry;
	for (entry = begin; end - entry >= 8;) {
		uint32_t length = jitdump__read32(entry), back = jitdump__read32(entry + 4);
		const char *next = entry + 4 + length, *cie, *cie_end, *where;
		unsigned encoding, width;
		uint64_t pc;
		size_t at, fde;
		if (length == 0)
			break;
		if (length < 4 || length > (size_t)(end - entry) - 4) {
			unknown = ".eh_frame is cut, or has 64-bit lengths";
			break;
		}
		if (back == 0) { /* a CIE */
			entry = next;
			continue;
		}
		if (back > (size_t)(entry + 4 - begin)) {
			unknown = "an entry of .eh_frame has no CIE";
			break;
		}
		cie = entry + 4 - back;
		cie_end = cie + 4 + jitdump__read32(cie);
		if (cie_end > end || cie_end < cie + 8 || !(where = jitdump__encoding_of(cie, cie_end))) {
			unknown = "no entry of .eh_frame is about the code, or its CIE is not known";
			entry = next;
			continue;
		}
		encoding = (unsigned char)*where;
		width = (encoding & 0x07) == 3 ? 4 : (encoding & 0x07) == 4 ? 8 : (encoding & 0x0f) == 0 ? (unsigned)sizeof(void *) : 0;
		if (!width || (encoding & 0xf0 & ~0x10u) || next - entry < 8 + 2 * (ptrdiff_t)width) {
			unknown = "addresses of .eh_frame are in a form that is not known";
			entry = next;
			continue;
		}
		if (width == 8) {
			memcpy(&pc, entry + 8, 8);
		} else {
			pc = jitdump__read32(entry + 8);
			if (encoding & 0x10)
				pc = (uint64_t)(int64_t)(int32_t)pc;
		}
		if (encoding & 0x10)
			pc += (uint64_t)(uintptr_t)(entry + 8);
		if (sizeof(void *) == 4)
			pc = (uint32_t)pc;
		pc -= (uint64_t)(uintptr_t)code->address;
		if (pc < code->size) {
			at = b->len;
			jitdump_bytes_add(b, cie, (size_t)(cie_end - cie));
			if (!b->failed)
				b->at[at + (size_t)(where - cie)] = (char)(width == 4 ? 0x1b : 0x1c);
			fde = b->len;
			jitdump_bytes_add(b, entry, (size_t)(next - entry));
			jitdump__index_fde(index, pc, fde);
			if (!b->failed) {
				uint32_t to_cie = (uint32_t)(fde + 4 - at);
				uint64_t to_code = pc - (uint64_t)(text + fde + 8);
				memcpy(b->at + fde + 4, &to_cie, 4);
				if (width == 8) {
					memcpy(b->at + fde + 8, &to_code, 8);
				} else {
					uint32_t narrow = (uint32_t)to_code;
					memcpy(b->at + fde + 8, &narrow, 4);
				}
			}
		}
		entry = next;
	}
	return index->len ? NULL : unknown ? unknown : "no entry of .eh_frame is about the code";
}

/* Builds the body of an UNWINDING record: .eh_frame, as if it began at the next multiple of 8 after the
   code, and .eh_frame_hdr right after it. It returns an error or NULL. */
static const char *jitdump__build_tables(struct jitdump_bytes *b, const struct jitdump_code *code)
{
	const struct jitdump_unwind *u = code->unwind;
	struct jitdump_bytes frames = {NULL, 0, 0, 0}, index = {NULL, 0, 0, 0};
	size_t text = (code->size + 7) & ~(size_t)7, header, length;
	uint32_t i, count;
	const char *error;
	if (code->size > INT32_MAX)
		return "the code is too long";
	if (u->eh_frame) {
		error = jitdump__from_frames(&frames, &index, u, text, code);
	} else {
		error = jitdump__from_rows(&frames, u, text, code->size);
		if (!error) /* it is after the CIE */
			jitdump__index_fde(&index, 0, frames.failed ? 0 : jitdump__read32(frames.at) + 4u);
	}
	if (!error) {
		jitdump_bytes_u32(&frames, 0); /* the end of .eh_frame */
		jitdump_bytes_pad(&frames, 0, 4);
		header = text + frames.len;
		count = JITDUMP__COUNT(index, struct jitdump__fde);
		length = 12 + 8 * (size_t)count;
		jitdump_bytes_reset(b);
		jitdump_bytes_u64(b, frames.len + length); /* of all data */
		jitdump_bytes_u64(b, length);              /* of the header */
		jitdump_bytes_u64(b, frames.len + length); /* mapped */
		jitdump_bytes_add(b, frames.at, frames.len);
		jitdump_bytes_add(b, "\1\x1b\3\x3b", 4);                    /* pcrel sdata4, udata4, datarel sdata4 */
		jitdump_bytes_u32(b, (uint32_t)(text - (header + 4)));      /* .eh_frame */
		jitdump_bytes_u32(b, count);
		for (i = 0; i < count; i++) {
			const struct jitdump__fde *fde = JITDUMP__AT(index, struct jitdump__fde, i);
			jitdump_bytes_u32(b, (uint32_t)(fde->code - header));
			jitdump_bytes_u32(b, (uint32_t)(text + fde->at - header));
		}
		jitdump_bytes_pad(b, 0, 8);
		if (frames.failed || index.failed || b->failed)
			error = jitdump__no_memory;
	}
	jitdump_bytes_free(&frames);
	jitdump_bytes_free(&index);
	return error;
}

/* ---- Functions ---- */

enum { JITDUMP__PARTS = 12 };

/* Adds a record with a body to the parts of a write. */
static int jitdump__part(struct iovec *parts, int n, struct jitdump__prefix *p, uint32_t id, const void *body, size_t size)
{
	p->id = id, p->size = (uint32_t)(sizeof *p + size), p->timestamp = 0;
	parts[n].iov_base = p, parts[n].iov_len = sizeof *p;
	parts[n + 1].iov_base = (void *)(uintptr_t)body, parts[n + 1].iov_len = size;
	return n + 2;
}

uint64_t jitdump_code_load(const struct jitdump_code *code)
{
	const size_t most = UINT32_MAX - 4096;
	struct jitdump__prefix prefixes[5];
	struct jitdump__load load;
	struct iovec parts[JITDUMP__PARTS];
	size_t name_len = code->name ? strlen(code->name) + 1 : 0;
	uint64_t number = JITDUMP_NOT_WRITTEN;
	const char *error = NULL;
	int described = 0, n = 0, p = 0, i, cancel;
	if (!jitdump_is_open() || !code->name || code->size == 0 || name_len > most || code->size > most - name_len || code->extra_size > most)
		return number;
	if (code->debug) {
		described = jitdump__build(code->debug, (uint32_t)code->size) && code->debug->record.len <= most;
		if (!described)
			error = code->debug->error ? code->debug->error : "too long";
	}
	memset(&load, 0, sizeof load);
	load.tid = (uint32_t)syscall(SYS_gettid);
	load.vma = load.code_addr = (uint64_t)(uintptr_t)code->address;
	load.code_size = code->size;

	if (!jitdump__begin(&cancel))
		return number;
	load.pid = (uint32_t)jitdump__dump.pid;
	if (error && !jitdump__dump.bad_debug++)
		jitdump__report_function("lines are left out of ", code->name, error);
	if (described && !(jitdump__dump.flags & JITDUMP_NO_PLAIN_LINES)) {
		struct jitdump_bytes *b = &jitdump__dump.plain;
		jitdump__build_plain(b, code->debug, load.code_addr, load.code_size);
		if (!b->failed && b->len <= most)
			n = jitdump__part(parts, n, &prefixes[p++], JITDUMP__DEBUG_INFO, b->at, b->len);
	}
	if (described)
		n = jitdump__part(parts, n, &prefixes[p++], JITDUMP__DEBUG_INFO2, code->debug->record.at, code->debug->record.len);
	if (code->unwind) {
		struct jitdump_bytes *b = &jitdump__dump.tables;
		error = jitdump__build_tables(b, code);
		if (!error)
			n = jitdump__part(parts, n, &prefixes[p++], JITDUMP__UNWINDING, b->at, b->len);
		else if (!jitdump__dump.bad_unwind++)
			jitdump__report_function("unwind tables are left out of ", code->name, error);
	}
	if (code->extra_size)
		n = jitdump__part(parts, n, &prefixes[p++], code->extra_id, code->extra, code->extra_size);
	n = jitdump__part(parts, n, &prefixes[p++], JITDUMP__LOAD, &load, sizeof load);
	prefixes[p - 1].size += (uint32_t)(name_len + code->size);
	parts[n].iov_base = (void *)(uintptr_t)code->name, parts[n++].iov_len = name_len;
	/* The kernel reads the code where it lies: memory that is gone is an error, and no crash. */
	parts[n].iov_base = (void *)(uintptr_t)(code->bytes ? code->bytes : code->address), parts[n++].iov_len = code->size;
	/* Under the lock, so that times do not go back. */
	prefixes[0].timestamp = jitdump__now();
	for (i = 1; i < p; i++)
		prefixes[i].timestamp = prefixes[0].timestamp;
	load.code_index = jitdump__dump.index++;
	if (jitdump__put(parts, n))
		number = load.code_index;
	jitdump__unlock(cancel);
	return number;
}

/* Writes a record with a body, and zeros up to a multiple of align. */
static void jitdump__record(uint32_t id, const void *head, size_t head_size, const void *body, size_t size, size_t align)
{
	static const char zeros[8] = {0};
	struct jitdump__prefix prefix;
	struct iovec parts[4];
	size_t padding = (size_t)(0 - (head_size + size)) & (align - 1);
	int cancel;
	jitdump__part(parts, 0, &prefix, id, head, head_size);
	parts[2].iov_base = (void *)(uintptr_t)body, parts[2].iov_len = size;
	parts[3].iov_base = (void *)(uintptr_t)zeros, parts[3].iov_len = padding;
	prefix.size += (uint32_t)(size + padding);
	if (!jitdump__begin(&cancel))
		return;
	prefix.timestamp = jitdump__now();
	jitdump__put(parts, 4);
	jitdump__unlock(cancel);
}

void jitdump_code_move(uint64_t number, const void *from, const void *to, size_t size)
{
	struct jitdump__move move;
	int cancel, own;
	/* Functions in the parent's dump are not in that of a child. */
	if (number == JITDUMP_NOT_WRITTEN || __atomic_load_n(&jitdump_fd, __ATOMIC_RELAXED) <= 0 || !jitdump__begin(&cancel))
		return;
	own = number >= jitdump__dump.first && number < jitdump__dump.index;
	jitdump__unlock(cancel);
	if (!own)
		return;
	memset(&move, 0, sizeof move);
	move.pid = (uint32_t)getpid();
	move.tid = (uint32_t)syscall(SYS_gettid);
	move.vma = move.new_code_addr = (uint64_t)(uintptr_t)to;
	move.old_code_addr = (uint64_t)(uintptr_t)from;
	move.code_size = size;
	move.code_index = number;
	jitdump__record(JITDUMP__MOVE, &move, sizeof move, NULL, 0, 8);
}

void jitdump_tier(uint32_t tier, uint32_t color, const char *name)
{
	uint32_t head[2];
	head[0] = tier, head[1] = color;
	if (jitdump_is_open() && tier >= 1 && tier <= 255)
		jitdump__record(JITDUMP__TIER, head, sizeof head, name, strlen(name) + 1, 4);
}

void jitdump_source(const char *name, const void *text, size_t size)
{
	struct jitdump_bytes head = {NULL, 0, 0, 0};
	if (!jitdump_is_open() || size > UINT32_MAX / 2)
		return;
	jitdump_bytes_u64(&head, size);
	jitdump_bytes_add(&head, name, strlen(name) + 1);
	if (!head.failed)
		jitdump__record(JITDUMP__SOURCE, head.at, head.len, text, size, 8);
	jitdump_bytes_free(&head);
}

#ifdef __cplusplus
}
#endif
#endif /* JITDUMP_IMPLEMENTATION */
