package cfi

import (
	"bytes"
	"debug/elf"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// HotSpot's template interpreter on x86-64. Its code is one piece of 100 kB, with parts that jump
// to each other by tables. All of it has one frame (frame_x86.hpp, the same from JDK 17 to 25):
//
//	rbp+8   return address
//	rbp     the caller's rbp
//	rbp-8   sender_sp, the caller's stack pointer: the CFA
//
// The CFA is not rbp+16: the method's parameters and locals lie between. Interpreted callers do not
// need it, because their rows count from rbp. Compiled callers do: theirs count from the stack
// pointer. Adapters between compiled callers and the interpreter, and deoptimization, pass on the
// caller's stack pointer as it was (gen_c2i_adapter and generate_deopt_blob of
// sharedRuntime_x86_64.cpp).
//
// The code itself shows this frame. It is made by
//
//	push rax         the return address, from below the locals
//	push rbp
//	mov rbp, rsp
//	push r13         sender_sp
//
// and removed by
//
//	mov rbx, [rbp-8] or another register
//	...
//	leave
//	pop rsi          the return address; or another register
//	mov rsp, rbx
//	...
//	jmp rsi

var (
	pushMoveRBP = []byte{0x55, 0x48, 0x8b, 0xec} // push rbp; mov rbp, rsp
	pushR13     = []byte{0x41, 0x55}
	pushRAX     = byte(0x50)
)

const (
	senderSP = -8 // offset from rbp

	// maxRemoval bounds the bytes between the load of sender_sp and leave: the check of the
	// reserved zone, with two calls into the VM.
	maxRemoval = 1024
	// maxLeaving bounds the bytes between leave and mov rsp: since JDK 25, a store for JFR.
	maxLeaving = 16
)

// InterpreterRows returns rows for all of the code of HotSpot's interpreter. It keeps rows, which
// [Synthesizer.Synthesize] has derived. Everywhere else, the row follows the frame pointer, as
// unwinders do without a row, and adds the CFA.
//
// Before a method's frame is made and after it is removed, rbp is the caller's. There the row leads
// to the caller's caller, as it does without one.
//
// Code with another frame than the interpreter's of JDK 17 to 25 keeps its rows.
func InterpreterRows(t jitcode.Target, code []byte, rows []jitcode.FrameRow) []jitcode.FrameRow {
	m := machineOf(t)
	if m == nil || elf.Machine(t.Machine) != elf.EM_X86_64 || len(code) > maxCode {
		return rows
	}
	made, ok := framesMade(code)
	if !ok || !removesFrame(code) {
		return rows
	}
	frame := jitcode.FrameRow{
		Known: true,
		CFA:   jitcode.CFA{Reg: m.regs[fp], Offset: 2 * wordSize, Stored: senderSP},
		Saved: []jitcode.SavedReg{{Reg: m.regs[fp], Offset: -2 * wordSize}, {Reg: m.returnReg, Offset: -wordSize}},
	}
	early := frame // before sender_sp is pushed
	early.CFA.Stored = 0
	var out []jitcode.FrameRow
	add := func(from uint64, row jitcode.FrameRow) {
		row.Offset = from
		if last := len(out) - 1; last >= 0 && out[last].Offset == from {
			out = out[:last]
		}
		out = append(out, row)
	}
	// fill gives the code between two places the interpreter's frame.
	fill := func(from, to uint64) {
		add(from, frame)
		for ; len(made) > 0 && made[0] < to; made = made[1:] {
			if made[0] >= from {
				add(made[0], early)
				if end := made[0] + uint64(len(pushR13)); end < to {
					add(end, frame)
				}
			}
		}
	}
	at := uint64(0)
	for i, row := range rows {
		if i == 0 && row.Offset > 0 {
			fill(0, row.Offset)
		}
		at = uint64(len(code))
		if i+1 < len(rows) {
			at = rows[i+1].Offset
		}
		if row.Known {
			add(row.Offset, row)
		} else {
			fill(row.Offset, at)
		}
	}
	if len(rows) == 0 {
		fill(0, uint64(len(code)))
	}
	return slices.Clip(out)
}

// framesMade returns the sorted places where sender_sp is pushed. ok is true if there is at least
// one, and all frames in code are made in the interpreter's way.
func framesMade(code []byte) (at []uint64, ok bool) {
	for from := 0; ; {
		i := bytes.Index(code[from:], pushMoveRBP)
		if i < 0 {
			return at, len(at) > 0
		}
		end := from + i + len(pushMoveRBP)
		if from+i == 0 || code[from+i-1] != pushRAX || !bytes.HasPrefix(code[end:], pushR13) {
			return nil, false
		}
		at = append(at, uint64(end))
		from = end
	}
}

// removesFrame reports whether code removes a frame in the interpreter's way.
func removesFrame(code []byte) bool {
	const leave = 0xc9
	for at := 0; ; at++ {
		i := bytes.IndexByte(code[at:], leave)
		if i < 0 {
			return false
		}
		at += i
		for end := at + 1; end < min(at+1+maxLeaving, len(code)-4); end++ {
			// pop reg, with reg below r8; mov rsp, reg, likewise.
			if code[end]&^7 != 0x58 || code[end+1] != 0x48 || code[end+2] != 0x8b || code[end+3]&^7 != 0xe0 {
				continue
			}
			load := []byte{0x48, 0x8b, 0x45 | code[end+3]&7<<3, 0xf8} // mov reg, [rbp-8]
			if bytes.Contains(code[max(at-maxRemoval, 0):at], load) {
				return true
			}
		}
	}
}
