package showmono

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/show"
)

// A logViewer walks a log of Mono's profiler.
type logViewer struct {
	*show.Viewer
	reader *monolog.Reader
	header *monolog.Header
	raw    *window // with -x
	known  knownNames
}

// Format is the format of Mono's logs.
var Format = show.Format{
	Name: "a Mono log",
	Begins: func(head []byte) bool {
		return bytes.HasPrefix(head, []byte("\x01ZPM")) || bytes.HasPrefix(head, []byte(gzipMagic))
	},
	Show:     showLog,
	HasCalls: true,
	Types:    append([]string{"header"}, eventTypes...),
	Prefixes: []string{"method_", "exception_"},
}

// gzipMagic begins what gzip has packed, as it may a log.
const gzipMagic = "\x1f\x8b"

// showLog shows a log. It is read once from front to back, so one from a pipe will do.
func showLog(v *show.Viewer) error {
	if err := v.NoCode(monolog.FormatName); err != nil {
		return err
	}
	var src io.Reader = v.Pipe
	if v.File != nil {
		src = io.NewSectionReader(v.File, 0, v.Size)
	}
	packed := bytes.HasPrefix(v.Head, []byte(gzipMagic))
	m := &logViewer{Viewer: v}
	v.Known = m.nameOf
	if v.Opts.Hex {
		if packed { // offsets and bytes are of what was packed
			z, err := gzip.NewReader(src)
			if err != nil {
				return fmt.Errorf("it begins as a gzip file: %w", err)
			}
			src = z
		}
		m.raw = &window{src: src}
		v.Bytes = m.raw.bytes
		src = m.raw
	}
	var err error
	if m.reader, err = monolog.NewReader(src); errors.Is(err, monolog.ErrNotMonoLog) {
		if packed {
			return v.Unknown("it is a gzip file, but of no Mono log")
		}
		return err
	} else if err != nil {
		return err
	}
	m.header = m.reader.Header()
	v.Version = int(m.header.Version)
	v.Begun(monolog.FormatName)
	if packed {
		v.Out.Word("compression", "gzip")
	}
	v.Out.End()
	if v.Opts.Stats {
		if v.Opts.Filter.MatchesPID(m.header.PID) {
			m.stats()
		}
		return nil
	}
	m.showHeader()
	if v.OfProcess(m.header.PID) {
		m.buffers()
	}
	return nil
}

func (m *logViewer) showHeader() {
	h := m.header
	m.Summary(show.Item{Offset: 0, Type: "header", Size: h.Size}, &struct {
		Mono string `show:"version"`
		*monolog.Header
	}{fmt.Sprintf("%d.%d", h.Major, h.Minor), h})
}

// buffers walks all buffers, around those that are damaged.
func (m *logViewer) buffers() {
	at := m.header.Size
	for !m.Lost() {
		b, err := m.reader.NextBuffer()
		if err == io.EOF {
			return
		}
		if err != nil {
			m.Problem(show.OffsetOf(err, at), err)
			continue
		}
		m.Record(show.Item{Offset: b.Offset, Type: "buffer", Size: bufferHead, Time: b.Time, Timed: true}, b, nil)
		at = b.Offset + bufferHead
		for !m.Lost() {
			e, err := m.reader.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				m.Problem(show.OffsetOf(err, at), fmt.Errorf("%w; the rest of the buffer is left out", err))
				break
			}
			m.event(e)
			at = e.Offset + e.Length
			if m.raw != nil {
				m.raw.release(at)
			}
		}
	}
}

// bufferHead is the length of a buffer's header.
const bufferHead = 48

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
