package v8

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/jitdump"
)

// A described is a function of the dump that a log describes.
type described struct {
	index    *index
	object   int32
	distance int64 // as in pair
}

// Trees makes the lines and inlined calls of functions. Each goroutine needs its own.
type Trees struct {
	functions map[int]described

	x         *index
	own       int32 // script of the function
	late      bool  // the log began after its isolate had started
	alone     bool  // no dump has lines, too
	info      jitdump.DebugInfo2
	positions []v8log.Position
	calls     []call
	listed    map[int32]uint32 // indexes in info.Functions, by that in x.functions
	files     map[int32]uint32 // indexes in info.Files, by that in x.scripts
	faults    faults
	path      []int32 // calls from the outermost one to the current one
	since     []uint32
	chain     []int32
	ranges    []codeRange      // of all calls
	lists     [2][]byte        // positions and calls
	names     map[int32]string // of functions of x
	nameBytes int              // size of names
	named     *index           // of names
	texts     []int            // of the files
	listBytes int              // size of names in info
	err       error            // of reading a name
}

// maxCalls bounds the calls of a function. V8 inlines some hundreds at most.
const maxCalls = 1 << 18

// Tree returns the lines and inlined calls of a function of the dump with size bytes of code. info
// is valid until the next call. info is nil if no log describes the function. A problem says which
// part of it is damaged. An error says why there is none.
func (t *Trees) Tree(number int, size uint64) (info *jitdump.DebugInfo2, problem, err error) {
	d, ok := t.functions[number]
	if !ok {
		return nil, nil, nil
	}
	return t.of(d, size)
}

// of is Tree for a function that a log describes.
func (t *Trees) of(d described, size uint64) (info *jitdump.DebugInfo2, problem, err error) {
	t.x = d.index
	o := &t.x.objects[d.object]
	t.late = t.x.began[o.isolate] > 0
	if o.script == unknown {
		return nil, nil, t.x.problem(fmt.Errorf("%s at offset %#x: the log has no text of the script; %s", v8log.FormatName, o.positions.Off, t.instead()))
	}
	if err := t.read(o); err != nil {
		return nil, nil, t.x.problem(fmt.Errorf("%w; %s", err, t.instead()))
	}
	t.begin(o)
	t.cover(o, size)
	if t.err == nil && len(t.ranges) > jitdump.MaxRanges {
		t.err = fmt.Errorf("%s: code-source-info at offset %#x: inlined calls have more than %d ranges of code", v8log.FormatName, o.positions.Off, jitdump.MaxRanges)
	}
	if t.err == nil {
		t.emit()
	}
	if t.err != nil {
		return nil, nil, t.x.problem(fmt.Errorf("%w; %s", t.err, t.instead()))
	}
	return &t.info, t.problem(o), nil
}

// instead says what is used where the log has no lines.
func (t *Trees) instead() string {
	if t.alone {
		return "the function has no lines"
	}
	return "the lines of the dump are used"
}

// read reads the lists of a code object, and checks its calls. It fails if they are not as they
// were.
func (t *Trees) read(o *object) (err error) {
	t.positions, t.calls, t.faults = t.positions[:0], t.calls[:0], faults{}
	sum := uint64(0)
	for i, span := range []v8log.Span{o.positions, o.calls} {
		if t.lists[i], err = v8log.ReadSpan(t.x.src, span, v8log.MaxList, t.lists[i]); err != nil {
			return err
		}
		sum += maphash.Bytes(seed, t.lists[i])
	}
	if sum != o.sum {
		return fmt.Errorf("offset %#x: %w", o.positions.Off, errChanged)
	}
	for p, err := range v8log.Positions(t.lists[0], o.positions.Off) {
		if err != nil {
			return err
		}
		t.positions = append(t.positions, p)
	}
	byOffset := func(a, b v8log.Position) int { return cmp.Compare(a.CodeOffset, b.CodeOffset) }
	if !slices.IsSortedFunc(t.positions, byOffset) {
		sorting.Stable(t.positions, byOffset)
	}
	inlined := t.x.inlined[o.first:o.last]
	for c, err := range v8log.Calls(t.lists[1], o.calls.Off) {
		if err != nil {
			return err
		}
		if len(t.calls) == maxCalls {
			break // entries that refer to more are out of bounds
		}
		fn := int32(missing)
		switch {
		case c.Function == v8log.None: // recursion [DeoptimizationData::GetInlinedFunction of V8]
			fn = o.function
		case int(c.Function) < len(inlined):
			fn = inlined[c.Function]
		default:
			t.faults.outside++
		}
		t.calls = append(t.calls, call{function: fn, offset: c.ScriptOffset, parent: c.Parent})
	}
	for i := range t.calls {
		t.check(int32(i))
	}
	return nil
}

// maxReused bounds the entries of a table that is cleared for the next function. Clearing a larger one
// takes longer than making a new one.
const maxReused = 1024

// begin begins the description of a function.
func (t *Trees) begin(o *object) {
	n := &t.info
	n.Files, n.Names, n.Functions = n.Files[:0], n.Names[:0], n.Functions[:0]
	n.Calls, n.Ranges, n.Lines = n.Calls[:0], n.Ranges[:0], n.Lines[:0]
	if t.listed == nil || len(t.listed) > maxReused || len(t.files) > maxReused {
		t.listed, t.files = make(map[int32]uint32), make(map[int32]uint32)
	}
	clear(t.listed)
	clear(t.files)
	t.listBytes, t.err = 0, nil
	t.own = o.script
	t.list(o.function)
}

// list returns the index of a function in the description.
func (t *Trees) list(fn int32) uint32 {
	i, ok := t.listed[fn]
	if !ok {
		f := &t.x.functions[fn]
		line, column := t.x.scripts[f.script].Position(f.start)
		i = uint32(len(t.info.Functions))
		t.listed[fn] = i
		t.info.Names = append(t.info.Names, t.listName(fn))
		t.info.Functions = append(t.info.Functions, jitdump.SourceFunction{Name: i, File: t.file(f.script), Line: line, Column: column - 1})
	}
	return i
}

// file returns the index of a script's file in the description.
func (t *Trees) file(s int32) uint32 {
	i, ok := t.files[s]
	if !ok {
		i = uint32(len(t.info.Files))
		t.files[s] = i
		t.info.Files = append(t.info.Files, []byte(t.x.scripts[s].url))
	}
	return i
}

// emit writes the calls that have code, callers first.
func (t *Trees) emit() {
	children := make(map[int32][]int32)
	for i := len(t.calls) - 1; i >= 0; i-- { // the stack reverses them
		if t.calls[i].count > 0 {
			children[t.calls[i].parent] = append(children[t.calls[i].parent], int32(i))
		}
	}
	stack := slices.Clone(children[v8log.None])
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], children[i]...)
		c := &t.calls[i]
		line, column := t.callerScript(c).Position(c.offset)
		t.info.Calls = append(t.info.Calls, jitdump.InlineCall{
			Depth: uint32(c.depth), RangeCount: uint32(c.count), Function: t.list(c.function), Line: line, Column: column - 1,
		})
		for k := c.first; k != 0; k = t.ranges[k-1].next {
			t.info.Ranges = append(t.info.Ranges, t.ranges[k-1].CodeRange)
		}
	}
}

// callerScript returns the script of a call's caller. The first function is the outer one.
func (t *Trees) callerScript(c *call) *script {
	if c.parent == v8log.None {
		return &t.x.scripts[t.own]
	}
	return &t.x.scripts[t.x.functions[t.calls[c.parent].function].script]
}
