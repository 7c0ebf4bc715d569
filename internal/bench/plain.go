package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// collect returns the objects that jitinject makes of the recording.
func (b *bench) collect(m *medium) ([][]byte, error) {
	if err := m.fresh(); err != nil {
		return nil, err
	}
	if _, err := run(m.work(), b.contestants(nil, []string{byDefault})[0].args...); err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(m.work(), "jitted-*"))
	objects := make([][]byte, len(paths))
	for i, path := range paths {
		var readErr error
		objects[i], readErr = os.ReadFile(path)
		err = errors.Join(err, readErr)
	}
	return objects, errors.Join(err, m.retire())
}

// plain makes as many files as jitinject, with the same bytes, on all CPUs, and does nothing else: the
// physical limit of one object for each function. With synced, it makes them durable as jitinject does,
// by one syncfs of their file system.
func plain(dir string, objects [][]byte, synced bool) (result, error) {
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
	var next atomic.Int64
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for worker := range errs {
		wg.Go(func() {
			for errs[worker] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(objects) {
					return
				}
				errs[worker] = root.WriteFile(fmt.Sprintf("jitted-1-%d.so", i), objects[i], 0o644)
			}
		})
	}
	wg.Wait()
	err = errors.Join(errs...)
	if synced && err == nil {
		err = exec.Command("sync", "-f", out).Run()
	}
	return result{wall: time.Since(start)}, err
}
