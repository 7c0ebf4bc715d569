// fuzzagent plays a VM for inputs of a fuzzer, one after another, until the end of stdin. An input
// is a row of numbers of 32 bits and strings (a number, that many bytes), in the machine's order:
//
//	fail refuse kind count          the fail-th allocation fails, the refuse-th question to the VM
//	                                does; 0: none. kind: 0 HotSpot, 1 OpenJ9, 2 another VM, 3 options
//	class name descriptor file user has_file has_lines lines { index line }    count times: methods
//
// and then, for HotSpot and others, a compiled method and its places:
//
//	outer size count
//	pc frames { method index }      count times; others have the first frame of each
//
// for OpenJ9, the metadata, as a string, and which of its parts was compiled: 0 warm, 1 cold; for
// options, their text.
//
// The answer is a row of numbers and strings, too: the number of functions that were written,
// and for each its name, the id of the record in front, and the record's body. For options it is
// the number of complaints, the directory, and whether names are short.
//
// The agent's own sources are in here, all but what writes the file and stderr. After each input
// its memory is given back: what is left then has leaked, and ends the program.
#define _GNU_SOURCE
#include "agent.c"
#include "fuzzdump.h"
#include "fuzzvm.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 8 << 20 }; // bytes of an input

// Metadata begins there, as its pointers are absolute.
#define METADATA ((unsigned char *)0x7e9000000000)

static void die(const char *what)
{
	fprintf(stderr, "fuzzagent: %s\n", what);
	_exit(3);
}

// The input.

static unsigned char input[ROOM];
static size_t input_size, input_at;

static uint32_t number(void)
{
	uint32_t v;
	if (input_size - input_at < sizeof v)
		die("the input is too short");
	memcpy(&v, input + input_at, sizeof v);
	input_at += sizeof v;
	return v;
}

static const unsigned char *bytes(uint32_t n)
{
	if (input_size - input_at < n)
		die("the input is too short");
	input_at += n;
	return input + input_at - n;
}

// string returns a copy for the VM to give away.
static char *string(void)
{
	uint32_t n = number();
	char *s = __real_malloc(n + 1);
	memcpy(s, bytes(n), n);
	s[n] = 0;
	return s;
}

// The answer.

static unsigned char answer[4 * ROOM];
static size_t answer_size;

static void say_bytes(const void *b, size_t n)
{
	if (sizeof answer - answer_size < n)
		die("the answer is too long");
	memcpy(answer + answer_size, b, n);
	answer_size += n;
}

static void say_number(uint32_t v)
{
	say_bytes(&v, sizeof v);
}

// What fuzzdump.c and the agent call, in place of a file and say.c.

static uint32_t written;

void fuzz_written(const char *name, uint32_t id, const void *body, size_t size)
{
	written++;
	say_number(strlen(name));
	say_bytes(name, strlen(name));
	say_number(id);
	say_number(size);
	if (size)
		say_bytes(body, size);
}

static uint32_t complaints;

void say(const char *format, ...)
{
	char line[256];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	complaints++;
}

// begin_vm starts an agent that has allocated nothing yet.
static void begin_vm(void)
{
	agent.vm = NULL;
	char options[] = "dir=/tmp";
	if (Agent_OnLoad(&fuzz_vm, options, NULL))
		die("Agent_OnLoad");
}

// end_vm frees what the agent keeps.
static void end_vm(void)
{
	for (struct worker *next, *w = agent.idle; w; w = next) {
		next = w->next;
		methods_free(&w->methods);
		jitdump_bytes_free(&w->places.frames);
		jitdump_bytes_free(&w->places.places);
		jitdump_debug_free(w->places.debug);
		openj9_free(&w->openj9);
		free(w);
	}
	agent.idle = NULL;
	// Each run learns the methods anew.
	struct j9methods *m = &agent.j9methods;
	void **classes = (void *)m->classes.at;
	for (size_t i = 0; i < m->classes.len / sizeof *classes; i++)
		free(classes[i]);
	jitdump_bytes_free(&m->classes);
	jitdump_bytes_free(&m->unloaded);
	table_free(&m->by_method);
	*m = (struct j9methods)J9METHODS_EMPTY;
}

static void read_facts(uint32_t count)
{
	if (count > METHODS)
		die("too many methods");
	fact_count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct method_facts *f = &facts[i];
		f->klass = string();
		f->name = string();
		f->descriptor = string();
		f->file = string();
		f->user = number();
		f->has_file = number();
		f->has_lines = number();
		f->line_count = number();
		f->lines = __real_malloc(f->line_count * sizeof *f->lines);
		for (jint l = 0; l < f->line_count; l++) {
			jlocation at = (int32_t)number();
			f->lines[l] = (jvmtiLineNumberEntry){at, number()};
		}
	}
}

