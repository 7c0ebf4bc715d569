package calls

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A script is a thread that was written down.
type script struct {
	tid   uint32
	steps []Step
	err   error
}

// A sleeper is a script that is opened when its time has come.
type sleeper struct {
	script
	begins uint64
	open   *int
}

func (s *sleeper) Begins() uint64 { return s.begins }

func (s *sleeper) Next(step *Step) error {
	if s.begins != 0 {
		*s.open++
		s.begins = 0
	}
	err := s.script.Next(step)
	if err != nil {
		*s.open--
	}
	return err
}

func (s *script) TID() uint32 { return s.tid }

func (s *script) Next(step *Step) error {
	if len(s.steps) == 0 {
		if s.err != nil {
			return s.err
		}
		return io.EOF
	}
	*step = s.steps[0]
	s.steps = s.steps[1:]
	return nil
}

// steps reads "10+1 20+2 30-2 40-1": time, what happens, function. + enters, - exits, t
// is a tail exit, x an exception, ! a note, ? a gap.
func steps(text string) (list []Step) {
	kinds := map[byte]Kind{'+': Enter, '-': Exit, 't': TailExit, 'x': Unwound, '!': Note, '?': Gap}
	for _, word := range strings.Fields(text) {
		var st Step
		var c byte
		if _, err := fmt.Sscanf(word, "%d%c%d", &st.Time, &c, &st.Function); err != nil {
			panic(word)
		}
		st.Kind = kinds[c]
		list = append(list, st)
	}
	return list
}

// events writes down what comes of a thread: time, stack, inclusive/exclusive, and ~ if
// it is inferred.
func events(t *testing.T, s *Stack) string {
	var out []string
	for {
		var e Event
		err := s.Next(&e)
		if err == io.EOF {
			return strings.Join(out, " ")
		}
		if err != nil {
			t.Fatal(err)
		}
		word := fmt.Sprintf("%d:%s", e.Time, strings.Trim(strings.ReplaceAll(fmt.Sprint(e.Stack), " ", "."), "[]"))
		if e.Kind == Note {
			word += "!"
		} else {
			word += fmt.Sprintf("=%d/%d", e.Inclusive, e.Exclusive)
		}
		if e.Inferred {
			word += "~"
		}
		out = append(out, word)
	}
}

