package verify

import (
	"fmt"
	"slices"
	"strconv"
)

// A Severity says how bad it is to break a rule.
type Severity int

// The severities, the mildest first.
const (
	Note Severity = iota
	Warning
	Error
)

// String returns the severity's name, as it is printed.
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	}
	return "note"
}

// MarshalText implements encoding.TextMarshaler.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Complaint says that a rule is broken somewhere. Names in its text that come from a
// file are quoted; File is as the caller or the recording has it.
type Complaint struct {
	File     string   `json:"file"`
	Offset   int64    `json:"offset"` // in File, or -1
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Text     string   `json:"text"`
	Advice   string   `json:"advice"`
	More     int      `json:"more,omitempty"` // so many others about this rule were left out; Text says that, too
}

// A Result counts the complaints about one file, left out or not.
type Result struct {
	Kind                    string // "jitdump", "perf.data" or "ELF object"
	Holds                   string // what is in the file, in words
	Errors, Warnings, Notes int
}

// maxShown is how many complaints about one rule are told of, unless all are asked for.
const maxShown = 10

// A reporter passes complaints on.
type reporter struct {
	file   string
	emit   func(Complaint)
	all    bool
	counts map[string]int
	result Result
}

func newReporter(file string, opts *Options) *reporter {
	return &reporter{file: file, emit: opts.Emit, all: opts.All, counts: make(map[string]int)}
}

// broken says that a rule of the table is broken at an offset of the file, or -1.
func (r *reporter) broken(rule string, offset int64, format string, args ...any) {
	known := ruleNamed(rule)
	n := r.counts[rule] + 1
	r.counts[rule] = n
	switch known.Severity {
	case Error:
		r.result.Errors++
	case Warning:
		r.result.Warnings++
	default:
		r.result.Notes++
	}
	if r.emit == nil || !r.all && n > maxShown {
		return
	}
	r.emit(Complaint{File: r.file, Offset: offset, Rule: rule, Severity: known.Severity, Text: fmt.Sprintf(format, args...), Advice: known.Advice})
}

// finish tells of complaints that were left out. file is what they are about.
func (r *reporter) finish(file string) {
	if r.emit == nil || r.all {
		return
	}
	var rules []string
	for rule, n := range r.counts {
		if n > maxShown {
			rules = append(rules, rule)
		}
	}
	slices.Sort(rules)
	for _, rule := range rules {
		known, more := ruleNamed(rule), r.counts[rule]-maxShown
		r.emit(Complaint{File: file, Offset: -1, Rule: rule, Severity: known.Severity, Text: fmt.Sprintf("and %d more (--all shows them)", more), Advice: known.Advice, More: more})
	}
}

// quoted returns a name from a file for a text, on one line and not endless.
func quoted[T string | []byte](name T) string {
	const most = 80
	if len(name) > most {
		return fmt.Sprintf("%q...", string(name[:most]))
	}
	return fmt.Sprintf("%q", string(name))
}

// counted returns a number with what it counts.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// span returns a length of time, given in nanoseconds, with three digits.
func span(ns uint64) string {
	v, unit := float64(ns), "ns"
	for _, next := range []string{"µs", "ms", "s"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, next
	}
	return strconv.FormatFloat(v, 'g', max(3, len(strconv.Itoa(int(v)))), 64) + " " + unit
}
