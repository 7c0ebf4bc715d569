package cfi

import (
	"bytes"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// The entry of an interpreter of HotSpot in short, a part that tables lead to, and its exit.
var (
	interpreterEntry = []byte{
		0x58,                         // 0 pop rax
		0x4c, 0x8d, 0x74, 0xcc, 0xf8, // 1 lea r14, [rsp+rcx*8-8]
		0x6a, 0x00, //             6 push 0
		0x50,             // 8 push rax
		0x55,             // 9 push rbp
		0x48, 0x8b, 0xec, // 10 mov rbp, rsp
		0x41, 0x55, //       13 push r13
		0x6a, 0x00, //       15 push 0
		0x53,                   // 17 push rbx
		0x41, 0xff, 0x24, 0xda, // 18 jmp [r10+rbx*8]
	}
	interpreterExit = []byte{
		0x48, 0x8b, 0x5d, 0xf8, // 0 mov rbx, [rbp-8]
		0xc9,             // 4 leave
		0x5e,             // 5 pop rsi
		0x48, 0x8b, 0xe3, // 6 mov rsp, rbx
		0xff, 0xe6, //       9 jmp rsi
	}
)

// All of the interpreter has its frame, but for where sender_sp is not pushed yet.
func TestInterpreterRows_HotSpot(t *testing.T) {
	code := slices.Concat(interpreterEntry, []byte{0x90, 0x90}, interpreterEntry, interpreterExit)
	second := uint64(len(interpreterEntry) + 2)
	frame := " rbp+16 or [rbp-8] rbp"
	for _, c := range []struct {
		name string
		rows []jitcode.FrameRow
		want []string
	}{
		{"no rows", nil, []string{"0" + frame, "13 rbp+16 rbp", "15" + frame, "37 rbp+16 rbp", "39" + frame}},
		{"a row that remains", []jitcode.FrameRow{{Offset: 14, Known: true, CFA: jitcode.CFA{Reg: 7, Offset: 8}}, {Offset: second}},
			[]string{"0" + frame, "13 rbp+16 rbp", "14 rsp+8", "24" + frame, "37 rbp+16 rbp", "39" + frame}},
		{"a row to the end", []jitcode.FrameRow{{}, {Offset: second, Known: true, CFA: jitcode.CFA{Reg: 7, Offset: 8}}},
			[]string{"0" + frame, "13 rbp+16 rbp", "15" + frame, "24 rsp+8"}},
	} {
		if got := shown(InterpreterRows(amd64, code, c.rows)); !slices.Equal(got, c.want) {
			t.Errorf("%s: rows\n%q, want\n%q", c.name, got, c.want)
		}
	}
}

// Since JDK 25, something is stored after leave; other registers may be used.
func TestInterpreterRows_ExitsOfOtherVersions(t *testing.T) {
	for _, exit := range [][]byte{
		{0x48, 0x8b, 0x5d, 0xf8, 0x90, 0xc9, 0x41, 0xc6, 0x87, 0xbe, 3, 0, 0, 0, 0x5a, 0x48, 0x8b, 0xe3, 0xff, 0xe2},
		{0x48, 0x8b, 0x55, 0xf8, 0xc9, 0x59, 0x48, 0x8b, 0xe2, 0xff, 0xe1},
	} {
		if rows := InterpreterRows(amd64, slices.Concat(interpreterEntry, exit), nil); len(rows) == 0 {
			t.Errorf("%x: no rows", exit)
		}
	}
}

// Code that makes another frame, or removes one in another way, keeps the rows it has.
func TestInterpreterRows_OtherFrames(t *testing.T) {
	other := bytes.Clone(interpreterEntry)
	other[14] = 0x54 // push r12
	noReturnAddress := bytes.Clone(interpreterEntry)
	noReturnAddress[8] = 0x51 // push rcx
	relative := bytes.Clone(interpreterExit)
	relative[6], relative[7], relative[8] = 0x48, 0x8d, 0x23 // lea rsp, [rbx]
	word := bytes.Clone(interpreterExit)
	word[3] = 0xf0 // mov rbx, [rbp-16]
	register := bytes.Clone(interpreterExit)
	register[8] = 0xe2 // mov rsp, rdx
	rows := []jitcode.FrameRow{{Known: true, CFA: jitcode.CFA{Reg: 7, Offset: 8}}}
	for name, code := range map[string][]byte{
		"empty":                       nil,
		"no exit":                     interpreterEntry,
		"no entry":                    interpreterExit,
		"begins with the move":        slices.Concat(interpreterEntry[9:], interpreterExit),
		"one that pushes another":     slices.Concat(interpreterEntry, other, interpreterExit),
		"no return address is pushed": slices.Concat(noReturnAddress, interpreterExit),
		"sender_sp is relative":       slices.Concat(interpreterEntry, relative),
		"another word":                slices.Concat(interpreterEntry, word),
		"another register":            slices.Concat(interpreterEntry, register),
		"ends in the exit":            slices.Concat(interpreterEntry, interpreterExit[:8]),
	} {
		if got := InterpreterRows(amd64, code, rows); !slices.Equal(shown(got), []string{"0 rsp+8"}) {
			t.Errorf("%s: rows %q, want the one that was there", name, shown(got))
		}
	}
	if got := InterpreterRows(arm64, slices.Concat(interpreterEntry, interpreterExit), rows); len(got) != 1 {
		t.Errorf("arm64: rows %q, want the one that was there", shown(got))
	}
}

// No code makes it fail, and rows stay in order.
func FuzzInterpreterRows(f *testing.F) {
	f.Add(slices.Concat(interpreterEntry, interpreterExit), uint8(3), uint8(14))
	f.Add(slices.Concat(interpreterExit, interpreterEntry[:14], pushR13), uint8(3), uint8(14)) // ends in the push
	f.Fuzz(func(t *testing.T, code []byte, from, to uint8) {
		rows := []jitcode.FrameRow{{Offset: uint64(from)}, {Offset: uint64(from) + uint64(to) + 1, Known: true}}
		if n := uint64(len(code)); rows[1].Offset >= n {
			rows = nil
		}
		got := InterpreterRows(amd64, code, rows)
		for i := range got {
			if i > 0 && got[i].Offset <= got[i-1].Offset || got[i].Offset >= uint64(len(code)) {
				t.Fatalf("row %d of %q, in %d bytes", i, shown(got), len(code))
			}
		}
	})
}
