package monolog

import "io"

// The writer imports this package, so tests within it get its functions from those
// outside, before they run.
var (
	newWriter    func(w io.Writer, h *Header) (writer, error)
	monoVersion  func(data uint8) (major, minor uint8)
	kindVersions func(Kind) (since, until uint8)
)

type writer interface {
	Buffer(BufferHeader) error
	Event(*Event) error
	Flush() error
}

// SetWriter sets the functions that tests within the package write with.
func SetWriter[W writer](n func(io.Writer, *Header) (W, error), m func(uint8) (uint8, uint8), k func(Kind) (uint8, uint8)) {
	newWriter = func(w io.Writer, h *Header) (writer, error) { return n(w, h) }
	monoVersion, kindVersions = m, k
}
