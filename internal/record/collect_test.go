package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
)

// ended returns the number of a process that has ended.
func ended(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(testrec.Tool(t, "true"))
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// session makes a session whose recording names dumps, with the pids of their processes.
func session(t *testing.T, dumps map[string]uint32, seen ...int) *Session {
	t.Helper()
	s := &Session{Place: *place(t), Command: []string{"program"}, seen: make(map[int]*watched), stops: newExitStops(), began: time.Now().Add(-time.Minute)}
	if err := s.Place.makeFiles(); err != nil {
		t.Fatal(err)
	}
	r := testrec.NewRecording()
	for path, pid := range dumps {
		r.Marker(pid, 1000, path)
		r.Marker(pid, 1001, path) // perf record repeats some
	}
	r.Write(t, s.Place.Recording)
	for _, pid := range seen {
		s.seen[pid] = &watched{}
	}
	return s
}

// files returns the files of a session, without the scaffold, by their names below the directory.
func (s *Session) files(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(s.Place.Files, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() == scaffold {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if d.Type().IsRegular() {
			name, _ := filepath.Rel(s.Place.Files, path)
			all[name] = read(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (s *Session) wantFiles(t *testing.T, want map[string]string) {
	t.Helper()
	got := s.files(t)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got files %v; want %v", got, want)
	}
}

// collect collects, without failures.
func (s *Session) collect(t *testing.T) *Collected {
	t.Helper()
	c, err := s.Collect()
	if err != nil || len(c.Failed) > 0 {
		t.Fatalf("got %v, %v; want no error", err, c.Failed)
	}
	return c
}

// Dumps, logs and maps of the command's processes are moved.
func TestCollect_MovesFilesOfTheCommand(t *testing.T) {
	dir, pid := t.TempDir(), ended(t)
	dump, log := fmt.Sprintf("jit-%d.dump", pid), fmt.Sprintf("isolate-0x12ab-%d-v8.log", pid)
	others := []string{"isolate-0x12ab-1-v8.log", "jit-1.dump", "notes.log", fmt.Sprintf("perf-%d.map", pid), "app-" + log}
	for _, name := range append(others, dump, log) {
		write(t, filepath.Join(dir, name), name)
	}
	s := session(t, map[string]uint32{filepath.Join(dir, dump): uint32(pid)}, pid)
	c := s.collect(t)
	s.wantFiles(t, map[string]string{dump: dump, log: log})
	for _, name := range others {
		if !exists(filepath.Join(dir, name)) {
			t.Errorf("%s has gone, which is not the command's", name)
		}
	}
	if exists(filepath.Join(dir, dump)) || exists(filepath.Join(dir, log)) || len(c.Running) > 0 {
		t.Errorf("the files are there, or processes are: %v", c.Running)
	}
}

// Files are collected although the recording cannot be noted.
func TestCollect_WithoutNote(t *testing.T) {
	dir, pid := t.TempDir(), ended(t)
	dump := fmt.Sprintf("jit-%d.dump", pid)
	write(t, filepath.Join(dir, dump), dump)
	s := session(t, map[string]uint32{filepath.Join(dir, dump): uint32(pid)}, pid)
	if err := os.Mkdir(filepath.Join(s.Place.Files, listFile), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := s.Collect()
	if err != nil || len(c.Failed) != 1 || !strings.Contains(c.Failed[0].Error(), "made.json") {
		t.Errorf("got %v, %v; want no error, and one of made.json", err, c.Failed)
	}
	s.wantFiles(t, map[string]string{dump: dump})
}

// A map in /tmp is the command's if its process was seen, and if it was written since.
func TestCollect_MapsInTmp(t *testing.T) {
	own, stale := ended(t), ended(t)
	for _, pid := range []int{own, stale} {
		path := mapOf(pid)
		if exists(path) {
			testrec.Skip(t, "%s exists", path)
		}
		write(t, path, "1000 10 f\n")
		defer os.Remove(path)
	}
	s := session(t, nil, own, stale)
	before := s.began.Add(-time.Hour)
	if err := os.Chtimes(mapOf(stale), before, before); err != nil {
		t.Fatal(err)
	}
	s.collect(t)
	s.wantFiles(t, map[string]string{filepath.Base(mapOf(own)): "1000 10 f\n"})
	if exists(mapOf(own)) || !exists(mapOf(stale)) {
		t.Errorf("got own map there %v, stale map there %v; want only the stale one", exists(mapOf(own)), exists(mapOf(stale)))
	}
}

// Files of processes that run already are theirs: they are copied.
func TestCollect_CopiesFilesOfOthers(t *testing.T) {
	dir, pid := t.TempDir(), ended(t)
	dump := filepath.Join(dir, fmt.Sprintf("jit-%d.dump", pid))
	write(t, dump, "text")
	for _, command := range [][]string{nil, {"program"}} {
		s := session(t, map[string]uint32{dump: uint32(pid)})
		s.Command, s.Others = command, true
		s.collect(t)
		s.wantFiles(t, map[string]string{filepath.Base(dump): "text"})
		if !exists(dump) {
			t.Errorf("command %q: got no dump of a process that is not the command's; want it to stay", command)
		}
	}
}

// In a container, each program may have the same number. An earlier one's log stays.
func TestCollect_LogOfAnEarlierProcess(t *testing.T) {
	dir, pid := t.TempDir(), ended(t)
	dump, log := filepath.Join(dir, fmt.Sprintf("jit-%d.dump", pid)), filepath.Join(dir, fmt.Sprintf("isolate-0x1-%d-v8.log", pid))
	write(t, dump, "text")
	write(t, log, "earlier")
	s := session(t, map[string]uint32{dump: uint32(pid)}, pid)
	if err := os.Chtimes(log, time.Time{}, s.began.Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	s.collect(t)
	s.wantFiles(t, map[string]string{filepath.Base(dump): "text"})
	if !exists(log) {
		t.Error("got no log of the earlier process; want it to stay")
	}
}

// A link is not followed, nor is a pipe waited for.
func TestCopyFile_NoRegularFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "secret"), "secret")
	if err := os.Symlink("secret", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "pipe", "."} {
		if err := copyFile(filepath.Join(dir, name), filepath.Join(dir, "copy")); err == nil || exists(filepath.Join(dir, "copy")) {
			t.Errorf("%s: got error %v, a copy %v; want an error, and no copy", name, err, exists(filepath.Join(dir, "copy")))
		}
	}
}

// A process goes on: its file stays, and is copied with what it is not yet written.
func TestCollect_RunningProcess(t *testing.T) {
	dir := t.TempDir()
	pid := os.Getpid()
	dump := filepath.Join(dir, fmt.Sprintf("jit-%d.dump", pid))
	write(t, dump, "text")
	s := session(t, map[string]uint32{dump: uint32(pid)}, pid)
	c := s.collect(t)
	s.wantFiles(t, map[string]string{filepath.Base(dump): "text"})
	if !exists(dump) || !slices.Equal(c.Running, []uint32{uint32(pid)}) {
		t.Errorf("got dump there %v, running %v; want both", exists(dump), c.Running)
	}
}

// Two processes with the same number, of two pid namespaces.
func TestCollect_SameNames(t *testing.T) {
	one, two, pid := t.TempDir(), t.TempDir(), ended(t)
	dumps := make(map[string]uint32)
	for _, dir := range []string{one, two} {
		path := filepath.Join(dir, "jit-7.dump")
		write(t, path, "text")
		dumps[path] = uint32(pid)
	}
	s := session(t, dumps, pid)
	s.collect(t)
	s.wantFiles(t, map[string]string{"jit-7.dump": "text", "1/jit-7.dump": "text"})
}

// What is no file, or not there: a dump in a container, links, a directory. It stays where it is.
func TestCollect_NoFiles(t *testing.T) {
	dir, pid := t.TempDir(), ended(t)
	path := func(n int) string { return filepath.Join(dir, fmt.Sprintf("%d/jit-%d.dump", n, pid)) }
	write(t, filepath.Join(dir, "secret"), "text")
	for n := range 4 {
		if err := os.Mkdir(filepath.Dir(path(n)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{os.Symlink(filepath.Join(dir, "secret"), path(0)), os.Mkdir(path(1), 0o755), unix.Mkfifo(path(2), 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s := session(t, map[string]uint32{path(0): uint32(pid), path(1): uint32(pid), path(2): uint32(pid), path(3): uint32(pid), "/nowhere/jit-7.dump": uint32(pid)}, pid)
	s.collect(t)
	s.wantFiles(t, map[string]string{})
	for n := range 3 {
		if !exists(path(n)) {
			t.Errorf("%s has gone", path(n))
		}
	}
}

// A file that is in the directory already, as deno's and bun's, stays there.
func TestCollect_FilesThatAreThere(t *testing.T) {
	pid := ended(t)
	s := session(t, nil, pid)
	dump := filepath.Join(s.Place.Files, fmt.Sprintf("jit-%d.dump", pid))
	write(t, dump, "text")
	r := testrec.NewRecording()
	r.Marker(uint32(pid), 1000, dump)
	r.Write(t, s.Place.Recording)
	s.collect(t)
	s.wantFiles(t, map[string]string{filepath.Base(dump): "text"})
}

// Between file systems a file is copied, and removed.
func TestMoveFile_ToAnotherFileSystem(t *testing.T) {
	from := filepath.Join(t.TempDir(), "jit-1.dump")
	other := "/var/tmp"
	var here, there unix.Stat_t
	if unix.Stat(filepath.Dir(from), &here) != nil || unix.Stat(other, &there) != nil || here.Dev == there.Dev {
		testrec.Skip(t, "temporary files and %s are on the same file system", other)
	}
	dir, err := os.MkdirTemp(other, "record-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	write(t, from, "text")
	to := filepath.Join(dir, "jit-1.dump")
	if err := moveFile(from, to); err != nil || exists(from) || read(t, to) != "text" {
		t.Errorf("got %v, source there %v; want it moved", err, exists(from))
	}
	write(t, from, "other")
	if err := moveFile(from, to); err == nil || !exists(from) || read(t, to) != "text" {
		t.Errorf("got %v; want an error, as the file exists", err)
	}
}

// Names of dumps, each once. Other mappings are none.
func TestRecordedDumps_Names(t *testing.T) {
	path := filepath.Join(t.TempDir(), "perf.data")
	r := testrec.NewRecording()
	r.Marker(7, 1000, "/x/jit-7.dump")
	r.Marker(7, 1000, "/x/jit-a.dump")
	r.Marker(7, 1000, "/x/jit-8-9.dump")
	r.Marker(7, 1000, "/x/jit-7.dump")
	r.Marker(7, 1000, "/x/jit-7.dump.old")
	r.Write(t, path)
	dumps, err := recordedDumps(path)
	if want := []recordedDump{{7, "/x/jit-7.dump"}, {7, "/x/jit-8-9.dump"}}; err != nil || !slices.Equal(dumps, want) {
		t.Errorf("got %v, %v; want %v", dumps, err, want)
	}
	write(t, path, "no recording")
	if dumps, err := recordedDumps(path); err == nil {
		t.Errorf("got %v; want an error", dumps)
	}
}
