package objstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/source"
)

// A StoreError is an error of writing, as opposed to one of reading a dump.
type StoreError struct{ Err error }

// Error returns the text of Err.
func (e *StoreError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *StoreError) Unwrap() error { return e.Err }

// storeError returns an error of writing, or nil.
func storeError(err error) error {
	if err == nil {
		return nil
	}
	return &StoreError{err}
}

// objectDir returns the directory for the objects of a dump. It is absolute, because mappings need
// absolute file names.
func objectDir(o *config.Options, d *model.Dump) (string, error) {
	if o.Objects != "" {
		return filepath.Abs(o.Objects)
	}
	// Files in the directory of a live process vanish with it, and perf maps lie in /tmp.
	if d.Live || d.Source.Traits().Tidied {
		return filepath.Abs(filepath.Dir(o.Output))
	}
	return filepath.Abs(filepath.Dir(d.Path))
}

// A Store is a directory for objects. Files in it are never modified in place, only replaced as a
// whole. So a file that an earlier result refers to is always intact.
type Store struct {
	path string
	fd   int
	uid  uint32   // the user's
	made []string // directories created for it, outermost first

	undo       sync.Once
	mayNotUndo error // see MayUndo

	leftMu sync.Mutex
	left   leftFiles // files that could not be removed

	lock  dirLock
	alone bool // no other run used it when this one began
	late  bool // used without a lock, because another run kept it
}

// objectMode is the mode for new files, before the umask.
const objectMode = 0o644

// Mode returns the permissions for the files of a dump. A user who may not read the dump may not
// read its code.
func Mode(d *model.Dump) (uint32, error) {
	if g, ok := d.Source.(source.Group); ok {
		return g.Mode()&objectMode | 0o600, nil
	}
	st, err := d.File.Stat()
	if err != nil {
		return 0, err
	}
	return uint32(st.Mode().Perm())&objectMode | 0o600, nil
}

// openStore opens a directory and checks that it can create files there. After an error, it is
// closed. With create, it first
// makes a missing directory.
func openStore(ctx context.Context, path string, create bool) (*Store, error) {
	s := &Store{path: path, fd: -1, lock: dirLock{fd: -1}, uid: uint32(os.Geteuid())}
	err := s.open(ctx, create)
	if err != nil {
		s.Close()
		s.removeMade()
		return s, fmt.Errorf("%s: cannot write objects there: %w", quote.Printable(path), err)
	}
	return s, nil
}

// probeName is that of the file that shows whether a directory is writable.
const probeName = "jitinject"

// maxObjectName is the maximum length of an object's name, in bytes, with the preceding slash.
const maxObjectName = 64

// open opens and locks the directory, and checks that it is writable.
func (s *Store) open(ctx context.Context, create bool) (err error) {
	if len(s.path)+maxObjectName >= unix.PathMax { // no perf could open the objects
		return unix.ENAMETOOLONG
	}
	for range 3 { // another run may be removing a directory that it had made
		if err = s.openDir(create); create && errors.Is(err, unix.ENOENT) {
			continue
		} else if err != nil {
			return err
		}
		if err = s.share(ctx); errors.Is(err, unix.ENOENT) {
			s.Close()
			continue
		} else if err != nil {
			return s.leaveOf(err)
		}
		still, err := safefile.IsStill(s.path, s.fd)
		if err != nil {
			return err
		}
		if still {
			break
		}
		s.Close()
	}
	if s.fd < 0 {
		return unix.ENOENT
	}
	if err := sys.Faccessat(s.fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return err
	}
	// Root passes the check above everywhere, even in /proc.
	f, p, err := safefile.Create(s.fd, probeName, objectMode)
	if err != nil {
		return s.leaveOf(err)
	}
	f.Close() // nothing was written to it
	name := p.Name
	err = p.Remove()
	s.leave(name, err)
	return err
}

// openDir opens the directory.
func (s *Store) openDir(create bool) (err error) {
	if !create {
		s.fd, err = safefile.OpenDir(s.path)
		return err
	}
	var made []string
	s.fd, made, err = safefile.MakeDir(s.path, 0o777)
	s.made = append(s.made, made...)
	return err
}

