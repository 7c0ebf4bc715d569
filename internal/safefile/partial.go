package safefile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Partial is a file or a directory in the making, next to its destination: .NAME.NUMBER.partial.
// It is locked while it is written. An unlocked one was left by a killed run, and the next run with
// the same NAME removes it.
type Partial struct {
	dir  int // descriptor of its directory; the creator closes it
	Name string
	// number is the part of Name that distinguishes it from others.
	number string
	kind   uint32 // S_IFREG or S_IFDIR
	lock   int    // descriptor that holds the lock
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
	defer Hold()()
	for i := 0; ; i++ {
		number := strconv.Itoa(i)
		if i >= Guessed {
			number = fmt.Sprintf("%016x", rand.Uint64())
		}
		if i < maxPartials && !suits(number) {
			continue
		}
		p := &Partial{dir: dir, Name: partialName(name, number), number: number, kind: kind, lock: -1}
		RemoveStale(dir, p.Name, kind) // if that fails, the name is taken, and another one does
		fd, err := create(p.Name)
		if errors.Is(err, unix.EEXIST) && i < maxPartials {
			continue
		}
		if err != nil {
			return -1, nil, err
		}
		held, err := p.hold(fd)
		if held {
			partials.all.Store(p, nil)
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

// Rename gives the file its final name. It replaces the file that has it.
func (p *Partial) Rename(name string) error {
	defer Hold()()
	return p.rename(name, renameOver)
}

// RenameNew gives the file its final name. It fails with EEXIST if another file has it.
func (p *Partial) RenameNew(name string) error {
	defer Hold()()
	return p.rename(name, renameNew)
}

// renameOver gives a file another name, and replaces the file that has that.
func renameOver(dir int, from, to string) error { return sys.Renameat(dir, from, dir, to) }

// rename gives the file its final name by a call of do.
func (p *Partial) rename(name string, do func(dir int, from, to string) error) error {
	err := do(p.dir, p.Name, name)
	if err == nil {
		p.Name = ""
		p.release()
	}
	return err
}

// Remove removes the file, or the directory with all that is in it, unless it has its final name.
func (p *Partial) Remove() error {
	defer Hold()()
	err := p.remove()
	p.release()
	return err
}

func (p *Partial) remove() error {
	switch {
	case p.Name == "":
		return nil
	case p.kind == unix.S_IFDIR:
		return removeDir(p.dir, p.Name)
	}
	return Remove(p.dir, p.Name)
}

// release releases the lock.
func (p *Partial) release() {
	partials.all.Delete(p)
	if p.lock >= 0 {
		sys.Close(p.lock)
		p.lock = -1
	}
}
