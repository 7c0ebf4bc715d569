package profile

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/words"
)

// placesOf returns the places of each file with functions of a kind, and the files in order. A file that
// is mapped by many paths has the first of them.
func (t *tables) placesOf(kind Kind) (of map[string][]int, files []string) {
	of = make(map[string][]int)
	first := make(map[string]string) // path of a file, by its paths and by what it is
	for i := range t.places {
		f := &t.profile.Functions[t.places[i].function]
		if f.Kind != kind || isMap(f.Object) {
			continue
		}
		path := first[f.Object]
		if path == "" {
			path = f.Object
			if inode, err := sys.PathInode(path); err == nil || t.rec.buildIDs[path] != "" { // perf's cache may have it
				file := fmt.Sprint("\x00", inode, t.rec.buildIDs[path])
				path = cmp.Or(first[file], path)
				first[file] = path
			}
			first[f.Object] = path
		}
		if of[path] == nil {
			files = append(files, path)
		}
		of[path] = append(of[path], i)
	}
	slices.Sort(files)
	return of, files
}

// expandJIT adds lines and inlined calls of jitted functions. It has one object open at a time: a
// recording may have more than a process may open.
func (t *tables) expandJIT(ctx context.Context) error {
	of, files := t.placesOf(JIT)
	failed := 0
	var first error
	for _, file := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := t.expandObject(file, of[file]); err != nil {
			if failed++; first == nil {
				first = err
			}
		}
	}
	for i := range t.profile.Functions { // perf has no names for functions of objects that are gone
		if f := &t.profile.Functions[i]; f.Kind == Unknown && of[f.Object] == nil && recording.IsObject([]byte(f.Object)) {
			if _, err := sys.Stat(f.Object); err != nil {
				failed, first = failed+1, cmp.Or(first, fmt.Errorf("%s is not there", quote.Printable(f.Object)))
			}
		}
	}
	if failed > 0 {
		t.faults = append(t.faults, fmt.Sprintf("names, lines or inlined calls of the functions of %s are missing; inject again, or bring the objects along; the first: %v", words.Count(int64(failed), "object"), first))
	}
	return nil
}

// expandObject does so for one object. perf's symbols do not depend on it: perf may have found them in
// its build-id cache.
func (t *tables) expandObject(path string, places []int) error {
	f, err := t.openELF(path)
	if err != nil {
		return err
	}
	defer f.close()
	o, err := openObject(f.elf)
	if err != nil {
		return fmt.Errorf("%s: %w", quote.Printable(path), err)
	}
	lookups, asking := t.lookups(o.elf, places)
	if err := o.locate(lookups); err != nil {
		return fmt.Errorf("%s: %w", quote.Printable(path), err)
	}
	t.simplified += o.simplified
	t.answer(lookups, asking)
	return nil
}

// lookups returns the questions about places of a file, without repetitions and sorted by address, and
// which places ask each.
func (t *tables) lookups(f *elffile.File, places []int) (lookups []lookup, asking map[uint64][]int) {
	asking = make(map[uint64][]int)
	for _, at := range places {
		addr, ok := virtual(f, t.places[at].offset)
		if !ok {
			continue
		}
		if asking[addr] == nil {
			lookups = append(lookups, lookup{addr: addr})
		}
		asking[addr] = append(asking[addr], at)
	}
	sorting.By(lookups, func(a, b lookup) int { return cmp.Compare(a.addr, b.addr) })
	return lookups, asking
}

// answer adds what was found to the places.
func (t *tables) answer(lookups []lookup, asking map[uint64][]int) {
	for i := range lookups {
		q := &lookups[i]
		if len(q.answer) == 0 {
			continue
		}
		for _, at := range asking[q.addr] {
			t.places[at].calls = t.calls(t.places[at].function, q.answer)
		}
	}
}

