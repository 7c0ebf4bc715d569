package mono

import (
	"bytes"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// checked reports whether a function can be where an event says that it is. Mono may read
// that from memory which it has freed.
func (m *Log) checked(e *monolog.Event) bool {
	if e.Size <= source.MaxRange && e.Code >= source.MinCode && e.Code <= source.MaxCodeAddr-e.Size {
		return true
	}
	m.Astray++
	return false
}

// jitted takes in a method that was compiled, or found in an image that had been
// compiled before.
func (m *Log) jitted(e *monolog.Event) {
	if len(m.methods.all) >= 2*maxMonoFunctions {
		m.full(e)
		return
	}
	if e.Code == 0 || e.Size == 0 {
		m.Addressless++
		m.calls.unplaced = append(m.calls.unplaced, unplacedMethod{e.Method, e.Time, m.names.keep(e.Name)})
		m.methods.add(e.Method, e.Time, -1)
		return
	}
	if !m.checked(e) {
		return
	}
	if i, ok := m.places[e.Code]; ok && m.merge(i, e) {
		m.methods.add(e.Method, e.Time, i)
		return
	}
	if len(m.nameOf) >= maxMonoFunctions {
		m.full(e)
		return
	}
	m.methods.add(e.Method, e.Time, len(m.nameOf))
	m.add(e, m.names.keep(e.Name))
}

// maxMonoFunctions is how many functions of a log are believed in: a program of a
// gigabyte has fewer. A small packed log can have more events than there is memory for.
var maxMonoFunctions = 4 << 20

// full says, once, that there are too many functions.
func (m *Log) full(e *monolog.Event) {
	if !m.reportedFull {
		m.reportedFull = true
		m.Problem(e.Offset, "%s: %s at offset %#x is one more than the %d functions that a log can have here; the rest is left out", monolog.FormatName, e.Kind, e.Offset, maxMonoFunctions)
	}
}

// monoMerge is how long after each other two events at one address tell of one method,
// in nanoseconds. Mono tells twice of methods whose code others share, one at once
// after the other: first of the method that was asked for, App:Fill<string> (string), then
// of the one that was compiled, App:Fill<T_REF> (T_REF). The latter is how Mono itself calls
// what is there, in stack traces and in the map that --jitmap writes.
const monoMerge = 10e6

// kin reports whether two names may be of one method: they differ only in what stands for
// type parameters, in parameters, and in that one is of a wrapper of the other.
func kin(a, b []byte) bool {
	nextA, nextB := plainName(a), plainName(b)
	for {
		x, more := nextA()
		y, moreB := nextB()
		if x != y || more != moreB {
			return false
		}
		if !more {
			return true
		}
	}
}

// plainName returns a function that returns the bytes of a method's name one by one, up to its
// parameters, without those of what kind of wrapper it is and of types that are in brackets.
func plainName(name []byte) func() (c byte, ok bool) {
	if bytes.HasPrefix(name, []byte("(wrapper ")) {
		if i := bytes.Index(name, []byte(") ")); i > 0 {
			name = name[i+2:]
		}
	}
	depth := 0
	return func() (byte, bool) {
		for len(name) > 0 {
			c := name[0]
			name = name[1:]
			switch {
			case c == '<' || c == '[':
				depth++
			case c == '>' || c == ']':
				depth = max(0, depth-1)
			case depth > 0:
			case c == ' ' || c == '(':
				name = nil
			default:
				return c, true
			}
		}
		return 0, false
	}
}

// merge makes an event a part of a function, if it is one.
func (m *Log) merge(i int, e *monolog.Event) bool {
	old := &m.Events[i]
	if old.Size != e.Size || old.Time > e.Time+monoMerge || e.Time > old.Time+monoMerge || !kin(m.nameOf[i], e.Name) {
		return false // code that was freed makes room for other code
	}
	if e.Time >= old.Time {
		m.nameOf[i] = m.names.keep(e.Name)
	}
	old.Time = min(old.Time, e.Time)
	m.Merged++
	return true
}

// add adds a function.
func (m *Log) add(e *monolog.Event, name []byte) {
	i := len(m.nameOf)
	m.nameOf = append(m.nameOf, name)
	m.places[e.Code] = i
	m.target.HighAddress = max(m.target.HighAddress, e.Code+e.Size)
	m.Events = append(m.Events, jitcode.Event{Kind: jitcode.Load, Function: i, Time: e.Time, Index: uint64(i), Addr: e.Code, Size: e.Size})
}

// helper takes in code that Mono made for itself. Of methods it tells here once more,
// without their names.
func (m *Log) helper(e *monolog.Event) {
	if e.Sub == monolog.HelperMethod || e.Code == 0 || e.Size == 0 {
		return
	}
	if len(m.nameOf) >= maxMonoFunctions {
		m.full(e)
		return
	}
	if !m.checked(e) {
		return
	}
	m.add(e, m.names.helper(e))
}
