package objstore

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/journal"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// errMayShare says that another run may need the objects of a crashed one: that has no lock.
var errMayShare = errors.New("another run may use them")

// unlock takes the exclusive lock that a lock file stands for. If it is known that the run has no
// result, unlock then removes the objects in its directory. At last it removes the lock file. If
// the result is complete, it marks the file for other runs, as the run would have done.
func (r *recovery) unlock(f *journal.Record, own, complete, known bool) {
	dir := r.open(f.Dir)
	if dir < 0 {
		return
	}
	if f.Ino == 0 { // no object was made yet
		r.leave(f, safefile.RemoveStale(dir, f.Name, unix.S_IFREG))
		return
	}
	still, err := r.isStill(f)
	if !still {
		r.stays(f, err)
		return // another run has removed it, and may rely on the objects
	}
	fd := f.Lock
	if !own {
		if fd, err = sys.Openat(dir, f.Name, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err != nil {
			r.stays(f, err)
			return
		}
		defer sys.Close(fd)
	}
	l := dirLock{dir: dir, fd: fd, name: f.Name}
	var st unix.Stat_t
	if err := twice(func() error { return sys.Fstat(fd, &st) }); err != nil || st.Ino != f.Ino {
		r.stays(f, err)
		return
	}
	if complete {
		if err := l.mark(); err != nil {
			r.notes = append(r.notes, fmt.Sprintf("%s: the lock file in it could not be marked: %v; another run that fails may remove objects of this one", quote.Printable(f.Dir.Path), err))
		}
	}
	for {
		err := lockNow(fd, unix.LOCK_EX)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			r.stays(f, err)
			return
		}
		if time.Now().After(r.end) {
			r.why[f.Dir] = errShared
			return
		}
		time.Sleep(time.Millisecond)
	}
	if named, err := l.isNamed(); err != nil || !named {
		r.stays(f, err)
		return
	}
	switch err := twice(func() error { return sys.Fstat(fd, &st) }); {
	case err != nil:
		r.why[f.Dir] = err
	case complete:
	case st.Mode&0o777 == markedMode:
		r.why[f.Dir] = errShared
	case known:
		r.removeObjects(f.Dir, st.Mtim)
	}
	r.leave(f, safefile.Remove(dir, f.Name))
}

// stays notes that a lock file and the objects of its directory stay because of err, if that is not
// nil.
func (r *recovery) stays(f *journal.Record, err error) {
	if err != nil {
		r.leave(f, err)
		r.why[f.Dir] = fmt.Errorf("their lock cannot be taken: %w", err)
	}
}

// removeObjects removes the recorded objects of a directory. began is the time when the lock file was
// made.
func (r *recovery) removeObjects(d *journal.Dir, began unix.Timespec) {
	created := make(map[uint64]uint32) // hashes of names, by inode number
	begun := make(map[uint32]bool)     // hashes of names without an inode number
	r.objects = slices.DeleteFunc(r.objects, func(f journal.Record) bool {
		switch {
		case f.Dir != d:
			return false
		case f.Ino == 0:
			begun[f.Hash] = true
		default:
			created[f.Ino] = f.Hash
		}
		return true
	})
	if len(created)+len(begun) == 0 {
		return
	}
	if err := eachName(r.open(d), d.Path, func(dir int, name string) {
		if !recording.IsObject([]byte(name)) {
			return
		}
		file := &journal.Record{Dir: d, Name: name}
		var st unix.Stat_t
		err := twice(func() error { return sys.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
		switch hash, ok := created[st.Ino]; {
		case errors.Is(err, unix.ENOENT):
		case err != nil:
			r.leave(file, err)
		case int(st.Uid) != os.Geteuid():
		case ok && hash == journal.Hash(name),
			// A file that existed before the run began is older than the lock.
			begun[journal.Hash(name)] && st.Ctim.Nano() > began.Nano():
			r.leave(file, safefile.Remove(dir, name))
		}
	}); err != nil {
		r.notes = append(r.notes, fmt.Sprintf("objects of the run may be left in %s, which cannot be read: %v", quote.Printable(d.Path), err))
	}
}

// eachName calls f for each name in a directory, which is open as dir. f may remove names.
func eachName(dir int, path string, f func(dir int, name string)) error {
	fd, err := sys.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	file := sys.NewFile(fd, path)
	defer file.Close()
	for {
		entries, err := file.ReadDir(1024)
		for _, e := range entries {
			f(fd, e.Name())
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return safefile.WithoutPath(err)
		}
	}
}

// whatIsLeft describes the files that stay.
func (r *recovery) whatIsLeft() string {
	number, why := make(map[string]int), make(map[string]error)
	for _, f := range r.objects {
		number[f.Dir.Path]++
		if why[f.Dir.Path] = r.why[f.Dir]; why[f.Dir.Path] == nil {
			why[f.Dir.Path] = errMayShare
		}
	}
	var parts []string
	for _, dir := range slices.Sorted(maps.Keys(number)) {
		parts = append(parts, StayText(number[dir], dir, why[dir]))
	}
	if files := r.left.String(); files != "" {
		parts = append(parts, files)
	}
	if len(r.kept.names) > 0 {
		parts = append(parts, fmt.Sprintf("%s stay: %v", r.kept.list(), r.kept.err))
	}
	parts = append(parts, r.notes...)
	if r.full {
		parts = append(parts, "more files may be left, because the run could not record all")
	}
	return strings.Join(parts, "; ")
}

// StayText says that objects of a failed run stay in a directory, and why.
func StayText(n int, dir string, why error) string {
	return fmt.Sprintf("the %d objects that were made stay in %s: %v", n, quote.Printable(dir), why)
}
