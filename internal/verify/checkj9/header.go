package checkj9

import (
	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/verify"
)

// The header of OpenJ9's metadata: its size, where the code is; and the exception ranges behind it.

// Metadata is decoded metadata that is being checked.
type Metadata struct {
	*verify.Reporter
	At   int64 // of the metadata in the file
	Body *j9meta.Body
	Code Code

	highBits quirk           // masks with a bit that no slot has
	texts    map[string]bool // strings of methods, and whether they are text
}

// Bounds of what class files can have.
const (
	maxIndex = 65534 // of a byte code: code has at most 65535 bytes
	maxLine  = 65535
)

// A Code is where the code is, in offsets from startPC. Between the warm and the cold
// part may be other code.
type Code struct {
	Known           bool // the header makes sense
	Warm, cold, end uint64
}

// has reports whether there is code at an offset.
func (c *Code) has(offset uint64) bool {
	return offset < c.Warm || offset >= c.cold && offset < c.end
}

// ends reports whether code ends at an offset, or goes on there.
func (c *Code) ends(offset uint64) bool { return offset > 0 && c.has(offset-1) }

// place returns an offset in the file.
func (c *Metadata) place(offset int) int64 { return c.At + int64(offset) }

// address returns where in the process an offset of the metadata is.
func (c *Metadata) address(offset int) uint64 {
	a := c.Body.Base + uint64(offset)
	if c.Body.Layout.PointerSize == 4 {
		return uint64(uint32(a))
	}
	return a
}

// Check checks all there is, and reports whether the metadata says anything about code.
func (c *Metadata) Check() bool {
	h := &c.Body.Header
	if unknown := h.Flags &^ (1<<9 - 1); unknown != 0 {
		c.Violation("j9/flags", c.field(12), "flags are %#x; %#x is unknown", uint64(h.Flags), uint64(unknown))
	}
	if h.Flags&j9meta.NotInitialized != 0 {
		c.Violation("j9/uninitialized", c.field(12), "flags are %s", h.Flags)
		return false
	}
	if h.Flags&j9meta.IsStub != 0 {
		c.Violation("j9/stub", c.field(12), "flags are %s", h.Flags)
		return false
	}
	c.header()
	c.exceptions()
	c.sites()
	c.atlas()
	if c.highBits.n > 0 {
		c.Violation("j9/monitor-mask", c.highBits.at, "%s", c.highBits.String())
	}
	c.behind()
	c.gaps()
	c.padding()
	return true
}

// field returns where the nth word of the header is in the file, for the words behind
// the numbers of slots, 16 bytes with any size of pointers.
func (c *Metadata) field(word int) int64 {
	p := c.Body.Layout.PointerSize
	if word <= 10 {
		return c.place(word * p)
	}
	return c.place(10*p + 16 + (word-12)*p)
}

// header checks the struct itself.
func (c *Metadata) header() {
	h := &c.Body.Header
	switch {
	case h.StartPC == 0 || h.EndPC <= h.StartPC:
		c.Violation("j9/code", c.field(5), "startPC is %#x, endPC %#x", h.StartPC, h.EndPC)
	case h.EndPC-h.StartPC > 1<<32-1:
		c.Violation("j9/code", c.field(5), "the code from %#x to %#x is longer than offsets of 32 bits can say", h.StartPC, h.EndPC)
	case h.StartColdPC == 0 && h.EndWarmPC != h.EndPC:
		c.Violation("j9/cold", c.field(6), "endWarmPC is %#x, endPC %#x, and there is no cold code", h.EndWarmPC, h.EndPC)
	case h.StartColdPC != 0 && (h.EndWarmPC <= h.StartPC || h.StartColdPC < h.EndWarmPC || h.EndPC <= h.StartColdPC):
		c.Violation("j9/cold", c.field(6), "startPC is %#x, endWarmPC %#x, startColdPC %#x, endPC %#x", h.StartPC, h.EndWarmPC, h.StartColdPC, h.EndPC)
	default:
		c.Code = Code{Known: true, Warm: h.EndWarmPC - h.StartPC, end: h.EndPC - h.StartPC}
		if c.Code.cold = c.Code.end; h.StartColdPC != 0 {
			c.Code.cold = h.StartColdPC - h.StartPC
		}
		c.wide()
	}
	if h.CodeCacheAlloc != 0 && h.CodeCacheAlloc > h.StartPC {
		c.Violation("j9/code-cache", c.place(c.behindHotness()), "codeCacheAlloc is %#x, startPC %#x", h.CodeCacheAlloc, h.StartPC)
	}
	if h.Slots < 0 || h.ScalarTempSlots < 0 || h.ObjectTempSlots < 0 || h.TempOffset < 0 {
		c.Violation("j9/frame", c.field(10), "there are %d slots of parameters, %d scalar and %d object temps, %d pending pushes", h.Slots, h.ScalarTempSlots, h.ObjectTempSlots, h.TempOffset)
	}
}

