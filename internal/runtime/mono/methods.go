package mono

import (
	"cmp"
	"slices"
)

// Which method a pointer means: Mono's other events name methods by the address of its
// own record of them, a MonoMethod. JIT events say which method and which code that is.

// methods are the JIT events of a log, by method. Mono may give the memory of a
// method's record to another's.
type methods struct {
	all    []loggedMethod
	sorted bool
}

type loggedMethod struct {
	method   uint64
	time     uint64
	function int32 // or -1 for one without an address
}

func (s *methods) add(method, time uint64, function int) {
	s.all = append(s.all, loggedMethod{method, time, int32(function)})
}

func compareMethods(a, b loggedMethod) int {
	return cmp.Or(cmp.Compare(a.method, b.method), cmp.Compare(a.time, b.time))
}

// MethodAt returns the function that a method is at a time, as the log counts it. ok is
// false where the log does not say at which address it is, or nothing at all. It must not be
// called by several goroutines before it has been called once, nor beside Scan.
func (m *Log) MethodAt(method, time uint64) (function int, ok bool) {
	s := &m.methods
	if !s.sorted {
		slices.SortStableFunc(s.all, compareMethods)
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
	// What comes before the first event is of that, too: threads write theirs a little
	// later than what happens later.
	if n == len(s.all) || s.all[n].method != method || s.all[n].function < 0 {
		return 0, false
	}
	return int(s.all[n].function), true
}

// FunctionName returns the name of the i-th function. It belongs to the log.
func (m *Log) FunctionName(i int) []byte {
	if m.Short {
		return ShortName(m.nameOf[i])
	}
	return m.nameOf[i]
}

// FunctionPlace returns where the i-th function is, and its size in bytes.
func (m *Log) FunctionPlace(i int) (addr, size uint64) { return m.Events[i].Addr, m.Events[i].Size }
