// The text behind -agentpath:libjitinject-jvmti.so=
#ifndef JITINJECT_OPTIONS_H
#define JITINJECT_OPTIONS_H

#include <stdbool.h>
#include <limits.h>

struct options {
	char dir[PATH_MAX];    // where the dump goes
	bool short_names;      // names without descriptors
};

// options_parse reads name=value pairs with commas between; text may be NULL, or
// have quotes around all of it.
// A mistake is said on stderr, and false returned.
bool options_parse(struct options *o, const char *text);

#endif
