package sys

import "golang.org/x/sys/unix"

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
