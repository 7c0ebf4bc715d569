package cfi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// interpreterSamples is the number of places at which an interpreter is probed.
const interpreterSamples = 1024

// InterpreterFrame returns the frame of most of the code of a program's function, such as the main
// loop of an interpreter. JIT code that the interpreter jumps to runs in that frame. ehFrame is the
// program's .eh_frame, addr its address, and pc the function's first address. It fails if no frame
// is valid in most of the function, or the frame is of another kind.
func InterpreterFrame(t jitcode.Target, ehFrame []byte, addr, pc uint64) (row jitcode.FrameRow, err error) {
	m := machineOf(t)
	if m == nil || t.Order != binary.LittleEndian {
		return row, errors.New("code of that machine is not understood")
	}
	defer func() {
		if r := recover(); r != nil { // delve's parser panics on unexpected input
			err = fmt.Errorf("its unwind tables cannot be read: %v", r)
		}
	}()
	fdes, err := frame.Parse(ehFrame, t.Order, 0, wordSize, addr)
	if err != nil {
		return row, err
	}
	// The FDEs are not sorted.
	i := slices.IndexFunc(fdes, func(f *frame.FrameDescriptionEntry) bool { return f.Cover(pc) })
	if i < 0 {
		return row, errors.New("its unwind tables say nothing of it")
	}
	fde := fdes[i]
	count := make(map[jitcode.CFA]int)
	step := max((fde.End()-fde.Begin())/interpreterSamples, 1)
	n, most := 0, 0
	for at := fde.Begin(); at < fde.End(); at += step {
		c, err := fde.EstablishFrame(at)
		if err != nil {
			return row, err
		}
		n++
		if c.CFA.Rule != frame.RuleCFA || c.CFA.Reg >= none {
			continue
		}
		cfa := jitcode.CFA{Reg: uint8(c.CFA.Reg), Offset: c.CFA.Offset}
		if count[cfa]++; count[cfa] <= most {
			continue
		}
		if most = count[cfa]; row.Known && row.CFA == cfa {
			continue
		}
		row = jitcode.FrameRow{Known: true, CFA: cfa}
		for reg, rule := range c.Regs {
			if rule.Rule == frame.RuleOffset && reg < none {
				row.Saved = append(row.Saved, jitcode.SavedReg{Reg: uint8(reg), Offset: rule.Offset})
			}
		}
	}
	if 2*most <= n {
		return jitcode.FrameRow{}, errors.New("no frame holds in most of it")
	}
	if row.CFA.Reg != m.sp && row.CFA.Reg != m.regs[fp] {
		return jitcode.FrameRow{}, fmt.Errorf("its frame counts from register %d", row.CFA.Reg)
	}
	slices.SortFunc(row.Saved, func(a, b jitcode.SavedReg) int { return int(a.Reg) - int(b.Reg) })
	return row, nil
}
