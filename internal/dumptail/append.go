package dumptail

import (
	"fmt"
	"io"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Append writes the tail to the dump itself, and returns the number of bytes. Only a process that
// writes no more allows that: its tracer holds it at PTRACE_EVENT_EXIT. A process that goes on would
// write the same bytes again. The error is as for Tail, or that of writing; then a part may be written.
func (d *Dump) Append() (int, error) {
	size, tail, err := d.Tail()
	if err != nil || len(tail) == 0 {
		return 0, err
	}
	file, err := d.open(unix.O_WRONLY)
	if err != nil {
		return 0, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() != size {
		err = errBusy
	}
	n := 0
	if err == nil {
		n, err = file.WriteAt(tail, size)
	}
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	return n, err
}

// A Copied says what a copy of a dump has.
type Copied struct {
	Disk int64 // bytes from the disk
	Tail int   // bytes that the process had not written yet
	// Missing is the error of Tail if the copy has no tail although one may be missing.
	Missing error
}

// Copy writes what is on the disk, and the tail, to a file. It writes beside that file and renames the
// result, so path has either the whole copy or what it had before. Without a tail, the copy has what is
// on the disk, and Missing says why. The error is of opening the dump or of making the copy.
func (d *Dump) Copy(path string) (Copied, error) {
	file, err := d.open(0)
	if err != nil {
		return Copied{}, err
	}
	defer file.Close()
	size, tail, missing := d.tail(file)
	copied := Copied{Disk: size, Tail: len(tail), Missing: missing}
	if path, err = filepath.Abs(path); err != nil {
		return Copied{}, err
	}
	dir, err := safefile.OpenDir(filepath.Dir(path))
	if err != nil {
		return Copied{}, err
	}
	defer sys.Close(dir)
	out, partial, err := safefile.Create(dir, filepath.Base(path), uint32(d.Info.Mode().Perm())|0o600)
	if err != nil {
		return Copied{}, err
	}
	err = write(out, file, size, tail)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = partial.Rename(filepath.Base(path))
	}
	if err != nil {
		if rerr := partial.Remove(); rerr != nil {
			err = &safefile.LeftFile{Name: partial.Name, Made: err, Left: rerr}
		}
		return Copied{}, err
	}
	return copied, nil
}

// write writes the first size bytes of a dump, and its tail.
func write(out, dump *sys.File, size int64, tail []byte) error {
	n, err := out.ReadFrom(&io.LimitedReader{R: dump, N: size})
	if err != nil {
		return err
	}
	if n != size {
		return fmt.Errorf("the dump had %d bytes, and has %d now", size, n)
	}
	_, err = out.Write(tail)
	return err
}
