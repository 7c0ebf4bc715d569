package elfcore

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzOpen: whatever the bytes are, nothing panics, and memory is what stands in the
// file where a segment says that it is.
func FuzzOpen(f *testing.F) {
	for i := range machines {
		f.Add(sample(i).bytes())
	}
	extended := sample(0)
	extended.extended = true
	f.Add(extended.bytes())
	paths, _ := filepath.Glob(filepath.Join("testdata", "*.core"))
	if len(paths) == 0 {
		f.Fatal("no cores in testdata")
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Open(bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, th := range c.Threads() {
			if th.TID <= 0 {
				t.Errorf("thread %+v", th)
			}
		}
		for i, x := range c.Files() {
			if x.End <= x.Start || i > 0 && x.Start < c.Files()[i-1].Start {
				t.Errorf("file %d: %+v", i, x)
			}
		}
		for i, s := range c.Segments() {
			if s.Stored > s.Size || i > 0 && s.Addr < c.Segments()[i-1].Addr {
				t.Errorf("segment %d: %+v", i, s)
			}
			for _, at := range []uint64{0, s.Stored / 2, s.Stored - min(s.Stored, 8), s.Stored, s.Size - 1} {
				p := make([]byte, 8)
				if c.ReadCode(s.Addr+at, p) != nil {
					continue
				}
				found := c.segmentAt(s.Addr + at)
				if found == nil {
					t.Fatalf("memory at %#x, of no segment", s.Addr+at)
				}
				off := s.Addr + at - found.Addr
				n := min(8, found.Stored-off)
				if want := b[uint64(found.Offset)+off:][:n]; !bytes.Equal(p[:n], want) {
					t.Errorf("at %#x: % x, want % x", s.Addr+at, p[:n], want)
				}
			}
		}
	})
}
