package testrec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
)

// A body is the code of a real function, and where its source lines begin.
type body struct {
	code  []byte
	lines []uint64 // offsets in the code, rising
}

// realBodies returns the functions of an Erlang recording that have lines and are
// of the size that compilers make most functions: 160 to 1200 bytes, 440 on
// average. Made-up bytes would not do: who decodes instructions, or compresses,
// would be measured on something that is no code.
func realBodies() ([]body, error) {
	dir, err := os.MkdirTemp("", "jitinject-bodies-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := UnpackTo("erlang", dir); err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(dir, "jit-*.dump"))
	if err != nil || len(paths) != 1 {
		return nil, errors.Join(errors.New("the recording has no dump"), err)
	}
	dump, err := os.ReadFile(paths[0])
	if err != nil {
		return nil, err
	}
	const head, loadHead, least, most = 16, 56, 160, 1200
	le := binary.LittleEndian
	var bodies []body
	var debug []byte // the record of lines in front of the next load
	for rest := dump[40:]; len(rest) >= head && len(rest) >= int(le.Uint32(rest[4:])); rest = rest[le.Uint32(rest[4:]):] {
		rec := rest[:le.Uint32(rest[4:])]
		switch le.Uint32(rec) {
		case dumpLoad:
			addr, size := le.Uint64(rec[head+16:]), le.Uint64(rec[head+24:])
			if b := (body{code: rec[uint64(len(rec))-size:]}); debug != nil && least <= size && size <= most {
				b.lines = lineOffsets(debug, addr, size)
				bodies = append(bodies, b)
			}
			debug = nil
		case dumpDebugInfo:
			debug = rec[head:]
		}
	}
	return bodies, nil
}

// lineOffsets returns where in a function the entries of a debug record are, and
// 0, where its first line begins.
func lineOffsets(debug []byte, addr, size uint64) []uint64 {
	le := binary.LittleEndian
	offsets := []uint64{0}
	n := le.Uint64(debug[8:])
	for rest := debug[16:]; n > 0; n-- {
		off := le.Uint64(rest) - addr
		if off > offsets[len(offsets)-1] && off < size {
			offsets = append(offsets, off)
		}
		rest = rest[16+bytes.IndexByte(rest[16:], 0)+1:]
	}
	return offsets
}
