package stays

import (
	"math"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/recording"
)

// A Log is the code of a log.
type Log struct {
	Codes []Code
	Stays []Stay   // in the order of the log
	Ends  []uint64 // the last time of each isolate, in nanoseconds of it

	Offsets []Bounds // of the isolates, once they are known
	// Events are those of Arrange, in the order of their times. Their functions are Codes.
	Events  []jitcode.Event
	Own     int // stays with events that no dump has
	Unclear int // stays that are left out: see Arrange

	contradicted map[int32]Bounds // the bounds of isolates that functions of a dump contradict

	life   *Life // that of covers
	covers []*cover
}

// A Code is a piece of code.
type Code struct {
	Key      uint64 // hash of the name, as in a dump
	Lines    uint64 // hash of its lines and inlined calls, and of what else differs; 0 for none
	Isolate  int32
	First    int32 // index of its first stay
	Bytecode bool  // perhaps no machine code
	Prompt   bool  // it is logged before it runs, unlike WebAssembly
	InFile   bool  // it lies in a file, and is the same in all isolates
}

// A Stay is code at an address. It came there between two times of its isolate, in nanoseconds: lines about moves
// have no time.
type Stay struct {
	Code       int32
	Addr, Size uint64
	From, To   uint64
}

// IsIn reports whether code of the log lies in memory.
func (l *Log) IsIn(memory recording.Ranges) bool {
	for i := 0; i < len(l.Stays); i += 1 + len(l.Stays)/recording.MaxProbes {
		if s := &l.Stays[i]; !l.Codes[s.Code].Bytecode && memory.Hold(s.Addr) {
			return true
		}
	}
	return false
}

// Never is the end of a move after which the log has no time, and of all that has no end.
const Never = math.MaxInt64

const never = Never

// A place is where code lies.
type place struct{ addr, size uint64 }
