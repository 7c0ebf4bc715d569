package jitted

// A CallStack has the functions that a thread has entered and not left.
type CallStack struct {
	Functions []uint64
	lost      bool // it is too deep, and says nothing any more
}

// Bounds of a stack, and of how much of it is looked at for a function that was not
// entered last.
const (
	maxStack    = 1 << 16
	stackLooked = 4096
)

func (s *CallStack) Enter(function uint64) {
	if s.lost = s.lost || len(s.Functions) >= maxStack; s.lost {
		s.Functions = nil
		return
	}
	s.Functions = append(s.Functions, function)
}

// Leave takes a function from the stack, with all that it called, and returns how many
// those are. found is false if it is not there.
func (s *CallStack) Leave(function uint64) (open int, found bool) {
	if s.lost {
		return 0, true
	}
	n := len(s.Functions)
	for i := n - 1; i >= max(0, n-stackLooked); i-- {
		if s.Functions[i] == function {
			s.Functions = s.Functions[:i]
			return n - 1 - i, true
		}
	}
	return 0, false
}
