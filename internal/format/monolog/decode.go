package monolog

// decode reads an event behind its first byte.
func (r *Reader) decode(e *Event) {
	switch {
	case e.Type == TypeAlloc:
		r.alloc(e)
	case e.Type == TypeGC:
		r.gc(e)
	case e.Type == TypeMetadata:
		r.metadata(e)
	case e.Type == TypeMethod:
		r.methodEvent(e)
	case e.Type == TypeException:
		r.exception(e)
	case e.Type == TypeMonitor:
		r.monitor(e)
	case e.Type == TypeHeap:
		r.heap(e)
	case e.Type == TypeSample && r.version >= 4:
		r.sample(e)
	case e.Type == TypeRuntime && r.version >= 8:
		r.runtime(e)
	case e.Type == TypeCoverage && r.version >= 10 && r.version <= 15:
		r.coverage(e)
	case e.Type == TypeMeta && r.version >= 13:
		r.meta(e)
	default:
		r.failAt(e.Offset, "type", "is %d, which data version %d does not have", uint8(e.Type), r.version)
	}
}

// unknown fails because of the event's exinfo.
func (r *Reader) unknown(e *Event) {
	r.failAt(e.Offset, "exinfo", "is %d, which data version %d does not have", e.Info, r.version)
}

// stamp reads the time that an event begins with: from version 13 on all do.
func (r *Reader) stamp() {
	r.time += r.uleb("time diff")
	r.event.Time = r.time
}

// stampSince reads it if the version is at least v.
func (r *Reader) stampSince(v uint8) {
	if r.version >= v {
		r.stamp()
	} else {
		r.event.Time = r.time
	}
}

// byteOr reads a byte in versions from and to, and otherwise a uleb.
func (r *Reader) byteOr(from, to uint8, field string) uint64 {
	if r.version >= from && r.version <= to {
		return r.u8(field)
	}
	return r.uleb(field)
}

// flags reads what events of metadata and backtraces have before version 13. It must be 0:
// with other flags, other fields may follow.
func (r *Reader) flags() {
	if r.version >= 13 {
		return
	}
	off := r.offset()
	if v := r.uleb("flags"); v != 0 && r.err == nil {
		r.failAt(off, "flags", "is %#x, expected 0", v)
	}
}

// count reads how many things follow, and returns it with how many of them are to be kept.
func (r *Reader) count(e *Event, field string) (n, keep uint64) {
	n = r.uleb(field)
	keep = min(n, MaxList)
	if r.err == nil {
		e.Dropped += n - keep
	}
	return n, keep
}

func (r *Reader) backtrace(e *Event) {
	r.flags()
	n, keep := r.count(e, "num")
	for i := uint64(0); i < n && r.err == nil; i++ {
		var m uint64
		if r.version >= 13 {
			m = r.methodDelta("frame")
		} else {
			m = r.ptr("frame")
		}
		if i < keep {
			e.Frames = append(e.Frames, m)
		}
	}
}

// classOr reads a class, or what stands there from version 15 on.
func (r *Reader) classOrVTable(e *Event) {
	if r.version >= 15 {
		e.VTable = r.ptr("vtable")
	} else {
		e.Class = r.ptr("class")
	}
}

func (r *Reader) alloc(e *Event) {
	e.Kind = KindAlloc
	if e.Info > exAllocBacktrace {
		r.unknown(e)
		return
	}
	r.stamp()
	r.classOrVTable(e)
	e.Object = r.obj("obj")
	e.Size = r.uleb("size")
	if e.Info == exAllocBacktrace {
		r.backtrace(e)
	}
}

func (r *Reader) gc(e *Event) {
	switch {
	case e.Info == exGCEvent:
		e.Kind = KindGCEvent
		r.stamp()
		e.Sub = r.byteOr(13, MaxVersion, "event type")
		e.Generation = r.byteOr(13, MaxVersion, "generation")
	case e.Info == exGCResize:
		e.Kind = KindGCResize
		r.stamp()
		e.Size = r.uleb("heap_size")
	case e.Info == exGCMove:
		e.Kind = KindGCMove
		r.stamp()
		r.moves(e)
	case e.Info == exHandleCreated, e.Info == exHandleCreatedBT && r.version >= 11:
		e.Kind = KindHandleCreated
		r.stamp()
		e.Sub = r.uleb("handle_type")
		e.Handle = r.uleb("handle")
		e.Object = r.obj("objaddr")
		if e.Info == exHandleCreatedBT {
			r.backtrace(e)
		}
	case e.Info == exHandleDestroyed, e.Info == exHandleDestroyedBT && r.version >= 11:
		e.Kind = KindHandleDestroyed
		r.stamp()
		e.Sub = r.uleb("handle_type")
		e.Handle = r.uleb("handle")
		if e.Info == exHandleDestroyedBT {
			r.backtrace(e)
		}
	case e.Info >= exFinalizeStart && e.Info <= exFinalizeObjectEnd && r.version >= 13:
		e.Kind = KindFinalizeStart + Kind(e.Info-exFinalizeStart)
		r.stamp()
		if e.Kind >= KindFinalizeObjectStart {
			e.Object = r.obj("object")
		}
	default:
		r.unknown(e)
	}
}

