package monolog

import "strings"

// Events that no stage reads. Events have no lengths, so these are read, too, as far as their layout
// demands, and little of them is kept: the sum of the methods, and what dump shows of code.

// A layout has the fields of such an event after its first byte, each a letter:
//
//	t  the time           u  a uleb              n  a string
//	T  from version 13 on s  an sleb, or pointer m  a method
//	b  a byte             c  a uleb, how often what is in the next parentheses follows
//	B  from version 13 on, else a uleb           f  a backtrace
//	X  in versions 13 and 14, else a uleb    M, N  the event's method, its name
//	w  a whole time, which the sum lacks     i  an address of native code
//	D, V  descriptions of counters, their values
type layout struct {
	typ          Type
	info         uint8 // exinfo
	kind         Kind
	since, until uint8 // versions
	fields       string
}

var layouts = []layout{
	{TypeAlloc, 0, KindAlloc, 1, 17, "tssu"},
	{TypeAlloc, 1, KindAlloc, 1, 17, "tssuf"},

	{TypeGC, 1, KindGCEvent, 1, 17, "tBB"},
	{TypeGC, 2, KindGCResize, 1, 17, "tu"},
	{TypeGC, 3, KindGCMove, 1, 17, "tc(s)"},
	{TypeGC, 4, KindHandleCreated, 1, 17, "tuus"},
	{TypeGC, 5, KindHandleDestroyed, 1, 17, "tuu"},
	{TypeGC, 6, KindHandleCreated, 11, 17, "tuusf"},
	{TypeGC, 7, KindHandleDestroyed, 11, 17, "tuuf"},
	{TypeGC, 8, KindFinalizeStart, 13, 17, "t"},
	{TypeGC, 9, KindFinalizeEnd, 13, 17, "t"},
	{TypeGC, 10, KindFinalizeObjectStart, 13, 17, "ts"},
	{TypeGC, 11, KindFinalizeObjectEnd, 13, 17, "ts"},

	{TypeException, 0, KindThrow, 1, 17, "ts"},
	{TypeException, 8, KindThrow, 1, 17, "tsf"},
	{TypeException, 1, KindClause, 1, 13, "tBuM"},
	{TypeException, 9, KindClause, 1, 13, "tBuM"},
	{TypeException, 1, KindClause, 14, 17, "tBuMs"},

	{TypeMonitor, 1, KindMonitor, 1, 13, "ts"},
	{TypeMonitor, 2, KindMonitor, 1, 13, "ts"},
	{TypeMonitor, 3, KindMonitor, 1, 13, "ts"},
	{TypeMonitor, 9, KindMonitor, 1, 13, "tsf"},
	{TypeMonitor, 10, KindMonitor, 1, 13, "ts"},
	{TypeMonitor, 11, KindMonitor, 1, 13, "ts"},
	{TypeMonitor, 0, KindMonitor, 14, 17, "tbs"},
	{TypeMonitor, 8, KindMonitor, 14, 17, "tbsf"},

	{TypeHeap, 0, KindHeapStart, 1, 17, "t"},
	{TypeHeap, 1, KindHeapEnd, 1, 17, "t"},
	{TypeHeap, 2, KindHeapObject, 1, 1, "ssuc(s)"},
	{TypeHeap, 2, KindHeapObject, 2, 15, "Tssuc(us)"},
	{TypeHeap, 2, KindHeapObject, 16, 17, "tssubc(us)"},
	{TypeHeap, 3, KindHeapRoots, 3, 12, "cu(suu)"},
	{TypeHeap, 3, KindHeapRoots, 13, 13, "tcu(sbu)"},
	{TypeHeap, 3, KindHeapRoots, 14, 14, "tcu(suu)"},
	{TypeHeap, 3, KindHeapRoots, 15, 17, "tc(ss)"},
	{TypeHeap, 4, KindRootRegister, 15, 17, "tsubsn"},
	{TypeHeap, 5, KindRootUnregister, 15, 17, "ts"},

	{TypeSample, 0, KindSampleHit, 4, 5, "uwc(i)"},
	{TypeSample, 0, KindSampleHit, 6, 10, "uwc(i)c(mss)"},
	{TypeSample, 0, KindSampleHit, 11, 12, "uwsc(i)c(mss)"},
	{TypeSample, 0, KindSampleHit, 13, 13, "tbsc(i)c(m)"},
	{TypeSample, 0, KindSampleHit, 14, 17, "tsc(i)c(m)"},
	{TypeSample, 1, KindSymbol, 4, 17, "Tsun"},
	{TypeSample, 2, KindBinary, 4, 15, "tsuun"},
	{TypeSample, 3, KindCounterDescs, 5, 17, "TD"},
	{TypeSample, 4, KindCounters, 5, 12, "uV"},
	{TypeSample, 4, KindCounters, 13, 17, "tV"},

	{TypeCoverage, 0, KindCoverageAssembly, 10, 15, "Tnnnuuu"},
	{TypeCoverage, 1, KindCoverageMethod, 10, 15, "Tnnnnnuuu"},
	{TypeCoverage, 2, KindCoverageStatement, 10, 15, "Tuuuuu"},
	{TypeCoverage, 3, KindCoverageClass, 10, 15, "Tnnuuu"},

	{TypeMeta, 0, KindSyncPoint, 13, 17, "tb"},
	{TypeMeta, 1, KindAOTID, 16, 17, "tN"},
}

