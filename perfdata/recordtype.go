package perfdata

import "fmt"

// A RecordType is the type field of a record's header. Types below 64 are the kernel's, the others
// perf's own.
type RecordType uint32

// The kernel's record types: PERF_RECORD_* of include/uapi/linux/perf_event.h. They end in a sample
// id if their event has sample_id_all. SAMPLE has the fields of sample_type instead.
const (
	RecordMmap              RecordType = 1
	RecordLost              RecordType = 2
	RecordComm              RecordType = 3
	RecordExit              RecordType = 4
	RecordThrottle          RecordType = 5
	RecordUnthrottle        RecordType = 6
	RecordFork              RecordType = 7
	RecordRead              RecordType = 8
	RecordSample            RecordType = 9
	RecordMmap2             RecordType = 10
	RecordAux               RecordType = 11
	RecordItraceStart       RecordType = 12
	RecordLostSamples       RecordType = 13
	RecordSwitch            RecordType = 14
	RecordSwitchCPUWide     RecordType = 15
	RecordNamespaces        RecordType = 16
	RecordKsymbol           RecordType = 17
	RecordBPFEvent          RecordType = 18
	RecordCgroup            RecordType = 19
	RecordTextPoke          RecordType = 20
	RecordAuxOutputHWID     RecordType = 21
	RecordCallchainDeferred RecordType = 22
)

// The types of perf's own records: PERF_RECORD_* of perf's event.h
// (tools/lib/perf/include/perf/event.h). They have no sample id.
const (
	RecordHeaderAttr    RecordType = 64
	RecordEventType     RecordType = 65 // PERF_RECORD_HEADER_EVENT_TYPE
	RecordTracingData   RecordType = 66 // PERF_RECORD_HEADER_TRACING_DATA
	RecordHeaderBuildID RecordType = 67
	RecordFinishedRound RecordType = 68
	RecordIDIndex       RecordType = 69
	RecordAuxtraceInfo  RecordType = 70
	RecordAuxtrace      RecordType = 71
	RecordAuxtraceError RecordType = 72
	RecordThreadMap     RecordType = 73
	RecordCPUMap        RecordType = 74
	RecordStatConfig    RecordType = 75
	RecordStat          RecordType = 76
	RecordStatRound     RecordType = 77
	RecordEventUpdate   RecordType = 78
	RecordTimeConv      RecordType = 79
	RecordHeaderFeature RecordType = 80
	RecordCompressed    RecordType = 81
	RecordFinishedInit  RecordType = 82
	RecordCompressed2   RecordType = 83
	RecordBPFMetadata   RecordType = 84

	RecordSchedstatCPU    RecordType = 85
	RecordSchedstatDomain RecordType = 86

	firstUserType RecordType = 64
)

// recordNames are the names without PERF_RECORD_. Two record types exist in files as well as in
// pipes: their names also lack HEADER_.
var recordNames = [...]string{
	RecordMmap: "MMAP", RecordLost: "LOST", RecordComm: "COMM", RecordExit: "EXIT", RecordThrottle: "THROTTLE",
	RecordUnthrottle: "UNTHROTTLE", RecordFork: "FORK", RecordRead: "READ", RecordSample: "SAMPLE", RecordMmap2: "MMAP2",
	RecordAux: "AUX", RecordItraceStart: "ITRACE_START", RecordLostSamples: "LOST_SAMPLES", RecordSwitch: "SWITCH",
	RecordSwitchCPUWide: "SWITCH_CPU_WIDE", RecordNamespaces: "NAMESPACES", RecordKsymbol: "KSYMBOL",
	RecordBPFEvent: "BPF_EVENT", RecordCgroup: "CGROUP", RecordTextPoke: "TEXT_POKE",
	RecordAuxOutputHWID: "AUX_OUTPUT_HW_ID", RecordCallchainDeferred: "CALLCHAIN_DEFERRED",

	RecordHeaderAttr: "HEADER_ATTR", RecordEventType: "EVENT_TYPE", RecordTracingData: "TRACING_DATA",
	RecordHeaderBuildID: "HEADER_BUILD_ID", RecordFinishedRound: "FINISHED_ROUND", RecordIDIndex: "ID_INDEX",
	RecordAuxtraceInfo: "AUXTRACE_INFO", RecordAuxtrace: "AUXTRACE", RecordAuxtraceError: "AUXTRACE_ERROR",
	RecordThreadMap: "THREAD_MAP", RecordCPUMap: "CPU_MAP", RecordStatConfig: "STAT_CONFIG", RecordStat: "STAT",
	RecordStatRound: "STAT_ROUND", RecordEventUpdate: "EVENT_UPDATE", RecordTimeConv: "TIME_CONV",
	RecordHeaderFeature: "HEADER_FEATURE", RecordCompressed: "COMPRESSED", RecordFinishedInit: "FINISHED_INIT",
	RecordCompressed2: "COMPRESSED2", RecordBPFMetadata: "BPF_METADATA",
	RecordSchedstatCPU: "SCHEDSTAT_CPU", RecordSchedstatDomain: "SCHEDSTAT_DOMAIN",
}

// String returns the name without PERF_RECORD_, such as "MMAP2", or "type N".
func (t RecordType) String() string {
	if int64(t) < int64(len(recordNames)) && recordNames[t] != "" {
		return recordNames[t]
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// IsKernel reports whether the kernel writes records of the type. The others are perf's own.
func (t RecordType) IsKernel() bool { return t < firstUserType }
