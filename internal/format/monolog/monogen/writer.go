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

// Event appends an event to the current buffer: of metadata, of a method, or of a jit helper. It writes
// what the event's Kind has in the log's version, by the table at [monolog.Event]. An error says that the
// version has no such event, or that it is of another kind; nothing is written then.
func (w *Writer) Event(e *monolog.Event) error {
	isMetadata := e.Kind >= monolog.KindClass && e.Kind <= monolog.KindVTable
	isMethod := e.Kind >= monolog.KindLeave && e.Kind <= monolog.KindJIT
	if !w.in || !isMetadata && !isMethod && e.Kind != monolog.KindJITHelper || w.version < since[e.Kind] {
		return fmt.Errorf("data version %d has no event %q, or it is not written, or is outside of a buffer", w.version, e.Kind)
	}
	first := func(typ monolog.Type, info uint8) {
		w.out.U8(uint8(typ) | info<<4)
		w.out.Uleb(e.Time - w.time)
		w.time = e.Time
	}
	switch {
	case isMetadata:
		first(monolog.TypeMetadata, uint8(e.Load))
		w.metadata(e)
	case e.Kind == monolog.KindJITHelper:
		first(monolog.TypeRuntime, 1)
		helper := e.Helper
		if w.version < 14 {
			helper++
		}
		if w.version >= 13 {
			w.out.U8(uint8(helper))
		} else {
			w.out.Uleb(helper)
		}
		w.ptr(e.Code)
		w.out.Uleb(e.Size)
		if e.Helper == monolog.HelperSpecificTrampoline {
			w.str(e.Name)
		}
	default:
		first(monolog.TypeMethod, 1+uint8(e.Kind-monolog.KindLeave))
		w.sleb(e.Method - w.method)
		w.method = e.Method
		if e.Kind == monolog.KindJIT {
			w.ptr(e.Code)
			w.out.Uleb(e.Size)
			w.str(e.Name)
		}
	}
	return nil
}

// since has the first version of kinds that not all versions have.
var since = map[monolog.Kind]uint8{monolog.KindContext: 11, monolog.KindVTable: 15, monolog.KindJITHelper: 8}

// metadata writes what follows the time.
func (w *Writer) metadata(e *monolog.Event) {
	w.out.U8(1 + uint8(e.Kind-monolog.KindClass))
	w.ptr(e.Pointer)
	isNamed := true
	switch e.Kind {
	case monolog.KindVTable:
		w.ptr(e.Domain)
		w.ptr(e.Class)
		return
	case monolog.KindAssembly, monolog.KindDomain:
		if w.version < 11 {
			return
		}
		isNamed = e.Kind == monolog.KindAssembly || e.Load == monolog.LoadName
	case monolog.KindThread:
		isNamed = w.version < 11 || e.Load == monolog.LoadName
	case monolog.KindContext:
		isNamed = false
	}
	if e.Kind == monolog.KindClass || e.Kind == monolog.KindAssembly && w.version >= 14 {
		w.ptr(e.Image)
	}
	if w.version < 13 {
		w.out.Uleb(0) // flags
	}
	if isNamed {
		w.str(e.Name)
	}
	if e.Kind == monolog.KindImage && w.version >= 16 {
		w.str(e.MVID)
	}
	if e.Kind == monolog.KindContext {
		w.ptr(e.Domain)
	}
}

func (w *Writer) sleb(v uint64) {
	if w.ptrSize == 4 {
		v = uint64(int64(int32(v)))
	}
	w.out.Sleb(int64(v))
}

func (w *Writer) ptr(v uint64) { w.sleb(v - w.base.PtrBase) }

func (w *Writer) str(s []byte) { w.out.Bytes(s); w.out.U8(0) }
