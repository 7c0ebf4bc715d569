package engine_test

import (
	"debug/elf"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Finding functions in objects, whatever the layout: one object for each function, or
// bundles.

// A spot is where a function is in an object.
type spot struct {
	object string // path
	addr   uint64 // in the object
	size   uint64 // bytes
	memory uint64 // address in the process; 0 if the object is not a bundle
}

// objectPaths returns the paths of all objects in a directory.
func objectPaths(t testing.TB, dir string) (paths []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "jitted-*.so"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// objectFiles yields all objects in a directory with their paths. Each is closed before the next one.
func objectFiles(t testing.TB, dir string) iter.Seq2[string, *elf.File] {
	return func(yield func(string, *elf.File) bool) {
		t.Helper()
		for _, path := range objectPaths(t, dir) {
			f, err := elf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			more := yield(path, f)
			f.Close()
			if !more {
				return
			}
		}
	}
}

// spotsIn returns where functions are in an object, in the order of its symbol table. maps are the
// mappings of the result, or nil.
func spotsIn(t testing.TB, path string, maps *mappings) (names []string, spots []spot) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		at := spot{object: path, addr: s.Value, size: s.Size}
		if maps != nil && hasMadeNumber(path) {
			at.memory = maps.baseOf(path, symbols) + s.Value
		}
		names, spots = append(names, s.Name), append(spots, at)
	}
	return names, spots
}

// hasMadeNumber reports whether the number in the name of an object is made of its contents. So it may
// have several functions.
func hasMadeNumber(path string) bool {
	digits := strings.TrimSuffix(path[strings.LastIndexByte(path, '-')+1:], ".so")
	n, err := strconv.ParseUint(digits, 10, 64)
	return err == nil && n >= 1<<62
}

// baseOf returns the address in memory of the start of an object: by a mapping of one of its functions.
func (m *mappings) baseOf(path string, symbols []elf.Symbol) uint64 {
	for i := range m.all {
		x := &m.all[i]
		if filepath.Clean(string(x.Filename)) == path && slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Value-x.PgOff < x.Len }) {
			return x.Addr - x.PgOff
		}
	}
	return 0
}

// spotsOf returns where the functions in the objects of a directory are, by name. result is the
// recording that maps them; without it, their places in memory are 0.
func spotsOf(t testing.TB, dir, result string) map[string][]spot {
	t.Helper()
	all := make(map[string][]spot)
	var maps *mappings
	if result != "" {
		maps = readMappings(t, result)
	}
	for _, path := range objectPaths(t, dir) {
		names, spots := spotsIn(t, path, maps)
		for i, name := range names {
			all[name] = append(all[name], spots[i])
		}
	}
	return all
}

// only returns the one spot that a function has.
func only(t testing.TB, spots map[string][]spot, name string) spot {
	t.Helper()
	if len(spots[name]) != 1 {
		t.Fatalf("%s is at %d places in objects, want 1: %+v", name, len(spots[name]), spots[name])
	}
	return spots[name][0]
}

// code returns the bytes of a function in its object.
func (s spot) code(t testing.TB) []byte {
	t.Helper()
	f, err := elf.Open(s.object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	if text == nil || s.addr < text.Addr || s.addr+s.size > text.Addr+text.Size {
		t.Fatalf("%s: the function at %#x, %d bytes, is outside of .text", s.object, s.addr, s.size)
	}
	b := make([]byte, s.size)
	if _, err := text.ReadAt(b, int64(s.addr-text.Addr)); err != nil {
		t.Fatalf("%s: %v", s.object, err)
	}
	return b
}
