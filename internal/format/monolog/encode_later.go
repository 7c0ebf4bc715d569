package monolog

import "math"

func (w *Writer) heap(e *Event) {
	v := w.header.Version
	switch e.Kind {
	case KindHeapStart, KindHeapEnd:
		w.first(e, TypeHeap, uint8(e.Kind-KindHeapStart), 1)
	case KindHeapObject:
		w.first(e, TypeHeap, exHeapObject, 13)
		w.obj(e.Object)
		w.classOrVTable(e)
		w.out.Uleb(e.Size)
		if v >= 16 {
			w.out.U8(uint8(e.Generation))
		}
		w.out.Uleb(uint64(len(e.Refs)))
		var last uint64
		for _, ref := range e.Refs {
			if v >= 2 {
				w.out.Uleb(ref.Offset - last)
				last = ref.Offset
			}
			w.obj(ref.Object)
		}
	case KindHeapRoots:
		w.first(e, TypeHeap, exHeapRoots, 13)
		w.out.Uleb(uint64(len(e.Roots)))
		if v < 15 {
			w.out.Uleb(e.Collection)
		}
		for _, root := range e.Roots {
			if v >= 15 {
				w.ptr(root.Address)
				w.obj(root.Object)
				continue
			}
			w.obj(root.Object)
			w.byteOr(13, 13, root.Type)
			w.out.Uleb(root.Extra)
		}
	case KindRootRegister:
		w.first(e, TypeHeap, exRootRegister, 1)
		w.ptr(e.Pointer)
		w.out.Uleb(e.Size)
		w.out.U8(uint8(e.Sub))
		w.ptr(e.Key)
		w.str(e.Name)
	case KindRootUnregister:
		w.first(e, TypeHeap, exRootUnregister, 1)
		w.ptr(e.Pointer)
	}
}

func (w *Writer) sample(e *Event) {
	v := w.header.Version
	switch e.Kind {
	case KindSampleHit:
		w.sampleHit(e)
	case KindSymbol:
		w.first(e, TypeSample, exSymbol, 13)
		w.ptr(e.Pointer)
		w.out.Uleb(e.Size)
		w.str(e.Name)
	case KindBinary:
		w.first(e, TypeSample, exBinary, 1)
		if v >= 14 {
			w.ptr(e.Pointer)
		} else {
			w.sleb(e.Pointer)
		}
		w.out.Uleb(e.FileOffset)
		w.out.Uleb(e.Size)
		w.str(e.Name)
	case KindCounterDescs:
		w.first(e, TypeSample, exCounterDescs, 13)
		w.out.Uleb(uint64(len(e.CounterDescs)))
		for _, d := range e.CounterDescs {
			w.out.Uleb(d.Section)
			if d.Section == counterPerfSection {
				w.str(d.SectionName)
			}
			w.str(d.Name)
			w.byteOr(13, 14, d.Type)
			w.byteOr(13, 14, d.Unit)
			w.byteOr(13, 14, d.Variance)
			w.out.Uleb(d.Index)
		}
	case KindCounters:
		w.first(e, TypeSample, exCounters, 13)
		if v < 13 {
			w.out.Uleb(e.Elapsed)
		}
		for _, c := range e.Counters {
			w.counter(c)
		}
		w.out.Uleb(0)
	}
}

func (w *Writer) sampleHit(e *Event) {
	v := w.header.Version
	w.first(e, TypeSample, exSampleHit, 13)
	if v < 14 {
		w.byteOr(13, 13, e.Sub)
	}
	if v < 13 {
		w.out.Uleb(e.Time)
	}
	if v >= 11 {
		w.ptr(e.Thread)
	}
	w.out.Uleb(uint64(len(e.IPs)))
	for _, ip := range e.IPs {
		w.ptr(ip)
	}
	if v < 6 {
		return
	}
	w.out.Uleb(uint64(len(e.Frames)))
	for i, m := range e.Frames {
		w.methodDelta(m)
		if v < 13 {
			var off FrameOffset
			if i < len(e.FrameOffsets) {
				off = e.FrameOffsets[i]
			}
			w.out.Sleb(off.IL)
			w.out.Sleb(off.Native)
		}
	}
}

func (w *Writer) counter(c Counter) {
	w.out.Uleb(c.Index)
	w.byteOr(13, 14, c.Type)
	switch c.Type {
	case CounterUint, CounterUlong:
		w.out.Uleb(c.Value)
	case CounterDouble:
		w.out.U64(c.Value)
	case CounterString:
		if c.Text == nil {
			w.out.U8(0)
		} else {
			w.out.U8(1)
			w.str(c.Text)
		}
	default:
		w.out.Sleb(int64(c.Value))
	}
}

func (w *Writer) rest(e *Event) {
	v := w.header.Version
	switch e.Kind {
	case KindJITHelper:
		w.first(e, TypeRuntime, exJITHelper, 1)
		sub := e.Sub
		if v < 14 {
			sub++
		}
		w.byteOr(13, math.MaxUint8, sub)
		w.ptr(e.Code)
		w.out.Uleb(e.Size)
		if e.Sub == HelperSpecificTrampoline {
			w.str(e.Name)
		}
	case KindSyncPoint:
		w.first(e, TypeMeta, exSyncPoint, 1)
		w.out.U8(uint8(e.Sub))
	case KindAOTID:
		w.first(e, TypeMeta, exAOTID, 1)
		w.str(e.Name)
	default:
		w.coverage(e)
	}
}

func (w *Writer) coverage(e *Event) {
	info := uint8(e.Kind - KindCoverageAssembly)
	w.first(e, TypeCoverage, info, 13)
	for i := range coverageFields[info].texts {
		var s []byte
		if i < len(e.Texts) {
			s = e.Texts[i]
		}
		w.str(s)
	}
	for i := range coverageFields[info].numbers {
		var n uint64
		if i < len(e.Numbers) {
			n = e.Numbers[i]
		}
		w.out.Uleb(n)
	}
}
