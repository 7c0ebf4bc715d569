package show

import (
	"bytes"
	"math"
	"slices"
)

// A Filter says which records are shown. The zero Filter shows all. Otherwise a record
// must satisfy every part that is set. A record without the field of a part, such as
// one without a process, does not satisfy it.
type Filter struct {
	PIDs    []uint32
	Names   []Name
	Address Range // of code or data; a record satisfies it that touches it
	Time    Range // nanoseconds
	Types   []string

	prefixes prefixes
}

// A Range is of numbers from First to Last, both included.
type Range struct {
	Set         bool
	First, Last uint64
}

// Meets reports whether the range has something in common with size numbers from v
// on, at least v itself.
func (r Range) Meets(v, size uint64) bool {
	last := v
	if size > 0 {
		if last = v + size - 1; last < v {
			last = math.MaxUint64
		}
	}
	return !r.Set || v <= r.Last && last >= r.First
}

// A Name is what names are compared with: a part of them, or a regular expression.
type Name struct {
	Part  string
	Match func([]byte) bool // or nil
}

// MatchesType reports whether records of a type are shown at all.
func (f *Filter) MatchesType(name string) bool {
	return len(f.Types) == 0 || slices.ContainsFunc(f.Types, func(t string) bool { return f.prefixes.isType(name, t) })
}

// IsPicky reports whether anything but types is set that a record may fail.
func (f *Filter) IsPicky() bool {
	return len(f.PIDs) > 0 || len(f.Names) > 0 || f.Address.Set || f.Time.Set
}

// chooses reports whether a file may have nothing that is shown.
func (f *Filter) chooses() bool { return f.IsPicky() || len(f.Types) > 0 }

func (f *Filter) MatchesPID(pid uint32) bool {
	return len(f.PIDs) == 0 || slices.Contains(f.PIDs, pid)
}

func (f *Filter) MatchesName(name []byte) bool {
	return len(f.Names) == 0 || slices.ContainsFunc(f.Names, func(n Name) bool {
		if n.Match != nil {
			return n.Match(name)
		}
		return bytes.Contains(name, []byte(n.Part))
	})
}

func (f *Filter) MatchesTime(t uint64, ok bool) bool {
	return !f.Time.Set || ok && f.Time.Meets(t, 1)
}
