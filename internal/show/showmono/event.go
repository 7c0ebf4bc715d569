package showmono

import (
	"math"
	"time"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/show"
)

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
	case "vtable":
		return "class_name", m.known.names[thing{"class", m.known.classes[v]}]
	}
	if at := time.UnixMilli(int64(v)).UTC(); at.Year() < 10000 && int64(v) > 0 { // startup_ms
		return "startup", at.Format("2006-01-02T15:04:05.000Z")
	}
	return "", ""
}

// add writes what is no field of an event, or is one that depends on another.
func (m *logViewer) add(o show.Form, rec any) {
	switch rec := rec.(type) {
	case *monolog.Event:
		if rec.Dropped > 0 {
			o.Num("left_out", rec.Dropped)
		}
		m.frames(o, rec)
	case *monolog.Counter:
		switch rec.Type {
		case monolog.CounterUint, monolog.CounterUlong:
			o.Num("added", rec.Value)
		case monolog.CounterDouble:
			o.Word("value", show.FloatText(math.Float64frombits(rec.Value)))
		case monolog.CounterString:
			if rec.Text != nil {
				o.Str("text", rec.Text)
			}
		default:
			o.Signed("added", int64(rec.Value))
		}
	}
}

// frames writes the methods that were running, in the order of the file.
func (m *logViewer) frames(o show.Form, e *monolog.Event) {
	if len(e.Frames) == 0 {
		return
	}
	o.List("frames")
	for i, method := range e.Frames {
		o.Row()
		show.Mention(o, method, 1)
		o.At("method", method)
		if name := m.known.names[thing{"method", method}]; name != "" {
			o.Label("name", []byte(name))
		}
		if i < len(e.FrameOffsets) {
			o.Signed("il_offset", e.FrameOffsets[i].IL)
			o.Signed("native_offset", e.FrameOffsets[i].Native)
		}
	}
	o.EndList()
}
