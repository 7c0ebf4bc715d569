package calls

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

const (
	// MaxDepth is how many calls of a thread may be running at once. A log that has more
	// has lost its exits: the stack is given up, and begins anew.
	MaxDepth = 1 << 16

	maxFrames = 1 << 20 // in the stacks of all threads
	maxArgs   = 16      // of a call; more are left out
	shallow   = 64      // frames that are searched one by one
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
			if len(s.frames) == MaxDepth || len(s.frames) > 0 && *s.room <= 0 {
				s.counts.TooDeep++
				s.end(0, Exit, true)
				s.again = true
				continue
			}
			s.push()
		case Exit, TailExit, Unwound:
			at := s.find(step.Function)
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

func (s *Stack) push() {
	n := len(s.frames)
	s.frames = append(s.frames, frame{entry: s.last, args: len(s.args)})
	s.chain = append(s.chain[:n], s.step.Function)
	s.args = append(s.args, s.step.Args[:min(len(s.step.Args), maxArgs)]...)
	s.keep = n + 1
	*s.room--
	if n >= shallow {
		if s.deep == nil {
			s.deep = make(map[uint64]int)
		}
		s.deep[s.step.Function]++
	}
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
	if n >= shallow {
		function := s.chain[n]
		if s.deep[function]--; s.deep[function] == 0 {
			delete(s.deep, function)
		}
	}
	s.args = s.args[:f.args]
	s.frames = s.frames[:n]
	*s.room++
}
