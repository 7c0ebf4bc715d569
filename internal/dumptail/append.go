package dumptail

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile"
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
	err = safefile.Replace(path, uint32(d.Info.Mode().Perm())|0o600, func(w io.Writer) error {
		n, err := io.CopyN(w, file, size)
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the dump had %d bytes, and has %d now", size, n)
		}
		if err == nil {
			_, err = w.Write(tail)
		}
		return err
	})
	if err != nil {
		return Copied{}, err
	}
	return copied, nil
}
