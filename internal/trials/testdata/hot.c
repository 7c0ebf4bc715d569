/* The program of the trials, for lli: see README.md. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) long hot(long x)
{
    for (int i = 0; i < 20000; i++)
        x = (x * 31 + 7) % 1000003;
    return x;
}

static const char *env(const char *name, const char *other)
{
    const char *value = getenv(name);
    return value ? value : other;
}

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static FILE *sign(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", env("TRIAL_SIGNS", "."), name);
    return fopen(path, "a");
}

static volatile int caught;
static void handle(int number) { caught = number; }

int main(void)
{
    const char *mode = env("TRIAL_MODE", "normal");
    volatile long sum = 0;
    puts("out: begin");
    fflush(stdout);
    fputs("err: begin\n", stderr);
    if (!strcmp(mode, "work")) {
        for (int i = 0, n = atoi(env("TRIAL_WORK", "1")); i < n; i++)
            sum += hot(i & 1023);
        return 0;
    }
    if (!strcmp(mode, "handler")) {
        signal(SIGINT, handle);
        signal(SIGTERM, handle);
    }
    for (long end = now() + atoi(env("TRIAL_TIME", "600")); now() < end;)
        sum += hot(sum & 1023);
    if (!strcmp(mode, "busy") || !strcmp(mode, "handler")) {
        FILE *f = sign("ready");
        fprintf(f, "%d\n", (int)getpid());
        fclose(f);
        long end = 0;
        while (end == 0 || now() < end) { /* a second signal would be counted */
            sum += hot(1);
            if (caught) {
                f = sign("signals");
                fputs(caught == SIGINT ? "SIGINT\n" : "SIGTERM\n", f);
                fclose(f);
                caught = 0;
                end = now() + 400;
            }
        }
        return 7;
    }
    puts("out: end");
    return strcmp(mode, "code") ? 0 : 7;
}
