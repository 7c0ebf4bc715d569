package monolog

import (
	"bufio"
	"fmt"
	"io"
)

// A mprof prints a log as mprof-report --debug of Mono 6.8 does, line for line,
// so that one can be held against the other. Counters and coverage, which
// mprof-report reads in silence, are not printed.
type mprof struct {
	w       *bufio.Writer
	methods map[uint64]string
	classes map[uint64]string
	vtables map[uint64]uint64
	version uint8
	buffer  BufferHeader
}

// p prints an address as glibc's %p does.
func p(v uint64) string {
	if v == 0 {
		return "(nil)"
	}
	return fmt.Sprintf("%#x", v)
}

var (
	mprofLoads    = map[Load]string{LoadEnd: "loaded"}
	mprofMonitors = [...]string{"invalid", "contended", "acquired", "not taken"}
	mprofHandles  = [...]string{"weak", "weaktrack", "normal", "pinned"}
	mprofClauses  = map[uint64]string{0: "catch", 1: "filter", 2: "finally", 4: "fault"}
	mprofRoots    = map[uint64]string{1: "stack", 2: "finalizer", 4: "handle", 8: "other", 16: "misc"}
	mprofSyncs    = [...]string{"periodic", "world stop", "world start"}
	mprofHelpers  = map[uint64]string{
		HelperMethod: "method", HelperMethodTrampoline: "method trampoline", HelperUnboxTrampoline: "unbox trampoline",
		HelperIMTTrampoline: "imt trampoline", HelperGenericsTrampoline: "generics trampoline", HelperHelper: "misc helper",
		HelperMonitor: "monitor/lock", HelperDelegateInvoke: "delegate invoke", HelperExceptionHandling: "exception handling",
	}
	mprofGCs = map[uint64]string{0: "start", 5: "end", 6: "pre stop", 7: "post stop", 8: "pre start", 9: "post start", 10: "pre stop lock", 11: "post start unlock"}
)

// print prints the whole log, and returns how many events of each kind there
// were. Damage is an error.
func (m *mprof) print(r *Reader, w io.Writer) (map[Kind]int, error) {
	*m = mprof{w: bufio.NewWriter(w), methods: map[uint64]string{}, classes: map[uint64]string{}, vtables: map[uint64]uint64{}, version: r.Header().Version}
	counts := make(map[Kind]int)
	for {
		b, err := r.NextBuffer()
		if err == io.EOF {
			return counts, m.w.Flush()
		}
		if err != nil {
			return counts, err
		}
		m.buffer = *b
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

func (m *mprof) class(e *Event) string {
	c := e.Class
	if m.version >= 15 {
		c = m.vtable(e.VTable, 0)
	}
	if _, ok := m.classes[c]; !ok {
		m.classes[c] = "unresolved class " + p(c)
	}
	return m.classes[c]
}

// vtable returns a vtable's class: mprof-report stays with what it heard first,
// even if that was nothing.
func (m *mprof) vtable(v, class uint64) uint64 {
	if _, ok := m.vtables[v]; !ok {
		m.vtables[v] = class
	}
	return m.vtables[v]
}

func (m *mprof) event(e *Event) {
	f := func(format string, args ...any) { fmt.Fprintf(m.w, format+"\n", args...) }
	load, ok := mprofLoads[e.Load]
	if !ok {
		load = "unloaded"
	}
	switch e.Kind {
	case KindAlloc:
		f("alloced object %s, size %d (%s) at %d", p(e.Object), e.Size, m.class(e), e.Time)
	case KindGCEvent:
		f("gc event for gen%d: %s at %d (thread: %#x)", e.Generation, mprofGCs[e.Sub], e.Time, m.buffer.Thread)
	case KindGCResize:
		f("gc heap resized to %d", e.Size)
	case KindGCMove:
		for _, v := range e.Moves {
			f("moved obj %s to %s", p(v.From), p(v.To))
		}
	case KindHandleCreated:
		f("handle (%s) %d created for object %s", mprofHandles[e.Sub], e.Handle, p(e.Object))
	case KindHandleDestroyed:
		f("handle (%s) %d destroyed", mprofHandles[e.Sub], e.Handle)
	case KindFinalizeStart:
		f("gc finalizer queue being processed at %d", e.Time)
	case KindFinalizeEnd:
		f("gc finalizer queue finished processing at %d", e.Time)
	case KindFinalizeObjectStart:
		f("gc finalizing object %s at %d", p(e.Object), e.Time)
	case KindFinalizeObjectEnd:
		f("gc finalized object %s at %d", p(e.Object), e.Time)
	case KindClass:
		f("%s class %s (%s in %s) at %d", load, p(e.Pointer), e.Name, p(e.Image), e.Time)
		m.classes[e.Pointer] = string(e.Name)
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
		m.vtable(e.Pointer, e.Class)
	case KindJIT:
		f("jitted method %s (%s), size: %d, code: %s", p(e.Method), e.Name, int32(e.Size), p(e.Code))
		m.methods[e.Method] = string(e.Name)
	case KindEnter:
		f("enter method %s", m.method(e.Method))
	case KindLeave:
		f("leave method %s", m.method(e.Method))
	case KindExcLeave:
		f("exleave method %s", m.method(e.Method))
	case KindThrow:
		f("throw %s", p(e.Object))
	case KindClause:
		f("clause %s (%d) in method %s", mprofClauses[e.Sub], e.Index, m.method(e.Method))
	case KindMonitor:
		f("monitor %s for object %s", mprofMonitors[e.Sub], p(e.Object))
	case KindHeapStart, KindHeapEnd:
		f("heap shot %s", e.Kind.String()[len("heap "):])
	case KindHeapObject:
		if e.Size != 0 {
			f("traced object %s, size %d (%s), refs: %d", p(e.Object), e.Size, m.class(e), len(e.Refs))
		}
	case KindHeapRoots:
		for _, v := range e.Roots {
			if m.version < 15 {
				f("object %s is a %s root", p(v.Object), mprofRoots[v.Type])
				continue
			}
			f("root object %s at address %s", p(v.Object), p(v.Address))
		}
	case KindRootRegister:
		f("root register address %s size %d type %d key %s name %s", p(e.Pointer), e.Size, e.Sub, p(e.Key), e.Name)
	case KindRootUnregister:
		f("root unregister address %s", p(e.Pointer))
	case KindSampleHit:
		sub := e.Sub
		if m.version >= 14 {
			sub = 1
		}
		thread := e.Thread
		if m.version < 11 {
			thread = m.buffer.Thread
		}
		for _, ip := range e.IPs {
			f("sample hit, type: %d at %s for thread %s", sub, p(ip), p(thread))
		}
		for i, v := range e.Frames {
			f("sample hit bt %d: %s", i, m.method(v))
		}
	case KindSymbol:
		f("unmanaged symbol %s at %s", e.Name, p(e.Pointer))
	case KindBinary:
		f("unmanaged binary %s at %s", e.Name, p(e.Pointer))
	case KindJITHelper:
		name, ok := mprofHelpers[e.Sub]
		switch {
		case e.Sub == HelperSpecificTrampoline:
			name = string(e.Name)
		case !ok:
			name = "unspecified"
		}
		f("jit helper %s, size: %d, code: %s", name, int32(e.Size), p(e.Code))
	case KindSyncPoint:
		f("sync point %d (%s)", e.Sub, mprofSyncs[e.Sub])
	case KindAOTID:
		f("aot id %s", e.Name)
	}
}
