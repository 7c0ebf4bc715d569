package inject

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// A dump is a side file with the process it is about.
type dump struct {
	path   string // where it was found
	pid    uint32 // the process in the recording that mapped it
	since  uint64 // when: the time of its first marker
	file   *os.File
	source *source.Jitdump
	clock  func(uint64) uint64 // from its times to the recording's

	number  int    // of its line in the summary
	objects string // the directory for its objects, absolute
}

// findDumps opens and scans the dumps that the recording's markers name, each
// once. Those that cannot be used become problems; their markers stay in the
// output, so that a later run can do better.
func findDumps(rec *recording, opts *Options, sum *Summary) (dumps []*dump, used map[int64]bool) {
	used = make(map[int64]bool) // offsets of the markers whose dump is in use
	for _, m := range rec.markers {
		file, path, err := openDump(m, opts)
		if err != nil {
			if p := (Problem{Offset: -1, Text: err.Error()}); !slices.Contains(sum.Problems, p) {
				sum.Problems = append(sum.Problems, p)
			}
			continue
		}
		if d := sameFile(dumps, file); d != nil {
			// Mapped again, or by a second process, most likely forked from the
			// first. Its own functions carry its pid.
			file.Close()
			used[m.offset] = true
			if d.source.Header.PID == m.pid {
				d.pid = m.pid
			}
			d.since = min(d.since, m.time)
			continue
		}
		d := &dump{path: path, pid: m.pid, since: m.time, file: file}
		opts.logf(1, "%s: dump of process %d", Printable(path), m.pid)
		if d.source, err = source.ScanJitdump(file); err == nil {
			err = d.matchClock(rec)
		}
		if err != nil {
			file.Close()
			problem := Problem{path, -1, dumpAdvice(err)}
			if errors.As(err, new(errClock)) {
				problem.File = opts.Input
			}
			if !slices.Contains(sum.Problems, problem) {
				sum.Problems = append(sum.Problems, problem)
			}
			continue
		}
		used[m.offset] = true
		dumps = append(dumps, d)
	}
	return dumps, used
}

// openDump finds the dump of a marker: where it was when it was recorded, beside
// the recording, in one of the given directories. A link in the last component
// of a path is not followed, and nothing but a regular file is opened: anyone
// can plant something in /tmp, and jitinject may run as root.
func openDump(m marker, opts *Options) (*os.File, string, error) {
	places := []string{m.path}
	base := filepath.Base(m.path)
	for _, dir := range append([]string{filepath.Dir(opts.Input)}, opts.DumpDirs...) {
		places = append(places, filepath.Join(dir, base))
	}
	var first error
	for _, place := range places {
		// O_NONBLOCK: opening a FIFO must not wait for someone to write to it.
		fd, err := unix.Open(place, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err == nil {
			var st unix.Stat_t
			if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
				err = errors.New("it is not a regular file")
			}
			if err == nil {
				return os.NewFile(uintptr(fd), place), place, nil
			}
			unix.Close(fd)
		}
		if errors.Is(err, unix.ELOOP) {
			err = errors.New("it is a symbolic link, which is not followed: anyone could have put it there")
		}
		if first == nil || errors.Is(first, fs.ErrNotExist) && !errors.Is(err, fs.ErrNotExist) {
			first = fmt.Errorf("%s: %w", Printable(place), err)
		}
	}
	if errors.Is(first, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("process %d: its dump %s is gone: neither there nor in %s; if you have it, name its directory with --dump-dir",
			m.pid, Printable(m.path), Printable(dirs(places[1:])))
	}
	return nil, "", fmt.Errorf("process %d: cannot open its dump %w", m.pid, first)
}

func dirs(places []string) string {
	var names []string
	for _, p := range places {
		dir := filepath.Dir(p)
		if dir == "." {
			dir = "the current directory"
		}
		names = append(names, dir)
	}
	return strings.Join(names, ", ")
}

// sameFile returns the dump that is the same file, or nil.
func sameFile(dumps []*dump, file *os.File) *dump {
	st, err := file.Stat()
	if err != nil {
		return nil
	}
	for _, d := range dumps {
		if other, err := d.file.Stat(); err == nil && os.SameFile(st, other) {
			return d
		}
	}
	return nil
}

// matchClock decides how the dump's times become the recording's.
func (d *dump) matchClock(rec *recording) error {
	flags := d.source.Header.Flags
	if unknown := flags &^ jitdump.ArchTimestamps; unknown != 0 {
		return fmt.Errorf("its header has flags that nobody knows, %#x; its times may mean anything", uint64(unknown))
	}
	if flags&jitdump.ArchTimestamps != 0 {
		if rec.timeConv == nil {
			return errors.New("its times are counts of the processor's clock, and the recording does not say how to convert those (TIME_CONV); record without -k, on a machine whose kernel allows it, or have the runtime write CLOCK_MONOTONIC")
		}
		d.clock = rec.timeConv.Time
		return nil
	}
	if text := rec.clockError(); text != "" {
		return errClock{text}
	}
	d.clock = func(t uint64) uint64 { return t }
	return nil
}

// errClock is a complaint about the recording, found while looking at a dump.
type errClock struct{ text string }

func (e errClock) Error() string { return e.text }

// dumpAdvice adds to an error what may be done about it.
func dumpAdvice(err error) string {
	switch {
	case errors.Is(err, jitdump.ErrNotJitdump):
		return err.Error() + "; was it overwritten by a later run?"
	case errors.Is(err, syscall.EIO):
		return err.Error() + "; the disk may be failing"
	}
	return err.Error()
}