// removeMade removes the directories that were created for the store and are empty.
func (s *Store) removeMade() {
	for _, dir := range slices.Backward(s.made) {
		s.left.add(dir, removeEmpty(dir))
	}
	s.made = nil
}

// removeEmpty removes a directory, unless another run uses it.
func removeEmpty(dir string) error {
	err := twice(func() error { return sys.Remove(dir) })
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// Close closes the directory and releases its lock.
func (s *Store) Close() {
	s.unlock()
	if s.fd >= 0 {
		sys.Close(s.fd)
		s.fd = -1
	}
}

// Outcome is the effect of Put or Commit on a file.
type Outcome int

const (
	// Created: the file did not exist before.
	Created Outcome = iota
	// Unchanged: the file had the same content, and stays.
	Unchanged
	// Replaced: another file was replaced.
	Replaced
)

// Put ensures that the file name in the directory has the given content. It keeps a file with that
// content, and replaces another one by rename. It never follows links. ino is the inode of a created file.
// The error is a StoreError.
func (s *Store) Put(name string, content []byte, mode uint32) (did Outcome, ino uint64, err error) {
	if ino, err = s.create(name, content, mode); err != unix.EEXIST {
		return Created, ino, storeError(err)
	}
	there := s.existing(name, bytes.NewReader(content), int64(len(content)))
	if there.mayStay(s) {
		return Unchanged, 0, nil
	}
	d, err := s.Draft(name, mode)
	if err == nil {
		defer d.Abandon()
		_, err = d.file.WriteAt(content, 0)
	}
	if err == nil {
		did, err = d.commit(name, there)
		ino = d.Ino
	}
	if err != nil && there.safe { // another run has made it
		return Unchanged, 0, nil
	}
	return did, ino, storeError(err)
}

// create writes a new file, and returns its inode. It fails with EEXIST if the name exists. After
// another failure no file remains.
func (s *Store) create(name string, content []byte, mode uint32) (ino uint64, err error) {
	defer safefile.Hold()()
	fd, err := sys.Openat(s.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err != nil {
		return 0, err
	}
	ino, err = write(fd, content)
	if cerr := sys.Close(fd); err == nil {
		err = cerr
	}
	if err != nil && ino != 0 {
		s.RemoveCreated(name, ino) // another run may have replaced it
	} else if err != nil {
		s.leave(name, safefile.Remove(s.fd, name))
	}
	return ino, err
}

// write fills a new file. It returns its inode, also after an error unless that is unknown. It does not close fd.
func write(fd int, content []byte) (ino uint64, err error) {
	var st unix.Stat_t
	err = sys.Fstat(fd, &st)
	for len(content) > 0 && err == nil {
		var n int
		n, err = sys.Write(fd, content)
		if n <= 0 && err == nil {
			err = io.ErrShortWrite // a file system may write nothing without an error
		}
		content = content[max(n, 0):]
	}
	return st.Ino, err
}

// withOwner adds the owner of a file to an EPERM error from replacing it.
func (s *Store) withOwner(name string, err error) error {
	var st unix.Stat_t
	if !errors.Is(err, unix.EPERM) || sys.Fstatat(s.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Uid == s.uid {
		return err
	}
	return fmt.Errorf("it belongs to user %d: %w", st.Uid, err)
}

// Stores are the directories in use.
type Stores struct {
	byPath map[string]*Store
	left   leftFiles // in directories that cannot be used
}

// In returns the store of a directory, or nil.
func (s *Stores) In(dir string) *Store { return s.byPath[dir] }

// sorted returns the stores in the order of their paths.
func (s *Stores) sorted() (all []*Store) {
	for _, path := range slices.Sorted(maps.Keys(s.byPath)) {
		all = append(all, s.byPath[path])
	}
	return all
}

// maxProcessDirs bounds the directories for the objects of a process, which are open until the end. Further objects
// go to the first. So a process with a thousand dumps leaves files to open for others.
const maxProcessDirs = 16

// OpenAll opens the directories for the objects of dumps, and returns the usable dumps. Dumps with
// an unwritable directory are dropped. If the user named the directory, OpenAll fails. When ctx is
// cancelled, it does not wait for other runs.
func OpenAll(ctx context.Context, dumps []*model.Dump, opts *config.Options) (s *Stores, usable []*model.Dump, found report.Findings, err error) {
	s = &Stores{byPath: make(map[string]*Store)}
	var failed []failedStore
	dirs := make(map[uint32][]string) // by process
	for _, d := range dumps {
		if d.Objects, err = objectDir(opts, d); err != nil {
			return s, nil, found, err
		}
		switch of := dirs[d.PID]; {
		case slices.Contains(of, d.Objects):
		case len(of) < maxProcessDirs:
			dirs[d.PID] = append(of, d.Objects)
		default:
			d.Objects = of[0]
		}
		at := slices.IndexFunc(failed, func(f failedStore) bool { return f.dir == d.Objects })
		if at < 0 && s.In(d.Objects) == nil {
			st, err := openStore(ctx, d.Objects, opts.Objects != "")
			if err != nil {
				s.left.join(&st.left)
			}
			if err != nil && opts.Objects != "" {
				return s, nil, found, report.Advise(err, "%s", report.AdviceObjects())
			}
			if err == nil {
				s.byPath[d.Objects] = st
			} else {
				at, failed = len(failed), append(failed, failedStore{dir: d.Objects, err: err})
			}
		}
		if at < 0 {
			usable = append(usable, d)
			continue
		}
		d.File.Close()
		failed[at].pids = append(failed[at].pids, d.PID)
	}
	for _, f := range failed {
		advice := "name a directory for the objects with " + report.Mentioned("Objects", "DIR")
		p := report.ProblemOf("", fmt.Errorf("%w; %s", f.err, report.LeftOutText(f.pids)), advice)
		p.Code = report.ProblemNotWritten
		found.Problem(p)
	}
	return s, usable, found, nil
}

// A failedStore is a directory that cannot be written.
type failedStore struct {
	dir  string
	err  error
	pids []uint32 // of the dumps with objects there
}

// Report returns a problem for each directory that was moved or replaced during the run.
func (s *Stores) Report() (found report.Findings) {
	for _, st := range s.sorted() {
		path := st.path
		still, err := safefile.IsStill(path, st.fd)
		if err != nil {
			found.Problem(report.Problem{Code: report.ProblemNotWritten, Offset: -1, Text: fmt.Sprintf("%s: cannot check whether the directory was replaced while objects were made in it: %v; inject again", quote.Printable(path), err)})
		} else if !still {
			found.Problem(report.Problem{Code: report.ProblemNotWritten, Offset: -1, Text: fmt.Sprintf("%s: it was moved or replaced while objects were made in it, and the result names objects that are not there; inject again", quote.Printable(path))})
		}
	}
	return found
}

// Mark records that the result is complete. It returns a problem for each directory in which that
// could not be recorded.
func (s *Stores) Mark() (found report.Findings) {
	for _, st := range s.sorted() {
		if err := st.mark(); err != nil {
			found.Problem(report.Problem{Code: report.ProblemNotWritten, Offset: -1, Text: fmt.Sprintf("%s: the lock file in it could not be marked: %v; if another run makes objects there now and fails, it may remove some of this result; inject again then", quote.Printable(st.path), err)})
		}
	}
	return found
}

// Close closes all directories. left says which files could not be removed, or is "".
func (s *Stores) Close() (left string) {
	for _, st := range s.sorted() {
		st.Close()
		s.left.join(&st.left)
	}
	return s.left.String()
}

// RemoveMade removes the directories that were created for the stores and are empty. Those stay that
// another run may use. If that is unknown, they count as files that could not be removed.
func (s *Stores) RemoveMade() {
	for _, st := range s.byPath {
		if len(st.made) == 0 {
			continue
		}
		switch err := st.MayUndo(); {
		case err == nil:
			st.unlock()
			st.removeMade()
		case err != errShared:
			st.left.add(st.made[0], err)
		}
	}
}