static void free_facts(void)
{
	for (uint32_t i = 0; i < fact_count; i++) {
		struct method_facts *f = &facts[i];
		__real_free(f->klass);
		__real_free(f->name);
		__real_free(f->descriptor);
		__real_free(f->file);
		__real_free(f->lines);
	}
	fact_count = 0;
}

// id_of returns the id of a method; the VM knows nothing of most.
static jmethodID id_of(uint32_t n)
{
	return n < METHODS ? (jmethodID)&ids[n] : NULL;
}

static void post_hotspot(bool record)
{
	static unsigned char code[1 << 16];
	uint32_t outer = number(), size = number() % sizeof code, count = number();
	struct inlines r = {{INLINES_KIND, INLINES_MAJOR, 0, NULL}, count, __real_calloc(count + 1, sizeof *r.places)};
	jvmtiAddrLocationMap *map = __real_calloc(count + 1, sizeof *map);
	for (uint32_t i = 0; i < count; i++) {
		struct inlines_place *p = &r.places[i];
		p->pc = (void *)((uintptr_t)code + (int32_t)number());
		p->frame_count = number();
		p->methods = __real_calloc(p->frame_count + 1, sizeof *p->methods);
		p->bcis = __real_calloc(p->frame_count + 1, sizeof *p->bcis);
		for (jint f = 0; f < p->frame_count; f++) {
			p->methods[f] = id_of(number());
			p->bcis[f] = number();
		}
		map[i] = (jvmtiAddrLocationMap){p->pc, p->bcis[0]};
	}
	events.CompiledMethodLoad(&fuzz_jvmti, id_of(outer), size, code, record ? 0 : count, map, record ? (void *)&r : (void *)8);
	for (uint32_t i = 0; i < count; i++) {
		__real_free(r.places[i].methods);
		__real_free(r.places[i].bcis);
	}
	__real_free(r.places);
	__real_free(map);
}

static void post_openj9(void)
{
	events.ClassPrepare(&fuzz_jvmti, &fuzz_jni, NULL, (jclass)&ids[0]);
	uint32_t n = number();
	const unsigned char *metadata = bytes(n);
	uintptr_t pcs[5]; // startPC, endWarmPC, startColdPC, endPC
	// The pages are exactly what the metadata needs, and their end is hard.
	size_t size = (n + 4095) & ~(size_t)4095;
	if (size && mmap(METADATA, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != METADATA)
		die("mmap");
	if (n)
		memcpy(METADATA, metadata, n);
	memset(pcs, 0, sizeof pcs);
	if (n >= 10 * sizeof *pcs)
		memcpy(pcs, metadata + 5 * sizeof *pcs, 4 * sizeof *pcs);
	uintptr_t *part = number() ? &pcs[2] : &pcs[0];
	events.CompiledMethodLoad(&fuzz_jvmti, id_of(0), (part[1] - part[0]) & 0x7fffffff, (void *)part[0], 0, NULL, METADATA);
	if (size)
		munmap(METADATA, size);
}

static void try_options(void)
{
	char *text = string();
	struct options o;
	bool ok = options_parse(&o, text);
	__real_free(text);
	if (ok != (complaints == 0))
		die("options_parse");
	say_number(strlen(o.dir));
	say_bytes(o.dir, strlen(o.dir));
	say_number(o.short_names);
}

static void run(void)
{
	begin_vm();
	uint32_t fail_at = number(), refuse_at = number(), kind = number();
	read_facts(number());
	agent.hotspot = kind == 0;
	agent.openj9 = kind == 1;
	written = complaints = 0;
	answer_size = 0;
	say_number(0);
	fail = fail_at;
	refuse = refuse_at;
	if (kind == 3)
		try_options();
	else if (kind == 1)
		post_openj9();
	else
		post_hotspot(kind == 0);
	fail = refuse = 0;
	uint32_t first = written + complaints;
	memcpy(answer, &first, sizeof first);
	end_vm();
	free_facts();
	if (live) {
		fprintf(stderr, "fuzzagent: %ld allocations were not freed\n", live);
		_exit(3);
	}
}

static bool whole(ssize_t (*f)(int, void *, size_t), int fd, void *b, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t step = f(fd, (char *)b + done, n - done);
		if (step <= 0)
			return false;
		done += step;
	}
	return true;
}

int main(void)
{
	uint32_t n;
	for (int i = 0; i < METHODS; i++)
		ids[i] = FIRST_METHOD + i * METHOD_SIZE;
	while (whole(read, 0, &n, sizeof n)) {
		if (n > sizeof input || !whole(read, 0, input, n))
			die("the input has no end");
		input_size = n;
		input_at = 0;
		run();
		n = answer_size;
		if (!whole((ssize_t (*)(int, void *, size_t))write, 1, &n, sizeof n) ||
		    !whole((ssize_t (*)(int, void *, size_t))write, 1, answer, answer_size))
			return 1;
	}
	return 0;
}
