package locate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/dumptail"
	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A running process has the last bytes of its jitdump in a buffer: its last functions are not on the
// disk yet. If the user names the process, they are read from its memory.

// A tailedFile is a file and what its process will append to it.
type tailedFile struct {
	io.ReaderAt
	file *sys.File
}

// Stat returns the state of the file on the disk.
func (t *tailedFile) Stat() (fs.FileInfo, error) { return t.file.Stat() }

// withTail returns the contents of an open file, with those that the process of Options.Live which writes
// it has in its buffer. Without such a process, and after an error, it returns the file.
func (f *Finder) withTail(file *sys.File, info os.FileInfo, path string) io.ReaderAt {
	writer, d := f.writerOf(info)
	if d == nil {
		return file
	}
	size, tail, err := d.Tail()
	switch {
	case err != nil:
		f.Tails.Note(fmt.Sprintf("%s: its end, which process %d may not have written yet, could not be read from the memory of that: %v", quote.Printable(path), d.PID, err))
		return file
	case len(tail) == 0:
		return file
	}
	writer.UseTail()
	f.Tails.Note(fmt.Sprintf("%s: its last %d bytes are from the memory of process %d, which has not written them yet", quote.Printable(path), len(tail), d.PID))
	return &tailedFile{dumptail.NewReaderAt(file, size, tail), file}
}

// writerOf returns the process of Options.Live that has a file open as its own dump, or nil.
func (f *Finder) writerOf(info os.FileInfo) (*codebytes.File, *dumptail.Dump) {
	if f.Code == nil {
		return nil, nil
	}
	for _, c := range f.Code.Files {
		if c.Live == nil {
			continue
		}
		dumps, err := dumptail.Dumps(uint32(c.Live.PID()))
		if err != nil && !errors.Is(err, procmem.ErrNone) {
			f.Tails.Note(fmt.Sprintf("process %d: its open files could not be read, so the end of its dump may be missing: %v", c.Live.PID(), err))
		}
		for i := range dumps {
			if os.SameFile(dumps[i].Info, info) {
				return c, &dumps[i]
			}
		}
	}
	return nil, nil
}
