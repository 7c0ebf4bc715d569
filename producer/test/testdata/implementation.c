// The header in C, for the other files.
#define _GNU_SOURCE
#define JITDUMP_IMPLEMENTATION
#include "jitdump.h"
