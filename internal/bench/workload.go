package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A workload is a recording that everybody injects.
type workload struct {
	dir, recording, program string
	rounds                  int
	size                    int64 // that the recording is made to have, or 0

	contestants []*contestant
	objects     [][]byte // what jitinject makes, for the plain loop
}

// measure runs all contestants in turn, each in a fresh directory.
func (w *workload) measure() error {
	ours := func(args ...string) func(string) (result, error) {
		return func(dir string) (result, error) {
			return run(dir, append([]string{w.program, "-q", "-i", "perf.data", "-o", "ours.data"}, args...)...)
		}
	}
	w.contestants = []*contestant{
		{name: "jitinject", run: ours()},
		{name: "perf inject --jit", run: func(dir string) (result, error) {
			return run(dir, "perf", "inject", "--jit", "-i", "perf.data", "-o", "perf.jit.data")
		}},
		{name: "perf --buildid-dir /dev/null inject --jit", run: func(dir string) (result, error) {
			return run(dir, "perf", "--buildid-dir", "/dev/null", "inject", "--jit", "-i", "perf.data", "-o", "perf.jit.data")
		}},
	}
	if w.size > 0 {
		w.contestants = append(w.contestants, &contestant{name: "cp", run: func(dir string) (result, error) {
			return run(dir, "cp", "perf.data", "ours.data")
		}})
	} else {
		w.contestants = append(w.contestants, &contestant{name: "jitinject again, nothing changed", run: func(dir string) (result, error) {
			if _, err := ours()(dir); err != nil {
				return result{}, err
			}
			return ours()(dir)
		}}, &contestant{name: "jitinject --no-cfi", run: ours("--no-cfi")}, &contestant{name: "a plain loop making the same files", run: w.plainLoop})
	}
	if err := w.collect(); err != nil {
		return err
	}
	work := filepath.Join(w.dir, "work")
	for round := range w.rounds + 1 {
		for _, c := range w.contestants {
			if err := placed(work, w.recording, w.size); err != nil {
				return err
			}
			if err := touchMemory(w.dir, 2*max(w.size, 64<<20)); err != nil {
				return err
			}
			r, err := c.run(work)
			if err != nil {
				return err
			}
			if round > 0 { // the first one warms up
				c.results = append(c.results, r)
			}
		}
	}
	return os.RemoveAll(work)
}

// touchMemory makes sure that so many bytes of free memory are really there. Machines
// that are virtual give back what they have not used for some seconds, and get it
// again page by page: without this, who comes first after others have taken their time
// pays several times as much for its output.
func touchMemory(dir string, size int64) error {
	name := filepath.Join(dir, "touch")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer os.Remove(name)
	defer f.Close()
	for chunk := make([]byte, 1<<20); size > 0 && err == nil; size -= int64(len(chunk)) {
		_, err = f.Write(chunk)
	}
	return err
}

// collect keeps the objects that jitinject makes.
func (w *workload) collect() error {
	work := filepath.Join(w.dir, "collect")
	if err := placed(work, w.recording, 0); err != nil {
		return err
	}
	if _, err := run(work, w.program, "-q", "-i", "perf.data", "-o", "ours.data"); err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(work, "jitted-*.so"))
	if err != nil {
		return err
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		w.objects = append(w.objects, b)
	}
	return os.RemoveAll(work)
}

// plainLoop makes as many files with the same bytes and does nothing else: the
// physical limit of one object for each function.
func (w *workload) plainLoop(dir string) (result, error) {
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
				if i >= len(w.objects) {
					return
				}
				if err := root.WriteFile(fmt.Sprintf("jitted-1-%d.so", i), w.objects[i], 0o644); err != nil {
					failed.Store(&err)
					return
				}
			}
		})
	}
	wg.Wait()
	wall := time.Since(start)
	if err := failed.Load(); err != nil {
		return result{}, *err
	}
	return result{wall: wall}, nil
}

// print prints the table of a workload: medians, and how many times as long as
// jitinject the others take, as the median of the rounds.
func (w *workload) print() {
	ours := w.contestants[0]
	name := w.recording
	if w.size > 0 {
		name += fmt.Sprintf(", repeated to %d MB", w.size>>20)
	}
	fmt.Printf("\n%s: %d objects, %d rounds\n\n", name, len(w.objects), len(ours.results))
	fmt.Println("| | median | least | most | peak memory | times jitinject |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, c := range w.contestants {
		var wall []time.Duration
		var ratio []float64
		peak := int64(0)
		for i, r := range c.results {
			wall = append(wall, r.wall)
			ratio = append(ratio, float64(r.wall)/float64(ours.results[i].wall))
			peak = max(peak, r.peak)
		}
		memory := "-"
		if peak > 0 {
			memory = fmt.Sprintf("%.0f MB", float64(peak)/1024)
		}
		fmt.Printf("| %s | %.3f s | %.3f s | %.3f s | %s | %.2f |\n", c.name,
			median(wall).Seconds(), slices.Min(wall).Seconds(), slices.Max(wall).Seconds(), memory, median(ratio))
	}
}
