package main

import (
	"encoding/binary"
	"slices"
)

// unwindTables copies .eh_frame and .eh_frame_hdr without the entries of unwanted
// functions. One empty entry fills each gap, so that readers can walk .eh_frame from its
// start.
func (s *skeleton) unwindTables() {
	frame, _ := s.header(".eh_frame")
	index, _ := s.header(".eh_frame_hdr")
	if frame == nil || index == nil {
		return
	}
	const (
		pcrel4, unsigned4, datarel4 = 0x1b, 0x03, 0x3b
		head                        = 12
	)
	le := binary.LittleEndian
	in := s.in[index.Offset : index.Offset+index.Size]
	if in[0] != 1 || in[1] != pcrel4 || in[2] != unsigned4 || in[3] != datarel4 {
		s.keep(frame.Offset, frame.Size)
		s.keep(index.Offset, index.Size)
		return
	}
	out := s.out[index.Offset : index.Offset+index.Size]
	copy(out, in[:head])
	n, count := int(le.Uint32(in[8:])), 0
	var records []record
	for i := range n {
		at := head + 8*i
		addr := index.Addr + uint64(int64(int32(le.Uint32(in[at:]))))
		next := addr + 1<<20
		if i+1 < n {
			next = index.Addr + uint64(int64(int32(le.Uint32(in[at+8:]))))
		}
		if !s.wants(addr, next) {
			continue
		}
		copy(out[head+8*count:], in[at:at+8])
		count++
		fde := index.Addr + uint64(int64(int32(le.Uint32(in[at+4:])))) - frame.Addr
		records = append(records, s.recordAt(frame.Offset, fde), s.recordAt(frame.Offset, s.cieOf(frame.Offset, fde)))
	}
	le.PutUint32(out[8:], uint32(count))
	s.fill(frame.Offset, frame.Size, records)
}

// A record of .eh_frame, from its start.
type record struct{ at, size uint64 }

func (s *skeleton) recordAt(section, at uint64) record {
	return record{at, 4 + uint64(binary.LittleEndian.Uint32(s.in[section+at:]))}
}

// cieOf returns the offset of the CIE of an FDE.
func (s *skeleton) cieOf(section, fde uint64) uint64 {
	return fde + 4 - uint64(binary.LittleEndian.Uint32(s.in[section+fde+4:]))
}

// fill copies records, and fills the gaps with empty entries.
func (s *skeleton) fill(section, size uint64, records []record) {
	const least = 24 // size of an empty entry
	first := s.recordAt(section, 0)
	records = append(records, first)
	slices.SortFunc(records, func(a, b record) int { return int(a.at) - int(b.at) })
	records = slices.Compact(records)
	le := binary.LittleEndian
	end := uint64(0)
	for _, r := range append(records, record{at: size}) {
		switch gap := r.at - end; {
		case gap == 0:
		case gap < least || r.at == size && gap <= 4:
			s.keep(section+end, gap)
		default:
			hole := gap
			if r.at == size {
				hole -= 4 // the end marker
			}
			le.PutUint32(s.out[section+end:], uint32(hole-4))
			le.PutUint32(s.out[section+end+4:], uint32(end+4-first.at))
		}
		s.keep(section+r.at, r.size)
		end = r.at + r.size
	}
}
