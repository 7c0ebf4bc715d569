#include "j9methods.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SWEEP_MIN = 1024 }; // classes

static const uint64_t fill_pause = 10000000000u; // nanoseconds

struct j9class;

struct entry {
	jmethodID id;
	struct j9class *klass;
};

// A j9class is a class at the time it was learned. Redefined, it is learned
// again, and the methods that it had before belong to the newer one.
struct j9class {
	jweak ref;
	uint32_t serial;
	bool unloaded;
	jint count;
	struct entry entries[];
};

static void lock(struct j9methods *m)
{
	pthread_mutex_lock(&m->lock);
}

static void unlock(struct j9methods *m)
{
	pthread_mutex_unlock(&m->lock);
}

// let_go ends the use of classes that m->users counts, and frees those that
// were waiting for the last user.
static void let_go(struct j9methods *m, JNIEnv *jni)
{
	struct jitdump_bytes free_now = {0};
	lock(m);
	if (--m->users == 0) {
		free_now = m->unloaded;
		m->unloaded = (struct jitdump_bytes){0};
	}
	unlock(m);
	struct j9class **classes = (void *)free_now.at;
	for (size_t i = 0; i < free_now.len / sizeof *classes; i++) {
		(*jni)->DeleteWeakGlobalRef(jni, classes[i]->ref);
		free(classes[i]);
	}
	jitdump_bytes_free(&free_now);
}

// known tells whether the methods are those of a class that was learned.
static bool known(struct j9methods *m, JNIEnv *jni, jclass klass, const uintptr_t *methods, const jmethodID *ids, jint count)
{
	lock(m);
	struct j9class *all = NULL;
	bool same = true;
	for (jint i = 0; i < count && same; i++) {
		size_t pos = 0;
		const struct entry *e = table_next(&m->by_method, methods[i], &pos);
		same = e && e->id == ids[i] && (!all || e->klass == all);
		all = e ? e->klass : NULL;
	}
	m->users += same;
	unlock(m);
	if (!same)
		return false;
	// Memory of an unloaded class may be another's now.
	same = (*jni)->IsSameObject(jni, all->ref, klass);
	let_go(m, jni);
	return same;
}

static bool add_class(struct j9methods *m, struct j9class *c, const uintptr_t *methods)
{
	jitdump_bytes_add(&m->classes, &c, sizeof c);
	if (m->classes.failed) {
		m->classes.failed = false; // the list is lost, its classes stay
		return false;
	}
	c->serial = m->serial++;
	for (jint i = 0; i < c->count; i++)
		table_set(&m->by_method, methods[i], &c->entries[i]);
	return true;
}

static void add(struct j9methods *m, JNIEnv *jni, jclass klass, const uintptr_t *methods, const jmethodID *ids, jint count)
{
	struct j9class *c = calloc(1, sizeof *c + count * sizeof *c->entries);
	if (!c)
		return;
	c->ref = (*jni)->NewWeakGlobalRef(jni, klass);
	c->count = count;
	for (jint i = 0; i < count; i++)
		c->entries[i] = (struct entry){ids[i], c};
	bool added = false;
	if (c->ref) {
		lock(m);
		added = add_class(m, c, methods);
		unlock(m);
	}
	if (added)
		return;
	if (c->ref)
		(*jni)->DeleteWeakGlobalRef(jni, c->ref);
	free(c);
}

