// Compiled methods as OpenJ9 tells of them.
#ifndef JITINJECT_OPENJ9_H
#define JITINJECT_OPENJ9_H

#include "j9body.h"
#include "j9methods.h"
#include "j9record.h"
#include "methods.h"

// An openj9 is what one thread needs for it. Its memory is used again.
struct openj9 {
	struct j9body body;
	struct j9record record;
	struct jitdump_bytes wanted; // uintptr_t: J9Method* of the body
	struct jitdump_bytes name, parts;
};

// openj9_load writes a function of a CompiledMethodLoad event. names must keep
// parts. jni may be NULL; then nothing is asked of the VM.
//
// OpenJ9 gives no map, and its compile_info is the JIT's own metadata of the body
// (runtime/jvmti/jvmtiHook.c), from which the readers of the dump know the inlined
// methods. The event comes on a thread of its own, after the code is in use, and
// the class may be unloaded already.
void openj9_load(struct openj9 *o, struct methods *names, struct j9methods *known, jvmtiEnv *jvmti, JNIEnv *jni,
                 jmethodID id, const void *code, uint32_t size, const void *compile_info);

void openj9_free(struct openj9 *o);

#endif
