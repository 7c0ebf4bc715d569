package calls

import "slices"

// A Stack converts the steps of one thread to events.
type Stack struct {
	thread Thread
	step   Step
	again  bool   // the step is not processed yet
	began  bool   // there was a step
	last   uint64 // time of the last step
	cpu    uint32 // of the last step

	frames []frame
	chain  []uint64       // functions of the frames
	args   []uint64       // of all frames
	deep   map[uint64]int // number of frames by function, from shallow on
	room   *int           // number of further frames allowed in all stacks

	folded map[uint64]int // number of folded calls by function, after the frames up to shallow
	aside  []asideFrame   // the innermost frames, while the frames before them are folded

	// keep is the first of the frames that end, at time last. The frame at keep has an exit of its
	// own, unless inferred is set.
	keep     int
	how      Kind
	inferred bool

	counts Counts
	err    error // error that ended the thread
}

type frame struct {
	entry     uint64
	exclusive uint64
	args      int // index of the call's first argument
}

// An asideFrame is a frame that comes back on the stack.
type asideFrame struct {
	frame
	function uint64
	args     []uint64
}

const (
	// MaxDepth is how many calls of a thread may run at once. More come from deep recursion, or
	// from functions left by exceptions. Then all calls but the outermost and the innermost are
	// folded: they end, and later exits of theirs are ignored.
	MaxDepth = 1 << 16

	maxFrames = 1 << 20 // in the stacks of all threads; beyond that, none grows above 4*shallow
	maxFolded = 1 << 16 // functions with counted folded calls
	maxArgs   = 16      // of a call; more are dropped
	shallow   = 64      // frames searched linearly, and unfolded frames at either end
)

// NewStack returns a Stack for a thread.
func NewStack(t Thread) *Stack {
	room := maxFrames
	return newStack(t, &room)
}

func newStack(t Thread, room *int) *Stack { return &Stack{thread: t, room: room} }

// Counts returns the counts so far.
func (s *Stack) Counts() Counts { return s.counts }

// Next returns the next event in e. After the last one, it returns the error that ended the thread:
// io.EOF, or another.
func (s *Stack) Next(e *Event) error {
	for {
		if len(s.frames) > s.keep {
			s.pop(e)
			return nil
		}
		if len(s.aside) > 0 {
			s.unfold()
		}
		if s.err != nil {
			return s.err
		}
		if !s.again {
			if err := s.thread.Next(&s.step); err != nil {
				s.err = err
				s.end(0, Exit, true)
				continue
			}
			s.tick()
		}
		s.again = false
		step := &s.step
		switch step.Kind {
		case Enter:
			if n := len(s.frames); n == MaxDepth || n >= 4*shallow && *s.room <= 0 {
				s.fold()
				s.again = true
				continue
			}
			s.push(step.Function, frame{entry: s.last}, step.Args)
		case Exit, TailExit, Unwound:
			at := s.find(step.Function)
			if at < shallow && s.isFolded(step.Function) {
				s.end(min(len(s.frames), shallow), Exit, true) // inner calls of the folded call
				continue
			}
			if at < 0 {
				s.counts.Unmatched++
				continue
			}
			s.end(at, step.Kind, false)
		case Note:
			s.counts.Notes++
			*e = Event{Kind: Note, TID: s.thread.TID(), CPU: step.CPU, Time: s.last, Stack: s.chain[:len(s.frames)], Type: step.Type, Payload: step.Payload}
			return nil
		case Gap:
			s.counts.Gaps++
			s.end(0, Exit, true)
		}
	}
}

// tick adds the time up to the new step to the innermost frame.
func (s *Stack) tick() {
	t := s.step.Time
	if !s.began {
		s.began = true
		s.counts.Threads++
	}
	switch {
	case s.step.Kind == Gap: // the owner of the time is unknown
		return
	case t < s.last:
		s.counts.Backward++
		return
	}
	if n := len(s.frames); n > 0 {
		s.frames[n-1].exclusive += t - s.last
		s.counts.Traced += t - s.last
	}
	s.last, s.cpu = t, s.step.CPU
}

// push adds a frame.
func (s *Stack) push(function uint64, f frame, args []uint64) {
	n := len(s.frames)
	f.args = len(s.args)
	s.frames = append(s.frames, f)
	s.chain = append(s.chain[:n], function)
	s.args = append(s.args, args[:min(len(args), maxArgs)]...)
	s.keep = n + 1
	s.counts.Deepest = max(s.counts.Deepest, int64(n)+1)
	*s.room--
	if n >= shallow {
		if s.deep == nil {
			s.deep = make(map[uint64]int)
		}
		s.deep[function]++
	}
}

// fold ends the calls in the middle of the stack. Their remaining time goes to the last call before
// them.
func (s *Stack) fold() {
	s.counts.TooDeep++
	for i := len(s.frames) - shallow; i < len(s.frames); i++ {
		end := len(s.args)
		if i+1 < len(s.frames) {
			end = s.frames[i+1].args
		}
		s.aside = append(s.aside, asideFrame{s.frames[i], s.chain[i], slices.Clone(s.args[s.frames[i].args:end])})
	}
	for range s.aside {
		s.drop()
	}
	if s.folded == nil {
		s.folded = make(map[uint64]int)
	}
	for _, function := range s.chain[shallow:len(s.frames)] {
		if n := s.folded[function]; n > 0 || len(s.folded) < maxFolded {
			s.folded[function] = n + 1
		}
	}
	s.end(shallow, Exit, true)
}

// unfold puts the innermost frames after the remaining ones.
func (s *Stack) unfold() {
	for i := range s.aside {
		s.push(s.aside[i].function, s.aside[i].frame, s.aside[i].args)
	}
	s.aside = s.aside[:0]
}

// isFolded reports whether an exit may be that of a folded call, and removes one such call.
func (s *Stack) isFolded(function uint64) bool {
	n := s.folded[function]
	switch {
	case n == 1:
		delete(s.folded, function)
	case n > 1:
		s.folded[function] = n - 1
	}
	return n > 0
}

// find returns the index of the frame for an exit of a function, or -1.
func (s *Stack) find(function uint64) int {
	n := len(s.frames)
	if n > 0 && s.chain[n-1] == function {
		return n - 1
	}
	if n > shallow && s.deep[function] == 0 {
		n = shallow
	}
	for n--; n >= 0 && s.chain[n] != function; n-- {
	}
	return n
}

// end ends the calls from a frame on.
func (s *Stack) end(keep int, how Kind, inferred bool) {
	s.keep, s.how, s.inferred = keep, how, inferred
}

// pop ends the innermost call, and returns its event in e.
func (s *Stack) pop(e *Event) {
	n := len(s.frames) - 1
	f := &s.frames[n]
	*e = Event{
		Kind: s.how, Inferred: s.inferred || n > s.keep, TID: s.thread.TID(), CPU: s.cpu, Time: s.last,
		Inclusive: s.last - f.entry, Exclusive: f.exclusive, Stack: s.chain[:n+1], Args: s.args[f.args:],
	}
	s.counts.Calls++
	if e.Inferred {
		e.Kind = Exit
		s.counts.Inferred++
	}
	s.drop()
}

// drop removes the innermost frame.
func (s *Stack) drop() {
	n := len(s.frames) - 1
	if n >= shallow {
		function := s.chain[n]
		if s.deep[function]--; s.deep[function] == 0 {
			delete(s.deep, function)
		}
	} else {
		clear(s.folded)
	}
	s.args = s.args[:s.frames[n].args]
	s.frames = s.frames[:n]
	*s.room++
}
