package locate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Processes of the recording that still run have their dumps at hand. In a container, a path may
// mean another file to them than to us. A file may also have no path any more.

// isLive reports whether a path leads through a process, and so vanishes with it.
func isLive(path string) bool { return strings.HasPrefix(path, "/proc/") }

// liveFiles returns the files of a reference that its running processes have. A pid proves
// little, because another process may have it by now. So a file that is mapped at the marker's
// address comes first. Then come files that the process has open, and those that a process from
// before the mapping sees. The error is the first of failed.
func liveFiles(rec *recording.Recording, r *Reference) (files []find, first error) {
	note := func(err error) {
		if first == nil {
			first = failed(err)
		}
	}
	for _, m := range r.Markers {
		dir := procmem.Dir(m.PID)
		if m.Pos < 0 {
			continue
		}
		if _, err := sys.Stat(dir); err != nil {
			note(err)
			continue
		}
		seen, err := openInRoot(dir, r.Path)
		note(err)
		mapped, err := openLink(fmt.Sprintf("%s/map_files/%x-%x", dir, m.Addr, m.Addr+m.Len), r.Path)
		note(err)
		switch {
		case mapped != nil && seen != nil && sameFiles(mapped, seen):
			mapped.Close()
			files = append(files, find{path: dir + "/root" + r.Path, place: mappedPlace, how: byMapping, file: seen})
			continue
		case mapped != nil:
			files = append(files, find{path: mapped.Name(), place: mappedPlace, how: byMapping, file: mapped})
		default:
			links, err := sys.Glob(dir+"/fd", "*")
			note(err)
			for _, link := range links {
				open, err := openLink(link, r.Path)
				note(err)
				if open != nil {
					files = append(files, find{path: link, place: "open in the process", file: open})
					break
				}
			}
		}
		ran, err := running(rec, m)
		note(err)
		if seen != nil && mapped == nil && ran {
			files = append(files, find{path: dir + "/root" + r.Path, place: "where the process sees it", file: seen})
		} else if seen != nil {
			seen.Close()
		}
	}
	return files, first
}

// failed returns err if it is a failure to read, and nil otherwise: a process may end at any time, and one
// that has a recorded pid now may be another one, of another user.
func failed(err error) error {
	if recording.IsFailure(err) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// OpenInProcess opens a file as a running process sees it, if that has other files than we do. path
// gets the pid in the process's own namespace. It returns nil if there is no such file, or if the
// process is not known to be the one that ran a program of the recording from a time on. The error is
// that of failed.
func OpenInProcess(rec *recording.Recording, pid uint32, since uint64, path func(inner uint32) string) (*sys.File, error) {
	if other, err := inOtherMounts(pid); err != nil || !other {
		return nil, failed(err)
	}
	if ran, err := running(rec, recording.Marker{PID: pid, Time: since}); err != nil || !ran {
		return nil, failed(err)
	}
	numbers, err := procmem.Numbers(pid)
	if err != nil {
		return nil, failed(err)
	}
	file, err := openInRoot(procmem.Dir(pid), path(numbers[len(numbers)-1]))
	return file, failed(err)
}

// openLink opens the file that one of the kernel's links leads to, or returns nil if it has another
// name than path.
func openLink(link, path string) (*sys.File, error) {
	target, err := sys.Readlink(link)
	if err != nil || filepath.Base(strings.TrimSuffix(target, recording.DeletedSuffix)) != filepath.Base(path) {
		return nil, err
	}
	fd, err := sys.OpenPath(link, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return safefile.RegularFile(fd, link)
}

// openInRoot opens a path as a process sees it. Links in it stay in the process's own root: a
// container must not lead us out of itself.
func openInRoot(dir, path string) (*sys.File, error) {
	root, err := sys.OpenPath(dir+"/root", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer sys.Close(root)
	fd, err := sys.Openat2(root, path, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return nil, err
	}
	return safefile.RegularFile(fd, dir+"/root"+path)
}

// inOtherMounts reports whether a running process sees other files than we do.
func inOtherMounts(pid uint32) (bool, error) {
	own, err := sys.Stat("/proc/self/ns/mnt")
	if err != nil {
		return false, err
	}
	theirs, err := sys.Stat(procmem.Dir(pid) + "/ns/mnt")
	return err == nil && !os.SameFile(own, theirs), err
}

func sameFiles(a, b *sys.File) bool {
	sa, err := a.Stat()
	if err != nil {
		return false
	}
	sb, err := b.Stat()
	return err == nil && os.SameFile(sa, sb)
}

// running reports whether the process that now has a marker's pid is the one that made the
// mapping: it existed then.
func running(rec *recording.Recording, m recording.Marker) (bool, error) {
	then := m.Time
	if then == 0 { // mapped before the recording began
		then = rec.Began
	}
	if rec.ClockError() != "" {
		return false, nil
	}
	since, err := procmem.Started(m.PID)
	return err == nil && since <= then, err
}
