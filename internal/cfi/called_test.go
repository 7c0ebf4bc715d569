package cfi

import (
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// Stubs of HotSpot after a method. Those that a call may have entered have no row.
func TestSynthesize_StubsAfterMethod(t *testing.T) {
	const own, none = "20 rbp+16 rbp", "20 -"
	for _, c := range []struct {
		name, code, want string
		callee           Callee
	}{
		{"to the interpreter: mov rbx, method; jmp", "48bb0102030405060708" + "e9" + away, none, 0},
		{"not patched: mov rbx, 0; jmp to itself", "48bb0000000000000000" + "e9fbffffff", none, 0},
		{"to compiled code: mov rax, code; jmp rax", "48b80102030405060708" + "ffe0", none, 0},
		{"a return: mov eax, 1; ret", "b801000000" + "c3", none, 0},
		{"C2's exceptions: jmp", "e9" + away, own, 0},
		{"C1's exceptions: call; hlt", "90e8" + away + "f4", own, 0},
		{"C1's deoptimization: mov r10, here; push r10; jmp", "49ba0102030405060708" + "4152" + "e9" + away, own, 0},
		{"C2's deoptimization: call next; sub [rsp], 5; jmp", "e800000000" + "48832c2405" + "e9" + away, own, 0},
		{"reads the frame: mov eax, [rbp-8]; jmp", "8b45f8" + "e9" + away, own, 0},
		{"reads a register from the frame: mov rbx, [rbp-8]; jmp", "488b5df8" + "e9" + away, own, 0},
		{"computes an address in the frame: lea rbx, [rbp-8]; jmp", "488d5df8" + "e9" + away, own, 0},
		{"writes to the frame: mov [rbp-8], rbx; jmp", "48895df8" + "e9" + away, own, 0},
		{"pops: pop rax; jmp", "58" + "e9" + away, own, 0},
		{"writes over the return address: mov [rsp], rax; jmp", "48890424" + "e9" + away, own, 0},
		{"changes the caller's stack: mov eax, 1; jmp", "b801000000" + "e9" + away, own, CalleeOther},
		{"continues the method: mov eax, 1; jmp to its call", "b801000000" + "ebed", own, 0},
		{"may continue the method: mov eax, 1; jz to its call; jmp", "b801000000" + "74ed" + "e9" + away, own, 0},
		{"traps or leaves: mov eax, 1; jz to hlt; jmp; hlt", "b801000000" + "7405" + "e9" + away + "f4", none, 0},
		{"traps or returns: mov eax, 1; jz to hlt; ret; hlt", "b801000000" + "7401" + "c3" + "f4", none, 0},
		{"two, and nop between them", "48bb0102030405060708" + "e9" + away + "9090" + "48bb0102030405060708" + "e9" + away, none, 0},
		{"traps: mov eax, 1; hlt", "b801000000" + "f4", own, 0},
	} {
		s := Synthesizer{Callee: func(int64) Callee { return c.callee }}
		if got := rowsIn(t, &s, framed+c.code, 20); got != c.want {
			t.Errorf("%s: got rows %q, want %q", c.name, got, c.want)
		}
	}
}

// Code that jumps connect has one frame: one part of it shows which.
func TestSynthesize_ConnectedStubs(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"mov eax, 1; jz to a read of the frame; jmp; mov rbx, [rbp-8]; jmp", "b801000000" + "7405" + "e9" + away + "488b5df8" + "e9" + away, "20 rbp+16 rbp"},
		{"mov eax, 1; jz to a move; jmp; mov ebx, 1; jmp", "b801000000" + "7405" + "e9" + away + "bb01000000" + "e9" + away, "20 -"},
		{"mov eax, 1; jmp over hlt; mov ebx, 1; jmp", "b801000000" + "eb02" + "f4f4" + "bb01000000" + "e9" + away, "20 -, 27 rbp+16 rbp, 29 -"},
		{"mov eax, 1; jz to jmp; ret; jmp", "b801000000" + "7401" + "c3" + "e9" + away, "20 -"},
		{"push rax; jmp over hlt; pop rax; jmp", "50" + "eb02" + "f4f4" + "58" + "e9" + away, "20 -, 23 rbp+16 rbp, 25 -"},
		{"mov eax, [rbp-8]; jmp over hlt; push rbp; mov rbp, rsp; jmp", "8b45f8" + "eb02" + "f4f4" + "55" + "4889e5" + "e9" + away, "20 rbp+16 rbp"},
	} {
		if got := rowsIn(t, new(Synthesizer), framed+c.code, 20); got != c.want {
			t.Errorf("%s: got rows %q, want %q", c.name, got, c.want)
		}
	}
}

// A table of addresses is not code that leaves the function: the addresses here decode to additions
// and returns. Similar words that are no addresses of the function's code are code.
func TestSynthesize_TableAfterMethod(t *testing.T) {
	const own = "24 rbp+16 rbp"
	for _, c := range []struct{ name, words, want string }{
		{"addresses", "0000c30000000000" + "0800c30000000000" + "1000c30000000000", own},
		{"one address", "b801000000000000" + "00c3f4f4f4f4f4f4", "24 -, 34 rbp+16 rbp"},
		{"numbers below the code's size", "0500000000000000" + "0500000000000000" + "00c3f4f4f4f4f4f4", "24 -, 42 rbp+16 rbp"},
		{"numbers above all addresses", "b8010000000f1f00" + "b8010000000f1f00" + "c3f4f4f4f4f4f4f4", "24 -, 41 rbp+16 rbp"},
		{"addresses of other code", "b801000010900000" + "b801000020900000" + "c3f4f4f4f4f4f4f4", "24 -, 41 rbp+16 rbp"},
	} {
		if got := rowsIn(t, new(Synthesizer), framed+"f4f4f4f4"+c.words, 24); got != c.want {
			t.Errorf("%s: got rows %q, want %q", c.name, got, c.want)
		}
	}
}

