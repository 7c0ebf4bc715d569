package dumptail

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/jitdump"
)

// A Dump is a jitdump that a running process has open for writing.
type Dump struct {
	PID uint32 // of the process, in our pid namespace
	FD  int    // the descriptor, in the process
	// Path is the target of the descriptor's link in /proc: the path that the process sees. The
	// kernel adds " (deleted)" if the file has been deleted.
	Path string
	Info fs.FileInfo // of the file; its size is that of the moment of Dumps
}

// maxDumps bounds the descriptors of a process: its memory is searched for each. A process writes one dump.
const maxDumps = 8

// Dumps returns the jitdumps that a process has open for writing and that have its own number in
// their name: jit-PID.dump, or jit-N-PID.dump. There are maxDumps at most. PID may be the number in any of the pid namespaces of
// the process. Descriptors are inherited, V8's among them, so a dump with another number is that of a
// parent.
//
// The error is procmem.ErrNone if there is no such process, procmem.ErrNotAllowed if its descriptors may
// not be read, or that of a file in /proc. Dumps is cheap enough for polling: it makes one system call
// for each open file of the process, and a few for each dump.
func Dumps(pid uint32) (dumps []Dump, err error) {
	dir := procmem.Dir(pid)
	entries, err := sys.ReadDir(dir + "/fd")
	if err != nil {
		return nil, procmem.ErrorOf(err)
	}
	var own []uint32 // read when a name is that of a dump
	for _, e := range entries {
		target, err := sys.Readlink(dir + "/fd/" + e.Name())
		if errors.Is(err, fs.ErrPermission) {
			return nil, procmem.ErrorOf(err)
		}
		number, ok := jitdump.ProcessOf(target)
		if err != nil || !ok { // it was closed since, or is no dump
			continue
		}
		if own == nil {
			if own, err = procmem.Numbers(pid); err != nil {
				return nil, procmem.ErrorOf(err)
			}
		}
		fd, err := strconv.Atoi(e.Name())
		if err != nil || !slices.Contains(own, number) {
			continue
		}
		d := Dump{PID: pid, FD: fd, Path: target}
		if d.isWritten() {
			dumps = append(dumps, d)
		}
		if len(dumps) == maxDumps {
			break
		}
	}
	return dumps, nil
}

// link returns the path in /proc that leads to the open file, also if that is in another mount
// namespace or deleted.
func (d *Dump) link() string { return fmt.Sprintf("%s/fd/%d", procmem.Dir(d.PID), d.FD) }

// isWritten reports whether the descriptor is of a regular file and open for writing. It sets Info. A
// descriptor that has been closed is not.
func (d *Dump) isWritten() bool {
	info, err := sys.ReadFile(fmt.Sprintf("%s/fdinfo/%d", procmem.Dir(d.PID), d.FD))
	if err != nil {
		return false
	}
	_, after, _ := bytes.Cut(info, []byte("flags:"))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	flags, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 8, 32)
	if err != nil || flags&unix.O_ACCMODE == unix.O_RDONLY {
		return false
	}
	d.Info, err = sys.Stat(d.link())
	return err == nil && d.Info.Mode().IsRegular()
}

// errOther says that the descriptor is of another file by now, or closed.
var errOther = fmt.Errorf("%w: it has closed its dump", procmem.ErrEnded)

// open opens the dump through the descriptor of the process.
func (d *Dump) open(flags int) (*sys.File, error) {
	fd, err := sys.OpenPath(d.link(), flags|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return nil, errOther
	} else if err != nil {
		return nil, err
	}
	file, err := safefile.RegularFile(fd, d.link())
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !os.SameFile(info, d.Info) {
		file.Close()
		if err == nil {
			err = errOther
		}
		return nil, err
	}
	return file, nil
}
