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

// A nameTable has names of things that a log calls by their address. Those told of last
// stay.
type nameTable struct {
	names map[uint64]string
	bytes int
}

// Bounds of a table. A full one is given up: what is used most is told of again or soon.
const (
	maxNames     = 1 << 19
	maxNameBytes = 32 << 20
)

func (t *nameTable) put(pointer uint64, name []byte) {
	if t.names == nil || len(t.names) >= maxNames || t.bytes+len(name) > maxNameBytes {
		t.names, t.bytes = make(map[uint64]string), 0
	}
	t.bytes += len(name) - len(t.names[pointer])
	t.names[pointer] = string(name)
}

// knownNames are the names of methods and classes that a log has told of, so that events about them
// can have them.
type knownNames struct{ methods, classes nameTable }

// learn takes in what an event says about names.
func (n *knownNames) learn(e *monolog.Event) {
	switch {
	case e.Kind == monolog.KindJIT:
		n.methods.put(e.Method, e.Name)
	case e.Kind == monolog.KindClass && e.Load != monolog.UnloadEnd:
		n.classes.put(e.Pointer, e.Name)
	}
}
