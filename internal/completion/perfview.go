package completion

import (
	"strings"
)

// A viewOption is an option of perf report, annotate, script or diff. perf says which ones it has
// (--list-opts), but not what they mean, and scripts for shells are made before a perf is known. So these
// are the common ones, which all perfs since 6.1 have.
type viewOption struct{ commands, short, long, value, text string }

var viewOptions = []viewOption{
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
}

// PerfOptions returns the options of a command of perf for its completion.
func PerfOptions(command string) (all []Option) {
	for _, o := range viewOptions {
		if !strings.Contains(" "+o.commands+" ", " "+command+" ") {
			continue
		}
		v := Value{Name: o.value}
		switch {
		case strings.Contains(o.value, "|"):
			v.Kind, v.Words = Word, strings.Split(o.value, "|")
		case o.value != "":
			v.Kind = Text
		}
		all = append(all, Option{Short: o.short, Long: o.long, Text: o.text, Value: v})
	}
	return all
}
