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

	"github.com/jitinject/jitinject/internal/journal"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/perfdata"
)

// IsRecordingPart reports whether a file name belongs to a recording that is a directory.
func IsRecordingPart(name string) bool {
	_, ok := perfdata.DirFile(name)
	return ok || name == "data" || name == "kcore_dir"
}

// A Partial is a file or a directory in the making, next to its destination: .NAME.NUMBER.partial.
// It is locked while it is written. An unlocked one was left by a killed run, and the next run with
// the same NAME removes it.
type Partial struct {
	dir  int // descriptor of its directory; the creator closes it
	Name string
	// number is the part of Name that distinguishes it from others.
	number string
	lock   int // descriptor that holds the lock
}

// PartialSuffix ends the names of partial files.
const PartialSuffix = ".partial"

// Guessed is how many predictable numbers are tried; numbers beyond them are random. Otherwise
// another user could occupy all names.
const (
	Guessed     = 16
	maxPartials = 64
)

// Create makes a file in the directory dir, open for reading and writing. Its final name will be
// name, by [Partial.Rename].
func Create(dir int, name string, mode uint32) (*sys.File, *Partial, error) {
	return create(dir, name, mode, func(string) bool { return true })
}

// CreateResult makes a file as Create does. Its final name will be name, by [Partial.Publish].
func CreateResult(dir int, name string, mode uint32) (*sys.File, *Partial, error) {
	return create(dir, name, mode, func(number string) bool { return isFree(dir, sideName(name, number)) })
}

// isFree reports whether no file has a name.
func isFree(dir int, name string) bool {
	var st unix.Stat_t
	return errors.Is(sys.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW), unix.ENOENT)
}

