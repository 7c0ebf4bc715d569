package main

import (
	"context"
	"path/filepath"
)

// php runs the program with the tracing JIT compiler.
func php(_ context.Context, s *site) (*command, error) {
	program, err := s.release.find("usr/bin/php" + s.version)
	if err != nil {
		return nil, err
	}
	args := []string{"-n"}
	// Before PHP 8.5, opcache is a library of its own.
	if opcache, err := s.release.find("usr/lib/php/20*/opcache.so"); err == nil {
		args = append(args, "-d", "zend_extension="+opcache)
	}
	for _, setting := range []string{"enable_cli=1", "file_update_protection=0", "jit_buffer_size=64M", "jit=tracing", "jit_debug=32"} {
		args = append(args, "-d", "opcache."+setting)
	}
	words, err := s.release.command(program, append(args, "truth.php", s.milliseconds)...)
	return &command{args: words}, err
}

// python runs the program with trampolines.
func python(_ context.Context, s *site) (*command, error) {
	program, err := s.release.find("usr/bin/python" + s.version)
	if err != nil {
		return nil, err
	}
	words, err := s.release.command(program, "-X", "perf_jit", "truth.py", s.milliseconds)
	return &command{args: words, env: []string{"PYTHONHOME=" + s.release.path("usr"), "PYTHONDONTWRITEBYTECODE=1"}}, err
}

// mono runs the program with the profiler's log in place of a dump.
func mono(ctx context.Context, s *site) (*command, error) {
	program, err := s.release.find("usr/bin/mono-sgen")
	if err != nil {
		return nil, err
	}
	if _, err := output(ctx, s.work, nil, "mcs", "-debug", "-out:Truth.exe", "Truth.cs", "Other.cs"); err != nil {
		return nil, err
	}
	words, err := s.release.command(program, "--config", s.release.path("etc/mono/config"), "--profile=log:nodefaults,jit,output=app.mlpd", "Truth.exe", s.milliseconds)
	c := &command{args: words, env: []string{"MONO_PATH=" + s.release.path("usr/lib/mono/4.5"), "MONO_CFG_DIR=" + s.release.path("etc")}}
	if !s.dwarf {
		c.env = append(c.env, "MONO_DEBUG=disable_omit_fp")
	}
	c.inject = []string{"--mono", filepath.Join(s.work, "app.mlpd")}
	return c, err
}
