package export

import (
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
	frame  int // index in the profile
	depth  int // 0 for the function that has the code
	symbol int // index in merged of the function that has the code
}

// A table has distinct values, in the order in which they were added.
type table[T comparable] struct {
	index map[T]int
	list  []T
}

// at returns the position of a value, which is added at the end if it is new.
func (t *table[T]) at(value T) int {
	at, ok := t.index[value]
	if !ok {
		if t.index == nil {
			t.index = make(map[T]int)
		}
		at = len(t.list)
		t.index[value] = at
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
	stacks     map[int]int // stack in the profile: position
	stackFrame []int       // position of the frame
	prefix     []int       // position of the caller, -1 for none
	frames     table[firefoxFrame]
	functions  table[int] // of indices in merged
	resources  table[int] // of libraries
	natives    table[int] // of indices in merged
	path       []int      // a buffer
}

func newLocalTables(p *profile.Profile) localTables {
	return localTables{stacks: make(map[int]int, len(p.Stacks))}
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
		if _, known := t.stacks[stack]; known {
			break
		}
		t.path = append(t.path, stack)
	}
	at := -1
	if stack >= 0 {
		at = t.stacks[stack]
	}
	for i := len(t.path) - 1; i >= 0; i-- {
		s := f.p.Stacks[t.path[i]]
		frame := firefoxFrame{frame: s.Frame, symbol: f.merged.Of[f.p.Frames[s.Frame].Function]}
		if f.p.Frames[s.Frame].Inlined && at >= 0 {
			caller := t.frames.list[t.stackFrame[at]]
			frame.depth, frame.symbol = min(caller.depth+1, maxInlineDepth), caller.symbol
		}
		t.stackFrame = append(t.stackFrame, t.frames.at(frame))
		t.prefix = append(t.prefix, at)
		at = len(t.prefix) - 1
		t.stacks[t.path[i]] = at
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
		"address":     slices.Repeat([]int{-1}, len(list)),
		"inlineDepth": mapped(list, func(x firefoxFrame) int { return x.depth }),
		"category":    mapped(list, func(x firefoxFrame) int { return int(function(x).Kind) }),
		"subcategory": mapped(list, func(x firefoxFrame) int { return int(function(x).Tier) }),
		"func":        mapped(list, func(x firefoxFrame) int { return t.functions.at(f.merged.Of[frame(x).Function]) }),
		"nativeSymbol": nullable(mapped(list, func(x firefoxFrame) int {
			if f.symbol(x.symbol).KnownObject() == "" {
				return -1
			}
			return t.natives.at(x.symbol)
		})),
		"innerWindowID": make([]int, len(list)),
		"line":          nullable(mapped(list, func(x firefoxFrame) int { return lineOrNull(frame(x).Line) })),
		"column":        nullable(slices.Repeat([]int{-1}, len(list))),
		"length":        len(list),
	}
}

func (f *firefoxWriter) symbol(merged int) *profile.Function {
	return &f.p.Functions[f.merged.First[merged]]
}

// lineOrNull is a line, or -1 if it is unknown.
func lineOrNull(line int) int {
	if line <= 0 {
		return -1
	}
	return line
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
		"fileName": nullable(mapped(list, func(x *profile.Function) int {
			if x.File == "" {
				return -1
			}
			return f.strings.at(x.File)
		})),
		"lineNumber":   nullable(mapped(list, func(x *profile.Function) int { return lineOrNull(x.Line) })),
		"columnNumber": nullable(slices.Repeat([]int{-1}, len(list))),
		"length":       len(list),
	}
}

func (f *firefoxWriter) resourceTable() object {
	const library = 1 // the type of a resource
	list := f.local.resources.list
	return object{
		"lib":    nullable(list),
		"name":   mapped(list, func(at int) int { return f.strings.at(objectName(f.libraries.list[at])) }),
		"host":   nullable(slices.Repeat([]int{-1}, len(list))),
		"type":   slices.Repeat([]int{library}, len(list)),
		"length": len(list),
	}
}

// nativeSymbols returns the functions that have code. With the depth of a frame, they say into what
// it is inlined. Their addresses are unknown: numbers keep them apart.
func (f *firefoxWriter) nativeSymbols() object {
	list := f.local.natives.list
	return object{
		"libIndex":     mapped(list, func(at int) int { return f.libraries.index[f.symbol(at).Object] }),
		"address":      nullable(list),
		"name":         mapped(list, func(at int) int { return f.strings.at(functionName(f.symbol(at))) }),
		"functionSize": nullable(slices.Repeat([]int{-1}, len(list))),
		"length":       len(list),
	}
}