// A function without a frame pointer that jumps by a table: code after it has the frame of that
// jump, except what a call may have entered.
func TestSynthesize_StubsWithoutFramePointer(t *testing.T) {
	start := "4883ec18" + "ff24c500000000" + "ffd0" + "4883c418" + "c3" // sub rsp, 24; jmp [rax*8]; call rax; add rsp, 24; ret
	want := "11 rsp+32, 17 rsp+8, 18 -"
	if got := rowsIn(t, new(Synthesizer), start+"48bb0102030405060708"+"e9"+away, 11); got != want {
		t.Errorf("to the interpreter: got rows %q, want %q", got, want)
	}
	want = "11 rsp+32, 17 rsp+8, 18 rsp+32"
	if got := rowsIn(t, new(Synthesizer), start+"e9"+away, 11); got != want {
		t.Errorf("an exception: got rows %q, want %q", got, want)
	}
}

// Gaps of Erlang's code have only the return address on the stack: mov rbp, rsp; jmp [rax*8]; mov eax,
// 1; jmp.
func TestSynthesize_StubsWithReturnAddressOnly(t *testing.T) {
	code := "4889e5" + "ff24c500000000" + "b801000000" + "e9" + away
	if got, want := rowsIn(t, new(Synthesizer), code, 10), "10 rsp+8 rbp"; got != want {
		t.Errorf("got rows %q, want %q", got, want)
	}
}

// Code without a frame of its own has the entry's everywhere.
func TestSynthesize_StubsInSharedFrame(t *testing.T) {
	code := "ff24c500000000" + "b801000000" + "e9" + away // jmp [rax*8]; mov eax, 1; jmp
	raw, err := hex.DecodeString(code)
	if err != nil {
		t.Fatal(err)
	}
	entry := Entry{Row: jitcode.FrameRow{Known: true, CFA: jitcode.CFA{Reg: 7, Offset: 160}}, Shared: true}
	if got, want := shown(new(Synthesizer).Synthesize(amd64, raw, &entry).Rows), []string{"0 rsp+160"}; !slices.Equal(got, want) {
		t.Errorf("got rows %q, want %q", got, want)
	}
}

// C1's second entry of a method has a prologue: mov [rsp-4096], eax; push rbp; mov rbp, rsp; sub
// rsp, 16; jmp to the call in framed.
func TestSynthesize_SecondEntry(t *testing.T) {
	want := "20 rsp+8, 28 rsp+16 rbp, 31 rbp+16 rbp"
	if got := rowsIn(t, new(Synthesizer), framed+"89842400f0ffff"+"55"+"4889e5"+"4883ec10"+"ebe3", 20); got != want {
		t.Errorf("got rows %q, want %q", got, want)
	}
	// A push alone is none.
	want = "20 rbp+16 rbp"
	if got := rowsIn(t, new(Synthesizer), framed+"55"+"488b5df8"+"e9"+away, 20); got != want {
		t.Errorf("without a prologue: got rows %q, want %q", got, want)
	}
}

// The same stubs on arm64, with the return address in a register.
func TestARM64_StubsAfterMethod(t *testing.T) {
	// stp x29, x30, [sp, #-16]!; mov x29, sp; blr x8; ldp x29, x30, [sp], #16; ret
	method := []uint32{0xa9bf7bfd, 0x910003fd, 0xd63f0100, 0xa8c17bfd, 0xd65f03c0}
	for _, c := range []struct {
		name  string
		code  []uint32
		known bool
	}{
		{"to the interpreter: mov x12, #0; mov x8, #0; br x8", []uint32{0xd280000c, 0xd2800008, 0xd61f0100}, false},
		{"a trampoline: ldr x8, #8; br x8", []uint32{0x58000048, 0xd61f0100}, false},
		{"C1's deoptimization: adr x30, #0; b", []uint32{0x1000001e, 0x14010000}, true},
		{"C2's exceptions: b", []uint32{0x14010000}, true},
		{"writes to the frame: str x19, [x29, #16]; b", []uint32{0xf9000bb3, 0x14010000}, true},
	} {
		var s Synthesizer
		r := s.Synthesize(arm64, words(slices.Concat(method, c.code)...), nil)
		if row := rowAt(r.Rows, 20); row.Known != c.known {
			t.Errorf("%s: got known %v, want %v; rows %s", c.name, row.Known, c.known, fmt.Sprint(r.Rows))
		}
	}
}

// A call of code that pops its return address and jumps away, as HotSpot's rethrow_stub does, has no
// successor: the code after it has the frame of the jumps to it. Where functions may remove
// arguments, it may have one.
func TestSynthesize_CalleeThatJumpsAway(t *testing.T) {
	const code = "4883ec18" + "85ff" + "7405" + "e8" + away + "4883c418" + "c3" // sub rsp,24; test edi,edi; jz to add; call; add rsp,24; ret
	for _, c := range []struct {
		callee Callee
		strict bool
		want   string
	}{
		{CalleeNeutral, false, "13 rsp+32, 17 rsp+8"},
		{CalleeOther, false, "13 rsp+32, 17 rsp+8"},
		{CalleeOther, true, "13 -"},
	} {
		s := Synthesizer{Strict: c.strict, Leaves: true, Callee: func(int64) Callee { return c.callee }}
		if got := rowsIn(t, &s, code, 0xd); got != c.want {
			t.Errorf("callee %v, strict %v: got rows %q, want %q", c.callee, c.strict, got, c.want)
		}
	}
}
