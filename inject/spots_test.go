package inject_test

import (
	"debug/elf"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitobj"
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
	for _, pattern := range []string{"jitted-*.so", "jitbundle-*.so"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
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

// spotsIn returns where functions are in an object, in the order of its symbol table.
func spotsIn(t testing.TB, path string) (names []string, spots []spot) {
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
	base, bundled := bundleBase(t, path)
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		at := spot{object: path, addr: s.Value, size: s.Size}
		if bundled {
			at.memory = base + s.Value - jitobj.TextOffset
		}
		names, spots = append(names, s.Name), append(spots, at)
	}
	return names, spots
}

// bundleBase returns the address in memory of what is at TextOffset in a bundle, by the
// name of its file: jitbundle-PID-ADDRESS-ID.so.
func bundleBase(t testing.TB, path string) (uint64, bool) {
	t.Helper()
	rest, ok := strings.CutPrefix(filepath.Base(path), "jitbundle-")
	if !ok {
		return 0, false
	}
	parts := strings.Split(rest, "-")
	if len(parts) != 3 {
		t.Fatalf("%s: want jitbundle-PID-ADDRESS-ID.so", path)
	}
	low, err := strconv.ParseUint(parts[1], 16, 64)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return jitobj.Region{Low: low}.Base(), true
}

// spotsOf returns where the functions in the objects of a directory are, by name.
func spotsOf(t testing.TB, dir string) map[string][]spot {
	t.Helper()
	all := make(map[string][]spot)
	for _, path := range objectPaths(t, dir) {
		names, spots := spotsIn(t, path)
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
