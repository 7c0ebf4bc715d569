package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// collect returns the objects that jitinject makes of a recording.
func (b *bench) collect(m *medium, r recording) ([][]byte, error) {
	if err := m.fresh(r); err != nil {
		return nil, err
	}
	c := b.jitinject(byDefault)
	if _, err := c.run(m.work()); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(m.work())
	if err != nil {
		return nil, err
	}
	var objects [][]byte
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), "jitted-") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(m.work(), f.Name()))
		if err != nil {
			return nil, err
		}
		objects = append(objects, b)
	}
	return objects, m.retire()
}

// plainLoopOf returns the contestant that makes as many files with the same bytes
// and does nothing else: the physical limit of one object for each function. With synced, it makes
// the files durable as jitinject does, by one syncfs of their file system.
func plainLoopOf(objects [][]byte, synced bool) *contestant {
	name := plainLoop
	if synced {
		name = plainSynced
	}
	return &contestant{name: name, run: func(dir string) (result, error) {
		out := filepath.Join(dir, "plain")
		if err := os.Mkdir(out, 0o755); err != nil {
			return result{}, err
		}
		root, err := os.OpenRoot(out)
		if err != nil {
			return result{}, err
		}
		defer root.Close()
		start := time.Now()
		err = onAllCPUs(len(objects), func(i int) error {
			return writeFile(root, fmt.Sprintf("jitted-1-%d.so", i), objects[i])
		})
		if err != nil {
			return result{}, err
		}
		if synced {
			err = syncfs(root)
		}
		return result{wall: time.Since(start)}, err
	}}
}

// onAllCPUs calls f for each number below n, in order, on as many goroutines as there are CPUs. It stops
// at the first error.
func onAllCPUs(n int, f func(i int) error) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for failed.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := f(i); err != nil {
					failed.Store(&err)
				}
			}
		}()
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// syncfs makes the files of a directory's file system durable.
func syncfs(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Syncfs(int(dir.Fd()))
}

// writeFile makes a file of a directory with these bytes.
func writeFile(root *os.Root, name string, b []byte) error {
	f, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}
