package jitdump

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/sorting"
)

// The rules of a DebugInfo2 with consistent sizes.

// CheckTree returns the first violation of the rules of functions, calls and ranges, as an *Error.
// A valid tree can be walked by depth alone:
//
//   - Each call's indexes are in bounds.
//   - A call is at most one deeper than the one before.
//   - Its ranges are inside those of the enclosing call, and inside codeSize bytes.
//   - Its ranges do not overlap those of other calls of its depth.
func (d *DebugInfo2) CheckTree(codeSize uint64) error {
	if len(d.Functions) == 0 {
		return d.fault("function_count", d.at.functions, "is 0; the first function of the list is the outer one")
	}
	for i, f := range d.Functions {
		at := d.at.functions + int64(i)*sourceFunctionSize
		if uint64(f.Name) >= uint64(len(d.Names)) {
			return d.fault("function_name_index", at, "is %d in a list of %d names", f.Name, len(d.Names))
		}
		if uint64(f.File) >= uint64(len(d.Files)) {
			return d.fault("file_index", at+4, "is %d in a list of %d files", f.File, len(d.Files))
		}
	}
	if len(d.Ranges) > MaxRanges {
		return d.fault("range_count", d.at.ranges, "is %d; more than %d are implausible", len(d.Ranges), MaxRanges)
	}
	d.stack, d.ends, d.byLow = d.stack[:0], d.ends[:0], d.byLow[:0]
	next := 0 // index into Ranges
	for i, c := range d.Calls {
		at := d.at.calls + int64(i)*inlineCallSize
		switch {
		case c.Depth > uint32(len(d.ends)):
			return d.fault("depth", at, "is %d; the call before it allows up to %d", c.Depth, len(d.ends))
		case c.Depth > MaxDepth:
			return d.fault("depth", at, "is %d; more than %d is implausible", c.Depth, MaxDepth)
		case c.RangeCount == 0:
			return d.fault("range_count", at+4, "is 0; a call covers 1 range or more")
		case uint64(c.RangeCount) > uint64(len(d.Ranges)-next):
			return d.fault("range_count", at+4, "is %d, but %d ranges are left", c.RangeCount, len(d.Ranges)-next)
		case uint64(c.Function) >= uint64(len(d.Functions)):
			return d.fault("function_index", at+8, "is %d in a list of %d functions", c.Function, len(d.Functions))
		}
		if err := d.checkRanges(c.Depth, next, next+int(c.RangeCount), codeSize); err != nil {
			return err
		}
		next += int(c.RangeCount)
	}
	if next < len(d.Ranges) {
		return d.fault("range_count", d.at.ranges+int64(next)*codeRangeSize, "of all calls is %d, but the list has %d ranges", next, len(d.Ranges))
	}
	return d.checkOverlaps()
}

// A leveledRange is a range of a call of some depth.
type leveledRange struct {
	CodeRange
	depth uint32
	index int // in Ranges
}

// checkRanges checks the ranges from first to last, of a call of a depth. It puts them on the stack
// of enclosing ranges for the next call.
func (d *DebugInfo2) checkRanges(depth uint32, first, last int, codeSize uint64) error {
	d.ends = d.ends[:depth]
	low, high := 0, 0 // bounds of the parent's ranges in d.stack
	if depth > 0 {
		high = d.ends[depth-1]
	}
	if depth > 1 {
		low = d.ends[depth-2]
	}
	d.stack = d.stack[:high]
	for i := first; i < last; i++ {
		r, at := d.Ranges[i], d.at.ranges+int64(i)*codeRangeSize
		if r.End() > codeSize {
			return d.fault("start_offset", at, "%#x and size %#x reach beyond the %#x bytes of the function", r.Start, r.Size, codeSize)
		}
		if r.Size == 0 {
			continue
		}
		if depth > 0 && !inside(d.stack[low:high], r) {
			return d.fault("start_offset", at, "%#x and size %#x are not inside the ranges of the call around it", r.Start, r.Size)
		}
		d.byLow = append(d.byLow, leveledRange{r, depth, i})
		d.stack = append(d.stack, r)
	}
	own := d.stack[high:]
	if byStart := func(a, b CodeRange) int { return cmp.Compare(a.Start, b.Start) }; !slices.IsSortedFunc(own, byStart) {
		sorting.By(own, byStart)
	}
	d.stack = d.stack[:high+joined(own)]
	d.ends = append(d.ends, len(d.stack))
	return nil
}

// joined joins adjacent ranges in sorted, and returns how many are left.
func joined(sorted []CodeRange) int {
	n := 0
	for _, r := range sorted {
		if n > 0 && sorted[n-1].End() == uint64(r.Start) {
			sorted[n-1].Size += r.Size
			continue
		}
		sorted[n] = r
		n++
	}
	return n
}

// inside reports whether one of the sorted ranges contains r.
func inside(sorted []CodeRange, r CodeRange) bool {
	behind := sort.Search(len(sorted), func(i int) bool { return sorted[i].Start > r.Start })
	return behind > 0 && r.End() <= sorted[behind-1].End()
}

// checkOverlaps returns an error if ranges of calls of one depth overlap.
func (d *DebugInfo2) checkOverlaps() error {
	sorting.By(d.byLow, func(a, b leveledRange) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Size, b.Size), cmp.Compare(a.index, b.index))
	})
	for i := 1; i < len(d.byLow); i++ {
		a, b := d.byLow[i-1], d.byLow[i]
		if a.depth == b.depth && a.End() > uint64(b.Start) {
			return d.fault("start_offset", d.at.ranges+int64(b.index)*codeRangeSize,
				"%#x is inside another range of depth %d, %#x to %#x", b.Start, a.depth, a.Start, a.End())
		}
	}
	return nil
}

// CheckLines returns an *Error for the first line that has an invalid file, or is not in the order
// of offsets.
func (d *DebugInfo2) CheckLines() error {
	for i, l := range d.Lines {
		at := d.at.lines + int64(i)*sourceLineSize
		if uint64(l.File) >= uint64(len(d.Files)) {
			return d.fault("file_index", at+4, "is %d in a list of %d files", l.File, len(d.Files))
		}
		if i > 0 && l.Offset < d.Lines[i-1].Offset {
			return d.fault("code_offset", at, "%#x is less than that of the line before, %#x", l.Offset, d.Lines[i-1].Offset)
		}
	}
	return nil
}

func (d *DebugInfo2) fault(field string, at int64, format string, args ...any) error {
	return &Error{Format: FormatName, Record: IDDebugInfo2.String(), Field: field, Offset: at, Text: fmt.Sprintf(format, args...)}
}
