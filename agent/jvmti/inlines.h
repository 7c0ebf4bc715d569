// What HotSpot's compile_info points to: a list of records, one of which has the
// inlined calls. JDKs have its declaration in jvmticmlr.h, but not all of them:
// OpenJ9's own headers are jni.h and jvmti.h. So the agent has its own.
#ifndef JITINJECT_INLINES_H
#define JITINJECT_INLINES_H

#include <jvmti.h>

// The kind of the record, and the version of its layout.
enum { INLINES_KIND = 2, INLINES_MAJOR = 1 };

struct inlines_header {
	jint kind, major, minor;
	struct inlines_header *next;
};

// An inlines_place is the methods and byte codes that code comes from, innermost
// first.
struct inlines_place {
	void *pc; // where this code ends
	jint frame_count;
	jmethodID *methods;
	jint *bcis;
};

struct inlines {
	struct inlines_header header;
	jint place_count;
	struct inlines_place *places;
};

#endif
