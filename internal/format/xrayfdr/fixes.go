package xrayfdr

import "fmt"

// A Fix is a way in which a file differs from a sound one, and which the reader sets right.
type Fix uint8

const (
	// CutRecord: a block with an incomplete last record, as its extents are too
	// small.
	CutRecord Fix = iota
	// TypedExtents: a block with extents that do not count the markers of its typed
	// events (LLVM 14), so that its last 16 bytes for each are not in the file. It
	// is noticed where that cuts a record, and believed of all later blocks with
	// typed events. See Reader.Missing.
	TypedExtents
	// CutFile: the file ends inside a block.
	CutFile
	// WrongExtents: a block that ends before its extents say so, as the next one
	// begins there.
	WrongExtents
	// Searched: a block was found by searching, as it did not begin where the one
	// before it ends.
	Searched

	numFixes
)

var fixNames = [numFixes]string{
	"record cut by the buffer's end", "buffer extents without the markers of typed events", "file ends inside a buffer",
	"wrong buffer extents", "buffer found by searching",
}

// String returns a short name in plain words.
func (r Fix) String() string {
	if int(r) < len(fixNames) {
		return fixNames[r]
	}
	return fmt.Sprintf("Fix(%d)", uint8(r))
}

// Fixes counts fixes, indexed by Fix.
type Fixes [numFixes]uint64
