package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/journal"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/watcher"
	"github.com/jitinject/jitinject/internal/watcher/crash"
)

// A slowDisk lets no file be removed until a message was written. Then it fails with err, if that is
// not nil.
type slowDisk struct {
	mu   sync.Mutex
	out  bytes.Buffer
	said chan struct{}
	err  error
}

func (d *slowDisk) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.out.Len() == 0 {
		close(d.said)
	}
	return d.out.Write(p)
}

func (d *slowDisk) Before(c *sys.Call) error {
	if c.Name != "unlinkat" {
		return nil
	}
	select {
	case <-d.said:
	case <-time.After(time.Minute):
	}
	return d.err
}

func (d *slowDisk) After(*sys.Call, int, error) {}

// endCrashed ends a run that has crashed and left a file. Removing it takes until there is a message.
func endCrashed(t *testing.T, d *slowDisk, args ...string) (code int, stderr string) {
	t.Helper()
	dir := t.TempDir()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	memory := watcher.Memory()
	clear(memory[:4096])
	journal.Begin(memory)
	defer journal.Begin(make([]byte, 4096))
	if err := os.WriteFile(filepath.Join(dir, ".out.data.0.partial"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	journal.AddPartial(fd, ".out.data.0.partial", unix.S_IFREG)
	d.said = make(chan struct{})
	defer sys.Use(d)()
	code = endOf(args, &crash.Crash{What: "a fault"}, false, nil, newConsole("jitinject", d))
	return code, d.out.String()
}

// Removing thousands of files takes seconds: the user is told to wait.
func TestEnding_SaysThatItRemovesFiles(t *testing.T) {
	code, stderr := endCrashed(t, new(slowDisk), "-o", "out.data")
	first, last, _ := strings.Cut(stderr, "\n")
	if code != exitFailed || !strings.HasPrefix(first, "jitinject: the run has crashed; removing the files that it made; please wait") || last != "jitinject: a fault; nothing was written\n" {
		t.Errorf("got exit code %d, %q; want %d, that files are being removed, and that nothing was written", code, stderr, exitFailed)
	}
}

// The message names files that cannot be removed, for all commands.
func TestEnding_NamesWhatIsLeft(t *testing.T) {
	for args, want := range map[string]string{
		"-o out.data": "a fault; there is no result, but ",
		"clean x":     "a fault; the other objects are still there; ",
		"verify x":    "a fault; not everything was checked; ",
	} {
		code, stderr := endCrashed(t, &slowDisk{err: unix.EIO}, strings.Fields(args)...)
		if code != exitFailed || !strings.Contains(stderr, want) || !strings.Contains(stderr, "/.out.data.0.partial could not be removed: input/output error") {
			t.Errorf("%s: got exit code %d, %q; want %d, %q, and the name of the file", args, code, stderr, exitFailed, want)
		}
	}
}

// The build-id cache is filled after the result is in its place: a crash may come before its end.
func TestEnding_NamesUnfilledCache(t *testing.T) {
	for option, want := range map[string]string{
		"":                   "the result is complete\n",
		"--buildid-cache=/c": "the result is complete, but some objects may be missing in the build-id cache: inject again\n",
	} {
		memory := watcher.Memory()
		clear(memory[:4096])
		journal.Begin(memory)
		journal.Done()
		var out bytes.Buffer
		code := endOf([]string{"inject", option}, &crash.Crash{What: "a fault"}, false, nil, newConsole("jitinject", &out))
		journal.Begin(make([]byte, 4096))
		if code != exitIncomplete || !strings.HasSuffix(out.String(), want) {
			t.Errorf("%q: got %d, %q; want %d, %q", option, code, out.String(), exitIncomplete, want)
		}
	}
}

// A crash while a pipe is written leaves a part of a recording, and never a complete one.
func TestEnding_PartInPipe(t *testing.T) {
	memory := watcher.Memory()
	clear(memory[:4096])
	journal.Begin(memory)
	defer journal.Begin(make([]byte, 4096))
	journal.Stream()
	journal.Keep()
	var out bytes.Buffer
	code := endOf([]string{"inject", "-i", "-"}, &crash.Crash{What: "a fault"}, false, nil, newConsole("jitinject", &out))
	if want := "a fault; what was written is not complete\n"; code != exitFailed || !strings.Contains(out.String(), want) {
		t.Errorf("got %d, %q; want %d, %q", code, out.String(), exitFailed, want)
	}
}

// A journalSeam examines the journal before each call that writes.
type journalSeam struct {
	t      *testing.T
	memory []byte
	stream bool
	writes int
}

func (s *journalSeam) Before(c *sys.Call) error {
	switch c.Name {
	case "write", "pwrite64", "copy_file_range", "fsync", "syncfs", "renameat", "renameat2", "linkat":
		log := journal.Read(s.memory)
		if s.writes++; log.Done {
			s.t.Errorf("the result is complete before %s(%s)", c.Name, c.Path)
		}
		if s.stream && !log.Stream {
			s.t.Errorf("the result does not go to a pipe before %s(%s)", c.Name, c.Path)
		}
	}
	return nil
}

func (s *journalSeam) After(*sys.Call, int, error) {}

// A result is complete when its last byte is durable, and not before.
func TestJournal_DoneAfterLastByte(t *testing.T) {
	modes := []faultMode{
		{name: "file", args: "-i perf.data -o out.data"},
		{name: "directory", args: "-i perf.dir -o out.dir/", make: stageDirectory},
		{name: "pipe", args: "-i perf.data -o -", pipe: true},
		{name: "pipe to file", args: "-i - -o out.data", make: stagePipe, stdin: "perf.pipe"},
		{name: "pipe to pipe", args: "-i - -o -", make: stagePipe, stdin: "perf.pipe", pipe: true},
	}
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			s := newFaultStage(t, &mode)
			memory := make([]byte, 1<<20)
			journal.Begin(memory)
			defer journal.Begin(make([]byte, 4096))
			seam := &journalSeam{t: t, memory: memory, stream: mode.pipe}
			restore := sys.Use(seam)
			r := s.run(&mode, nil)
			restore()
			if log := journal.Read(memory); r.code != exitOK || !log.Done || !log.Kept || seam.writes == 0 {
				t.Errorf("got exit code %d, %+v, %d writes; want 0, a complete result, some\n%s", r.code, log, seam.writes, r.stderr)
			}
		})
	}
}
