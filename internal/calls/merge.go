package calls

import "io"

// A Merger puts the events of several threads into the order of time; those of the
// same time, in the order of the threads. It holds the next event of each.
type Merger struct {
	heap  []*head // the first is the next one
	all   []*Stack
	taken bool // the first has been handed out
	errs  []error
	room  int
}

type head struct {
	Event
	stack *Stack
	index int
}

// maxErrors bounds how many threads' errors are kept.
const maxErrors = 10

// NewMerger reads as far as the first event of each thread.
func NewMerger(threads []Thread) *Merger {
	m := &Merger{room: maxFrames}
	for i, t := range threads {
		h := &head{stack: newStack(t, &m.room), index: i}
		m.all = append(m.all, h.stack)
		if m.advance(h) {
			m.heap = append(m.heap, h)
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m
}

// Next returns the next event, valid until the following call, or io.EOF.
func (m *Merger) Next() (*Event, error) {
	if m.taken {
		m.taken = false
		if !m.advance(m.heap[0]) {
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
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

// Counts returns what was counted so far, of all threads.
func (m *Merger) Counts() (c Counts) {
	for _, s := range m.all {
		c.Add(s.counts)
	}
	return c
}

// Errs returns what threads ended with, other than their ends: the first few.
func (m *Merger) Errs() []error { return m.errs }

// advance gets the next event of a thread, if there is one.
func (m *Merger) advance(h *head) bool {
	err := h.stack.Next(&h.Event)
	if err != nil && err != io.EOF && len(m.errs) < maxErrors {
		m.errs = append(m.errs, err)
	}
	return err == nil
}

func (h *head) before(other *head) bool {
	return h.Time < other.Time || h.Time == other.Time && h.index < other.index
}

// down moves what is at i behind what comes before it.
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
