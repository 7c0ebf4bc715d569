package main

import (
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
		var next atomic.Int64
		var failed atomic.Pointer[error]
		var wg sync.WaitGroup
		start := time.Now()
		for range runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				for {
					i := int(next.Add(1)) - 1
					if i >= len(objects) {
						return
					}
					if err := root.WriteFile(fmt.Sprintf("jitted-1-%d.so", i), objects[i], 0o644); err != nil {
						failed.Store(&err)
						return
					}
				}
			})
		}
		wg.Wait()
		if err := failed.Load(); err != nil {
			return result{}, *err
		}
		if synced {
			err = syncfs(root)
		}
		return result{wall: time.Since(start)}, err
	}}
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
