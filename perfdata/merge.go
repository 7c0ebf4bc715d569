package perfdata

import (
	"fmt"
	"io"
	"math"
)

// A merger merges several streams into one. Records come in the order of time, if each source has
// that order. Records without a time stay after their predecessor.
type merger struct {
	layouts *Layouts
	sources []*mergeSource
	owner   int // source of the last returned run, or -1
	pos     int64
}

// A mergeSource is one of the streams. at is the place of its next record in block, and key that
// record's time, or the latest before it.
type mergeSource struct {
	stream Stream
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
	first, limit := -1, uint64(math.MaxUint64)
	for i, s := range m.sources {
		if err := m.advance(s); err != nil {
			return Block{}, err
		}
		switch {
		case s.done:
		case first < 0:
			first = i
		case s.key < m.sources[first].key:
			limit = min(limit, m.sources[first].key)
			first = i
		default:
			limit = min(limit, s.key)
		}
	}
	if first < 0 {
		return Block{}, io.EOF
	}
	m.owner = first
	return m.block(m.run(m.sources[first], limit)), nil
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
