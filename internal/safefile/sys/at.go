package sys

import "golang.org/x/sys/unix"

// The functions of this file return an errno as an error, or nil.

// Openat opens a file of a directory, and returns its descriptor.
func Openat(dir int, path string, flags int, mode uint32) (int, error) {
	return call(Call{Name: "openat", Dir: dir, Path: path, FD: -1, Flags: flags}, func() (int, error) {
		return unix.Openat(dir, path, flags, mode)
	})
}

// Openat2 opens a file of a directory in one of the ways of openat2(2).
func Openat2(dir int, path string, how *unix.OpenHow) (int, error) {
	return call(Call{Name: "openat2", Dir: dir, Path: path, FD: -1, Flags: int(how.Flags)}, func() (int, error) {
		return unix.Openat2(dir, path, how)
	})
}

// OpenPath opens a path, and returns the descriptor.
func OpenPath(path string, flags int, mode uint32) (int, error) {
	return Openat(unix.AT_FDCWD, path, flags, mode)
}

// Close closes a descriptor. It is closed after an error, too.
func Close(fd int) error {
	closed := false
	_, err := call(Call{Name: "close", FD: fd, Off: -1}, func() (int, error) {
		if closed { // close(2) is not to be repeated
			return 0, nil
		}
		closed = true
		return 0, unix.Close(fd)
	})
	if !closed {
		unix.Close(fd)
	}
	return err
}

// Read reads from the current offset on.
func Read(fd int, p []byte) (int, error) {
	return call(Call{Name: "read", FD: fd, Off: -1}, func() (int, error) { return unix.Read(fd, p) })
}

// Write writes at the current offset.
func Write(fd int, p []byte) (int, error) {
	return call(Call{Name: "write", FD: fd, Off: -1, Data: p}, func() (int, error) { return unix.Write(fd, p) })
}

// onFile makes a call on an open file that returns only an error.
func onFile(name string, fd, flags int, do func() error) error {
	_, err := call(Call{Name: name, FD: fd, Flags: flags, Off: -1}, func() (int, error) { return 0, do() })
	return err
}

// inDir makes a call on a name in a directory that returns only an error.
func inDir(name string, dir int, path string, do func() error) error {
	_, err := call(Call{Name: name, Dir: dir, Path: path, FD: -1, Off: -1}, func() (int, error) { return 0, do() })
	return err
}

// between makes a call on two names.
func between(name string, dir int, path string, toDir int, to string, do func() error) error {
	_, err := call(Call{Name: name, Dir: dir, Path: path, ToDir: toDir, To: to, FD: -1, Off: -1}, func() (int, error) { return 0, do() })
	return err
}

// Fstat returns the state of an open file.
func Fstat(fd int, st *unix.Stat_t) error {
	return onFile("fstat", fd, 0, func() error { return unix.Fstat(fd, st) })
}

// Fstatfs returns the state of the file system of an open file.
func Fstatfs(fd int, st *unix.Statfs_t) error {
	return onFile("fstatfs", fd, 0, func() error { return unix.Fstatfs(fd, st) })
}

// Fchmod changes the permissions of an open file.
func Fchmod(fd int, mode uint32) error {
	return onFile("fchmod", fd, 0, func() error { return unix.Fchmod(fd, mode) })
}

// Flags returns the flags that a descriptor was opened with.
func Flags(fd int) (flags int, err error) {
	_, err = call(Call{Name: "fcntl", FD: fd, Off: -1}, func() (int, error) {
		flags, err = unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		return 0, err
	})
	return flags, err
}

// Flock takes or releases a lock.
func Flock(fd, how int) error {
	return onFile("flock", fd, how, func() error { return unix.Flock(fd, how) })
}

// Dup returns another descriptor of an open file.
func Dup(fd int) (int, error) {
	return call(Call{Name: "fcntl", FD: fd, Off: -1}, func() (int, error) {
		return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	})
}

// Fstatat returns the state of a name in a directory. flags are those of fstatat(2).
func Fstatat(dir int, path string, st *unix.Stat_t, flags int) error {
	return inDir("newfstatat", dir, path, func() error { return unix.Fstatat(dir, path, st, flags) })
}

// Faccessat checks access to a name in a directory.
func Faccessat(dir int, path string, mode uint32, flags int) error {
	return inDir("faccessat", dir, path, func() error { return unix.Faccessat(dir, path, mode, flags) })
}

// Mkdirat makes a directory.
func Mkdirat(dir int, path string, mode uint32) error {
	return inDir("mkdirat", dir, path, func() error { return unix.Mkdirat(dir, path, mode) })
}

// Unlinkat removes a name of a directory.
func Unlinkat(dir int, path string, flags int) error {
	return inDir("unlinkat", dir, path, func() error { return unix.Unlinkat(dir, path, flags) })
}

// Renameat gives a file another name. It replaces the file that has it.
func Renameat(dir int, path string, toDir int, to string) error {
	return between("renameat", dir, path, toDir, to, func() error { return unix.Renameat(dir, path, toDir, to) })
}

// RenameatNew gives a file another name. It fails with EEXIST if a file has that name, and with EINVAL
// or ENOSYS where the file system or the kernel cannot check that.
func RenameatNew(dir int, path string, toDir int, to string) error {
	return between("renameat2", dir, path, toDir, to, func() error {
		return unix.Renameat2(dir, path, toDir, to, unix.RENAME_NOREPLACE)
	})
}

// Linkat gives a file a second name. flags are those of linkat(2).
func Linkat(dir int, path string, toDir int, to string, flags int) error {
	return between("linkat", dir, path, toDir, to, func() error { return unix.Linkat(dir, path, toDir, to, flags) })
}

// Symlinkat makes a link.
func Symlinkat(target string, dir int, path string) error {
	return between("symlinkat", dir, path, 0, target, func() error { return unix.Symlinkat(target, dir, path) })
}

// Readlinkat returns the target of a link.
func Readlinkat(dir int, path string, target []byte) (int, error) {
	return call(Call{Name: "readlinkat", Dir: dir, Path: path, FD: -1, Off: -1}, func() (int, error) {
		return unix.Readlinkat(dir, path, target)
	})
}

// Touch sets the modification time of a name in a directory to now. It does not follow links.
func Touch(dir int, path string) error {
	now := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	return inDir("utimensat", dir, path, func() error {
		return unix.UtimesNanoAt(dir, path, now, unix.AT_SYMLINK_NOFOLLOW)
	})
}