func TestStack_Calls(t *testing.T) {
	for _, test := range []struct{ name, steps, want string }{
		{"nested", "10+1 20+2 25-2 40-1", "25:1.2=5/5 40:1=30/25"},
		{"recursion", "10+1 20+1 30+1 40-1 50-1 60-1", "40:1.1.1=10/10 50:1.1=30/20 60:1=50/20"},
		{"tail exit", "10+1 20+2 30t2 30+3 35-3 40-1", "30:1.2=10/10 35:1.3=5/5 40:1=30/15"},
		{"exception without a word", "10+1 20+2 30+3 40-1", "40:1.2.3=10/10~ 40:1.2=20/10~ 40:1=30/10"},
		{"exception that says so", "10+1 20+2 30x2 40-1", "30:1.2=10/10 40:1=30/20"},
		{"exit without entry", "10-9 20+1 30-9 40-1 50-8", "40:1=20/20"},
		{"no end", "10+1 20+2 30-2 35!0", "30:1.2=10/10 35:1! 35:1=25/15~"},
		{"gap", "10+1 20+2 50?0 60-2 70+3 80-3 90-1", "20:1.2=0/0~ 20:1=10/10~ 80:3=10/10"},
		{"backward", "10+1 30+2 20-2 40-1", "30:1.2=0/0 40:1=30/30"},
		{"note outside", "5!0 10+1 11-1", "5:! 11:1=1/1"},
		{"of a lower frame of the same function", "1+7 2+8 3+7 4+9 5-7 6-8 7-7", "5:7.8.7.9=1/1~ 5:7.8.7=2/1 6:7.8=4/2 7:7=6/2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := events(t, NewStack(&script{steps: steps(test.steps)})); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestStack_Arguments(t *testing.T) {
	s := steps("10+1 20+2 25-2 30+3 35-3 40-1")
	s[0].Args, s[1].Args = []uint64{11, 12}, []uint64{21}
	var e Event
	stack := NewStack(&script{steps: s})
	for _, want := range []string{"[21]", "[]", "[11 12]"} {
		if err := stack.Next(&e); err != nil || fmt.Sprint(e.Args) != want {
			t.Errorf("args %v, %v; want %s", e.Args, err, want)
		}
	}
}

// Whatever a log says: exclusive times add up to the traced time, inclusive ones to
// those of what was called, nothing is negative, and nothing is lost.
func TestStack_RandomLogs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		n := rng.IntN(200)
		functions := 1 + rng.IntN(8)
		var list []Step
		time, entries := uint64(rng.IntN(1000)), int64(0)
		for range n {
			st := Step{Kind: Kind(rng.IntN(4)), Function: uint64(1 + rng.IntN(functions))}
			if rng.IntN(3) > 0 {
				st.Kind = Enter
			}
			switch rng.IntN(40) {
			case 0:
				st.Kind = Gap
			case 1:
				st.Kind = Note
			case 2:
				time -= min(time, uint64(rng.IntN(50)))
			}
			if st.Kind == Enter {
				entries++
			}
			time += uint64(rng.IntN(20))
			st.Time = time
			list = append(list, st)
		}
		stack := NewStack(&script{steps: slices.Clone(list)})
		var sum, last uint64
		inclusive := map[int]uint64{} // of the calls at a depth whose caller has not ended
		var count, inferred int64
		for {
			var e Event
			if err := stack.Next(&e); err != nil {
				break
			}
			if e.Time < last {
				t.Fatalf("round %d: time goes back from %d to %d", round, last, e.Time)
			}
			last = e.Time
			if e.Kind == Note {
				continue
			}
			depth := len(e.Stack)
			if e.Inclusive != e.Exclusive+inclusive[depth] {
				t.Fatalf("round %d: a call of %d ns, %d of them its own, and %d in others", round, e.Inclusive, e.Exclusive, inclusive[depth])
			}
			inclusive[depth] = 0
			inclusive[depth-1] += e.Inclusive
			sum += e.Exclusive
			count++
			if e.Inferred {
				inferred++
			}
		}
		c := stack.Counts()
		if sum != c.Traced || sum != inclusive[0] || sum > time+1000 {
			t.Fatalf("round %d: exclusive times are %d, outermost calls %d, the thread was traced for %d", round, sum, inclusive[0], c.Traced)
		}
		if count != entries || count != c.Calls || inferred != c.Inferred {
			t.Fatalf("round %d: %d entries, %d calls (%d inferred), counted %+v", round, entries, count, inferred, c)
		}
		if want := traced(list); want != c.Traced {
			t.Fatalf("round %d: traced for %d, should be %d", round, c.Traced, want)
		}
	}
}

// traced works out, in the plainest way, for how long a thread had any function.
func traced(list []Step) (sum uint64) {
	var stack []uint64
	last := uint64(0)
	for _, st := range list {
		if st.Kind == Gap {
			stack = nil
			continue
		}
		if st.Time > last {
			if len(stack) > 0 {
				sum += st.Time - last
			}
			last = st.Time
		}
		switch st.Kind {
		case Enter:
			stack = append(stack, st.Function)
		case Exit, TailExit, Unwound:
			for i := len(stack) - 1; i >= 0; i-- {
				if stack[i] == st.Function {
					stack = stack[:i]
					break
				}
			}
		}
	}
	return sum
}

// A log without exits neither fills the memory nor takes for ever.
func TestStack_NoExits(t *testing.T) {
	const n = 3*MaxDepth + 10
	list := make([]Step, 0, 2*n)
	for i := range uint64(n) {
		list = append(list, Step{Kind: Enter, Time: i, Function: i + 1}, Step{Kind: Exit, Time: i, Function: 1 << 40})
	}
	stack := NewStack(&script{steps: list})
	deepest, calls := 0, 0
	for {
		var e Event
		if err := stack.Next(&e); err != nil {
			break
		}
		deepest = max(deepest, len(e.Stack))
		calls++
	}
	c := stack.Counts()
	if deepest != MaxDepth-shallow || calls != n || c.TooDeep != 3 || c.Unmatched != n || c.Traced != n-1 {
		t.Errorf("%d calls, at most %d deep, %+v", calls, deepest, c)
	}
}

