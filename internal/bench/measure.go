package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// run measures a command. It is started by another, small copy of this program:
// a process counts as its own peak the memory of the one it was forked from.
func run(dir string, args ...string) (result, error) {
	self, err := os.Executable()
	if err != nil {
		return result{}, err
	}
	cmd := exec.Command(self, append([]string{"-measure", "--"}, args...)...)
	cmd.Dir = dir
	cmd.Env = environment(dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return result{}, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, errs.Bytes())
	}
	var r result
	if _, err := fmt.Sscan(string(out), (*int64)(&r.wall), &r.peak); err != nil {
		return result{}, fmt.Errorf("%s: %q: %w", strings.Join(args, " "), out, err)
	}
	return r, nil
}

// environment returns an environment in which a directory is home, and nothing of
// the user's own plays a role.
func environment(dir string) []string {
	return append(os.Environ(), "HOME="+dir, "PERF_CONFIG=/dev/null", "LC_ALL=C", "DEBUGINFOD_URLS=")
}

// measure runs a command and prints its time in nanoseconds and its peak memory
// in kilobytes.
func measure(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(wall.Nanoseconds(), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	return 0
}
