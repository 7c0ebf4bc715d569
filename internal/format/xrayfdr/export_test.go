package xrayfdr

import "io"

// The writer imports this package, so tests within it get its functions from those
// outside, before they run.
var newWriter func(dst io.Writer, h *Header) (writer, error)

type writer interface {
	Begin(*Block) error
	CPU(cpu uint16, tsc uint64) error
	Function(kind Kind, id uint32, tsc uint64) error
	Argument(v uint64) error
	CustomEvent(tsc uint64, payload []byte) error
	TypedEvent(typ uint16, tsc uint64, payload []byte) error
	Record(*Record) error
	End() error
}

// SetWriter sets the function that makes writers for tests within the package.
func SetWriter[W writer](n func(io.Writer, *Header) (W, error)) {
	newWriter = func(w io.Writer, h *Header) (writer, error) { return n(w, h) }
}
