package elfcore

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
)

// FormatName is how errors call the format.
const FormatName = "core dump"

// ErrNotCore says that a file is something else.
var ErrNotCore = errors.New("not an ELF core dump")

// A Core is an open core dump. Its methods are safe for use by several goroutines; what
// they return must not be changed.
type Core struct {
	Class   elf.Class
	Order   binary.ByteOrder
	Machine elf.Machine

	// Problems are what is wrong with the notes; the rest of them has been read.
	Problems []error

	src      io.ReaderAt
	end      uint64    // see End
	size     uint64    // see Size
	segments []Segment // in the order of their addresses
	threads  []Thread
	files    []File
	process  *Process
}

// A Segment is a run of memory [PT_LOAD].
type Segment struct {
	Addr, Size uint64 // in memory, in bytes
	Offset     int64  // in the core
	Stored     uint64 // how many bytes are there, from the first on; the rest was left out
	Flags      elf.ProgFlag
}

// A Thread is a thread of the process [NT_PRSTATUS]. The first one is that which received the signal that made
// the core, if one did.
type Thread struct {
	TID int    // in the pid namespace of the process, or of the debugger that made the core
	ID  uint64 // what pthread_self() returns in it; 0 if that is unknown
}

// A File is a run of a file that was mapped [NT_FILE].
type File struct {
	Start, End uint64 // in memory
	Offset     uint64 // of Start in the file, in bytes
	Name       string
}

// A Process is what a core says of the process as a whole [NT_PRPSINFO].
type Process struct {
	PID, PPID int    // as with Thread.TID
	Command   string // up to 15 bytes of the name of the program
	Args      string // up to 80 bytes of the command line
}

// Open reads the headers and notes of a core dump. It returns ErrNotCore for other files,
// and another error if the headers cannot be read. The Core reads from src as long as it
// is used.
func Open(src io.ReaderAt) (*Core, error) {
	c := &Core{src: src}
	if err := c.headers(); err != nil {
		return nil, err
	}
	return c, nil
}

// End returns the offset at which the memory and the notes of the core end, according to its headers. A
// smaller file is cut off.
func (c *Core) End() uint64 { return c.end }

// Size returns the size of the file in bytes, without most of its holes.
func (c *Core) Size() uint64 { return c.size }

// PID returns the process's id, or 0 where the core does not say it.
func (c *Core) PID() int {
	if c.process == nil {
		return 0
	}
	return c.process.PID
}

// Process returns what is said of the process, or nil.
func (c *Core) Process() *Process { return c.process }

// Threads returns the threads, in the order of the core.
func (c *Core) Threads() []Thread { return c.threads }

// Files returns the mapped files, in the order of their addresses.
func (c *Core) Files() []File { return c.files }

// Segments returns the memory of the process, in the order of its addresses.
func (c *Core) Segments() []Segment { return c.segments }
