package record

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/dumptail"
	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/jitdump"
	"github.com/jitinject/jitinject/perfdata"
)

// Collected says what is in the directory for files, and what is not.
type Collected struct {
	Running []uint32 // processes that go on; their files were copied
	Refused error    // why a process could not be traced; its dump may lack its end
	Failed  []error  // of files that are not in the directory, or not whole
}

// isDump reports whether a path has the name of a jitdump.
func isDump(path string) bool {
	_, ok := jitdump.ProcessOf(path)
	return ok
}

// Collect notes the recording for Clean, and brings dumps, maps and logs of the recorded processes into the
// directory for files. Files of the command's processes are moved, others are copied. A disk that is full
// fails one of these, but the others may still succeed.
func (s *Session) Collect() (*Collected, error) {
	c := new(Collected)
	if err := s.Place.noteRecording(); err != nil {
		c.Failed = append(c.Failed, err)
	}
	dumps, err := recordedDumps(s.Place.Recording)
	if err != nil {
		return c, err
	}
	owners := make(map[uint32]bool)
	dirs := []string{"."}
	for _, d := range dumps {
		owners[d.pid] = true
		dirs = append(dirs, filepath.Dir(d.path))
		s.keep(c, d.path, d.pid)
	}
	for pid, w := range s.seen {
		owners[uint32(pid)] = true
		for _, path := range w.paths { // perf has no marker of a dump that could not be mapped
			s.keep(c, path, uint32(pid))
		}
		// php and erlang write a map besides the dump.
		if path := mapOf(pid); s.madeSince(path) {
			s.keep(c, path, uint32(pid))
		}
	}
	if dir, err := filepath.EvalSymlinks(s.Place.Files); err == nil { // that of the environment's
		dirs = slices.DeleteFunc(dirs, func(d string) bool { return d == dir })
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // of a container, or removed by the program
		}
		for _, e := range entries {
			if pid, ok := v8log.ProcessOf(e.Name()); ok && owners[pid] && e.Type().IsRegular() {
				if path := filepath.Join(dir, e.Name()); s.isOther(pid) || s.madeSince(path) {
					s.keep(c, path, pid)
				}
			}
		}
	}
	s.stops.report(c)
	if !slices.ContainsFunc(slices.Collect(maps.Keys(s.seen)), IsRunning) {
		s.removeLink()
	}
	return c, nil
}

// mapOf returns the path of a process's perf map.
func mapOf(pid int) string { return fmt.Sprintf("/tmp/perf-%d.map", pid) }

// madeSince reports whether a file was written since the recording began. Another may be of an earlier
// process with the same pid.
func (s *Session) madeSince(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode().IsRegular() && !st.ModTime().Before(s.began)
}

// isOther reports whether a recorded process is not the command's. Some of the command's may have ended
// unseen.
func (s *Session) isOther(pid uint32) bool {
	return s.seen[int(pid)] == nil && (s.Command == nil || s.Others)
}

// keep brings a file of a process into the directory for files.
func (s *Session) keep(c *Collected, path string, pid uint32) {
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() {
		return // removed by the program, or it is in a container
	}
	to, err := s.free(path)
	if err != nil || to == "" {
		return
	}
	running := IsRunning(int(pid))
	switch {
	case running:
		if !slices.Contains(c.Running, pid) {
			c.Running = append(c.Running, pid)
		}
		err = copyLive(pid, path, to)
	case s.isOther(pid):
		err = copyFile(path, to)
	default:
		err = moveFile(path, to)
	}
	if err != nil {
		c.Failed = append(c.Failed, err)
	}
}

// free returns the path that a file gets. Names repeat if processes of several namespaces have the
// same pid. It is "" if the file is there already.
func (s *Session) free(path string) (string, error) {
	for n := 0; ; n++ {
		dir := s.Place.Files
		if n > 0 {
			dir = filepath.Join(dir, strconv.Itoa(n))
			if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
				return "", err
			}
		}
		to := filepath.Join(dir, filepath.Base(path))
		there, err := os.Lstat(to)
		if err != nil {
			return to, nil
		}
		if here, err := os.Lstat(path); err == nil && os.SameFile(here, there) {
			return "", nil
		}
	}
}

// copyLive copies a file of a process that may still write it, with what it has not written yet.
func copyLive(pid uint32, path, to string) error {
	if isDump(path) {
		dumps, err := dumptail.Dumps(pid)
		if err != nil {
			return err
		}
		for i := range dumps {
			if filepath.Base(dumps[i].Path) == filepath.Base(path) {
				copied, err := dumps[i].Copy(to)
				return errors.Join(err, copied.Missing)
			}
		}
	}
	return copyFile(path, to)
}

// moveFile moves a file, also to another file system.
func moveFile(path, to string) error {
	err := os.Rename(path, to)
	if !errors.Is(err, unix.EXDEV) {
		return err
	}
	if err := copyFile(path, to); err != nil {
		return err
	}
	return os.Remove(path)
}

// copyFile copies a regular file to a path that is free. Its directory may be another user's, who may
// replace it by a link to a file that only we may read.
func copyFile(path, to string) error {
	from, err := safefile.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(to)
		return fmt.Errorf("%s: it could not be copied: %w", path, err)
	}
	return nil
}

// A recordedDump is a dump that a recording names.
type recordedDump struct {
	pid  uint32
	path string
}

// recordedDumps returns the dumps that a recording names, each once.
func recordedDumps(path string) (dumps []recordedDump, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := perfdata.Open(f, st.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	layouts, err := perfdata.NewLayouts(file.Header.Order, file.Attrs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for rec, err := range perfdata.Records(file.Blocks()) {
		if err != nil {
			return dumps, nil // inject reports the damage
		}
		if rec.Type != perfdata.RecordMmap && rec.Type != perfdata.RecordMmap2 {
			continue
		}
		m, err := layouts.Mmap(rec)
		if err != nil || !isDump(string(m.Filename)) {
			continue
		}
		if d := (recordedDump{m.PID, string(m.Filename)}); !slices.Contains(dumps, d) {
			dumps = append(dumps, d)
		}
	}
	return dumps, nil
}
