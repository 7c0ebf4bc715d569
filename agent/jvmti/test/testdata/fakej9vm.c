#define _GNU_SOURCE
#include "fakej9vm.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t vm_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int locals; // references of this thread

struct class *fake_classes[CLASSES];
int fake_weak_refs;
jvmtiEventCallbacks fake_callbacks;
bool fake_enabled[256];
bool fake_live;

void fake_die(const char *what)
{
	fprintf(stderr, "the VM would have crashed: %s\n", what);
	_exit(3);
}

void fake_no_locals(const char *event)
{
	if (locals)
		fake_die(event);
}

static void *ref_to(struct class *c, bool weak)
{
	struct ref *r = malloc(sizeof *r);
	*r = (struct ref){c, weak};
	if (weak) {
		fake_weak_refs++;
	} else {
		c->held++;
		locals++;
	}
	return r;
}

static void delete(void *ref, bool weak)
{
	struct ref *r = ref;
	if (r->weak != weak)
		fake_die("a reference of another kind is deleted");
	if (weak)
		fake_weak_refs--;
	else
		r->klass->held--, locals--;
	free(r);
}

static struct class *class_of(jobject ref)
{
	struct ref *r = (void *)ref;
	if (r->klass->dead)
		fake_die("a class that is unloaded is asked about");
	return r->klass;
}

// held returns what an id stands for, as OpenJ9 does: it looks there.
static struct id *held(jmethodID id)
{
	struct id *i = (void *)id;
	if (i->klass->dead || !i->klass->held)
		fake_die("a method is asked about, and nothing holds its class");
	return i;
}

static char *text(const char *format, int n)
{
	char *s;
	if (asprintf(&s, format, n) < 0)
		abort();
	return s;
}

#define LOCK pthread_mutex_lock(&vm_lock)
#define UNLOCK pthread_mutex_unlock(&vm_lock)

static jvmtiError JNICALL Deallocate(jvmtiEnv *e, unsigned char *p)
{
	(void)e;
	free(p);
	return 0;
}

static jvmtiError JNICALL AddCapabilities(jvmtiEnv *e, const jvmtiCapabilities *c)
{
	(void)e;
	if (c->can_generate_all_class_hook_events || c->can_retransform_classes)
		fake_die("a capability that costs much");
	return 0;
}

static jvmtiError JNICALL SetEventCallbacks(jvmtiEnv *e, const jvmtiEventCallbacks *c, jint size)
{
	(void)e;
	memcpy(&fake_callbacks, c, size);
	return 0;
}

static jvmtiError JNICALL SetEventNotificationMode(jvmtiEnv *e, jvmtiEventMode m, jvmtiEvent v, jthread t, ...)
{
	(void)e, (void)t;
	fake_enabled[v] = m == JVMTI_ENABLE;
	return 0;
}

static jvmtiError JNICALL GetSystemProperty(jvmtiEnv *e, const char *name, char **value)
{
	(void)e;
	*value = strdup(strcmp(name, "java.vm.name") ? "" : getenv("FAKEVM"));
	return 0;
}

static jvmtiError JNICALL GetExtensionEvents(jvmtiEnv *e, jint *count, jvmtiExtensionEventInfo **events)
{
	(void)e;
	*count = 1;
	*events = calloc(1, sizeof **events);
	(*events)->id = strdup("com.ibm.CompilingStart");
	return 0;
}

static jvmtiError JNICALL GetLoadedClasses(jvmtiEnv *e, jint *count, jclass **list)
{
	(void)e;
	*count = 0;
	if (!fake_live)
		return JVMTI_ERROR_WRONG_PHASE;
	*list = malloc(CLASSES * sizeof **list);
	LOCK;
	for (int i = 0; i < CLASSES; i++)
		if (fake_classes[i])
			(*list)[(*count)++] = ref_to(fake_classes[i], false);
	UNLOCK;
	return 0;
}

static jvmtiError JNICALL GetClassMethods(jvmtiEnv *e, jclass klass, jint *count, jmethodID **ids)
{
	(void)e;
	LOCK;
	struct class *c = class_of(klass);
	bool prepared = c->prepared;
	if (prepared) {
		*count = c->count;
		*ids = malloc(c->count * sizeof **ids + 1);
		for (int i = 0; i < c->count; i++)
			(*ids)[i] = (jmethodID)&c->ids[i];
	}
	UNLOCK;
	return prepared ? 0 : JVMTI_ERROR_CLASS_NOT_PREPARED;
}

static jvmtiError JNICALL GetMethodName(jvmtiEnv *e, jmethodID id, char **name, char **sig, char **generic)
{
	(void)e, (void)generic;
	LOCK;
	*name = text("m%d", held(id)->index);
	*sig = strdup("(I)V");
	UNLOCK;
	return 0;
}

static jvmtiError JNICALL GetMethodDeclaringClass(jvmtiEnv *e, jmethodID id, jclass *klass)
{
	(void)e;
	LOCK;
	*klass = ref_to(held(id)->klass, false);
	UNLOCK;
	return 0;
}

static jvmtiError JNICALL GetClassSignature(jvmtiEnv *e, jclass klass, char **sig, char **generic)
{
	(void)e, (void)generic;
	LOCK;
	*sig = text("Lp/K%d;", class_of(klass)->number);
	UNLOCK;
	return 0;
}

static jvmtiError JNICALL GetSourceFileName(jvmtiEnv *e, jclass klass, char **name)
{
	(void)e;
	LOCK;
	int number = class_of(klass)->number;
	UNLOCK;
	if (number % 4 == 3)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*name = text("K%d.java", number);
	return 0;
}

