package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A kind is a way to record stacks.
type kind struct {
	name         string
	args         []string // of perf record
	milliseconds string   // time of each function of the program
}

var (
	framePointers = kind{"-g", []string{"-F", "999", "-g"}, "40"}
	copies        = kind{"--call-graph dwarf,32768", []string{"-F", "499", "--call-graph", "dwarf,32768"}, "40"}
)

// record runs a command under perf record, in the site's directory, and writes perf.data
// there.
func (s *site) record(ctx context.Context, perf string, k kind, c *command) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := s.recorded(ctx, append(append(append([]string{perf}, recordArgs(k)...), "--"), c.args...), c)
	if c.stdin != "" {
		in, err := os.Open(filepath.Join(s.work, c.stdin))
		if err != nil {
			return err
		}
		defer in.Close()
		cmd.Stdin = in
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		if len(out) > 400 {
			out = out[len(out)-400:]
		}
		return fmt.Errorf("perf record: %w: %s", err, out)
	}
	// Some write their dump from a thread that outlives the program for a moment.
	time.Sleep(500 * time.Millisecond)
	return nil
}

// recordArgs returns perf record's arguments for a kind of stacks.
func recordArgs(k kind) []string {
	return append([]string{"record", "-q", "-o", "perf.data", "-k", "mono"}, k.args...)
}

// recorded returns a command with the directory and the environment of a program.
func (s *site) recorded(ctx context.Context, args []string, c *command) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = s.work
	cmd.Env = append(os.Environ(), "HOME="+s.work, "LC_ALL=C.UTF-8", "PERF_CONFIG=/dev/null", "DEBUGINFOD_URLS=")
	cmd.Env = append(cmd.Env, c.env...)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// inject runs jitinject on the recording and returns its messages, also if the result is
// incomplete. Its objects lie in the site's directory, apart from perf inject's.
func (s *site) inject(ctx context.Context, c *command) (file, said string, err error) {
	file = filepath.Join(s.work, "ours.data")
	args := append([]string{filepath.Join(s.bin, "jitinject"), "-f", "-i", "perf.data", "-o", file, "--objects", filepath.Join(s.work, "ours")}, c.inject...)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = s.work
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == partial {
		return file, string(out), nil
	}
	if err != nil {
		err = fmt.Errorf("jitinject: %w: %s", err, out)
	}
	return file, string(out), err
}

// partial is jitinject's exit code for an incomplete result.
const partial = 1

// perfInject runs perf inject of one perf. Its objects lie beside the dumps and are
// replaced by each run.
func (s *site) perfInject(ctx context.Context, p perf) (file string, err error) {
	file = filepath.Join(s.work, "theirs-"+p.version+".data")
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		return "", err
	}
	_, err = output(ctx, s.work, []string{"HOME=" + s.work, "PERF_CONFIG=/dev/null"},
		p.path, "--buildid-dir", "/dev/null", "inject", "--jit", "-f", "-i", "perf.data", "-o", file)
	return file, err
}
