package showmono

import (
	"strings"

	"github.com/jitinject/jitinject/internal/format/monolog"
)

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

// knownNames are the names that a log has told of, so that events can have them. Those told of last
// stay.
type knownNames struct {
	names map[thing]string
	bytes int
}

// maxKnown bounds names, in bytes. A full table is given up: what is used most is told of again soon.
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
