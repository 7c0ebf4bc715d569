package main

import (
	"context"
	"os/exec"
)

// clang compiles the program of C with this machine's compiler. All later versions of LLVM
// read an older version's output.
func (s *site) clang(ctx context.Context, args ...string) error {
	clang := "clang"
	if path, err := exec.LookPath("clang-14"); err == nil {
		clang = path
	}
	args = append([]string{clang, "-O2", "-g", "-c", "-include", "other.c", "truth.c"}, args...)
	if !s.dwarf {
		args = append(args, "-fno-omit-frame-pointer")
	}
	_, err := output(ctx, s.work, nil, args...)
	return err
}

// lli runs the program with MCJIT, the engine of lli that writes a dump.
func lli(ctx context.Context, s *site) (*command, error) {
	program, err := s.release.find("usr/lib/llvm-" + s.version + "/bin/lli")
	if err != nil {
		return nil, err
	}
	if err := s.clang(ctx, "-emit-llvm", "-o", "truth.bc"); err != nil {
		return nil, err
	}
	words, err := s.release.command(program, "--jit-kind=mcjit", "truth.bc", s.milliseconds)
	return &command{args: words, env: []string{"JITDUMPDIR=" + s.work}}, err
}

// jitlink runs the program with ORC's plugin for perf.
func jitlink(ctx context.Context, s *site) (*command, error) {
	program, err := s.release.find("usr/lib/llvm-" + s.version + "/bin/llvm-jitlink")
	if err != nil {
		return nil, err
	}
	if err := s.clang(ctx, "-fPIC", "-o", "truth.o"); err != nil {
		return nil, err
	}
	words, err := s.release.command(program, "-perf-support", "truth.o", "-args", s.milliseconds)
	return &command{args: words, env: []string{"JITDUMPDIR=" + s.work}}, err
}
