// fakej9 OPTIONS: plays OpenJ9 for the agent, by commands on stdin, one a line.
// Numbers are hexadecimal.
//
//	put ADDRESS FILE                  maps the file's bytes there
//	end ADDRESS FILE                  the same, as the last ones in front of unmapped memory
//	class K METHOD COUNT              loads class K: its J9Methods lie from METHOD on, 32 bytes each
//	prepare K                         posts ClassPrepare from another thread
//	unload K                          frees it, with its method ids
//	redefine K METHOD                 its ids stand for J9Methods at METHOD from now on
//	live                              posts VMInit
//	early K INDEX CODE SIZE INFO      what GenerateEvents will post
//	load K INDEX CODE SIZE INFO       posts CompiledMethodLoad of a method of class K
//	overwrite ADDRESS FILE DELAY      lets another thread write, after a while
//	churn THREADS ROUNDS              threads load, prepare and unload classes from now on
//	join                              waits for them
//	refuse                            forbids process_vm_readv
//
// With FAKEJ9_THREAD in the environment, another thread does all that, and the first
// one has ended, as some launchers of Java have it.
//
// What OpenJ9 does not survive ends the program: an id whose class is not held,
// references that were deleted, references left behind by an event.
//
// Class K is Lp/K<K>; with methods m<i>(I)V. K%4==3: no source file. Odd: the
// program's. Method i has the line 100*K + 10*i + n at byte code 4*n for n < 3;
// i%5==4: no lines. Some tables are not sorted, or have a byte code twice.
#define _GNU_SOURCE
#include "fakej9vm.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm);

enum { PAGE = 4096, CHURN = 0x8000 };

static void *prepare_thread(void *c)
{
	fake_prepare(c);
	return NULL;
}

// What events have is numbers, as a method's id may be gone when they are posted.
struct event {
	jmethodID id;
	uintptr_t code, info;
	jint size;
};

static struct event early[64];
static int early_count;

static void post(struct event e)
{
	fake_callbacks.CompiledMethodLoad(&fake_jvmti, e.id, e.size, (void *)e.code, 0, NULL, (void *)e.info);
	fake_no_locals("CompiledMethodLoad");
}

void fake_generate(void)
{
	for (int i = 0; i < early_count; i++)
		post(early[i]);
}

// ids are remembered: commands name classes that are gone already.
static jmethodID ids_of[CLASSES];

static struct event event(const char *args)
{
	unsigned k, index;
	int size;
	unsigned long code, info;
	if (sscanf(args, "%x %x %lx %x %lx", &k, &index, &code, (unsigned *)&size, &info) != 5)
		abort();
	return (struct event){(jmethodID)((struct id *)(void *)ids_of[k] + index), code, info, size};
}

static size_t read_file(const char *path, unsigned char **bytes)
{
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END))
		abort();
	size_t n = ftell(f);
	rewind(f);
	*bytes = malloc(n + 1);
	if (fread(*bytes, 1, n, f) != n)
		abort();
	fclose(f);
	return n;
}

