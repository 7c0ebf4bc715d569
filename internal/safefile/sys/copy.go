package sys

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// CopyTree copies the directory from to the new directory to: its directories, regular files and
// links. It fails for other files.
func CopyTree(to, from string) error {
	if err := mkdir(to, 0o777); err != nil {
		return err
	}
	entries, err := ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dst, src := filepath.Join(to, e.Name()), filepath.Join(from, e.Name())
		switch e.Type() {
		case fs.ModeDir:
			err = CopyTree(dst, src)
		case fs.ModeSymlink:
			var target string
			if target, err = Readlink(src); err == nil {
				err = symlink(target, dst)
			}
		case 0:
			err = copyFile(dst, src)
		default:
			err = &fs.PathError{Op: "copy", Path: src, Err: fs.ErrInvalid}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// symlink makes a link.
func symlink(target, path string) error {
	c := Call{Name: "symlinkat", Dir: unix.AT_FDCWD, Path: path, To: target, FD: -1}
	_, err := call(c, func() (int, error) { return 0, os.Symlink(target, path) })
	return named("symlink", path, err)
}

// copyFile copies a regular file, with its permissions.
func copyFile(to, from string) error {
	src, err := OpenFile(from, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	st, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666|st.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if cerr := dst.Close(); err == nil {
		err = cerr
	}
	return err
}