func (r *Reader) moves(e *Event) {
	off := r.offset()
	n := r.uleb("num_objects")
	if n%2 != 0 {
		r.failAt(off, "num_objects", "is %d, expected an even number", n)
		return
	}
	for i := uint64(0); i < n/2 && r.err == nil; i++ {
		m := Move{From: r.obj("objaddr"), To: r.obj("objaddr")}
		if i < MaxList {
			e.Moves = append(e.Moves, m)
		} else {
			e.Dropped++
		}
	}
}

func (r *Reader) metadata(e *Event) {
	e.Load = Load(e.Info)
	if r.version < 11 {
		e.Load &^= LoadError
	}
	if e.Load > UnloadEnd || r.version >= 11 && (e.Load == LoadStart || e.Load == UnloadStart) {
		r.unknown(e)
		return
	}
	r.stamp()
	off := r.offset()
	mtype := r.u8("mtype")
	switch {
	case r.err != nil:
		return
	case mtype >= mClass && mtype <= mThread, mtype == mContext && r.version >= 11, mtype == mVTable && r.version >= 15:
		e.Kind = KindClass + Kind(mtype-mClass)
	default:
		r.failAt(off, "mtype", "is %d, which data version %d does not have", mtype, r.version)
		return
	}
	e.Pointer = r.ptr("pointer")
	switch mtype {
	case mClass:
		e.Image = r.ptr("image")
		r.flags()
		e.Name = r.str("name")
	case mImage:
		r.flags()
		e.Name = r.str("name")
		if r.version >= 16 {
			e.MVID = r.str("mvid")
		}
	case mAssembly:
		if r.version < 11 {
			return // the document says no more, and Mono wrote none
		}
		if r.version >= 14 {
			e.Image = r.ptr("image")
		}
		r.flags()
		e.Name = r.str("name")
	case mDomain:
		if r.version < 11 {
			return
		}
		r.flags()
		if e.Load == LoadName {
			e.Name = r.str("name")
		}
	case mThread:
		r.flags()
		if e.Load == LoadName || r.version < 11 {
			e.Name = r.str("name")
		}
	case mContext:
		r.flags()
		e.Domain = r.ptr("domain")
	case mVTable:
		e.Domain = r.ptr("domain")
		e.Class = r.ptr("class")
	}
}

func (r *Reader) methodEvent(e *Event) {
	if e.Info >= exLeave && e.Info <= exExcLeave {
		e.Kind = KindLeave + Kind(e.Info-exLeave)
		r.stamp()
		e.Method = r.methodDelta("method")
		return
	}
	if e.Info != exJIT {
		r.unknown(e)
		return
	}
	e.Kind = KindJIT
	r.stamp()
	e.Method = r.methodDelta("method")
	e.Code = r.ptr("code address")
	e.Size = r.uleb("code size")
	e.Name = r.str("name")
}

func (r *Reader) exception(e *Event) {
	switch e.Info &^ Backtrace {
	case exThrow:
		e.Kind = KindThrow
		r.stamp()
		e.Object = r.obj("object")
		if e.Info&Backtrace != 0 {
			r.backtrace(e)
		}
	case exClause:
		if e.Info&Backtrace != 0 && r.version >= 14 {
			r.unknown(e)
			return
		}
		e.Kind = KindClause
		r.stamp()
		e.Sub = r.byteOr(13, MaxVersion, "clause type")
		e.Index = r.uleb("clause num")
		e.Method = r.methodDelta("method")
		if r.version >= 14 {
			e.Object = r.obj("object")
		}
	default:
		r.unknown(e)
	}
}

func (r *Reader) monitor(e *Event) {
	e.Kind = KindMonitor
	low := uint64(e.Info &^ Backtrace)
	if r.version < 14 && (low < MonitorContention || low > MonitorFail) || r.version >= 14 && low != 0 {
		r.unknown(e)
		return
	}
	r.stamp()
	e.Sub = low
	if r.version >= 14 {
		off := r.offset()
		if e.Sub = r.u8("type"); e.Sub < MonitorContention || e.Sub > MonitorFail {
			r.failAt(off, "type", "is %d, expected %d to %d", e.Sub, MonitorContention, MonitorFail)
		}
	}
	e.Object = r.obj("object")
	if e.Info&Backtrace != 0 && (r.version >= 14 || e.Sub == MonitorContention) {
		r.backtrace(e)
	}
}
