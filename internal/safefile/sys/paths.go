package sys

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// onPath makes a call on a path.
func onPath(op, name, path string, do func() error) error {
	return named(op, path, inDir(name, unix.AT_FDCWD, path, do))
}

// Stat returns the state of the file that a path leads to.
func Stat(path string) (st fs.FileInfo, err error) {
	err = onPath("stat", "newfstatat", path, func() error { st, err = os.Stat(path); return err })
	return st, err
}

// An Inode identifies a file, as long as that is open or named. A file may have many paths.
type Inode struct{ device, number uint64 }

// InodeOf returns the inode of a file. info is from a Stat of this system.
func InodeOf(info fs.FileInfo) Inode {
	st := info.Sys().(*syscall.Stat_t)
	return Inode{uint64(st.Dev), st.Ino}
}

// PathInode returns the inode of a path's file, of the target of a link.
func PathInode(path string) (Inode, error) {
	st, err := Stat(path)
	if err != nil {
		return Inode{}, err
	}
	return InodeOf(st), nil
}

// Lstat returns the state of a path, which may be a link.
func Lstat(path string) (st fs.FileInfo, err error) {
	err = onPath("lstat", "newfstatat", path, func() error { st, err = os.Lstat(path); return err })
	return st, err
}

// Readlink returns the target of a link.
func Readlink(path string) (target string, err error) {
	err = onPath("readlink", "readlinkat", path, func() error { target, err = os.Readlink(path); return err })
	return target, err
}

// ReadDir returns the entries of a directory, in the order of their names.
func ReadDir(path string) (entries []fs.DirEntry, err error) {
	err = onPath("open", "getdents64", path, func() error { entries, err = os.ReadDir(path); return err })
	return entries, err
}

// Glob returns the paths of files in a directory with names that match a pattern of filepath.Match,
// in the order of their names. A directory that does not exist has none.
func Glob(dir, pattern string) (paths []string, err error) {
	entries, err := ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil, nil
	}
	for _, e := range entries {
		if ok, merr := filepath.Match(pattern, e.Name()); merr != nil {
			return nil, merr
		} else if ok {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
}

// ReadFile returns the contents of a file of at most 1 MB, which may be a device such as /dev/null.
func ReadFile(path string) ([]byte, error) {
	const most = 1 << 20
	f, err := OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a FIFO without a writer is empty
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(content) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: errLarge}
	}
	return content, err
}

// errLarge is the error of ReadFile for a large file.
var errLarge = errors.New("it has more than 1 MB")

// Remove removes a file or an empty directory.
func Remove(path string) error {
	return onPath("remove", "unlinkat", path, func() error { return os.Remove(path) })
}

// mkdir makes a directory.
func mkdir(path string, mode fs.FileMode) error {
	return onPath("mkdir", "mkdirat", path, func() error { return os.Mkdir(path, mode) })
}

// A dirFS is a directory as an fs.FS.
type dirFS string

// DirFS returns the files of a directory. Its files are Files.
func DirFS(path string) fs.FS { return dirFS(path) }

// Open opens a file of the directory.
func (d dirFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := Open(filepath.Join(string(d), name))
	if err != nil {
		return nil, err
	}
	return f, nil
}