// behindHotness returns the offset of codeCacheAlloc.
func (c *Metadata) behindHotness() int {
	if p := c.Body.Layout.PointerSize; p == 4 {
		return 14*4 + 8 + 8*4
	}
	return 192
}

// wide checks that offsets are as wide as OpenJ9 makes them for code of that length
// (RANGE_NEEDS_FOUR_BYTE_OFFSET).
func (c *Metadata) wide() {
	h := &c.Body.Header
	four, need := h.Flags&j9meta.GCMap32BitOffsets != 0, c.Code.end >= 0xffff
	switch {
	case four != need:
		bytes := 2
		if four {
			bytes = 4
		}
		c.Violation("j9/wide-offsets", c.field(12), "offsets of maps have %d bytes, the code has %d", bytes, c.Code.end)
	case four && h.ExceptionCount() > 0 && !h.WideExceptions():
		c.Violation("j9/wide-offsets", c.field(12), "offsets of maps have 4 bytes, and those of exception ranges 2")
	}
}

// exceptions checks the exception table.
func (c *Metadata) exceptions() {
	h := &c.Body.Header
	if h.ExceptionCount() > 0 && h.Flags&j9meta.IsFSDComp != 0 && !h.ExceptionBytecodes() {
		c.Violation("j9/exception-debug", c.field(12), "the exception ranges of a method that was compiled for debugging have no byte code indexes")
	}
	methods := c.handlerMethods()
	for i := range c.Body.Exceptions {
		e := &c.Body.Exceptions[i]
		start, end := uint64(e.Start), uint64(e.End)
		if c.Code.Known {
			if start > end || end > c.Code.end || start < end && !(c.Code.has(start) && c.Code.ends(end)) {
				c.Violation("j9/exception-range", c.place(e.Offset), "exception range %d is [%#x, %#x), the code is %s", i, start, end, c.extent())
			}
			if !c.Code.has(uint64(e.Handler)) {
				c.Violation("j9/exception-handler", c.place(e.Offset), "the handler of exception range %d is at %#x, the code is %s", i, e.Handler, c.extent())
			}
		}
		if h.WideExceptions() && methods != nil && !methods[e.Method] {
			c.Violation("j9/exception-method", c.place(e.Offset), "the handler of exception range %d is of method %#x, which is neither the compiled one nor inlined", i, e.Method)
		}
		if h.ExceptionBytecodes() && e.ByteCodeIndex > maxIndex {
			c.Violation("j9/exception-index", c.place(e.Offset), "the handler of exception range %d is at byte code index %d", i, e.ByteCodeIndex)
		}
	}
}

// handlerMethods returns what may stand for the method of a handler, or nil where
// anything may: that of an inlined method is unknown once its class is unloaded.
func (c *Metadata) handlerMethods() map[uint64]bool {
	minusOne := ^uint64(0) >> (64 - 8*c.Body.Layout.PointerSize)
	methods := map[uint64]bool{c.Body.Header.RAMMethod: true, minusOne: true}
	for i := range c.Body.Sites {
		method := c.Body.Sites[i].Method
		if c.Body.Layout.Unloaded(method) {
			return nil
		}
		methods[uint64(i)], methods[method] = true, true
	}
	return methods
}
