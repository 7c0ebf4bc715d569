package stdio

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Kind is the kind of file that standard input or output is connected to.
type Kind int

const (
	Other   Kind = iota // a terminal, a device, or nothing because it is closed
	Regular             // a file that the shell redirected
	FIFO
	Socket
)

// KindOf returns the kind of f, which may be nil or closed. It fails if the system does.
func KindOf(f *os.File) (Kind, error) {
	if f == nil {
		return Other, nil
	}
	var st unix.Stat_t
	if err := ignore(sys.Fstat(int(f.Fd()), &st), unix.EBADF); err != nil {
		return Other, fmt.Errorf("fstat: %w", err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return Regular, nil
	case unix.S_IFIFO:
		return FIFO, nil
	case unix.S_IFSOCK:
		return Socket, nil
	}
	return Other, nil
}

// WasClosed reports whether a standard file was closed when the program started. Go's runtime then opens the
// null device in its place, for reading and writing. A shell's >/dev/null is for writing only.
func WasClosed(f *os.File) bool {
	var st unix.Stat_t
	flags, err := sys.Flags(int(f.Fd()))
	return err == nil && flags&unix.O_ACCMODE == unix.O_RDWR && sys.Fstat(int(f.Fd()), &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == unix.Mkdev(1, 3)
}

// IsSame reports whether two open files are the same, such as both ends of 2>&1. It fails if the system
// does.
func IsSame(a, b *os.File) (bool, error) {
	var sa, sb unix.Stat_t
	if err := sys.Fstat(int(a.Fd()), &sa); err != nil {
		return false, fmt.Errorf("fstat: %w", err)
	}
	if err := ignore(sys.Fstat(int(b.Fd()), &sb), unix.EBADF); err != nil {
		return false, fmt.Errorf("fstat: %w", err)
	}
	return sa.Dev == sb.Dev && sa.Ino == sb.Ino, nil
}

// IsPipe reports whether another program is at the other end.
func (k Kind) IsPipe() bool { return k == FIFO || k == Socket }

// IsStream reports whether a recording may come from, or go to, a file of this kind.
func (k Kind) IsStream() bool { return k == Regular || k.IsPipe() }
