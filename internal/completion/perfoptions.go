package completion

import "strings"

// A perfOption is an option of perf record, report, annotate, script or diff. perf says which ones it has
// (--list-opts), but not what they mean. So these
// are the common ones, which all perfs since 6.1 have. Those of record are all that have the next word as
// their value, too, because the recorded command begins after that.
type perfOption struct{ commands, short, long, value, text string }

var perfOptions = []perfOption{
	{"report annotate", "", "stdio", "", "print, without the interactive view"},
	{"report annotate", "", "tui", "", "the interactive view"},
	{"report", "", "children", "", "add up what functions call"},
	{"report", "", "no-children", "", "count functions themselves only"},
	{"report script", "", "no-inline", "", "without inlined calls, which is faster"},
	{"report", "g", "call-graph", "none|caller|callee", "how stacks are shown"},
	{"report", "s", "sort", "KEYS", "a row for each different value of these, with commas"},
	{"report script", "F", "fields", "FIELDS", "the columns, with commas"},
	{"report", "n", "show-nr-samples", "", "the number of samples of each row"},
	{"report", "", "percent-limit", "PERCENT", "leave out rows below this share"},
	{"report script", "", "max-stack", "N", "the most frames of a stack"},
	{"report annotate diff", "d", "dsos", "FILES", "only code of these files"},
	{"report script", "", "comms", "NAMES", "only these processes"},
	{"report script", "", "pid", "PIDS", "only processes of these numbers"},
	{"report script", "", "tid", "TIDS", "only threads of these numbers"},
	{"report script", "", "time", "FROM,TO", "only samples between these times, in seconds"},
	{"annotate", "s", "symbol", "SYMBOL", "only this function"},
	{"annotate", "l", "print-line", "", "the share of each source line"},
	{"annotate", "P", "full-paths", "", "whole paths of source files"},
	{"script", "G", "hide-call-graph", "", "without stacks"},
	{"script", "", "ns", "", "times in nanoseconds"},
	{"diff", "c", "compute", "delta|delta-abs|ratio|wdiff", "how runs are compared"},
	{"report annotate script diff", "f", "force", "", "read a recording of another user"},
	{"record", "F", "freq", "HZ", "sample at this frequency, or at max"},
	{"record", "c", "count", "N", "sample each N-th event"},
	{"record", "e", "event", "EVENT", "what to sample: see perf list"},
	{"record", "g", "", "", "record stacks by frame pointers"},
	{"record", "", "call-graph", "fp|dwarf|dwarf,16384|lbr", "how to record stacks"},
	{"record", "p", "pid", "PID", "record a running process"},
	{"record", "t", "tid", "TID", "record a running thread"},
	{"record", "u", "uid", "USER", "record the processes of a user"},
	{"record", "a", "all-cpus", "", "record all processes"},
	{"record", "C", "cpu", "LIST", "record these processors"},
	{"record", "G", "cgroup", "NAME", "record a control group"},
	{"record", "k", "clockid", "CLOCK", "the clock of times; mono is the default"},
	{"record", "b", "branch-any", "", "record taken branches"},
	{"record", "j", "branch-filter", "MASK", "record branches of some kinds"},
	{"record", "D", "delay", "MS", "begin to record later"},
	{"record", "m", "mmap-pages", "PAGES", "the size of the buffers"},
	{"record", "r", "realtime", "PRIORITY", "record with a priority of SCHED_FIFO"},
	{"record", "", "filter", "FILTER", "record only events that pass"},
	{"record", "", "all-user", "", "record no events of the kernel"},
	{"record", "", "all-kernel", "", "record events of the kernel only"},
	{"record", "", "namespaces", "", "record namespaces"},
	{"record", "", "max-size", "SIZE", "end the recording at this size"},
	{"record", "", "affinity", "node|cpu", "where the threads of perf run"},
	{"record", "", "control", "FD", "the descriptor of commands to perf"},
	{"record", "", "mmap-flush", "BYTES", "the least that perf takes from a buffer"},
	{"record", "", "num-thread-synthesize", "N", "the number of threads that read /proc"},
	{"record", "", "proc-map-timeout", "MS", "the time to read the mappings of a thread"},
	{"record", "", "synth", "no|all|task|mmap|cgroup", "what to record about running processes"},
	{"record", "", "vmlinux", "FILE", "the image of the kernel"},
}

// PerfOptions returns the options of a command of perf for its completion.
func PerfOptions(command string) (all []Option) {
	for _, o := range perfOptions {
		if !strings.Contains(" "+o.commands+" ", " "+command+" ") {
			continue
		}
		var v Value
		switch {
		case o.value == "FILE":
			v = Value{File, []string{"*"}}
		case strings.Contains(o.value, "|"):
			v = Value{Word, strings.Split(o.value, "|")}
		case o.value != "":
			v.Kind = Text
		}
		all = append(all, Option{Short: o.short, Long: o.long, Text: o.text, Value: v})
	}
	return all
}