static jvmtiError JNICALL GetLineNumberTable(jvmtiEnv *e, jmethodID id, jint *count, jvmtiLineNumberEntry **table)
{
	(void)e;
	LOCK;
	struct id *i = held(id);
	int number = i->klass->number, index = i->index;
	UNLOCK;
	if (index % 5 == 4)
		return JVMTI_ERROR_NATIVE_METHOD;
	*count = 4;
	*table = calloc(*count, sizeof **table);
	for (int n = 0; n < 3; n++)
		(*table)[index % 2 ? n : 3 - n] = (jvmtiLineNumberEntry){4 * n, 100 * number + 10 * index + n};
	// The entry left over says nothing new.
	(*table)[index % 2 ? 3 : 0] = (*table)[index % 2 ? 2 : 1];
	return 0;
}

static jvmtiError JNICALL GetClassLoader(jvmtiEnv *e, jclass klass, jobject *loader)
{
	(void)e;
	LOCK;
	struct class *c = class_of(klass);
	*loader = c->number % 2 ? ref_to(c, false) : NULL;
	UNLOCK;
	return 0;
}

static jvmtiError JNICALL GenerateEvents(jvmtiEnv *e, jvmtiEvent event)
{
	(void)e;
	if (!fake_live)
		return JVMTI_ERROR_WRONG_PHASE;
	if (event == JVMTI_EVENT_COMPILED_METHOD_LOAD)
		fake_generate();
	return 0;
}

static jclass JNICALL GetObjectClass(JNIEnv *e, jobject o)
{
	(void)e;
	LOCK;
	jclass c = ref_to(class_of(o), false);
	UNLOCK;
	return c;
}

static jobject JNICALL NewLocalRef(JNIEnv *e, jobject o)
{
	(void)e;
	LOCK;
	struct ref *r = (void *)o;
	jobject local = r->klass->dead ? NULL : ref_to(r->klass, false);
	UNLOCK;
	return local;
}

static void JNICALL DeleteLocalRef(JNIEnv *e, jobject o)
{
	(void)e;
	LOCK;
	delete(o, false);
	UNLOCK;
}

static jweak JNICALL NewWeakGlobalRef(JNIEnv *e, jobject o)
{
	(void)e;
	LOCK;
	jweak r = ref_to(class_of(o), true);
	UNLOCK;
	return r;
}

static void JNICALL DeleteWeakGlobalRef(JNIEnv *e, jweak o)
{
	(void)e;
	LOCK;
	delete(o, true);
	UNLOCK;
}

static jboolean JNICALL IsSameObject(JNIEnv *e, jobject a, jobject b)
{
	(void)e;
	struct ref *x = (void *)a, *y = (void *)b;
	LOCK;
	struct class *p = x && !x->klass->dead ? x->klass : NULL, *q = y && !y->klass->dead ? y->klass : NULL;
	UNLOCK;
	return p == q;
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
	.GenerateEvents = GenerateEvents,
};
jvmtiEnv fake_jvmti = &jvmti_table;

static struct JNINativeInterface_ jni_table = {
	.GetObjectClass = GetObjectClass,
	.NewLocalRef = NewLocalRef,
	.DeleteLocalRef = DeleteLocalRef,
	.NewWeakGlobalRef = NewWeakGlobalRef,
	.DeleteWeakGlobalRef = DeleteWeakGlobalRef,
	.IsSameObject = IsSameObject,
};
JNIEnv fake_jni = &jni_table;

static jint JNICALL GetEnv(JavaVM *vm, void **env, jint version)
{
	(void)vm;
	*env = version & JVMTI_VERSION_INTERFACE_JVMTI ? (void *)&fake_jvmti : (void *)&fake_jni;
	return 0;
}

static struct JNIInvokeInterface_ vm_table = {.GetEnv = GetEnv};
JavaVM fake_vm = &vm_table;

// The ids that were freed last, for the next class to have: a jmethodID comes to
// stand for another method.
static struct id *free_ids;
static int free_count;

static struct id *new_ids(int count)
{
	struct id *ids = NULL;
	if (free_count >= count) {
		ids = free_ids;
		free_ids = NULL;
		free_count = 0;
	}
	return ids ? ids : calloc(count + 1, sizeof *ids);
}

static void delete_ids(struct class *c)
{
	free(free_ids);
	free_ids = c->ids;
	free_count = c->count;
	c->ids = NULL;
}

static struct class *all_classes;

struct class *fake_load(int number, uintptr_t method, int count)
{
	struct class *c = calloc(1, sizeof *c);
	c->number = number;
	c->count = count;
	LOCK;
	c->ids = new_ids(count);
	for (int i = 0; i < count; i++)
		c->ids[i] = (struct id){method + i * METHOD_SIZE, 0, c, i};
	fake_classes[number] = c;
	c->next = all_classes;
	all_classes = c;
	UNLOCK;
	return c;
}

void fake_prepare(struct class *c)
{
	LOCK;
	c->prepared = true;
	jclass klass = ref_to(c, false);
	UNLOCK;
	if (fake_enabled[JVMTI_EVENT_CLASS_PREPARE])
		fake_callbacks.ClassPrepare(&fake_jvmti, &fake_jni, NULL, klass);
	DeleteLocalRef(&fake_jni, klass);
	fake_no_locals("ClassPrepare");
}

bool fake_unload(struct class *c)
{
	LOCK;
	bool gone = !c->held;
	if (gone) {
		c->dead = true;
		fake_classes[c->number] = NULL;
		delete_ids(c);
	}
	UNLOCK;
	return gone;
}

