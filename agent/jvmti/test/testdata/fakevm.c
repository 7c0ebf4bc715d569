// fakevm SEED FUNCTIONS THREADS DIR: plays a VM for the agent. It posts compiled
// methods with random places from several threads, and prints what it posted:
//
//	F address size outer         a function
//	P end method:bci ...         a place of it, innermost frame first
//
// Method N is called pN%7.CN.mN()V, its file is pN%7/CN.java, and its line at a
// byte code is 10*N + bci/4 + 1. N%11 == 0: no lines. N%13 == 0: no source file.
// Methods beyond KNOWN are not known any more. With a name of the VM in FAKEVM, it
// is another VM: compile_info is none of HotSpot's, and the map says less.
#define _GNU_SOURCE
#include <jvmti.h>
#include <jvmticmlr.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METHODS = 60, KNOWN = 55, MAX_BCI = 40 };

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm);

static jvmtiEventCallbacks callbacks;
static jvmtiExtensionEvent on_unload;
static pthread_mutex_t out = PTHREAD_MUTEX_INITIALIZER;
static int functions;

// Ids are numbers, moved away from NULL. A class has its method's.
static int number(const void *id)
{
	return (int)(intptr_t)id - 1000;
}

static void *id_of(int n)
{
	return (void *)(intptr_t)(n + 1000);
}

static char *text(const char *format, int a, int b)
{
	char *s;
	if (asprintf(&s, format, a, b) < 0)
		abort();
	return s;
}

static jvmtiError JNICALL Deallocate(jvmtiEnv *e, unsigned char *p)
{
	(void)e;
	free(p);
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
	memcpy(&callbacks, c, size);
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
	const char *other = getenv("FAKEVM");
	*value = strdup(other ? other : "Fake OpenJDK VM");
	return 0;
}

static jvmtiError JNICALL GetExtensionEvents(jvmtiEnv *e, jint *count, jvmtiExtensionEventInfo **events)
{
	(void)e;
	*count = 1;
	*events = calloc(1, sizeof **events);
	(*events)->id = strdup("com.sun.hotspot.events.ClassUnload");
	(*events)->short_description = strdup("a class is unloaded");
	(*events)->param_count = 1;
	(*events)->params = calloc(1, sizeof *(*events)->params);
	(*events)->params->name = strdup("class");
	return 0;
}

static jvmtiError JNICALL SetExtensionEventCallback(jvmtiEnv *e, jint index, jvmtiExtensionEvent callback)
{
	(void)e, (void)index;
	on_unload = callback;
	return 0;
}

static jvmtiError JNICALL GetMethodName(jvmtiEnv *e, jmethodID id, char **name, char **sig, char **generic)
{
	(void)e, (void)generic;
	if (number(id) >= KNOWN)
		return JVMTI_ERROR_INVALID_METHODID;
	*name = text("m%d", number(id), 0);
	*sig = strdup("()V");
	return 0;
}

static jvmtiError JNICALL GetMethodDeclaringClass(jvmtiEnv *e, jmethodID id, jclass *klass)
{
	(void)e;
	*klass = (jclass)id;
	return 0;
}

static jvmtiError JNICALL GetClassSignature(jvmtiEnv *e, jclass klass, char **sig, char **generic)
{
	(void)e, (void)generic;
	*sig = text("Lp%d/C%d;", number(klass) % 7, number(klass));
	return 0;
}

static jvmtiError JNICALL GetSourceFileName(jvmtiEnv *e, jclass klass, char **name)
{
	(void)e;
	if (number(klass) % 13 == 0)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*name = text("C%d.java", number(klass), 0);
	return 0;
}

static jvmtiError JNICALL GetLineNumberTable(jvmtiEnv *e, jmethodID id, jint *count, jvmtiLineNumberEntry **table)
{
	(void)e;
	int n = number(id);
	if (n % 11 == 0)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*count = MAX_BCI / 4;
	*table = calloc(*count, sizeof **table);
	for (int i = 0; i < *count; i++) {
		int at = n % 2 ? i : *count - 1 - i; // half the tables are not sorted
		(*table)[at] = (jvmtiLineNumberEntry){4 * i, 10 * n + i + 1};
	}
	return 0;
}

static jvmtiError JNICALL GetClassLoader(jvmtiEnv *e, jclass klass, jobject *loader)
{
	(void)e;
	*loader = number(klass) % 2 ? (jobject)klass : NULL;
	return 0;
}

static void JNICALL DeleteLocalRef(JNIEnv *e, jobject o)
{
	(void)e, (void)o;
}

static jclass JNICALL GetObjectClass(JNIEnv *e, jobject o)
{
	(void)e;
	return o;
}

static struct jvmtiInterface_1_ jvmti_table = {
	.Deallocate = Deallocate,
	.AddCapabilities = AddCapabilities,
	.SetEventCallbacks = SetEventCallbacks,
	.SetEventNotificationMode = SetEventNotificationMode,
	.GetSystemProperty = GetSystemProperty,
	.GetExtensionEvents = GetExtensionEvents,
	.SetExtensionEventCallback = SetExtensionEventCallback,
	.GetMethodName = GetMethodName,
	.GetMethodDeclaringClass = GetMethodDeclaringClass,
	.GetClassSignature = GetClassSignature,
	.GetSourceFileName = GetSourceFileName,
	.GetLineNumberTable = GetLineNumberTable,
	.GetClassLoader = GetClassLoader,
};
static jvmtiEnv jvmti = &jvmti_table;