// Pages stay where they are once they are mapped; the test gives each thing its own.
static void map(uintptr_t address, size_t n)
{
	uintptr_t from = address / PAGE * PAGE;
	size_t size = (address + n - from + PAGE - 1) / PAGE * PAGE;
	for (size_t at = 0; at < size; at += PAGE) {
		void *p = mmap((void *)(from + at), PAGE, PROT_READ | PROT_WRITE,
		               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (p == MAP_FAILED && errno != EEXIST)
			fake_die("mmap");
	}
}

static void put(uintptr_t address, const char *path, bool at_end)
{
	unsigned char *bytes;
	size_t n = read_file(path, &bytes);
	if (at_end)
		address = (address + n + PAGE - 1) / PAGE * PAGE - n;
	map(address, n);
	memcpy((void *)address, bytes, n);
	free(bytes);
}

struct overwrite {
	volatile unsigned char *to;
	unsigned char *bytes;
	size_t n;
	unsigned long delay;
};

static struct overwrite overwriting;
static pthread_t overwriter;

static void *overwrite_thread(void *arg)
{
	struct overwrite *o = arg;
	for (volatile unsigned long i = 0; i < o->delay; i++)
		;
	// startPC first: what tells whose metadata it is goes at once, the rest as we
	// come to it.
	*(volatile uintptr_t *)(o->to + 5 * sizeof(void *)) = *(uintptr_t *)(void *)o->bytes;
	memcpy((void *)o->to, o->bytes, o->n);
	return NULL;
}

static pthread_t churners[16];
static int churn_count;
static unsigned churn_rounds;

static void *churn_thread(void *arg)
{
	unsigned seed = (uintptr_t)arg;
	int number = CHURN + (uintptr_t)arg;
	for (unsigned i = 0; i < churn_rounds; i++) {
		// The next class lies where the last one was, as a malloc has it.
		struct class *c = fake_load(number, 0x900000 + 0x1000 * (uintptr_t)arg, 1 + rand_r(&seed) % 8);
		fake_prepare(c);
		while (!fake_unload(c))
			;
	}
	return NULL;
}

static void join(void)
{
	for (int i = 0; i < churn_count; i++)
		pthread_join(churners[i], NULL);
	churn_count = 0;
}

static void refuse(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		fake_die("seccomp");
}

static void command(const char *name, const char *args)
{
	unsigned k, count;
	unsigned long address;
	char path[4096];
	if (!strcmp(name, "put") || !strcmp(name, "end")) {
		if (sscanf(args, "%lx %4095s", &address, path) != 2)
			abort();
		put(address, path, *name == 'e');
	} else if (!strcmp(name, "class")) {
		if (sscanf(args, "%x %lx %x", &k, &address, &count) != 3)
			abort();
		ids_of[k] = (jmethodID)fake_load(k, address, count)->ids;
	} else if (!strcmp(name, "prepare")) {
		pthread_t t;
		if (pthread_create(&t, NULL, prepare_thread, fake_classes[strtoul(args, NULL, 16)]))
			abort();
		pthread_join(t, NULL);
	} else if (!strcmp(name, "unload")) {
		if (!fake_unload(fake_classes[strtoul(args, NULL, 16)]))
			fake_die("a class is held for ever");
	} else if (!strcmp(name, "redefine")) {
		if (sscanf(args, "%x %lx", &k, &address) != 2)
			abort();
		for (int i = 0; i < fake_classes[k]->count; i++)
			fake_classes[k]->ids[i].method = address + i * METHOD_SIZE;
	} else if (!strcmp(name, "live")) {
		fake_live = true;
		if (fake_enabled[JVMTI_EVENT_VM_INIT])
			fake_callbacks.VMInit(&fake_jvmti, &fake_jni, NULL);
	} else if (!strcmp(name, "early")) {
		early[early_count++] = event(args);
	} else if (!strcmp(name, "load")) {
		post(event(args));
		if (overwriter) {
			pthread_join(overwriter, NULL);
			free(overwriting.bytes);
			overwriter = 0;
		}
	} else if (!strcmp(name, "overwrite")) {
		if (sscanf(args, "%lx %4095s %lx", &address, path, &overwriting.delay) != 3)
			abort();
		overwriting.to = (void *)address;
		overwriting.n = read_file(path, &overwriting.bytes);
		if (pthread_create(&overwriter, NULL, overwrite_thread, &overwriting))
			abort();
	} else if (!strcmp(name, "churn")) {
		if (sscanf(args, "%x %x", &count, &churn_rounds) != 2)
			abort();
		for (; churn_count < (int)count; churn_count++)
			if (pthread_create(&churners[churn_count], NULL, churn_thread, (void *)(uintptr_t)churn_count))
				abort();
	} else if (!strcmp(name, "join")) {
		join();
	} else if (!strcmp(name, "refuse")) {
		refuse();
	} else {
		fake_die("a command that is none");
	}
}

static int play(char *options)
{
	if (Agent_OnLoad(&fake_vm, options, NULL))
		return 1;
	char name[16], args[8192];
	while (scanf("%15s%8191[^\n]", name, args) >= 1)
		command(name, args);
	int classes = fake_weak_refs;
	fake_callbacks.VMDeath(&fake_jvmti, &fake_jni);
	Agent_OnUnload(&fake_vm);
	// How many classes the agent knew of in the end.
	printf("%d\n", classes);
	return 0;
}

// play_alone waits until the first thread has ended so far that the process's id
// leads to no memory any more.
static void *play_alone(void *options)
{
	char byte = 0, copy;
	struct iovec from = {&byte, 1}, to = {&copy, 1};
	while (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1)
		usleep(1000);
	exit(play(options));
}

int main(int argc, char **argv)
{
	pthread_t t;
	if (argc != 2 || !getenv("FAKEVM"))
		return 2;
	if (!getenv("FAKEJ9_THREAD"))
		return play(argv[1]);
	if (pthread_create(&t, NULL, play_alone, argv[1]))
		abort();
	pthread_exit(NULL);
}
