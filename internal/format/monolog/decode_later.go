package monolog

func (r *Reader) heap(e *Event) {
	switch {
	case e.Info == exHeapStart, e.Info == exHeapEnd:
		e.Kind = KindHeapStart + Kind(e.Info)
		r.stamp()
	case e.Info == exHeapObject:
		r.heapObject(e)
	case e.Info == exHeapRoots && r.version >= 3:
		r.heapRoots(e)
	case e.Info == exRootRegister && r.version >= 15:
		e.Kind = KindRootRegister
		r.stamp()
		e.Pointer = r.ptr("start")
		e.Size = r.uleb("size")
		e.Sub = r.u8("source")
		e.Key = r.ptr("key")
		e.Name = r.str("desc")
	case e.Info == exRootUnregister && r.version >= 15:
		e.Kind = KindRootUnregister
		r.stamp()
		e.Pointer = r.ptr("start")
	default:
		r.unknown(e)
	}
}

func (r *Reader) heapObject(e *Event) {
	e.Kind = KindHeapObject
	r.stampSince(13)
	e.Object = r.obj("object")
	r.classOrVTable(e)
	e.Size = r.uleb("size")
	if r.version >= 16 {
		e.Generation = r.u8("generation")
	}
	n, keep := r.count(e, "num_refs")
	var ref Ref
	for i := uint64(0); i < n && r.err == nil; i++ {
		if r.version >= 2 {
			ref.Offset += r.uleb("offset")
		}
		ref.Object = r.obj("objref")
		if i < keep {
			e.Refs = append(e.Refs, ref)
		}
	}
}

func (r *Reader) heapRoots(e *Event) {
	e.Kind = KindHeapRoots
	r.stampSince(13)
	n, keep := r.count(e, "num_roots")
	if r.version < 15 {
		e.Collection = r.uleb("gc_num")
	}
	for i := uint64(0); i < n && r.err == nil; i++ {
		var root Root
		if r.version >= 15 {
			root.Address = r.ptr("address")
			root.Object = r.obj("object")
		} else {
			root.Object = r.obj("object")
			root.Type = r.byteOr(13, 13, "root_type")
			root.Extra = r.uleb("extra_info")
		}
		if i < keep {
			e.Roots = append(e.Roots, root)
		}
	}
}

func (r *Reader) sample(e *Event) {
	switch {
	case e.Info == exSampleHit:
		r.sampleHit(e)
	case e.Info == exSymbol:
		e.Kind = KindSymbol
		r.stampSince(13)
		e.Pointer = r.ptr("address")
		e.Size = r.uleb("size")
		e.Name = r.str("name")
	case e.Info == exBinary && r.version <= 15:
		e.Kind = KindBinary
		r.stamp()
		if r.version >= 14 {
			e.Pointer = r.ptr("address")
		} else {
			e.Pointer = r.sleb("address") & r.mask
		}
		e.FileOffset = r.uleb("offset")
		e.Size = r.uleb("size")
		e.Name = r.str("name")
	case e.Info == exCounterDescs && r.version >= 5:
		e.Kind = KindCounterDescs
		r.stampSince(13)
		r.counterDescs(e)
	case e.Info == exCounters && r.version >= 5:
		e.Kind = KindCounters
		r.stampSince(13)
		if r.version < 13 {
			e.Elapsed = r.uleb("timestamp")
		}
		r.counters(e)
	default:
		r.unknown(e)
	}
}

