package v8truth_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/v8truth"
	"github.com/jitinject/jitinject/perfdata"
)

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A loaded is a function that perf finds in memory in a result.
type loaded struct {
	object string // path
	name   string // of the symbol
	value  uint64 // of the symbol
	size   uint64
}

// injected runs the engine and returns the functions of the result's mappings by their address in
// memory, in the order of the mappings.
func injected(t *testing.T, dir string, bundle bool) map[uint64][]loaded {
	t.Helper()
	tmp := t.TempDir()
	out := filepath.Join(tmp, "out.data")
	opts := inject.Options{Input: filepath.Join(dir, "perf.data"), Output: out, Objects: tmp, Bundle: bundle, NoSync: true}
	if path := filepath.Join(dir, "v8.log"); exists(path) {
		opts.SideFiles = []inject.SideFile{{Kind: "v8log", Path: path}} // other names say which process it is
	}
	if _, err := inject.Run(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	pd, err := perfdata.Open(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	layouts, err := perfdata.NewLayouts(pd.Header.Order, pd.Attrs)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[uint64][]loaded)
	objects := make(map[string][]placed)
	for rec, err := range perfdata.Records(pd.Blocks()) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Type != perfdata.RecordMmap2 {
			continue
		}
		m, err := layouts.Mmap(rec)
		if err != nil {
			t.Fatal(err)
		}
		path := string(m.Filename)
		if base := filepath.Base(path); !strings.HasPrefix(base, "jitted-") {
			continue
		}
		if objects[path] == nil {
			objects[path] = symbols(t, path)
		}
		for _, s := range objects[path] {
			if s.offset >= m.PgOff && s.offset+s.size <= m.PgOff+m.Len {
				at := m.Addr + s.offset - m.PgOff
				all[at] = append(all[at], s.loaded)
			}
		}
	}
	return all
}

// A placed is a function of an object.
type placed struct {
	loaded
	offset uint64 // in the file
}

func symbols(t *testing.T, path string) (all []placed) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Symbols()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, s := range list {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			text := f.Sections[s.Section]
			all = append(all, placed{loaded{path, s.Name, s.Value, s.Size}, s.Value - text.Addr + text.Offset})
		}
	}
	return all
}

// A pair is a code object of a log, and the function of the result that is the same.
type pair struct {
	code *v8truth.Code
	loaded
}

// pairs pairs all machine code of functions. The k-th code that has an address, a size and a name
// is the k-th function that has them. Code without a partner is an error.
func pairs(t *testing.T, all map[string]*v8truth.Log, result map[uint64][]loaded) (list []pair) {
	t.Helper()
	used := make(map[loaded]bool)
	alone := 0
	for file, l := range all {
	codes:
		for _, c := range l.Codes {
			if c.Function == nil || !c.IsMachineCode() {
				continue
			}
			for _, f := range result[c.Address] {
				if f.name == c.DumpName() && f.size == c.Size && !used[f] {
					used[f] = true
					list = append(list, pair{c, f})
					continue codes
				}
			}
			if alone++; alone <= 5 {
				t.Errorf("%s:%d: %s of %d bytes at %#x is not in the result, which has there %+v", file, c.Line, c.DumpName(), c.Size, c.Address, result[c.Address])
			}
		}
	}
	if alone > 0 {
		t.Errorf("got %d code objects of %d without a function in the result; want none", alone, alone+len(list))
	}
	return list
}