// layoutOf has, for each version and first byte, the index of a layout plus one, or 0.
var layoutOf = func() (index [MaxVersion + 1][256]uint8) {
	for i, l := range layouts {
		for v := l.since; v <= l.until; v++ {
			index[v][uint8(l.typ)|l.info<<4] = uint8(i + 1)
		}
	}
	return index
}()

// firstVersions are those of the types that not all versions have.
var firstVersions = map[Type]uint8{TypeSample: 4, TypeRuntime: 8, TypeCoverage: 10, TypeMeta: 13}

// other reads an event by its layout.
func (r *Reader) other(e *Event) {
	i := layoutOf[r.version][uint8(e.Type)|e.Info<<4]
	switch {
	case i > 0:
		l := &layouts[i-1]
		e.Kind, e.Time = l.kind, r.time
		r.fields(l.fields)
	case int(e.Type) >= len(typeNames), r.version < firstVersions[e.Type], e.Type == TypeCoverage && r.version > 15:
		r.failAt(e.Offset, "type", "is %d, which data version %d does not have", uint8(e.Type), r.version)
	default:
		r.unknown(e)
	}
}

// fields passes over the fields of a layout, or of a part of one.
func (r *Reader) fields(list string) {
	count := uint64(0)
	for ; list != "" && r.err == nil; list = list[1:] {
		switch list[0] {
		case 't':
			r.stamp()
		case 'T':
			if r.version >= 13 {
				r.stamp()
			}
		case 'w':
			r.event.Time = r.uleb("time")
		case 'b':
			r.u8("byte")
		case 'B':
			r.byteSince13(MaxVersion)
		case 'X':
			r.byteSince13(14)
		case 'u':
			r.uleb("number")
		case 's':
			r.sleb("number")
		case 'n':
			r.str("text")
		case 'N':
			r.event.Name = r.str("name")
		case 'm':
			r.methodDelta("method")
		case 'M':
			r.event.Method = r.methodDelta("method")
		case 'i':
			if ip := r.ptr("ip"); len(r.event.IPs) < MaxIPs {
				r.event.IPs = append(r.event.IPs, ip)
			}
		case 'f':
			r.flags()
			if r.version >= 13 {
				r.fields("c(m)")
			} else {
				r.fields("c(s)")
			}
		case 'c':
			count = r.uleb("count")
		case '(':
			end := strings.IndexByte(list, ')')
			for ; count > 0 && r.err == nil; count-- {
				r.fields(list[1:end])
			}
			list = list[end:]
		case 'D':
			r.counterDescs()
		case 'V':
			r.counters()
		}
	}
}

// byteSince13 passes over a byte in versions from 13 to until, and otherwise over a uleb.
func (r *Reader) byteSince13(until uint8) {
	if r.version >= 13 && r.version <= until {
		r.u8("byte")
	} else {
		r.uleb("number")
	}
}

// perfSection is the section of Windows' performance counters, whose name follows.
const perfSection = 1 << 15

func (r *Reader) counterDescs() {
	for n := r.uleb("count"); n > 0 && r.err == nil; n-- {
		if r.uleb("section") == perfSection {
			r.str("text")
		}
		r.fields("nXXXu")
	}
}

// counters passes over values, each after its counter's index and its type.
func (r *Reader) counters() {
	for r.err == nil && r.uleb("index") != 0 {
		off := r.offset()
		typ := uint64(0)
		if r.version == 13 || r.version == 14 {
			typ = r.u8("type")
		} else {
			typ = r.uleb("type")
		}
		switch typ {
		case 0, 2, 3, 7: // signed
			r.sleb("value")
		case 1, 4:
			r.uleb("value")
		case 5: // a double
			r.u64("value")
		case 6: // a string, or none
			if r.u8("null") != 0 {
				r.str("value")
			}
		default:
			r.failAt(off, "type", "is %d, expected 0 to 7", typ)
		}
	}
}
