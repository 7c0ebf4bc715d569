#include "table.h"

#include <stdlib.h>
#include <string.h>

// first is the slot where the search for a key begins. Keys may be pointers,
// whose low bits say little: the multiplication brings all bits to the top.
static size_t first(const struct table *t, uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15u >> 32) & (t->cap - 1);
}

void *table_next(const struct table *t, uint64_t key, size_t *pos)
{
	if (!t->cap)
		return NULL;
	for (;; ++*pos) {
		const struct table_slot *s = &t->slots[(first(t, key) + *pos) & (t->cap - 1)];
		if (!s->value)
			return NULL;
		if (s->key == key) {
			++*pos;
			return s->value;
		}
	}
}

static void put(struct table *t, uint64_t key, void *value)
{
	size_t i = first(t, key);
	while (t->slots[i].value)
		i = (i + 1) & (t->cap - 1);
	t->slots[i] = (struct table_slot){key, value};
	t->count++;
}

bool table_add(struct table *t, uint64_t key, void *value)
{
	// At most half full: a search always meets a free slot, soon.
	if (2 * (t->count + 1) > t->cap) {
		struct table bigger = {.cap = t->cap ? 2 * t->cap : 64};
		bigger.slots = calloc(bigger.cap, sizeof *bigger.slots);
		if (!bigger.slots)
			return false;
		for (size_t i = 0; i < t->cap; i++)
			if (t->slots[i].value)
				put(&bigger, t->slots[i].key, t->slots[i].value);
		free(t->slots);
		*t = bigger;
	}
	put(t, key, value);
	return true;
}

bool table_set(struct table *t, uint64_t key, void *value)
{
	size_t pos = 0;
	if (!table_next(t, key, &pos))
		return table_add(t, key, value);
	t->slots[(first(t, key) + pos - 1) & (t->cap - 1)].value = value;
	return true;
}

void table_clear(struct table *t)
{
	if (t->count)
		memset(t->slots, 0, t->cap * sizeof *t->slots);
	t->count = 0;
}

void table_free(struct table *t)
{
	free(t->slots);
	memset(t, 0, sizeof *t);
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	for (const unsigned char *p = bytes; n > 0; n--)
		hash = (hash ^ *p++) * 0x100000001b3u;
	return hash;
}
