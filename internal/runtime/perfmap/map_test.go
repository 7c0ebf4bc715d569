package perfmap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/source"
)

// scanned returns the map with some content.
func scanned(t *testing.T, src *bytes.Reader) *Map {
	t.Helper()
	d, err := Open(src)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Scan(context.Background()); err != nil {
		t.Fatal(err)
	}
	return d.(*Map)
}

// shown returns the functions of a map as text.
func shown(t *testing.T, m *Map) (texts []string) {
	t.Helper()
	r := m.Functions()
	for i := range m.Events {
		fn, err := r.Function(i)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, fmt.Sprintf("%x %x %s", fn.Addr, fn.Size, fn.Name))
	}
	return texts
}

// Each address has the name of the last line with a size that covers it, or else of the last line
// without a size that begins there. No two functions overlap.
func TestMap_LastLineCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var content strings.Builder
		owners := make(map[uint64]string)
		empty := make(map[uint64]string)
		for i := range 1 + r.IntN(12) {
			start, size := 0x100000+r.Uint64N(40), r.Uint64N(12)
			name := fmt.Sprintf("line%d", i)
			fmt.Fprintf(&content, "%x %x %s\n", start, size, name)
			if size == 0 {
				empty[start] = name
			}
			for a := start; a < start+size; a++ {
				owners[a] = name
			}
		}
		for start, name := range empty {
			if owners[start] == "" {
				owners[start] = name
			}
		}
		m := scanned(t, bytes.NewReader([]byte(content.String())))
		got := make(map[uint64]string)
		for i, text := range shown(t, m) {
			e := &m.Events[i]
			for a := e.Addr; a < e.Addr+e.Size; a++ {
				if got[a] != "" {
					t.Fatalf("address %#x is in two functions of\n%s", a, content.String())
				}
				got[a] = text[strings.LastIndexByte(text, ' ')+1:]
			}
		}
		for a := uint64(0x100000); a < 0x100060; a++ {
			if got[a] != owners[a] {
				t.Fatalf("got %q at %#x; want %q, of\n%s", got[a], a, owners[a], content.String())
			}
		}
	}
}

// Each line of a staircase reaches over all later ones and keeps one byte. Their number is such that a
// search of each line's addresses would take an hour.
func TestMap_Staircase(t *testing.T) {
	const lines = 500_000
	var content bytes.Buffer
	for i := range uint64(lines) {
		fmt.Fprintf(&content, "%x %x f%d\n", 0x100000+i, lines-i, i%2)
	}
	m := scanned(t, bytes.NewReader(content.Bytes()))
	if len(m.Events) != lines || m.Replaced != lines-1 || m.Hidden != 0 {
		t.Fatalf("got %d functions, %d replaced, %d hidden; want %d, %d, 0", len(m.Events), m.Replaced, m.Hidden, lines, lines-1)
	}
	for i := range m.Events {
		if e := &m.Events[i]; e.Addr != 0x100000+uint64(i) || e.Size != 1 {
			t.Fatalf("got %#x bytes at %#x; want 1 at %#x", e.Size, e.Addr, 0x100000+i)
		}
	}
}

// A map that has changed since it was scanned is an error, and not another name. One that has grown
// is not.
func TestMap_ChangedSinceScan(t *testing.T) {
	content := "100000 40 first\n200000 40 last"
	src := bytes.NewReader([]byte(content))
	m := scanned(t, src)
	if m.Cut != 16 {
		t.Errorf("got cut at %d; want 16", m.Cut)
	}
	src.Reset([]byte(content + "Function\n300000 40 more\n"))
	if got := strings.Join(shown(t, m), ", "); got != "100000 40 first, 200000 40 last" {
		t.Errorf("got %s; want what was scanned", got)
	}
	for _, other := range []string{"100000 40 fault\n200000 40 last", "100000 48 first\n200000 48 last", "100000 40", ""} {
		src.Reset([]byte(other))
		if fn, err := m.Functions().Function(0); err == nil || other != "" && len(other) > 20 && !errors.Is(err, errChanged) {
			t.Errorf("%q: got %+v, %v; want an error", other, fn, err)
		}
	}
}

func TestIdentify_Maps(t *testing.T) {
	for content, want := range map[string]bool{
		"7f1200000000 40 name\n":                       true,
		"\n0x00007f1200000000 0x0000000000000040 name": true,
		"":                                   false,
		"name\n7f1200000000 40 name":         false,
		"00000000 00000000 0: 7f454c4602010": false, // what hexdump prints
		"100 40 name\n":                      false,
		"7f1200000000 fffffffffff name\n":    false,
		"\x7fELF":                            false,
	} {
		if got := Identify(strings.NewReader(content), ""); got != want {
			t.Errorf("%q: got %v; want %v", content, got, want)
		}
		if _, err := Open(strings.NewReader(content)); (err == nil) != want || err != nil && !errors.Is(err, ErrNotMap) {
			t.Errorf("%q: got error %v; want one: %v", content, err, !want)
		}
	}
}

// A memory of fixed bytes.
type memory map[uint64][]byte

func (m memory) ReadCode(addr uint64, p []byte) error {
	for start, code := range m {
		if addr >= start && addr+uint64(len(p)) <= start+uint64(len(code)) {
			copy(p, code[addr-start:])
			return nil
		}
	}
	return errors.New("not there")
}

// Whole functions have code from a memory. Parts of those that were overwritten have none.
func TestMap_CodeOfWholeFunctions(t *testing.T) {
	m := scanned(t, bytes.NewReader([]byte("100000 20 first\n100010 20 second\n200000 20 third\n")))
	m.StartAt(0, func(uint64) uint64 { return 5 })
	code := bytes.Repeat([]byte{0x90}, 0x30)
	m.CodeFrom([]source.CodeSource{{Memory: memory{0x100000: code}, Snapshot: true}}, source.CodeWorld{})
	r := m.Functions()
	for i, want := range []int{0, 0x20, 0} {
		fn, err := r.Function(i)
		if err != nil || len(fn.Code) != want || m.HasCode(i) != (want > 0) || m.Events[i].Time != 5 {
			t.Errorf("function %d: got %d bytes, %v; want %d", i, len(fn.Code), err, want)
		}
		if err := r.Targets(i, func(int64) {}); (err == nil) != (want > 0) {
			t.Errorf("function %d: got %v; want an error for unknown code", i, err)
		}
	}
}

// Lines of YJIT for the blocks of one method, which overwrite each other's ends, replace nothing.
func TestMap_BlocksOfOneName(t *testing.T) {
	m := scanned(t, bytes.NewReader([]byte("100022 d now\n10002f 5 now\n10002a b now\n100030 b other\n")))
	if len(m.Events) != 3 || m.Replaced != 2 { // the lines that lost addresses to other
		t.Errorf("got %d functions, %d replaced; want 3, 2", len(m.Events), m.Replaced)
	}
}

// ZJIT writes numbers with 0x.
func TestMap_Prefixes(t *testing.T) {
	m := scanned(t, bytes.NewReader([]byte("0x100000 0x40 ZJIT: f@/tmp/a.rb:3\n")))
	if len(m.Events) != 1 || m.Events[0].Addr != 0x100000 || m.Events[0].Size != 0x40 {
		t.Errorf("got %+v; want 0x40 bytes at 0x100000", m.Events)
	}
}
