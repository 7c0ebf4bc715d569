package cfi

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// Instructions as objdump -d splits them, with prefixes and operands that are easily
// decoded wrong: endbr64, VEX and EVEX, a mov with eight bytes of operand.
func TestX86Starts_AsObjdump(t *testing.T) {
	for _, test := range []struct {
		code    string // an instruction a word
		unknown bool   // the last one
	}{
		{"f30f1efa 55 4889e5 c5f877 c4e17877 4883ec10 c3", false},
		{"48b88877665544332211 c5fb104508 c4e2f1b9c2 62f17c4858c1 660f3a0bc00b 66662e0f1f840000000000 49ffe2", false},
		{"90 06", true},
		{"90 e8010203", true}, // cut
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(test.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(test.code)
		var want, got []int
		at := 0
		for i, w := range words {
			if test.unknown && i == len(words)-1 {
				break
			}
			want = append(want, at)
			at += len(w) / 2
		}
		set := make([]uint64, len(code)/64+1)
		if reached := X86Starts(set, code); reached != at {
			t.Errorf("%s: got through %d bytes, want %d", test.code, reached, at)
		}
		for i := range code {
			if set[i>>6]>>(i&63)&1 != 0 {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: instructions start at %v, want %v", test.code, got, want)
		}
	}
}
