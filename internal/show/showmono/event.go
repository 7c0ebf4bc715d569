package showmono

import (
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
	}
	if at := time.UnixMilli(int64(v)).UTC(); at.Year() < 10000 && int64(v) > 0 { // startup_ms
		return "startup", at.Format("2006-01-02T15:04:05.000Z")
	}
	return "", ""
}
