package mono

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
)

// In calls mode, a Mono log has the entries and exits of methods. The scan records the buffers with
// such events, and their threads. The calls themselves are read later, for all threads in parallel
// (trace.go).

// A logCalls has the scan's findings about calls.
type logCalls struct {
	threads   []*LogThread
	current   map[uint64]*LogThread // by pthread_self
	left      int                   // number of threads beyond maxMonoThreads
	unplaced  []unplacedMethod
	buffer    logBuffer // the current buffer
	logged    bool      // it has calls
	loads     bool      // it has the start of its thread
	named     []byte
	namedAt   uint64
	unloaded  bool
	lastTime  uint64
	firstTime uint64
}

// A LogThread is a thread of a log. Mono identifies it by its pthread_self. A later thread may have
// the same.
type LogThread struct {
	Self        uint64
	Name        string // name from the program or from Mono; "" for none
	NamedAt     uint64 // time of the name, in ns of CLOCK_MONOTONIC; 0 without a name
	Loaded      bool   // the log has its start, at First or soon after
	First, Last uint64 // times of its first and its last event

	buffers []logBuffer // buffers with calls
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
	name         keptName
}

// maxMonoThreads bounds the number of distinct threads.
const maxMonoThreads = 1 << 15

// begin starts a buffer with its header.
func (c *logCalls) begin(b *monolog.BufferHeader) {
	c.buffer = logBuffer{b.Offset, int64(b.Len), b.Time}
	c.logged, c.loads, c.unloaded, c.named = false, false, false, c.named[:0]
	c.firstTime, c.lastTime = 0, b.Time
}

// see examines an event in the buffer of a thread.
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
	case monolog.KindJIT, monolog.KindJITHelper: // it may have the time of another thread
		return
	}
	if c.firstTime == 0 {
		c.firstTime = e.Time
	}
	c.lastTime = max(c.lastTime, e.Time)
}

// end ends a buffer, at the end of its readable part.
func (c *logCalls) end(self uint64) {
	if c.firstTime == 0 {
		return
	}
	if c.current == nil {
		c.current = make(map[uint64]*LogThread)
	}
	t := c.current[self]
	// An ended thread writes a little more.
	if t == nil || c.loads && (t.ended || len(t.buffers) > 0) {
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

// Mono loses the addresses of many methods while it logs calls. They get made-up addresses, outside
// the memory of all processes. So their calls have names all the same.

// unplacedBase is above the memory of processes on every machine, and below the addresses that perf
// assigns to the kernel. It reads "MONO". Each method has unplacedSize bytes, with a gap of the
// same size after it: an address just after a function may refer to that function.
const (
	unplacedBase = 0x4d4f4e4f_00000000
	unplacedSize = 16
)

// IsUnplaced reports whether an address is a made-up one.
func IsUnplaced(addr uint64) bool { return addr>>32 == unplacedBase>>32 }

// placeUnplaced assigns made-up addresses to methods without addresses, if the log has calls. If
// the log also has an address for the same method and name, that one is used.
func (m *Log) placeUnplaced() {
	if !m.HasCalls() {
		m.calls.unplaced, m.methods.all = nil, nil // only calls refer to methods
		return
	}
	began := m.Began()
	for _, t := range m.calls.threads { // the header is written a little later than the first calls
		began = min(began, t.First)
	}
	// The k-th method without an address is the k-th of unplaced. Both lists were built in the same
	// order, and stable sorting keeps the order of equal elements.
	all, unplaced := m.methods.all, m.calls.unplaced
	sorting.Stable(all, compareMethods)
	m.methods.sorted = true
	sorting.Stable(unplaced, func(a, b unplacedMethod) int {
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
		places := make(map[string]int32) // functions of the method, by name
		for _, e := range group {
			if e.function >= 0 {
				places[string(m.names.name(m.names.of[e.function]))] = e.function
			}
		}
		for j := range group {
			if group[j].function >= 0 {
				continue
			}
			name := unplaced[0].name
			unplaced = unplaced[1:]
			at, ok := places[string(m.names.name(name))]
			if !ok {
				at = m.makePlace(name, began)
				places[string(m.names.name(name))] = at
			}
			group[j].function = at
		}
	}
	m.calls.unplaced = nil
}

// makePlace adds a function at a made-up address.
func (m *Log) makePlace(name keptName, time uint64) int32 {
	at := len(m.names.of)
	m.names.of = append(m.names.of, name)
	m.Events = append(m.Events, jitcode.Event{
		Kind: jitcode.Load, Function: int32(at), Time: time, Index: uint64(at),
		Addr: unplacedBase + uint64(m.Made)*2*unplacedSize, Size: unplacedSize,
	})
	m.Made++
	return int32(at)
}

// HasCalls reports whether the log has calls.
func (m *Log) HasCalls() bool {
	return slices.ContainsFunc(m.calls.threads, (*LogThread).Calls)
}

// Threads returns the threads of the log with events other than those about code.
func (m *Log) Threads() []*LogThread { return m.calls.threads }
