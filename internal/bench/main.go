package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

func main() {
	rounds := flag.Int("rounds", 7, "how often everything is run")
	base := flag.String("dir", "/dev/shm", "where: a tmpfs")
	binary := flag.String("jitinject", "bin/jitinject", "the program to measure")
	measured := flag.Bool("measure", false, "run the arguments as a command and print what it took")
	flag.Parse()
	if *measured {
		os.Exit(measure(flag.Args()))
	}
	if err := bench(*base, *binary, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(base, binary string, rounds int) error {
	program, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(base, "jitinject-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if !onTmpfs(dir) {
		fmt.Println("note:", dir, "is on no tmpfs: deleting and making files again on a disk disturbs every measurement (-dir)")
	}
	fmt.Println(machine())
	for _, w := range []*workload{
		{recording: "erlang", rounds: rounds},
		{recording: "node-fp", rounds: rounds},
		{recording: "node-fp", rounds: min(rounds, 3), size: large},
	} {
		w.dir, w.program = dir, program
		if err := w.measure(); err != nil {
			return fmt.Errorf("%s: %w", w.recording, err)
		}
		w.print()
	}
	return nil
}

// large is the size of a long recording.
const large = 1 << 30

func onTmpfs(dir string) bool {
	var st syscall.Statfs_t
	return syscall.Statfs(dir, &st) == nil && st.Type == 0x01021994 // TMPFS_MAGIC
}

// machine describes where the figures come from.
func machine() string {
	var parts []string
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, ok := strings.CutPrefix(line, "model name\t: "); ok {
				parts = append(parts, strings.TrimSpace(name))
				break
			}
		}
	}
	if out, err := exec.Command("perf", "--version").Output(); err == nil {
		parts = append(parts, strings.TrimSpace(string(out)))
	}
	return fmt.Sprintf("%s, %d CPUs", strings.Join(parts, ", "), cpus())
}

func cpus() int {
	n := 0
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		n = strings.Count(string(info), "processor\t:")
	}
	return n
}

// A contestant is one way to get the work done.
type contestant struct {
	name string
	run  func(dir string) (result, error)

	results []result
}

// A result is one run.
type result struct {
	wall time.Duration
	peak int64 // kilobytes of memory at the most; 0 where it was not measured
}

// median returns the middle of some figures.
func median[T int64 | float64 | time.Duration](v []T) T {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}

// placed makes a fresh copy of a recording, made longer if size is not 0.
func placed(dir, recording string, size int64) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := testrec.UnpackTo(recording, dir); err != nil {
		return err
	}
	if err := testrec.Relocate(dir); err != nil || size == 0 {
		return err
	}
	return testrec.Repeat(dir, size)
}
