package calls

import "io"

// A Merger sorts the events of several threads by time; equal times, by the order of the threads.
// It holds the next event of each running thread.
type Merger struct {
	heap  []*head // the first is the next one
	taken bool    // the first was returned
	ended Counts
	errs  []error
	room  int
}

type head struct {
	Event
	stack  *Stack
	index  int
	asleep bool // nothing was read yet; Event.Time is its start
}

// A Sleeper is a Thread with a known start time. It is not read before that time. So of many
// threads that live one after the other, few are open at a time.
type Sleeper interface {
	Begins() uint64 // no step is older than this
}

// maxErrors bounds how many threads' errors are kept.
const maxErrors = 10

// NewMerger returns a Merger. It reads the first event of each thread that is no Sleeper.
func NewMerger(threads []Thread) *Merger {
	m := &Merger{room: maxFrames}
	for i, t := range threads {
		h := &head{stack: newStack(t, &m.room), index: i}
		if s, ok := t.(Sleeper); ok {
			h.asleep, h.Time = true, s.Begins()
			h.stack.last = h.Time
		} else if !m.advance(h) {
			continue
		}
		m.heap = append(m.heap, h)
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m
}

// Next returns the next event, valid until the following call, or io.EOF.
func (m *Merger) Next() (*Event, error) {
	for m.taken || len(m.heap) > 0 && m.heap[0].asleep {
		m.taken = false
		if !m.advance(m.heap[0]) {
			last := len(m.heap) - 1
			m.heap[0], m.heap[last] = m.heap[last], nil
			m.heap = m.heap[:last]
		}
		m.down(0)
	}
	if len(m.heap) == 0 {
		return nil, io.EOF
	}
	m.taken = true
	return &m.heap[0].Event, nil
}

// Counts returns the counts of all threads so far.
func (m *Merger) Counts() Counts {
	c := m.ended
	for _, h := range m.heap {
		c.Add(h.stack.counts)
	}
	return c
}

// Errs returns the errors that ended threads, except io.EOF: the first maxErrors.
func (m *Merger) Errs() []error { return m.errs }

// advance reads the next event of a thread. It returns false if there is none.
func (m *Merger) advance(h *head) bool {
	h.asleep = false
	err := h.stack.Next(&h.Event)
	if err != nil {
		m.ended.Add(h.stack.counts)
	}
	if err != nil && err != io.EOF && len(m.errs) < maxErrors {
		m.errs = append(m.errs, err)
	}
	return err == nil
}

func (h *head) before(other *head) bool {
	return h.Time < other.Time || h.Time == other.Time && h.index < other.index
}

// down restores the heap order from index i downwards.
func (m *Merger) down(i int) {
	for {
		next := 2*i + 1
		if next >= len(m.heap) {
			return
		}
		if right := next + 1; right < len(m.heap) && m.heap[right].before(m.heap[next]) {
			next = right
		}
		if m.heap[i].before(m.heap[next]) {
			return
		}
		m.heap[i], m.heap[next] = m.heap[next], m.heap[i]
		i = next
	}
}
