package showperf

import (
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/perfdata"
)

// Names of perf's numbers, from linux/perf_event.h and perf's own headers.

// itemTypes returns what items are called.
func itemTypes() []string {
	names := []string{"header", "attr", "feature", "payload"}
	for t := range perfdata.RecordType(128) {
		if name := t.String(); name != show.Unnamed(uint32(t)) {
			names = append(names, name)
		}
	}
	return names
}

var sampleFields = []string{
	"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD", "STREAM_ID", "RAW", "BRANCH_STACK", "REGS_USER",
	"STACK_USER", "WEIGHT", "DATA_SRC", "IDENTIFIER", "TRANSACTION", "REGS_INTR", "PHYS_ADDR", "AUX", "CGROUP",
	"DATA_PAGE_SIZE", "CODE_PAGE_SIZE", "WEIGHT_STRUCT",
}

var readFormats = []string{"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP", "LOST"}

// attrFlags are the one-bit fields of perf_event_attr.
var attrFlags = []string{
	"disabled", "inherit", "pinned", "exclusive", "exclude_user", "exclude_kernel", "exclude_hv", "exclude_idle",
	"mmap", "comm", "freq", "inherit_stat", "enable_on_exec", "task", "watermark", "precise_ip1", "precise_ip2", "mmap_data",
	"sample_id_all", "exclude_host", "exclude_guest", "exclude_callchain_kernel", "exclude_callchain_user", "mmap2",
	"comm_exec", "use_clockid", "context_switch", "write_backward", "namespaces", "ksymbol", "bpf_event", "aux_output",
	"cgroup", "text_poke", "build_id", "inherit_thread", "remove_on_exec", "sigtrap", "defer_callchain", "defer_output",
}

var eventTypes = []string{"hardware", "software", "tracepoint", "cache", "raw", "breakpoint"}

var hardwareEvents = []string{
	"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles",
	"stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
}

var softwareEvents = []string{
	"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults",
	"alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches",
}

var clockNames = []string{
	"CLOCK_REALTIME", "CLOCK_MONOTONIC", "CLOCK_PROCESS_CPUTIME_ID", "CLOCK_THREAD_CPUTIME_ID", "CLOCK_MONOTONIC_RAW",
	"CLOCK_REALTIME_COARSE", "CLOCK_MONOTONIC_COARSE", "CLOCK_BOOTTIME", "CLOCK_REALTIME_ALARM", "CLOCK_BOOTTIME_ALARM", "", "CLOCK_TAI",
}

var featureNames = []string{
	"", "TRACING_DATA", "BUILD_ID", "HOSTNAME", "OSRELEASE", "VERSION", "ARCH", "NRCPUS", "CPUDESC", "CPUID", "TOTAL_MEM", "CMDLINE",
	"EVENT_DESC", "CPU_TOPOLOGY", "NUMA_TOPOLOGY", "BRANCH_STACK", "PMU_MAPPINGS", "GROUP_DESC", "AUXTRACE", "STAT", "CACHE",
	"SAMPLE_TIME", "MEM_TOPOLOGY", "CLOCKID", "DIR_FORMAT", "BPF_PROG_INFO", "BPF_BTF", "COMPRESSED", "CPU_PMU_CAPS", "CLOCK_DATA",
	"HYBRID_TOPOLOGY", "PMU_CAPS",
}

// contexts are the markers in callchains.
var contexts = map[uint64]string{
	perfdata.ContextHypervisor: "HV", perfdata.ContextKernel: "KERNEL", perfdata.ContextUser: "USER",
	perfdata.ContextUserDeferred: "USER_DEFERRED", perfdata.ContextGuest: "GUEST", perfdata.ContextGuestKernel: "GUEST_KERNEL",
	perfdata.ContextGuestUser: "GUEST_USER",
}

// cpuModes are what the low three bits of misc say.
var cpuModes = []string{"", "KERNEL", "USER", "HYPERVISOR", "GUEST_KERNEL", "GUEST_USER"}
