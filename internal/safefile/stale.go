package safefile

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/perfdata"
)

// RemoveLeft removes the partial files and directories of a name that killed runs left.
func RemoveLeft(dir int, name string) (err error) {
	before, _ := strings.CutSuffix(partialName(name, ""), PartialSuffix)
	lerr := EachName(dir, ".", func(dir int, temp string) {
		number, ok := strings.CutPrefix(temp, before)
		if number, is := strings.CutSuffix(number, PartialSuffix); ok && is && isNumber(number) {
			for _, kind := range []uint32{unix.S_IFREG, unix.S_IFDIR} {
				err = errors.Join(err, RemoveStale(dir, temp, kind))
			}
		}
	})
	return errors.Join(err, lerr)
}

// isNumber reports whether a text is the number of a partial file.
func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 16, 64)
	return err == nil && (len(s) <= 2 && s[0] <= '9' || len(s) == 16)
}

// RemoveStale removes a partial file or directory that a run of the same user left. kind is S_IFREG
// or S_IFDIR. Another user with write access can give such a name to a directory of the user's. So
// RemoveStale removes a directory only if a directory was to be made, and if it contains only the
// beginning of a recording.
//
// It returns nil if there is no such file, or if that is another user's, locked, or something else.
// Otherwise the error says why the file is still there.
func RemoveStale(dir int, temp string, kind uint32) error {
	fd, err := sys.Openat(dir, temp, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if err != nil {
		return unlessOther(dir, temp, err)
	}
	defer sys.Close(fd)
	var st, named unix.Stat_t
	if err := sys.Fstat(fd, &st); err != nil || int(st.Uid) != os.Geteuid() {
		return err
	}
	if err := sys.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil
	} else if err != nil {
		return err
	}
	if err := sys.Fstatat(dir, temp, &named, unix.AT_SYMLINK_NOFOLLOW); errors.Is(err, unix.ENOENT) {
		return nil
	} else if err != nil || named.Dev != st.Dev || named.Ino != st.Ino {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT != kind:
	case kind == unix.S_IFREG:
		return Remove(dir, temp)
	case isRecordingBegun(fd):
		return removeDir(dir, temp)
	}
	return nil
}

// unlessOther returns err, or nil if a name is that of another user's file or of none.
func unlessOther(dir int, name string, err error) error {
	var st unix.Stat_t
	if serr := sys.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); errors.Is(serr, unix.ENOENT) || serr == nil && int(st.Uid) != os.Geteuid() {
		return nil
	}
	return err
}

// isRecordingBegun reports whether a directory contains only files that a run writes into its
// output directory.
func isRecordingBegun(fd int) bool {
	root, err := rootOf(fd, "")
	if err != nil {
		return false
	}
	defer root.Close()
	dir, err := root.OpenFile(".", os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return false
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !IsRecordingPart(e.Name()) || e.IsDir() != (e.Name() == "kcore_dir") {
			return false
		}
	}
	if len(entries) == 0 {
		return true
	}
	f, err := root.OpenFile("data", os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [8]byte // zero at first: the header is written last
	n, err := f.ReadAt(magic[:], 0)
	return n == 0 && err == io.EOF || n == len(magic) && (magic == [8]byte{} || perfdata.HasMagic(magic[:]))
}

// removeDir removes a partial directory, without following links.
func removeDir(dir int, temp string) error {
	return again(func() error {
		root, err := rootOf(dir, "")
		if err != nil {
			return err
		}
		defer root.Close()
		return root.RemoveAll(temp)
	})
}

// IsRecordingPart reports whether a file name belongs to a recording that is a directory.
func IsRecordingPart(name string) bool {
	_, ok := perfdata.DirFile(name)
	return ok || name == "data" || name == "kcore_dir"
}

// EachName calls f for each name in a directory, which is open as dir. f may remove names. path is for
// messages.
func EachName(dir int, path string, f func(dir int, name string)) error {
	fd, err := sys.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	file := sys.NewFile(fd, path)
	defer file.Close()
	for {
		entries, err := file.ReadDir(1024)
		for _, e := range entries {
			f(fd, e.Name())
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return WithoutPath(err)
		}
	}
}
