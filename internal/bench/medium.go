package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
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
	base, err := filepath.Abs(base)
	if err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp(base, "bench-")
	if err != nil {
		return nil, err
	}
	if fs := fileSystem(base); !disk && fs != "tmpfs" {
		fmt.Printf("note: %s is no tmpfs, but %s: making and deleting files disturbs every measurement (-dir, -disk)\n", base, fs)
	}
	m := &medium{root: root, disk: disk}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() { // it may be gigabytes
		<-stop
		m.close()
		os.Exit(1)
	}()
	return m, nil
}

func (m *medium) close() { os.RemoveAll(m.root) }

// where is the medium in tables, and in the parts.
func (m *medium) where() string {
	if m.disk {
		return "on disk"
	}
	return "in memory"
}

// work is the directory that contestants run in, master that with the files of the recording.
func (m *medium) work() string   { return filepath.Join(m.root, "work") }
func (m *medium) master() string { return filepath.Join(m.root, "master") }

// make makes another recording.
func (m *medium) make(write func(dir string) error) error {
	if err := errors.Join(os.RemoveAll(m.master()), os.Mkdir(m.work(), 0o755)); err != nil {
		return err
	}
	return errors.Join(write(m.work()), os.Rename(m.work(), m.master()))
}

// try runs a contestant in a fresh directory.
func (m *medium) try(one *contestant) (result, error) {
	if err := m.fresh(); err != nil {
		return result{}, err
	}
	if one.prepare != nil {
		if _, err := run(m.work(), one.prepare...); err != nil {
			return result{}, err
		}
	}
	if m.disk { // which gets what was written before: that is not to be paid for by the next
		syscall.Sync()
	} else if err := m.touchMemory(); err != nil {
		return result{}, err
	}
	if one.plain == nil {
		one.plain = func(dir string) (result, error) { return run(dir, one.args...) }
	}
	done, err := one.plain(m.work())
	return done, errors.Join(err, m.retire())
}

// fresh makes the directory work, with the files of the recording.
func (m *medium) fresh() error {
	return exec.Command("cp", "-al", m.master(), m.work()).Run()
}

// retire takes the directory work away. On a disk it is only renamed: to delete
// 100,000 files slows down what is made next, for minutes.
func (m *medium) retire() error {
	m.count++
	if m.disk {
		return os.Rename(m.work(), filepath.Join(m.root, fmt.Sprintf("done-%d", m.count)))
	}
	return os.RemoveAll(m.work())
}

// touchMemory makes sure that free memory is really there, more than a run takes. Virtual machines give
// back memory that they have not used for some seconds, and get it again page by page. Without this, the
// first program after a pause pays several times as much for its output.
func (m *medium) touchMemory() error {
	zeros := filepath.Join(m.root, "zeros")
	err := exec.Command("dd", "if=/dev/zero", "of="+zeros, "bs=1M", "count=2048", "status=none").Run()
	return errors.Join(err, os.Remove(zeros))
}
