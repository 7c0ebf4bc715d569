package mono

import (
	"cmp"
	"slices"
)

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

// MethodAt returns the function for a method's record at a time, by the log's clock. ok is false if
// the method or its address is unknown. The first call sorts the events: it must not run in
// parallel with another call, or with Scan.
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
	// Calls before the first event belong to it, too: threads write their events with a delay.
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

// FunctionPlace returns the address of the i-th function, and its size in bytes.
func (m *Log) FunctionPlace(i int) (addr, size uint64) { return m.Events[i].Addr, m.Events[i].Size }
