package objstore

import (
	"fmt"
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

// recoverPatience is how long Recover waits for the locks of other runs, in all.
const recoverPatience = 100 * time.Millisecond

// Recover removes the files of a run that has crashed, or that is abandoned: partial files and
// locks, and without a result all files that the run created. Files of other runs stay, and so do
// objects that other runs may need. own says that the run is of this process, which still has its
// locks; it must exit soon.
//
// complete reports whether the result of the run is in place. left says in words which files had to
// stay; "" means none.
func Recover(log journal.Log, own bool) (complete bool, left string) {
	r := recovery{dirs: make(map[*journal.Dir]int), end: time.Now().Add(recoverPatience)}
	defer r.close()
	complete = log.Kept
	for _, f := range log.Records {
		switch f.Kind {
		case journal.Result:
			complete = complete || r.isStill(&f)
		case journal.Partial:
			r.partial(&f)
		}
	}
	for _, f := range log.Records {
		if dir := r.open(f.Dir); f.Kind == journal.Result && dir >= 0 {
			safefile.FinishOld(dir, f.Name)
		}
	}
	if !complete {
		r.full = log.Full
		for _, f := range log.Records {
			if f.Kind == journal.Object {
				r.objects = append(r.objects, f)
			}
		}
	}
	for _, f := range log.Records {
		if f.Kind == journal.Lock {
			r.unlock(&f, own)
		}
	}
	if !complete {
		for _, f := range slices.Backward(log.Records) {
			if f.Kind == journal.File && r.isStill(&f) {
				dir := r.open(f.Dir)
				if sys.Unlinkat(dir, f.Name, 0) != nil {
					sys.Unlinkat(dir, f.Name, unix.AT_REMOVEDIR) // if it is empty
				}
			}
		}
	}
	return complete, r.left()
}

// A recovery is the state of Recover.
type recovery struct {
	dirs    map[*journal.Dir]int // descriptors; -1 for directories that cannot be opened
	objects []journal.Record     // created objects in directories whose lock was not taken yet
	full    bool                 // more objects were created than there are records
	end     time.Time            // when it waits no longer
}

// open returns the descriptor of a directory, or -1.
func (r *recovery) open(dir *journal.Dir) int {
	fd, ok := r.dirs[dir]
	if !ok {
		var err error
		if fd, err = dir.Open(); err != nil {
			fd = -1
		}
		r.dirs[dir] = fd
	}
	return fd
}

func (r *recovery) close() {
	for _, fd := range r.dirs {
		if fd >= 0 {
			sys.Close(fd)
		}
	}
}

// isStill reports whether a name still is that of the user's file with the recorded inode number.
func (r *recovery) isStill(f *journal.Record) bool {
	return isFile(r.open(f.Dir), f.Name, f.Ino)
}

// isFile reports whether a name in a directory is that of the user's file with an inode number.
func isFile(dir int, name string, ino uint64) bool {
	var st unix.Stat_t
	return dir >= 0 && ino != 0 && sys.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Ino == ino && int(st.Uid) == os.Geteuid()
}

// partial removes a partial file or directory.
func (r *recovery) partial(f *journal.Record) {
	dir := r.open(f.Dir)
	switch {
	case dir < 0:
	case f.Ino == 0: // the run may have crashed before it recorded the inode number
		safefile.RemoveStale(dir, f.Name, f.Type)
	case !r.isStill(f):
	case f.Type == unix.S_IFDIR:
		safefile.RemoveDir(dir, f.Name)
	default:
		sys.Unlinkat(dir, f.Name, 0)
	}
}

// unlock takes the exclusive lock that a lock file stands for. It then removes the objects in its
// directory, and the lock file.
func (r *recovery) unlock(f *journal.Record, own bool) {
	dir := r.open(f.Dir)
	if dir >= 0 && f.Ino == 0 { // no object was made yet
		safefile.RemoveStale(dir, f.Name, unix.S_IFREG)
	}
	if dir < 0 || !r.isStill(f) {
		return // another run has removed it, and may rely on the objects
	}
	fd := f.Lock
	if !own {
		var err error
		if fd, err = sys.Openat(dir, f.Name, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err != nil {
			return
		}
		defer sys.Close(fd)
	}
	l := dirLock{dir: dir, fd: fd, name: f.Name}
	var st unix.Stat_t
	if sys.Fstat(fd, &st) != nil || st.Ino != f.Ino {
		return
	}
	for lockNow(fd, unix.LOCK_EX) != nil {
		if time.Now().After(r.end) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	if named, err := l.isNamed(); err != nil || !named {
		return
	}
	if sys.Fstat(fd, &st) == nil && st.Mode&0o777 != markedMode {
		r.removeObjects(f.Dir, st.Mtim)
	}
	sys.Unlinkat(dir, f.Name, 0)
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
	fd, err := sys.Openat(r.open(d), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	dir := sys.NewFile(fd, d.Path)
	defer dir.Close()
	for {
		entries, err := dir.ReadDir(1024)
		for _, e := range entries {
			name := e.Name()
			var st unix.Stat_t
			if !recording.IsObject([]byte(name)) || sys.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || int(st.Uid) != os.Geteuid() {
				continue
			}
			hash, ok := created[st.Ino]
			switch {
			case ok && hash == journal.Hash(name):
			// A file that existed before the run began is older than the lock.
			case begun[journal.Hash(name)] && st.Ctim.Nano() > began.Nano():
			default:
				continue
			}
			sys.Unlinkat(fd, name, 0)
		}
		if err != nil {
			return
		}
	}
}

// left describes the objects that stay.
func (r *recovery) left() string {
	stays := make(map[string]int)
	for _, f := range r.objects {
		stays[f.Dir.Path]++
	}
	var parts []string
	for _, dir := range slices.Sorted(maps.Keys(stays)) {
		parts = append(parts, StayText(stays[dir], dir, errShared))
	}
	if r.full {
		parts = append(parts, "more objects may be left")
	}
	return strings.Join(parts, "; ")
}

// StayText says that objects of a failed run stay in a directory, and why.
func StayText(n int, dir string, why error) string {
	return fmt.Sprintf("the %d objects that were made stay in %s: %v", n, quote.Printable(dir), why)
}
