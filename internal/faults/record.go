package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Record is a sys.Seam that keeps what a run did to files: writes, changes of names, and syncs.
type Record struct {
	mu  sync.Mutex
	ops []op
	err error
}

// Kinds of operations.
const (
	opLink    = iota // a name is made, of file ino
	opUnlink         // a name is removed
	opRename         // a name is made of another one, of the same directory
	opMkdir          // a directory is made
	opSymlink        // a symbolic link is made
	opWrite          // data is written
	opSync           // the data of a file is durable
	opSyncDir        // the names of a directory are durable
	opSyncAll        // everything is durable
)

// An op is something that a run did.
type op struct {
	kind   int
	dir    string // of name, as a path
	in     uint64 // the same directory: directories get other names
	name   string
	to     string // new name, or target of a symbolic link
	ino    uint64 // of the file or directory
	off    int64
	data   []byte
	before string // state of the program: what it had just done
}

// Before does nothing.
func (r *Record) Before(*sys.Call) error { return nil }

// After keeps a successful call that changes files.
func (r *Record) After(c *sys.Call, n int, err error) {
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.keep(c, n); err != nil && r.err == nil {
		r.err = fmt.Errorf("%s(%s): %w", c.Name, c.Path, err)
	}
}

func (r *Record) keep(c *sys.Call, n int) error {
	o := op{kind: -1, before: c.Name + " " + c.Path}
	if c.Path != "" {
		path, err := absolute(c.Dir, c.Path)
		if err != nil {
			return err
		}
		o.dir, o.name = filepath.Split(path)
		o.dir = filepath.Clean(o.dir)
	}
	switch c.Name {
	case "openat":
		if c.Flags&(unix.O_CREAT|unix.O_EXCL) != unix.O_CREAT|unix.O_EXCL {
			return nil
		}
		o.kind = opLink
		o.ino = inode(n)
	case "linkat":
		var st unix.Stat_t
		if err := unix.Fstatat(c.ToDir, c.To, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		path, err := absolute(c.ToDir, c.To)
		if err != nil {
			return err
		}
		o.kind, o.ino = opLink, st.Ino
		o.dir, o.name = filepath.Dir(path), filepath.Base(path)
	case "unlinkat":
		o.kind = opUnlink
	case "renameat", "renameat2":
		o.kind, o.to = opRename, c.To
	case "mkdirat":
		o.kind = opMkdir
		o.ino = inodeOf(filepath.Join(o.dir, o.name))
	case "symlinkat":
		o.kind, o.to = opSymlink, c.To
	case "write", "pwrite64", "copy_file_range":
		return r.write(c, n)
	case "fsync":
		var st unix.Stat_t
		if err := unix.Fstat(c.FD, &st); err != nil {
			return err
		}
		if o.kind, o.ino = opSync, st.Ino; st.Mode&unix.S_IFMT == unix.S_IFDIR {
			path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", c.FD))
			if err != nil {
				return err
			}
			o.kind, o.dir, o.in = opSyncDir, path, st.Ino
		}
	case "syncfs":
		o.kind = opSyncAll
	default:
		return nil
	}
	if o.in == 0 && o.dir != "" {
		o.in = inodeOf(o.dir)
	}
	r.ops = append(r.ops, o)
	return nil
}

// write keeps what a call has written.
func (r *Record) write(c *sys.Call, n int) error {
	var st unix.Stat_t
	if err := unix.Fstat(c.FD, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return err
	}
	off := c.Off
	if off < 0 {
		at, err := unix.Seek(c.FD, 0, unix.SEEK_CUR)
		if err != nil {
			return err
		}
		off = at - int64(n)
	}
	data := bytes.Clone(c.Data)
	if c.Name == "copy_file_range" {
		f, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", c.FD))
		if err != nil {
			return err
		}
		defer f.Close()
		data = make([]byte, n)
		if _, err := f.ReadAt(data, off); err != nil {
			return err
		}
	}
	r.ops = append(r.ops, op{kind: opWrite, ino: st.Ino, off: off, data: data[:n], before: c.Name})
	return nil
}

// absolute returns the path that a name in an open directory has.
func absolute(dir int, path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "/proc/self/fd/"); ok {
		number, rest, _ := strings.Cut(rest, "/")
		target, err := os.Readlink("/proc/self/fd/" + number)
		return filepath.Join(target, rest), err
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	if dir == unix.AT_FDCWD {
		return filepath.Abs(path)
	}
	target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", dir))
	return filepath.Join(target, path), err
}

// inodeOf returns the number of the file at a path.
func inodeOf(path string) uint64 {
	var st unix.Stat_t
	unix.Lstat(path, &st)
	return st.Ino
}

// inode returns the number of an open file.
func inode(fd int) uint64 {
	var st unix.Stat_t
	unix.Fstat(fd, &st)
	return st.Ino
}
