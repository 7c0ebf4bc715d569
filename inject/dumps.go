package inject

import (
	"context"
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
)

// A dump is a side file with the process it is about.
type dump struct {
	path    string   // where it was found
	pid     uint32   // the process in the recording that mapped it
	markers []marker // that named it; the first is that process's
	rivals  []marker // that named other files, in whose place it was found
	file    *os.File
	source  *source.Jitdump
	clock   func(uint64) uint64 // from its times to the recording's
	match   Clock               // how that was found

	evidence *evidence    // about the clock, while it is collected
	leftOut  map[int]bool // functions that cannot be told from others without a clock

	number  int    // of its line in the summary
	objects string // the directory for its objects, absolute
}

// findDumps opens and scans the dumps that the recording's markers name, each
// once. Those that cannot be used become problems; their markers stay in the
// output, so that a later run can do better. The error is
// ctx's, or of options that cannot be followed.
func findDumps(ctx context.Context, rec *recording, opts *Options, sum *Summary) (dumps []*dump, err error) {
	for _, dir := range opts.DumpDirs {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("--dump-dir %s: there is no such directory", Printable(dir))
		}
	}
	for _, m := range rec.markers {
		file, src, err := openDump(m, rec.in, opts)
		if err != nil {
			sum.problem(Problem{Offset: -1, Text: err.Error()})
			continue
		}
		if d := sameFile(dumps, file); d != nil {
			// Mapped again, or by a second process, most likely forked from the
			// first. Its own functions carry its pid.
			file.Close()
			if d.markers[0].path != m.path && d.markers[0].pid != m.pid {
				d.rivals = append(d.rivals, m)
				continue
			}
			d.markers = append(d.markers, m)
			if d.source.PID() == m.pid {
				d.pid = m.pid
			}
			continue
		}
		opts.logf(1, "%s: dump of process %d", Printable(file.Name()), m.pid)
		dumps = append(dumps, &dump{path: file.Name(), pid: m.pid, markers: []marker{m}, file: file, source: src})
	}
	usable := dumps[:0]
	for i, d := range dumps {
		if err := d.source.Scan(ctx); err != nil {
			closeDumps(append(usable, dumps[i:]...))
			return nil, err
		}
		err := d.matchClock(rec, opts.Clock)
		if err == nil {
			err = d.isRecordings()
		}
		if err == nil && len(d.rivals) > 0 {
			err = fmt.Errorf("it was found in the place of %s of process %d and of %s of process %d, and can only be one of them; put the dumps back to where they were recorded",
				Printable(d.markers[0].path), d.pid, Printable(d.rivals[0].path), d.rivals[0].pid)
		}
		if err != nil {
			d.file.Close()
			problem := Problem{d.path, -1, err.Error()}
			if errors.As(err, new(errClock)) {
				problem.File = opts.Input
			}
			sum.problem(problem)
			continue
		}
		usable = append(usable, d)
	}
	if err := estimateClocks(ctx, rec, usable, opts, sum); err != nil {
		closeDumps(usable)
		return nil, err
	}
	return usable, nil
}

func closeDumps(dumps []*dump) {
	for _, d := range dumps {
		d.file.Close()
	}
}

// usedMarkers returns the markers whose dumps are in use.
func usedMarkers(dumps []*dump) (used []marker) {
	for _, d := range dumps {
		used = append(used, d.markers...)
	}
	return used
}

// openDump finds the dump of a marker: where it was when it was recorded, beside
// the recording, in one of the given directories.
func openDump(m marker, in *input, opts *Options) (*os.File, *source.Jitdump, error) {
	places := []string{m.path}
	base := filepath.Base(m.path)
	for _, dir := range append([]string{in.dir}, opts.DumpDirs...) {
		places = append(places, filepath.Join(dir, base))
	}
	var failed []error // other than that there is nothing
	for _, place := range places {
		file, src, err := openDumpAt(place, m)
		switch {
		case err == nil:
			return file, src, nil
		case !errors.Is(err, fs.ErrNotExist):
			failed = append(failed, fmt.Errorf("%s: %w", Printable(place), err))
		}
	}
	if len(failed) == 0 {
		return nil, nil, fmt.Errorf("process %d: its dump %s is gone: neither there nor in %s; if you have it, name its directory with --dump-dir",
			m.pid, Printable(m.path), Printable(listDirs(places[1:])))
	}
	return nil, nil, fmt.Errorf("process %d: cannot use its dump %w", m.pid, failed[0])
}

// openDumpAt opens a file as the dump of a marker. A link in the last component
// of its path is not followed, and nothing but a regular file is opened: anyone
// can plant something in /tmp, and jitinject may run as root.
func openDumpAt(path string, m marker) (*os.File, *source.Jitdump, error) {
	// O_NONBLOCK: opening a FIFO must not wait for someone to write to it.
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, nil, errors.New("it is a symbolic link, which is not followed: anyone could have put it there")
	} else if err != nil {
		return nil, nil, err
	}
	file := os.NewFile(uintptr(fd), path)
	st, err := file.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	var src *source.Jitdump
	if err == nil {
		src, err = source.OpenJitdump(file)
	}
	if err == nil {
		if pid := src.PID(); pid != m.pid && pid != m.number && pid != 0 {
			err = fmt.Errorf("it says that it is of process %d; was it overwritten by another run?", pid)
		}
	}
	if err != nil {
		file.Close()
		return nil, nil, dumpAdvice(err)
	}
	return file, src, nil
}

func listDirs(places []string) string {
	var names []string
	for _, p := range places {
		dir := filepath.Dir(p)
		if dir == "." {
			dir = "the current directory"
		}
		if !slices.Contains(names, dir) {
			names = append(names, dir)
		}
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

// isRecordings checks that the dump can be of the recorded process: producers map
// it before they write to it. A process of another run, or container, may have
// had the same pid.
func (d *dump) isRecordings() error {
	since := d.markers[0].time
	for _, m := range d.markers {
		since = min(since, m.time)
	}
	for i := range d.source.Events {
		if d.clock(d.source.Events[i].Time) >= since {
			return nil
		}
	}
	if len(d.source.Events) == 0 {
		return nil
	}
	return fmt.Errorf("all that is in it happened before process %d mapped it; was it overwritten by another run?", d.pid)
}

// errClock is a complaint about the recording, found while looking at a dump.
type errClock struct{ text string }

func (e errClock) Error() string { return e.text }

// dumpAdvice adds to an error what may be done about it.
func dumpAdvice(err error) error {
	switch {
	case errors.Is(err, source.ErrNotJitdump):
		return fmt.Errorf("%w; was it overwritten by a later run?", err)
	case errors.Is(err, syscall.EIO):
		return fmt.Errorf("%w; the disk may be failing", err)
	}
	return err
}
