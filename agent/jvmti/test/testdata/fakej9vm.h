// OpenJ9 as far as the agent asks it anything; see fakej9.c.
#ifndef FAKEJ9VM_H
#define FAKEJ9VM_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

enum { CLASSES = 0x10000, METHOD_SIZE = 32 };

// An id is OpenJ9's J9JNIMethodID, whose first word is the J9Method*, with what we
// want to know of it behind.
struct id {
	uintptr_t method, vtable_index;
	struct class *klass;
	int index;
};

struct class {
	int number, count, held;
	bool prepared, dead;
	struct id *ids;
	struct class *next; // of all classes: dead ones are looked at, too
};

struct ref {
	struct class *klass;
	bool weak;
};

extern JavaVM fake_vm;
extern jvmtiEnv fake_jvmti;
extern JNIEnv fake_jni;
extern jvmtiEventCallbacks fake_callbacks;
extern bool fake_enabled[256]; // events
extern bool fake_live;
extern struct class *fake_classes[CLASSES];
extern int fake_weak_refs;

// fake_generate is what GenerateEvents does for compiled methods.
void fake_generate(void);

// fake_die ends the program: OpenJ9 would not have survived.
void fake_die(const char *what);

// fake_no_locals dies if this thread still has local references.
void fake_no_locals(const char *event);

struct class *fake_load(int number, uintptr_t method, int count);
void fake_prepare(struct class *c);
// fake_unload does what the garbage collector does to a class that nothing holds;
// false: something does.
bool fake_unload(struct class *c);

#endif
