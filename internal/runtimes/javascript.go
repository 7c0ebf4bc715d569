package main

import (
	"context"
	"path/filepath"
)

// npmProgram returns the path of a program that npm has installed.
func (s *site) npmProgram(name string) (string, error) {
	return filepath.EvalSymlinks(filepath.Join(s.npm, name))
}

// node runs the program with V8's dump.
func node(_ context.Context, s *site) (*command, error) {
	program, err := s.npmProgram("node")
	return &command{args: []string{program, "--perf-prof", "truth.mjs", s.milliseconds}}, err
}

// deno passes V8's options on.
func deno(_ context.Context, s *site) (*command, error) {
	program, err := s.npmProgram("deno")
	return &command{
		args: []string{program, "run", "--allow-all", "--v8-flags=--perf-prof", "truth.mjs", s.milliseconds},
		env:  []string{"DENO_NO_UPDATE_CHECK=1", "DENO_DIR=" + s.work},
	}, err
}

// bun writes names only.
func bun(_ context.Context, s *site) (*command, error) {
	program, err := s.npmProgram("bun")
	return &command{
		args: []string{program, "run", "truth.mjs", s.milliseconds},
		env:  []string{"BUN_JSC_useJITDump=1", "BUN_JSC_jitDumpDirectory=" + s.work},
	}, err
}

// bunLines is bun with lines: those of the text that Bun makes of a file.
func bunLines(ctx context.Context, s *site) (*command, error) {
	c, err := bun(ctx, s)
	c.env = append([]string{"BUN_JSC_useSourceCodeDump=1"}, c.env...) // after useJITDump it is too late
	return c, err
}
