package faults

import (
	"slices"

	"golang.org/x/sys/unix"
)

// The errors that calls may return, from their manual pages (section ERRORS) and from what file
// systems over a network return. Errors that say that the caller is wrong (EBADF, EFAULT, EINVAL)
// are left out, but where a file system may return them for what it does not support. So are
// statements about the world that are no failures: that a name does not exist, and that another
// process has a lock.
var errnos = map[string][]unix.Errno{
	"openat":          {unix.EIO, unix.EACCES, unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.ENOSPC, unix.EDQUOT, unix.EROFS, unix.EPERM, unix.ESTALE, unix.ETIMEDOUT, unix.EINTR},
	"openat2":         {unix.EIO, unix.EACCES, unix.EMFILE, unix.ENOMEM, unix.ENOSYS, unix.EXDEV, unix.EAGAIN, unix.EINTR},
	"close":           {unix.EIO, unix.ENOSPC, unix.EDQUOT, unix.EINTR},
	"read":            {unix.EIO, unix.ENOMEM, unix.EISDIR, unix.ESTALE, unix.ETIMEDOUT, unix.EINTR},
	"pread64":         {unix.EIO, unix.ENOMEM, unix.ESTALE, unix.ETIMEDOUT, unix.EINTR},
	"write":           {unix.EIO, unix.ENOSPC, unix.EDQUOT, unix.EFBIG, unix.EPERM, unix.ENOMEM, unix.EINTR},
	"pwrite64":        {unix.EIO, unix.ENOSPC, unix.EDQUOT, unix.EFBIG, unix.EPERM, unix.ENOMEM, unix.EINTR},
	"copy_file_range": {unix.EIO, unix.ENOSPC, unix.EDQUOT, unix.EFBIG, unix.ENOMEM},
	"lseek":           {unix.EIO, unix.EOVERFLOW},
	"fstat":           {unix.EIO, unix.ENOMEM, unix.EOVERFLOW, unix.ESTALE},
	"newfstatat":      {unix.EIO, unix.EACCES, unix.ENOMEM, unix.EOVERFLOW, unix.ESTALE},
	"fstatfs":         {unix.EIO, unix.ENOMEM, unix.ENOSYS},
	"faccessat":       {unix.EIO, unix.EACCES, unix.ENOMEM, unix.EROFS},
	"fchmod":          {unix.EIO, unix.EPERM, unix.EROFS, unix.ENOMEM},
	"flock":           {unix.ENOLCK, unix.EINTR, unix.EOPNOTSUPP},
	"fcntl":           {unix.EMFILE},
	"mkdirat":         {unix.EIO, unix.EACCES, unix.EDQUOT, unix.ENOSPC, unix.EMLINK, unix.ENOMEM, unix.EPERM, unix.EROFS},
	"unlinkat":        {unix.EIO, unix.EACCES, unix.EBUSY, unix.ENOMEM, unix.EPERM, unix.EROFS},
	"renameat":        {unix.EIO, unix.EACCES, unix.EBUSY, unix.EDQUOT, unix.ENOSPC, unix.ENOMEM, unix.EPERM, unix.EROFS, unix.EMLINK},
	"renameat2":       {unix.EIO, unix.EINVAL, unix.EACCES, unix.EBUSY, unix.EDQUOT, unix.ENOSPC, unix.ENOMEM, unix.EPERM, unix.EROFS, unix.EMLINK},
	"linkat":          {unix.EIO, unix.EACCES, unix.EDQUOT, unix.ENOSPC, unix.EMLINK, unix.ENOMEM, unix.EPERM, unix.EOPNOTSUPP, unix.EROFS},
	"symlinkat":       {unix.EIO, unix.EACCES, unix.EDQUOT, unix.ENOSPC, unix.ENOMEM, unix.EPERM, unix.EROFS},
	"readlinkat":      {unix.EIO, unix.EACCES, unix.ENOMEM},
	"getdents64":      {unix.EIO, unix.ENOMEM, unix.EACCES},
	"utimensat":       {unix.EIO, unix.EACCES, unix.EPERM, unix.EROFS},
	"fsync":           {unix.EIO, unix.ENOSPC, unix.EDQUOT, unix.EROFS, unix.EINTR},
	"syncfs":          {unix.EIO, unix.ENOSPC, unix.EDQUOT},
}

// Errnos returns the errors that a call may return.
func Errnos(call string) []unix.Errno {
	if e := errnos[call]; e != nil {
		return e
	}
	panic("package faults does not know the errors of " + call)
}

// mayReturn reports whether a call may return an error.
func mayReturn(call string, err unix.Errno) bool { return slices.Contains(Errnos(call), err) }
