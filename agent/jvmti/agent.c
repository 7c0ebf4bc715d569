// The agent as the VM sees it: how it is loaded, and what it is told.
#include "inlines.h"
#include "methods.h"
#include "openj9.h"
#include "options.h"
#include "places.h"
#include "say.h"

#include <jvmti.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// The makefile hides what is not said to be seen. OpenJ9's jni.h of some versions
// says it of nothing.
#define SEEN __attribute__((visibility("default")))

// A worker is what one thread needs to describe a function. The VM may post
// events from many threads, usually it has one for it: idle workers wait in a
// list, with their caches warm.
struct worker {
	struct worker *next;
	struct methods methods;
	struct places places;
	struct openj9 openj9;
};

static struct {
	JavaVM *vm;
	jvmtiEnv *jvmti;
	struct options options;
	bool hotspot, openj9;
	struct j9methods j9methods;
	unsigned unloads; // counts unloaded classes; atomic

	pthread_mutex_t lock; // for idle
	struct worker *idle;
} agent = {.j9methods = J9METHODS_EMPTY, .lock = PTHREAD_MUTEX_INITIALIZER};

static struct worker *worker_take(void)
{
	pthread_mutex_lock(&agent.lock);
	struct worker *w = agent.idle;
	if (w)
		agent.idle = w->next;
	pthread_mutex_unlock(&agent.lock);
	if (!w && (w = calloc(1, sizeof *w))) {
		w->methods.short_names = agent.options.short_names;
		w->methods.parts = agent.openj9;
	}
	if (w)
		methods_begin(&w->methods, __atomic_load_n(&agent.unloads, __ATOMIC_RELAXED));
	return w;
}

static void worker_return(struct worker *w)
{
	pthread_mutex_lock(&agent.lock);
	w->next = agent.idle;
	agent.idle = w;
	pthread_mutex_unlock(&agent.lock);
}

// inline_record finds the record of inlined calls. What compile_info points to
// is up to the VM, OpenJ9 gives something else: only HotSpot's is read.
static const struct inlines *inline_record(const void *compile_info)
{
	if (!agent.hotspot)
		return NULL;
	const struct inlines_header *h = compile_info;
	for (; h; h = h->next)
		if (h->kind == INLINES_KIND && h->major == INLINES_MAJOR)
			return (const void *)h;
	return NULL;
}

// offset_in returns how far an address is behind the start, at most size.
static uint32_t offset_in(const void *code, uint32_t size, const void *address)
{
	uintptr_t start = (uintptr_t)code, at = (uintptr_t)address;
	if (at <= start)
		return 0;
	return at - start < size ? at - start : size;
}

// HotSpot notes a place when it has emitted the place's instructions, or the
// call that a return address is behind: an entry's pc is the END of its code.
// Its own disassembly shows an instruction with the place in (start, end] of the
// instruction, and looks up a return address with no -1. Taking pc for a start
// gives each instruction the scope of the one before; test/agent_test.go shows
// it with instructions that only one method can be the source of.
static bool add_inline_places(struct worker *w, JNIEnv *jni, const void *code, uint32_t size,
                              const struct inlines *r)
{
	for (jint i = 0; i < r->place_count; i++) {
		const struct inlines_place *p = &r->places[i];
		for (jint f = 0; f < p->frame_count; f++) {
			struct method *m = methods_get(&w->methods, agent.jvmti, jni, p->methods[f]);
			if (!m)
				return false;
			places_frame(&w->places, m, p->bcis[f]);
		}
		places_end(&w->places, offset_in(code, size, p->pc));
	}
	return true;
}

// The map knows only the compiled method itself. HotSpot makes it from the
// same list of places: start_address is an end there, too. Elsewhere it is what
// JVMTI says it is.
static void add_map_places(struct worker *w, struct method *outer, const void *code, uint32_t size,
                           const jvmtiAddrLocationMap *map, jint count)
{
	for (jint i = 0; i < count; i++) {
		places_frame(&w->places, outer, map[i].location);
		if (agent.hotspot)
			places_end(&w->places, offset_in(code, size, map[i].start_address));
		else
			places_end(&w->places, i + 1 < count ? offset_in(code, size, map[i + 1].start_address) : size);
	}
}

