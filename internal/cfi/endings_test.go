package cfi

import (
	"encoding/hex"
	"strings"
	"testing"
)

// framed is a function with a classic frame of 20 bytes: push rbp; mov rbp, rsp; sub rsp, 16; call
// rax; add rsp, 16; pop rbp; ret; hlt. Its frame is known from byte 4 to 14.
const framed = "55" + "4889e5" + "4883ec10" + "ffd0" + "4883c410" + "5d" + "c3" + "f4f4f4f4"

// away are the last bytes of a jump or call out of the code.
const away = "00000100"

// rowsIn returns the rows of code in hexadecimal from an offset on.
func rowsIn(t *testing.T, s *Synthesizer, code string, from uint64) string {
	t.Helper()
	raw, err := hex.DecodeString(code)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Synthesize(amd64, raw, nil)
	first := rowAt(r.Rows, from)
	first.Offset = from
	rows := []string{tellRow(first)}
	for _, row := range r.Rows {
		if row.Offset > from {
			rows = append(rows, tellRow(row))
		}
	}
	return strings.Join(rows, ", ")
}

// C1's methods end their frame without the frame pointer before they pass an exception on: add rsp,
// 16; pop rbp; jmp. It is no end if another word is loaded, or if the stack is not empty then.
func TestSynthesize_FrameEndsInGap(t *testing.T) {
	for code, want := range map[string]string{
		"90" + "4883c410" + "5d" + "e9" + away:   "20 rbp+16 rbp, 26 rsp+8",
		"90" + "4883c410" + "5d" + "c3":          "20 rbp+16 rbp, 26 rsp+8",
		"4883c408" + "5d" + "53" + "e9" + away:   "20 rbp+16 rbp",
		"4883c410" + "5d" + "31ed" + "e9" + away: "20 rbp+16 rbp", // xor ebp, ebp
		"8b45f8" + "488b6c2408" + "e9" + away:    "20 rbp+16 rbp", // mov eax, [rbp-8]; mov rbp, [rsp+8]
		"90" + "5d" + "ffd0" + "f4":              "20 rbp+16 rbp",
	} {
		if got := rowsIn(t, new(Synthesizer), framed+code, 20); got != want {
			t.Errorf("%s: got rows %q, want %q", code, got, want)
		}
	}
}

// C1's forward_exception runs in the frame of the stub that jumps to it: mov rdx, [rbp+8]; mov
// [rbp+8], rax; call rax; add rsp, 128; leave; ret. Where functions drop arguments, such
// code has called the one that made its frame.
func TestSynthesize_EndsFrameOfOthers(t *testing.T) {
	code := "488b5508" + "48894508" + "ffd0" + "4881c480000000" + "c9" + "c3"
	for strict, want := range map[bool]string{false: "0 rbp+16 rbp, 8 -", true: "0 rsp+8, 9 rbp+16 rbp, 18 rsp+8"} {
		if got := rowsIn(t, &Synthesizer{Strict: strict}, code, 0); got != want {
			t.Errorf("strict %v: got rows %q, want %q", strict, got, want)
		}
	}
}
