// Memory that may be gone.
#ifndef JITINJECT_MEMORY_H
#define JITINJECT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// memory_copy copies n bytes of this process's own memory that may not be
// mapped, or only until a moment ago. false: not all of them could be read. It
// is the kernel that reads, for which a bad address is an error and no crash.
bool memory_copy(void *to, uintptr_t from, size_t n);

// memory_words reads one pointer at each of n addresses, with few calls.
bool memory_words(uintptr_t *to, const void *const *from, size_t n);

#endif
