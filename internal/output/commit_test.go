package output

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A blind is a seam that lets no call see the kind of a file. It counts syncs.
type blind struct{ syncs int }

func (b *blind) Before(c *sys.Call) error {
	switch c.Name {
	case "fstat":
		return unix.EIO
	case "fsync":
		b.syncs++
	}
	return nil
}

func (b *blind) After(*sys.Call, int, error) {}

// Standard output may be a file, which has to be on the disk before the exit code is 0.
func TestCommit_StreamOfUnknownKind(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for name, f := range map[string]*os.File{"file": file, "pipe": w} {
		b := new(blind)
		restore := sys.Use(b)
		problem, err := (&Output{path: "standard output", file: sys.Of(f), Stream: true, keep: true}).Commit()
		restore()
		if problem != nil || err != nil || b.syncs != 1 {
			t.Errorf("%s: got %v, %v, and %d syncs; want no error and 1 sync", name, problem, err, b.syncs)
		}
	}
}
