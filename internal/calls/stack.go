package calls

import "slices"

// A Stack makes events of the steps of one thread.
type Stack struct {
	thread Thread
	step   Step
	again  bool   // the step is still to be dealt with
	began  bool   // there was a step
	last   uint64 // time of the last step
	cpu    uint32 // of it

	frames []frame
	chain  []uint64       // the functions of the frames
	args   []uint64       // those of all frames
	deep   map[uint64]int // how often functions are in frames from shallow on
	room   *int           // how many more frames there may be in all stacks

	folded map[uint64]int // how often functions were folded away, behind the frames up to shallow
	aside  []asideFrame   // the innermost frames, while those before them are folded

	// While calls end: frames from keep on, at time last. The one at keep has an exit of
	// its own, unless all are inferred.
	keep     int
	how      Kind
	inferred bool

	counts Counts
	err    error // what the thread's end was
}

type frame struct {
	entry     uint64
	exclusive uint64
	args      int // where those of the call begin
}

// An asideFrame is a frame that comes back on the stack.
type asideFrame struct {
	frame
	function uint64
	args     []uint64
}

const (
	// MaxDepth is how many calls of a thread may be running at once. When there are more,
	// from deep recursion or from functions that exceptions have left, all but the outermost
	// and the innermost are folded: they end, and their exits, should there be any, are
	// theirs no more.
	MaxDepth = 1 << 16

	maxFrames = 1 << 20 // in the stacks of all threads; beyond that, none grows above 4*shallow
	maxFolded = 1 << 16 // functions whose folded calls are counted
	maxArgs   = 16      // of a call; more are left out
	shallow   = 64      // frames that are searched one by one, and those at either end that are not folded
)

// NewStack prepares to go through a thread.
func NewStack(t Thread) *Stack {
	room := maxFrames
	return newStack(t, &room)
}

func newStack(t Thread, room *int) *Stack { return &Stack{thread: t, room: room} }

// Counts returns what was counted so far.
func (s *Stack) Counts() Counts { return s.counts }

// Next makes the next event. Behind the last one, the error is what the thread ended
// with: io.EOF, or another.
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
				s.end(min(len(s.frames), shallow), Exit, true) // what that call had called
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

// tick gives the time up to the new step to whom it belongs.
func (s *Stack) tick() {
	t := s.step.Time
	if !s.began {
		s.began = true
		s.counts.Threads++
	}
	switch {
	case s.step.Kind == Gap: // nobody knows whose the time is
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

// fold has the calls in the middle of the stack end. The time that they would still have
// goes to the last one before them.
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

// unfold puts the innermost frames behind those that are left.
func (s *Stack) unfold() {
	for i := range s.aside {
		s.push(s.aside[i].function, s.aside[i].frame, s.aside[i].args)
	}
	s.aside = s.aside[:0]
}

// isFolded reports whether an exit may be that of a folded call, and takes it for that.
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

// find returns which frame an exit of a function is about, or -1.
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

// end has the calls from a frame on end.
func (s *Stack) end(keep int, how Kind, inferred bool) {
	s.keep, s.how, s.inferred = keep, how, inferred
}

// pop makes the event of the innermost call, which ends.
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

// drop takes the innermost frame off the stack.
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
