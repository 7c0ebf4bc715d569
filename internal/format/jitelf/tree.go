package jitelf

import (
	"debug/dwarf"
	"math"
	"sort"
)

// A unit is a unit of .debug_info.
type unit struct {
	table int32 // of its lines; -1 if it has none
}

// A subprogram is an entry of a function: a concrete one with code, or an abstract one or a
// declaration that others refer to.
type subprogram struct {
	offset      dwarf.Offset
	origin      dwarf.Offset // of the entry with further attributes; 0 if there is none
	unit        int32
	name        string
	linkage     string
	file        int64 // number in the unit's line table; -1 if there is none
	line        uint32
	column      uint32
	first, last int32 // inlined calls in it, and in functions inside it: tree.calls[first:last]
}

// A call is an inlined call.
type call struct {
	subprogram  int32
	parent      int32 // index of the enclosing call; -1 if there is none
	depth       int32 // number of enclosing calls
	origin      dwarf.Offset
	file        int64 // number in the unit's line table; -1 if there is none
	line        uint32
	column      uint32
	first, last int32 // tree.ranges[first:last]
}

// A codeRange is a range of addresses. High is after the last byte.
type codeRange struct{ low, high uint64 }

// An extent is a range of the code of a concrete subprogram.
type extent struct {
	codeRange
	subprogram int32
}

// A tree has the functions and inlined calls of .debug_info, in the order of their entries.
type tree struct {
	units       []unit
	subprograms []subprogram
	calls       []call
	ranges      []codeRange
	extents     []extent // sorted by address

	stack []place
	deep  int // calls left out
}

// A place is the position of an entry in the tree.
type place struct {
	subprogram int32 // -1 outside of functions
	call       int32 // -1 outside of inlined calls
}

// maxDepth bounds the depth of inlined calls, as in jitdumps. Compilers stop far below.
const maxDepth = 255

// tagSkeleton is DW_TAG_skeleton_unit, of DWARF 5.
const tagSkeleton = dwarf.Tag(0x4a)

// Attributes that debug/dwarf does not name.
const (
	attrDwoName    = dwarf.Attr(0x76)
	attrGNUDwoName = dwarf.Attr(0x2130)
)

// addSubprogram adds an entry of a function.
func (t *tree) addSubprogram(e *dwarf.Entry, unit int32, ranges []codeRange) place {
	n := int32(len(t.subprograms))
	s := subprogram{offset: e.Offset, unit: unit, file: fileNumber(e, dwarf.AttrDeclFile), line: number32(e, dwarf.AttrDeclLine), column: number32(e, dwarf.AttrDeclColumn)}
	s.name, _ = e.Val(dwarf.AttrName).(string)
	s.linkage, _ = e.Val(dwarf.AttrLinkageName).(string)
	if s.linkage == "" {
		s.linkage, _ = e.Val(attrMIPSLinkageName).(string)
	}
	s.origin, _ = e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if s.origin == 0 {
		s.origin, _ = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
	}
	s.first = int32(len(t.calls))
	s.last = s.first
	t.subprograms = append(t.subprograms, s)
	for _, r := range ranges {
		t.extents = append(t.extents, extent{r, n})
	}
	return place{subprogram: n, call: -1}
}

// attrMIPSLinkageName is DW_AT_MIPS_linkage_name, used before DWARF 4.
const attrMIPSLinkageName = dwarf.Attr(0x2007)

// addCall adds an inlined call. Calls that are left out count for their caller.
func (t *tree) addCall(e *dwarf.Entry, at place, ranges []codeRange) place {
	if at.subprogram < 0 {
		return at
	}
	c := call{subprogram: at.subprogram, parent: at.call, file: fileNumber(e, dwarf.AttrCallFile), line: number32(e, dwarf.AttrCallLine), column: number32(e, dwarf.AttrCallColumn)}
	c.origin, _ = e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if at.call >= 0 {
		c.depth = t.calls[at.call].depth + 1
	}
	if c.depth > maxDepth {
		t.deep++
		return at
	}
	c.first = int32(len(t.ranges))
	t.ranges = append(t.ranges, ranges...)
	c.last = int32(len(t.ranges))
	n := int32(len(t.calls))
	t.calls = append(t.calls, c)
	t.subprograms[at.subprogram].last = n + 1
	return place{subprogram: at.subprogram, call: n}
}

// cover gives calls without code that of the calls inside them. gcc ends the list of ranges of a
// call at once if the call has a part without code at the start of its unit: to readers, the zeros
// there end the list. Calls that gcc optimized away have no code, and are not shown.
func (t *tree) cover(c *contents) {
	inner := make(map[int32][]codeRange) // by call
	for i := int32(len(t.calls)) - 1; i >= 0; i-- {
		x := &t.calls[i]
		if x.first == x.last {
			if len(inner[i]) == 0 {
				continue
			}
			x.first = int32(len(t.ranges))
			t.ranges = append(t.ranges, inner[i]...)
			x.last = int32(len(t.ranges))
			delete(inner, i)
		}
		if p := x.parent; p >= 0 && t.calls[p].first == t.calls[p].last {
			if c.kept -= 16 * int(x.last-x.first); c.kept < 0 {
				return
			}
			inner[p] = append(inner[p], t.ranges[x.first:x.last]...)
		}
	}
}

// fileNumber returns an attribute with the number of a file, or -1.
func fileNumber(e *dwarf.Entry, attr dwarf.Attr) int64 {
	if n, ok := e.Val(attr).(int64); ok && n >= 0 && n <= math.MaxUint32 {
		return n
	}
	return -1
}

// number32 returns an attribute with a line or column, or 0.
func number32(e *dwarf.Entry, attr dwarf.Attr) uint32 {
	if n, ok := e.Val(attr).(int64); ok && n >= 0 && n <= math.MaxUint32 {
		return uint32(n)
	}
	return 0
}

// subprogramAt returns the index of the subprogram at an offset, or -1.
func (t *tree) subprogramAt(off dwarf.Offset) int32 {
	i := sort.Search(len(t.subprograms), func(i int) bool { return t.subprograms[i].offset >= off })
	if i == len(t.subprograms) || t.subprograms[i].offset != off {
		return -1
	}
	return int32(i)
}

// subprogramFor returns the subprogram with the code at low, or else the first one that begins
// before high. It is -1 if there is none.
func (t *tree) subprogramFor(low, high uint64) int32 {
	i := sort.Search(len(t.extents), func(i int) bool { return t.extents[i].low > low })
	if i > 0 && t.extents[i-1].high > low {
		at := t.extents[i-1].low
		i = sort.Search(i, func(i int) bool { return t.extents[i].low >= at })
		return t.extents[i].subprogram
	}
	if i < len(t.extents) && t.extents[i].low < high {
		return t.extents[i].subprogram
	}
	return -1
}
