package export

import (
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/tier"
)

// A firefoxCategory is a category of code.
type firefoxCategory struct {
	Name          string   `json:"name"`
	Color         string   `json:"color"`
	Subcategories []string `json:"subcategories"`
}

// firefoxCategories are the categories, by [profile.Kind]. The first grey one is the default. Each has all
// tiers: natives may be a part of an interpreter.
var firefoxCategories = []firefoxCategory{
	profile.Unknown: {"Other", "grey", firefoxTiers},
	profile.Kernel:  {"Kernel", "orange", firefoxTiers},
	profile.Native:  {"Native", "blue", firefoxTiers},
	profile.JIT:     {"JIT", "green", firefoxTiers},
}

// firefoxTiers are the subcategories of each category, by [tier.Tier]. The first must be Other.
var firefoxTiers = []string{
	tier.Unknown:     "Other",
	tier.Interpreter: "Interpreter",
	tier.Baseline:    "Baseline",
	tier.Middle:      "Middle tier",
	tier.Optimized:   "Optimized",
	tier.Stub:        "Stub",
}

// maxInlineDepth is the deepest inlined call that the profiler can note: it has a byte.
const maxInlineDepth = 255

// A firefoxFrame is a frame of a thread. The same frame may be at several depths of inlining, if a
// function is inlined into itself.
type firefoxFrame struct {
	frame  int32 // index in the profile
	depth  int32 // 0 for the function that has the code
	symbol int32 // index in merged of the function that has the code
}

// A table has distinct values, in the order in which they were added.
type table[T comparable] struct {
	index map[T]int32
	list  []T
}

// at returns the position of a value, which is added at the end if it is new.
func (t *table[T]) at(value T) int {
	known, ok := t.index[value]
	at := int(known)
	if !ok {
		if t.index == nil {
			t.index = make(map[T]int32)
		}
		at = len(t.list)
		t.index[value] = int32(at)
		t.list = append(t.list, value)
	}
	return at
}

// reset empties the table and keeps its memory.
func (t *table[T]) reset() {
	clear(t.index)
	t.list = t.list[:0]
}

// localTables have what the samples of one thread need.
type localTables struct {
	stacks     map[int32]int32 // stack in the profile: position
	stackFrame []int32         // position of the frame
	prefix     []int32         // position of the caller, -1 for none
	frames     table[firefoxFrame]
	functions  table[int]   // of indices in merged
	resources  table[int32] // of libraries
	natives    table[int32] // of indices in merged
	path       []int        // a buffer
}

func newLocalTables(p *profile.Profile) localTables {
	return localTables{stacks: make(map[int32]int32, len(p.Stacks))}
}

// reset empties the tables and keeps their memory.
func (t *localTables) reset() {
	clear(t.stacks)
	t.stackFrame, t.prefix = t.stackFrame[:0], t.prefix[:0]
	t.frames.reset()
	t.functions.reset()
	t.resources.reset()
	t.natives.reset()
}

// addStack returns the position of a stack in the thread's table. Callers are added before.
func (f *firefoxWriter) addStack(stack int) int {
	t := &f.local
	t.path = t.path[:0]
	for ; stack >= 0; stack = f.p.Stacks[stack].Caller {
		if _, known := t.stacks[int32(stack)]; known {
			break
		}
		t.path = append(t.path, stack)
	}
	at := -1
	if stack >= 0 {
		at = int(t.stacks[int32(stack)])
	}
	for i := len(t.path) - 1; i >= 0; i-- {
		s := f.p.Stacks[t.path[i]]
		frame := firefoxFrame{frame: int32(s.Frame), symbol: int32(f.merged.Of[f.p.Frames[s.Frame].Function])}
		if f.p.Frames[s.Frame].Inlined && at >= 0 {
			caller := t.frames.list[t.stackFrame[at]]
			frame.depth, frame.symbol = min(caller.depth+1, maxInlineDepth), caller.symbol
		}
		t.stackFrame = append(t.stackFrame, int32(t.frames.at(frame)))
		t.prefix = append(t.prefix, int32(at))
		at = len(t.prefix) - 1
		t.stacks[int32(t.path[i])] = int32(at)
	}
	return at
}

