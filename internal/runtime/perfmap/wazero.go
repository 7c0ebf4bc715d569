package perfmap

import (
	"bytes"
	"regexp"

	"github.com/jitinject/jitinject/internal/format/perfmap"
)

// wazero (internal/engine/wazevo, versions 1.7 to 1.12) has lines for parts of a function, which follow
// each other in memory:
//
//	7f00 20 [4/93].declared:::::L0
//	7f20 61 [4/93].declared:::::L6
//
// and for functions of Go, one after the other with 16 as alignment, at twice the distance from the first:
//
//	7f0000 147 trampoline:env.first
//	7f02a0 147 trampoline:env.second

// block matches the name of a part, with the function's.
var block = regexp.MustCompile(`^(\[\d+/\d+\].*):::::`)

// function returns the name of the function that a line is part of, or nil.
func function(name []byte) []byte {
	if m := block.FindSubmatch(name); m != nil {
		return m[1]
	}
	return nil
}

// A wazero mends the lines of a map, one after the other.
type wazero struct {
	function   uint64 // hash of the function that the last line is part of; 0 for none
	trampoline uint64 // address of the last line as the map has it; 0 if that is no trampoline
	size       uint64 // of that, in bytes
	end        uint64 // where the next trampoline begins
}

// joins reports whether a line continues the function that ends at an address.
func (w *wazero) joins(l *perfmap.Line, end uint64) bool {
	last := w.function
	w.function = 0
	if name := function(l.Name); name != nil {
		w.function = hash(name)
	}
	return w.function != 0 && w.function == last && l.Start == end
}

// start returns the address of a line's code. A trampoline is moved where its distance from the one before
// is twice what that needs.
func (w *wazero) start(l *perfmap.Line) uint64 {
	if !bytes.HasPrefix(l.Name, []byte("trampoline:")) {
		w.trampoline = 0
		return l.Start
	}
	const alignment = 16
	room := func(size uint64) uint64 { return (size + alignment - 1) &^ (alignment - 1) }
	start := l.Start
	if w.trampoline != 0 && l.Start-w.trampoline == 2*room(w.size) {
		start = w.end
	}
	w.trampoline, w.size, w.end = l.Start, l.Size, start+room(l.Size)
	return start
}
