package producer_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/jitdump"
)

// page returns docs/producers.md.
func page(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "producers.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// hexLine is a line of the example dump: offset, bytes, field.
var hexLine = regexp.MustCompile(`(?m)^    ([0-9a-f]{3})  ((?:[0-9a-f]{2} ?)+?)(?:  .*)?$`)

// pageDump returns the bytes of testdata/jitdump/answer.txt, the dump that the page links.
func pageDump(t *testing.T) (dump []byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "jitdump", "answer.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range hexLine.FindAllStringSubmatch(string(text), -1) {
		at, err := hex.DecodeString("0" + m[1])
		if err != nil {
			t.Fatal(err)
		}
		if got := int(binary.BigEndian.Uint16(at)); got != len(dump) {
			t.Fatalf("got offset %#x, want %#x: %s", got, len(dump), m[0])
		}
		b, err := hex.DecodeString(strings.ReplaceAll(m[2], " ", ""))
		if err != nil {
			t.Fatalf("got %v for %s", err, m[0])
		}
		dump = append(dump, b...)
	}
	return dump
}

// The bytes of the example are those that the header writes, but for pids and times.
func TestPage_DumpIsHeaders(t *testing.T) {
	dir, b := t.TempDir(), pageDump(t)
	testrec.Run(t, dir, testrec.Tool(t, "gcc"), append([]string{"-std=c99", "-I", producer(t), "-o", "answer", producer(t, "test", "testdata", "answer.c")}, cFlags...)...)
	testrec.Run(t, dir, "./answer")
	want, err := os.ReadFile(dumpIn(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != len(want) || len(b) < 0x13d {
		t.Fatalf("got %d bytes, want %d", len(b), len(want))
	}
	for _, field := range [][2]int{{0x14, 4}, {0x18, 8}, {0x30, 8}, {0x88, 8}, {0xf0, 8}, {0xf8, 8}, {0x135, 8}} {
		copy(want[field[0]:field[0]+field[1]], b[field[0]:])
	}
	if want[0xc] != b[0xc] { // the machine
		want[0xc] = b[0xc]
	}
	for i := range b {
		if b[i] != want[i] {
			t.Fatalf("offset %#x: got %#x, want %#x", i, b[i], want[i])
		}
	}
}

// The bytes of the example are the function that it describes.
func TestPage_DumpDecodes(t *testing.T) {
	r, err := jitdump.NewReader(bytes.NewReader(pageDump(t)))
	if err != nil {
		t.Fatal(err)
	}
	if h := r.Header(); h.PID != 4711 || h.Timestamp != 1e9 {
		t.Errorf("got header %+v; want pid 4711 and one second", h)
	}
	var ids []jitdump.RecordID
	for {
		raw, err := r.Next()
		if err != nil {
			break
		}
		ids = append(ids, raw.ID)
		rec, err := raw.Decode()
		if err != nil {
			t.Fatal(err)
		}
		switch rec := rec.(type) {
		case *jitdump.Load:
			if string(rec.Name) != "answer" || rec.CodeAddr != 0x7f0000001000 || string(rec.Code) != "\xb8\x2a\x00\x00\x00\xc3" {
				t.Errorf("got %+v", rec)
			}
		case *jitdump.DebugInfo:
			for e, err := range rec.Entries() {
				if err != nil || e.Line != 2 || string(e.Name) != "answer.toy" {
					t.Errorf("got %+v, %v; want line 2 of answer.toy", e, err)
				}
			}
		}
	}
	if len(ids) != 4 {
		t.Errorf("got records %v, want 4", ids)
	}
	if rules := violated(t, pageDump(t)); len(rules) > 0 {
		t.Errorf("got %q, want no finding", rules)
	}
}

// violated returns the rules that a dump violates.
func violated(t *testing.T, dump []byte) (rules []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jit-4711.dump")
	if err := os.WriteFile(path, dump, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := checks.Verifier().File(t.Context(), path, verify.Options{All: true, Emit: func(d verify.Diagnostic) { rules = append(rules, d.Rule) }})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// Faults that the page describes, made in the example, are reported by the rules that it names.
func TestPage_Mistakes(t *testing.T) {
	u32, u64 := binary.LittleEndian.PutUint32, binary.LittleEndian.PutUint64
	text := page(t)
	for _, c := range []struct {
		name   string
		damage func(b []byte) []byte
		rule   string
	}{
		{"skew", func(b []byte) []byte { u64(b[0x48:], 0x7f0000001040); u64(b[0x63:], 0x7f0000001046); return b }, "dump/lines-skewed"},
		{"relative lines", func(b []byte) []byte { u64(b[0x48:], 0); return b }, "dump/lines-outside"},
		{"lines inside instructions", func(b []byte) []byte { u64(b[0x48:], 0x7f0000001003); return b }, "dump/lines-contradict"},
		{"pad", func(b []byte) []byte { u32(b[0x10:], 0xdeadbeef); return b }, "dump/pad"},
		{"flags", func(b []byte) []byte { u64(b[0x20:], 0x7f5500); return b }, "dump/flags"},
		{"machine", func(b []byte) []byte { u32(b[0xc:], 0); return b }, "dump/machine"},
		{"no load after inlined calls", func(b []byte) []byte { return slices.Delete(b, 0xe8, 0x12d) }, "dump/tree-order"},
		{"index", func(b []byte) []byte {
			load := slices.Clone(b[0xe8:0x12d])
			u64(load[0x18:], 0x7f0000002000)
			u64(load[0x20:], 0x7f0000002000)
			return slices.Insert(b, 0x12d, load...)
		}, "dump/index-twice"},
		{"freed name", func(b []byte) []byte { u64(b[0x11f:], 0x00fffe80fffe8000); return b }, "dump/name-text"},
		{"name without NUL", func(b []byte) []byte { b[0x126] = 'x'; return b }, "dump/record-size"},
		{"freed file name", func(b []byte) []byte { u64(b[0x58:], 0x7f0012345678); return b }, "dump/lines-count"},
		{"time goes back", func(b []byte) []byte { u64(b[0xf0:], 1e9); return b }, "dump/time-goes-back"},
		{"time of day", func(b []byte) []byte {
			for _, at := range []int{0x18, 0x30, 0x88, 0xf0, 0x135} {
				u64(b[at:], 1_790_000_000_000_000_000)
			}
			return b
		}, "dump/time-epoch"},
		{"lines of another function", func(b []byte) []byte { u64(b[0x38:], 0x7f0000005000); u64(b[0x48:], 0x7f0000005000); return b }, "dump/lines-orphan"},
		{"inlined calls of another function", func(b []byte) []byte { copy(b[0xbc:], "square"); return b }, "dump/tree-name"},
	} {
		if rules := violated(t, c.damage(pageDump(t))); !slices.Contains(rules, c.rule) {
			t.Errorf("%s: got %q, want %s", c.name, rules, c.rule)
		}
		if !strings.Contains(text, "`"+c.rule+"`") {
			t.Errorf("%s: the page does not name %s", c.name, c.rule)
		}
	}
}

// All rules that the page names exist.
func TestPage_Rules(t *testing.T) {
	named := regexp.MustCompile("`(dump/[a-z0-9-]+)`").FindAllStringSubmatch(page(t), -1)
	if len(named) < 15 {
		t.Errorf("got %d rules, want 15 at least", len(named))
	}
	for _, m := range named {
		if _, ok := checks.Verifier().Explain(m[1]); !ok {
			t.Errorf("there is no rule %s", m[1])
		}
	}
}

// The lines that the page shows of the example are in it, in this order.
func TestPage_Example(t *testing.T) {
	example, err := os.ReadFile(producer(t, "examples", "cube.c"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(page(t), "```c\n")
	shown, _, _ := strings.Cut(rest, "```")
	if n := strings.Count(shown, "jitdump_"); n < 10 {
		t.Errorf("got %d calls of the header, want 10 at least", n)
	}
	left, found := string(example), false
	for line := range strings.Lines(shown) {
		if line == "\t...\n" {
			continue
		}
		if _, left, found = strings.Cut(left, "\n"+line); !found {
			t.Fatalf("producer/examples/cube.c does not have this line there: %s", line)
		}
		left = "\n" + left
	}
}
