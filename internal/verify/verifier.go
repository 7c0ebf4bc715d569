package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Verifier checks files of some formats.
type Verifier struct {
	side, others []Format
	rules        []Rule
	byName       map[string]Rule
}

// An UncheckedError says that files of a format are not checked.
type UncheckedError struct {
	Name    string // of the format, with its article
	Readers string // the programs that show its files
}

func (e *UncheckedError) Error() string {
	return "it is " + e.Name + ", which is not checked, as only its runtime could mend it. An injection reports damage, and " + e.Readers + " can show the file"
}

// New returns a Verifier for formats of side files, and for others. What one of the others
// identifies is no side file.
func New(side, others []Format) *Verifier {
	v := &Verifier{side: side, others: others, byName: make(map[string]Rule)}
	for _, list := range [][]Format{side, others} {
		for i := range list {
			v.rules = append(v.rules, list[i].Rules...)
		}
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
	f, err := v.identify(path)
	if err != nil {
		return Result{}, err
	}
	if f.Check == nil {
		return Result{Kind: f.Kind}, &UncheckedError{Name: f.Name, Readers: f.Readers}
	}
	r := NewReporter(path, &opts, v.byName)
	r.Result.Kind = f.Kind
	err = f.Check(ctx, r, path, &opts)
	r.finish()
	return r.Result, err
}

// KindOf returns the kind of a file, or "" for one that cannot be read or has none of the formats.
func (v *Verifier) KindOf(path string) string {
	kind, _ := v.Kind(path)
	return kind
}

// Kind returns the kind of a file. The error says that it cannot be read or has none of the formats.
func (v *Verifier) Kind(path string) (string, error) {
	f, err := v.identify(path)
	if err != nil {
		return "", err
	}
	return f.Kind, nil
}

// identify returns the format of a file.
func (v *Verifier) identify(path string) (*Format, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil {
		return nil, err
	} else if st.IsDir() {
		for i := range v.side {
			if v.side[i].Holds != nil && v.side[i].Holds(path) {
				return &v.side[i], nil
			}
		}
	} else {
		if _, err := f.ReadAt(make([]byte, 8), 0); err != nil && err != io.EOF {
			return nil, err
		}
	}
	for i := range v.others {
		if v.others[i].Identify(f, path) {
			return &v.others[i], nil
		}
	}
	if format := v.sideFormat(f, path); format != nil {
		return format, nil
	}
	return nil, v.unknown(path)
}

// sideFormat returns the format of a side file, or nil: the only one that identifies the file by more
// than weak signs. If several do, it is the first of them that recognizes the file, or else the
// first of them. If none does, it is the first of all that recognizes the file, or else the one
// with weak signs.
func (v *Verifier) sideFormat(src io.ReaderAt, path string) *Format {
	var found []*Format
	for i := range v.side {
		if v.side[i].Identify(src, path) {
			found = append(found, &v.side[i])
		}
	}
	strong := slices.DeleteFunc(slices.Clone(found), func(f *Format) bool { return f.Weak })
	if len(strong) == 1 {
		return strong[0]
	}
	for i := range v.side {
		f := &v.side[i]
		if f.Recognizes != nil && (len(strong) == 0 || slices.Contains(strong, f)) && f.Recognizes(src, path) {
			return f
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// unknown says that a file has none of the formats.
func (v *Verifier) unknown(path string) error {
	if st, err := sys.Stat(path); err == nil && st.Mode().IsRegular() && st.Size() == 0 {
		return errors.New("it is empty")
	}
	return fmt.Errorf("it is neither %s, nor %s", strings.Join(namesOf(v.side), ", "), strings.Join(namesOf(v.others), " or "))
}

// namesOf returns the names of the formats that are checked.
func namesOf(formats []Format) (names []string) {
	for i := range formats {
		if formats[i].Check != nil {
			names = append(names, formats[i].Name)
		}
	}
	return names
}
