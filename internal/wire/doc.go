// Package wire reads and writes fixed binary layouts.
//
// It is the bottom of the house: every format package (jitdump, perfdata, the
// writers elfgen and dwarfgen) stands on it, and it knows none of them.
//
// A [Cursor] walks bytes that came from somewhere else. Its first error sticks:
// after it every read returns a zero value. So a decoder is a straight list of
// fields in the order of the wire, with one check at the end.
//
//	c := wire.NewCursor("jitdump", "JIT_CODE_LOAD", body, order, offset)
//	load.PID = c.U32("pid")
//	load.TID = c.U32("tid")
//	...
//	if err := c.Err(); err != nil { ... }
//
// The error says the format, the record, the field and the offset in the file,
// without any work by the caller.
//
// A [Buffer] is the other direction: it appends, never seeks back, and puts the
// length in front of what a closure wrote, so that a wrong length cannot be
// expressed.
package wire
