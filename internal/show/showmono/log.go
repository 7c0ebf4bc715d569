package showmono

import (
	"bytes"
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
	known  knownNames
}

// Format is the format of Mono's logs.
var Format = show.Format{
	Name: "a Mono log",
	Begins: func(head []byte) bool {
		return bytes.HasPrefix(head, []byte("\x01ZPM")) || bytes.HasPrefix(head, []byte(gzipMagic))
	},
	Show:     showLog,
	Types:    append([]string{"header"}, eventTypes...),
	Prefixes: []string{"method_", "exception_"},
}

// gzipMagic begins what gzip has packed, as it may a log.
const gzipMagic = "\x1f\x8b"

// showLog shows a log. It is read once from front to back.
func showLog(v *show.Viewer) error {
	if err := v.NoCode(monolog.FormatName); err != nil {
		return err
	}
	packed := bytes.HasPrefix(v.Head, []byte(gzipMagic))
	m := &logViewer{Viewer: v}
	v.Known = m.nameOf
	if packed && v.Opts.Hex { // offsets are those of the unpacked log
		return v.ShownBy("compressed", "with -x, unpack it: gzip -d <FILE | jitinject dump -x -")
	}
	var err error
	if m.reader, err = monolog.NewReader(io.NewSectionReader(v.File, 0, v.Size)); errors.Is(err, monolog.ErrNotMonoLog) {
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
		}
	}
}

// bufferHead is the length of a buffer's header.
const bufferHead = 48
