package sys

import (
	"io/fs"
	"os"
	"path/filepath"
)

// A Root is a directory. Names do not lead out of it, not even through links.
type Root struct {
	r    *os.Root
	path string
}

// OpenRoot opens a directory, which messages and Calls name as name. The caller closes it.
func OpenRoot(path, name string) (*Root, error) {
	root := &Root{path: name}
	err := onPath("open", "openat", path, func() (err error) { root.r, err = os.OpenRoot(path); return err })
	if err != nil {
		return nil, err
	}
	return root, nil
}

// do makes a call on a name.
func (r *Root) do(op, name, file string, make func() error) error {
	return onPath(op, name, filepath.Join(r.path, file), make)
}

// Close closes the directory.
func (r *Root) Close() error { return r.r.Close() }

// OpenFile opens a file with flags of open(2).
func (r *Root) OpenFile(name string, flags int, mode fs.FileMode) (*File, error) {
	f, err := opened(Call{Name: "openat", Path: filepath.Join(r.path, name), FD: -1, Flags: flags}, func() (*os.File, error) {
		return r.r.OpenFile(name, flags, mode)
	})
	return f, named("openat", name, err)
}

// Stat returns the state of the file that a name leads to.
func (r *Root) Stat(name string) (st fs.FileInfo, err error) {
	err = r.do("statat", "newfstatat", name, func() error { st, err = r.r.Stat(name); return err })
	return st, err
}

// Mkdir makes a directory.
func (r *Root) Mkdir(name string, mode fs.FileMode) error {
	return r.do("mkdirat", "mkdirat", name, func() error { return r.r.Mkdir(name, mode) })
}

// MkdirAll makes a directory and its parents, unless they exist.
func (r *Root) MkdirAll(name string, mode fs.FileMode) error {
	if st, err := r.Stat(name); err == nil && st.IsDir() {
		return nil
	}
	if parent := filepath.Dir(name); parent != name {
		if err := r.MkdirAll(parent, mode); err != nil {
			return err
		}
	}
	err := r.Mkdir(name, mode)
	if err != nil {
		if st, serr := r.Stat(name); serr == nil && st.IsDir() { // another program made it
			return nil
		}
	}
	return err
}

// Remove removes a file or an empty directory.
func (r *Root) Remove(name string) error {
	return r.do("unlinkat", "unlinkat", name, func() error { return r.r.Remove(name) })
}

// RemoveAll removes a name and all that is below it. It does not follow links.
func (r *Root) RemoveAll(name string) error {
	return r.do("unlinkat", "unlinkat", name, func() error { return r.r.RemoveAll(filepath.Clean(name)) })
}
