package locate

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/dumptail"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
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

// A tail says what is known about the end of a file that its process has not written yet.
type tail struct {
	process *codebytes.File
	text    string // for the user
	used    bool   // some bytes were read
}

// withTail returns the contents of an open file, with those that the process of Options.Live which writes
// it has in its buffer. t is nil if no such process has some. After an error, which t has, it returns the
// file.
func (f *Finder) withTail(file *sys.File, info os.FileInfo) (src io.ReaderAt, t *tail) {
	process, d := f.writerOf(info)
	if d == nil {
		return file, nil
	}
	size, rest, err := d.Tail()
	switch {
	case err != nil:
		return file, &tail{process, fmt.Sprintf("its end, which process %d may not have written yet, could not be read from the memory of that: %v", d.PID, err), false}
	case len(rest) == 0:
		return file, nil
	}
	text := fmt.Sprintf("its last %d bytes are from the memory of process %d, which has not written them yet", len(rest), d.PID)
	return &tailedFile{dumptail.NewReaderAt(file, size, rest), file}, &tail{process, text, true}
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
		if err != nil {
			f.Opts.Logf(1, "process %d: its open files could not be read: %v", c.Live.PID(), err)
		}
		for i := range dumps {
			if os.SameFile(dumps[i].Info, info) {
				return c, &dumps[i]
			}
		}
	}
	return nil, nil
}

// noteTail adds a note if the end of a dump is from the memory of its process, or could not be read.
func (f *Finder) noteTail(d *model.Dump, found *report.Findings) {
	for _, s := range f.tailed {
		if s.File != d.File {
			continue
		}
		if s.tail.used {
			s.tail.process.UseTail()
		}
		found.Note(quote.Printable(d.Path) + ": " + s.tail.text)
	}
}
