package monolog

import (
	"fmt"
)

// first appends an event's first byte and, unless it is since a later version, its time.
func (w *Writer) first(e *Event, t Type, info uint8, timeSince uint8) {
	w.out.U8(uint8(t) | info<<4)
	if w.header.Version >= timeSince {
		w.out.Uleb(e.Time - w.time)
		w.time = e.Time
	}
}

func (w *Writer) sleb(v uint64) {
	if w.header.PtrSize == 4 {
		v = uint64(int64(int32(v)))
	}
	w.out.Sleb(int64(v))
}

func (w *Writer) ptr(v uint64) { w.sleb(v - w.base.PtrBase) }

func (w *Writer) obj(v uint64) {
	half := v >> 3
	if w.header.PtrSize == 8 {
		half = uint64(int64(v) >> 3) // whichever: what was shifted out does not come back
	}
	w.sleb(half - w.base.ObjBase)
}

func (w *Writer) methodDelta(v uint64) {
	w.sleb(v - w.method)
	w.method = v
}

func (w *Writer) byteOr(from, to uint8, v uint64) {
	if w.header.Version >= from && w.header.Version <= to {
		w.out.U8(uint8(v))
	} else {
		w.out.Uleb(v)
	}
}

func (w *Writer) flags(v uint64) {
	if w.header.Version < 13 {
		w.out.Uleb(v)
	}
}

func (w *Writer) str(s []byte) { w.out.Bytes(s); w.out.U8(0) }

func (w *Writer) backtrace(e *Event) {
	w.flags(0)
	w.out.Uleb(uint64(len(e.Frames)))
	for _, m := range e.Frames {
		if w.header.Version >= 13 {
			w.methodDelta(m)
		} else {
			w.ptr(m)
		}
	}
}

func (w *Writer) classOrVTable(e *Event) {
	if w.header.Version >= 15 {
		w.ptr(e.VTable)
	} else {
		w.ptr(e.Class)
	}
}

// since is the first version that has a kind, and until the last.
func (k Kind) versions() (since, until uint8) {
	switch k {
	case KindSampleHit, KindSymbol:
		return 4, MaxVersion
	case KindBinary:
		return 4, 15
	case KindHeapRoots:
		return 3, MaxVersion
	case KindCounterDescs, KindCounters:
		return 5, MaxVersion
	case KindJITHelper:
		return 8, MaxVersion
	case KindCoverageAssembly, KindCoverageMethod, KindCoverageStatement, KindCoverageClass:
		return 10, 15
	case KindContext:
		return 11, MaxVersion
	case KindFinalizeStart, KindFinalizeEnd, KindFinalizeObjectStart, KindFinalizeObjectEnd, KindSyncPoint:
		return 13, MaxVersion
	case KindVTable, KindRootRegister, KindRootUnregister:
		return 15, MaxVersion
	case KindAOTID:
		return 16, MaxVersion
	}
	return MinVersion, MaxVersion
}

func (w *Writer) encode(e *Event) error {
	since, until := e.Kind.versions()
	if v := w.header.Version; e.Kind == KindNone || e.Kind >= kinds || v < since || v > until {
		return fmt.Errorf("%s: data version %d has no event %q", FormatName, v, e.Kind)
	}
	switch k := e.Kind; {
	case k == KindAlloc:
		info := uint8(exAlloc)
		if e.Info == exAllocBacktrace || len(e.Frames) > 0 {
			info = exAllocBacktrace
		}
		w.first(e, TypeAlloc, info, 1)
		w.classOrVTable(e)
		w.obj(e.Object)
		w.out.Uleb(e.Size)
		if info == exAllocBacktrace {
			w.backtrace(e)
		}
	case k <= KindFinalizeObjectEnd:
		return w.gc(e)
	case k <= KindVTable:
		w.metadata(e)
	case k <= KindExcLeave:
		w.first(e, TypeMethod, exLeave+uint8(k-KindLeave), 1)
		w.methodDelta(e.Method)
	case k == KindJIT:
		w.first(e, TypeMethod, exJIT, 1)
		w.methodDelta(e.Method)
		w.ptr(e.Code)
		w.out.Uleb(e.Size)
		w.str(e.Name)
	case k <= KindMonitor:
		w.exception(e)
	case k <= KindRootUnregister:
		w.heap(e)
	case k <= KindCounters:
		w.sample(e)
	default:
		w.rest(e)
	}
	return nil
}

