package export

import (
	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/tier"
)

// firefoxCategories are the categories of code, by [profile.Kind]. The first grey one is the
// default.
var firefoxCategories = []struct{ name, color string }{
	profile.Unknown: {"Other", "grey"},
	profile.Kernel:  {"Kernel", "orange"},
	profile.Native:  {"Native", "blue"},
	profile.JIT:     {"JIT", "green"},
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

// categories writes the categories, each with all tiers: natives may be a part of an interpreter.
func (f *firefoxWriter) categories() {
	f.raw(`"categories":[`)
	for i, category := range firefoxCategories {
		f.separate(i)
		f.raw(`{"name":"` + category.name + `","color":"` + category.color + `","subcategories":[`)
		for k, name := range firefoxTiers {
			f.separate(k)
			f.quote(name)
		}
		f.raw("]}")
	}
	f.raw("]")
}

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

// tables writes the tables of a thread.
func (f *firefoxWriter) tables() {
	t := &f.local
	f.raw(`"stackTable":{"frame":`)
	f.integers(t.stackFrame)
	f.raw(`,"prefix":`)
	f.integers(t.prefix)
	f.raw(`,"length":`)
	f.integer(len(t.prefix))
	f.raw("},\n")
	f.frameTable()
	f.raw(",\n")
	f.funcTable()
	f.raw(",\n")
	f.resourceTable()
	f.raw(",\n")
	f.nativeSymbols()
}

// column writes a column of n whole numbers; those below 0 are null.
func (f *firefoxWriter) column(name string, n int, value func(row int) int) {
	f.raw(`"` + name + `":[`)
	for row := range n {
		if row > 0 {
			f.raw(",")
		}
		if number := value(row); number < 0 {
			f.raw("null")
		} else {
			f.integer(number)
		}
	}
	f.raw("],")
}

// constant writes a column of n equal values.
func (f *firefoxWriter) constant(name, value string, n int) {
	f.raw(`"` + name + `":`)
	f.repeat(value, n)
	f.raw(",")
}

// length ends a table.
func (f *firefoxWriter) length(n int) {
	f.raw(`"length":`)
	f.integer(n)
	f.raw("}")
}

// frameTable writes frames without addresses: these would count from the beginning of an object in
// memory, which is unknown.
func (f *firefoxWriter) frameTable() {
	t, n := &f.local, len(f.local.frames.list)
	function := func(row int) *profile.Function {
		return &f.p.Functions[f.p.Frames[t.frames.list[row].frame].Function]
	}
	f.raw(`"frameTable":{`)
	f.constant("address", "-1", n)
	f.column("inlineDepth", n, func(row int) int { return t.frames.list[row].depth })
	f.column("category", n, func(row int) int {
		if kind := int(function(row).Kind); kind < len(firefoxCategories) {
			return kind
		}
		return 0
	})
	f.column("subcategory", n, func(row int) int {
		if by := int(function(row).Tier); by < len(firefoxTiers) {
			return by
		}
		return 0
	})
	f.column("func", n, func(row int) int {
		return t.functions.at(f.merged.Of[f.p.Frames[t.frames.list[row].frame].Function])
	})
	f.column("nativeSymbol", n, func(row int) int {
		symbol := t.frames.list[row].symbol
		if f.symbol(symbol).KnownObject() == "" {
			return -1
		}
		return t.natives.at(symbol)
	})
	f.constant("innerWindowID", "0", n)
	f.column("line", n, func(row int) int { return lineOrNull(f.p.Frames[t.frames.list[row].frame].Line) })
	f.constant("column", "null", n)
	f.length(n)
}

// symbol is the function that stands for a merged one.
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

// funcTable writes the functions of the frames.
func (f *firefoxWriter) funcTable() {
	t, n := &f.local, len(f.local.functions.list)
	function := func(row int) *profile.Function {
		return f.symbol(t.functions.list[row])
	}
	f.raw(`"funcTable":{`)
	f.column("name", n, func(row int) int { return f.strings.at(functionName(function(row))) })
	f.constant("isJS", "false", n)
	f.constant("relevantForJS", "false", n)
	f.raw(`"resource":[`)
	for row := range n {
		if row > 0 {
			f.raw(",")
		}
		if object, ok := f.libraries.index[function(row).KnownObject()]; ok {
			f.integer(t.resources.at(object))
		} else {
			f.raw("-1") // the format's sign for none
		}
	}
	f.raw("],")
	f.column("fileName", n, func(row int) int {
		if function(row).File == "" {
			return -1
		}
		return f.strings.at(text(function(row).File))
	})
	f.column("lineNumber", n, func(row int) int { return lineOrNull(function(row).Line) })
	f.constant("columnNumber", "null", n)
	f.length(n)
}

// resourceTable writes the objects of the functions.
func (f *firefoxWriter) resourceTable() {
	const library = "1" // the type of a resource
	t, n := &f.local, len(f.local.resources.list)
	f.raw(`"resourceTable":{`)
	f.column("lib", n, func(row int) int { return t.resources.list[row] })
	f.column("name", n, func(row int) int { return f.strings.at(objectName(f.libraries.list[t.resources.list[row]])) })
	f.constant("host", "null", n)
	f.constant("type", library, n)
	f.length(n)
}

// nativeSymbols writes the functions that have code. With the depth of a frame, they say into what
// it is inlined. Their addresses are unknown: numbers keep them apart.
func (f *firefoxWriter) nativeSymbols() {
	t, n := &f.local, len(f.local.natives.list)
	f.raw(`"nativeSymbols":{`)
	f.column("libIndex", n, func(row int) int { return f.libraries.index[f.symbol(t.natives.list[row]).Object] })
	f.column("address", n, func(row int) int { return t.natives.list[row] })
	f.column("name", n, func(row int) int { return f.strings.at(functionName(f.symbol(t.natives.list[row]))) })
	f.constant("functionSize", "null", n)
	f.length(n)
}
