package v8truth_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/v8truth"
)

// An inlining says that TurboFan inlined a function into another one that it compiled.
type inlining struct{ callee, compiled uint64 }

// traced reads trace.txt of a recording, the output of V8 for --trace-turbo-inlining: for each
// inlining the addresses of the SharedFunctionInfos and their names. It also has lines of code that
// was never finished.
func traced(t *testing.T, dir string) (all map[inlining]bool, names map[uint64]string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "trace.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all, names = make(map[inlining]bool), make(map[uint64]string)
	// In print, addresses have the tag of a heap object: 1.
	line := regexp.MustCompile(`(?ms)^Inlining 0x[0-9a-f]+ \{0x([0-9a-f]+) <SharedFunctionInfo ?(.*?)>\} into 0x[0-9a-f]+ \{0x([0-9a-f]+) <SharedFunctionInfo ?(.*?)>\}(?: \(inside try-block\))?$`)
	for _, m := range line.FindAllStringSubmatch(string(b), -1) {
		callee, err1 := strconv.ParseUint(m[1], 16, 64)
		compiled, err2 := strconv.ParseUint(m[3], 16, 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("got %v, %v for %q; want two addresses", err1, err2, m[0])
		}
		all[inlining{callee - 1, compiled - 1}] = true
		names[callee-1], names[compiled-1] = m[2], m[4]
	}
	if len(all) == 0 {
		t.Fatalf("%s: got no inlinings; want some", dir)
	}
	return all, names
}

// The log has the inlined functions of TurboFan's code that TurboFan printed while it compiled.
func TestRead_InlinedAsTraced(t *testing.T) {
	for name, dir := range recordings(t) {
		if _, err := os.Stat(filepath.Join(dir, "trace.txt")); err != nil {
			t.Logf("%s has no trace", name)
			continue
		}
		trace, names := traced(t, dir)
		logged := make(map[inlining]bool)
		for file, l := range logs(t, dir) {
			for _, c := range l.Codes {
				if !strings.Contains(c.Tier, "*") {
					continue
				}
				for _, f := range c.Inlined() {
					k, ok := find(trace, f, c.Function)
					logged[k] = true
					if !ok {
						t.Errorf("%s/%s:%d: got %s inlined into %s; want what the trace has", name, file, c.Line, f.Name, c.DumpName())
					} else if names[k.callee] != f.Name {
						t.Errorf("%s/%s:%d: got name %q of an inlined function; want %q", name, file, c.Line, f.Name, names[k.callee])
					}
				}
			}
		}
		// Code of some compilations was dropped, but not of many.
		missing := 0
		for k := range trace {
			if !logged[k] {
				missing++
			}
		}
		if missing*4 > len(trace) {
			t.Errorf("%s: got %d of %d traced inlinings not in the log; want a quarter at most", name, missing, len(trace))
		}
		t.Logf("%s: %d inlinings in the trace, %d in the log", name, len(trace), len(logged))
	}
}

// find returns the line of the trace for two functions. The collector may have moved either
// since TurboFan printed its address.
func find(trace map[inlining]bool, callee, compiled *v8truth.Function) (k inlining, ok bool) {
	for _, k.callee = range callee.Addresses {
		for _, k.compiled = range compiled.Addresses {
			if trace[k] {
				return k, true
			}
		}
	}
	return k, false
}

// The objects have the inlined functions that TurboFan printed, except those without code.
func TestObjects_InlinedAsTraced(t *testing.T) {
	for _, name := range []string{"v8log-node25", "v8log-workers"} {
		dir := testrec.Place(t, name)
		trace, names := traced(t, dir)
		type pairOfNames struct{ callee, compiled string }
		want, shown, left := make(map[pairOfNames]bool), make(map[pairOfNames]bool), make(map[pairOfNames]bool)
		for k := range trace {
			want[pairOfNames{names[k.callee], names[k.compiled]}] = true
		}
		for _, p := range pairs(t, logs(t, dir), injected(t, dir, false)) {
			if !strings.Contains(p.code.Tier, "*") {
				continue
			}
			compiled := p.code.Function.Name
			for at := range p.size {
				chain := p.code.Chain(at)
				for i := range max(len(chain), 1) - 1 {
					left[pairOfNames{chain[i].Name, compiled}] = true
				}
			}
			for _, f := range openObject(t, p.object).functions {
				if f.has(p.value) {
					eachInside(f, func(inlined *function) {
						callee := inlined.name
						if sameName(callee, "") {
							callee = ""
						}
						shown[pairOfNames{callee, compiled}] = true
					})
				}
			}
		}
		for k := range shown {
			if !want[k] {
				t.Errorf("%s: got %q inlined in %q; want what the trace has: %v", name, k.callee, k.compiled, slices.Collect(maps.Keys(want)))
			}
		}
		for k := range left {
			if !shown[k] {
				t.Errorf("%s: %q is inlined in %q, and the objects do not have it", name, k.callee, k.compiled)
			}
		}
		t.Logf("%s: %d inlinings of names in the trace, %d in the objects", name, len(want), len(shown))
	}
}

// eachInside calls each for all calls that are inlined in a function.
func eachInside(f *function, each func(*function)) {
	for _, inlined := range f.inside {
		each(inlined)
		eachInside(inlined, each)
	}
}
