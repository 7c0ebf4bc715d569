package mono

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// A log in Mono's calls mode tells when methods are entered and left. While a log is
// scanned, it is noted which buffers have that, and of which thread they are; the calls
// themselves are read later, all threads side by side (monotrace.go).

// A logCalls is what the scan notes about calls.
type logCalls struct {
	threads   []*LogThread
	current   map[uint64]*LogThread // by pthread_self
	left      int                   // threads beyond maxMonoThreads
	unplaced  []unplacedMethod
	buffer    logBuffer // that is being read
	logged    bool      // it has calls
	loads     bool      // it says that its thread begins
	named     []byte
	namedAt   uint64
	unloaded  bool
	lastTime  uint64
	firstTime uint64
}

// A LogThread is a thread of a log. Mono calls it by its pthread_self, which another
// one may have when it is gone.
type LogThread struct {
	Self        uint64
	Name        string // what the program, or Mono, called it; "" for none
	NamedAt     uint64 // when; 0 if it has no name
	Loaded      bool   // the log says that it began, at First or soon after
	First, Last uint64 // times of its first and its last event

	buffers []logBuffer // those with calls
	ended   bool
}

// Calls reports whether the thread has logged calls.
func (t *LogThread) Calls() bool { return len(t.buffers) > 0 }

type logBuffer struct {
	offset int64
	size   int64
	time   uint64
}

type unplacedMethod struct {
	method, time uint64
	name         []byte
}

// maxMonoThreads bounds how many threads are told apart.
const maxMonoThreads = 1 << 15

// begin takes in the header of a buffer.
func (c *logCalls) begin(b *monolog.BufferHeader) {
	c.buffer = logBuffer{b.Offset, int64(b.Len), b.Time}
	c.logged, c.loads, c.unloaded, c.named = false, false, false, c.named[:0]
	c.firstTime, c.lastTime = 0, b.Time
}

// see takes in an event of the buffer of a thread.
func (c *logCalls) see(e *monolog.Event, self uint64) {
	switch e.Kind {
	case monolog.KindEnter, monolog.KindLeave, monolog.KindExcLeave:
		c.logged = true
	case monolog.KindThread:
		if e.Pointer != self {
			return
		}
		switch e.Load {
		case monolog.LoadEnd:
			c.loads = true
		case monolog.UnloadEnd:
			c.unloaded = true
		case monolog.LoadName:
			c.named, c.namedAt = append(c.named[:0], e.Name...), e.Time
		}
	case monolog.KindJIT, monolog.KindJITHelper: // its time may be of another thread
		return
	}
	if c.firstTime == 0 {
		c.firstTime = e.Time
	}
	c.lastTime = max(c.lastTime, e.Time)
}

// end takes in that a buffer has been read, as far as it can be.
func (c *logCalls) end(self uint64) {
	if c.firstTime == 0 {
		return
	}
	if c.current == nil {
		c.current = make(map[uint64]*LogThread)
	}
	t := c.current[self]
	if t == nil || c.loads && (t.ended || len(t.buffers) > 0) { // it also writes a little when it is said to be gone
		if len(c.threads) == maxMonoThreads {
			c.left++
			return
		}
		t = &LogThread{Self: self, First: c.firstTime}
		c.threads = append(c.threads, t)
		c.current[self] = t
	}
	t.Loaded = t.Loaded || c.loads
	t.ended = t.ended || c.unloaded
	t.First, t.Last = min(t.First, c.firstTime), max(t.Last, c.lastTime)
	if len(c.named) > 0 {
		t.Name, t.NamedAt = string(c.named), c.namedAt
	}
	if c.logged {
		t.buffers = append(t.buffers, c.buffer)
	}
}

// Mono loses the addresses of many methods while it logs calls. They are put where no
// process has anything, so that their calls have names all the same.

// unplacedBase is above all memory that processes have, on every machine, and below what
// perf takes for the kernel's; it reads "MONO". Each method has unplacedSize bytes, and
// as many are free behind it: an address behind a function may be meant for that one.
const (
	unplacedBase = 0x4d4f4e4f_00000000
	unplacedSize = 16
)

// IsUnplaced reports whether an address is one that was made up.
func IsUnplaced(addr uint64) bool { return addr>>32 == unplacedBase>>32 }

// placeUnplaced gives places to methods without addresses, if the log has calls. One that
// the log tells of with an address as well, under the same name, is there.
func (m *Log) placeUnplaced() {
	if !m.HasCalls() {
		m.calls.unplaced = nil
		return
	}
	began := m.Began()
	for _, t := range m.calls.threads { // the header is written a little later than the first calls
		began = min(began, t.First)
	}
	// The k-th method without a place is the k-th of the unplaced: both lists are made in
	// one order, and sorting keeps that of equals.
	all, unplaced := m.methods.all, m.calls.unplaced
	slices.SortStableFunc(all, compareMethods)
	m.methods.sorted = true
	slices.SortStableFunc(unplaced, func(a, b unplacedMethod) int {
		return cmp.Or(cmp.Compare(a.method, b.method), cmp.Compare(a.time, b.time))
	})
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end].method == all[i].method {
			end++
		}
		group := all[i:end]
		i = end
		if !slices.ContainsFunc(group, func(e loggedMethod) bool { return e.function < 0 }) {
			continue
		}
		places := make(map[string]int32) // of the method, by its names
		for _, e := range group {
			if e.function >= 0 {
				places[string(m.nameOf[e.function])] = e.function
			}
		}
		for j := range group {
			if group[j].function >= 0 {
				continue
			}
			name := unplaced[0].name
			unplaced = unplaced[1:]
			at, ok := places[string(name)]
			if !ok {
				at = m.makePlace(name, began)
				places[string(name)] = at
			}
			group[j].function = at
		}
	}
	m.calls.unplaced = nil
}

// makePlace adds a function where no process has anything.
func (m *Log) makePlace(name []byte, time uint64) int32 {
	at := len(m.nameOf)
	m.nameOf = append(m.nameOf, name)
	m.Events = append(m.Events, jitcode.Event{
		Kind: jitcode.Load, Function: at, Time: time, Index: uint64(at),
		Addr: unplacedBase + uint64(m.Made)*2*unplacedSize, Size: unplacedSize,
	})
	m.Made++
	return int32(at)
}

// HasCalls reports whether the log tells of calls.
func (m *Log) HasCalls() bool {
	return slices.ContainsFunc(m.calls.threads, (*LogThread).Calls)
}

// Threads returns the threads of the log that have written anything but about code.
func (m *Log) Threads() []*LogThread { return m.calls.threads }