static void write_code(const char *name, const void *code, uint32_t size, struct jitdump_debug *debug)
{
	jitdump_code_load(&(struct jitdump_code){.name = name, .address = code, .size = size, .debug = debug});
}

static void write_method(struct worker *w, JNIEnv *jni, jmethodID id, const void *code, uint32_t size, jint map_length,
                         const jvmtiAddrLocationMap *map, const void *compile_info)
{
	struct method *outer = methods_get(&w->methods, agent.jvmti, jni, id);
	if (!outer) {
		write_code("[out of memory]", code, size, NULL);
		return;
	}
	const struct inlines *r = inline_record(compile_info);
	places_begin(&w->places);
	if (r && r->place_count > 0) {
		if (!add_inline_places(w, jni, code, size, r))
			places_begin(&w->places);
	} else if (map && map_length > 0) {
		add_map_places(w, outer, code, size, map, map_length);
	}
	write_code(outer->name, code, size, places_describe(&w->places, outer, size));
}

static void JNICALL compiled_method_load(jvmtiEnv *jvmti, jmethodID id, jint size, const void *code, jint map_length,
                                         const jvmtiAddrLocationMap *map, const void *compile_info)
{
	(void)jvmti;
	if (size < 0 || !jitdump_is_open())
		return;
	struct worker *w = worker_take();
	if (!w)
		return;
	// The event has no JNIEnv, but its thread does.
	JNIEnv *jni = NULL;
	if ((*agent.vm)->GetEnv(agent.vm, (void **)&jni, JNI_VERSION_1_6))
		jni = NULL;
	if (agent.openj9)
		openj9_load(&w->openj9, &w->methods, &agent.j9methods, agent.jvmti, jni, id, code, size, compile_info);
	else
		write_method(w, jni, id, code, size, map_length, map, compile_info);
	worker_return(w);
}

// Stubs may be posted by threads that must not call the VM: here is no call.
static void JNICALL dynamic_code_generated(jvmtiEnv *jvmti, const char *name, const void *code, jint size)
{
	(void)jvmti;
	if (size > 0 && jitdump_is_open())
		write_code(name, code, size, NULL);
}

static void JNICALL class_unload(jvmtiEnv *jvmti, ...)
{
	(void)jvmti;
	__atomic_fetch_add(&agent.unloads, 1, __ATOMIC_RELAXED);
}

// class_prepare and vm_init are asked for on OpenJ9 only.

static void JNICALL class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass klass)
{
	(void)thread;
	if (jitdump_is_open())
		j9methods_learn(&agent.j9methods, jvmti, jni, klass);
}

// OpenJ9 tells of no method that was compiled before its live phase, unless it
// is asked. What it tells of meanwhile may come twice.
static void JNICALL vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)jni, (void)thread;
	(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
}

static void JNICALL vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(void)jvmti, (void)jni;
	jitdump_close();
}

// release frees memory that JVMTI gave. NULL is allowed.
static void release(void *memory)
{
	(*agent.jvmti)->Deallocate(agent.jvmti, memory);
}

// free_event frees the strings and parameters of an extension event: JVMTI allocates
// each on its own.
static void free_event(jvmtiExtensionEventInfo *event)
{
	for (jint i = 0; i < event->param_count; i++)
		release(event->params[i].name);
	release(event->params);
	release(event->id);
	release(event->short_description);
}

// hear_of_unloads asks for HotSpot's event of unloaded classes, which JVMTI
// itself does not have. Other VMs do without.
static void hear_of_unloads(void)
{
	jint count;
	jvmtiExtensionEventInfo *events;
	if ((*agent.jvmti)->GetExtensionEvents(agent.jvmti, &count, &events))
		return;
	for (jint i = 0; i < count; i++) {
		if (!strcmp(events[i].id, "com.sun.hotspot.events.ClassUnload"))
			(*agent.jvmti)->SetExtensionEventCallback(agent.jvmti, events[i].extension_event_index, class_unload);
		free_event(&events[i]);
	}
	release(events);
}