// calls returns the function with the calls that were inlined. perf's own symbol names the outermost
// function.
func (t *tables) calls(function int, found []located) []call {
	outermost := &found[len(found)-1]
	t.profile.Functions[function].setSource(outermost.file, outermost.line)
	calls := make([]call, 0, len(found))
	for i := range found {
		l := &found[i]
		f := function
		if i < len(found)-1 {
			f = t.inlined(l.name, cmp.Or(l.file, l.from), l.line, function)
		}
		line := 0
		if l.at > 0 {
			line = t.lineIn(f, l.from, l.at)
		}
		calls = append(calls, call{f, line})
	}
	return calls
}

// Inlined calls make up to 1,000 frames of a place, in each stack with it. No more than these are made.
const (
	maxFrames      = 1 << 16 // of all stacks, and framesPerStack for each
	framesPerStack = 8
	maxStack       = 128 // of a stack, and depthPerCall for each of its calls without the inlined ones
	depthPerCall   = 16
)

// build makes the frames and stacks of the profile from places with their calls.
func (t *tables) build() {
	p := &t.profile
	frames := make(map[Frame]int)
	stackOf := make(map[Stack]int)
	final := make([]int, len(t.stacks))    // of stacks of places, which come after their callers
	depth := make([][2]int, len(t.stacks)) // without and with inlined calls
	leftOut := t.simplified
	for i, s := range t.stacks {
		stack := -1
		if s.Caller >= 0 {
			stack, depth[i] = final[s.Caller], depth[s.Caller]
		}
		at := &t.places[s.Frame]
		calls := at.calls
		if calls == nil {
			calls = []call{{function: at.function}}
		}
		depth[i][0]++
		if n := len(calls); n > 1 && (len(p.Stacks)+n > maxFrames+framesPerStack*len(t.stacks) || depth[i][1]+n > maxStack+depthPerCall*depth[i][0]) {
			calls = calls[n-1:]
			leftOut++
		}
		depth[i][1] += len(calls)
		for j := len(calls) - 1; j >= 0; j-- {
			frame := intern(&p.Frames, frames, Frame{
				Function: calls[j].function, Line: calls[j].line, Addr: at.addr, Inlined: j < len(calls)-1,
			})
			stack = intern(&p.Stacks, stackOf, Stack{Caller: stack, Frame: frame})
		}
		final[i] = stack
	}
	if leftOut > 0 {
		t.faults = append(t.faults, fmt.Sprintf("the inlined calls of %s places and stacks are left out, because they are too many", words.Number(int64(leftOut))))
	}
	for i := range p.Samples {
		if s := &p.Samples[i]; s.Stack >= 0 {
			s.Stack = final[s.Stack]
		}
	}
	for i := range p.Threads {
		th := &p.Threads[i]
		th.Name = t.rec.threads.at(threadID{th.PID, th.TID}, math.MaxUint64)
		th.Process = t.rec.threads.at(threadID{th.PID, th.PID}, math.MaxUint64)
		if th.Process == "" {
			th.Process = th.Name
		}
	}
}

// inlined returns the function that was inlined into another one of the same object. Its file and line
// are those of its declaration, "" and 0 if unknown.
func (t *tables) inlined(symbol, file string, line int, into int) int {
	outer := t.profile.Functions[into]
	key := functionKey{symbol: symbol, object: outer.Object, file: file, inlined: true, tier: outer.Tier}
	i, ok := t.functions[key]
	if !ok {
		f := Function{Symbol: symbol, Object: outer.Object, Kind: outer.Kind}
		f.describe()
		f.Tier = outer.Tier // which made this code
		f.setSource(file, line)
		i = len(t.profile.Functions)
		t.profile.Functions = append(t.profile.Functions, f)
		t.functions[key] = i
	}
	return i
}

// lineIn returns a line if it is one of the function's file, or else 0: lines of included files and of
// code that moved are in others. The first place with a file decides about that of a function.
func (t *tables) lineIn(function int, file string, line int) int {
	f := &t.profile.Functions[function]
	if f.File == "" {
		f.File = file
	}
	if f.File != file {
		return 0
	}
	return line
}
