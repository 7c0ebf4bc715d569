package cfi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// hostStep is how far apart the places are at which a host is looked at, and hostSpan
// how far from its start: prologues are short.
const (
	hostStep = 4
	hostSpan = 4 << 10
)

// Host returns the frame that a function of a program has when it is at work: behind
// its prologue, where the CFA is farthest from the stack pointer. Code that a JIT makes
// for an interpreter to jump to runs in it. ehFrame is the program's .eh_frame, at its
// address there, and pc where the function begins.
func Host(t jitcode.Target, ehFrame []byte, addr, pc uint64) (row jitcode.FrameRow, err error) {
	m := machineOf(t)
	if m == nil || t.Order != binary.LittleEndian {
		return row, errors.New("code of that machine is not understood")
	}
	defer func() {
		if r := recover(); r != nil { // delve's parser, of what it does not expect
			err = fmt.Errorf("its unwind tables cannot be read: %v", r)
		}
	}()
	fdes, err := frame.Parse(ehFrame, t.Order, 0, wordSize, addr)
	if err != nil {
		return row, err
	}
	i := slices.IndexFunc(fdes, func(f *frame.FrameDescriptionEntry) bool { return f.Cover(pc) }) // they are in any order
	if i < 0 {
		return row, errors.New("its unwind tables say nothing of it")
	}
	fde := fdes[i]
	for at := pc; at < fde.End() && at < pc+hostSpan; at += hostStep {
		c, err := fde.EstablishFrame(at)
		if err != nil {
			return row, err
		}
		if c.CFA.Rule != frame.RuleCFA || c.CFA.Reg != uint64(m.sp) || c.CFA.Offset <= row.CFA.Offset {
			continue
		}
		row = jitcode.FrameRow{Known: true, CFA: jitcode.CFA{Reg: m.sp, Offset: c.CFA.Offset}}
		for reg, rule := range c.Regs {
			if rule.Rule == frame.RuleOffset && reg < none {
				row.Saved = append(row.Saved, jitcode.SavedReg{Reg: uint8(reg), Offset: rule.Offset})
			}
		}
	}
	slices.SortFunc(row.Saved, func(a, b jitcode.SavedReg) int { return int(a.Reg) - int(b.Reg) })
	if !row.Known {
		err = errors.New("it has no frame that counts from the stack pointer")
	}
	return row, err
}
