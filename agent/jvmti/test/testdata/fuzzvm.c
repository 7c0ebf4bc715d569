// A VM and an allocator that fail when they are told to. The linker lets the agent's allocations
// come here: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=free.
#include "fuzzvm.h"

#include <stdlib.h>
#include <string.h>

void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);

uint32_t fail, refuse;
long live;

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);
void __wrap_free(void *p);

static bool fails(void)
{
	return fail && --fail == 0;
}

static void *made(void *p)
{
	live += p != NULL;
	return p;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : made(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : made(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
	if (fails())
		return NULL;
	void *to = __real_realloc(p, n);
	live += to && !p;
	return to;
}

char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : made(__real_strdup(s));
}

void __wrap_free(void *p)
{
	live -= p != NULL;
	__real_free(p);
}

struct method_facts facts[METHODS];
uint32_t fact_count;
uintptr_t ids[METHODS];
jvmtiEventCallbacks events;

static struct method_facts *facts_of(const void *id)
{
	size_t i = (const uintptr_t *)id - ids;
	return i < fact_count ? &facts[i] : NULL; // of others the class is unloaded
}

static bool refuses(void)
{
	return refuse && --refuse == 0;
}

static jvmtiError JNICALL Deallocate(jvmtiEnv *e, unsigned char *p)
{
	(void)e;
	__real_free(p);
	return 0;
}

static jvmtiError JNICALL AddCapabilities(jvmtiEnv *e, const jvmtiCapabilities *c)
{
	(void)e, (void)c;
	return 0;
}

static jvmtiError JNICALL SetEventCallbacks(jvmtiEnv *e, const jvmtiEventCallbacks *c, jint size)
{
	(void)e;
	memcpy(&events, c, size);
	return 0;
}

static jvmtiError JNICALL SetEventNotificationMode(jvmtiEnv *e, jvmtiEventMode m, jvmtiEvent v, jthread t, ...)
{
	(void)e, (void)m, (void)v, (void)t;
	return 0;
}

static jvmtiError JNICALL GetSystemProperty(jvmtiEnv *e, const char *name, char **value)
{
	(void)e, (void)name;
	*value = __real_strdup("HotSpot");
	return 0;
}

static jvmtiError JNICALL GetExtensionEvents(jvmtiEnv *e, jint *count, jvmtiExtensionEventInfo **list)
{
	(void)e;
	*count = 0;
	*list = NULL;
	return 0;
}

static jvmtiError JNICALL GetLoadedClasses(jvmtiEnv *e, jint *count, jclass **list)
{
	(void)e;
	if (refuses())
		return JVMTI_ERROR_OUT_OF_MEMORY;
	*count = 0;
	*list = NULL;
	return 0;
}

// All methods are of all classes' first: the table needs to learn them once.
static jvmtiError JNICALL GetClassMethods(jvmtiEnv *e, jclass klass, jint *count, jmethodID **list)
{
	(void)e, (void)klass;
	if (refuses())
		return JVMTI_ERROR_OUT_OF_MEMORY;
	*count = METHODS;
	*list = __real_malloc(METHODS * sizeof **list);
	for (int i = 0; i < METHODS; i++)
		(*list)[i] = (jmethodID)&ids[i];
	return 0;
}

static jvmtiError JNICALL GetMethodName(jvmtiEnv *e, jmethodID id, char **name, char **descriptor, char **generic)
{
	(void)e, (void)generic;
	struct method_facts *f = facts_of(id);
	if (!f || refuses())
		return JVMTI_ERROR_INVALID_METHODID;
	*name = __real_strdup(f->name);
	*descriptor = __real_strdup(f->descriptor);
	return 0;
}

static jvmtiError JNICALL GetMethodDeclaringClass(jvmtiEnv *e, jmethodID id, jclass *klass)
{
	(void)e;
	*klass = (jclass)id;
	return refuses() ? JVMTI_ERROR_INVALID_METHODID : 0;
}

static jvmtiError JNICALL GetClassSignature(jvmtiEnv *e, jclass klass, char **signature, char **generic)
{
	(void)e, (void)generic;
	if (refuses())
		return JVMTI_ERROR_INVALID_CLASS;
	*signature = __real_strdup(facts_of(klass)->klass);
	return 0;
}

static jvmtiError JNICALL GetSourceFileName(jvmtiEnv *e, jclass klass, char **name)
{
	(void)e;
	struct method_facts *f = facts_of(klass);
	if (!f->has_file || refuses())
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*name = __real_strdup(f->file);
	return 0;
}

static jvmtiError JNICALL GetLineNumberTable(jvmtiEnv *e, jmethodID id, jint *count, jvmtiLineNumberEntry **table)
{
	(void)e;
	struct method_facts *f = facts_of(id);
	if (!f->has_lines || refuses())
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*count = f->line_count;
	*table = __real_malloc(f->line_count * sizeof **table);
	memcpy(*table, f->lines, f->line_count * sizeof **table);
	return 0;
}

static jvmtiError JNICALL GetClassLoader(jvmtiEnv *e, jclass klass, jobject *loader)
{
	(void)e;
	*loader = facts_of(klass)->user ? (jobject)klass : NULL;
	return 0;
}

static jobject JNICALL same_ref(JNIEnv *e, jobject o)
{
	(void)e;
	return o;
}

static void JNICALL delete_ref(JNIEnv *e, jobject o)
{
	(void)e, (void)o;
}

static jboolean JNICALL IsSameObject(JNIEnv *e, jobject a, jobject b)
{
	(void)e;
	return a == b;
}

static struct jvmtiInterface_1_ jvmti_table = {
	.Deallocate = Deallocate,
	.AddCapabilities = AddCapabilities,
	.SetEventCallbacks = SetEventCallbacks,
	.SetEventNotificationMode = SetEventNotificationMode,
	.GetSystemProperty = GetSystemProperty,
	.GetExtensionEvents = GetExtensionEvents,
	.GetLoadedClasses = GetLoadedClasses,
	.GetClassMethods = GetClassMethods,
	.GetMethodName = GetMethodName,
	.GetMethodDeclaringClass = GetMethodDeclaringClass,
	.GetClassSignature = GetClassSignature,
	.GetSourceFileName = GetSourceFileName,
	.GetLineNumberTable = GetLineNumberTable,
	.GetClassLoader = GetClassLoader,
};
jvmtiEnv fuzz_jvmti = &jvmti_table;

static struct JNINativeInterface_ jni_table = {
	.NewLocalRef = same_ref,
	.DeleteLocalRef = delete_ref,
	.NewWeakGlobalRef = same_ref,
	.DeleteWeakGlobalRef = delete_ref,
	.GetObjectClass = same_ref,
	.IsSameObject = IsSameObject,
};
JNIEnv fuzz_jni = &jni_table;

static jint JNICALL GetEnv(JavaVM *vm, void **env, jint version)
{
	(void)vm;
	*env = version & JVMTI_VERSION_INTERFACE_JVMTI ? (void *)&fuzz_jvmti : (void *)&fuzz_jni;
	return 0;
}

static struct JNIInvokeInterface_ vm_table = {.GetEnv = GetEnv};
JavaVM fuzz_vm = &vm_table;
