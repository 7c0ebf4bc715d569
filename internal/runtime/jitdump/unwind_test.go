package jitdump_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// Tables for a function of 16 bytes at 0x1000, which begin at 0x1010.
var (
	frameHeader = []byte{1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 0, 0, 0, 0}
	frameCIE    = []byte{0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 0x10, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0}
	frameFDE    = []byte{0x14, 0, 0, 0, 0x1c, 0, 0, 0, 0xd0, 0xff, 0xff, 0xff, 16, 0, 0, 0, 0, 0x44, 0x0e, 16, 0, 0, 0, 0}
)

func joined(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// changed returns b with a byte changed.
func changed(b []byte, at int, to byte) []byte {
	b = bytes.Clone(b)
	b[at] = to
	return b
}

// Unwind tables are taken over in either order; where none can be followed, what the
// code shows is used, if that is wanted.
func TestUnwind_TablesInEitherOrder(t *testing.T) {
	code := append([]byte{0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3}, 0x90, 0x90, 0x90, 0x90, 0x90) // push rbp; mov rbp,rsp; call; pop rbp; ret
	for _, c := range []struct {
		name    string
		data    []byte
		header  int
		sent    bool
		problem string
	}{
		{"blank table", frameHeader, 12, false, ""},
		{"frames first", joined(frameCIE, frameFDE, frameHeader), 12, true, ""},
		{"terminated", joined(frameCIE, frameFDE, make([]byte, 4), frameHeader), 12, true, ""},
		{"header first", joined(frameHeader, frameCIE, frameFDE), 12, true, ""},
		{"for another place", joined(frameCIE, changed(changed(frameFDE, 12, 14), 8, 0x80), frameHeader), 12, true, ""},
		{"no header", joined(frameCIE, frameFDE), 0, true, ""},
		{"FDE of no CIE", joined(frameFDE, frameHeader), 12, false, "JIT_CODE_UNWINDING_INFO"},
		{"FDE outside", joined(frameCIE, changed(frameFDE, 12, 32), frameHeader), 12, false, "JIT_CODE_UNWINDING_INFO"},
		{"length beyond the end", joined([]byte{0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0}, frameHeader), 12, false, "JIT_CODE_UNWINDING_INFO"},
		{"nothing", nil, 0, false, ""},
	} {
		for _, derive := range []bool{false, true} {
			b := newDump(t, x86)
			b.add(&jitdump.Unwinding{HeaderSize: uint64(c.header), MappedSize: 1 << 60, Data: c.data})
			b.code("f", 0x1000, code)
			b.code("g", 0x2000, code)
			d := b.scan()
			if derive {
				d.DeriveFrames(source.Surroundings{})
			}
			r := d.Reader()
			fn, err := r.Function(0)
			if err != nil {
				t.Fatal(err)
			}
			if sent := len(fn.Unwind.Sent.FDEs) == 1; sent != c.sent {
				t.Errorf("%s: sent tables are used: %v", c.name, sent)
			}
			if displaced := fixes(d)[source.DisplacedTables]; displaced != 0 != (c.name == "header first" || c.name == "for another place") {
				t.Errorf("%s: %d tables have been put right", c.name, displaced)
			}
			if fn.Unwind.Empty() != (!c.sent && !derive) {
				t.Errorf("%s, derive %v: %+v", c.name, derive, fn.Unwind)
			}
			if n := len(r.Problems); (n > 0) != (c.problem != "") || n > 0 && !strings.Contains(r.Problems[0].Text, c.problem) {
				t.Errorf("%s: problems %v", c.name, r.Problems)
			}
			if d.Events[0].More > uint64(len(c.data)+15) {
				t.Errorf("%s: %d bytes are said to be in memory", c.name, d.Events[0].More)
			}
			if fn, err := r.Function(1); err != nil || len(fn.Unwind.Sent.FDEs) != 0 || fn.Unwind.Empty() == derive {
				t.Errorf("%s: the next function has %+v, %v", c.name, fn.Unwind, err)
			}
		}
	}
}

// A table that contradicts its code is not used where the code proves another frame. Without
// DeriveFrames, no code is read.
func TestUnwind_TableContradictsCode(t *testing.T) {
	code := []byte{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x40, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc9, 0xc3} // push rbp; mov rbp,rsp; sub rsp,0x40; nop; leave; ret
	for _, c := range []struct {
		name  string
		fde   []byte // instructions of 5 bytes
		fixed int64
	}{
		{"CFA = rsp+8 everywhere", []byte{0, 0, 0, 0, 0}, 1},
		{"CFA = rsp+16 from byte 4 on", []byte{0x44, 0x0e, 16, 0, 0}, 1},
		{"CFA = rbp+16 from byte 1 on", []byte{0x41, 0x0c, 6, 16, 0}, 0},
	} {
		for _, derive := range []bool{false, true} {
			b := newDump(t, x86)
			b.add(&jitdump.Unwinding{HeaderSize: 12, Data: joined(frameCIE, append(bytes.Clone(frameFDE[:17]), append(c.fde, 0, 0)...), frameHeader)})
			b.code("f", 0x1000, code)
			d := b.scan()
			if derive {
				d.DeriveFrames(source.Surroundings{})
			}
			fn, err := d.Reader().Function(0)
			if err != nil {
				t.Fatal(err)
			}
			want := derive && c.fixed > 0
			if got := fixes(d)["contradicted-unwind-tables"]; (got == 1) != want || (len(fn.Unwind.Rows) > 0) != want {
				t.Errorf("%s, derive %v: %d tables were fixed, rows %+v", c.name, derive, got, fn.Unwind.Rows)
			}
		}
	}
}

// Code that HotSpot's signal handler continues in has no rows.
func TestUnwind_HotSpotSafepoint(t *testing.T) {
	body := []byte{0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x08, 0xc9, 0xc3} // push rbp; mov rbp,rsp; sub rsp,8; leave; ret
	b := newDump(t, x86)
	b.code("SafepointBlob", 0x1000, append([]byte{0x53}, body...))                                        // entered at a poll in a loop
	b.code("SafepointBlob", 0x2000, body)                                                                 // entered at a return
	b.code("polling_page_safepoint_handler_blob (shared runtime)", 0x3000, append([]byte{0x53}, body...)) // of JDK 27
	d := b.scan()
	d.DeriveFrames(source.Surroundings{})
	r := d.Reader()
	for i, want := range []bool{false, true, false} {
		fn, err := r.Function(i)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(fn.Unwind.Rows) > 0; got != want {
			t.Errorf("at %#x: rows %+v, want some: %v", fn.Addr, fn.Unwind.Rows, want)
		}
	}
}

// Code of HotSpot that is entered by a jump or a return has no rows. A function of that name that
// returns is something else.
func TestUnwind_HotSpotJumpedTo(t *testing.T) {
	exception := []byte{0x52, 0x48, 0x83, 0xec, 0x08, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x10, 0xff, 0xe0} // push rdx; sub rsp,8; call rax; add rsp,16; jmp rax
	returns := []byte{0x53, 0xff, 0xd0, 0x5b, 0xc3}                                                   // push rbx; call rax; pop rbx; ret
	for name, want := range map[string]bool{
		"ExceptionBlob": false, "catch_exception": false, "cont_preempt": false, "cont_returnBarrier": false, "cont_returnBarrierExc": false,
		"Cont thaw return barrier": false, "Cont thaw return barrier exception": false,
		"upcall stub exception handler": false, "upcall_stub_exception_handler": false, "Exceptions": true,
		"catch_exception_stub (stub gen)": false, "cont_returnBarrierExc_stub (stub gen)": false, "other_stub (stub gen)": true,
	} {
		b := newDump(t, x86)
		b.code(name, 0x1000, exception)
		b.code(name, 0x2000, returns)
		d := b.scan()
		d.DeriveFrames(source.Surroundings{})
		r := d.Reader()
		for i, want := range []bool{want, true} {
			fn, err := r.Function(i)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(fn.Unwind.Rows) > 0; got != want {
				t.Errorf("%s at %#x: got rows %+v, want some: %v", name, fn.Addr, fn.Unwind.Rows, want)
			}
		}
	}
}

// Only the function that HotSpot calls Interpreter gets the rows of its interpreter, where
// its code is one.
func TestUnwind_HotSpotInterpreter(t *testing.T) {
	code := []byte{
		0x58, 0x50, 0x55, 0x48, 0x8b, 0xec, 0x41, 0x55, 0x41, 0xff, 0x24, 0xda, // pop rax; push rax; push rbp; mov rbp,rsp; push r13; jmp [r10+rbx*8]
		0x48, 0x8b, 0x5d, 0xf8, 0xc9, 0x5e, 0x48, 0x8b, 0xe3, 0xff, 0xe6, // mov rbx,[rbp-8]; leave; pop rsi; mov rsp,rbx; jmp rsi
	}
	b := newDump(t, x86)
	b.code("Interpreter", 0x1000, code)
	b.code("Interpreters", 0x2000, code)
	b.code("Interpreter", 0x3000, code[:12])
	d := b.scan()
	d.DeriveFrames(source.Surroundings{})
	r := d.Reader()
	for i, want := range []bool{true, false, false} {
		fn, err := r.Function(i)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.ContainsFunc(fn.Unwind.Rows, func(r jitcode.FrameRow) bool { return r.CFA.Stored == -8 })
		if got != want {
			t.Errorf("%s at %#x: a stored CFA in %+v: %v, want %v", fn.Name, fn.Addr, fn.Unwind.Rows, got, want)
		}
	}
}
