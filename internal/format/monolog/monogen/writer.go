package monogen

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/wire"
)

// A Writer writes logs of any version, as Mono would.
type Writer struct {
	w       io.Writer
	version uint8
	ptrSize uint8
	out     wire.Buffer // the current buffer with its header
	base    monolog.BufferHeader
	in      bool
	time    uint64
	method  uint64
}

// NewWriter writes a header and returns a writer for what follows. Size of h does not matter.
func NewWriter(w io.Writer, h *monolog.Header) (*Writer, error) {
	if h.Version < monolog.MinVersion || h.Version > monolog.MaxVersion || h.PtrSize != 4 && h.PtrSize != 8 {
		return nil, fmt.Errorf("there is no version %d with pointers of %d bytes", h.Version, h.PtrSize)
	}
	var b wire.Buffer
	b.U32(0x4D505A01)
	b.Bytes([]byte{h.Major, h.Minor, h.Version, h.PtrSize})
	b.U64(h.Startup)
	if h.Major >= 3 {
		b.U64(h.StartupTime)
	}
	b.U32(h.TimerOverhead)
	b.U32(h.Flags)
	b.U32(h.PID)
	b.U16(h.Port)
	if h.Major == 0 {
		b.U16(h.SysID)
	} else {
		for _, s := range []string{h.Args, h.Arch, h.OS} {
			b.Prefixed32(func() { b.CString(s) })
		}
	}
	_, err := w.Write(b.Data)
	return &Writer{w: w, version: h.Version, ptrSize: h.PtrSize}, err
}

// MonoVersion returns the version of a profiler that wrote a data version, or, of
// 12, 15 and 16, one that may have: they decide how the header looks.
func MonoVersion(data uint8) (major, minor uint8) {
	switch {
	case data == 1:
		return 0, 1
	case data <= 11:
		return 0, 4
	case data <= 13:
		return 1, 0
	case data <= 14:
		return 2, 0
	}
	return 3, 0
}

// Buffer writes the buffer before, if there is one, and begins another with the bases of h.
func (w *Writer) Buffer(h monolog.BufferHeader) error {
	err := w.Flush()
	w.base, w.time, w.method, w.in = h, h.Time, h.MethodBase, true
	w.out.Reset(binary.LittleEndian)
	w.out.U32(0x4D504C01)
	w.out.U32(0)
	for _, v := range []uint64{h.Time, h.PtrBase, h.ObjBase, h.Thread, h.MethodBase} {
		w.out.U64(v)
	}
	return err
}

// Flush writes the current buffer and ends it. It comes last.
func (w *Writer) Flush() error {
	if !w.in {
		return nil
	}
	w.in = false
	binary.LittleEndian.PutUint32(w.out.Data[4:], uint32(w.out.Len()-48))
	_, err := w.w.Write(w.out.Data)
	return err
}

// Raw appends bytes to the current buffer as they are.
func (w *Writer) Raw(p []byte) { w.out.Bytes(p) }

// Event appends an event to the current buffer. It writes what the event's Kind has in the
// log's version, by the table at [monolog.Event]. Metadata take what happens from Load. A
// backtrace is written if there are Frames, or if Info, as the reader sets it, says that
// there is an empty one. Offset, Length and Type do not matter. An error says that the
// version has no such event; nothing is written then.
func (w *Writer) Event(e *monolog.Event) error {
	if since, until := Versions(e.Kind); !w.in || w.version < since || w.version > until {
		return fmt.Errorf("data version %d has no event %q, or none outside of a buffer", w.version, e.Kind)
	}
	l := &layouts[e.Kind]
	info, backtrace, err := w.info(e, l)
	if err != nil {
		return err
	}
	w.out.U8(uint8(l.typ) | info<<4)
	if !l.untimed || w.version >= 13 {
		w.out.Uleb(e.Time - w.time)
		w.time = e.Time
	}
	for _, f := range l.fields {
		if w.version >= f.since && w.version <= f.until {
			f.write(w, e)
		}
	}
	if backtrace {
		w.backtrace(e)
	}
	return nil
}

// info returns the upper half of an event's first byte, and whether frames follow its fields.
func (w *Writer) info(e *monolog.Event, l *layout) (info uint8, backtrace bool, err error) {
	switch l.typ {
	case monolog.TypeMetadata:
		if info = uint8(e.Load); w.version < 11 {
			info |= e.Info & monolog.LoadError
		}
		return info, false, nil
	case monolog.TypeAlloc:
		if e.Info == 1 || len(e.Frames) > 0 {
			return 1, true, nil
		}
	case monolog.TypeGC:
		if created := e.Kind == monolog.KindHandleCreated; created || e.Kind == monolog.KindHandleDestroyed {
			if backtrace = e.Info >= 6 || len(e.Frames) > 0; backtrace && w.version < 11 {
				return 0, false, fmt.Errorf("data version %d has no backtraces of %q", w.version, e.Kind)
			} else if backtrace {
				return l.info + 2, true, nil
			}
		}
	case monolog.TypeException, monolog.TypeMonitor:
		if info = e.Info & monolog.Backtrace; len(e.Frames) > 0 {
			info = monolog.Backtrace
		}
		backtrace = info != 0 && e.Kind != monolog.KindClause
		if e.Kind == monolog.KindMonitor && w.version < 14 {
			return uint8(e.Sub) | info, backtrace && e.Sub == monolog.MonitorContention, nil
		}
		return l.info | info, backtrace, nil
	}
	return l.info, false, nil
}

// Versions returns the first and the last version that have a kind.
func Versions(k monolog.Kind) (since, until uint8) {
	if int(k) >= len(layouts) {
		return 1, 0
	}
	return layouts[k].since, layouts[k].until
}

func (w *Writer) sleb(v uint64) {
	if w.ptrSize == 4 {
		v = uint64(int64(int32(v)))
	}
	w.out.Sleb(int64(v))
}

func (w *Writer) ptr(v uint64) { w.sleb(v - w.base.PtrBase) }

func (w *Writer) obj(v uint64) {
	half := v >> 3
	if w.ptrSize == 8 {
		half = uint64(int64(v) >> 3) // whichever: what was shifted out does not come back
	}
	w.sleb(half - w.base.ObjBase)
}

func (w *Writer) methodDelta(v uint64) {
	w.sleb(v - w.method)
	w.method = v
}

// byteOr writes a byte in versions from and to, and otherwise a uleb.
func (w *Writer) byteOr(from, to uint8, v uint64) {
	if w.version >= from && w.version <= to {
		w.out.U8(uint8(v))
	} else {
		w.out.Uleb(v)
	}
}

func (w *Writer) str(s []byte) { w.out.Bytes(s); w.out.U8(0) }

func (w *Writer) backtrace(e *monolog.Event) {
	if w.version < 13 {
		w.out.Uleb(0)
	}
	w.out.Uleb(uint64(len(e.Frames)))
	for _, m := range e.Frames {
		if w.version >= 13 {
			w.methodDelta(m)
		} else {
			w.ptr(m)
		}
	}
}
