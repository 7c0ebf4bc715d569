package safefile

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// maxLinks is the maximum number of links in a path, as in the kernel.
const maxLinks = 40

// OpenDir opens a directory by its absolute path. It follows only links that belong to the user or
// to root. A recording has the paths of mapped files without any links, so a link there was created
// later. The owner of a dump's directory could use it to make root write elsewhere.
func OpenDir(path string) (int, error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	at, err := sys.OpenPath("/", flags, 0)
	if err != nil {
		return -1, err
	}
	defer func() { sys.Close(at) }()
	todo := strings.Split(path, "/")
	for links := 0; len(todo) > 0; {
		name := todo[0]
		if todo = todo[1:]; name == "" {
			continue
		}
		how := unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
		if isProc(at) { // /proc has links into processes, which only the kernel creates
			how = flags
		}
		next, err := sys.Openat(at, name, how, 0)
		if err != nil {
			return -1, err
		}
		var st unix.Stat_t
		if err := sys.Fstat(next, &st); err != nil {
			sys.Close(next)
			return -1, err
		}
		if st.Mode&unix.S_IFMT != unix.S_IFLNK {
			sys.Close(at)
			at = next
			continue
		}
		target, err := readLink(next)
		sys.Close(next)
		switch {
		case err != nil:
			return -1, err
		case st.Uid != 0 && int(st.Uid) != os.Geteuid():
			return -1, fmt.Errorf("%s in that path is a symbolic link that belongs to user %d, and is not followed", quote.Printable(name), st.Uid)
		case links == maxLinks:
			return -1, unix.ELOOP
		}
		links++
		if strings.HasPrefix(target, "/") {
			sys.Close(at)
			if at, err = sys.OpenPath("/", flags, 0); err != nil {
				return -1, err
			}
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return sys.Openat(at, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}

// isProc reports whether a directory is in /proc.
func isProc(fd int) bool {
	var st unix.Statfs_t
	return sys.Fstatfs(fd, &st) == nil && st.Type == unix.PROC_SUPER_MAGIC
}

// readLink returns the target of an open link.
func readLink(fd int) (string, error) {
	target := make([]byte, unix.PathMax)
	n, err := sys.Readlinkat(fd, "", target)
	if err != nil {
		return "", err
	}
	if n == 0 || n == len(target) {
		return "", errors.New("a link leads nowhere")
	}
	return string(target[:n]), nil
}

// IsStill reports whether a path still leads to the open directory.
func IsStill(path string, fd int) bool {
	var named, open unix.Stat_t
	return sys.Fstatat(unix.AT_FDCWD, path, &named, 0) == nil && sys.Fstat(fd, &open) == nil && named.Dev == open.Dev && named.Ino == open.Ino
}
