package monolog

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
)

// A mprof prints a log as mprof-report --debug of Mono 6.8 does, line for line,
// so that one can be held against the other, but for events without fields.
type mprof struct {
	w       *bufio.Writer
	methods map[uint64]string
}

// p prints an address as glibc's %p does.
func p(v uint64) string {
	if v == 0 {
		return "(nil)"
	}
	return fmt.Sprintf("%#x", v)
}

// mprofKept matches the lines of mprof-report that are compared: those of events with fields. mprofCut
// matches the parts of them that are no field of an event.
var (
	mprofKept = regexp.MustCompile(`^(buf:|loaded |unloaded |domain |thread |vtable |jitted |enter |leave |exleave |jit helper |clause |sample hit, |aot id )`)
	mprofCut  = regexp.MustCompile(`^(clause) \w+ \(\d+\)|^(sample hit), type: \d+| for thread \S+$`)
)

var (
	mprofLoads   = map[Load]string{LoadEnd: "loaded"}
	mprofHelpers = map[uint64]string{
		HelperMethod: "method", HelperMethodTrampoline: "method trampoline", HelperUnboxTrampoline: "unbox trampoline",
		HelperIMTTrampoline: "imt trampoline", HelperGenericsTrampoline: "generics trampoline", HelperHelper: "misc helper",
		HelperMonitor: "monitor/lock", HelperDelegateInvoke: "delegate invoke", HelperExceptionHandling: "exception handling",
	}
)

// print prints the whole log, and returns how many events of each kind there
// were. Damage is an error.
func (m *mprof) print(r *Reader, w io.Writer) (map[Kind]int, error) {
	*m = mprof{w: bufio.NewWriter(w), methods: map[uint64]string{}}
	counts := make(map[Kind]int)
	for {
		b, err := r.NextBuffer()
		if err == io.EOF {
			return counts, m.w.Flush()
		}
		if err != nil {
			return counts, err
		}
		fmt.Fprintf(m.w, "buf: thread:%x, len: %d, time: %d, file offset: %d\n", b.Thread, b.Len, b.Time, b.Offset)
		for at := b.Offset + bufferHeaderSize; ; {
			e, err := r.Next()
			if err == io.EOF {
				if want := b.Offset + bufferHeaderSize + int64(b.Len); at != want {
					return counts, fmt.Errorf("the buffer's events end at %#x, not at %#x", at, want)
				}
				break
			}
			if err != nil {
				return counts, err
			}
			if e.Offset != at {
				return counts, fmt.Errorf("event at %#x, expected it at %#x", e.Offset, at)
			}
			at += e.Length
			counts[e.Kind]++
			m.event(e)
		}
	}
}

func (m *mprof) method(v uint64) string {
	if _, ok := m.methods[v]; !ok {
		m.methods[v] = "unknown method " + p(v)
	}
	return m.methods[v]
}

func (m *mprof) event(e *Event) {
	f := func(format string, args ...any) { fmt.Fprintf(m.w, format+"\n", args...) }
	load, ok := mprofLoads[e.Load]
	if !ok {
		load = "unloaded"
	}
	switch e.Kind {
	case KindClass:
		f("%s class %s (%s in %s) at %d", load, p(e.Pointer), e.Name, p(e.Image), e.Time)
	case KindImage, KindAssembly:
		f("%s %s %s (%s) at %d", load, e.Kind, p(e.Pointer), e.Name, e.Time)
	case KindDomain, KindThread:
		if e.Load == LoadName {
			f("%s %s named at %d: %s", e.Kind, p(e.Pointer), e.Time, e.Name)
		} else {
			f("%s thread %s at %d", load, p(e.Pointer), e.Time) // domains, too
		}
	case KindContext:
		f("%s context %s (%s) at %d", load, p(e.Pointer), p(e.Domain), e.Time)
	case KindVTable:
		f("vtable %s for class %s in domain %s at %d", p(e.Pointer), p(e.Class), p(e.Domain), e.Time)
	case KindJIT:
		f("jitted method %s (%s), size: %d, code: %s", p(e.Method), e.Name, int32(e.Size), p(e.Code))
		m.methods[e.Method] = string(e.Name)
	case KindEnter:
		f("enter method %s", m.method(e.Method))
	case KindLeave:
		f("leave method %s", m.method(e.Method))
	case KindExcLeave:
		f("exleave method %s", m.method(e.Method))
	case KindClause:
		f("clause in method %s", m.method(e.Method))
	case KindSampleHit:
		for _, ip := range e.IPs {
			f("sample hit at %s", p(ip))
		}
	case KindAOTID:
		f("aot id %s", e.Name)
	case KindJITHelper:
		name, ok := mprofHelpers[e.Helper]
		switch {
		case e.Helper == HelperSpecificTrampoline:
			name = string(e.Name)
		case !ok:
			name = "unspecified"
		}
		f("jit helper %s, size: %d, code: %s", name, int32(e.Size), p(e.Code))
	}
}
