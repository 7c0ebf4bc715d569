// What fuzzagent.c has of a VM and of an allocator.
#ifndef FUZZVM_H
#define FUZZVM_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { METHODS = 16, FIRST_METHOD = 0x500000, METHOD_SIZE = 32 };

// A method_facts is what the VM says of a method.
struct method_facts {
	char *klass, *name, *descriptor, *file;
	bool user, has_file, has_lines;
	jint line_count;
	jvmtiLineNumberEntry *lines;
};

// The first fact_count methods are known; of others, the class is unloaded.
extern struct method_facts facts[METHODS];
extern uint32_t fact_count;

// A method's id points to a word, its J9Method on OpenJ9. Its class is the same pointer.
extern uintptr_t ids[METHODS];

// The fail-th allocation of the agent and the refuse-th question to the VM fail; 0: none.
extern uint32_t fail, refuse;
extern long live; // the agent's allocations that were not freed

// Allocations that are not the agent's.
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void __real_free(void *p);

extern JavaVM fuzz_vm;
extern jvmtiEnv fuzz_jvmti;
extern JNIEnv fuzz_jni;
extern jvmtiEventCallbacks events; // the agent's

#endif