// A stack that is folded keeps both of its ends: the outermost calls last as long as they
// do, and exits of folded calls end no others.
func TestStack_Folded(t *testing.T) {
	const deep = 200_000
	recursion, time := steps("1+1 2+2"), uint64(2)
	for range deep {
		time++
		recursion = append(recursion, Step{Kind: Enter, Time: time, Function: 3})
	}
	for range deep {
		time++
		recursion = append(recursion, Step{Kind: Exit, Time: time, Function: 3})
	}
	for i, function := range []uint64{2, 4, 4, 1} {
		time++
		recursion = append(recursion, Step{Kind: []Kind{Exit, Enter, Exit, Exit}[i], Time: time, Function: function})
	}
	thrown, at := steps("1+1 2+2"), uint64(2) // 2 calls 3, which throws, and then 4, which does not
	for range deep {
		at += 3
		thrown = append(thrown, Step{Kind: Enter, Time: at - 2, Function: 3}, Step{Kind: Enter, Time: at - 1, Function: 4}, Step{Kind: Exit, Time: at, Function: 4})
	}
	thrown = append(thrown, Step{Kind: Exit, Time: at + 1, Function: 2}, Step{Kind: Enter, Time: at + 2, Function: 4}, Step{Kind: Exit, Time: at + 3, Function: 4}, Step{Kind: Exit, Time: at + 4, Function: 1})
	for _, test := range []struct {
		name            string
		steps           []Step
		calls, inferred int64
		last            []string // time, stack, inclusive time
	}{
		{"recursion", recursion, deep + 3, 0, []string{"400003 [1 2] 400001", "400005 [1 4] 1", "400006 [1] 400005"}},
		{"exceptions", thrown, 2*deep + 3, deep, []string{"600003 [1 2] 600001", "600005 [1 4] 1", "600006 [1] 600005"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			stack := NewStack(&script{steps: test.steps})
			var last []string
			var sum uint64
			for {
				var e Event
				if err := stack.Next(&e); err != nil {
					break
				}
				sum += e.Exclusive
				if e.Stack[0] != 1 || len(e.Stack) > 1 && e.Stack[1] != 2 && e.Stack[1] != 4 {
					t.Fatalf("at %d the stack begins with %v", e.Time, e.Stack[:2])
				}
				if last = append(last, fmt.Sprint(e.Time, e.Stack[:min(len(e.Stack), 9)], e.Inclusive)); len(last) > 3 {
					last = last[1:]
				}
			}
			if !slices.Equal(last, test.last) {
				t.Errorf("it ends with %q", last)
			}
			c := stack.Counts()
			if c.Calls != test.calls || c.TooDeep < 2 || c.Unmatched != 0 || sum != c.Traced || c.Traced != test.steps[len(test.steps)-1].Time-1 {
				t.Errorf("exclusive times are %d, %+v", sum, c)
			}
			if test.inferred != 0 && c.Inferred != test.inferred {
				t.Errorf("got %+v; want test.inferred = 0 or Inferred = %v", c, test.inferred)
			}
		})
	}
}

// When the stacks of all threads have too many frames, each keeps some all the same.
func TestStack_AllThreadsTooDeep(t *testing.T) {
	const n = 10_000
	list := steps("1+1")
	for i := range uint64(n) {
		list = append(list, Step{Kind: Enter, Time: 2 + i, Function: 2})
	}
	list = append(list, Step{Kind: Exit, Time: n + 2, Function: 1})
	room := 10
	stack := newStack(&script{steps: list}, &room)
	var last Event
	for {
		var e Event
		if err := stack.Next(&e); err != nil {
			break
		}
		if len(e.Stack) > 4*shallow {
			t.Fatalf("%d calls deep", len(e.Stack))
		}
		last = e
	}
	if last.Inclusive != n+1 || len(last.Stack) != 1 || last.Inferred || stack.Counts().Calls != n+1 || room != 10 {
		t.Errorf("the last event is %+v, %d frames are left, %+v", last, room, stack.Counts())
	}
}

