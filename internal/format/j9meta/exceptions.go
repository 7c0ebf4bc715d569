package j9meta

import "github.com/jitinject/jitinject/internal/wire"

// An Exception is an entry of the exception table: where code in a range throws
// something that the entry catches, execution goes on at its handler. The first
// entry that fits counts.
type Exception struct {
	Offset  int    `show:"offset,offset"` // of the entry in the blob
	Start   uint32 `show:"startPC,hex"`   // offsets from startPC; the range is half open
	End     uint32 `show:"endPC,hex"`
	Handler uint32 `show:"handlerPC,hex"`
	// CatchType is an index of the method's constant pool; 0 catches all. All ones are no handler of
	// the program, but where on-stack replacement leaves the compiled code.
	CatchType uint32 `show:"catchType,names:any"`
	// Method is a J9Method: CatchType is an index of its constant pool. Bodies that
	// were compiled ahead of time or by a JITServer have the index of an inlined
	// site in its place, -1 for the method itself. Only wide entries have it.
	Method uint64 `show:"ramMethod,hex,known,since:1"`
	// ByteCodeIndex is that of the handler. Only entries of full speed debug have
	// it, see Header.ExceptionBytecodes.
	ByteCodeIndex uint32 `show:"byteCodeIndex,opt"`
}

// exceptionSize is the size of an entry of the exception table in bytes.
func (l Layout) exceptionSize(h *Header) int {
	n := 8
	if h.WideExceptions() {
		n = 16 + l.PointerSize
	}
	if h.ExceptionBytecodes() {
		n += 4
	}
	return n
}

// exceptionsSize is the size of the exception table.
func (l Layout) exceptionsSize(h *Header) int { return h.ExceptionCount() * l.exceptionSize(h) }

// exceptions reads the table; c has all of it.
func (d *decoder) exceptions(c *wire.Cursor) []Exception {
	h := &d.body.Header
	list := make([]Exception, h.ExceptionCount())
	for i := range list {
		e := &list[i]
		e.Offset = int(c.Offset())
		if h.WideExceptions() {
			e.Start = c.U32("instruction start PC offset")
			e.End = c.U32("instruction end PC offset")
			e.Handler = c.U32("instruction handler PC offset")
			e.CatchType = c.U32("catch type")
			e.Method = d.pointer(c, "J9Method")
		} else {
			e.Start = uint32(c.U16("instruction start PC offset"))
			e.End = uint32(c.U16("instruction end PC offset"))
			e.Handler = uint32(c.U16("instruction handler PC offset"))
			e.CatchType = uint32(c.U16("catch type"))
		}
		if h.ExceptionBytecodes() {
			e.ByteCodeIndex = c.U32("BC index")
		}
	}
	return list
}
