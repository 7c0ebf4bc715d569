// From OpenJ9's J9Method*, which its metadata has, to what JVMTI calls a method.
#ifndef JITINJECT_J9METHODS_H
#define JITINJECT_J9METHODS_H

#include "../../producer/jitdump.h"
#include "table.h"

#include <jvmti.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// A j9methods knows all methods of the classes that were prepared. A jmethodID
// of OpenJ9 points to two words, of which the first is the J9Method*. With an id
// whose class is unloaded, OpenJ9's JVMTI reads memory that was freed: so ids are
// given away only together with a reference that holds the class.
//
// Any thread may use it. No call into the VM is made under its lock.
struct j9methods {
	pthread_mutex_t lock;
	struct table by_method;  // struct entry of j9methods.c
	struct jitdump_bytes classes;   // struct j9class *
	struct jitdump_bytes unloaded;  // struct j9class *, freed when nobody may hold one
	unsigned users;          // threads that hold a j9class without the lock
	size_t loaded;           // classes that the last sweep found loaded
	bool sweeping;
	uint32_t serial;         // of the next class
	uint64_t filled;         // when j9methods_fill was begun last; 0: never
};

#define J9METHODS_EMPTY {.lock = PTHREAD_MUTEX_INITIALIZER}

// j9methods_learn takes in the methods of a class that is prepared.
void j9methods_learn(struct j9methods *m, jvmtiEnv *jvmti, JNIEnv *jni, jclass klass);

// j9methods_fill learns all loaded classes, for which the VM must be in its live
// phase. The first call does it, and calls ten seconds later or more: for a class
// that was redefined, which no event tells of. false: it is not time.
bool j9methods_fill(struct j9methods *m, jvmtiEnv *jvmti, JNIEnv *jni);

// A j9method is good until klass is deleted, a local reference of the caller's.
struct j9method {
	jmethodID id;
	uint64_t key; // of this method, and never of another
	jclass klass;
};

// j9methods_get finds a method. false: none of a class that is still loaded.
bool j9methods_get(struct j9methods *m, JNIEnv *jni, uintptr_t method, struct j9method *found);

#endif
