package profile

import "math"

// build makes the frames and stacks of the profile from places with their calls.
func (t *tables) build() {
	p := &t.profile
	frames := make(map[Frame]int)
	stackOf := make(map[Stack]int)
	final := make([]int, len(t.stacks)) // of stacks of places, which come after their callers
	for i, s := range t.stacks {
		stack := -1
		if s.Caller >= 0 {
			stack = final[s.Caller]
		}
		at := &t.places[s.Frame]
		calls := at.calls
		if calls == nil {
			calls = []call{{function: at.function}}
		}
		for j := len(calls) - 1; j >= 0; j-- {
			frame := intern(&p.Frames, frames, Frame{
				Function: calls[j].function, Line: calls[j].line, Addr: at.addr, Inlined: j < len(calls)-1,
			})
			stack = intern(&p.Stacks, stackOf, Stack{Caller: stack, Frame: frame})
		}
		final[i] = stack
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
