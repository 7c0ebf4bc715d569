package show

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

// How filters are written on a command line. Errors are phrases to be put behind what
// was written.

// ParsePID reads a process id.
func ParsePID(s string) (uint32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("it takes the number of a process")
	}
	return uint32(n), nil
}

// ParseName reads a part of a name, or a regular expression between slashes.
func ParseName(s string) (Name, error) {
	if len(s) < 3 || s[0] != '/' || s[len(s)-1] != '/' {
		if s == "" {
			return Name{}, fmt.Errorf("every name contains that; it takes a part of a name, or a /regular expression/")
		}
		return Name{Part: s}, nil
	}
	re, err := regexp.Compile(s[1 : len(s)-1])
	if err != nil {
		return Name{}, fmt.Errorf("that is no regular expression: %w", err)
	}
	return Name{Part: s, Match: re.Match}, nil
}

// ParseAddress reads ADDRESS, FIRST-LAST (either may be left out) or START+SIZE. Numbers
// are hexadecimal, with or without 0x.
func ParseAddress(s string) (Range, error) {
	wrong := fmt.Errorf("it takes an address, FIRST-LAST, or START+SIZE, in hexadecimal")
	number := func(s string) (uint64, bool) {
		n, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(s), "0x"), 16, 64)
		return n, err == nil
	}
	if start, size, ok := strings.Cut(s, "+"); ok {
		a, ok1 := number(start)
		n, ok2 := number(size)
		if !ok1 || !ok2 || n == 0 || a+n-1 < a {
			return Range{}, wrong
		}
		return Range{Set: true, First: a, Last: a + n - 1}, nil
	}
	return parseRange(s, number, number, wrong)
}

func parseRange(s string, first, last func(string) (uint64, bool), wrong error) (Range, error) {
	r := Range{Set: true, Last: math.MaxUint64}
	lo, hi, isRange := strings.Cut(s, "-")
	ok := true
	if !isRange {
		hi = lo
	}
	if lo != "" {
		r.First, ok = first(lo)
	}
	if hi != "" && ok {
		r.Last, ok = last(hi)
	}
	switch {
	case !ok || lo == "" && hi == "":
		return Range{}, wrong
	case r.First > r.Last:
		return Range{}, fmt.Errorf("it ends before it begins")
	}
	return r, nil
}

// ParseTime reads TIME or FIRST-LAST; either end may be left out; perf's comma
// instead of the dash does as well. A time is in seconds, as perf script prints it, or
// in nanoseconds with ns behind it. Seconds with fewer than nine decimals stand for all
// times that begin like that.
func ParseTime(s string) (Range, error) {
	wrong := fmt.Errorf("it takes a time in seconds (12.345678), or in nanoseconds (12345678901ns), or FIRST-LAST")
	first := func(s string) (uint64, bool) { lo, _, ok := parseTime(s); return lo, ok }
	last := func(s string) (uint64, bool) { _, hi, ok := parseTime(s); return hi, ok }
	return parseRange(strings.Replace(s, ",", "-", 1), first, last, wrong)
}

// parseTime returns the first and the last nanosecond of a time of any precision.
func parseTime(s string) (lo, hi uint64, ok bool) {
	if digits, is := strings.CutSuffix(s, "ns"); is {
		n, err := strconv.ParseUint(digits, 10, 64)
		return n, n, err == nil
	}
	whole, frac, decimals := strings.Cut(strings.TrimSuffix(s, "s"), ".")
	sec, err := strconv.ParseUint(whole, 10, 64)
	if err != nil || sec > math.MaxUint64/1_000_000_000-1 || len(frac) > 9 || decimals && frac == "" {
		return 0, 0, false
	}
	lo = sec * 1_000_000_000
	unit := uint64(1_000_000_000)
	for _, c := range frac {
		if c < '0' || c > '9' {
			return 0, 0, false
		}
		unit /= 10
		lo += uint64(c-'0') * unit
	}
	return lo, lo + unit - 1, true
}

// ParseType reads the type of a record, with or without what all types of its format
// begin with, in any case; one without a name as a number.
func ParseType(s string, formats []Format) (string, error) {
	p := prefixesOf(formats)
	for i := range formats {
		for _, name := range formats[i].Types {
			if p.isType(name, s) {
				return s, nil
			}
		}
	}
	if n, err := strconv.ParseUint(s, 10, 32); err == nil {
		return fmt.Sprintf("type %d", n), nil
	}
	return "", fmt.Errorf("there are no such records; types are called as the output shows them, like load, debug_info or enter; those without a name have a number")
}

// prefixes are what types of records may be written without.
type prefixes []string

func prefixesOf(formats []Format) (p prefixes) {
	for i := range formats {
		p = append(p, formats[i].Prefixes...)
	}
	return p
}

// isType reports whether a type is what was written.
// Spaces in it may be written as underscores.
func (p prefixes) isType(name, written string) bool {
	name, written = strings.ReplaceAll(name, " ", "_"), strings.ReplaceAll(written, " ", "_")
	if strings.EqualFold(name, written) {
		return true
	}
	for _, prefix := range p {
		if short, ok := strings.CutPrefix(name, prefix); ok && strings.EqualFold(short, written) {
			return true
		}
	}
	return false
}
