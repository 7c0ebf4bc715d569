package jitdump

import (
	"bytes"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// A DebugInfo2 is a SAMPLY_JIT_CODE_DEBUG_INFO2: source lines and the tree of inlined calls of the
// function of the next Load. See docs/formats/jitdump-extensions.txt for the layout and its rules.
//
// Decoding only separates the lists. [DebugInfo2.CheckTree] and [DebugInfo2.CheckLines] check their
// contents.
type DebugInfo2 struct {
	Files     [][]byte         `show:"files,len"` // names of source files, without NUL
	Names     [][]byte         // of functions
	Functions []SourceFunction `show:"functions,len"`
	Calls     []InlineCall     `show:"calls,len"` // in depth-first order of the tree
	Ranges    []CodeRange      // the ranges of the first call, then those of the second, and so on
	Lines     []SourceLine     `show:"lines,len"`
	Extra     []byte           `show:"extra,extra"` // after the last field: usually empty, or zeros

	at    listOffsets
	stack []CodeRange // reused memory of CheckTree
	byLow []leveledRange
	ends  []int
}

// NoColumn is the value of an unknown column. Columns count from 0.
const NoColumn = math.MaxUint32

// MaxDepth is the maximum depth of an inlined call, and MaxRanges the maximum number of ranges of
// all calls of a function.
const (
	MaxDepth  = 255
	MaxRanges = 1 << 20
)

// A SourceFunction is a function of the program's source: the outer one, which is the first of the
// list, or one that was inlined into it.
type SourceFunction struct {
	Name, File   uint32 // indexes into Names and Files
	Line, Column uint32 // of its start
	Flags        FunctionFlags
}

// FunctionFlags are properties of a function. The lowest bit means that it comes from the user's
// program. In the first function, the highest eight bits are the Tier that compiled it.
type FunctionFlags uint32

// UserFunction marks functions that are not part of the runtime.
const UserFunction FunctionFlags = 1

// TierFlags returns the flags of an outer function that was compiled by a tier.
func TierFlags(tier uint8) FunctionFlags { return FunctionFlags(tier) << 24 }

// Tier returns the number of the tier that compiled an outer function, or 0.
func (f FunctionFlags) Tier() uint8 { return uint8(f >> 24) }

// An InlineCall is an inlined call: the body of the callee replaced it.
type InlineCall struct {
	Depth        uint32 // 0 for a call by the outer function
	RangeCount   uint32 // number of the call's entries in Ranges, 1 or more
	Function     uint32 // index of the callee
	Line, Column uint32 // of the call, in the caller's file
}

// A CodeRange is a run of code bytes.
type CodeRange struct {
	Start uint32 // from the start of the function, in bytes
	Size  uint32
}

// End returns the offset after the range.
func (r CodeRange) End() uint64 { return uint64(r.Start) + uint64(r.Size) }

// A SourceLine is the source position of code from Offset up to the next line. Inside inlined calls
// it is a position in the innermost one.
type SourceLine struct {
	Offset       uint32 // from the start of the function, in bytes
	File         uint32 // index into Files
	Line, Column uint32
}

// listOffsets are the file offsets of lists, for errors.
type listOffsets struct{ functions, calls, ranges, lines int64 }

// Sizes of list elements, and of the counts before them, in bytes.
const (
	sourceFunctionSize = 5 * 4
	inlineCallSize     = 5 * 4
	codeRangeSize      = 2 * 4
	sourceLineSize     = 4 * 4
	debugInfo2Head     = 8 * 4
)

// DebugInfo2 decodes a SAMPLY_JIT_CODE_DEBUG_INFO2 body into d. It reuses the memory of d. The names
// alias the record. If a list of strings does not have the announced number of them, d has those that
// are there, and the other lists, as their places do not depend on it. Otherwise, an error leaves d
// without lines.
func (r *Raw) DebugInfo2(d *DebugInfo2) error {
	c := r.cursor()
	fileCount, fileSize := c.U32("file_count"), c.U32("file_list_size")
	nameCount, nameSize := c.U32("function_names_count"), c.U32("function_names_list_size")
	functions, calls := c.U32("function_count"), c.U32("inline_call_record_count")
	ranges, lines := c.U32("range_count"), c.U32("line_record_count")
	var files, names error
	d.Files, files = stringList(d.Files[:0], &c, "file_list", fileCount, fileSize)
	d.Names, names = stringList(d.Names[:0], &c, "function_names_list", nameCount, nameSize)
	d.Functions, d.Calls, d.Ranges, d.Lines = d.Functions[:0], d.Calls[:0], d.Ranges[:0], d.Lines[:0]

	d.at.functions = c.Offset()
	for range counted(&c, "function_list", functions, sourceFunctionSize) {
		d.Functions = append(d.Functions, SourceFunction{
			Name: c.U32("function_name_index"), File: c.U32("file_index"),
			Line: c.U32("start_line"), Column: c.U32("start_column"), Flags: FunctionFlags(c.U32("flags")),
		})
	}
	d.at.calls = c.Offset()
	for range counted(&c, "inline_call_list", calls, inlineCallSize) {
		d.Calls = append(d.Calls, InlineCall{
			Depth: c.U32("depth"), RangeCount: c.U32("range_count"), Function: c.U32("function_index"),
			Line: c.U32("call_line_number"), Column: c.U32("call_column_number"),
		})
	}
	d.at.ranges = c.Offset()
	for range counted(&c, "range_list", ranges, codeRangeSize) {
		d.Ranges = append(d.Ranges, CodeRange{Start: c.U32("start_offset"), Size: c.U32("size")})
	}
	d.at.lines = c.Offset()
	for range counted(&c, "line_record_list", lines, sourceLineSize) {
		d.Lines = append(d.Lines, SourceLine{
			Offset: c.U32("code_offset"), File: c.U32("file_index"),
			Line: c.U32("line_number"), Column: c.U32("column_number"),
		})
	}
	d.Extra = c.Rest()
	switch {
	case files != nil:
		return files
	case names != nil:
		return names
	}
	return c.Err()
}

// maxStrings bounds the strings of a list, because each costs memory, however short it is.
const maxStrings = 1 << 20

// stringList appends count strings of a list, each with its NUL. The list has size bytes; up to 3
// zeros at its end are padding. An error of c means that the record is too short for the list, the
// returned error only that the list has other strings.
func stringList(list [][]byte, c *wire.Cursor, field string, count, size uint32) ([][]byte, error) {
	at := *c
	area := c.Bytes(field, uint64(size))
	if c.Err() != nil {
		return list, nil
	}
	whole := uint32(len(area))
	if count > maxStrings {
		at.Fail(field, "of %d strings; more than %d are implausible", count, maxStrings)
		return list, at.Err()
	}
	for range count {
		end := bytes.IndexByte(area, 0)
		if end < 0 {
			at.Fail(field, "has %d strings in its %d bytes; %d are announced", len(list), whole, count)
			return list, at.Err()
		}
		list = append(list, area[:end:end])
		area = area[end+1:]
	}
	if len(area) > 3 || !allZero(area) || whole%4 != 0 {
		at.Fail(field, "of %d strings has %d bytes, %d of them after the last string; 0 to 3 zeros pad it to a multiple of 4", count, whole, len(area))
	}
	for !allZero(area) && len(list) < maxStrings { // the count is too small
		end := bytes.IndexByte(area, 0)
		if end < 0 {
			break
		}
		list = append(list, area[:end:end])
		area = area[end+1:]
	}
	return list, at.Err()
}

// counted returns count, the number of list elements, or none if the record is too short for them.
func counted(c *wire.Cursor, field string, count uint32, size int) int {
	if c.Err() == nil && uint64(count)*uint64(size) > uint64(c.Len()) {
		c.Fail(field, "of %d entries needs %d bytes, but %d bytes of the record are left", count, uint64(count)*uint64(size), c.Len())
	}
	if c.Err() != nil {
		return 0
	}
	return int(count)
}

func (d *DebugInfo2) id() RecordID { return IDDebugInfo2 }

func (d *DebugInfo2) size() int {
	return debugInfo2Head + listSize(d.Files) + listSize(d.Names) +
		sourceFunctionSize*len(d.Functions) + inlineCallSize*len(d.Calls) +
		codeRangeSize*len(d.Ranges) + sourceLineSize*len(d.Lines) + len(d.Extra)
}

func (d *DebugInfo2) append(b *wire.Buffer) {
	b.U32(uint32(len(d.Files)))
	b.U32(uint32(listSize(d.Files)))
	b.U32(uint32(len(d.Names)))
	b.U32(uint32(listSize(d.Names)))
	b.U32(uint32(len(d.Functions)))
	b.U32(uint32(len(d.Calls)))
	b.U32(uint32(len(d.Ranges)))
	b.U32(uint32(len(d.Lines)))
	appendList(b, d.Files)
	appendList(b, d.Names)
	for _, f := range d.Functions {
		b.U32(f.Name)
		b.U32(f.File)
		b.U32(f.Line)
		b.U32(f.Column)
		b.U32(uint32(f.Flags))
	}
	for _, call := range d.Calls {
		b.U32(call.Depth)
		b.U32(call.RangeCount)
		b.U32(call.Function)
		b.U32(call.Line)
		b.U32(call.Column)
	}
	for _, r := range d.Ranges {
		b.U32(r.Start)
		b.U32(r.Size)
	}
	for _, l := range d.Lines {
		b.U32(l.Offset)
		b.U32(l.File)
		b.U32(l.Line)
		b.U32(l.Column)
	}
	b.Bytes(d.Extra)
}

func listSize(list [][]byte) int {
	n := 0
	for _, s := range list {
		n += len(s) + 1
	}
	return (n + 3) &^ 3
}

func appendList(b *wire.Buffer, list [][]byte) {
	n := 0
	for _, s := range list {
		b.Bytes(s)
		b.U8(0)
		n += len(s) + 1
	}
	b.Zeros(-n & 3)
}
