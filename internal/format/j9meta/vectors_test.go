package j9meta

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A vector is a blob with what OpenJ9's own functions say of it.
type vector struct {
	name     string
	blob     []byte
	expected string
	base     uint64
	layout   Layout
}

func vectors(t testing.TB) []vector {
	t.Helper()
	names, err := filepath.Glob("testdata/*.bin")
	if err != nil || len(names) != 6 {
		t.Fatalf("%d vectors, error %v", len(names), err)
	}
	var all []vector
	for _, name := range names {
		stem := strings.TrimSuffix(name, ".bin")
		v := vector{name: filepath.Base(stem), blob: readFile(t, name), expected: string(readFile(t, stem+".expected.txt"))}
		var about struct {
			Base  string
			Epoch int
		}
		if err := json.Unmarshal(readFile(t, stem+".json"), &about); err != nil {
			t.Fatal(err)
		}
		if v.base, err = strconv.ParseUint(about.Base, 0, 64); err != nil {
			t.Fatal(err)
		}
		v.layout = Layout{Order: binary.LittleEndian, PointerSize: 8, Machine: elf.EM_X86_64, HeaderSize: about.Epoch}
		all = append(all, v)
	}
	return all
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestStack_LikeOpenJ9AtEveryOffset compares what every offset of the code is with what OpenJ9's own
// functions say.
func TestStack_LikeOpenJ9AtEveryOffset(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.name, func(t *testing.T) {
			inferred := v.layout
			inferred.HeaderSize = 0
			b, err := Decode(v.blob, v.base, inferred)
			if err != nil {
				t.Fatal(err)
			}
			if b.Layout.HeaderSize != v.layout.HeaderSize {
				t.Errorf("header of %d bytes, want %d", b.Layout.HeaderSize, v.layout.HeaderSize)
			}
			if !soundSites(b) {
				t.Error("a site is in a later one")
			}
			got := describe(b)
			if got != v.expected {
				t.Errorf("got\n%s\nwant\n%s", got, v.expected)
			}
		})
	}
}

// describe has a line for each offset at which the answer changes.
func describe(b *Body) string {
	var text bytes.Buffer
	fmt.Fprintf(&text, "inlined sites %d\n", len(b.Sites))
	last := ""
	for pc := uint32(0); pc < b.codeSize(); pc++ {
		r, ok := b.RangeAt(pc)
		if !ok {
			fmt.Fprintf(&text, "%x: nothing\n", pc)
			continue
		}
		frames := b.Stack(nil, r.Info)
		line := ""
		for _, f := range frames[:len(frames)-1] {
			line += fmt.Sprintf("%#x@%d < ", f.Method, f.ByteCodeIndex)
		}
		gc := 1
		if r.Shared {
			gc = 0
		}
		line += fmt.Sprintf("outer@%d depth=%d gc=%d", frames[len(frames)-1].ByteCodeIndex, len(frames)-1, gc)
		if line != last {
			fmt.Fprintf(&text, "%x: %s\n", pc, line)
		}
		last = line
	}
	return text.String()
}
