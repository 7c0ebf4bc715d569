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

// commonLength has the length that decodeX86 has: for all opcodes with all ModRM bytes, and SIB bytes
// with and without a base, after several prefixes, and in real code. It knows nearly all of that.
func TestCommonLength_LikeDecodeX86(t *testing.T) {
	check := func(b [x86Room]byte) (known bool) {
		n := commonLength(&b)
		if n == 0 {
			return false
		}
		if _, want := decodeX86(b[:], 0, nil); n != want {
			t.Fatalf("% x: got %d bytes; want %d", b[:15], n, want)
		}
		return true
	}
	for _, prefix := range []string{"", "41", "48", "4f", "66", "f2", "f3", "6648", "f34a", "4866", "6666", "c5", "c4e1", "67"} {
		for _, escape := range []string{"", "0f", "fc"} {
			before, err := hex.DecodeString(prefix + escape)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 0x20000 {
				var b [x86Room]byte
				n := copy(b[:], before)
				b[n], b[n+1], b[n+2] = byte(i), byte(i>>8), 0x24+byte(i>>16)
				check(b)
			}
		}
	}
	common, all := 0, 0
	eachDump(t, func(t testing.TB, name string, codes [][]byte, names []string) {
		for _, code := range codes {
			for at := 0; len(code)-at >= x86Room; all++ {
				b := [x86Room]byte(code[at:])
				if check(b) {
					common++
				}
				_, n := decodeX86(b[:], 0, nil)
				at += max(n, 1)
			}
		}
	})
	if common*100 < all*90 {
		t.Errorf("got %d of %d instructions; want 90 of 100", common, all)
	}
	t.Logf("%d of %d instructions", common, all)
}
