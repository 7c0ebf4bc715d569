package jitdump

import (
	"github.com/jitinject/jitinject/internal/disasm"
	"github.com/jitinject/jitinject/jitdump"
)

// A CodeReader reads the names and code of functions, and nothing else of them. Each goroutine needs
// its own.
type CodeReader struct {
	listing *listing
	window  window
	patched []byte // code without salt; see unsalted
	filled  []byte // code from a memory
}

// NewCodeReader returns a new reader of the functions' code.
func (l *listing) NewCodeReader() *CodeReader {
	return &CodeReader{listing: l, window: l.window()}
}

// Code returns the name and the code of a function, valid until the next call. It fails if the record
// cannot be read again.
func (r *CodeReader) Code(function int) (name, code []byte, err error) {
	raw, err := r.window.only(r.listing.functions[function].load.span())
	if err != nil {
		return nil, nil, err
	}
	load, err := raw.Load()
	return load.Name, r.codeOf(function, &load), err
}

// codeOf returns the code of a function's load, or from a memory.
func (r *CodeReader) codeOf(function int, load *jitdump.Load) []byte {
	i, lacks := r.listing.withoutCode[function]
	if !lacks {
		return r.unsalted(load.Code)
	}
	e := &r.listing.Events[i]
	code := r.listing.memory.Read(function, e.Addr, e.Size, r.filled)
	if code != nil {
		r.filled = code
	}
	return code
}

// Codes implements source.Coder.
func (d *Dump) Codes() func(function int) (name, code []byte, err error) {
	return d.NewCodeReader().Code
}

// Targets calls f for every direct branch that leaves the i-th function. offset is the branch
// target, counted from the function's start. Targets reads only the code, and fails if that cannot
// be read again.
func (r *Reader) Targets(i int, f func(offset int64)) error {
	_, code, err := r.code.Code(i)
	if err != nil {
		return err
	}
	disasm.Targets(r.listing.Target(), code, f)
	return nil
}
