package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Verifier checks files of some formats.
type Verifier struct {
	find   func(path string) (*Format, error)
	rules  []Rule
	byName map[string]Rule
}

// An UncheckedError says that files of a format are not checked.
type UncheckedError struct {
	Name    string // of the format, with its article
	Readers string // the programs that show its files
	IsDir   bool   // it is a directory with such files
}

func (e *UncheckedError) Error() string {
	name, shown := e.Name, "the file"
	if e.IsDir {
		name, shown = "a directory with "+name, "the files in it"
	}
	return "it is " + name + ", which is not checked, as only its runtime could mend it. An injection reports damage, and " + e.Readers + " can show " + shown
}

// New returns a Verifier for formats. find returns the one of a file. Its error says that the file cannot be read
// or has none of the formats, or is an [UncheckedError].
func New(formats []Format, find func(path string) (*Format, error)) *Verifier {
	v := &Verifier{find: find, byName: make(map[string]Rule)}
	for i := range formats {
		v.rules = append(v.rules, formats[i].Rules...)
	}
	for _, r := range v.rules {
		v.byName[r.Name] = r
	}
	return v
}

// Rules returns all rules there are, in the order in which they are explained.
func (v *Verifier) Rules() []Rule { return v.rules }

// Explain returns the rule of a name.
func (v *Verifier) Explain(name string) (Rule, bool) {
	r, ok := v.byName[name]
	return r, ok
}

// File checks one file. The error says that it could not be read, is an [UncheckedError], or is ctx's.
func (v *Verifier) File(ctx context.Context, path string, opts Options) (Result, error) {
	f, err := v.find(path)
	if err != nil {
		return Result{}, err
	}
	r := NewReporter(path, &opts, v.byName)
	r.Result.Kind = f.Kind
	err = f.Check(ctx, r, path, &opts)
	r.finish()
	return r.Result, err
}

// A Format is a format of files that can be checked.
type Format struct {
	Kind  string // of its files, as Result has it
	Name  string // with its article
	Rules []Rule

	// Check checks a file. The error says that it could not be read, or is ctx's.
	Check func(ctx context.Context, r *Reporter, path string, opts *Options) error

	// HasName reports whether a file is to be checked as one of the format if its content does not show
	// one, because it is damaged. It may be nil.
	HasName func(path string) bool
}

// A Rule is something that has to hold of a file.
type Rule struct {
	Name      string   // KIND/WHAT
	Severity  Severity // of breaking it
	Statement string   // what has to hold
	Cause     string   // why it usually does not
	Advice    string   // what to do then

	// ForUsers says that Advice is for the users of a runtime, too. Advice about recordings, objects and
	// core dumps always is.
	ForUsers bool

	// User is the advice for users of a runtime, if that is not Advice.
	User string

	// Repaired says that results of jitinject show as much as if the rule held.
	Repaired bool

	// Counted says that an injection reports the same, with the number of samples that it costs.
	Counted bool
}

// Options say how files are checked. The zero value can be used, but diagnostics go
// nowhere.
type Options struct {
	// Emit gets each complaint as it comes up.
	Emit func(Diagnostic)

	// All reports each diagnostic. Otherwise the first ten of a rule are reported, and the others counted.
	All bool

	// User emits only what a user of jitinject can act on: no diagnostics of rules that are Repaired,
	// and the first of each other rule. The others are counted.
	User bool

	// Counted reports whether a run of the engine with Options.Preview has read a file. With User,
	// diagnostics of rules that are Counted are left to it. It may be nil.
	Counted func(path string) bool

	// Recording is the path of the recording that side files belong to, or "".
	Recording string

	// Recordings are paths of recordings that side files may belong to, if Recording is "". A file
	// is compared with each that has its process.
	Recordings []string

	// Producer adds notes about what jitdumps lack that profilers could show.
	Producer bool
}

// Beside returns the recordings that side files are compared with.
func (o *Options) Beside() []string {
	if o.Recording != "" {
		return []string{o.Recording}
	}
	return o.Recordings
}

// ReadRules reads a table of rules, which are separated by empty lines:
//
//	NAME SEVERITY [repaired] [counted] [users]
//	STATEMENT
//	Cause: …
//	Advice: …
//	User: …
//
// Rule explains the parts; the last line and the three words are optional. Paragraphs that begin with # are
// headings. It panics if the table, which is part of the program, has another form.
func ReadRules(table string) (rules []Rule) {
	for text := range strings.SplitSeq(strings.TrimSpace(table), "\n\n") {
		if strings.HasPrefix(text, "#") {
			continue
		}
		lines := append(strings.Split(strings.TrimSpace(text), "\n"), "User: ")
		head := strings.Fields(lines[0])
		severity := slices.Index([]string{Note.String(), Warning.String(), Error.String()}, head[1])
		cause, hasCause := strings.CutPrefix(lines[2], "Cause: ")
		advice, hasAdvice := strings.CutPrefix(lines[3], "Advice: ")
		user, hasUser := strings.CutPrefix(lines[4], "User: ")
		if severity < 0 || !hasCause || !hasAdvice || !hasUser {
			panic(fmt.Sprintf("no rule: %q", text))
		}
		has := func(word string) bool { return slices.Contains(head[2:], word) }
		rules = append(rules, Rule{
			Name: head[0], Severity: Severity(severity), Statement: lines[1], Cause: cause, Advice: advice, User: user,
			Repaired: has("repaired"), Counted: has("counted"), ForUsers: has("users"),
		})
	}
	return rules
}
