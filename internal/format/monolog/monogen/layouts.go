package monogen

import (
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/format/monolog"
)

// A layout is how events of a kind are written.
type layout struct {
	since, until uint8 // the versions that have it
	typ          monolog.Type
	info         uint8
	untimed      bool // before version 13 it has no time
	fields       []field
}

// A field is one of an event, in some versions.
type field struct {
	since, until uint8
	write        func(*Writer, *monolog.Event)
}

var layouts = [...]layout{
	monolog.KindNone:  {since: 1},
	monolog.KindAlloc: all(monolog.TypeAlloc, 0, "class obj size"),

	monolog.KindGCEvent:             all(monolog.TypeGC, 1, "sub13 generation13"),
	monolog.KindGCResize:            all(monolog.TypeGC, 2, "size"),
	monolog.KindGCMove:              all(monolog.TypeGC, 3, "moves"),
	monolog.KindHandleCreated:       all(monolog.TypeGC, 4, "sub handle obj"),
	monolog.KindHandleDestroyed:     all(monolog.TypeGC, 5, "sub handle"),
	monolog.KindFinalizeStart:       some(13, 17, monolog.TypeGC, 8, ""),
	monolog.KindFinalizeEnd:         some(13, 17, monolog.TypeGC, 9, ""),
	monolog.KindFinalizeObjectStart: some(13, 17, monolog.TypeGC, 10, "obj"),
	monolog.KindFinalizeObjectEnd:   some(13, 17, monolog.TypeGC, 11, "obj"),

	monolog.KindClass:    all(monolog.TypeMetadata, 0, "mtype ptr image flags name"),
	monolog.KindImage:    all(monolog.TypeMetadata, 0, "mtype ptr flags name mvid:16-17"),
	monolog.KindAssembly: all(monolog.TypeMetadata, 0, "mtype ptr image:14-17 flags:11-17 name:11-17"),
	monolog.KindDomain:   all(monolog.TypeMetadata, 0, "mtype ptr flags:11-17 named:11-17"),
	monolog.KindThread:   all(monolog.TypeMetadata, 0, "mtype ptr flags name:1-10 named:11-17"),
	monolog.KindContext:  some(11, 17, monolog.TypeMetadata, 0, "mtype ptr flags domain"),
	monolog.KindVTable:   some(15, 17, monolog.TypeMetadata, 0, "mtype ptr domain klass"),

	monolog.KindLeave:    all(monolog.TypeMethod, 1, "method"),
	monolog.KindEnter:    all(monolog.TypeMethod, 2, "method"),
	monolog.KindExcLeave: all(monolog.TypeMethod, 3, "method"),
	monolog.KindJIT:      all(monolog.TypeMethod, 4, "method code size name"),

	monolog.KindThrow:   all(monolog.TypeException, 0, "obj"),
	monolog.KindClause:  all(monolog.TypeException, 1, "sub13 index method obj:14-17"),
	monolog.KindMonitor: all(monolog.TypeMonitor, 0, "byte:14-17 obj"),

	monolog.KindHeapStart:      all(monolog.TypeHeap, 0, ""),
	monolog.KindHeapEnd:        all(monolog.TypeHeap, 1, ""),
	monolog.KindHeapObject:     untimed(1, 17, monolog.TypeHeap, 2, "obj class size generation:16-17 refs"),
	monolog.KindHeapRoots:      untimed(3, 17, monolog.TypeHeap, 3, "roots"),
	monolog.KindRootRegister:   some(15, 17, monolog.TypeHeap, 4, "ptr size byte key name"),
	monolog.KindRootUnregister: some(15, 17, monolog.TypeHeap, 5, "ptr"),

	monolog.KindSampleHit:    untimed(4, 17, monolog.TypeSample, 0, "hit"),
	monolog.KindSymbol:       untimed(4, 17, monolog.TypeSample, 1, "ptr size name"),
	monolog.KindBinary:       some(4, 15, monolog.TypeSample, 2, "address:4-13 ptr:14-15 offset size name"),
	monolog.KindCounterDescs: untimed(5, 17, monolog.TypeSample, 3, "descriptions"),
	monolog.KindCounters:     untimed(5, 17, monolog.TypeSample, 4, "elapsed:5-12 counters"),

	monolog.KindJITHelper: some(8, 17, monolog.TypeRuntime, 1, "helper code size helpername"),

	monolog.KindCoverageAssembly:  untimed(10, 15, monolog.TypeCoverage, 0, "coverage"),
	monolog.KindCoverageMethod:    untimed(10, 15, monolog.TypeCoverage, 1, "coverage"),
	monolog.KindCoverageStatement: untimed(10, 15, monolog.TypeCoverage, 2, "coverage"),
	monolog.KindCoverageClass:     untimed(10, 15, monolog.TypeCoverage, 3, "coverage"),

	monolog.KindSyncPoint: some(13, 17, monolog.TypeMeta, 0, "byte"),
	monolog.KindAOTID:     some(16, 17, monolog.TypeMeta, 1, "name"),
}

