package cfi

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/ehframe"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// A table that contradicts its code is replaced: all of it if it is mostly wrong, or else the
// wrong part. Anything that is not proved stays.
func TestProofs_CorrectTables(t *testing.T) {
	const (
		// push rbp; mov rbp, rsp; sub rsp, 0x40; nop (16); leave; ret
		framed = "55" + "4889e5" + "4883ec40" + "90909090909090909090909090909090" + "c9" + "c3"
		// sub rsp, 0x18; call r8; add rsp, 0x18; ret: the return proves the call
		frameless = "4883ec18" + "41ffd0" + "4883c418" + "c3"
		// sub rsp, 8; mov rax, rdi; jmp r9
		entered = "4883ec08" + "4889f8" + "41ffe1"
		// sub rsp, 0x18; call r8; jmp r9: nothing proves the call
		unproved = "4883ec18" + "41ffd0" + "41ffe1"
	)
	right := []byte{0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x55, 0x0c, 7, 8}
	for _, c := range []struct {
		name, code string
		table      []byte // instructions after CFA = rsp+8, return address at CFA-8
		sent, rows string // "-" for unknown rows
		wrong      bool
	}{
		{"right", framed, right, "0+26", "", false},
		{"CFA = rsp+8 everywhere", framed, nil, "", "0 rsp+8, 1 rsp+16, 4 rbp+16, 25 rsp+8", true},
		{"without the end", framed, right[:8], "0+26", "", false}, // rbp has an unknown value there
		{"the frame pointer too early", framed, []byte{0x41, 0x0e, 16, 0x0d, 6, 0x58, 0x0c, 7, 8}, "0+26", "", false},
		{"a byte late", framed, []byte{0x42, 0x0e, 16, 0x86, 2, 0x42, 0x0d, 6, 0x55, 0x0c, 7, 8}, "0+1 2+24", "1 rsp+16, 2 -", true},
		{"the return address elsewhere", framed, append([]byte{0x90, 2}, right...), "", "0 rsp+8, 1 rsp+16, 4 rbp+16, 25 rsp+8", true},
		{"the CFA in another register", framed, []byte{0x0c, 3, 64}, "0+26", "", false},
		{"an expression: rsp+8", framed, []byte{0x0f, 2, 0x77, 8}, "0+26", "", false},
		{"a frame without a pointer", frameless, []byte{0x44, 0x0e, 32, 0x47, 0x0e, 8}, "0+12", "", false},
		{"too small a frame", frameless, []byte{0x44, 0x0e, 24, 0x47, 0x0e, 8}, "", "0 rsp+8, 4 rsp+32, 11 rsp+8", true},
		{"without the end of a frame without a pointer", frameless, []byte{0x44, 0x0e, 32}, "0+11", "11 rsp+8, 12 -", true},
		{"entered by a jump, in a frame of 80 bytes", entered, []byte{0x0e, 80}, "0+10", "", false},
		{"after an unproved call", unproved, []byte{0x44, 0x0e, 32, 0x43, 0x0e, 40}, "0+10", "", false},
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		u := jitcode.Unwind{Sent: jitcode.FrameTable{
			CIEs: []jitcode.FrameCIE{{CodeAlign: 1, DataAlign: -8, ReturnReg: 16, Instructions: []byte{0x0c, 7, 8, 0x90, 1}}},
			FDEs: []jitcode.FrameFDE{{Size: uint64(len(code)), Instructions: c.table}},
		}}
		s := Synthesizer{Strict: true}
		found := s.Synthesize(amd64, code, nil)
		place := ehframe.DefaultPlace(binary.LittleEndian, 8, 0x1000, uint64(len(code)))
		place.Machine = elf.EM_X86_64
		if wrong := ehframe.Correct(place, &u, s.Proofs(&found), found.Rows); wrong != c.wrong {
			t.Errorf("%s: contradicts the code: %v, want %v", c.name, wrong, c.wrong)
		}
		var sent, rows []string
		for _, f := range u.Sent.FDEs {
			sent = append(sent, fmt.Sprintf("%d+%d", f.Offset, f.Size))
		}
		for _, r := range u.Rows {
			rows = append(rows, rowText(r))
		}
		if got := strings.Join(sent, " "); got != c.sent {
			t.Errorf("%s: its FDEs are %q, want %q", c.name, got, c.sent)
		}
		if got := strings.Join(rows, ", "); got != c.rows {
			t.Errorf("%s: derived rows are %q, want %q", c.name, got, c.rows)
		}
	}
}

func rowText(r jitcode.FrameRow) string {
	if !r.Known {
		return fmt.Sprintf("%d -", r.Offset)
	}
	return fmt.Sprintf("%d %s+%d", r.Offset, map[uint8]string{6: "rbp", 7: "rsp"}[r.CFA.Reg], r.CFA.Offset)
}
