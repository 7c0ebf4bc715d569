package engine_test

import (
	"debug/elf"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/recording"
)

// A module is an object at a place, as libdw has it: from a mapping's start less its offset to the end of
// the last PT_LOAD.
type module struct {
	path   string
	lo, hi uint64
}

// checkModules checks that libdw can have all objects of a result at once. Modules of a process may overlap
// if they begin at one address, because perf then takes the first for both, or if they end at one, as the
// images of a region do.
func checkModules(t *testing.T, path string) {
	t.Helper()
	all := make(map[uint32][]module)
	for _, m := range readMappings(t, path).all {
		name := string(m.Filename)
		if !strings.Contains(name, "/"+recording.ObjectPrefix) {
			continue
		}
		size := loadedSize(t, name)
		if m.PgOff >= size {
			continue // unwind tables, which are outside of all PT_LOADs
		}
		is := module{name, m.Addr - m.PgOff, m.Addr - m.PgOff + size}
		for _, other := range all[m.PID] {
			overlap := is.lo < other.hi && other.lo < is.hi
			if overlap && is.path != other.path && is.lo != other.lo && is.hi != other.hi {
				t.Errorf("got modules %#x..%#x of %s and %#x..%#x of %s; want none that overlap", is.lo, is.hi, is.path, other.lo, other.hi, other.path)
			}
		}
		all[m.PID] = append(all[m.PID], is)
	}
	if len(all) == 0 {
		t.Errorf("got no mappings of objects in %s; want some", path)
	}
}

// loadedSize returns the size of an object in memory, in bytes.
func loadedSize(t *testing.T, path string) (size uint64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			size = max(size, p.Vaddr+p.Memsz)
		}
	}
	return size
}
