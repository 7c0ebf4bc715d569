package stdio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// patience is the time without input after which a message tells the user about the wait.
const patience = 3 * time.Second

// The magic of recordings, in both byte orders, and that of perf before 3.5.
const magic, magicSwapped, magicOld = "PERFILE2", "2ELIFREP", "PERFFILE"

// HasRecording reports whether a recording comes from standard input. Input may also be the script
// that a shell reads, or the list of a loop: nothing is taken out of it. A pipe is waited for, with
// a message on stderr after some seconds. HasRecording fails if the system does, but not without
// standard input.
func HasRecording(stdin *os.File, stderr io.Writer) (bool, error) {
	kind, err := KindOf(stdin)
	switch {
	case err != nil:
		return false, err
	case kind == Regular:
		return beginsRegular(stdin)
	case kind.IsPipe():
		return beginsPipe(stdin, kind, stderr)
	}
	return false, nil
}

// beginsRegular reports whether a regular file begins as a recording. The file's offset has no effect.
func beginsRegular(f *os.File) (bool, error) {
	var begin [len(magic)]byte
	n, err := sys.Of(f).ReadAt(begin[:], 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return isMagic(begin[:max(n, 0)]), ignore(err, unix.EBADF, unix.EINVAL, unix.ESPIPE) // not for reading
}

// beginsPipe waits for the beginning of a pipe, and reports whether it is that of a recording.
func beginsPipe(f *os.File, kind Kind, stderr io.Writer) (bool, error) {
	if !readable(f, patience) {
		fmt.Fprintf(stderr, "jitinject: waiting for a recording on standard input; -i perf.data reads the file\n")
		for !readable(f, time.Hour) {
		}
	}
	var begin [len(magic)]byte
	for {
		n, err := peek(f, kind, begin[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 { // it has ended, or has something else
			return false, ignore(err, unix.EBADF, unix.EAGAIN, unix.ENOTCONN, unix.ECONNRESET)
		}
		if n == len(begin) || !beginsMagic(begin[:n]) {
			is := isMagic(begin[:n])
			if !is {
				fmt.Fprintf(stderr, "jitinject: standard input is not a recording; reading perf.data\n")
			}
			return is, nil
		}
		if over(f) {
			return false, nil
		}
		time.Sleep(time.Millisecond) // the rest of it will come
	}
}

// ignore returns err, or nil for the given ones, which say that a file has nothing to read.
func ignore(err error, known ...unix.Errno) error {
	for _, e := range known {
		if errors.Is(err, e) {
			return nil
		}
	}
	return err
}

func isMagic(b []byte) bool {
	return string(b) == magic || string(b) == magicSwapped || string(b) == magicOld
}

func beginsMagic(b []byte) bool {
	return strings.HasPrefix(magic, string(b)) || strings.HasPrefix(magicSwapped, string(b)) || strings.HasPrefix(magicOld, string(b))
}

// readable waits until there is something to read from f, or its end, for some time.
func readable(f *os.File, patience time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	for end := time.Now().Add(patience); ; {
		n, err := unix.Poll(fds, int(max(0, time.Until(end)).Milliseconds()))
		if err != unix.EINTR {
			return n > 0 || err != nil
		}
	}
}

// over reports whether nothing more will come from a pipe.
func over(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1 && fds[0].Revents&unix.POLLHUP != 0
}

// peek reads the first bytes in a pipe, and leaves them there.
func peek(f *os.File, kind Kind, b []byte) (int, error) {
	if kind == Socket {
		n, _, err := unix.Recvfrom(int(f.Fd()), b, unix.MSG_PEEK)
		return n, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	defer w.Close()
	n, err := unix.Tee(int(f.Fd()), int(w.Fd()), len(b), 0)
	if n <= 0 || err != nil {
		return 0, err
	}
	return io.ReadFull(r, b[:n])
}

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