// addTables adds the tables of a thread to its object. Each table adds to those below it, so their order
// matters.
func (f *firefoxWriter) addTables(thread object) {
	t := &f.local
	thread["stackTable"] = object{"frame": nullable(t.stackFrame), "prefix": nullable(t.prefix), "length": len(t.prefix)}
	thread["frameTable"] = f.frameTable()
	thread["funcTable"] = f.funcTable()
	thread["resourceTable"] = f.resourceTable()
	thread["nativeSymbols"] = f.nativeSymbols()
}

// frameTable returns frames without addresses: these would count from the beginning of an object in
// memory, which is unknown.
func (f *firefoxWriter) frameTable() object {
	t, list := &f.local, f.local.frames.list
	frame := func(x firefoxFrame) *profile.Frame { return &f.p.Frames[x.frame] }
	function := func(x firefoxFrame) *profile.Function { return &f.p.Functions[frame(x).Function] }
	return object{
		"address":     slices.Repeat([]int32{-1}, len(list)),
		"inlineDepth": mapped(list, func(x firefoxFrame) int32 { return x.depth }),
		"category":    mapped(list, func(x firefoxFrame) int32 { return int32(function(x).Kind) }),
		"subcategory": mapped(list, func(x firefoxFrame) int32 { return int32(function(x).Tier) }),
		"func":        mapped(list, func(x firefoxFrame) int32 { return int32(t.functions.at(f.merged.Of[frame(x).Function])) }),
		"nativeSymbol": nullable(mapped(list, func(x firefoxFrame) int32 {
			if f.symbol(int(x.symbol)).KnownObject() == "" {
				return -1
			}
			return int32(t.natives.at(x.symbol))
		})),
		"innerWindowID": make([]int32, len(list)),
		"line":          nullable(mapped(list, func(x firefoxFrame) int32 { return lineOrNull(frame(x).Line) })),
		"column":        nullable(slices.Repeat([]int32{-1}, len(list))),
		"length":        len(list),
	}
}

func (f *firefoxWriter) symbol(merged int) *profile.Function {
	return &f.p.Functions[f.merged.First[merged]]
}

// lineOrNull is a line, or -1 if it is unknown.
func lineOrNull(line int) int32 {
	if line <= 0 || line > math.MaxInt32 {
		return -1
	}
	return int32(line)
}

func (f *firefoxWriter) funcTable() object {
	list := mapped(f.local.functions.list, f.symbol)
	return object{
		"name":          mapped(list, func(x *profile.Function) int { return f.strings.at(functionName(x)) }),
		"isJS":          make([]bool, len(list)),
		"relevantForJS": make([]bool, len(list)),
		"resource": mapped(list, func(x *profile.Function) int {
			if object, ok := f.libraries.index[x.KnownObject()]; ok {
				return f.local.resources.at(object)
			}
			return -1 // the format's sign for none
		}),
		"fileName": nullable(mapped(list, func(x *profile.Function) int32 {
			if x.File == "" {
				return -1
			}
			return int32(f.strings.at(x.File))
		})),
		"lineNumber":   nullable(mapped(list, func(x *profile.Function) int32 { return lineOrNull(x.Line) })),
		"columnNumber": nullable(slices.Repeat([]int32{-1}, len(list))),
		"length":       len(list),
	}
}

func (f *firefoxWriter) resourceTable() object {
	const library = 1 // the type of a resource
	list := f.local.resources.list
	return object{
		"lib":    nullable(list),
		"name":   mapped(list, func(at int32) int { return f.strings.at(objectName(f.libraries.list[at])) }),
		"host":   nullable(slices.Repeat([]int32{-1}, len(list))),
		"type":   slices.Repeat([]int{library}, len(list)),
		"length": len(list),
	}
}

// nativeSymbols returns the functions that have code. With the depth of a frame, they say into what
// it is inlined. Their addresses are unknown: numbers keep them apart.
func (f *firefoxWriter) nativeSymbols() object {
	list := f.local.natives.list
	return object{
		"libIndex":     mapped(list, func(at int32) int32 { return f.libraries.index[f.symbol(int(at)).Object] }),
		"address":      nullable(list),
		"name":         mapped(list, func(at int32) int { return f.strings.at(functionName(f.symbol(int(at)))) }),
		"functionSize": nullable(slices.Repeat([]int32{-1}, len(list))),
		"length":       len(list),
	}
}
