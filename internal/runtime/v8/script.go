package v8

import "github.com/jitinject/jitinject/internal/format/v8log"

// A script is a source text.
type script struct {
	url    string
	logged string     // the URL as in the log, with escapes
	text   v8log.Span // in the log
	number int32      // of the text in the dump's description, or unknown
	v8log.Placement
}

// A function is a function of a script.
type function struct {
	name   nameRef
	script int32 // index, or unknown
	start  int32 // in code units of the script
}

// A nameRef is the place of a name in the log: its offset, and in the lowest bits its length in
// bytes. Logs have less than 128 TiB.
type nameRef int64

// sizeBits are the bits of the length of a name; no name is longer.
const sizeBits = 16

func newNameRef(off int64, size int) nameRef { return nameRef(off<<sizeBits | int64(size)) }

func (n nameRef) span() v8log.Span {
	return v8log.Span{Off: int64(n >> sizeBits), Size: int64(n & (1<<sizeBits - 1))}
}

// identities are the functions at the addresses of SharedFunctionInfos, at the line that was read
// last. Functions without code were never logged.
type identities map[uint64]int32

// move moves a function. Another one that was there is gone: the collector freed it.
func (m identities) move(from, to uint64) {
	if from == to {
		return
	}
	fn, ok := m[from]
	delete(m, from)
	delete(m, to)
	if ok {
		m[to] = fn
	}
}
