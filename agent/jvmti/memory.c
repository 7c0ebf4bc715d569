#define _GNU_SOURCE
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	CHUNK = 4096, // what fits into any pipe at once
	WORDS = 512,  // of one call: CHUNK bytes at most, and fewer than IOV_MAX
};

// refused is set when process_vm_readv fails for another reason than memory that
// is not there. In containers whose rules were made for debuggers, the process
// may not read itself; atomic.
static bool refused;

static bool by_process(void *to, const struct iovec *from, size_t count, size_t bytes)
{
	struct iovec here = {to, bytes};
	// This thread, for the process's first one may have ended. The kernel then
	// finds no memory by the process's id.
	ssize_t n = process_vm_readv(syscall(SYS_gettid), &here, 1, from, count, 0);
	if (n < 0 && errno != EFAULT)
		__atomic_store_n(&refused, true, __ATOMIC_RELAXED);
	return n == (ssize_t)bytes;
}

// by_pipe sends the bytes through a pipe, which takes them all or up to the
// first bad page. Calls by number: the C library's may be wrapped by tools that
// look at the memory first.
static bool by_pipe(void *to, const struct iovec *from, size_t count, size_t bytes)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return false;
	bool whole = syscall(SYS_writev, fds[1], from, count) == (long)bytes &&
	             read(fds[0], to, bytes) == (ssize_t)bytes;
	close(fds[0]);
	close(fds[1]);
	return whole;
}

static bool gather(void *to, const struct iovec *from, size_t count, size_t bytes)
{
	if (!__atomic_load_n(&refused, __ATOMIC_RELAXED)) {
		if (by_process(to, from, count, bytes))
			return true;
		if (!__atomic_load_n(&refused, __ATOMIC_RELAXED))
			return false;
	}
	return by_pipe(to, from, count, bytes);
}

bool memory_copy(void *to, uintptr_t from, size_t n)
{
	for (size_t done = 0, step; done < n; done += step) {
		step = n - done < CHUNK ? n - done : CHUNK;
		struct iovec part = {(void *)(from + done), step};
		if (!gather((char *)to + done, &part, 1, step))
			return false;
	}
	return true;
}

bool memory_words(uintptr_t *to, const void *const *from, size_t n)
{
	struct iovec parts[WORDS];
	for (size_t done = 0, step; done < n; done += step) {
		step = n - done < WORDS ? n - done : WORDS;
		for (size_t i = 0; i < step; i++)
			parts[i] = (struct iovec){(void *)from[done + i], sizeof *to};
		if (!gather(to + done, parts, step, step * sizeof *to))
			return false;
	}
	return true;
}
