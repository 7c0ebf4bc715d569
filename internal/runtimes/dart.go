package main

import (
	"context"
	"path/filepath"
	"strings"
)

// dart runs the program with Dart's virtual machine for 32-bit x86, which a compiler of style sheets
// on npm brings. It needs the C library of that machine (libc6-i386). The program is compiled first:
// the dump would have ten thousand functions of the compiler.
func dart(ctx context.Context, s *site) (*command, error) {
	program := filepath.Join(filepath.Dir(s.npm), "sass-embedded-linux-ia32/dart-sass/src/dart")
	said, err := output(ctx, s.work, nil, program, "--version")
	if err != nil {
		return nil, err
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(said, "Dart SDK version: "), " ")
	s.installed = version
	if _, err := output(ctx, s.work, nil, program, "--snapshot-kind=kernel", "--snapshot=truth.dill", "truth.dart"); err != nil {
		return nil, err
	}
	return &command{args: []string{program, "--generate-perf-jitdump", "truth.dill", s.milliseconds}}, nil
}