// drop takes unloaded classes and their methods out. What is left goes into a
// new table, as this kind has no removal.
static void drop(struct j9methods *m)
{
	struct table left = {0};
	for (size_t i = 0; i < m->by_method.cap; i++) {
		const struct table_slot *s = &m->by_method.slots[i];
		const struct entry *e = s->value;
		if (e && !e->klass->unloaded && !table_add(&left, s->key, s->value)) {
			table_free(&left);
			return; // out of memory: all stay
		}
	}
	struct j9class **classes = (void *)m->classes.at;
	size_t count = m->classes.len / sizeof *classes, kept = 0;
	for (size_t i = 0; i < count; i++)
		if (classes[i]->unloaded)
			jitdump_bytes_add(&m->unloaded, &classes[i], sizeof *classes);
	if (m->unloaded.failed) {
		m->unloaded.failed = false; // what was in it is never freed
		table_free(&left);
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (!classes[i]->unloaded)
			classes[kept++] = classes[i];
	m->classes.len = kept * sizeof *classes;
	table_free(&m->by_method);
	m->by_method = left;
}

// sweep looks for unloaded classes when there are twice as many as it found
// loaded. Classes that come while it looks do not count: with a slow thread they
// may be many, and unloaded by then.
static void sweep(struct j9methods *m, JNIEnv *jni)
{
	struct jitdump_bytes copy = {0};
	lock(m);
	size_t count = m->classes.len / sizeof(struct j9class *);
	bool now = !m->sweeping && count >= SWEEP_MIN && count >= 2 * m->loaded;
	if (now) {
		jitdump_bytes_add(&copy, m->classes.at, m->classes.len);
		m->sweeping = true;
		m->users++;
	}
	unlock(m);
	if (!now)
		return;
	// No other thread looks at unloaded: only a sweep does, and there is one.
	struct j9class **classes = (void *)copy.at;
	size_t loaded = 0;
	for (size_t i = 0; i < copy.len / sizeof *classes; i++) {
		classes[i]->unloaded = (*jni)->IsSameObject(jni, classes[i]->ref, NULL);
		loaded += !classes[i]->unloaded;
	}
	jitdump_bytes_free(&copy);
	lock(m);
	drop(m);
	m->loaded = loaded;
	m->sweeping = false;
	unlock(m);
	let_go(m, jni);
}

void j9methods_learn(struct j9methods *m, jvmtiEnv *jvmti, JNIEnv *jni, jclass klass)
{
	jint count = 0;
	jmethodID *ids = NULL;
	if ((*jvmti)->GetClassMethods(jvmti, klass, &count, &ids))
		return;
	uintptr_t *methods = count > 0 ? malloc(count * sizeof *methods) : NULL;
	if (methods && memory_words(methods, (const void *const *)ids, count) &&
	    !known(m, jni, klass, methods, ids, count)) {
		add(m, jni, klass, methods, ids, count);
		sweep(m, jni);
	}
	free(methods);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)ids);
}

bool j9methods_fill(struct j9methods *m, jvmtiEnv *jvmti, JNIEnv *jni)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	uint64_t time = t.tv_sec * 1000000000u + t.tv_nsec;
	lock(m);
	bool now = !m->filled || time - m->filled >= fill_pause;
	if (now)
		m->filled = time;
	unlock(m);
	jint count;
	jclass *classes;
	if (!now || (*jvmti)->GetLoadedClasses(jvmti, &count, &classes))
		return false;
	for (jint i = 0; i < count; i++) {
		j9methods_learn(m, jvmti, jni, classes[i]);
		(*jni)->DeleteLocalRef(jni, classes[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
	return true;
}

bool j9methods_get(struct j9methods *m, JNIEnv *jni, uintptr_t method, struct j9method *found)
{
	size_t pos = 0;
	lock(m);
	const struct entry *e = table_next(&m->by_method, method, &pos);
	m->users += e != NULL;
	unlock(m);
	if (!e)
		return false;
	found->id = e->id;
	found->key = (uint64_t)e->klass->serial << 32 | (uint32_t)(e - e->klass->entries);
	found->klass = (*jni)->NewLocalRef(jni, e->klass->ref);
	let_go(m, jni);
	if (!found->klass)
		return false;
	// After a redefinition, the id stands for the new method.
	uintptr_t now;
	if (memory_words(&now, (const void *const *)&found->id, 1) && now == method)
		return true;
	(*jni)->DeleteLocalRef(jni, found->klass);
	return false;
}
