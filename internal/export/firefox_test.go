package export

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/jitinject/jitinject/internal/profile"
)

// firefoxTable is a table by columns.
type firefoxTable map[string]any

func (t firefoxTable) column(name string) []any { return t[name].([]any) }

// number is a value of a column, -1 for null.
func (t firefoxTable) number(name string, row int) int {
	if n, ok := t.column(name)[row].(float64); ok {
		return int(n)
	}
	return -1
}

// firefoxThread is a thread of the processed profile, and firefoxFile what has it. Required members
// are those of version 56.
type firefoxThread struct {
	Name, ProcessName, PID                                                string
	TID                                                                   int
	IsMainThread                                                          bool
	Samples, Markers                                                      firefoxTable
	StackTable, FrameTable, FuncTable, ResourceTable, NativeSymbols       firefoxTable
	ProcessType                                                           string
	ProcessStartupTime, ProcessShutdownTime, RegisterTime, UnregisterTime any
	PausedRanges                                                          []any
}

type firefoxFile struct {
	Meta    map[string]any
	Libs    []map[string]any
	Shared  struct{ StringArray []string }
	Threads []firefoxThread
}

// columns are those that version 56 requires of each table.
var columns = map[string][]string{
	"samples":       {"stack", "time"},
	"markers":       {"data", "name", "startTime", "endTime", "phase", "category"},
	"stackTable":    {"frame", "prefix"},
	"frameTable":    {"address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "line", "column"},
	"funcTable":     {"name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber"},
	"resourceTable": {"lib", "name", "host", "type"},
	"nativeSymbols": {"libIndex", "address", "name", "functionSize"},
}

// readFirefox returns a file whose tables are complete and whose indices are in them.
func readFirefox(t *testing.T, p *profile.Profile) firefoxFile {
	t.Helper()
	var file firefoxFile
	if err := json.Unmarshal(write(t, "firefox", p), &file); err != nil {
		t.Fatal(err)
	}
	if file.Meta["preprocessedProfileVersion"] != 56.0 || file.Meta["symbolicationNotSupported"] != true {
		t.Errorf("got version %v, symbolicationNotSupported %v", file.Meta["preprocessedProfileVersion"], file.Meta["symbolicationNotSupported"])
	}
	for _, thread := range file.Threads {
		tables := map[string]firefoxTable{
			"samples": thread.Samples, "markers": thread.Markers, "stackTable": thread.StackTable, "frameTable": thread.FrameTable,
			"funcTable": thread.FuncTable, "resourceTable": thread.ResourceTable, "nativeSymbols": thread.NativeSymbols,
		}
		for name, table := range tables {
			for _, column := range columns[name] {
				if values, ok := table[column].([]any); !ok || float64(len(values)) != table["length"] {
					t.Fatalf("%s: got %d values of %s.%s; want %v", thread.Name, len(values), name, column, table["length"])
				}
			}
		}
		within := func(table, column string, length int, required bool) {
			for row := range tables[table].column(column) {
				if n := tables[table].number(column, row); n >= length || required && n < 0 {
					t.Fatalf("%s: got %d in %s.%s; want an index below %d", thread.Name, n, table, column, length)
				}
			}
		}
		rows := func(table string) int { return int(tables[table]["length"].(float64)) }
		strings := len(file.Shared.StringArray)
		within("samples", "stack", rows("stackTable"), false)
		within("stackTable", "frame", rows("frameTable"), true)
		within("frameTable", "func", rows("funcTable"), true)
		within("frameTable", "nativeSymbol", rows("nativeSymbols"), false)
		within("funcTable", "name", strings, true)
		within("funcTable", "fileName", strings, false)
		within("funcTable", "resource", rows("resourceTable"), false)
		within("resourceTable", "lib", len(file.Libs), true)
		within("resourceTable", "name", strings, true)
		within("nativeSymbols", "libIndex", len(file.Libs), true)
		within("nativeSymbols", "name", strings, true)
		for row := range rows("stackTable") {
			if thread.StackTable.number("prefix", row) >= row {
				t.Fatalf("%s: got stack %d before its prefix", thread.Name, row)
			}
		}
	}
	return file
}

// stack returns the frames of a sample, outermost first.
func (f *firefoxFile) stack(thread, sample int) (frames []int) {
	t := f.Threads[thread]
	for s := t.Samples.number("stack", sample); s >= 0; s = t.StackTable.number("prefix", s) {
		frames = append([]int{t.StackTable.number("frame", s)}, frames...)
	}
	return frames
}

func TestFirefox_InlinedCallsAndTiers(t *testing.T) {
	file := readFirefox(t, recorded())
	type frame struct {
		name, file, lib, into, category, tier string
		depth, line                           int
	}
	var got []frame
	thread := file.Threads[0]
	categories := file.Meta["categories"].([]any)
	for _, row := range file.stack(0, 0) {
		frames := thread.FrameTable
		function := frames.number("func", row)
		category := categories[frames.number("category", row)].(map[string]any)
		one := frame{
			name:     file.Shared.StringArray[thread.FuncTable.number("name", function)],
			lib:      file.Libs[thread.ResourceTable.number("lib", thread.FuncTable.number("resource", function))]["path"].(string),
			into:     file.Shared.StringArray[thread.NativeSymbols.number("name", frames.number("nativeSymbol", row))],
			category: category["name"].(string),
			tier:     category["subcategories"].([]any)[frames.number("subcategory", row)].(string),
			depth:    frames.number("inlineDepth", row),
			line:     frames.number("line", row),
		}
		if name := thread.FuncTable.number("fileName", function); name >= 0 {
			one.file = file.Shared.StringArray[name]
		}
		got = append(got, one)
	}
	want := []frame{
		{"main", "", "/usr/bin/node", "main", "Native", "Other", 0, -1},
		{"run", "/src/x.js", "/tmp/jitted-9-1.so", "run", "JIT", "Optimized", 0, 5},
		{"add", "/src/lib.js", "/tmp/jitted-9-1.so", "run", "JIT", "Optimized", 1, 2},
		{"add", "/src/lib.js", "/tmp/jitted-9-1.so", "run", "JIT", "Optimized", 2, 2},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, c := range categories {
		if first := c.(map[string]any)["subcategories"].([]any)[0]; first != "Other" {
			t.Errorf("got %v as the first subcategory; want Other", first)
		}
	}
	// Both versions of run are one function with two tiers.
	if n := thread.FuncTable["length"]; n != 4.0 { // main, run, add, [unknown]
		t.Errorf("got %v functions; want 4", n)
	}
}

func TestFirefox_ThreadsAndTimes(t *testing.T) {
	file := readFirefox(t, recorded())
	type thread struct {
		name, process, pid string
		tid                int
		main               bool
	}
	var got []thread
	for _, one := range file.Threads {
		got = append(got, thread{one.Name, one.ProcessName, one.PID, one.TID, one.IsMainThread})
	}
	if want := []thread{{"node", "node", "9", 9, true}, {"node worker", "node", "9", 11, false}, {"helper", "helper", "20", 20, true}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v; want %v", got, want)
	}
	if times, want := file.Threads[0].Samples.column("time"), []any{1.0, 2.0, 3.0, 5.0}; !reflect.DeepEqual(times, want) {
		t.Errorf("got times %v; want %v ms, ordered", times, want)
	}
	if times, want := file.Threads[1].Samples.column("time"), []any{3.0005, 4.0}; !reflect.DeepEqual(times, want) {
		t.Errorf("got times %v; want %v ms", times, want)
	}
	if cpu, want := file.Threads[1].Samples.column("threadCPUDelta"), []any{1e6, 1e6}; !reflect.DeepEqual(cpu, want) {
		t.Errorf("got %v; want the periods %v in ns", cpu, want)
	}
	if file.Meta["interval"] != 1.0 || file.Meta["profilingEndTime"] != 6.0 {
		t.Errorf("got interval %v, end %v; want 1 ms, and 6 ms: the last sample is within", file.Meta["interval"], file.Meta["profilingEndTime"])
	}
}

// Without times, samples are an interval apart. Without a clock, periods are no time.
func TestFirefox_NoTimesAndSeveralEvents(t *testing.T) {
	p := recorded()
	p.Events = []string{"cpu-clock", "cycles"}
	for i := range p.Samples {
		p.Samples[i].Time = 77
		p.Samples[i].Event = i % 2
	}
	file := readFirefox(t, p)
	mains := make(map[string]int)
	for _, thread := range file.Threads {
		if thread.IsMainThread {
			mains[thread.PID]++
		}
		if times := thread.Samples.column("time"); len(times) > 1 && times[1] != 1.0 {
			t.Errorf("%s: got times %v; want them 1 ms apart", thread.Name, times)
		}
		_, hasCPU := thread.Samples["threadCPUDelta"]
		if isClock := thread.Name[len(thread.Name)-1] == 'k'; hasCPU != isClock {
			t.Errorf("%s: got processor times: %t; want %t", thread.Name, hasCPU, isClock)
		}
	}
	if want := map[string]int{"9": 1, "20": 1}; !reflect.DeepEqual(mains, want) || len(file.Threads) != 5 {
		t.Errorf("got main threads %v of %d; want %v of 5", mains, len(file.Threads), want)
	}
}

func TestFirefox_HostileNames(t *testing.T) {
	file := readFirefox(t, hostile())
	known := make(map[string]bool)
	for _, s := range file.Shared.StringArray {
		known[s] = true
	}
	for _, i := range []int{0, 1, 2, 7, 8, 11, 15} {
		if !known[hostileNames[i]] {
			t.Errorf("got no string %.80q", hostileNames[i])
		}
	}
}

// The profiler has a byte for the depth.
func TestFirefox_DeepInlining(t *testing.T) {
	p := recorded()
	for range 300 {
		p.Stacks = append(p.Stacks, profile.Stack{Caller: len(p.Stacks) - 1, Frame: 2})
	}
	p.Samples = []profile.Sample{{Stack: len(p.Stacks) - 1, Thread: 2}}
	file := readFirefox(t, p)
	deepest := 0
	for row := range file.Threads[0].FrameTable.column("inlineDepth") {
		deepest = max(deepest, file.Threads[0].FrameTable.number("inlineDepth", row))
	}
	if deepest != 255 || len(file.stack(0, 0)) != 301 {
		t.Errorf("got depth %d, %d frames; want 255, 301", deepest, len(file.stack(0, 0)))
	}
}
