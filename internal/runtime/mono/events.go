package mono

import (
	"bytes"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// checked reports whether the address in an event is plausible, and counts implausible ones. Mono
// may read the event's fields from freed memory.
func (m *Log) checked(e *monolog.Event) bool {
	if e.Size <= source.MaxRange && e.Code >= source.MinCode && e.Code <= source.MaxCodeAddr-e.Size {
		return true
	}
	m.Astray++
	return false
}

// jitted adds a method that was compiled at run time, or found in an image that was compiled
// before.
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
	if len(m.names.of) >= maxMonoFunctions {
		m.full(e)
		return
	}
	m.methods.add(e.Method, e.Time, len(m.names.of))
	m.add(e, m.names.keep(e.Name))
}

// maxMonoFunctions bounds the functions of a log: a program of a gigabyte has fewer. The events of
// a small compressed log might not fit into memory.
var maxMonoFunctions = 4 << 20

// full reports, once, that there are too many functions.
func (m *Log) full(e *monolog.Event) {
	if !m.reportedFull {
		m.reportedFull = true
		m.Problem(e.Offset, "%s: %s at offset %#x is one more than the %d functions that a log can have here; the rest is left out", monolog.FormatName, e.Kind, e.Offset, maxMonoFunctions)
	}
}

// monoMerge is the maximum time between two events at one address for one method, in nanoseconds.
// Mono logs two events in a row for methods with shared code. The first has the requested method,
// App:Fill<string> (string). The second has the compiled method, App:Fill<T_REF> (T_REF). Mono
// itself uses the second name in stack traces and in the map of --jitmap.
const monoMerge = 10e6

// kin reports whether two names may belong to one method. They may differ only in type arguments,
// in parameters, and in that one is a wrapper of the other.
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

// plainName returns an iterator over the bytes of a method's name up to its parameters. It omits
// the kind of wrapper, and types in brackets.
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

// merge merges an event into a function, if both describe one method.
func (m *Log) merge(i int, e *monolog.Event) bool {
	old := &m.Events[i]
	if old.Size != e.Size || old.Time > e.Time+monoMerge || e.Time > old.Time+monoMerge || !kin(m.names.name(m.names.of[i]), e.Name) {
		return false // other code in the place of freed code
	}
	if e.Time >= old.Time {
		m.names.of[i] = m.names.keep(e.Name)
	}
	old.Time = min(old.Time, e.Time)
	m.Merged++
	return true
}

// add adds a function.
func (m *Log) add(e *monolog.Event, name keptName) {
	i := len(m.names.of)
	m.names.of = append(m.names.of, name)
	m.places[e.Code] = i
	m.Code.HighAddress = max(m.Code.HighAddress, e.Code+e.Size)
	m.Events = append(m.Events, jitcode.Event{Kind: jitcode.Load, Function: i, Time: e.Time, Index: uint64(i), Addr: e.Code, Size: e.Size})
}

// helper adds code that Mono made for itself. It ignores methods: Mono logs them here a second
// time, without their names.
func (m *Log) helper(e *monolog.Event) {
	if e.Helper == monolog.HelperMethod || e.Code == 0 || e.Size == 0 {
		return
	}
	if len(m.names.of) >= maxMonoFunctions {
		m.full(e)
		return
	}
	if !m.checked(e) {
		return
	}
	m.add(e, m.names.keep([]byte(helperName(e))))
}
