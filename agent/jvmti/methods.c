#include "methods.h"

#include "names.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint64_t max_age = 5000000000u; // nanoseconds

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec * 1000000000u + t.tv_nsec;
}

static void free_method(struct method *method)
{
	free(method->name);
	free(method->parts);
	free(method->lines);
	free(method);
}

static void empty(struct methods *m)
{
	for (size_t i = 0; i < m->by_id.cap; i++)
		if (m->by_id.slots[i].value)
			free_method(m->by_id.slots[i].value);
	for (size_t i = 0; i < m->files.cap; i++) {
		struct file *file = m->files.slots[i].value;
		if (file) {
			free(file->path);
			free(file);
		}
	}
	table_clear(&m->by_id);
	table_clear(&m->files);
}

void methods_begin(struct methods *m, unsigned unloads)
{
	uint64_t time = now();
	if (m->by_id.count < METHODS_MAX && m->unloads == unloads && time - m->since < max_age)
		return;
	empty(m);
	m->since = time;
	m->unloads = unloads;
}

void methods_free(struct methods *m)
{
	empty(m);
	table_free(&m->by_id);
	table_free(&m->files);
	jitdump_bytes_free(&m->text);
}

// get_file returns the file with the path in m->text.
static struct file *get_file(struct methods *m)
{
	if (m->text.failed)
		return NULL;
	uint64_t key = hash_bytes(HASH_SEED, m->text.at, m->text.len);
	struct file *file;
	for (size_t pos = 0; (file = table_next(&m->files, key, &pos));)
		if (!strcmp(file->path, m->text.at))
			return file;
	file = calloc(1, sizeof *file);
	if (file && (file->path = strdup(m->text.at)) && table_add(&m->files, key, file))
		return file;
	if (file)
		free(file->path);
	free(file);
	return NULL;
}

// of_user tells classes of the program from those of the JDK's own loaders.
static bool of_user(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass)
{
	jobject loader = NULL;
	if (!jni || (*jvmti)->GetClassLoader(jvmti, klass, &loader) || !loader)
		return false; // NULL is the bootstrap loader
	bool user = true;
	char *signature = NULL;
	jclass loader_class = (*jni)->GetObjectClass(jni, loader);
	if (!(*jvmti)->GetClassSignature(jvmti, loader_class, &signature, NULL)) {
		user = strcmp(signature, "Ljdk/internal/loader/ClassLoaders$PlatformClassLoader;") &&
		       strcmp(signature, "Lsun/misc/Launcher$ExtClassLoader;"); // up to Java 8
		(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	}
	(*jni)->DeleteLocalRef(jni, loader_class);
	(*jni)->DeleteLocalRef(jni, loader);
	return user;
}

// keep returns a copy of m->text.
static char *keep(const struct methods *m)
{
	char *copy = m->text.failed ? NULL : malloc(m->text.len);
	return copy ? memcpy(copy, m->text.at, m->text.len) : NULL;
}

static bool read_class(struct methods *m, jvmtiEnv *jvmti, JNIEnv *jni, jmethodID id, const char *name,
                       const char *descriptor, struct method *method)
{
	jclass klass;
	char *signature = NULL, *source = NULL;
	if ((*jvmti)->GetMethodDeclaringClass(jvmti, id, &klass))
		return false;
	bool known = !(*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL);
	if (known) {
		jitdump_bytes_reset(&m->text);
		name_method(&m->text, signature, name, m->short_names ? NULL : descriptor);
		method->name = keep(m);
		if (m->parts) {
			jitdump_bytes_reset(&m->text);
			name_parts(&m->text, signature, name, m->short_names ? "" : descriptor);
			method->parts = keep(m);
		}
		if ((*jvmti)->GetSourceFileName(jvmti, klass, &source))
			source = NULL;
		jitdump_bytes_reset(&m->text);
		name_file(&m->text, signature, source);
		method->file = get_file(m);
		method->flags = of_user(jvmti, jni, klass) ? METHOD_OF_USER : 0;
		(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)source);
	}
	if (jni)
		(*jni)->DeleteLocalRef(jni, klass);
	return known;
}

static void read_lines(jvmtiEnv *jvmti, jmethodID id, struct method *method)
{
	jint count;
	jvmtiLineNumberEntry *entries;
	// Native methods have none, nor those compiled without: no lines then.
	if ((*jvmti)->GetLineNumberTable(jvmti, id, &count, &entries))
		return;
	if (count > 0 && (method->lines = malloc(count * sizeof *method->lines))) {
		method->line_count = count;
		for (jint i = 0; i < count; i++)
			method->lines[i] = (struct line){entries[i].start_location, entries[i].line_number};
		lines_sort(method->lines, method->line_count);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)entries);
}

static bool read_method(struct methods *m, jvmtiEnv *jvmti, JNIEnv *jni, jmethodID id, struct method *method)
{
	char *name, *descriptor;
	if (!id || (*jvmti)->GetMethodName(jvmti, id, &name, &descriptor, NULL))
		return false;
	bool known = read_class(m, jvmti, jni, id, name, descriptor, method);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
	if (known)
		read_lines(jvmti, id, method);
	return known;
}

struct method *methods_get(struct methods *m, jvmtiEnv *jvmti, JNIEnv *jni, jmethodID id)
{
	return methods_get_as(m, jvmti, jni, id, (uintptr_t)id);
}

struct method *methods_get_as(struct methods *m, jvmtiEnv *jvmti, JNIEnv *jni, jmethodID id, uint64_t key)
{
	size_t pos = 0;
	struct method *method = table_next(&m->by_id, key, &pos);
	if (method)
		return method;
	method = calloc(1, sizeof *method);
	if (!method)
		return NULL;
	if (!read_method(m, jvmti, jni, id, method)) {
		method->name = strdup("[unloaded]");
		jitdump_bytes_reset(&m->text);
		jitdump_bytes_add(&m->text, "[unloaded]", sizeof "[unloaded]");
		method->file = get_file(m);
	}
	if (method->name && method->file && table_add(&m->by_id, key, method))
		return method;
	free_method(method);
	return NULL;
}
