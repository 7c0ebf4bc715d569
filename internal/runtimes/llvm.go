package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
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

// lliLive runs the program with ORC, lli's default engine, which registers its code for
// debuggers.
func lliLive(ctx context.Context, s *site) (*command, error) {
	c, err := lli(ctx, s)
	if err != nil {
		return nil, err
	}
	args := slices.DeleteFunc(c.args, func(a string) bool { return a == "--jit-kind=mcjit" })
	return &command{args: append(args, "wait")}, nil
}

// clangRepl lets the interpreter of C++ compile and run the program.
func clangRepl(_ context.Context, s *site) (*command, error) {
	llvm := "usr/lib/llvm-" + s.version
	program, err := s.release.find(llvm + "/bin/clang-repl")
	if err != nil {
		return nil, err
	}
	args := []string{"-Xcc=-resource-dir", "-Xcc=" + s.release.path(llvm+"/lib/clang/"+s.version), "-Xcc=-O2", "-Xcc=-g", "-Xcc=-I."}
	if !s.dwarf {
		args = append(args, "-Xcc=-fno-omit-frame-pointer")
	}
	call := fmt.Sprintf(`const char *words[] = {"truth", "%s", "wait"}; main(3, (char **)words);`, s.milliseconds)
	words, err := s.release.command(program, append(args, `#include "other.c"`, `#include "truth.c"`, call)...)
	return &command{args: words}, err
}

// jitlink runs the program with ORC's plugin for perf. The first argument is the program's name.
func jitlink(ctx context.Context, s *site) (*command, error) {
	program, err := s.release.find("usr/lib/llvm-" + s.version + "/bin/llvm-jitlink")
	if err != nil {
		return nil, err
	}
	if err := s.clang(ctx, "-fPIC", "-o", "truth.o"); err != nil {
		return nil, err
	}
	words, err := s.release.command(program, "-perf-support", "truth.o", "-args", "truth", s.milliseconds)
	return &command{args: words, env: []string{"JITDUMPDIR=" + s.work}}, err
}

// jitlinkLive reads what ORC has registered for debuggers, as well: the dump lacks static functions.
func jitlinkLive(ctx context.Context, s *site) (*command, error) {
	c, err := jitlink(ctx, s)
	if err != nil {
		return nil, err
	}
	c.args = append(c.args, "wait")
	return c, nil
}