// recognize finds out what compile_info is. OpenJ9 is "Eclipse OpenJ9 VM", and
// "IBM J9 VM" in IBM's own builds.
static void recognize(void)
{
	char *name = NULL;
	if ((*agent.jvmti)->GetSystemProperty(agent.jvmti, "java.vm.name", &name))
		return;
	agent.openj9 = strstr(name, "OpenJ9") || strstr(name, "IBM J9");
	agent.hotspot = !agent.openj9 && (strstr(name, "OpenJDK") || strstr(name, "HotSpot"));
	release(name);
}

static bool ask(const char *what, jvmtiError error)
{
	if (error)
		say("the VM refuses %s (JVMTI error %d); no jitdump is written", what, error);
	return !error;
}

// listen makes an environment that gets the events.
static bool listen(void)
{
	static const jvmtiCapabilities capabilities = {
		.can_generate_compiled_method_load_events = 1,
		.can_get_line_numbers = 1,
		.can_get_source_file_name = 1,
	};
	static const jvmtiEventCallbacks callbacks = {
		.CompiledMethodLoad = compiled_method_load,
		.DynamicCodeGenerated = dynamic_code_generated,
		.VMDeath = vm_death,
		.VMInit = vm_init,
		.ClassPrepare = class_prepare,
	};
	jint rc = (*agent.vm)->GetEnv(agent.vm, (void **)&agent.jvmti, JVMTI_VERSION_1_1);
	if (rc) {
		say("the VM has no JVMTI (%d); no jitdump is written", rc);
		return false;
	}
	jvmtiEnv *jvmti = agent.jvmti;
	if (!ask("events of compiled methods", (*jvmti)->AddCapabilities(jvmti, &capabilities)) ||
	    !ask("callbacks", (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks)))
		return false;
	recognize();
	return true;
}

static bool enable(const jvmtiEvent *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!ask("an event", (*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, events[i], NULL)))
			return false;
	return true;
}

// start makes the VM send events. HotSpot notes places also between safepoints
// (DebugNonSafepoints) from the moment on that someone wants compiled methods.
static bool start(void)
{
	static const jvmtiEvent events[] = {
		JVMTI_EVENT_VM_DEATH,
		JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
		JVMTI_EVENT_COMPILED_METHOD_LOAD,
	};
	static const jvmtiEvent of_openj9[] = {JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_VM_INIT};
	if (!enable(events, sizeof events / sizeof *events) ||
	    (agent.openj9 && !enable(of_openj9, sizeof of_openj9 / sizeof *of_openj9)))
		return false;
	hear_of_unloads();
	return true;
}

// report passes on what jitdump.h says. If there is no dump, another place may do.
static void report(void *context, const char *message)
{
	(void)context;
	say("%s%s", message, strstr(message, "no jitdump is written") ? " (dir=DIRECTORY chooses another place)" : "");
}

// open_dump opens the dump. Lines are in the records of inlined calls, and a forked child of a VM
// compiles nothing.
static bool open_dump(void)
{
	return !jitdump_open(&(struct jitdump_options){
		.directory = agent.options.dir,
		.flags = JITDUMP_NO_PLAIN_LINES | JITDUMP_NO_CHILDREN,
		.report = report,
	});
}

// begin is what loading at the VM's start and into a running one have in
// common. Only a mistake in the options is an error for the VM: without a place
// for its dump, the program runs without being profiled.
static jint begin(JavaVM *vm, const char *text, bool *running)
{
	*running = false;
	struct options options;
	if (!options_parse(&options, text))
		return JNI_ERR;
	if (agent.vm) {
		say("the agent is loaded already");
		return JNI_OK;
	}
	agent.vm = vm;
	agent.options = options;
	*running = listen() && open_dump() && start();
	if (*running)
		return JNI_OK;
	jitdump_close();
	if (agent.jvmti)
		(*agent.jvmti)->DisposeEnvironment(agent.jvmti);
	agent.jvmti = NULL;
	agent.vm = NULL; // the next attempt may do better
	return JNI_OK;
}

SEEN JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	bool running;
	return begin(vm, options, &running);
}

SEEN JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	bool running;
	jint rc = begin(vm, options, &running);
	if (running) {
		// What was compiled before. A function that is compiled meanwhile may
		// come twice, which does no harm.
		(*agent.jvmti)->GenerateEvents(agent.jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
		(*agent.jvmti)->GenerateEvents(agent.jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	}
	return rc;
}

SEEN JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
	jitdump_close();
}
