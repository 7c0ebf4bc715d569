// A hash table from 64-bit keys to pointers. Several values may share a key:
// callers whose keys are hashes compare the values themselves.
#ifndef JITINJECT_TABLE_H
#define JITINJECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_slot {
	uint64_t key;
	void *value; // NULL: free
};

struct table {
	struct table_slot *slots;
	size_t cap, count; // cap is a power of two, or 0
};

// table_next returns the next value with the key, NULL behind the last. *pos
// starts at 0.
void *table_next(const struct table *t, uint64_t key, size_t *pos);
// table_add is false when memory runs out.
bool table_add(struct table *t, uint64_t key, void *value);
// table_set puts the value in the place of one with the key, or adds it.
bool table_set(struct table *t, uint64_t key, void *value);
// table_clear forgets the values and keeps the slots' memory.
void table_clear(struct table *t);
void table_free(struct table *t);

// hash_bytes continues a hash; the first one starts from HASH_SEED.
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n);
#define HASH_SEED 0xcbf29ce484222325u

#endif
