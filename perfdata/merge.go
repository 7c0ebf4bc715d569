package perfdata

import (
	"cmp"
	"container/heap"
	"fmt"
	"io"
	"math"
	"slices"
)

// A merger merges several streams into one. Records come in the order of time, if each source has
// that order. Records without a time stay after their predecessor.
type merger struct {
	layouts *Layouts
	sources []*mergeSource
	queue   mergeQueue // the sources that are not done; nil before the first run
	owner   int        // source of the last returned run, or -1
	pos     int64
}

// A mergeSource is one of the streams. at is the place of its next record in block, and key that
// record's time, or the latest before it.
type mergeSource struct {
	stream Stream
	index  int    // in sources
	name   string // for errors
	block  Block
	at     int
	key    uint64
	begun  bool
	done   bool
}

// Next implements Stream.
func (m *merger) Next() (Block, error) {
	// A payload must follow its record, so the last run's source goes first.
	if m.owner >= 0 {
		s := m.sources[m.owner]
		if err := m.advance(s); err != nil {
			return Block{}, err
		}
		if !s.done && s.block.Opaque {
			b := s.block
			s.at = len(b.Data)
			return m.block(b), nil
		}
	}
	if m.queue == nil {
		for i, s := range m.sources {
			s.index = i
			if err := m.advance(s); err != nil {
				return Block{}, err
			}
		}
		m.queue = slices.DeleteFunc(slices.Clone(m.sources), func(s *mergeSource) bool { return s.done })
		heap.Init(&m.queue)
	} else if len(m.queue) > 0 && m.queue[0].done {
		heap.Pop(&m.queue)
	} else if len(m.queue) > 0 {
		heap.Fix(&m.queue, 0)
	}
	if len(m.queue) == 0 {
		return Block{}, io.EOF
	}
	limit := uint64(math.MaxUint64)
	for _, next := range m.queue[1:min(3, len(m.queue))] {
		limit = min(limit, next.key)
	}
	m.owner = m.queue[0].index
	return m.block(m.run(m.queue[0], limit)), nil
}

// A mergeQueue is a heap of sources: the first one goes first.
type mergeQueue []*mergeSource

func (q mergeQueue) Len() int { return len(q) }
func (q mergeQueue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].key, q[j].key), cmp.Compare(q[i].index, q[j].index)) < 0
}
func (q mergeQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *mergeQueue) Push(s any)   { *q = append(*q, s.(*mergeSource)) }
func (q *mergeQueue) Pop() any {
	s := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return s
}

// advance ensures that s has a next record, or is done.
func (m *merger) advance(s *mergeSource) error {
	if s.done || s.begun && s.at < len(s.block.Data) {
		return nil
	}
	s.begun = true
	var err error
	if s.block, err = s.stream.Next(); err == io.EOF {
		s.done = true
		return nil
	} else if err != nil {
		if s.name != "" {
			err = fmt.Errorf("%s: %w", s.name, err)
		}
		return err
	}
	s.at = 0
	if !s.block.Opaque {
		s.key = m.key(s, recordAt(s.block.Data, s.block.order, s.block.little))
	}
	return nil
}

// key returns the key of a record after those that s has returned.
func (m *merger) key(s *mergeSource, rec Record) uint64 {
	if t, ok := m.layouts.Time(rec); ok {
		return max(s.key, t)
	}
	return s.key
}

// run returns records of s up to time limit, the key of the next source's record.
func (m *merger) run(s *mergeSource, limit uint64) Block {
	from := s.at
	for s.key <= limit {
		s.at += len(recordAt(s.block.Data[s.at:], s.block.order, s.block.little).Data)
		if s.at == len(s.block.Data) {
			break
		}
		s.key = m.key(s, recordAt(s.block.Data[s.at:], s.block.order, s.block.little))
	}
	b := s.block
	b.Data = b.Data[from:s.at]
	if !b.Packed {
		b.Offset += int64(from)
	}
	return b
}

func (m *merger) block(b Block) Block {
	b.Pos, b.File = m.pos, m.owner
	m.pos += int64(len(b.Data))
	return b
}

// Cut implements Stream.
func (m *merger) Cut() int64 {
	for _, s := range m.sources {
		if at := s.stream.Cut(); at >= 0 {
			return at
		}
	}
	return -1
}