func all(typ monolog.Type, info uint8, fields string) layout { return some(1, 17, typ, info, fields) }

func untimed(since, until uint8, typ monolog.Type, info uint8, fields string) layout {
	l := some(since, until, typ, info, fields)
	l.untimed = true
	return l
}

func some(since, until uint8, typ monolog.Type, info uint8, fields string) layout {
	l := layout{since: since, until: until, typ: typ, info: info}
	for text := range strings.FieldsSeq(fields) {
		f := field{since: 1, until: 17}
		name, versions, bounded := strings.Cut(text, ":")
		if bounded {
			fmt.Sscanf(versions, "%d-%d", &f.since, &f.until)
		}
		if f.write = writers[name]; f.write == nil {
			panic("no field " + name)
		}
		l.fields = append(l.fields, f)
	}
	return l
}

// writers write fields, by their names in layouts.
var writers = map[string]func(w *Writer, e *monolog.Event){
	"mtype":   func(w *Writer, e *monolog.Event) { w.out.U8(1 + uint8(e.Kind-monolog.KindClass)) },
	"ptr":     func(w *Writer, e *monolog.Event) { w.ptr(e.Pointer) },
	"address": func(w *Writer, e *monolog.Event) { w.sleb(e.Pointer) },
	"image":   func(w *Writer, e *monolog.Event) { w.ptr(e.Image) },
	"domain":  func(w *Writer, e *monolog.Event) { w.ptr(e.Domain) },
	"klass":   func(w *Writer, e *monolog.Event) { w.ptr(e.Class) },
	"code":    func(w *Writer, e *monolog.Event) { w.ptr(e.Code) },
	"key":     func(w *Writer, e *monolog.Event) { w.ptr(e.Key) },
	"class": func(w *Writer, e *monolog.Event) {
		if w.version >= 15 {
			w.ptr(e.VTable)
		} else {
			w.ptr(e.Class)
		}
	},
	"obj":    func(w *Writer, e *monolog.Event) { w.obj(e.Object) },
	"method": func(w *Writer, e *monolog.Event) { w.methodDelta(e.Method) },

	"size":    func(w *Writer, e *monolog.Event) { w.out.Uleb(e.Size) },
	"sub":     func(w *Writer, e *monolog.Event) { w.out.Uleb(e.Sub) },
	"handle":  func(w *Writer, e *monolog.Event) { w.out.Uleb(e.Handle) },
	"index":   func(w *Writer, e *monolog.Event) { w.out.Uleb(e.Index) },
	"offset":  func(w *Writer, e *monolog.Event) { w.out.Uleb(e.FileOffset) },
	"elapsed": func(w *Writer, e *monolog.Event) { w.out.Uleb(e.Elapsed) },
	"flags": func(w *Writer, e *monolog.Event) {
		if w.version < 13 {
			w.out.Uleb(0)
		}
	},
	"sub13":        func(w *Writer, e *monolog.Event) { w.byteOr(13, 17, e.Sub) },
	"generation13": func(w *Writer, e *monolog.Event) { w.byteOr(13, 17, e.Generation) },
	"byte":         func(w *Writer, e *monolog.Event) { w.out.U8(uint8(e.Sub)) },
	"generation":   func(w *Writer, e *monolog.Event) { w.out.U8(uint8(e.Generation)) },

	"name": func(w *Writer, e *monolog.Event) { w.str(e.Name) },
	"mvid": func(w *Writer, e *monolog.Event) { w.str(e.MVID) },
	"named": func(w *Writer, e *monolog.Event) {
		if e.Load == monolog.LoadName {
			w.str(e.Name)
		}
	},
	"helper": func(w *Writer, e *monolog.Event) {
		sub := e.Sub
		if w.version < 14 {
			sub++
		}
		w.byteOr(13, 17, sub)
	},
	"helpername": func(w *Writer, e *monolog.Event) {
		if e.Sub == monolog.HelperSpecificTrampoline {
			w.str(e.Name)
		}
	},

	"moves": func(w *Writer, e *monolog.Event) {
		w.out.Uleb(2 * uint64(len(e.Moves)))
		for _, m := range e.Moves {
			w.obj(m.From)
			w.obj(m.To)
		}
	},
	"refs": func(w *Writer, e *monolog.Event) {
		w.out.Uleb(uint64(len(e.Refs)))
		var last uint64
		for _, ref := range e.Refs {
			if w.version >= 2 {
				w.out.Uleb(ref.Offset - last)
				last = ref.Offset
			}
			w.obj(ref.Object)
		}
	},
	"roots": func(w *Writer, e *monolog.Event) {
		w.out.Uleb(uint64(len(e.Roots)))
		if w.version < 15 {
			w.out.Uleb(e.Collection)
		}
		for _, root := range e.Roots {
			if w.version >= 15 {
				w.ptr(root.Address)
				w.obj(root.Object)
				continue
			}
			w.obj(root.Object)
			w.byteOr(13, 13, root.Type)
			w.out.Uleb(root.Extra)
		}
	},
	"hit": func(w *Writer, e *monolog.Event) {
		if w.version < 14 {
			w.byteOr(13, 13, e.Sub)
		}
		if w.version < 13 {
			w.out.Uleb(e.Time)
		}
		if w.version >= 11 {
			w.ptr(e.Thread)
		}
		w.out.Uleb(uint64(len(e.IPs)))
		for _, ip := range e.IPs {
			w.ptr(ip)
		}
		if w.version < 6 {
			return
		}
		w.out.Uleb(uint64(len(e.Frames)))
		for i, m := range e.Frames {
			if w.methodDelta(m); w.version >= 13 {
				continue
			}
			var off monolog.FrameOffset
			if i < len(e.FrameOffsets) {
				off = e.FrameOffsets[i]
			}
			w.out.Sleb(off.IL)
			w.out.Sleb(off.Native)
		}
	},
	"descriptions": func(w *Writer, e *monolog.Event) {
		w.out.Uleb(uint64(len(e.CounterDescs)))
		for _, d := range e.CounterDescs {
			if w.out.Uleb(d.Section); d.Section == 1<<15 {
				w.str(d.SectionName)
			}
			w.str(d.Name)
			w.byteOr(13, 14, d.Type)
			w.byteOr(13, 14, d.Unit)
			w.byteOr(13, 14, d.Variance)
			w.out.Uleb(d.Index)
		}
	},
	"counters": func(w *Writer, e *monolog.Event) {
		for _, c := range e.Counters {
			w.out.Uleb(c.Index)
			w.byteOr(13, 14, c.Type)
			switch c.Type {
			case monolog.CounterUint, monolog.CounterUlong:
				w.out.Uleb(c.Value)
			case monolog.CounterDouble:
				w.out.U64(c.Value)
			case monolog.CounterString:
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
		w.out.Uleb(0)
	},
	"coverage": func(w *Writer, e *monolog.Event) {
		n := [...]struct{ texts, numbers int }{{3, 3}, {5, 3}, {0, 5}, {2, 3}}[e.Kind-monolog.KindCoverageAssembly]
		for i := range n.texts {
			w.str(append(e.Texts, make([][]byte, n.texts)...)[i])
		}
		for i := range n.numbers {
			w.out.Uleb(append(e.Numbers, make([]uint64, n.numbers)...)[i])
		}
	},
}
