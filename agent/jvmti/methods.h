// What the VM knows of methods, kept for a while.
#ifndef JITINJECT_METHODS_H
#define JITINJECT_METHODS_H

#include "../../producer/jitdump.h"
#include "lines.h"
#include "table.h"

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

// A file is a source file's path, once for all methods that come from it.
struct file {
	char *path;
};

struct method {
	char *name;
	char *parts; // three strings: class (java/lang/String), name, descriptor; or NULL
	struct file *file;
	struct line *lines;
	size_t line_count;
	uint32_t flags; // of DEBUG_INFO2
};

enum { METHOD_OF_USER = 1 }; // flags bit 0

// A methods is a cache, used by one thread at a time.
//
// A jmethodID outlives its class as a number, but what it stands for then is
// up to the VM: calls with it fail on HotSpot, and elsewhere it may come to stand
// for another method. And a debugger or an agent may redefine a class, which
// gives the same jmethodID other lines. JVMTI tells of neither in a way that
// costs nothing, so nothing is kept for long: methods_begin empties the cache when
// it is 5 seconds old or METHODS_MAX large, and when classes were unloaded
// since, as far as the VM says so (*unloads).
struct methods {
	struct table by_id, files;
	uint64_t since; // nanoseconds
	unsigned unloads;
	struct jitdump_bytes text; // for names under construction
	bool short_names;
	bool parts; // keep them
};

enum { METHODS_MAX = 32768 };

// methods_begin must be called before each record. What methods_get returned
// before is gone then.
void methods_begin(struct methods *m, unsigned unloads);

// methods_get returns what is known of a method. One that the VM does not know
// (any more) is called [unloaded]. NULL: out of memory.
struct method *methods_get(struct methods *m, jvmtiEnv *jvmti, JNIEnv *jni, jmethodID id);

// methods_get_as does it with a key that is the method's alone, where the id
// might come to stand for another one while the cache has it.
struct method *methods_get_as(struct methods *m, jvmtiEnv *jvmti, JNIEnv *jni, jmethodID id, uint64_t key);

void methods_free(struct methods *m);

#endif
