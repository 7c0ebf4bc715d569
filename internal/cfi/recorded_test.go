package cfi

import (
	"encoding/binary"
	"maps"
	"path/filepath"
	"testing"
)

// A stackCopy is what a sample has of a thread: its registers, by the numbers that DWARF
// gives them, and a copy of its stack.
type stackCopy struct {
	regs map[uint8]uint64
	ip   uint64
	data []byte
}

func (s *stackCopy) word(at uint64) (v uint64, ok bool) {
	if off := at - s.regs[7]; off < uint64(len(s.data)) && uint64(len(s.data))-off >= 8 {
		return binary.LittleEndian.Uint64(s.data[off:]), true
	}
	return 0, false
}

// stackCopies reads the samples of a perf.data that has what perf record on x86-64
// writes with --call-graph dwarf: IP|TID|TIME|ADDR|CALLCHAIN|PERIOD|REGS_USER|STACK_USER,
// 20 registers.
func stackCopies(t testing.TB, path string) (all []stackCopy) {
	t.Helper()
	le, file := binary.LittleEndian, read(t, path)
	data := file[le.Uint64(file[40:]):][:le.Uint64(file[48:])]
	for len(data) > 0 {
		size := le.Uint16(data[6:])
		rec := data[:size]
		data = data[size:]
		if le.Uint32(rec) != 9 {
			continue
		}
		rec = rec[48:] // up to the call chain
		rec = rec[8+8*le.Uint64(rec):]
		if le.Uint64(rec) == 0 { // no registers
			continue
		}
		rec = rec[8:]
		reg := func(i int) uint64 { return le.Uint64(rec[8*i:]) }
		s := stackCopy{ip: reg(8), regs: map[uint8]uint64{3: reg(1), 6: reg(6), 7: reg(7), 12: reg(16), 13: reg(17), 14: reg(18), 15: reg(19)}}
		rec = rec[160:]
		n := le.Uint64(rec)
		s.data = rec[8 : 8+le.Uint64(rec[8+n:])]
		all = append(all, s)
	}
	return all
}

// behindCall reports whether code up to at ends with a call.
func behindCall(code []byte, at uint64) bool {
	for n := uint64(2); n <= 8 && n <= at; n++ {
		ops, length := decodeX86(code, int(at-n), nil)
		if length == int(n) && len(ops) > 0 && ops[len(ops)-1].kind == opCall {
			return true
		}
	}
	return false
}

// Rows unwind the stacks of a real recording: from jitted code on, each return address
// in jitted code is behind a call.
func TestSynthesize_RecordedStacks(t *testing.T) {
	dir := recording(t, "node-dwarf")
	path := dumpsBelow(t, dir)[0]
	codes, names := loads(t, read(t, path))
	at := addresses(t, read(t, path))
	find := func(ip uint64) int {
		found := -1
		for i := range at {
			if ip >= at[i] && ip < at[i]+uint64(len(codes[i])) {
				found = i // the one that was loaded last
			}
		}
		return found
	}
	var s Synthesizer
	stacks, frames, holes, bad := 0, 0, 0, 0
	for _, stack := range stackCopies(t, filepath.Join(dir, "perf.data")) {
		i := find(stack.ip)
		if i < 0 {
			continue
		}
		stacks++
		regs, pc := maps.Clone(stack.regs), stack.ip
		for called := false; i >= 0; called = true {
			frames++
			off := pc - at[i]
			if called {
				if !behindCall(codes[i], off) {
					bad++
					t.Logf("%s+%#x is not behind a call", names[i], off)
					break
				}
				off--
			}
			row := rowAt(s.Synthesize(amd64, codes[i], nil).Rows, off)
			if !row.Known {
				holes++
				t.Logf("%s+%#x has no row", names[i], off)
				break
			}
			cfa := regs[row.CFA.Reg] + uint64(row.CFA.Offset)
			ok := true
			for _, r := range row.Saved {
				var known bool
				if regs[r.Reg], known = stack.word(cfa + uint64(r.Offset)); !known {
					ok = false
				}
			}
			if !ok {
				break // the copy ends
			}
			regs[7], pc = cfa, regs[16]
			i = find(pc)
		}
	}
	t.Logf("%d stacks, %d frames of jitted code: %d have no row, %d return addresses are false", stacks, frames, holes, bad)
	if stacks == 0 || bad > 0 || holes*50 > frames {
		t.Error("that is too bad")
	}
}
