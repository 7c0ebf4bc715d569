package cfi

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/ehframe"
	"github.com/jitinject/jitinject/internal/jitcode"
)

func shown(rows []jitcode.FrameRow) (s []string) {
	for _, row := range rows {
		s = append(s, tellRow(row))
	}
	return s
}

// V8's handler of the bytecode CallUndefinedReceiver1 copies the return address down, writes
// an argument over it, and leaves by a jump.
func TestSynthesize_ReturnAddressWrittenOver(t *testing.T) {
	code := []byte{
		0x48, 0x83, 0xec, 0x08, //       0 sub rsp, 8
		0xff, 0x74, 0x24, 0x08, //       4 push [rsp+8]
		0x48, 0x89, 0x5c, 0x24, 0x10, // 8 mov [rsp+16], rbx: the return address was there
		0x90,                         // 13 nop
		0xe9, 0x00, 0x01, 0x00, 0x00, // 14 jmp elsewhere
	}
	s := Synthesizer{Strict: true}
	r := s.Synthesize(amd64, code, nil)
	if got, want := shown(r.Rows), []string{"0 rsp+8", "4 rsp+16", "8 rsp+24", "13 -"}; !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	if want := []ehframe.Span{{From: 13, To: 19}}; !reflect.DeepEqual(r.Moved, want) {
		t.Errorf("moved in %v, want %v", r.Moved, want)
	}
}

// A store above the return address and one below leave it unchanged.
func TestSynthesize_StoresBesideReturnAddress(t *testing.T) {
	code := []byte{
		0x48, 0x89, 0x5c, 0x24, 0x08, // 0 mov [rsp+8], rbx
		0x48, 0x89, 0x5c, 0x24, 0xf8, // 5 mov [rsp-8], rbx
		0x90, // 10 nop
		0xc3, // 11 ret
	}
	s := Synthesizer{Strict: true}
	r := s.Synthesize(amd64, code, nil)
	if got := shown(r.Rows); len(got) == 0 || slices.ContainsFunc(r.Rows, func(r jitcode.FrameRow) bool { return !r.Known }) || len(r.Moved) > 0 {
		t.Errorf("rows %q, moved in %v, want rows everywhere", got, r.Moved)
	}
}

// The end of V8's optimized functions: the return address is popped, arguments are dropped,
// and it is pushed again.
func TestSynthesize_ReturnAddressPopped(t *testing.T) {
	r := new(Synthesizer).Synthesize(amd64, dropsArguments, nil)
	if want := []ehframe.Span{{From: 7, To: 14}}; !reflect.DeepEqual(r.Moved, want) {
		t.Errorf("moved in %v, want %v; rows %q", r.Moved, want, shown(r.Rows))
	}
}

var dropsArguments = []byte{
	0x55,             //             0 push rbp
	0x48, 0x89, 0xe5, //             1 mov rbp, rsp
	0xc9,       //                   4 leave
	0x41, 0x5a, //                   5 pop r10
	0x48, 0x8d, 0x24, 0xcc, //       7 lea rsp, [rsp+rcx*8]
	0x41, 0x52, //                   11 push r10
	0xc3, //                         13 ret
}

// V8's InterpreterEnterAtBytecode reads the interpreter's frame, which it has not built,
// and pushes a return address for the code that it jumps to. It is not entered by a call.
func TestSynthesize_PushesReturnAddressAndJumps(t *testing.T) {
	code := []byte{
		0x48, 0x8b, 0x5d, 0xf0, //      0 mov rbx, [rbp-16]
		0x53,                   //      4 push rbx
		0x4c, 0x8b, 0x65, 0xe0, //      5 mov r12, [rbp-32]
		0xff, 0xe1, //                  9 jmp rcx
	}
	for _, strict := range []bool{false, true} {
		s := Synthesizer{Strict: strict}
		if r := s.Synthesize(amd64, code, nil); (len(r.Rows) == 0) != strict {
			t.Errorf("strict %v: rows %q, want none where functions take arguments off the stack", strict, shown(r.Rows))
		}
	}
}

