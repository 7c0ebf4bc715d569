// The dump: the implementation of jitdump.h is compiled here.
#define _GNU_SOURCE
#define JITDUMP_IMPLEMENTATION
#include "../../producer/jitdump.h"
