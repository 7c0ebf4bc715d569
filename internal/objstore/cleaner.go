package objstore

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/perfcache"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A cleaner removes objects, directory by directory.
type cleaner struct {
	opts *CleanOptions
	sum  *CleanSummary

	dir string // the open directory; "" for none
	fd  int
	err error // error of opening it

	cache *perfcache.Cache // nil for none

	// counted has how many names of a file a dry run would have removed.
	counted map[inode]uint64
}

// An inode identifies a file.
type inode struct{ dev, ino uint64 }

// object removes one object, if it is the recorded one.
func (c *cleaner) object(o *referredObject) {
	size, err := c.remove(o)
	switch {
	case isMissing(err):
		c.sum.Missing++
	case err != nil:
		c.keep(o.path, "%w", err)
	default:
		c.sum.Removed++
		c.sum.Bytes += size
		if c.opts.Log != nil {
			c.opts.Log(o.path)
		}
	}
}

// remove removes the file of an object, and returns its size in bytes. With DryRun, it only checks.
func (c *cleaner) remove(o *referredObject) (int64, error) {
	if !filepath.IsAbs(o.path) {
		return 0, errors.New("the recording does not say in which directory it is; it is left alone")
	}
	if err := c.enter(filepath.Dir(o.path)); err != nil {
		return 0, err
	}
	name := filepath.Base(o.path)
	seen, err := checkObject(c.fd, name, o.path, o.ids)
	if err != nil {
		return 0, err
	}
	if c.opts.DryRun {
		err = sys.Faccessat(c.fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	} else {
		if err := unreplaced(c.fd, name, &seen); err != nil {
			return 0, err
		}
		err = sys.Unlinkat(c.fd, name, 0)
	}
	if err != nil {
		return 0, fmt.Errorf("cannot remove it: %w", err)
	}
	return c.freed(&seen), nil
}

// unreplaced returns an error if a name no longer leads to the file with the state seen. Anyone with
// write access to the directory may have replaced the file.
func unreplaced(dir int, name string, seen *unix.Stat_t) error {
	var now unix.Stat_t
	if err := sys.Fstatat(dir, name, &now, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if now.Dev != seen.Dev || now.Ino != seen.Ino {
		return errors.New("it was replaced during the check; it is left alone")
	}
	return nil
}

// freed returns how many bytes are freed by removing a name of a file. st is its state before.
func (c *cleaner) freed(st *unix.Stat_t) int64 {
	if others := uint64(st.Nlink) - 1; others > 0 {
		file := inode{st.Dev, st.Ino}
		if c.counted[file] < others {
			if c.opts.DryRun {
				c.counted[file]++
			}
			return 0
		}
	}
	return min(st.Size, 512*st.Blocks) // bundles are sparse
}

// checkObject opens a file of a directory, and returns its state if it is an object with one of the
// build ids. Messages have its path.
func checkObject(dir int, name, path string, ids []string) (st unix.Stat_t, err error) {
	fd, err := sys.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ELOOP):
		return st, errors.New("it is a symbolic link, which is not followed; it is left alone")
	case errors.Is(err, unix.ENOENT):
		return st, err
	case err != nil:
		return st, fmt.Errorf("cannot read it: %w; it is left alone", err)
	}
	file := sys.NewFile(fd, path)
	defer file.Close()
	if err := sys.Fstat(fd, &st); err != nil {
		return st, fmt.Errorf("cannot read it: %w; it is left alone", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return st, errors.New("it is not a regular file; it is left alone")
	}
	if len(ids) == 0 {
		return st, errors.New("the recording does not have its build id, so it may be another file; it is left alone")
	}
	f, err := elffile.Open(file)
	if err != nil {
		return st, errors.New("it is no ELF file; it is left alone")
	}
	if id := f.BuildID(); id == "" || !slices.ContainsFunc(ids, func(want string) bool { return sameBuildID(id, want) }) {
		return st, errors.New("its build id is not the one in the recording, so it is of another run; it is left alone")
	}
	return st, nil
}

// sameBuildID reports whether the id of a file is the recorded one. Entries of older perfs have no
// length: their ids are padded with zeros to 20 bytes.
func sameBuildID(file, recorded string) bool {
	return file == recorded || len(recorded) == 20 && len(file) < 20 && strings.TrimRight(recorded[len(file):], "\x00") == "" && recorded[:len(file)] == file
}

// enter opens a directory.
func (c *cleaner) enter(dir string) error {
	if dir == c.dir {
		return c.err
	}
	c.leave()
	c.dir = dir
	if c.fd, c.err = sys.OpenPath(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); c.err != nil && !errors.Is(c.err, unix.ENOENT) && !errors.Is(c.err, unix.ENOTDIR) {
		c.err = fmt.Errorf("cannot open its directory: %w", c.err)
	}
	return c.err
}

// leave closes the open directory.
func (c *cleaner) leave() {
	if c.dir != "" && c.err == nil {
		c.partials()
		sys.Close(c.fd)
	}
	c.dir, c.err = "", nil
}

// partials removes temporary files of objects that killed runs left, and their lock files. The
// recording does not mention them.
func (c *cleaner) partials() {
	if c.opts.DryRun {
		return
	}
	err := safefile.EachName(c.fd, c.dir, func(dir int, name string) {
		for _, prefix := range []string{recording.ObjectPrefix, recording.OldPrefix, probeName + ".", lockPrefix} {
			if strings.HasPrefix(name, "."+prefix) && strings.HasSuffix(name, safefile.PartialSuffix) {
				c.stale(filepath.Join(c.dir, name), safefile.RemoveStale(dir, name, unix.S_IFREG))
			}
		}
	})
	if err != nil {
		c.keep(c.dir, "cannot look for files that killed runs left: %w", err)
	}
}

// results removes temporary files of the recording that killed runs left, beside it.
func (c *cleaner) results() {
	path := filepath.Clean(c.opts.Input)
	dir, err := sys.OpenPath(filepath.Dir(path), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return // whoever may not read it has made nothing there
	}
	defer sys.Close(dir)
	c.stale(path, safefile.FinishOld(dir, filepath.Base(path)))
	c.stale(path, safefile.RemoveLeft(dir, filepath.Base(path)))
}

// stale notes that a file that a killed run left stays because of err, if that is not nil.
func (c *cleaner) stale(path string, err error) {
	if err != nil {
		c.keep(path, "cannot remove a file that a killed run left: %w", err)
	}
}

// keep notes that a file stays.
func (c *cleaner) keep(path, format string, err error) {
	c.sum.Kept = append(c.sum.Kept, report.Problem{Code: report.ProblemLeftOver, File: path, Offset: -1, Text: fmt.Errorf(format, err).Error()})
}
