// writer writes a jitdump: writer DIRECTORY MODE ADDRESS [NUMBER]
//
// Its name has NUMBER, or the pid. MODE is stdio (a FILE with the library's buffer), large (a FILE with
// 64 KiB), append (a FILE in append mode), noted (a FILE that knows its place) or write (write(2)).
// Functions fn_0, fn_1, ... of 64 bytes follow each other in memory from ADDRESS on. Each line of
// standard input is a command, answered with a line.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CODE = 64 };

static FILE *file;
static int fd;
static uint64_t count, address;

static void put(const void *bytes, size_t n)
{
	if (file)
		fwrite(bytes, 1, n, file);
	else if (write(fd, bytes, n) != (ssize_t)n)
		abort();
}

static void header(void)
{
	struct { uint32_t magic, version, size, machine, pad, pid; uint64_t time, flags; } h = { 0x4A695444, 1, sizeof h, 0, 0, getpid(), 1, 0 };
#ifdef __x86_64__
	h.machine = 62;
#else
	h.machine = 183;
#endif
	put(&h, sizeof h);
}

static void load(void)
{
	struct { uint32_t id, size; uint64_t time; uint32_t pid, tid; uint64_t vma, addr, size_of_code, index; } r;
	struct timespec now;
	char name[32], code[CODE], whole[sizeof r + sizeof name + sizeof code];
	int n = sprintf(name, "fn_%llu", (unsigned long long)count) + 1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	memset(&r, 0, sizeof r);
	r.size = sizeof r + n + sizeof code;
	r.time = now.tv_sec * 1000000000ull + now.tv_nsec;
	r.pid = r.tid = getpid();
	r.vma = r.addr = address + CODE * count;
	r.size_of_code = sizeof code;
	r.index = count++;
	memset(code, (int)count, sizeof code);
	if (file) {
		put(&r, sizeof r);
		put(name, n);
		put(code, sizeof code);
		return;
	}
	memcpy(whole, &r, sizeof r);
	memcpy(whole + sizeof r, name, n);
	memcpy(whole + sizeof r + n, code, sizeof code);
	put(whole, r.size);
}

int main(int argc, char **argv)
{
	char path[4096], line[256];
	if (argc < 4)
		return 2;
	const char *mode = argv[2];
	address = strtoull(argv[3], 0, 0);
	snprintf(path, sizeof path, "%s/jit-%d.dump", argv[1], argc > 4 ? atoi(argv[4]) : getpid());
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR | (!strcmp(mode, "append") ? O_APPEND : 0), 0600);
	if (fd < 0)
		return 3;
	if (strcmp(mode, "write"))
		file = fdopen(fd, !strcmp(mode, "append") ? "a" : "w+");
	if (!strcmp(mode, "large"))
		setvbuf(file, malloc(65536), _IOFBF, 65536);
	if (!strcmp(mode, "noted"))
		fseek(file, 0, SEEK_SET);
	header();
	while (fgets(line, sizeof line, stdin)) {
		int n = atoi(line + 1), i;
		switch (line[0]) {
		case 'w': // write n functions
			for (i = 0; i < n; i++)
				load();
			break;
		case 'p': // write the first n bytes of a record, with write(2)
			put("\0\0\0\0\200\0\0\0", n);
			break;
		case 'f':
			fflush(file);
			break;
		case 'c': // close the dump
			fclose(file);
			break;
		case 'u': // delete the dump
			unlink(path);
			break;
		case 'k': // a child that inherits the dump
			if (!(n = fork())) {
				pause();
				_exit(0);
			}
			printf("%d ", n);
			break;
		case 's': // write for ever
			for (;;) {
				load();
				if (count % 64 == 0)
					fflush(file);
				if (count % 64 == 32)
					usleep(500);
			}
		case 'e':
			exit(0);
		}
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
