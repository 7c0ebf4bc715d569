// The dump: the implementation of jitdump.h is compiled here. A new glibc has new versions of two
// functions, which do what the old ones do. Packages are used with older ones, too: RHEL 8 has 2.28.
#define _GNU_SOURCE
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver pthread_sigmask, pthread_sigmask@GLIBC_2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__)
__asm__(".symver pthread_sigmask, pthread_sigmask@GLIBC_2.17");
#endif
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__)) // where struct stat is the kernel's
#define fstat(fd, st) ((int)syscall(SYS_fstat, fd, st))
#endif

#define JITDUMP_IMPLEMENTATION
#include "../../producer/jitdump.h"