func (w *Writer) gc(e *Event) error {
	switch e.Kind {
	case KindGCEvent:
		w.first(e, TypeGC, exGCEvent, 1)
		w.byteOr(13, MaxVersion, e.Sub)
		w.byteOr(13, MaxVersion, e.Generation)
	case KindGCResize:
		w.first(e, TypeGC, exGCResize, 1)
		w.out.Uleb(e.Size)
	case KindGCMove:
		w.first(e, TypeGC, exGCMove, 1)
		w.out.Uleb(2 * uint64(len(e.Moves)))
		for _, m := range e.Moves {
			w.obj(m.From)
			w.obj(m.To)
		}
	case KindHandleCreated, KindHandleDestroyed:
		info := exHandleCreated + uint8(e.Kind-KindHandleCreated)
		bt := e.Info >= exHandleCreatedBT || len(e.Frames) > 0
		if bt && w.header.Version < 11 {
			return fmt.Errorf("%s: data version %d has no backtraces of %q", FormatName, w.header.Version, e.Kind)
		}
		if bt {
			info += exHandleCreatedBT - exHandleCreated
		}
		w.first(e, TypeGC, info, 1)
		w.out.Uleb(e.Sub)
		w.out.Uleb(e.Handle)
		if e.Kind == KindHandleCreated {
			w.obj(e.Object)
		}
		if bt {
			w.backtrace(e)
		}
	default:
		w.first(e, TypeGC, exFinalizeStart+uint8(e.Kind-KindFinalizeStart), 1)
		if e.Kind >= KindFinalizeObjectStart {
			w.obj(e.Object)
		}
	}
	return nil
}

func (w *Writer) metadata(e *Event) {
	v := w.header.Version
	info := uint8(e.Load)
	if v < 11 {
		info |= e.Info & LoadError
	}
	w.first(e, TypeMetadata, info, 1)
	w.out.U8(mClass + uint8(e.Kind-KindClass))
	w.ptr(e.Pointer)
	switch e.Kind {
	case KindClass:
		w.ptr(e.Image)
		w.flags(e.Flags)
		w.str(e.Name)
	case KindImage:
		w.flags(e.Flags)
		w.str(e.Name)
		if v >= 16 {
			w.str(e.MVID)
		}
	case KindAssembly:
		if v < 11 {
			return
		}
		if v >= 14 {
			w.ptr(e.Image)
		}
		w.flags(e.Flags)
		w.str(e.Name)
	case KindDomain:
		if v < 11 {
			return
		}
		w.flags(e.Flags)
		if e.Load == LoadName {
			w.str(e.Name)
		}
	case KindThread:
		w.flags(e.Flags)
		if e.Load == LoadName || v < 11 {
			w.str(e.Name)
		}
	case KindContext:
		w.flags(e.Flags)
		w.ptr(e.Domain)
	case KindVTable:
		w.ptr(e.Domain)
		w.ptr(e.Class)
	}
}

func (w *Writer) exception(e *Event) {
	v := w.header.Version
	info := e.Info & Backtrace
	if len(e.Frames) > 0 {
		info = Backtrace
	}
	switch e.Kind {
	case KindThrow:
		w.first(e, TypeException, exThrow|info, 1)
		w.obj(e.Object)
		if info != 0 {
			w.backtrace(e)
		}
	case KindClause:
		w.first(e, TypeException, exClause|info, 1)
		w.byteOr(13, MaxVersion, e.Sub)
		w.out.Uleb(e.Index)
		w.methodDelta(e.Method)
		if v >= 14 {
			w.obj(e.Object)
		}
	case KindMonitor:
		if v < 14 {
			w.first(e, TypeMonitor, uint8(e.Sub)|info, 1)
		} else {
			w.first(e, TypeMonitor, info, 1)
			w.out.U8(uint8(e.Sub))
		}
		w.obj(e.Object)
		if info != 0 && (v >= 14 || e.Sub == MonitorContention) {
			w.backtrace(e)
		}
	}
}