func create(dir int, name string, mode uint32, suits func(number string) bool) (*sys.File, *Partial, error) {
	fd, p, err := newPartial(dir, name, unix.S_IFREG, suits, func(temp string) (int, error) {
		return sys.Openat(dir, temp, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	})
	if err != nil {
		return nil, nil, err
	}
	return sys.NewFile(fd, p.Name), p, nil
}

// CreateDir makes a directory in the directory dir. Its final name will be name, by
// [Partial.Publish].
func CreateDir(dir int, name string) (*Partial, error) {
	suits := func(number string) bool { return isFree(dir, sideName(name, number)) }
	fd, p, err := newPartial(dir, name, unix.S_IFDIR, suits, func(temp string) (int, error) {
		if err := sys.Mkdirat(dir, temp, 0o700); err != nil {
			return -1, err
		}
		fd, err := sys.Openat(dir, temp, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			if rerr := removeMade(dir, temp, unix.S_IFDIR); rerr != nil {
				err = &LeftFile{Name: temp, Made: err, Left: rerr}
			}
		}
		return fd, err
	})
	if err != nil {
		return nil, err
	}
	sys.Close(fd) // nothing was written through it
	return p, nil
}

// errTaken says that other programs have taken each temporary file.
var errTaken = fmt.Errorf("%d temporary files were locked or removed by other programs as soon as they were made", maxPartials)

// newPartial finds a name for which create succeeds, with a number that suits. On the way, it
// removes partial files of earlier runs of that kind.
func newPartial(dir int, name string, kind uint32, suits func(number string) bool, create func(temp string) (int, error)) (int, *Partial, error) {
	for i := 0; ; i++ {
		number := strconv.Itoa(i)
		if i >= Guessed {
			number = fmt.Sprintf("%016x", rand.Uint64())
		}
		if i < maxPartials && !suits(number) {
			continue
		}
		p := &Partial{dir: dir, Name: partialName(name, number), number: number, lock: -1}
		RemoveStale(dir, p.Name, kind) // if that fails, the name is taken, and another one does
		entry := journal.AddPartial(dir, p.Name, kind)
		fd, err := create(p.Name)
		if errors.Is(err, unix.EEXIST) && i < maxPartials {
			continue
		}
		if err != nil {
			return -1, nil, err
		}
		held, err := p.hold(fd)
		if held {
			entry.Opened(fd)
			return fd, p, nil
		}
		sys.Close(fd)
		if err == nil && i >= maxPartials {
			err = errTaken
		}
		if err != nil {
			if rerr := removeMade(dir, p.Name, kind); rerr != nil {
				err = &LeftFile{Name: p.Name, Made: err, Left: rerr}
			}
			return -1, nil, err
		}
	}
}

// partialName returns the name of a partial file.
func partialName(name, number string) string {
	// A file name has at most 255 bytes.
	return fmt.Sprintf(".%.200s.%s%s", strings.TrimPrefix(name, "."), number, PartialSuffix)
}

// removeHeld removes an open file, if it still has its name.
func removeHeld(dir int, name string, fd int) {
	var open, named unix.Stat_t
	if sys.Fstat(fd, &open) == nil && sys.Fstatat(dir, name, &named, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		open.Dev == named.Dev && open.Ino == named.Ino && open.Mode&unix.S_IFMT == unix.S_IFREG {
		Remove(dir, name)
	}
}

// removeMade removes a file or directory that has just been made.
func removeMade(dir int, name string, kind uint32) error {
	flags := 0
	if kind == unix.S_IFDIR {
		flags = unix.AT_REMOVEDIR
	}
	return again(func() error { return sys.Unlinkat(dir, name, flags) })
}

// hold takes the lock on fd's file. It returns false without an error if another run found the file
// before it was locked, and is removing it. Without locks in the file system, no run removes files.
func (p *Partial) hold(fd int) (held bool, err error) {
	if p.lock, err = sys.Dup(fd); err != nil { // fd is closed before the file has its name
		return false, err
	}
	var st unix.Stat_t
	if err = sys.Flock(p.lock, unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		// Another run found it, and removes it, or another program holds it.
		removeHeld(p.dir, p.Name, p.lock)
		p.release()
		return false, nil
	}
	if err = sys.Fstat(p.lock, &st); err != nil || st.Nlink == 0 {
		p.release()
		return false, err
	}
	return true, nil
}

// RemoveStale removes a partial file or directory that a run of the same user left. kind is S_IFREG
// or S_IFDIR. Another user with write access can give such a name to a directory of the user's. So
// RemoveStale removes a directory only if a directory was to be made, and if it contains only the
// beginning of a recording.
//
// It returns nil if there is no such file, or if that is another user's, locked, or something else.
// Otherwise the error says why the file is still there.
func RemoveStale(dir int, temp string, kind uint32) error {
	fd, err := sys.Openat(dir, temp, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if err != nil {
		return unlessOther(dir, temp, err)
	}
	defer sys.Close(fd)
	var st, named unix.Stat_t
	if err := sys.Fstat(fd, &st); err != nil || int(st.Uid) != os.Geteuid() {
		return err
	}
	if err := sys.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil
	} else if err != nil {
		return err
	}
	if err := sys.Fstatat(dir, temp, &named, unix.AT_SYMLINK_NOFOLLOW); errors.Is(err, unix.ENOENT) {
		return nil
	} else if err != nil || named.Dev != st.Dev || named.Ino != st.Ino {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT != kind:
	case kind == unix.S_IFREG:
		return Remove(dir, temp)
	case isRecordingBegun(fd):
		return RemoveDir(dir, temp)
	}
	return nil
}

// unlessOther returns err, or nil if a name is that of another user's file or of none.
func unlessOther(dir int, name string, err error) error {
	var st unix.Stat_t
	if serr := sys.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); errors.Is(serr, unix.ENOENT) || serr == nil && int(st.Uid) != os.Geteuid() {
		return nil
	}
	return err
}

// isRecordingBegun reports whether a directory contains only files that a run writes into its
// output directory.
func isRecordingBegun(fd int) bool {
	root, err := sys.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", fd))
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
	var magic [8]byte // zero at first: the header is written last
	n, err := f.ReadAt(magic[:], 0)
	return n == 0 && err == io.EOF || n == len(magic) && (magic == [8]byte{} || perfdata.HasMagic(magic[:]))
}

// RemoveDir removes a partial directory, without following links.
func RemoveDir(dir int, temp string) error {
	return again(func() error {
		root, err := sys.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", dir))
		if err != nil {
			return err
		}
		defer root.Close()
		return root.RemoveAll(temp)
	})
}

// Rename gives the file its final name. It replaces the file that has it.
func (p *Partial) Rename(name string) error {
	return p.rename(name, func(dir int, from, to string) error { return sys.Renameat(dir, from, dir, to) })
}

// RenameNew gives the file its final name. It fails with EEXIST if another file has it.
func (p *Partial) RenameNew(name string) error { return p.rename(name, renameNew) }

// rename gives the file its final name by a call of do.
func (p *Partial) rename(name string, do func(dir int, from, to string) error) error {
	err := do(p.dir, p.Name, name)
	if err == nil {
		p.Name = ""
		p.release()
	}
	return err
}

// Remove removes the file, unless it has its final name.
func (p *Partial) Remove() (err error) {
	if p.Name != "" {
		err = Remove(p.dir, p.Name)
	}
	p.release()
	return err
}

// release releases the lock.
func (p *Partial) release() {
	if p.lock >= 0 {
		sys.Close(p.lock)
		p.lock = -1
	}
}
