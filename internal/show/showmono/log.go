package showmono

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

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

// tables say how events are printed, by their kind.
var tables = func() (list [len(monolog.Shown)]*show.Fields) {
	for kind, specs := range monolog.Shown {
		list[kind] = show.Table(monolog.Event{}, specs)
	}
	return list
}()

// event shows an event if the filter lets it through.
func (m *logViewer) event(e *monolog.Event) {
	m.known.learn(e)
	m.Record(show.Item{Offset: e.Offset, Type: typeName(e.Kind), Size: e.Length, Time: e.Time, Timed: true}, e, tables[e.Kind])
}

// nameOf returns what the log has said of a number by now, and the key of that.
func (m *logViewer) nameOf(key string, v uint64) (string, string) {
	switch key {
	case "method", "index":
		return "name", m.known.names[thing{key, v}]
	case "class":
		return "class_name", m.known.names[thing{key, v}]
	}
	if at := time.UnixMilli(int64(v)).UTC(); at.Year() < 10000 && int64(v) > 0 { // startup_ms
		return "startup", at.Format("2006-01-02T15:04:05.000Z")
	}
	return "", ""
}

// typeName is what an event is called: its kind in one word.
func typeName(k monolog.Kind) string { return strings.ReplaceAll(k.String(), " ", "_") }

// eventTypes are the types of all events.
var eventTypes = func() (names []string) {
	for k := monolog.KindAlloc; !strings.HasPrefix(k.String(), "kind "); k++ {
		names = append(names, typeName(k))
	}
	return append(names, "buffer")
}()

// A thing is what a log calls by a number: a method or class by its address.
type thing struct {
	key    string // of the field with the number
	number uint64
}

// knownNames are names that a log had before the events with their ids. The latest ones stay.
type knownNames struct {
	names map[thing]string
	bytes int
}

// maxKnown bounds names, in bytes. A full table is emptied: the log repeats names that are used often.
const maxKnown = 96 << 20

func (n *knownNames) put(key string, number uint64, name string) {
	if n.bytes += len(name) + 100; n.names == nil || n.bytes > maxKnown {
		n.names, n.bytes = make(map[thing]string), 0
	}
	n.names[thing{key, number}] = name
}

// learn takes in what an event says about names.
func (n *knownNames) learn(e *monolog.Event) {
	switch {
	case e.Kind == monolog.KindJIT:
		n.put("method", e.Method, string(e.Name))
	case e.Kind == monolog.KindClass && e.Load != monolog.UnloadEnd:
		n.put("class", e.Pointer, string(e.Name))
	}
}
