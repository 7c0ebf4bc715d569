#include "openj9.h"

#include "memory.h"
#include "names.h"

// A load is the event that is being worked on.
struct load {
	struct openj9 *o;
	struct methods *names;
	struct j9methods *known;
	jvmtiEnv *jvmti;
	JNIEnv *jni;
};

// method_of returns what the VM knows of a J9Method*, NULL if the class is gone,
// or the method's id is not the one expected. The class is held while the VM is
// asked.
static struct method *method_of(const struct load *l, uintptr_t j9method, jmethodID expected)
{
	struct j9method found;
	if (!l->jni || !j9methods_get(l->known, l->jni, j9method, &found))
		return NULL;
	struct method *m = NULL;
	if (!expected || expected == found.id)
		m = methods_get_as(l->names, l->jvmti, l->jni, found.id, found.key);
	(*l->jni)->DeleteLocalRef(l->jni, found.klass);
	return m;
}

// add_methods puts those of the body's methods that are known into the record,
// and returns how many are not.
static size_t add_methods(const struct load *l)
{
	const uintptr_t *wanted = (const void *)l->o->wanted.at;
	size_t missing = 0;
	for (size_t i = 0; i < l->o->wanted.len / sizeof *wanted; i++) {
		if (j9record_has(&l->o->record, wanted[i]))
			continue;
		const struct method *m = method_of(l, wanted[i], NULL);
		if (m)
			j9record_method(&l->o->record, wanted[i], m);
		else
			missing++;
	}
	return missing;
}

static bool describe(const struct load *l, const void *code)
{
	struct openj9 *o = l->o;
	j9record_begin(&o->record);
	jitdump_bytes_reset(&o->wanted);
	j9body_methods(&o->body, &o->wanted);
	if (add_methods(l) > 0 && l->jni && j9methods_fill(l->known, l->jvmti, l->jni))
		add_methods(l);
	return j9record_end(&o->record, &o->body, code);
}

// name_of_body makes a name of the strings that the metadata points to.
static const char *name_of_body(const struct load *l)
{
	struct openj9 *o = l->o;
	struct jitdump_bytes *p = &o->parts;
	jitdump_bytes_reset(p);
	jitdump_bytes_reset(&o->name);
	if (!j9body_name(p, o->body.class_name))
		return NULL;
	size_t name = p->len;
	if (!j9body_name(p, o->body.method_name))
		return NULL;
	size_t signature = p->len;
	if (!j9body_name(p, o->body.signature) || p->at[signature] != '(')
		return NULL;
	name_method(&o->name, p->at, p->at + name, l->names->short_names ? NULL : p->at + signature);
	return o->name.failed ? NULL : o->name.at;
}

// name_by_id asks the VM for the name of the event's method. What an id points to
// is read like all else, and may be gone, too: the id counts only if the class
// that is held has it.
static const char *name_by_id(const struct load *l, jmethodID id)
{
	uintptr_t j9method;
	if (!id || !memory_words(&j9method, (const void *const *)&id, 1))
		return NULL;
	const struct method *m = method_of(l, j9method, id);
	if (!m && l->jni && j9methods_fill(l->known, l->jvmti, l->jni))
		m = method_of(l, j9method, id);
	return m ? m->name : NULL;
}

// name_by_body goes by what the metadata says of the code.
static const char *name_by_body(const struct load *l)
{
	const struct method *m = method_of(l, l->o->body.method, NULL);
	return m ? m->name : name_of_body(l);
}

void openj9_load(struct openj9 *o, struct methods *names, struct j9methods *known, jvmtiEnv *jvmti, JNIEnv *jni,
                 jmethodID id, const void *code, uint32_t size, const void *compile_info)
{
	const struct load l = {o, names, known, jvmti, jni};
	bool body = j9body_copy(&o->body, compile_info, code, size);
	bool described = body && describe(&l, code);
	const char *name = body ? name_by_body(&l) : name_by_id(&l, id);
	jitdump_code_load(&(struct jitdump_code){
		.name = name ? name : "[unloaded]",
		.address = code,
		.size = size,
		.extra_id = JITINJECT_OPENJ9_METADATA,
		.extra = o->record.record.at,
		.extra_size = described ? o->record.record.len : 0,
	});
}

void openj9_free(struct openj9 *o)
{
	j9body_free(&o->body);
	j9record_free(&o->record);
	jitdump_bytes_free(&o->wanted);
	jitdump_bytes_free(&o->name);
	jitdump_bytes_free(&o->parts);
}
