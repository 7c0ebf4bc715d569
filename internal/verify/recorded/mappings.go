package recorded

import "strings"

// What a mapping of code is like, and in which mode the processor was: of the misc field of a
// record [linux/perf_event.h], and of mmap(2).
const (
	CPUMode     = 7 // PERF_RECORD_MISC_CPUMODE_MASK
	CPUModeUser = 2 // PERF_RECORD_MISC_USER
	ProtExec    = 4 // PROT_EXEC
)

// IsAnonymous reports whether a name stands for memory without a file.
func IsAnonymous(name string) bool {
	for _, prefix := range []string{"//anon", "[", "/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage", "/dev/shm/"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
