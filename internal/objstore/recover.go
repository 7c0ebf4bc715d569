package objstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/journal"
	"github.com/jitinject/jitinject/internal/quote"
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
// Recover never fails: the Recovered says which steps failed.
func Recover(log journal.Log, own bool) Recovered {
	r := newRecovery(&log)
	defer r.close()
	complete, known := r.isComplete(&log)
	for _, f := range log.Records {
		if f.Kind == journal.Partial {
			r.partial(&f)
		}
	}
	for _, f := range log.Records {
		if f.Kind == journal.Result {
			r.finishOld(&f)
		}
	}
	keep := complete || log.Kept
	if !keep {
		r.full = log.Full
		for _, f := range log.Records {
			if f.Kind == journal.Object {
				r.objects = append(r.objects, f)
			}
		}
	}
	for _, f := range log.Records {
		if f.Kind == journal.Lock {
			r.unlock(&f, own, keep, known)
		}
	}
	if !keep {
		for _, f := range slices.Backward(log.Records) {
			if f.Kind == journal.File {
				r.file(&f, known)
			}
		}
	}
	return Recovered{complete, !known, r.whatIsLeft()}
}

// Recovered describes the files that are left of a run after Recover.
type Recovered struct {
	Complete bool // the result is in its place
	Unknown  bool // Complete is unknown; Left says why
	// Left says in words which files had to stay or could not be removed, and why. It is "" if
	// there are none.
	Left string
}

// A recovery is the state of Recover.
type recovery struct {
	dirs map[*journal.Dir]int // descriptors; -1 for directories that cannot be opened
	made map[string]bool      // paths of files and directories that the run made
	end  time.Time            // when it waits no longer

	objects []journal.Record // created objects in directories that are not locked yet
	full    bool             // more files were created than there are records
	left    leftFiles
	kept    leftFiles              // files that the result may need
	why     map[*journal.Dir]error // why the objects of a directory stay; errMayShare if not in it
	notes   []string               // what else may be left, in words
}

func newRecovery(log *journal.Log) *recovery {
	r := &recovery{dirs: make(map[*journal.Dir]int), made: make(map[string]bool), why: make(map[*journal.Dir]error), end: time.Now().Add(recoverPatience)}
	for _, f := range log.Records {
		if f.Kind == journal.File {
			r.made[filepath.Join(f.Dir.Path, f.Name)] = true
		}
	}
	return r
}

// isComplete reports whether the result of the run is in place. If that is not known, the objects
// have to stay: the result may refer to them.
func (r *recovery) isComplete(log *journal.Log) (complete, known bool) {
	if log.Done || log.Kept {
		return log.Done, true
	}
	var fault error
	for _, f := range log.Records {
		if f.Kind != journal.Result {
			continue
		}
		still, err := r.isStill(&f)
		if still {
			return true, true
		}
		if err == nil && r.open(f.Dir) < 0 {
			err = errors.New("its directory cannot be opened")
		}
		if err != nil {
			fault = fmt.Errorf("%s: %w", quote.Printable(filepath.Join(f.Dir.Path, f.Name)), err)
		}
	}
	if fault == nil && log.Full && !log.HasResult() {
		fault = errors.New("the run could not record where its result goes")
	}
	if fault != nil {
		r.notes = append(r.notes, fmt.Sprintf("unknown whether the result is in its place: %v", fault))
		for _, f := range log.Records {
			if f.Kind == journal.Object {
				r.why[f.Dir] = errNeeded
			}
		}
	}
	return false, fault == nil
}

// errNeeded says why files stay where it is unknown whether the result is in its place.
var errNeeded = errors.New("the result may need them")

// open returns the descriptor of a directory, or -1.
func (r *recovery) open(dir *journal.Dir) int {
	fd, ok := r.dirs[dir]
	if !ok {
		var err error
		if fd, err = dir.Open(); err != nil {
			fd = -1
			// The run may have removed its own directory before it ended.
			if !r.made[dir.Path] || !errors.Is(err, unix.ENOENT) {
				r.notes = append(r.notes, fmt.Sprintf("files may be left in %s, which cannot be opened: %v", quote.Printable(dir.Path), err))
			}
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

// leave notes that a file could not be removed because of err, if that is not nil.
func (r *recovery) leave(f *journal.Record, err error) {
	r.left.add(filepath.Join(f.Dir.Path, f.Name), err)
}

// isStill reports whether a name still is that of the user's file with the recorded inode number.
func (r *recovery) isStill(f *journal.Record) (bool, error) {
	dir := r.open(f.Dir)
	if dir < 0 || f.Ino == 0 {
		return false, nil
	}
	var st unix.Stat_t
	err := twice(func() error { return sys.Fstatat(dir, f.Name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	return err == nil && st.Ino == f.Ino && int(st.Uid) == os.Geteuid(), err
}

// partial removes a partial file or directory.
func (r *recovery) partial(f *journal.Record) {
	dir := r.open(f.Dir)
	if dir < 0 {
		return
	}
	if f.Ino == 0 { // the run may have crashed before it recorded the inode number
		r.leave(f, safefile.RemoveStale(dir, f.Name, f.Type))
		return
	}
	still, err := r.isStill(f)
	switch {
	case !still:
	case f.Type == unix.S_IFDIR:
		err = safefile.RemoveDir(dir, f.Name)
	default:
		err = safefile.Remove(dir, f.Name)
	}
	r.leave(f, err)
}

// finishOld finishes the steps that the run began with the earlier result.
func (r *recovery) finishOld(f *journal.Record) {
	dir := r.open(f.Dir)
	if dir < 0 {
		return
	}
	if err := safefile.FinishOld(dir, f.Name); err != nil {
		r.notes = append(r.notes, fmt.Sprintf("%s: could not restore or remove the earlier result: %v; the next run with this output tries again", quote.Printable(filepath.Join(f.Dir.Path, f.Name)), err))
	}
}

// file removes a file or directory that is neither a partial file nor an object. Without remove, it
// notes that the file stays.
func (r *recovery) file(f *journal.Record, remove bool) {
	still, err := r.isStill(f)
	if still && !remove {
		r.kept.add(filepath.Join(f.Dir.Path, f.Name), errNeeded)
	} else if still {
		dir := r.open(f.Dir)
		if err = safefile.Remove(dir, f.Name); errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) {
			err = twice(func() error { return sys.Unlinkat(dir, f.Name, unix.AT_REMOVEDIR) })
		}
		if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
			err = nil // other programs, or files that are named, use it
		}
	}
	r.leave(f, err)
}
