package monolog

// decode reads an event behind its first byte.
func (r *Reader) decode(e *Event) {
	switch {
	case e.Type == TypeMetadata:
		r.metadata(e)
	case e.Type == TypeMethod:
		r.methodEvent(e)
	case e.Type == TypeRuntime && r.version >= 8:
		r.runtime(e)
	default:
		r.other(e)
	}
}

// exinfo of events of methods and of the runtime.
const (
	exLeave    = 1
	exEnter    = 2
	exExcLeave = 3
	exJIT      = 4

	exJITHelper = 1
)

// mtypes of metadata.
const (
	mClass = 1 + iota
	mImage
	mAssembly
	mDomain
	mThread
	mContext // 11 on
	mVTable  // 15 on
)

// unknown fails because of the event's exinfo.
func (r *Reader) unknown(e *Event) {
	r.failAt(e.Offset, "exinfo", "is %d, which data version %d does not have", e.Info, r.version)
}

// stamp reads the time that an event begins with: from version 13 on all do.
func (r *Reader) stamp() {
	r.time += r.uleb("time diff")
	r.event.Time = r.time
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

func (r *Reader) runtime(e *Event) {
	if e.Info != exJITHelper {
		r.unknown(e)
		return
	}
	e.Kind = KindJITHelper
	r.stamp()
	if r.version >= 13 {
		e.Helper = r.u8("type")
	} else {
		e.Helper = r.uleb("type")
	}
	if r.version < 14 {
		e.Helper-- // 0 becomes HelperUnknown
	}
	e.Code = r.ptr("buffer address")
	e.Size = r.uleb("buffer size")
	if e.Helper == HelperSpecificTrampoline {
		e.Name = r.str("name")
	}
}
