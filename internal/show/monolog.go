package show

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/wire"
)

// A monoViewer walks a log of Mono's profiler.
type monoViewer struct {
	*viewer
	reader *monolog.Reader
	header *monolog.Header
	raw    *window // with -x
	known  monoNames
}

// showMono shows a log. It is read once from front to back, so one from a pipe will do.
func showMono(v *viewer) error {
	var src io.Reader = v.pipe
	if v.file != nil {
		src = io.NewSectionReader(v.file, 0, v.size)
	}
	packed := v.magic == gzipMagic
	m := &monoViewer{viewer: v}
	if v.opts.Hex {
		if packed { // offsets and bytes are of what was packed
			z, err := gzip.NewReader(src)
			if err != nil {
				return fmt.Errorf("it begins as a gzip file: %w", err)
			}
			src = z
		}
		m.raw = &window{src: src}
		src = m.raw
	}
	var err error
	if m.reader, err = monolog.NewReader(src); errors.Is(err, monolog.ErrNotMonoLog) {
		if packed {
			return fmt.Errorf("%w: it is a gzip file, but of no Mono log", ErrUnknown)
		}
		return err
	} else if err != nil {
		return err
	}
	m.header = m.reader.Header()
	v.begun(monolog.FormatName)
	if packed {
		v.out.word("compression", "gzip")
	}
	v.out.end()
	if v.opts.Stats {
		if v.opts.Filter.pid(m.header.PID) {
			m.stats()
		}
		return nil
	}
	if f := &v.opts.Filter; f.typed("header") && !f.picky() {
		m.showHeader()
	}
	if v.opts.Filter.pid(m.header.PID) {
		m.buffers()
	}
	return nil
}

func (m *monoViewer) showHeader() {
	h, o := m.header, m.out
	o.begin(item{offset: 0, typ: "header", size: h.Size})
	o.word("version", fmt.Sprintf("%d.%d", h.Major, h.Minor))
	o.num("data_version", uint64(h.Version))
	o.num("ptr_size", uint64(h.PtrSize))
	if h.Startup != 0 {
		o.num("startup_ms", h.Startup)
		if at := time.UnixMilli(int64(h.Startup)).UTC(); at.Year() < 10000 && int64(h.Startup) > 0 {
			o.word("startup", at.Format("2006-01-02T15:04:05.000Z"))
		}
	}
	if h.StartupTime != 0 {
		o.time("startup_time", h.StartupTime)
	}
	o.num("timer_overhead", uint64(h.TimerOverhead))
	o.hex("flags", uint64(h.Flags))
	o.num("pid", uint64(h.PID))
	o.num("port", uint64(h.Port))
	if h.Major == 0 {
		o.num("sysid", uint64(h.SysID))
	} else {
		o.str("args", []byte(h.Args))
		o.str("arch", []byte(h.Arch))
		o.str("os", []byte(h.OS))
	}
	m.rawBytes(0, h.Size)
	o.end()
}

// rawBytes shows bytes of the log if that is asked for.
func (m *monoViewer) rawBytes(offset, size int64) {
	if m.raw != nil {
		m.out.data("hex", m.raw.bytes(offset, size), offset)
	}
}

// buffers walks all buffers, around those that are damaged.
func (m *monoViewer) buffers() {
	flushed, at := int64(0), m.header.Size
	for !m.lost() {
		b, err := m.reader.NextBuffer()
		if err == io.EOF {
			return
		}
		if err != nil {
			m.problem(offsetOf(err, at), err)
			continue
		}
		m.buffer(b)
		at = b.Offset + monoBufferHead
		for !m.lost() {
			e, err := m.reader.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				m.problem(offsetOf(err, at), fmt.Errorf("%w; the rest of the buffer is left out", err))
				break
			}
			m.event(e)
			at = e.Offset + e.Length
			if m.raw != nil {
				m.raw.release(at)
			}
			if at-flushed > flushEvery {
				m.out.flush()
				flushed = at
			}
		}
	}
}

// offsetOf returns where a codec's error says that it is, or else what is given.
func offsetOf(err error, at int64) int64 {
	var located *wire.Error
	if errors.As(err, &located) {
		return located.Offset
	}
	return at
}

// monoBufferHead is the length of a buffer's header.
const monoBufferHead = 48

func (m *monoViewer) buffer(b *monolog.BufferHeader) {
	f := &m.opts.Filter
	if !f.typed("buffer") || len(f.Names) > 0 || f.Address.Set || !f.time(b.Time, true) {
		return
	}
	o := m.out
	o.begin(item{offset: b.Offset, typ: "buffer", size: monoBufferHead, time: b.Time, timed: true})
	o.num("length", uint64(b.Len))
	o.hex("thread", b.Thread)
	o.hex("ptr_base", b.PtrBase)
	o.hex("obj_base", b.ObjBase)
	o.hex("method_base", b.MethodBase)
	m.rawBytes(b.Offset, monoBufferHead)
	o.end()
}

// A window reads on, and keeps what was read and is not released yet: as much as the
// decoder behind it reads ahead, and no more than maxKept.
type window struct {
	src   io.Reader
	kept  []byte
	start int64 // offset of kept
}

// Read implements io.Reader.
func (w *window) Read(p []byte) (int, error) {
	n, err := w.src.Read(p)
	if w.kept = append(w.kept, p[:n]...); len(w.kept) > maxKept {
		w.drop(len(w.kept) - maxKept/2)
	}
	return n, err
}

// maxKept bounds a window. The bytes of an event that is larger are not shown.
const maxKept = 16 << 20

func (w *window) drop(n int) {
	w.kept = w.kept[:copy(w.kept, w.kept[n:])]
	w.start += int64(n)
}

// bytes returns bytes at an offset, or nil if they are not kept.
func (w *window) bytes(offset, size int64) []byte {
	from := offset - w.start
	if from < 0 || size < 0 || from > int64(len(w.kept))-size {
		return nil
	}
	return w.kept[from : from+size]
}

// release says that nothing in front of an offset is asked for any more.
func (w *window) release(offset int64) {
	if n := offset - w.start; n > 1<<16 && n > int64(len(w.kept))/2 {
		w.drop(int(min(n, int64(len(w.kept)))))
	}
}