func TestMerger_Threads(t *testing.T) {
	failed := errors.New("the disk is gone")
	m := NewMerger([]Thread{
		&script{tid: 1, steps: steps("10+1 20+2 30-2 50-1")},
		&script{tid: 2},
		&script{tid: 3, steps: steps("15+3 30-3 31+3 32-3"), err: failed},
		&script{tid: 4, steps: steps("1+4 60-4")},
	})
	var got []string
	for {
		e, err := m.Next()
		if err != nil {
			break
		}
		got = append(got, fmt.Sprintf("%d:%d", e.Time, e.TID))
	}
	if want := "30:1 30:3 32:3 50:1 60:4"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if c := m.Counts(); c.Threads != 3 || c.Calls != 5 || c.Traced != 40+16+59 {
		t.Errorf("counts %+v", c)
	}
	if len(m.Errs()) != 1 || m.Errs()[0] != failed {
		t.Errorf("errors %v", m.Errs())
	}
}

// Many threads come out in order, and the order is the same each time.
func TestMerger_ManyThreads(t *testing.T) {
	run := func() (got []string) {
		rng := rand.New(rand.NewPCG(3, 4))
		var threads []Thread
		for tid := range uint32(50) {
			var list []Step
			time := uint64(0)
			for range rng.IntN(100) {
				time += uint64(rng.IntN(3))
				list = append(list, Step{Kind: Kind(rng.IntN(2)), Time: time, Function: uint64(rng.IntN(3))})
			}
			threads = append(threads, &script{tid: tid, steps: list})
		}
		m := NewMerger(threads)
		last := uint64(0)
		for {
			e, err := m.Next()
			if err != nil {
				return got
			}
			if e.Time < last {
				t.Fatalf("%d after %d", e.Time, last)
			}
			last = e.Time
			got = append(got, fmt.Sprint(e.Time, e.TID, e.Stack))
		}
	}
	if first := run(); len(first) < 1000 || !slices.Equal(first, run()) {
		t.Errorf("%d events, and not the same twice", len(first))
	}
}

// Threads that live one after the other are read one after the other.
func TestMerger_OneThreadAfterTheOther(t *testing.T) {
	open := 0
	var threads []Thread
	for i := range uint64(100) {
		at := 1000 - i*10
		threads = append(threads, &sleeper{script{tid: uint32(i), steps: steps(fmt.Sprintf("%d+1 %d-1 %d+1 %d-1", at, at+2, at+4, at+15))}, at, &open})
	}
	m := NewMerger(threads)
	last, events := uint64(0), 0
	for {
		e, err := m.Next()
		if err != nil {
			break
		}
		if e.Time < last || open > 3 {
			t.Fatalf("%d after %d, %d threads open", e.Time, last, open)
		}
		last = e.Time
		events++
	}
	if c := m.Counts(); events != 200 || c.Threads != 100 || c.Calls != 200 || open != 0 {
		t.Errorf("%d events, %+v, %d open", events, c, open)
	}
}

// A busy thread is one that never runs out of calls: 8 deep, with a little recursion.
type busy struct {
	left, at int
	time     uint64
}

func (b *busy) TID() uint32 { return 1 }

func (b *busy) Next(s *Step) error {
	if b.left == 0 {
		return io.EOF
	}
	b.left--
	b.time += 37
	phase := b.at % 16
	b.at++
	*s = Step{Kind: Enter, Time: b.time, Function: uint64(0x1000 + 16*min(phase, 15-phase))}
	if phase >= 8 {
		s.Kind = Exit
	}
	return nil
}

func TestMerger_NoAllocation(t *testing.T) {
	threads := []Thread{&busy{left: 1 << 20}, &busy{left: 1 << 20, time: 5}, &busy{left: 1 << 20, time: 9}}
	m := NewMerger(threads)
	for range 1000 {
		m.Next()
	}
	if n := testing.AllocsPerRun(1000, func() {
		for range 100 {
			m.Next()
		}
	}); n != 0 {
		t.Errorf("got %v allocations for 100 events; want none", n)
	}
}

func BenchmarkMerger(b *testing.B) {
	var threads []Thread
	for i := range 4 {
		threads = append(threads, &busy{left: b.N / 4, time: uint64(i)})
	}
	m := NewMerger(threads)
	b.ResetTimer()
	for {
		if _, err := m.Next(); err != nil {
			return
		}
	}
}
