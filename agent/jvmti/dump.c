#define _GNU_SOURCE
#include "dump.h"

#include "buffer.h"
#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t timestamp, flags;
};

struct prefix {
	uint32_t id, size;
	uint64_t timestamp;
};

struct load {
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
};

// The lock covers all of this. No call into the VM is made under it: the VM
// may stop the holder at a safepoint, while a thread that the safepoint waits
// for waits for the lock.
static struct {
	pthread_mutex_t lock;
	int fd; // -1: not open
	off_t end; // of the last whole record
	uint64_t index;
	char path[PATH_MAX];
} dump = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000u + t.tv_nsec;
}

// The linker puts the ELF header of this library there. Its machine is that of
// the code around it, whatever uname and /proc say under emulation.
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

// mapped finds a dump that this process maps already: a second copy of the
// agent was loaded, or another producer is at work. Its functions would be there
// twice, and where the path is the same, the first dump would be deleted.
static bool mapped(const char *name, char *path, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	if (!maps)
		return false;
	bool found = false;
	char *line = NULL;
	size_t cap = 0;
	while (!found && getline(&line, &cap, maps) > 0) {
		line[strcspn(line, "\n")] = 0;
		char *slash = strrchr(line, '/');
		if ((found = slash && !strcmp(slash + 1, name)))
			snprintf(path, size, "%s", strchr(line, '/'));
	}
	free(line);
	fclose(maps);
	return found;
}

// create makes the file anew. What lies there is the dump of a dead process
// with the same pid, or a trap laid in a directory that others may write to: it is
// removed, never followed and never written to. The mode is the owner's only,
// as code may hold what the program keeps secret; those who may profile the
// process, its user and root, can read the dump.
static int create(const char *path)
{
	if (unlink(path) && errno != ENOENT)
		return -1;
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

bool dump_open(const char *dir)
{
	char name[32], other[PATH_MAX];
	snprintf(name, sizeof name, "jit-%d.dump", (int)getpid());
	if (mapped(name, other, sizeof other)) {
		say("this process writes %s already; no second dump is written", other);
		return false;
	}
	if ((size_t)snprintf(dump.path, sizeof dump.path, "%s/%s", dir, name) >= sizeof dump.path) {
		say("the path of the dump would be too long; no jitdump is written");
		return false;
	}
	int fd = create(dump.path);
	if (fd < 0) {
		say("cannot create %s: %s; no jitdump is written (dir=DIRECTORY chooses another place)",
		    dump.path, strerror(errno));
		return false;
	}
	struct header h = {
		.magic = 0x4A695444, // "JiTD", in the machine's own byte order
		// Version 2 names a record that this agent does not write, and perf
		// refuses it.
		.version = 1,
		.size = sizeof h,
		.machine = __ehdr_start.e_machine,
		.pid = getpid(),
		.timestamp = now(),
	};
	ssize_t n = pwrite(fd, &h, sizeof h, 0);
	if (n != sizeof h) {
		say("cannot write %s: %s; no jitdump is written", dump.path, strerror(n < 0 ? errno : ENOSPC));
		goto fail;
	}
	// perf records mappings of executable memory. The mapping stays: a perf that
	// attaches later finds it in /proc.
	if (mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
		say("cannot map %s executable: %s; no jitdump is written (%s)", dump.path, strerror(errno),
		    errno == EPERM || errno == EACCES ? "the file system is mounted noexec: choose another with dir=DIRECTORY"
		                                      : "perf could not find it");
		goto fail;
	}
	pthread_mutex_lock(&dump.lock);
	dump.end = sizeof h;
	__atomic_store_n(&dump.fd, fd, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&dump.lock);
	return true;
fail:
	unlink(dump.path);
	close(fd);
	return false;
}

bool dump_is_open(void)
{
	return __atomic_load_n(&dump.fd, __ATOMIC_ACQUIRE) >= 0;
}

static void give_up(void)
{
	close(dump.fd);
	__atomic_store_n(&dump.fd, -1, __ATOMIC_RELEASE);
}

// append writes all parts with one call, or nothing: after an error the file is
// cut back to its last whole record.
static void append(struct iovec *parts, int count)
{
	off_t at = dump.end;
	for (;;) {
		while (count > 0 && parts->iov_len == 0)
			parts++, count--;
		if (count == 0) {
			dump.end = at;
			return;
		}
		ssize_t n = pwritev(dump.fd, parts, count, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += n;
		// A full device takes what fits: the next call tells what is wrong.
		for (int i = 0; i < count && n > 0; i++) {
			size_t part = (size_t)n < parts[i].iov_len ? (size_t)n : parts[i].iov_len;
			parts[i].iov_base = (char *)parts[i].iov_base + part;
			parts[i].iov_len -= part;
			n -= part;
		}
	}
	int error = errno;
	bool cut = !ftruncate(dump.fd, dump.end);
	if (error == EFAULT && cut)
		return; // one function's memory is gone, and no other's
	say("cannot write %s: %s; the jitdump ends here%s, and the program goes on", dump.path, strerror(error),
	    cut ? "" : ", in the middle of a record");
	give_up();
}

void dump_function(const char *name, const void *code, size_t size, uint32_t id, const struct buffer *body)
{
	struct prefix body_prefix = {.id = id}, load_prefix = {.id = JIT_CODE_LOAD};
	struct load load = {
		.pid = getpid(),
		.tid = syscall(SYS_gettid),
		.vma = (uintptr_t)code,
		.code_addr = (uintptr_t)code,
		.code_size = size,
	};
	size_t name_len = strlen(name) + 1;
	size_t total = sizeof load_prefix + sizeof load + name_len + size;
	if (total > UINT32_MAX)
		return;
	load_prefix.size = total;
	// The kernel reads the code where it lies: no copy, and memory that is gone
	// is an error of the write and no crash.
	struct iovec parts[] = {
		{&body_prefix, sizeof body_prefix},
		{body ? body->bytes : NULL, body ? body->len : 0},
		{&load_prefix, sizeof load_prefix},
		{&load, sizeof load},
		{(char *)name, name_len},
		{(void *)code, size},
	};
	int skip = 2;
	if (body && body->len && sizeof body_prefix + body->len <= UINT32_MAX) {
		body_prefix.size = sizeof body_prefix + body->len;
		skip = 0;
	}
	pthread_mutex_lock(&dump.lock);
	if (dump.fd >= 0) {
		// Taken under the lock, so that time in the file never goes back.
		body_prefix.timestamp = load_prefix.timestamp = now();
		load.code_index = dump.index++;
		append(parts + skip, sizeof parts / sizeof *parts - skip);
	}
	pthread_mutex_unlock(&dump.lock);
}

void dump_close(void)
{
	pthread_mutex_lock(&dump.lock);
	if (dump.fd >= 0) {
		struct prefix p = {.id = JIT_CODE_CLOSE, .size = sizeof p, .timestamp = now()};
		append(&(struct iovec){&p, sizeof p}, 1);
	}
	if (dump.fd >= 0)
		give_up();
	pthread_mutex_unlock(&dump.lock);
}
