package inject_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/jitdump"
)

// indexed is how many functions the world of these tests has: enough for an index.
const indexed = 1000

// manyFunctions is a world of many functions with lines.
func manyFunctions(t *testing.T) *world {
	w := newWorld(t)
	w.opts.Objects = w.path("objects")
	w.mark(100, 1000, "jit-100.dump")
	w.writeMany(1, 1)
	w.expect(100, 9000, 0x10008, "f0+0x8")
	w.Write(t, w.opts.Input)
	return w
}

// writeMany writes the dump; seed is in the code of the last function. Of one of the
// functions the dump says that it has so many lines, and it has one.
func (w *world) writeMany(seed byte, entries uint64) {
	var recs []timed
	for i := range uint64(indexed) {
		addr := 0x10000 + 64*i
		info := jitdump.NewDebugInfo(binary.LittleEndian, addr, []jitdump.DebugEntry{{Addr: addr, Line: 7, Name: []byte("a.c")}})
		if i == 5 {
			info.Count = entries
		}
		recs = append(recs, timed{2000 + i, info}, load(2000+i, 100, i, addr, fmt.Sprintf("f%d", i), code(64, byte(i))))
	}
	recs = append(recs, load(4000, 100, indexed, 0x80000, "last", code(64, seed)))
	w.dump("jit-100.dump", x86(100), recs...)
}

// lastly injects and reports whether the objects were there already, known by an
// index. The summary is returned without what says so.
func (w *world) lastly() (known bool, sum string) {
	w.t.Helper()
	w.opts.Progress = new(inject.Progress) // another one each time, as the command has it
	w.opts.Log = func(_ int, line string) { known = known || strings.HasSuffix(line, "its objects are there already") }
	s, err := injectAgain(w)
	if err != nil {
		w.t.Fatal(err)
	}
	s.Unchanged, s.Replaced, s.Elapsed = 0, 0, 0
	b, err := json.Marshal(s)
	if err != nil {
		w.t.Fatal(err)
	}
	return known, string(b)
}

// What was made is known again as long as nobody touches it, and the summary is the same.
func TestIndex(t *testing.T) {
	w := manyFunctions(t)
	known, first := w.lastly()
	if known {
		t.Error("known before the first run")
	}
	out := read(t, w.opts.Output)
	for range 2 {
		known, again := w.lastly()
		if !known || again != first {
			t.Errorf("known: %v\nfirst %s\nthen  %s", known, first, again)
		}
		if !bytes.Equal(read(t, w.opts.Output), out) {
			t.Error("another recording")
		}
	}
	w.resolve(w.opts.Output)
}

// Whatever happens to the files, or to what they are made from, is seen, and put right.
func TestIndexIsNoGuess(t *testing.T) {
	object := func(w *world) string { return w.path("objects/jitted-100-500.so") }
	index := func(w *world) string { return w.path("objects/.jitinject-100.index") }
	changed := func(name string, change func([]byte) []byte) func(*world) {
		return func(w *world) {
			path := w.path(name)
			info, err := os.Stat(path)
			if err != nil {
				w.t.Fatal(err)
			}
			put(w.t, path, change(read(w.t, path)))
			os.Chtimes(path, info.ModTime(), info.ModTime())
		}
	}
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	cut := func(b []byte) []byte { return b[:len(b)/2] }
	for _, c := range []struct {
		name string
		do   func(w *world)
		root bool
	}{
		{"a byte of an object", changed("objects/jitted-100-500.so", flip), false},
		{"half an object", changed("objects/jitted-100-500.so", cut), false},
		{"no object", func(w *world) { os.Remove(object(w)) }, false},
		{"a link to it", func(w *world) {
			os.Rename(object(w), w.path("elsewhere"))
			os.Symlink(w.path("elsewhere"), object(w))
		}, false},
		{"others may write to it", func(w *world) { os.Chmod(object(w), 0o666) }, false},
		{"it is somebody else's", func(w *world) { os.Chown(object(w), 1, 1) }, true},
		{"a copy", func(w *world) {
			b := read(w.t, object(w))
			os.Remove(object(w))
			put(w.t, object(w), b)
		}, false},
		{"other DWARF", func(w *world) { w.opts.DWARF = 4 }, false},
		{"no CFI", func(w *world) { w.opts.CFI = inject.CFIAlways }, false},
		{"another producer", func(w *world) { w.opts.Producer = "somebody" }, false},
		{"the dump is private", func(w *world) { os.Chmod(w.path("jit-100.dump"), 0o600) }, false},
		{"other code", func(w *world) { w.writeMany(2, 1) }, false},
		{"a byte of the index", changed("objects/.jitinject-100.index", flip), false},
		{"half an index", changed("objects/.jitinject-100.index", cut), false},
		{"no index", func(w *world) { os.Remove(index(w)) }, false},
		{"others may write to the index", func(w *world) { os.Chmod(index(w), 0o666) }, false},
		{"the index is somebody else's", func(w *world) { os.Chown(index(w), 1, 1) }, true},
		{"the index is a link", func(w *world) {
			os.Rename(index(w), w.path("elsewhere"))
			os.Symlink(w.path("elsewhere"), index(w))
		}, false},
		{"the index is a directory", func(w *world) {
			os.Remove(index(w))
			os.Mkdir(index(w), 0o755)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.root && os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			w := manyFunctions(t)
			w.lastly()
			time.Sleep(20 * time.Millisecond) // kernels before 6.13 count time in ticks
			c.do(w)
			known, sum := w.lastly()
			if known {
				t.Error("not noticed")
			}
			// What would be there if nothing had been there before.
			fresh := *w
			fresh.opts.Objects, fresh.opts.Output = w.path("fresh"), w.path("fresh.data")
			fresh.lastly()
			paths, _ := filepath.Glob(w.path("fresh/jitted-*"))
			if len(paths) != indexed+1 {
				t.Fatalf("%d objects", len(paths))
			}
			for _, path := range paths {
				name := filepath.Join(w.opts.Objects, filepath.Base(path))
				if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
					t.Errorf("%s: %v, %v", name, info, err)
				} else if !bytes.Equal(read(t, name), read(t, path)) {
					t.Errorf("%s is not as it should be", filepath.Base(name))
				}
			}
			if known, again := w.lastly(); again != sum {
				t.Errorf("known: %v\nthen  %s\nlater %s", known, sum, again)
			}
			if left, _ := filepath.Glob(filepath.Join(w.opts.Objects, ".*.[0-9]*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// Nobody leaves an index of a dump of which there is more to say than numbers, of a run
// that came to nothing, or of what makes no difference.
func TestNoIndex(t *testing.T) {
	for name, do := range map[string]func(w *world){
		"problems":      func(w *world) { w.writeMany(1, 2) },
		"source files":  func(w *world) { w.opts.Sources = w.path("sources") },
		"few functions": func(w *world) { w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1))) },
	} {
		t.Run(name, func(t *testing.T) {
			w := manyFunctions(t)
			do(w)
			for range 2 {
				if known, _ := w.lastly(); known {
					t.Error("known by an index")
				}
			}
			if left, _ := filepath.Glob(filepath.Join(w.opts.Objects, ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	w := manyFunctions(t)
	w.opts.Output = w.opts.Input
	if _, err := injectAgain(w); err == nil {
		t.Error("the input is no output")
	}
	if left, _ := filepath.Glob(w.path("objects/.*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
