package j9meta_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
)

// s390Body is a generated body of s390, with full maps of three words or of four.
func s390Body(seed uint64, pointerSize int, high bool) *j9meta.Body {
	return j9gen.Random(rand.New(rand.NewPCG(seed, uint64(pointerSize))), j9gen.Options{Layout: j9meta.Layout{
		Order: binary.BigEndian, PointerSize: pointerSize, Machine: elf.EM_S390, HeaderSize: j9meta.HeaderSizes(pointerSize)[0], HighWords: high,
	}})
}

// The number of words of a map is found. In these bodies both ways to read the maps end at
// the right place, with growing offsets and existing sites.
func TestHighWords_BothEnd(t *testing.T) {
	for _, c := range []struct {
		seed        uint64
		pointerSize int
	}{{1116, 4}, {6082, 8}, {7184, 8}, {7828, 8}} {
		for _, high := range []bool{true, false} {
			b := s390Body(c.seed, c.pointerSize, high)
			blob, err := j9gen.Encode(b)
			if err != nil {
				t.Fatal(err)
			}
			l := b.Layout
			l.HighWords = false
			got, err := j9meta.Decode(blob, b.Base, l)
			if err != nil || got.Layout.HighWords != high || !slices.Equal(got.Ranges(), b.Ranges()) {
				t.Errorf("seed %d, high words %v: %v, %v", c.seed, high, got.Layout.HighWords, err)
			}
		}
	}
}

// Without evidence, byte codes are left out. These bodies have as many monitors as slots,
// so live ones are no evidence either.
func TestHighWords_Unclear(t *testing.T) {
	for _, seed := range []uint64{29782, 33884} {
		b := s390Body(seed, 8, true)
		for i := range b.Atlas.Monitors {
			b.Atlas.Monitors[i] = 0xff
		}
		blob, err := j9gen.Encode(b)
		if err != nil {
			t.Fatal(err)
		}
		l := b.Layout
		l.HighWords = false
		want := fmt.Sprintf("stack maps at offset %#x: %d of them may have three words each, or four", b.Atlas.Maps[0].Offset, len(b.Atlas.Maps))
		if _, err := j9meta.Decode(blob, b.Base, l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("seed %d: %v, want %q", seed, err, want)
		}
		if got, err := j9meta.Decode(blob, b.Base, b.Layout); err != nil || !slices.Equal(got.Ranges(), b.Ranges()) {
			t.Errorf("seed %d, said to have high words: %v", seed, err)
		}
	}
}
