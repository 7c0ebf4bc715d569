package verify

import (
	"fmt"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/words"
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

// A Diagnostic says that a rule is broken somewhere. Names in its text that come from a
// file are quoted; File is as the caller or the recording has it.
type Diagnostic struct {
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
	Kind                    string // that of the Format
	Holds                   string // what is in the file, in words
	Errors, Warnings, Notes int
	Repaired                int // of the errors and warnings, those about rules that are Repaired
	ToDo                    int // of the errors and warnings, those that a user may have to act on
	// Samples counts the samples of a recording with mappings of objects, and Shown those of them that
	// perf finds in a jitted function. Both are 0 for other files.
	Samples, Shown int64
	Complete       bool // with Options.Producer: profilers could show nothing more of the dump
}

// maxShown is how many complaints about one rule are told of, unless all are asked for. Users get
// one.
const maxShown = 10

// A Reporter passes complaints on.
type Reporter struct {
	File  string
	emit  func(Diagnostic)
	limit int // on complaints about a rule
	user  bool
	// counted says that an injection reports diagnostics of Counted rules.
	counted bool
	rules   map[string]Rule
	counts  map[string]int
	Result  Result
}

// NewReporter returns a reporter about a file, for rules of a table by name.
func NewReporter(file string, opts *Options, rules map[string]Rule) *Reporter {
	r := &Reporter{File: file, emit: opts.Emit, limit: maxShown, user: opts.User, rules: rules, counts: make(map[string]int)}
	switch {
	case opts.All:
		r.limit = math.MaxInt
	case opts.User:
		r.limit = 1
	}
	r.counted = opts.Counted != nil && opts.Counted(file)
	return r
}

// Violation says that a rule of the table is broken at an offset of the file, or -1.
func (r *Reporter) Violation(rule string, offset int64, format string, args ...any) {
	known := r.rule(rule)
	n := r.counts[rule] + 1
	r.counts[rule] = n
	switch known.Severity {
	case Error:
		r.Result.Errors++
	case Warning:
		r.Result.Warnings++
	default:
		r.Result.Notes++
	}
	switch {
	case known.Severity == Note:
	case known.Repaired:
		r.Result.Repaired++
	case !known.Counted || !r.counted:
		r.Result.ToDo++
	}
	if r.emit == nil || n > r.limit || r.hides(known) {
		return
	}
	r.emit(Diagnostic{File: r.File, Offset: offset, Rule: rule, Severity: known.Severity, Text: fmt.Sprintf(format, args...), Advice: known.Advice})
}

// hides reports whether diagnostics of a rule are only counted, because they are for the authors of
// runtimes, or an injection reports the same.
func (r *Reporter) hides(rule Rule) bool {
	return r.user && (rule.Repaired || rule.Counted && r.counted)
}

// rule returns the rule of a name. A test sees to it that every name is in a table.
func (r *Reporter) rule(name string) Rule {
	if rule, ok := r.rules[name]; ok {
		return rule
	}
	return Rule{Name: name, Severity: Error}
}

// finish tells of complaints that were left out.
func (r *Reporter) finish() {
	if r.emit == nil {
		return
	}
	var rules []string
	for rule, n := range r.counts {
		if n > r.limit && !r.hides(r.rule(rule)) {
			rules = append(rules, rule)
		}
	}
	slices.Sort(rules)
	for _, rule := range rules {
		known, more := r.rule(rule), r.counts[rule]-r.limit
		r.emit(Diagnostic{File: r.File, Offset: -1, Rule: rule, Severity: known.Severity, Text: fmt.Sprintf("and %s more (--all shows them)", words.Number(int64(more))), Advice: known.Advice, More: more})
	}
}
