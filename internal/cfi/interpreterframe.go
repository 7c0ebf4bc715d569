package cfi

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/format/callframe"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// InterpreterFrame returns the frame of most of the code of a program's function, such as the main
// loop of an interpreter. JIT code that the interpreter jumps to runs in that frame. ehFrame is the
// program's .eh_frame, addr its address, and pc the function's first address. It fails if no frame
// is valid in most of the function, or the frame is of another kind.
func InterpreterFrame(t jitcode.Target, ehFrame []byte, addr, pc uint64) (row jitcode.FrameRow, err error) {
	m := machineOf(t)
	if m == nil || t.Order != binary.LittleEndian {
		return row, errors.New("code of that machine is not understood")
	}
	r := callframe.NewReader(callframe.Place{Order: t.Order, AddrSize: wordSize, Machine: elf.Machine(t.Machine), Addr: addr, All: true}, ehFrame)
	for {
		e, ok := r.Next()
		switch {
		case !ok && r.Err() != nil:
			return row, fmt.Errorf("its unwind tables cannot be read: %w", r.Err())
		case !ok:
			return row, errors.New("its unwind tables say nothing of it")
		}
		if e.Kind != callframe.KindFDE || e.Err != nil || pc < e.Low || pc-e.Low >= e.Size {
			continue
		}
		if row, err = mostOf(r, &e); err != nil {
			return jitcode.FrameRow{}, err
		}
		break
	}
	if row.CFA.Reg != m.sp && row.CFA.Reg != m.regs[fp] {
		return jitcode.FrameRow{}, fmt.Errorf("its frame counts from register %d", row.CFA.Reg)
	}
	return row, nil
}

// mostOf returns the row that holds in most of the code of an FDE.
func mostOf(r *callframe.Reader, e *callframe.Entry) (row jitcode.FrameRow, err error) {
	count := make(map[jitcode.CFA]uint64) // bytes of code
	most := uint64(0)
	_, err = r.Rows(&r.CIEs[e.CIE], e.Instructions, e.InstrAt, e.Size, func(from, to uint64, now *callframe.Row) string {
		if !now.Defined || now.Computed || now.Reg >= none || from == to {
			return ""
		}
		cfa := jitcode.CFA{Reg: uint8(now.Reg), Offset: now.Offset}
		if count[cfa] += to - from; count[cfa] <= most {
			return ""
		}
		if most = count[cfa]; row.Known && row.CFA == cfa {
			return ""
		}
		row = jitcode.FrameRow{Known: true, CFA: cfa}
		for _, s := range now.Saved {
			if s.Kind == callframe.AtCFA && s.Reg < none {
				row.Saved = append(row.Saved, jitcode.SavedReg{Reg: uint8(s.Reg), Offset: s.Offset})
			}
		}
		return ""
	})
	if err == nil && 2*most <= e.Size {
		err = errors.New("no frame holds in most of it")
	}
	return row, err
}
