package recording

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Listings have the entries of directories in which side files are looked for. Each directory is read
// once in a run. It may have the objects of many earlier runs, which are left out.
type listings map[inode]*listing

// An inode identifies a directory by any of its paths.
type inode struct{ device, number uint64 }

// A listing is what reading a directory gave.
type listing struct {
	entries []fs.DirEntry // in no order
	err     error
}

// List returns the entries of a directory, in no order. It leaves out objects, and it is no news of
// files that were made since the first call. The slice belongs to in. It must not be called by several
// goroutines at once.
func (in *Input) List(dir string) ([]fs.DirEntry, error) {
	st, err := sys.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: unix.ENOTDIR}
	}
	s := st.Sys().(*syscall.Stat_t)
	id := inode{uint64(s.Dev), s.Ino}
	l := in.listed[id]
	if l == nil {
		l = new(listing)
		if l.entries, l.err = listDir(dir); in.listed == nil {
			in.listed = make(listings)
		}
		in.listed[id] = l
	}
	return l.entries, l.err
}

// listDir reads a directory.
func listDir(dir string) (entries []fs.DirEntry, err error) {
	f, err := sys.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for {
		some, err := f.ReadDir(4096)
		for _, e := range some {
			if e.IsDir() || !IsObject([]byte(e.Name())) {
				entries = append(entries, e)
			}
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return entries, err
		}
	}
}

// Glob returns the paths of files in a directory with names that match a pattern of filepath.Match,
// in the order of their names. A directory that does not exist has none.
func (in *Input) Glob(dir, pattern string) (paths []string, err error) {
	entries, err := in.List(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil, nil
	}
	text := strings.Trim(pattern, "*") // nearly all names lack it, which is found faster than that they do not match
	if strings.ContainsAny(text, `*?[\`) {
		text = ""
	}
	for _, e := range entries {
		if !strings.Contains(e.Name(), text) {
			continue
		}
		if ok, merr := filepath.Match(pattern, e.Name()); merr != nil {
			return nil, merr
		} else if ok {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(paths)
	return paths, err
}
