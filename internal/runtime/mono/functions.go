package mono

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/source/memcode"
)

// Function names in Mono's logs. They have the form that Mono uses in stack traces and in the map
// of --jitmap: Namespace.Class:Method (parameters).

// functionNames are the names of a log, without a copy for each.
type functionNames struct {
	text []byte
	of   []keptName // each function
}

// A keptName is a part of the text.
type keptName struct{ at, size uint32 }

// keep keeps a name, up to a byte that a symbol cannot have.
func (n *functionNames) keep(name []byte) keptName {
	name, _, _ = bytes.Cut(name, []byte{0})
	if len(n.text)+len(name) > maxNames {
		return keptName{}
	}
	n.text = append(n.text, name...)
	return keptName{uint32(len(n.text) - len(name)), uint32(len(name))}
}

// name returns a name, or noName for an empty one.
func (n *functionNames) name(k keptName) []byte {
	if k.size == 0 {
		return noName
	}
	return n.text[k.at:][:k.size:k.size]
}

// maxNames bounds the total length of a log's names, in bytes.
const maxNames = 512 << 20

var noName = []byte("(unnamed)")

// helperName returns the name of code that Mono made for itself, from its kind. It resembles Mono's names
// of wrappers, (wrapper runtime-invoke) ....
func helperName(e *monolog.Event) string {
	switch e.Helper {
	case monolog.HelperMethodTrampoline:
		return "(trampoline method)"
	case monolog.HelperUnboxTrampoline:
		return "(trampoline unbox)"
	case monolog.HelperIMTTrampoline:
		return "(trampoline imt)"
	case monolog.HelperGenericsTrampoline:
		return "(trampoline generics)"
	case monolog.HelperSpecificTrampoline:
		if len(e.Name) == 0 {
			return "(trampoline specific)"
		}
		return fmt.Sprintf("(trampoline %s)", e.Name)
	case monolog.HelperHelper:
		return "(helper)"
	case monolog.HelperMonitor:
		return "(helper monitor)"
	case monolog.HelperDelegateInvoke:
		return "(helper delegate invoke)"
	case monolog.HelperExceptionHandling:
		return "(helper exception handling)"
	}
	return "(helper unknown)"
}

// ShortName returns a method's name without its parameters. The kind of a wrapper stays.
func ShortName(name []byte) []byte {
	head, rest := 0, name
	if bytes.HasPrefix(name, []byte("(wrapper ")) {
		if i := bytes.Index(name, []byte(") ")); i > 0 {
			head, rest = i+2, name[i+2:]
		}
	}
	if i := bytes.Index(rest, []byte(" (")); i > 0 && rest[len(rest)-1] == ')' {
		return name[:head+i]
	}
	return name
}

// Mono's events name a method by the address of its record, a MonoMethod. JIT events have both this
// address and the method's code.

// methods are the JIT events of a log, by method. Mono may reuse the memory of a method's record.
type methods struct {
	all    []loggedMethod
	sorted bool
}

type loggedMethod struct {
	method   uint64
	time     uint64
	function int32 // -1 without an address
}

func (s *methods) add(method, time uint64, function int) {
	s.all = append(s.all, loggedMethod{method, time, int32(function)})
}

func compareMethods(a, b loggedMethod) int {
	return cmp.Or(cmp.Compare(a.method, b.method), cmp.Compare(a.time, b.time))
}

// MethodAt returns the function for a method's record at a time, by the log's clock, and whether the log has
// the method once. ok is false if the method is unknown, or the log has no calls. The first call sorts the
// events: it must not run in parallel with another call, or with Scan.
func (m *Log) MethodAt(method, time uint64) (function int, once, ok bool) {
	s := &m.methods
	if !s.sorted {
		sorting.Stable(s.all, compareMethods)
		s.sorted = true
	}
	n, _ := slices.BinarySearchFunc(s.all, loggedMethod{method: method, time: time}, func(e, at loggedMethod) int {
		if compareMethods(e, at) <= 0 { // the last one of that time
			return -1
		}
		return 1
	})
	if n > 0 && s.all[n-1].method == method {
		n--
	}
	// Calls before the first event belong to it, too: threads write their events with a delay.
	if n == len(s.all) || s.all[n].method != method {
		return 0, false, false
	}
	once = (n == 0 || s.all[n-1].method != method) && (n+1 == len(s.all) || s.all[n+1].method != method)
	return int(s.all[n].function), once, true
}

// FunctionName returns the name of the i-th function. It belongs to the log.
func (m *Log) FunctionName(i int) []byte {
	name := m.names.name(m.names.of[i])
	if m.Short {
		return ShortName(name)
	}
	return name
}

// FunctionPlace returns the address of the i-th function, and its size in bytes.
func (m *Log) FunctionPlace(i int) (addr, size uint64) { return m.Place(i) }

// DropEvents implements source.Lean: there may be a million functions.
func (m *Log) DropEvents() { m.KeepPlaces() }

// A functionReader reads the functions of a log.
type functionReader struct {
	memcode.Reader
	m  *Log
	fn jitcode.Function
}

// Functions returns a new reader of the log's functions.
func (m *Log) Functions() source.FunctionReader {
	return &functionReader{Reader: memcode.Reader{Dump: &m.Dump}, m: m}
}

// MayHaveLines returns false: logs have no lines.
func (m *Log) MayHaveLines(int) bool { return false }

// Inspect is Functions.
func (m *Log) Inspect() source.FunctionReader { return m.Functions() }

// Function returns the i-th function, valid until the next call.
func (r *functionReader) Function(i int) (*jitcode.Function, error) {
	addr, size := r.m.Place(i)
	r.fn = jitcode.Function{Name: r.m.FunctionName(i), Addr: addr, Size: size, Code: r.Bytes(i)}
	r.Derive(&r.fn)
	return &r.fn, nil
}