func (r *Reader) sampleHit(e *Event) {
	e.Kind = KindSampleHit
	if r.version >= 13 {
		r.stamp()
	}
	if r.version < 14 {
		e.Sub = r.byteOr(13, 13, "sample_type")
	}
	if r.version < 13 {
		e.Time = r.uleb("timestamp") // a whole time, which the sum does not count
	}
	if r.version >= 11 {
		e.Thread = r.ptr("thread")
	}
	n, keep := r.count(e, "count")
	for i := uint64(0); i < n && r.err == nil; i++ {
		ip := r.ptr("ip")
		if i < keep {
			e.IPs = append(e.IPs, ip)
		}
	}
	if r.version < 6 {
		return
	}
	n, keep = r.count(e, "mbt_count")
	for i := uint64(0); i < n && r.err == nil; i++ {
		m := r.methodDelta("method")
		var off FrameOffset
		if r.version < 13 {
			off = FrameOffset{IL: int64(r.sleb("il offset")), Native: int64(r.sleb("native offset"))}
		}
		if i >= keep {
			continue
		}
		e.Frames = append(e.Frames, m)
		if r.version < 13 {
			e.FrameOffsets = append(e.FrameOffsets, off)
		}
	}
}

func (r *Reader) counterDescs(e *Event) {
	n, keep := r.count(e, "len")
	for i := uint64(0); i < n && r.err == nil; i++ {
		var d CounterDesc
		d.Section = r.uleb("section")
		if d.Section == counterPerfSection {
			d.SectionName = r.str("section_name")
		}
		d.Name = r.str("name")
		d.Type = r.byteOr(13, 14, "type")
		d.Unit = r.byteOr(13, 14, "unit")
		d.Variance = r.byteOr(13, 14, "variance")
		d.Index = r.uleb("index")
		if i < keep {
			e.CounterDescs = append(e.CounterDescs, d)
		}
	}
}

func (r *Reader) counters(e *Event) {
	for r.err == nil {
		c := Counter{Index: r.uleb("index")}
		if c.Index == 0 {
			return
		}
		off := r.offset()
		c.Type = r.byteOr(13, 14, "type")
		switch c.Type {
		case CounterInt, CounterWord, CounterLong, CounterTimeInterval:
			c.Value = r.sleb("value")
		case CounterUint, CounterUlong:
			c.Value = r.uleb("value")
		case CounterDouble:
			c.Value = r.u64("value")
		case CounterString:
			if r.u8("null") != 0 {
				c.Text = r.str("value")
			}
		default:
			r.failAt(off, "type", "is %d, expected %d to %d", c.Type, CounterInt, CounterTimeInterval)
		}
		if len(e.Counters) < MaxList {
			e.Counters = append(e.Counters, c)
		} else {
			e.Dropped++
		}
	}
}

func (r *Reader) runtime(e *Event) {
	if e.Info != exJITHelper {
		r.unknown(e)
		return
	}
	e.Kind = KindJITHelper
	r.stamp()
	e.Sub = r.byteOr(13, MaxVersion, "type")
	if r.version < 14 {
		e.Sub-- // 0 becomes HelperUnknown
	}
	e.Code = r.ptr("buffer address")
	e.Size = r.uleb("buffer size")
	if e.Sub == HelperSpecificTrampoline {
		e.Name = r.str("name")
	}
}

// coverage: how many strings and numbers the events have, by exinfo.
var coverageFields = [...]struct{ texts, numbers int }{{3, 3}, {5, 3}, {0, 5}, {2, 3}}

func (r *Reader) coverage(e *Event) {
	if int(e.Info) >= len(coverageFields) {
		r.unknown(e)
		return
	}
	e.Kind = KindCoverageAssembly + Kind(e.Info)
	r.stampSince(13)
	for range coverageFields[e.Info].texts {
		e.Texts = append(e.Texts, r.str("text"))
	}
	for range coverageFields[e.Info].numbers {
		e.Numbers = append(e.Numbers, r.uleb("number"))
	}
}

func (r *Reader) meta(e *Event) {
	switch {
	case e.Info == exSyncPoint:
		e.Kind = KindSyncPoint
		r.stamp()
		e.Sub = r.u8("type")
	case e.Info == exAOTID && r.version >= 16:
		e.Kind = KindAOTID
		r.stamp()
		e.Name = r.str("aot id")
	default:
		r.unknown(e)
	}
}
