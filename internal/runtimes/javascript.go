package main

import (
	"bytes"
	"context"
	"os"
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

// bun runs the program with names only.
func bun(_ context.Context, s *site) (*command, error) {
	program, err := s.npmProgram("bun")
	return &command{
		args: []string{program, "run", "truth.mjs", s.milliseconds},
		env:  []string{"BUN_JSC_useJITDump=1", "BUN_JSC_jitDumpDirectory=" + s.work},
	}, err
}

// bunLines runs the program with lines. Bun runs its own printing of a file, and lines are
// those of the printing, unless the file begins with the comment that marks one.
func bunLines(ctx context.Context, s *site) (*command, error) {
	for _, name := range []string{"truth.mjs", "other.mjs"} {
		const printed = "// @bun\n"
		path := filepath.Join(s.work, name)
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(b, []byte(printed)) {
			continue // it runs for the second time
		}
		if err := os.WriteFile(path, append([]byte(printed), b...), 0o644); err != nil {
			return nil, err
		}
	}
	c, err := bun(ctx, s)
	c.env = append([]string{"BUN_JSC_useSourceCodeDump=1"}, c.env...) // after useJITDump it is too late
	return c, err
}

// jsc runs the program in JavaScriptCore's shell of WebKitGTK, with lines. useSourceCodeDump must
// come before useJITDump.
func jsc(_ context.Context, s *site) (*command, error) {
	program, err := s.release.find("usr/bin/jsc")
	if err != nil {
		return nil, err
	}
	node := "let time = 0; performance.now = () => time += 0.1; var process = { argv: ['', '', '" + s.milliseconds + "'] }, console = { log: print };"
	words, err := s.release.command(program, "-e", node, "truth.mjs")
	return &command{args: words, env: []string{"JSC_useSourceCodeDump=1", "JSC_useJITDump=1", "JSC_jitDumpDirectory=" + s.work}}, err
}

// workerd runs the program as a test of a worker.
func workerd(_ context.Context, s *site) (*command, error) {
	program, err := s.npmProgram("workerd")
	return &command{args: []string{program, "test", "config.capnp"}, env: []string{"MILLISECONDS=" + s.milliseconds}}, err
}