static struct JNINativeInterface_ jni_table = {
	.DeleteLocalRef = DeleteLocalRef,
	.GetObjectClass = GetObjectClass,
};
static JNIEnv jni = &jni_table;

static jint JNICALL GetEnv(JavaVM *vm, void **env, jint version)
{
	(void)vm;
	*env = version & JVMTI_VERSION_INTERFACE_JVMTI ? (void *)&jvmti : (void *)&jni;
	return 0;
}

static struct JNIInvokeInterface_ vm_table = {.GetEnv = GetEnv};
static JavaVM vm = &vm_table;

// The code of all functions stays until the end, as its addresses name them. Each begins
// with a link to another.
static void *all_code;

static unsigned char *new_code(size_t size)
{
	void **link = malloc(sizeof *link + size);
	memset(link + 1, 0x90, size);
	pthread_mutex_lock(&out);
	*link = all_code;
	all_code = link;
	pthread_mutex_unlock(&out);
	return (unsigned char *)(link + 1);
}

static int below(unsigned *seed, int n)
{
	return rand_r(seed) % n;
}

// stack makes one like the last: compilers go on where they were, mostly.
static int stack(unsigned *seed, int outer, int depth, jmethodID *methods, jint *bcis)
{
	static const int limits[] = {1, 2, 4, 15, 300};
	int limit = limits[below(seed, 5)];
	int n = depth > 0 && below(seed, 4) ? 1 + below(seed, depth) : 1; // frames kept, from the outside
	// Outermost first; turned around by the caller.
	if (depth == 0 || below(seed, 50) == 0)
		methods[0] = id_of(below(seed, 20) ? outer : below(seed, METHODS));
	if (depth == 0 || below(seed, 3))
		bcis[n - 1] = below(seed, MAX_BCI + 1) - 1;
	while (n < limit && below(seed, limit)) {
		methods[n] = id_of(below(seed, METHODS));
		bcis[n] = below(seed, MAX_BCI + 1) - 1;
		n++;
	}
	return n;
}

static void post(unsigned *seed)
{
	enum { DEEP = 301 };
	int size = below(seed, 2000), outer = below(seed, METHODS), count = below(seed, 10) ? below(seed, 200) : 0;
	unsigned char *code = new_code(size + 1);
	jmethodID methods[DEEP];
	jint bcis[DEEP];
	int depth = 0, end = 0;
	PCStackInfo *infos = calloc(count + 1, sizeof *infos);
	char *told = NULL;
	size_t told_len = 0;
	FILE *tell = open_memstream(&told, &told_len);
	fprintf(tell, "F %lx %d %d\n", (unsigned long)code, size, outer);
	for (int i = 0; i < count; i++) {
		depth = stack(seed, outer, depth, methods, bcis);
		end += below(seed, 20);
		if (below(seed, 100) == 0)
			end -= 30; // out of order, or in front of the code
		PCStackInfo *p = &infos[i];
		// An empty stack is of no use, and no crash.
		int n = below(seed, 100) ? depth : 0;
		*p = (PCStackInfo){code + end, n, calloc(n + 1, sizeof(jmethodID)), calloc(n + 1, sizeof(jint))};
		fprintf(tell, "P %d", end);
		for (int f = 0; f < n; f++) {
			p->methods[f] = methods[n - 1 - f];
			p->bcis[f] = bcis[n - 1 - f];
			fprintf(tell, " %d:%d", number(p->methods[f]), (int)p->bcis[f]);
		}
		fprintf(tell, "\n");
	}
	fclose(tell);
	jvmtiCompiledMethodLoadInlineRecord r = {{JVMTI_CMLR_INLINE_INFO, 1, 0, NULL}, count, infos};
	jvmtiCompiledMethodLoadDummyRecord dummy = {{JVMTI_CMLR_DUMMY, 1, 0, &r.header}, "dummy"};
	if (getenv("FAKEVM")) {
		jvmtiAddrLocationMap *map = calloc(count + 1, sizeof *map);
		for (int i = 0; i < count; i++)
			map[i] = (jvmtiAddrLocationMap){infos[i].pc, i % MAX_BCI};
		callbacks.CompiledMethodLoad(&jvmti, id_of(outer), size, code, count, map, (void *)8);
		free(map);
	} else {
		callbacks.CompiledMethodLoad(&jvmti, id_of(outer), size, code, 0, NULL, count ? &dummy : NULL);
	}
	if (below(seed, 30) == 0)
		on_unload(&jvmti, NULL, "p0.C0");
	if (below(seed, 30) == 0)
		callbacks.DynamicCodeGenerated(&jvmti, "stub", code, size);
	pthread_mutex_lock(&out);
	fwrite(told, 1, told_len, stdout);
	pthread_mutex_unlock(&out);
	for (int i = 0; i < count; i++) {
		free(infos[i].methods);
		free(infos[i].bcis);
	}
	free(infos);
	free(told);
}

static void *run(void *arg)
{
	unsigned seed = (uintptr_t)arg;
	for (int i = 0; i < functions; i++)
		post(&seed);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	unsigned long seed = strtoul(argv[1], NULL, 10);
	functions = atoi(argv[2]);
	pthread_t threads[64];
	int count = atoi(argv[3]);
	char options[4096];
	snprintf(options, sizeof options, "dir=%s", argv[4]);
	if (Agent_OnLoad(&vm, options, NULL))
		return 1;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(seed * 100 + i)))
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	callbacks.VMDeath(&jvmti, &jni);
	Agent_OnUnload(&vm);
	// After its end, events must not matter.
	callbacks.DynamicCodeGenerated(&jvmti, "late", "x", 1);
	return 0;
}
