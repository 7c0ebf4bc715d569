package verify

import "context"

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
