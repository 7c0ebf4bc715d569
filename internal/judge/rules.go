package judge

import "strings"

// A Rule excuses losses for a stated reason.
type Rule struct {
	Name    string // short, for tables
	Why     string // the reason, with its evidence
	Excuses func(*Loss) bool
}

// Stated has all rules.
var Stated = []Rule{V8Builtins, JunkFrames, EndlessFrames, FullStacks}

// V8Builtins: V8's builtins lie in the runtime's binary. Its symbol table names them, and V8
// logs them as well. perf inject's objects hide the binary. Where ours leave builtins to
// the binary's symbols, they have the linker's names.
var V8Builtins = Rule{
	Name: "V8 builtins",
	Why:  "the dump's Builtin:X and the binary's Builtins_X name the same code at the same offset",
	Excuses: func(l *Loss) bool {
		theirs, ours := l.Frames()
		return l.Kind == OtherSymbol && theirs.Offset == ours.Offset && builtin(theirs.Symbol) != "" && builtin(theirs.Symbol) == builtin(ours.Symbol)
	},
}

// builtin returns the name of a V8 builtin without the prefix of the dump or the linker, or
// "". The dump names bytecode handlers "BytecodeHandler:GetNamedProperty" and
// "BytecodeHandler:Ldar.Wide", the linker Builtins_GetNamedPropertyHandler and
// Builtins_LdarWideHandler.
func builtin(symbol string) string {
	if name, ok := strings.CutPrefix(symbol, "BytecodeHandler:"); ok {
		if name == "Star0" {
			return "ShortStarHandler" // one handler for Star0 to Star15
		}
		return strings.ReplaceAll(name, ".", "") + "Handler"
	}
	if name, ok := strings.CutPrefix(symbol, "Builtin:"); ok {
		return name
	}
	name, ok := strings.CutPrefix(symbol, "Builtins_")
	if !ok {
		return ""
	}
	return name
}

// JunkFrames: an unwinder that has lost its way returns addresses in no mapping, such as
// ffffffffffffffff. They are no callers. Code that is not logged may be in no mapping as
// well. So frames after such an address count, unless no process can have that address.
var JunkFrames = Rule{
	Name: "junk frames",
	Why:  "perf inject's stack ends in frames that lie in no mapping, or has some where no process's memory is, and our stack has all its other frames",
	Excuses: func(l *Loss) bool {
		if l.Kind != FewerFrames && l.Kind != OtherFrames {
			return false
		}
		theirs := l.Theirs.Frames[l.Frame:]
		for len(theirs) > 0 && theirs[len(theirs)-1].Unmapped() {
			theirs = theirs[:len(theirs)-1]
		}
		var sound []Frame
		for i := range theirs {
			if !theirs[i].impossible() {
				sound = append(sound, theirs[i])
			}
		}
		return len(sound) < len(l.Theirs.Frames)-l.Frame && contains(l.Ours.Frames[l.Frame:], sound)
	},
}

// impossible reports whether no process can have memory at the frame's address: it is in
// the first page, which the kernel never maps, or needs more than 57 bits.
func (f *Frame) impossible() bool {
	return f.Unmapped() && (f.Addr < 1<<12 || f.Addr >= 1<<56)
}

// EndlessFrames: if a row does not move the stack pointer, perf 7's libdw repeats a frame
// up to its limit. The repetitions are no callers.
var EndlessFrames = Rule{
	Name: "endless frames",
	Why:  "perf inject's stack does not reach the bottom and ends in one frame, repeated four times or more; ours has the frames before",
	Excuses: func(l *Loss) bool {
		const least = 4
		if l.Kind != FewerFrames && l.Kind != OtherFrames || l.Theirs.Whole() {
			return false
		}
		frames := l.Theirs.Frames
		first := len(frames) - 1
		for first > 0 && frames[first-1].equal(&frames[first]) {
			first--
		}
		// The first of them is a real frame.
		return len(frames)-first >= least && l.Frame > first
	},
}

// FullStacks: perf shows at most 127 frames of a stack. At a function's first instructions
// the frame pointer is still the caller's, so unwinders that follow frame pointers miss the
// caller. With that caller in its place, the last frame is one too many.
var FullStacks = Rule{
	Name: "full stacks",
	Why:  "both stacks have as many frames as perf shows; ours has theirs with others between, and lacks as many of the last ones",
	Excuses: func(l *Loss) bool {
		const most = 127 // PERF_MAX_STACK_DEPTH
		if l.Kind != OtherFrames || len(l.Ours.Frames) != most || len(l.Theirs.Frames) != most {
			return false
		}
		theirs := l.Theirs.Frames[l.Frame:]
		between := 0
		for i := l.Frame; i < most; i++ {
			if l.Ours.Frames[i].equal(&theirs[0]) {
				theirs = theirs[1:]
			} else {
				between++
			}
		}
		return between <= fewFrames
	},
}

// JittedPart is for a comparison with the recording itself, where jitted code has no names and no
// unwind tables: perf guesses how to go on from there, and counts only for frames in files.
var JittedPart = Rule{
	Name: "jitted part",
	Why:  "the frames that only the recording itself has are in memory of no file; our stack has all of its frames in files, in their order",
	Excuses: func(l *Loss) bool {
		if l.Kind != FewerFrames && l.Kind != OtherFrames {
			return false
		}
		var inFiles []Frame
		for _, f := range l.Theirs.Frames[l.Frame:] {
			if !f.Anonymous() {
				inFiles = append(inFiles, f)
			}
		}
		return contains(l.Ours.Frames[l.Frame:], inFiles)
	},
}

// fewFrames bounds the frames that a stack may have between another one's.
const fewFrames = 4
