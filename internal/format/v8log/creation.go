package v8log

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// A CodeCreation says that code is in memory.
type CodeCreation struct {
	Offset     int64
	Time       uint64 // microseconds since the isolate's log began
	Tag        []byte `show:"tag"` // "JS", "Builtin", "Eval" and others; in node 18 and earlier "LazyCompile"
	IsFunction bool   // SFI and Tier are known
	Tier       []byte `show:"tier,opt"` // "~", "^", "+", "*", and others; may be empty
	Address    uint64 `show:"code_addr,addr:Size"`
	Size       uint64 `show:"code_size"`    // of the instructions, in bytes
	SFI        uint64 `show:"sfi,addr,opt"` // address of the SharedFunctionInfo

	// Name is that of the function, as it is, followed by a space, the escaped URL, line and
	// column. Other names are escaped.
	Name       []byte `show:"name,name"`
	NameOffset int64
}

// IsOptimized reports whether the code is Maglev's or Turbofan's.
func (c *CodeCreation) IsOptimized() bool { return bytes.ContainsAny(c.Tier, "+*") }

// hasFunction reports whether code with a tag is a function's, and has SFI and tier.
func hasFunction(tag []byte) bool {
	switch string(tag) {
	case "JS", "Eval", "Script", "Function", "LazyCompile":
		return true
	}
	return false
}

func (r *Reader) codeCreation() Record {
	c := &CodeCreation{Offset: r.lineAt}
	r.tag = r.held("tag", separators, r.tag, maxKind)
	c.Tag = r.tag
	r.span("kind", separators, nil)
	c.Time = r.number("time", 10, 64)
	c.Address = r.address("address")
	c.Size = r.number("size", 10, 31)
	r.name = r.held("name", lineEnd, r.name, MaxName)
	c.NameOffset = r.fieldAt
	if c.Name = r.name; r.fault == nil && r.ended && !r.cutFunction(c) && hasFunction(c.Tag) {
		r.continueName(c)
	}
	return c
}

// cutFunction removes SFI and tier from the end of the name, if they are there.
func (r *Reader) cutFunction(c *CodeCreation) bool {
	tier := bytes.LastIndexByte(r.name, ',')
	if tier < 0 || !isTier(r.name[tier+1:]) {
		return false
	}
	sfi := bytes.LastIndexByte(r.name[:tier], ',')
	if sfi < 0 {
		return false
	}
	digits, ok := bytes.CutPrefix(r.name[sfi+1:tier], []byte("0x"))
	n, err := strconv.ParseUint(string(digits[:min(len(digits), maxNumber)]), 16, 64)
	if !ok || err != nil {
		return false
	}
	c.Name, c.SFI, c.Tier, c.IsFunction = r.name[:sfi], n, r.name[tier+1:], true
	return true
}

// isTier reports whether a field may be a tier: a few signs, and the o of loops.
func isTier(b []byte) bool {
	return len(b) <= 4 && !bytes.ContainsFunc(b, func(c rune) bool {
		isLetter := 'a' <= c|0x20 && c|0x20 <= 'z' && c != 'o'
		return c <= ' ' || c > '~' || isLetter || '0' <= c && c <= '9'
	})
}

// maxNameLines bounds the lines of a name after the first one.
const maxNameLines = 32

// continueName reads the lines with the rest of a function's name. A line that begins like a record
// may be one, after a damaged line, or may be of the name: then the source of the code follows. If
// the name has no end, only its first line is damage.
func (r *Reader) continueName(c *CodeCreation) {
	second, doubtful := r.at, false
	for range maxNameLines {
		r.name = append(r.name, '\n')
		first := len(r.name)
		whole := r.appendLine()
		doubtful = doubtful || beginsRecord(r.name[first:])
		if whole && r.cutFunction(c) && (!doubtful || r.sourceFollows(c)) {
			return
		}
		if whole && r.err != nil && r.err != io.EOF {
			r.ended = false // the next line cannot be read
			return
		}
		if !whole && r.err != nil && (r.err != io.EOF || !doubtful) {
			return // the file cannot be read, or ends in the name
		}
		if !whole {
			break
		}
	}
	r.seek(second)
	c.IsFunction, r.ended = false, true
	r.begin("SFI")
}

// appendLine appends the next line to the name. It fails if there is none, or if the name gets too
// long.
func (r *Reader) appendLine() bool {
	for r.ended = false; !r.ended; {
		part, found := r.next(lineEnd)
		if !found && len(part) == 0 {
			return false
		}
		if len(r.name)+len(part) > MaxName {
			r.ended = false
			return false
		}
		r.name = append(r.name, part...)
	}
	return true
}

// beginsRecord reports whether a line has the kind of a record.
func beginsRecord(line []byte) bool {
	kind, _, ok := bytes.Cut(line[:min(len(line), maxKind)], []byte{','})
	return ok && isKind(kind)
}

// sourceFollows reports whether the next line is the source of the code.
func (r *Reader) sourceFollows(c *CodeCreation) bool {
	want := fmt.Appendf(nil, "code-source-info,%#x,", c.Address)
	got := make([]byte, len(want))
	n, err := r.src.ReadAt(got, r.at)
	if n < len(got) && err != nil && err != io.EOF {
		r.err, r.lo = fmt.Errorf("offset %#x: %w", r.at, err), r.hi
	}
	return bytes.Equal(got[:n], want)
}
