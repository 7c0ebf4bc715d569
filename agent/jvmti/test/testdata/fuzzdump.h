// What the agent has written in fuzzagent.
#ifndef FUZZDUMP_H
#define FUZZDUMP_H

#include <stddef.h>
#include <stdint.h>

// fuzz_written is called for each function, with the id and the body of the record before it.
void fuzz_written(const char *name, uint32_t id, const void *body, size_t size);

#endif
