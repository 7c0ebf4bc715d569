package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A medium is a private directory in memory or on a disk, in which everything
// happens. Each run has a fresh directory, which always has the same path, work.
// perf.data names the dump by an absolute path, so one copy of a recording
// serves all runs, by hard links.
type medium struct {
	root  string
	disk  bool
	count int // directories that are done with
}

func newMedium(base string, disk bool) (*medium, error) {
	root, err := os.MkdirTemp(base, "bench-")
	if err != nil {
		return nil, err
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	m := &medium{root: root, disk: disk}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() { // it may be gigabytes
		<-stop
		for range 100 { // someone may still be writing there
			if os.RemoveAll(m.root) == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		os.Exit(1)
	}()
	if fs := fileSystem(root); !disk && fs != "tmpfs" {
		fmt.Printf("note: %s is no tmpfs, but %s: making and deleting files disturbs every measurement (-dir, -disk)\n", base, fs)
	}
	return m, nil
}

func (m *medium) close() { os.RemoveAll(m.root) }

// name says in tables where something was measured.
func (m *medium) name() string {
	if m.disk {
		return "on disk"
	}
	return "in memory"
}

func (m *medium) path(elem ...string) string {
	return filepath.Join(append([]string{m.root}, elem...)...)
}

func (m *medium) work() string { return m.path("work") }

// A recording is what contestants get: a perf.data and a dump, made once.
type recording struct {
	name string
	make func(dir string) error
}

func erlangRecording() recording { return unpacked("erlang") }

func unpacked(name string) recording {
	return recording{name, func(dir string) error {
		if err := testrec.UnpackTo(name, dir); err != nil {
			return err
		}
		return testrec.Relocate(dir)
	}}
}

func madeRecording(functions int) recording {
	return recording{fmt.Sprintf("made-%d", functions), testrec.Made{Functions: functions}.Write}
}

// tinyRecording returns a recording of functions of three instructions.
func tinyRecording(functions int) recording {
	return recording{fmt.Sprintf("tiny-%d", functions), testrec.Made{Functions: functions, Tiny: true}.Write}
}

// Sizes of long recordings, in bytes.
const (
	longSize = 1 << 30
	hugeSize = 10 << 30
)

// longRecording returns a recording of a size that has few functions.
func longRecording(size int64) recording {
	short := unpacked("node-fp")
	return recording{fmt.Sprintf("long-%d", size), func(dir string) error {
		if err := short.make(dir); err != nil {
			return err
		}
		return testrec.Repeat(dir, size)
	}}
}

// fresh makes the directory work, with the files of a recording.
func (m *medium) fresh(r recording) error {
	master := m.path("recordings", r.name)
	if _, err := os.Stat(master); err != nil {
		if err := os.MkdirAll(m.path("recordings"), 0o755); err != nil {
			return err
		}
		if err := os.Mkdir(m.work(), 0o755); err != nil {
			return err
		}
		if err := r.make(m.work()); err != nil {
			return err
		}
		if err := os.Rename(m.work(), master); err != nil {
			return err
		}
	}
	if err := os.Mkdir(m.work(), 0o755); err != nil {
		return err
	}
	files, err := os.ReadDir(master)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.Link(filepath.Join(master, f.Name()), filepath.Join(m.work(), f.Name())); err != nil {
			return err
		}
	}
	m.quiesce()
	return nil
}

// quiesce waits until a disk has got what was written before: that is not to be
// paid for by the next.
func (m *medium) quiesce() {
	if m.disk {
		syscall.Sync()
	}
}

// retire takes the directory work away. On a disk it is only renamed: to delete
// 100,000 files slows down what is made next, for minutes.
func (m *medium) retire() error {
	m.count++
	if m.disk {
		return os.Rename(m.work(), m.path(fmt.Sprintf("done-%d", m.count)))
	}
	return os.RemoveAll(m.work())
}

// forget deletes a recording in memory that is not needed any more.
func (m *medium) forget(r recording) {
	if !m.disk {
		os.RemoveAll(m.path("recordings", r.name))
	}
}

// touched is how much memory is touched: more than a run takes.
const touched = 2 << 30

// touchMemory makes sure that free memory is really there. Virtual machines give back
// memory that they have not used for some seconds, and get it again page by page.
// Without this, the first program after a pause pays several times as much for its
// output.
func (m *medium) touchMemory() error {
	if m.disk {
		return nil
	}
	f, err := os.Create(m.path("touched"))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	chunk := make([]byte, 1<<20)
	for n := int64(0); n < touched && err == nil; n += int64(len(chunk)) {
		_, err = f.Write(chunk)
	}
	return err
}
