package main

import (
	"context"
	"path/filepath"
)

// qemu translates the program of C, compiled for this machine. Its functions are blocks of
// the guest's code, named by address: no name is known in advance.
func qemu(ctx context.Context, s *site) (*command, error) {
	program, err := s.release.find("usr/bin/qemu-x86_64")
	if err != nil {
		return nil, err
	}
	guest := filepath.Join(s.work, "truth")
	if _, err := output(ctx, s.work, nil, "gcc", "-O2", "-static", "-include", "other.c", "-o", guest, "truth.c"); err != nil {
		return nil, err
	}
	words, err := s.release.command(program, "-jitdump", guest, s.milliseconds)
	return &command{args: words}, err
}
