package verify

// What a mapping of code is like, and in which mode the processor was: of the misc field of a
// record [linux/perf_event.h], and of mmap(2).
const (
	cpuMode     = 7       // PERF_RECORD_MISC_CPUMODE_MASK
	cpuModeUser = 2       // PERF_RECORD_MISC_USER
	mmapData    = 1 << 13 // PERF_RECORD_MISC_MMAP_DATA: a record MMAP is of what is not executable
	protExec    = 4       // PROT_EXEC
)
