package safefile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
func OpenDir(path string) (fd int, err error) {
	fd, _, err = walk(path, func(int, string) error { return unix.ENOENT })
	return fd, err
}

// MakeDir opens a directory as OpenDir does, and makes it and its parents if they do not exist.
// made are the paths of those that it made, outermost first, even after an error.
func MakeDir(path string, mode uint32) (fd int, made []string, err error) {
	return walk(path, func(dir int, name string) error {
		return sys.Mkdirat(dir, name, mode)
	})
}

// walk opens a directory, component by component. create is called for a name that does not exist.
func walk(path string, create func(dir int, name string) error) (fd int, made []string, err error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	at, err := sys.OpenPath("/", flags, 0)
	if err != nil {
		return -1, nil, err
	}
	defer func() { sys.Close(at) }()
	todo := strings.Split(path, "/")
	real := "" // the path of at, without links
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
		if errors.Is(err, unix.ENOENT) {
			switch err = create(at, name); {
			case err == nil:
				made = append(made, filepath.Join(real, name))
			case !errors.Is(err, unix.EEXIST): // else another program made it
				return -1, made, err
			}
			next, err = sys.Openat(at, name, how, 0)
		}
		if err != nil {
			return -1, made, err
		}
		var st unix.Stat_t
		if err := sys.Fstat(next, &st); err != nil {
			sys.Close(next)
			return -1, made, err
		}
		if st.Mode&unix.S_IFMT != unix.S_IFLNK {
			sys.Close(at)
			at, real = next, filepath.Join("/", real, name)
			continue
		}
		target, err := readLink(next)
		sys.Close(next)
		switch {
		case err != nil:
			return -1, made, err
		case st.Uid != 0 && int(st.Uid) != os.Geteuid():
			return -1, made, fmt.Errorf("%s in that path is a symbolic link that belongs to user %d, and is not followed", quote.Printable(name), st.Uid)
		case links == maxLinks:
			return -1, made, unix.ELOOP
		}
		links++
		if strings.HasPrefix(target, "/") {
			sys.Close(at)
			if at, err = sys.OpenPath("/", flags, 0); err != nil {
				return -1, made, err
			}
			real = ""
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	fd, err = sys.Openat(at, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return fd, made, err
}

// OpenRoot opens a directory as MakeDir does, for names that do not lead out of it.
func OpenRoot(path string, mode uint32) (root *sys.Root, made []string, err error) {
	fd, made, err := MakeDir(path, mode)
	if err != nil {
		return nil, made, err
	}
	defer sys.Close(fd)
	root, err = rootOf(fd, path)
	return root, made, err
}

// OpenExistingRoot opens a directory as OpenDir does, for names that do not lead out of it.
func OpenExistingRoot(path string) (*sys.Root, error) {
	fd, err := OpenDir(path)
	if err != nil {
		return nil, err
	}
	defer sys.Close(fd)
	return rootOf(fd, path)
}

// rootOf returns the open directory fd for names that do not lead out of it. name is for messages; "" for none.
func rootOf(fd int, name string) (*sys.Root, error) {
	path := fmt.Sprintf("/proc/self/fd/%d", fd)
	return sys.OpenRoot(path, cmp.Or(name, path))
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

// IsStill reports whether a path still leads to the open directory. After an error, it is not known.
func IsStill(path string, fd int) (bool, error) {
	var named, open unix.Stat_t
	if err := sys.Fstat(fd, &open); err != nil {
		return false, err
	}
	err := sys.Fstatat(unix.AT_FDCWD, path, &named, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return false, nil
	}
	return named.Dev == open.Dev && named.Ino == open.Ino, err
}
