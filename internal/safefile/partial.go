package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/perfdata"
)

// IsRecordingPart reports whether a name is one of those in a directory that is a recording.
func IsRecordingPart(name string) bool {
	_, ok := perfdata.DirFile(name)
	return ok || name == "data" || name == "kcore_dir"
}

// A Partial is a file, or a directory, that is being written beside the place where it
// will be: .NAME.NUMBER.partial. As long as someone writes it, it is locked. What is
// not locked was left by a run that was killed, and the next one with the same NAME
// takes it away.
type Partial struct {
	dir  int // descriptor of its directory; whoever asked for it closes that
	Name string
	lock int // descriptor that holds the lock
}

// PartialSuffix is how their names end.
const PartialSuffix = ".partial"

// Numbers beyond guessed are random: who can foretell names can take them.
const (
	Guessed     = 16
	maxPartials = 64
)

// Create makes a file in the directory dir, open for reading and writing, that
// will be called name.
func Create(dir int, name string, mode uint32) (*os.File, *Partial, error) {
	fd, p, err := newPartial(dir, name, unix.S_IFREG, func(temp string) (int, error) {
		return unix.Openat(dir, temp, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	})
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fd), p.Name), p, nil
}

// CreateDir makes a directory in the directory dir that will be called name.
func CreateDir(dir int, name string) (*Partial, error) {
	fd, p, err := newPartial(dir, name, unix.S_IFDIR, func(temp string) (int, error) {
		if err := unix.Mkdirat(dir, temp, 0o700); err != nil {
			return -1, err
		}
		return unix.Openat(dir, temp, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	unix.Close(fd)
	return p, nil
}

// newPartial finds a name for which create works, and takes away what earlier runs
// of that kind left on the way.
func newPartial(dir int, name string, kind uint32, create func(temp string) (int, error)) (int, *Partial, error) {
	name = strings.TrimPrefix(name, ".")
	name = name[:min(len(name), 200)] // a file's name has 255 bytes
	for i := 0; ; i++ {
		number := strconv.Itoa(i)
		if i >= Guessed {
			number = fmt.Sprintf("%016x", rand.Uint64())
		}
		p := &Partial{dir: dir, Name: "." + name + "." + number + PartialSuffix, lock: -1}
		RemoveStale(dir, p.Name, kind)
		fd, err := create(p.Name)
		if errors.Is(err, unix.EEXIST) && i < maxPartials {
			continue
		}
		if err != nil {
			return -1, nil, err
		}
		if p.hold(fd) {
			return fd, p, nil
		}
		unix.Close(fd)
	}
}

// hold takes the lock on what fd is open for. It fails only if another run has found
// the file before it was locked, and takes it away. A file system without locks has
// nobody who takes away anything.
func (p *Partial) hold(fd int) bool {
	lock, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) // fd is closed before the file has its name
	if err != nil {
		return true
	}
	p.lock = lock
	if err := unix.Flock(lock, unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		p.release()
		return false
	}
	var st unix.Stat_t
	if err := unix.Fstat(lock, &st); err == nil && st.Nlink == 0 {
		p.release()
		return false
	}
	return true
}

// RemoveStale removes what a run of the same user has left under such a name, if it is of
// the kind S_IFREG or S_IFDIR. Anybody who may write to the directory can give such a name
// to a directory of the user's, with all that is in it: so a directory goes only where one
// was to be made, and only if it is the beginning of a recording.
func RemoveStale(dir int, temp string, kind uint32) {
	fd, err := unix.Openat(dir, temp, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st, named unix.Stat_t
	if unix.Fstat(fd, &st) != nil || int(st.Uid) != os.Geteuid() || unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	if unix.Fstatat(dir, temp, &named, unix.AT_SYMLINK_NOFOLLOW) != nil || named.Dev != st.Dev || named.Ino != st.Ino {
		return
	}
	switch {
	case st.Mode&unix.S_IFMT != kind:
	case kind == unix.S_IFREG:
		unix.Unlinkat(dir, temp, 0)
	case isRecordingBegun(fd):
		RemoveDir(dir, temp)
	}
}

// isRecordingBegun reports whether a directory holds nothing but what a run puts into one
// that is its output.
func isRecordingBegun(fd int) bool {
	root, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return false
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !IsRecordingPart(e.Name()) || e.IsDir() != (e.Name() == "kcore_dir") {
			return false
		}
	}
	if len(entries) == 0 {
		return true
	}
	f, err := root.OpenFile("data", os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [8]byte // zero, if no more was written: the header comes last
	n, err := f.ReadAt(magic[:], 0)
	return n == 0 && err == io.EOF || n == len(magic) && (magic == [8]byte{} || string(magic[:]) == "PERFILE2" || string(magic[:]) == "2ELIFREP")
}

// RemoveDir removes a directory that was being written, without following links.
func RemoveDir(dir int, temp string) {
	root, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", dir))
	if err != nil {
		return
	}
	defer root.Close()
	root.RemoveAll(temp)
}

// Rename gives the file its name.
func (p *Partial) Rename(name string) error {
	err := unix.Renameat(p.dir, p.Name, p.dir, name)
	if err == nil {
		p.Name = ""
		p.release()
	}
	return err
}

// Remove takes the file away, unless it has its name.
func (p *Partial) Remove() {
	if p.Name != "" {
		unix.Unlinkat(p.dir, p.Name, 0)
	}
	p.release()
}

func (p *Partial) release() {
	if p.lock >= 0 {
		unix.Close(p.lock)
		p.lock = -1
	}
}