// Cut keeps the rows outside of spans.
func TestCut_KeepsRowsOutside(t *testing.T) {
	place := ehframe.DefaultPlace(amd64.Order, 8, 0x1000, 300)
	cie := jitcode.FrameCIE{CodeAlign: 1, DataAlign: -8, ReturnReg: 16, Instructions: []byte{0x0c, 7, 8, 0x90, 1}}
	// 0 rsp+8, 1 rsp+16, 4 rbp+16, 100 rsp+8, 290 rbp+16
	insns := []byte{0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 96, 0x0c, 7, 8, 0x02, 190, 0x0c, 6, 16}
	table := jitcode.FrameTable{CIEs: []jitcode.FrameCIE{cie}, FDEs: []jitcode.FrameFDE{{Size: 300, Instructions: insns}}}
	for _, c := range []struct {
		spans []ehframe.Span
		want  []jitcode.FrameFDE
	}{
		{nil, table.FDEs},
		{[]ehframe.Span{{From: 102, To: 110}}, []jitcode.FrameFDE{
			{Size: 102, Instructions: insns[:13]},
			{Offset: 110, Size: 190, Instructions: []byte{0x0e, 16, 0x86, 2, 0x0d, 6, 0x0c, 7, 8, 0x02, 180, 0x0c, 6, 16}},
		}},
		{[]ehframe.Span{{From: 0, To: 4}, {From: 290, To: 300}}, []jitcode.FrameFDE{
			{Offset: 4, Size: 286, Instructions: []byte{0x0e, 16, 0x86, 2, 0x0d, 6, 0x02, 96, 0x0c, 7, 8}},
		}},
		{[]ehframe.Span{{From: 0, To: 1}, {From: 2, To: 3}}, []jitcode.FrameFDE{
			{Offset: 1, Size: 1, Instructions: []byte{0x0e, 16, 0x86, 2}},
			{Offset: 3, Size: 297, Instructions: []byte{0x0e, 16, 0x86, 2, 0x41, 0x0d, 6, 0x02, 96, 0x0c, 7, 8, 0x02, 190, 0x0c, 6, 16}},
		}},
		{[]ehframe.Span{{From: 0, To: 300}}, nil},
	} {
		if got, _ := ehframe.Cut(place, table, c.spans); !reflect.DeepEqual(got.FDEs, c.want) {
			t.Errorf("cut %v: got %v, want %v", c.spans, got.FDEs, c.want)
		}
	}
	table.CIEs[0].CodeAlign = 4 // 110 is no multiple of it
	table.FDEs[0].Size = 1200
	if got, ok := ehframe.Cut(place, table, []ehframe.Span{{From: 102, To: 110}}); ok || !reflect.DeepEqual(got, table) {
		t.Errorf("got %v, want the table itself", got)
	}
}

// Maglev's code of a generator. Only a jump by a table reaches the code after it. That code
// returns in two ways, and data before it decodes to nonsense. The classic frame ends with
// pop rbp there. After the return address is popped, nothing is known.
func TestSynthesize_FrameEndsInGapWithTwoReturns(t *testing.T) {
	code := []byte{
		0x55,             //             0 push rbp
		0x48, 0x89, 0xe5, //             1 mov rbp, rsp
		0xff, 0x24, 0xc3, //             4 jmp [rbx+rax*8]
		0x99, 0x14, 0x00, 0x28, 0x42, 0x7f, 0x00, 0x00, // 7 an address
		0x48, 0x8b, 0xe5, //             15 mov rsp, rbp
		0x5d,                   //       18 pop rbp
		0x49, 0x83, 0xf8, 0x02, //       19 cmp r8, 2
		0x7f, 0x03, //                   23 jg 28
		0xc2, 0x10, 0x00, //             25 ret 16
		0x41, 0x59, //                   28 pop r9
		0x4a, 0x8d, 0x24, 0xc4, //       30 lea rsp, [rsp+r8*8]
		0x41, 0x51, //                   34 push r9
		0xc3, //                         36 ret
	}
	s := Synthesizer{Strict: true}
	r := s.Synthesize(amd64, code, nil)
	for off, want := range map[uint64]string{15: "rbp+16", 18: "rbp+16", 19: "rsp+8", 23: "rsp+8", 25: "rsp+8", 28: "rsp+8", 30: "-", 34: "-", 36: "-"} {
		row := rowAt(r.Rows, off)
		got := "-"
		if row.Known {
			got = fmt.Sprintf("%s%+d", map[uint8]string{6: "rbp", 7: "rsp"}[row.CFA.Reg], row.CFA.Offset)
		}
		if got != want {
			t.Errorf("at %d: got %s, want %s", off, got, want)
		}
	}
}
