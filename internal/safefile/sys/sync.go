package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// Written data is in the kernel's memory. A power cut loses it, and names that were made or
// changed, unless one of these calls has returned.

// Fsync makes an open file durable: its data, or the names of a directory. It fails with the error
// of an earlier write-back, too.
func Fsync(fd int) error {
	return onFile("fsync", fd, 0, func() error { return unix.Fsync(fd) })
}

// Syncfs makes all files of the file system of fd durable. It fails with the error of an earlier
// write-back, since Linux 5.8.
func Syncfs(fd int) error {
	return onFile("syncfs", fd, 0, func() error { return unix.Syncfs(fd) })
}

// Sync makes the file durable.
func (f *File) Sync() error {
	return named("sync", f.Name(), Fsync(f.Fd()))
}

// Sync makes the file system of the directory durable.
func (r *Root) Sync() error {
	dir, err := r.OpenFile(".", os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	return Syncfs(dir.Fd())
}
