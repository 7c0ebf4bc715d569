package sys

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A File is an open file. Its methods are those of os.File.
type File struct {
	f      *os.File // nil while a loan is closed
	fd     int
	loan   *loan                 // nil, or how it is opened again; see Lend
	failed atomic.Pointer[error] // see Failed
}

// Of returns a File for f, such as standard output. The two share the descriptor: closing one
// closes the other.
func Of(f *os.File) *File {
	if f == nil {
		return nil
	}
	return &File{f: f, fd: descriptor(f)}
}

// descriptor returns the descriptor of an open file, or -1. Unlike os.File.Fd, it does not make
// reads and writes of pipes block without deadlines.
func descriptor(f *os.File) (fd int) {
	fd = -1
	if conn, err := f.SyscallConn(); err == nil {
		conn.Control(func(n uintptr) { fd = int(n) })
	}
	return fd
}

// NewFile returns a File for a descriptor, which it owns. name is for error messages.
func NewFile(fd int, name string) *File { return &File{f: os.NewFile(uintptr(fd), name), fd: fd} }

// Open opens a regular file or a directory for reading. It follows links. It fails for others, and
// does not wait for them: opening a FIFO may take for ever.
func Open(path string) (*File, error) {
	f, err := OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ENXIO) { // a socket
		err = &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// errNotRegular is the error of opening a device, a FIFO or a socket.
var errNotRegular = errors.New("it is no regular file")

// OpenFile opens a file with flags of open(2). It follows links without O_NOFOLLOW.
func OpenFile(path string, flags int, mode fs.FileMode) (*File, error) {
	f, err := opened(Call{Name: "openat", Dir: unix.AT_FDCWD, Path: path, FD: -1, Flags: flags}, func() (*os.File, error) {
		return os.OpenFile(path, flags, mode)
	})
	return f, named("open", path, err)
}

// opened makes a call that opens a file.
func opened(c Call, open func() (*os.File, error)) (*File, error) {
	var f *os.File
	_, err := call(c, func() (fd int, err error) {
		if f, err = open(); err != nil {
			return -1, err
		}
		return descriptor(f), nil
	})
	if err != nil {
		return nil, err
	}
	return Of(f), nil
}

// Name returns the name that the file was opened with.
func (f *File) Name() string {
	if f.loan != nil {
		return f.loan.path
	}
	return f.f.Name()
}

// Fd returns the descriptor.
func (f *File) Fd() int { return f.fd }

// Failed returns the first error of reading the file or its state, or nil. The end of the file is none.
// Whoever takes a file for something else, or for shorter than it is, asks this first.
func (f *File) Failed() error {
	if err := f.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// read makes a call that reads the open file.
func (f *File) read(op, name string, c Call, make func() (int, error)) (int, error) {
	if err := f.borrow(); err != nil {
		f.failed.CompareAndSwap(nil, &err)
		return 0, err
	}
	defer f.giveBack()
	n, err := f.do(op, name, c, make)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
		f.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// do makes a call on the open file.
func (f *File) do(op, name string, c Call, make func() (int, error)) (int, error) {
	c.Name, c.FD = name, f.fd
	n, err := call(c, make)
	return max(n, 0), named(op, f.Name(), err)
}

// Read reads from the current offset on.
func (f *File) Read(p []byte) (int, error) {
	return f.read("read", "read", Call{Off: -1}, func() (int, error) { return f.f.Read(p) })
}

// ReadAt reads from an offset on. It returns io.EOF if the file ends before p is full.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	return f.read("read", "pread64", Call{Off: off}, func() (int, error) { return f.f.ReadAt(p, off) })
}

// Write writes at the current offset.
func (f *File) Write(p []byte) (int, error) {
	return f.do("write", "write", Call{Off: -1, Data: p}, func() (int, error) { return f.f.Write(p) })
}

// WriteAt writes at an offset.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	return f.do("write", "pwrite64", Call{Off: off, Data: p}, func() (int, error) { return f.f.WriteAt(p, off) })
}

// ReadFrom writes what r has. The kernel copies from one file to another, if r is a File or a part
// of one.
func (f *File) ReadFrom(r io.Reader) (copied int64, err error) {
	part, ok := r.(*io.LimitedReader)
	from := r
	if ok {
		from = part.R
	}
	src, isFile := from.(*File)
	if !isFile {
		return io.Copy(struct{ io.Writer }{f}, r)
	}
	from = src.f
	if ok {
		from = &io.LimitedReader{R: src.f, N: part.N}
	}
	_, err = f.do("write", "copy_file_range", Call{Off: -1}, func() (int, error) {
		copied, err = f.f.ReadFrom(from)
		return int(copied), err
	})
	if ok {
		part.N -= copied
	}
	return copied, err
}

// Seek sets the current offset.
func (f *File) Seek(off int64, whence int) (at int64, err error) {
	_, err = f.do("seek", "lseek", Call{Off: off}, func() (int, error) {
		at, err = f.f.Seek(off, whence)
		return 0, err
	})
	return at, err
}

// Stat returns the state of the file.
func (f *File) Stat() (st fs.FileInfo, err error) {
	_, err = f.read("stat", "fstat", Call{Off: -1}, func() (int, error) {
		st, err = f.f.Stat()
		return 0, err
	})
	return st, err
}

// ReadDir returns the entries of a directory, as os.File.ReadDir does.
func (f *File) ReadDir(n int) (entries []fs.DirEntry, err error) {
	_, err = f.read("readdirent", "getdents64", Call{Off: -1}, func() (int, error) {
		entries, err = f.f.ReadDir(n)
		return 0, err
	})
	return entries, err
}

// SetWriteDeadline makes writes fail from t on. Regular files have no deadlines.
func (f *File) SetWriteDeadline(t time.Time) error { return f.f.SetWriteDeadline(t) }

// Close closes the file. It is closed after an error, too; the error says that data written before
// may be lost.
func (f *File) Close() error {
	if f.loan != nil && !f.leave() {
		return nil
	}
	if current.Load() == nil {
		return f.f.Close()
	}
	// A descriptor is closed even where close fails.
	closed := false
	_, err := f.do("close", "close", Call{Off: -1}, func() (int, error) {
		closed = true
		return 0, f.f.Close()
	})
	if !closed {
		f.f.Close()
	}
	return err
}
